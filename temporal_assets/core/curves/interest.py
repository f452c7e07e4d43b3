"""The share of its interest that a fitted page has accumulated, with its interval: compiled.

Here: accumulated interest of a curve, and its interval for one page. Not here: the fit
(`descent`), the plain array functions (`lognormal`).

The interval is the union of two, each honest where the other is not:

* the delta method on the z of Phi(n), with the noise the page shows (views scatter more than chance
  alone: weekdays, linked fronts), and the parameters' box as prior knowledge, so that a page which
  says nothing about a parameter leaves it as wide as the box;
* every curve of the start grid that the views do not speak against. With few views, curves far
  apart are equally good, and no tangent at the best one knows of the others.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.curves.descent import ROOM, solve
from temporal_assets.core.curves.page_equations import (
    AMPLITUDE,
    LOG_SIGMA,
    MU,
    OFFSET,
    PARAMETERS,
    equations,
)
from temporal_assets.core.curves.problem import Model, PageViews
from temporal_assets.core.curves.starts import Singles
from temporal_assets.core.numerics.compiled import making_part, numbers, part

Floats = NDArray[np.float64]

LEVEL: Final = 0.95
"""Nominal coverage of the intervals."""
_QUANTILE: Final = 1.959964
"""Quantile of the standard normal distribution for LEVEL."""
_SUPPORT: Final = _QUANTILE**2
"""Quantile of the chi-square distribution with one degree of freedom for LEVEL."""
_FEWEST: Final = 0.25
"""Expected views below which a day says little about scatter."""
_SPREAD_OF_BOX: Final = 1.0 / 12.0
"""Variance of a uniform distribution per squared width."""


class Support(NamedTuple):
    """Cells of the start grid, with the gain of each for one page."""

    gains: Singles
    peaks: Singles
    """Largest gain of a cell in each group."""
    groups: NDArray[np.int64]
    """First cell of each group; the number of cells at the end."""
    shares: Floats
    """Accumulated interest after n days of each cell's curve."""


@part
def phi(n: float, mu: float, log_sigma: float) -> float:
    """Return the accumulated interest after n days of the curve (mu, log sigma)."""
    z = (math.log(n) - mu) / math.exp(log_sigma)
    return 0.5 * math.erfc(-z * math.sqrt(0.5))


@part
def scatter(y: Floats, weight: Floats, expected: Floats, life: int) -> float:
    """Return the variance of the views relative to Poisson noise, at least 1."""
    total = 0.0
    informative = 0.0
    for i in range(life):
        r = y[i] - expected[i]
        total += weight[i] * r * r / max(expected[i], _FEWEST)
        informative += weight[i] * min(1.0, expected[i] / _FEWEST)
    return max(1.0, total / max(informative - PARAMETERS, 1.0))


@part
def expected_views(likelihood: bool, theta: Floats, work: Floats, life: int, out: Floats) -> None:
    """Write to `out` the expected daily views of the curve that `objective` left in `work`."""
    for i in range(life):
        if likelihood:
            out[i] = theta[AMPLITUDE] * work[2, i]
        else:
            out[i] = theta[AMPLITUDE] * work[1, i]


