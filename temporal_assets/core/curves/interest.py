"""The share of its interest that a fitted page has accumulated, with its interval: compiled.

Here: accumulated interest of a curve with or without a base, and its interval for one page. Not
here: the fit (`descent`), the plain array functions (`lognormal`).

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
from temporal_assets.core.curves.lognormal import LEAST_HEIGHT
from temporal_assets.core.curves.page_equations import (
    AMPLITUDE,
    BASE,
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
_MOST_SHARE: Final = 1.0 - 1e-12
_SPREAD_OF_BOX: Final = 1.0 / 12.0
"""Variance of a uniform distribution per squared width."""


class Support(NamedTuple):
    """The cells of the start grid, and how well each fits one page."""

    gains: Singles
    peaks: Singles
    """The most that a cell of each group gains."""
    groups: NDArray[np.int64]
    """First cell of each group, and the number of cells."""
    shares: Floats
    """Accumulated interest after n days of each cell's curve."""


@part
def phi(n: float, mu: float, log_sigma: float) -> float:
    """Accumulated interest after n days."""
    z = (math.log(n) - mu) / math.exp(log_sigma)
    return 0.5 * math.erfc(-z * math.sqrt(0.5))


@part
def share(n: float, window: float, base: float, mu: float, log_sigma: float) -> float:
    """Accumulated interest of a curve with a daily base (in units of A).

    A base has no end, so it counts for one window. Without base this is `phi`.
    """
    return min((phi(n, mu, log_sigma) + base * min(n, window)) / (1.0 + base * window), 1.0)


@part
def ratio_of(likelihood: bool, theta: Floats) -> float:
    """Daily base in units of A."""
    ratio: float = theta[BASE] if likelihood else theta[BASE] / height_of(theta)
    return ratio


@part
def height_of(theta: Floats) -> float:
    """A, or the least that is divided by."""
    height: float = max(theta[AMPLITUDE], LEAST_HEIGHT * theta[BASE], 1e-300)
    return height


@part
def scatter(y: Floats, weight: Floats, expected: Floats, life: int, parameters: int) -> float:
    """Variance of the views per expected view; at least 1, what chance alone makes."""
    total = 0.0
    informative = 0.0
    for i in range(life):
        r = y[i] - expected[i]
        total += weight[i] * r * r / max(expected[i], _FEWEST)
        informative += weight[i] * min(1.0, expected[i] / _FEWEST)
    return max(1.0, total / max(informative - parameters, 1.0))


@part
def expected_views(likelihood: bool, theta: Floats, work: Floats, life: int, out: Floats) -> None:
    """Expected daily views of the curve that `objective` left in `work`."""
    for i in range(life):
        if likelihood:
            out[i] = theta[AMPLITUDE] * work[2, i]
        else:
            out[i] = theta[AMPLITUDE] * work[1, i] + theta[BASE]


@making_part
def interval(
    model: Model,
    page: PageViews,
    theta: Floats,
    window: float,
    work: Floats,
    value: float,
    support: Support,
    unseen: bool,
) -> tuple[float, float]:
    """Lowest and highest credible accumulated interest after n days.

    `unseen` says that the page may have been born before the window: then it may be slower than
    anything its views show, and nothing bounds the answer from below. `value` and `work` are what
    `objective` returned and left there for theta.
    """
    likelihood, base, n = model.likelihood, model.base, model.n
    y, weight, life = page.views, page.weight, len(page.views)
    expected = np.empty(life)
    expected_views(likelihood, theta, work, life, expected)
    parameters = 5 if base else 4
    noise = scatter(y, weight, expected, life, parameters)
    ratio = ratio_of(likelihood, theta)
    best = share(n, window, ratio, theta[MU], theta[LOG_SIGMA])
    spread = _spread(model, page, theta, window, work, noise)
    centre = _logit(best) if base else (math.log(n) - theta[MU]) / math.exp(theta[LOG_SIGMA])
    bottom = _from_scale(centre - _QUANTILE * spread, base)
    top = _from_scale(centre + _QUANTILE * spread, base)
    views = squares = days = 0.0
    for i in range(life):
        days += weight[i]
        views += weight[i] * y[i]
        squares += weight[i] * y[i] * y[i]
    if likelihood:
        fitted = -0.5 * value / views - math.log(views)
        least = fitted - 0.5 * _SUPPORT * noise / views
    else:
        excess = value * (1.0 + _SUPPORT / max(days - parameters, 1.0))
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
    """Lowest and highest share of the cells that gain as much as `least`."""
    low, high = 1.0, 0.0
    for k in range(first, last):
        share_ = cell_shares[k]
        from_below = share_ if gains[k] >= least else 1.0
        from_above = share_ if gains[k] >= least else 0.0
        low = from_below if from_below < low else low
        high = from_above if from_above > high else high
    return low, high


@part
def _logit(p: float) -> float:
    p = min(max(p, 1.0 - _MOST_SHARE), _MOST_SHARE)
    return math.log(p / (1.0 - p))


@part
def _from_scale(value: float, base: bool) -> float:
    """Back from the scale on which the delta method works: logit with a base, else probit."""
    if base:
        return 1.0 / (1.0 + math.exp(-min(max(value, -700.0), 700.0)))
    return 0.5 * math.erfc(-value * math.sqrt(0.5))


@part
def _gradient(
    likelihood: bool, theta: Floats, base: bool, n: float, window: float, slope: Floats
) -> None:
    """Derivative of the scaled share with respect to the parameters, into `slope`."""
    sigma = math.exp(theta[LOG_SIGMA])
    z = (math.log(n) - theta[MU]) / sigma
    for k in range(PARAMETERS):
        slope[k] = 0.0
    if not base:
        slope[MU] = -1.0 / sigma
        slope[LOG_SIGMA] = -z
        return
    height = height_of(theta)
    ratio = ratio_of(likelihood, theta)
    whole = 1.0 + ratio * window
    p = share(n, window, ratio, theta[MU], theta[LOG_SIGMA])
    p = min(max(p, 1.0 - _MOST_SHARE), _MOST_SHARE)
    stretch = 1.0 / (p * (1.0 - p))
    peak = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) / whole
    slope[MU] = -stretch * peak / sigma
    slope[LOG_SIGMA] = -stretch * peak * z
    per_ratio = stretch * (min(n, window) - p * window) / whole
    if likelihood:
        slope[BASE] = per_ratio
    else:
        slope[BASE] = per_ratio / height
        slope[AMPLITUDE] = -per_ratio * ratio / height


@making_part
def _spread(
    model: Model, page: PageViews, theta: Floats, window: float, work: Floats, noise: float
) -> float:
    """Standard error of the scaled share at the curve that `objective` left in `work`."""
    likelihood, base, n, low, high = model
    y, weight, life = page.views, page.weight, len(page.views)
    h = np.zeros((PARAMETERS, PARAMETERS))
    g = np.zeros(PARAMETERS)
    slope = np.zeros(PARAMETERS)
    v = np.zeros(PARAMETERS)
    free = np.ones(PARAMETERS, np.bool_)
    free[BASE] = base
    _gradient(likelihood, theta, base, n, window, slope)
    equations(likelihood, theta, y, weight, life, base, work, h, g)
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
        equations(False, theta, y, expected, life, base, work, middle, g)
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
