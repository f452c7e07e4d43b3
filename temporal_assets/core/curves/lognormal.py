"""The log-normal curve of interest (TW 4.1) and the bounds of its parameters.

Here: density, accumulated interest and daily mass as plain array functions, and the box every
fit stays in. Not here: fitting (`curves`), the compiled versions the fitter uses (`descent`).

Time is in days. f(x) = A * density(x - b; mu, sigma); the page is activated at time b. Day i of
the window (i = 1, 2, ...) ends at time i.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]

MIN_OFFSET: Final = 1.0 / 24.0
"""Days from activation to the end of the day of birth, at least: a page is activated at least an
hour before the day ends. At 0 the first dot could be any spike."""

MAX_OFFSET: Final = 1.0
"""Largest offset of pages born inside the window, in days: TW 3.1 starts a page's life on the day
of its first view."""

BEFORE: Final = 7.0
"""Largest number of days before the window that a page seen on its first observed day may have been
born. TW 5.1 makes up the missing part of a life most of which lies in the window. Labels of pages
cut by the window's start get better up to a week and hardly after it; with a whole window, a page
of constant interest is fitted as well by the far tail of a page long dead."""

MIN_MU: Final = -math.log(24.0)
"""Half of the interest within an hour: daily views tell nothing faster."""

SLOWEST: Final = 10.0
"""Half of the interest within ten windows: one window tells nothing slower."""

MIN_SIGMA: Final = 0.1
MAX_SIGMA: Final = 3.0
"""Largest sigma, of a curve that spans 17 powers of ten within two sigmas; the smallest belongs to
an almost symmetric hump. Wider and narrower curves look the same on daily views."""

STRAY: Final = 1e-6
"""Share of a page's views that are spread evenly over its life, under the likelihood. Without it a
single late view would be impossible and outweigh all others."""


def bounds(days: int, *, born_inside: bool) -> tuple[Floats, Floats]:
    """Return the lowest and highest (offset, mu, sigma) for a window of `days`.

    The offset is birth - b: the age of the page, in days, at the end of its first day with views.
    """
    oldest = MAX_OFFSET if born_inside else MAX_OFFSET + BEFORE
    low = np.array([MIN_OFFSET, MIN_MU, MIN_SIGMA])
    high = np.array([oldest, max_mu(days), MAX_SIGMA])
    return low, high


def max_mu(days: int) -> float:
    """Return the highest mu for a window of `days`."""
    return math.log(SLOWEST * days)


def density(age: ArrayLike, mu: ArrayLike, sigma: ArrayLike) -> Floats:
    """Return interest per day at `age` days; zero up to age 0 (TW 4.1 with A = 1, b = 0)."""
    age, sigma = np.asarray(age, np.float64), np.asarray(sigma, np.float64)
    positive = np.where(age > 0, age, 1.0)
    z = (np.log(positive) - mu) / sigma
    shape = np.exp(-0.5 * z * z) / (positive * sigma * math.sqrt(2 * math.pi))
    return np.where(age > 0, shape, 0.0)


def accumulated(age: ArrayLike, mu: ArrayLike, sigma: ArrayLike) -> Floats:
    """Return the share of a page's interest up to `age` days: the paper's capital phi (TW 4.2)."""
    age = np.asarray(age, np.float64)
    positive = np.where(age > 0, age, 1.0)
    share = ndtr((np.log(positive) - mu) / np.asarray(sigma, np.float64))
    return np.where(age > 0, share, 0.0)


def daily_mass(offset: float, mu: float, sigma: float, life: int) -> Floats:
    """Return the share of interest on each of the `life` days from birth, exact in the tail."""
    edges = np.maximum(offset - 1.0 + np.arange(life + 1), 0.0)
    with np.errstate(divide="ignore"):
        z = (np.log(edges) - mu) / sigma
    upper = z[:-1] > 0
    mass: Floats = np.where(upper, ndtr(-z[:-1]) - ndtr(-z[1:]), ndtr(z[1:]) - ndtr(z[:-1]))
    return mass
