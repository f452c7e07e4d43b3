"""Interest curves fitted slowly with scipy alone: the witness of the compiled fitter.

It shares the definitions of the design and the bounds with the product, and none of its code: the
objectives are written anew with scipy's normal distribution, and the search is
`scipy.optimize.least_squares` from many starts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.special import ndtr, xlogy

Floats = NDArray[np.float64]

STRAY = 1e-6


@dataclass(frozen=True)
class Best:
    """The best curve found."""

    objective: float
    offset: float
    mu: float
    sigma: float

    def accumulated(self, n: float) -> float:
        return float(ndtr((math.log(n) - self.mu) / self.sigma))


def box(days: int, *, born_inside: bool) -> tuple[Floats, Floats]:
    low = np.array([1 / 24, -math.log(24), 0.1])
    high = np.array([1.0 if born_inside else 8.0, math.log(10 * days), 3.0])
    return low, high


def dot_residuals(shape: Floats, y: Floats) -> Floats:
    """Residuals of the dots for the best A."""
    offset, mu, sigma = shape
    x = offset + np.arange(len(y))
    f = np.exp(-((np.log(x) - mu) ** 2) / (2 * sigma**2)) / (x * sigma * math.sqrt(2 * math.pi))
    top = f.max()
    if top <= 1e-290:
        return y
    f = f / top
    return y - (y @ f) / (f @ f) * f


def deviance_residuals(shape: Floats, y: Floats) -> Floats:
    """Signed roots of each day's deviance for the best A."""
    offset, mu, sigma = shape
    edges = np.maximum(offset - 1 + np.arange(len(y) + 1), 0)
    with np.errstate(divide="ignore"):
        z = (np.log(edges) - mu) / sigma
    mass = np.where(z[:-1] > 0, ndtr(-z[:-1]) - ndtr(-z[1:]), ndtr(z[1:]) - ndtr(z[:-1]))
    if mass.sum() <= 1e-9:
        return np.full(len(y), 1e6)
    mass = mass + STRAY * mass.mean()
    expected = y.sum() * mass / mass.sum()
    deviance = 2 * (xlogy(y, y / expected) - (y - expected))
    return np.sign(y - expected) * np.sqrt(np.maximum(deviance, 0))


def search(views: Floats, method: str, *, starts: int, seed: int) -> Best:
    """The best of many bounded descents for one page with views."""
    birth = int(np.argmax(views > 0))
    y = np.asarray(views, np.float64)[birth:]
    low, high = box(len(views), born_inside=birth > 0)
    residuals = deviance_residuals if method == "likelihood" else dot_residuals
    rng = np.random.default_rng(seed)
    # Half of the starts where most pages end, half anywhere.
    likely_low = np.array([low[0], -1.0, 0.3])
    likely_high = np.array([high[0], min(6.0, high[1]), 2.0])
    best = Best(math.inf, 0.0, 0.0, 0.0)
    for k in range(starts):
        start = rng.uniform(likely_low, likely_high) if k % 2 else rng.uniform(low, high)
        actual = least_squares(
            residuals, start, bounds=(low, high), args=(y,), x_scale=(0.3, 0.5, 0.3), ftol=1e-10
        )
        if 2 * actual.cost < best.objective:
            best = Best(2 * float(actual.cost), *map(float, actual.x))
    return best