@making_part
def interval(
    model: Model,
    page: PageViews,
    theta: Floats,
    work: Floats,
    value: float,
    support: Support,
    unseen: bool,
) -> tuple[float, float]:
    """Return the bounds of the 95 % interval of the accumulated interest after n days.

    `unseen` says that the page may have been born before the window: then it may be slower than
    anything its views show, and nothing bounds the answer from below. `value` and `work` are what
    `objective` returned and left there for theta.
    """
    likelihood, n = model.likelihood, model.n
    y, weight, life = page.views, page.weight, len(page.views)
    expected = np.empty(life)
    expected_views(likelihood, theta, work, life, expected)
    noise = scatter(y, weight, expected, life)
    best = phi(n, theta[MU], theta[LOG_SIGMA])
    spread = _spread(model, page, theta, work, noise)
    centre = (math.log(n) - theta[MU]) / math.exp(theta[LOG_SIGMA])
    bottom = _normal(centre - _QUANTILE * spread)
    top = _normal(centre + _QUANTILE * spread)
    views = squares = days = 0.0
    for i in range(life):
        days += weight[i]
        views += weight[i] * y[i]
        squares += weight[i] * y[i] * y[i]
    if likelihood:
        fitted = -0.5 * value / views - math.log(views)
        least = fitted - 0.5 * _SUPPORT * noise / views
    else:
        excess = value * (1.0 + _SUPPORT / max(days - PARAMETERS, 1.0))
        least = (squares - excess) / (views * views)
    for g in range(len(support.peaks)):
        if support.peaks[g] >= least:
            first, last = support.groups[g], support.groups[g + 1]
            low_share, high_share = _supported(support.gains, support.shares, first, last, least)
            bottom, top = min(bottom, low_share), max(top, high_share)
    if unseen:
        bottom = 0.0
    return min(bottom, best), max(top, best)


@numbers
def _supported(
    gains: Singles, cell_shares: Floats, first: int, last: int, least: float
) -> tuple[float, float]:
    """Return the lowest and highest interest among the cells that gain at least `least`."""
    low, high = 1.0, 0.0
    for k in range(first, last):
        share_ = cell_shares[k]
        from_below = share_ if gains[k] >= least else 1.0
        from_above = share_ if gains[k] >= least else 0.0
        low = from_below if from_below < low else low
        high = from_above if from_above > high else high
    return low, high


@part
def _normal(z: float) -> float:
    """Return the distribution function of the standard normal."""
    return 0.5 * math.erfc(-z * math.sqrt(0.5))


@making_part
def _spread(model: Model, page: PageViews, theta: Floats, work: Floats, noise: float) -> float:
    """Return the standard error of the z of Phi(n) at the curve that `objective` left in `work`."""
    likelihood, n, low, high = model
    y, weight, life = page.views, page.weight, len(page.views)
    h = np.zeros((PARAMETERS, PARAMETERS))
    g = np.zeros(PARAMETERS)
    slope = np.zeros(PARAMETERS)
    v = np.zeros(PARAMETERS)
    free = np.ones(PARAMETERS, np.bool_)
    sigma = math.exp(theta[LOG_SIGMA])
    slope[MU] = -1.0 / sigma
    slope[LOG_SIGMA] = -(math.log(n) - theta[MU]) / sigma
    equations(likelihood, theta, y, weight, life, work, h, g)
    middle = np.zeros((PARAMETERS, PARAMETERS))
    if likelihood:
        # Information is the inverse of the covariance; scatter makes it less.
        unit = noise
        for a in range(PARAMETERS):
            for b in range(PARAMETERS):
                middle[a, b] = h[a, b] * noise
    else:
        # The squares do not know that large days scatter more: bread, meat, bread.
        expected = np.empty(life)
        expected_views(likelihood, theta, work, life, expected)
        unit = 0.0
        days = 0.0
        for i in range(life):
            days += weight[i]
            unit += weight[i] * noise * expected[i]
        unit /= days
        for i in range(life):
            expected[i] = weight[i] * noise * max(expected[i], 0.02 * unit)
        equations(False, theta, y, expected, life, work, middle, g)
    for k in range(OFFSET, PARAMETERS):
        width = high[k] - low[k]
        if k == OFFSET and not likelihood:  # The offset itself lies anywhere in its range.
            width = (math.exp(high[k]) - math.exp(low[k])) / math.exp(theta[k])
        box = unit / (width * width * _SPREAD_OF_BOX)
        h[k, k] += box
        middle[k, k] += unit * box
    room = np.zeros((ROOM, PARAMETERS))
    if not solve(h, h, slope, free, 1e-10, v, room):
        return 40.0
    total = 0.0
    for a in range(PARAMETERS):
        for b in range(PARAMETERS):
            total += v[a] * middle[a, b] * v[b]
    return math.sqrt(max(total, 0.0))
