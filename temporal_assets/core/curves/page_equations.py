"""The cost of a curve on a page and its derivatives, for both fitting methods: compiled.

Here: objective, normal equations and curvature at one parameter vector of one page. Not here: the
steps that they lead to (`descent`).

`dots` are the functions of least squares, which fits the density to daily views as to dots; `mass`
are those of the likelihood, which fits the mass of each day. A page's parameters are a vector: A,
offset, mu, log sigma. A has a closed form given the rest, so steps are taken in all of them and A
is then recomputed. The dots take the logarithm of the offset, in which their valleys are
straighter: a descent needs a fifth fewer steps than by the offset, and ends in a worse valley a
third as often. The likelihood gains nothing by it.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.curves.lognormal import STRAY
from temporal_assets.core.numerics.compiled import exact, exp, log, mills, part

Floats = NDArray[np.float64]

PARAMETERS: Final = 4
AMPLITUDE: Final = 0
OFFSET: Final = 1
MU: Final = 2
LOG_SIGMA: Final = 3

ROWS: Final = 10
"""Rows of work that an objective and its equations need: four of the objective's own, derivatives
by each parameter, residuals, and weights of days."""
_SLOPES: Final = 4
_RESIDUALS: Final = 8
_WEIGHTS: Final = 9

TINY: Final = 1e-300
_PEAK: Final = 1.0 / math.sqrt(2.0 * math.pi)
_NARROW: Final = 0.125
"""Width in z of a day below which tails are not subtracted from each other."""
_NO_AGE: Final = 1e-12
"""Stands for age 0, whose logarithm is not finite; the curve is zero there."""
_LEAST: Final = 1e-9
"""Share of a curve within the page's life below which the curve does not describe this page."""


@part
def offset_of(likelihood: bool, theta: Floats) -> float:
    """Return the offset in days; the dots' parameter is its logarithm."""
    return theta[OFFSET] if likelihood else math.exp(theta[OFFSET])


@part
def objective(
    likelihood: bool, theta: Floats, y: Floats, weight: Floats, life: int, work: Floats
) -> float:
    """Return the method's objective for theta's offset, mu and sigma; sets theta's A."""
    if likelihood:
        return _mass(theta, y, weight, life, work)
    return _dots(theta, y, weight, life, work)


@part
def equations(
    likelihood: bool,
    theta: Floats,
    y: Floats,
    weight: Floats,
    life: int,
    work: Floats,
    h: Floats,
    g: Floats,
) -> None:
    """Write the normal equations h, g at the point last given to `objective` with this `work`.

    h is Gauss and Newton's of the dots, Fisher's of the mass, and g points downhill. Leaves
    residuals (of the mass: per expected view, and shifted by one) and weights in the last rows of
    `work`; of the dots also derivatives by every parameter.
    """
    if likelihood:
        _mass_residuals(theta, y, weight, life, work)
        _mass_products(theta, life, work, h, g)
    else:
        _dots_slopes(theta, y, weight, life, work)
        _products(work, life, h, g)


@part
def _products(work: Floats, life: int, h: Floats, g: Floats) -> None:
    """Write the weighted products of all rows of derivatives to h and g.

    One loop for all sums: each loop costs as much as sixteen days.
    """
    ga = go = gm = gs = 0.0
    aa = ao = am = as_ = oo = om = os_ = mm = ms = ss = 0.0
    for i in range(life):
        w, r = work[_WEIGHTS, i], work[_RESIDUALS, i]
        f, jo = work[_SLOPES, i], work[_SLOPES + OFFSET, i]
        jm, js = work[_SLOPES + MU, i], work[_SLOPES + LOG_SIGMA, i]
        ga += r * f
        go += r * jo
        gm += r * jm
        gs += r * js
        wf, wo, wm = w * f, w * jo, w * jm
        aa += wf * f
        ao += wf * jo
        am += wf * jm
        as_ += wf * js
        oo += wo * jo
        om += wo * jm
        os_ += wo * js
        mm += wm * jm
        ms += wm * js
        ss += w * js * js
    _symmetric(h, aa, ao, am, as_, oo, om, os_, mm, ms, ss)
    g[AMPLITUDE], g[OFFSET], g[MU], g[LOG_SIGMA] = ga, go, gm, gs


@part
def _symmetric(
    h: Floats,
    aa: float,
    ao: float,
    am: float,
    as_: float,
    oo: float,
    om: float,
    os_: float,
    mm: float,
    ms: float,
    ss: float,
) -> None:
    """Fill the symmetric matrix h from its upper triangle."""
    h[0, 0] = aa
    h[0, 1] = h[1, 0] = ao
    h[0, 2] = h[2, 0] = am
    h[0, 3] = h[3, 0] = as_
    h[1, 1], h[2, 2], h[3, 3] = oo, mm, ss
    h[1, 2] = h[2, 1] = om
    h[1, 3] = h[3, 1] = os_
    h[2, 3] = h[3, 2] = ms


@part
def _dots(theta: Floats, y: Floats, weight: Floats, life: int, work: Floats) -> float:
    """Return the sum of squares with the best A, which is written to theta.

    Leaves z and the curve in work[0] and work[1].
    """
    offset, mu = exp(theta[OFFSET]), theta[MU]
    narrow = exp(-theta[LOG_SIGMA])
    scale = narrow * _PEAK
    sff = syf = 0.0
    # One function a loop: the processor overlaps short steps of many days, not long ones of few.
    for i in range(life):
        work[2, i] = log(offset + i)
    for i in range(life):
        z = (work[2, i] - mu) * narrow
        work[0, i] = z
        work[1, i] = exp(-0.5 * z * z - work[2, i]) * scale
    for i in range(life):
        f = work[1, i]
        w, wy = weight[i], weight[i] * y[i]
        sff += w * f * f
        syf += wy * f
    height = syf / max(sff, TINY)
    theta[AMPLITUDE] = height
    # Summed anew: the closed form of the sum loses its digits on pages fitted well.
    total = 0.0
    for i in range(life):
        r = y[i] - height * work[1, i]
        total += weight[i] * r * r
    return total


@part
def _dots_slopes(theta: Floats, y: Floats, weight: Floats, life: int, work: Floats) -> None:
    """Write derivatives, residuals and weights at the curve that `_dots` left in `work`."""
    height = theta[AMPLITUDE]
    offset, narrow = exp(theta[OFFSET]), exp(-theta[LOG_SIGMA])
    for i in range(life):
        z, f = work[0, i], work[1, i]
        af, steep = height * f, z * narrow
        work[_SLOPES + AMPLITUDE, i] = f
        work[_SLOPES + OFFSET, i] = -af * (1.0 + steep) * offset / (offset + i)
        work[_SLOPES + MU, i] = af * steep
        work[_SLOPES + LOG_SIGMA, i] = af * (z * z - 1.0)
        work[_RESIDUALS, i] = weight[i] * (y[i] - af)
        work[_WEIGHTS, i] = weight[i]


@part
def dots_curvature(theta: Floats, life: int, work: Floats, g: Floats, h: Floats) -> None:
    """Add to the normal equations' h the terms that make it half the squares' second derivative.

    `work` and `g` are as `equations` left them. f being the exponential of u, its second
    derivatives are f * (u_j u_k + u_jk).
    """
    height, offset = theta[AMPLITUDE], exp(theta[OFFSET])
    narrow = exp(-theta[LOG_SIGMA])
    narrow2 = narrow * narrow
    oo = om = os_ = mm = ms = ss = 0.0
    for i in range(life):
        z = work[0, i]
        p = work[_RESIDUALS, i] * height * work[1, i]
        q = offset / (offset + i)
        steep, wide = narrow * z, z * z - 1.0
        fall = -(1.0 + steep) * q
        oo += p * (fall * fall + fall * (1.0 - q) - narrow2 * q * q)
        om += p * (fall * steep + narrow2 * q)
        os_ += p * (fall * wide + 2.0 * steep * q)
        mm += p * (steep * steep - narrow2)
        ms += p * steep * (wide - 2.0)
        ss += p * (wide * wide - 2.0 * z * z)
    tall = max(height, TINY)
    for k in range(OFFSET, PARAMETERS):
        h[AMPLITUDE, k] -= g[k] / tall
        h[k, AMPLITUDE] = h[AMPLITUDE, k]
    _subtract(h, oo, om, os_, mm, ms, ss)


@part
def _subtract(h: Floats, oo: float, om: float, os_: float, mm: float, ms: float, ss: float) -> None:
    """Subtract values from the rows and columns of offset, mu and log sigma."""
    h[1, 1] -= oo
    h[1, 2] -= om
    h[1, 3] -= os_
    h[2, 2] -= mm
    h[2, 3] -= ms
    h[3, 3] -= ss
    h[2, 1], h[3, 1], h[3, 2] = h[1, 2], h[1, 3], h[2, 3]


@exact
def _mass_between(
    low: float,
    high: float,
    at_low: float,
    at_high: float,
    beyond_low: float,
    beyond_high: float,
) -> float:
    """Return the standard normal mass between two points, from density and outer tail at both.

    Wide intervals are a difference of tails, the nearer ones. Narrow ones, where that difference
    loses its digits, are the trapezoid with Euler and Maclaurin's corrections (relative error below
    1e-9 wherever the mass is above 1e-9). Both are computed and one is taken: a branch would keep
    the loop from being vectorised.
    """
    width = high - low
    low2, high2 = low * low, high * high
    first = high * at_high - low * at_low
    third = (low * (3.0 - low2)) * at_low - (high * (3.0 - high2)) * at_high
    fifth = (
        high * (high2 * (high2 - 10.0) + 15.0) * at_high
        - low * (low2 * (low2 - 10.0) + 15.0) * at_low
    )
    w2 = width * width
    narrow = 0.5 * (at_low + at_high) + width * (
        first / 12.0 - w2 * (third / 720.0 - w2 * (fifth / 30240.0))
    )
    one_side = beyond_low - beyond_high if low > 0 else beyond_high - beyond_low
    wide = 1.0 - beyond_low - beyond_high if low <= 0 and high >= 0 else one_side
    return narrow * width if width < _NARROW else wide


@part
def _mass(theta: Floats, y: Floats, weight: Floats, life: int, work: Floats) -> float:
    """Return -2 * log-likelihood (up to a constant) with the best A, which is written to theta.

    Leaves z and its density at the edges of the days in work[0] and work[1], the daily mass with
    stray views in work[2].
    """
    offset, mu = theta[OFFSET], theta[MU]
    narrow = exp(-theta[LOG_SIGMA])
    # Edges up to a whole vector of the widest processors, which take what is left of one by one;
    # those beyond life + 1 are not used.
    edges = life + 8
    for j in range(edges):
        work[0, j] = (log(max(offset - 1.0 + j, _NO_AGE)) - mu) * narrow
    for j in range(edges):
        work[1, j] = exp(-0.5 * work[0, j] * work[0, j]) * _PEAK
    for j in range(edges):
        work[3, j] = mills(abs(work[0, j])) * work[1, j]
    for i in range(life):
        work[2, i] = _mass_between(
            work[0, i], work[0, i + 1], work[1, i], work[1, i + 1], work[3, i], work[3, i + 1]
        )
    views = expected = days = inside = 0.0
    for i in range(life):
        days += weight[i]
        inside += weight[i] * work[2, i]
    if not inside > _LEAST:
        return math.inf
    level = STRAY * inside / days
    for i in range(life):
        work[2, i] += level
        views += weight[i] * y[i]
        expected += weight[i] * work[2, i]
    height = views / expected
    theta[AMPLITUDE] = height
    for i in range(life):
        work[3, i] = log(work[2, i])
    total = views * log(height)
    for i in range(life):
        total += weight[i] * y[i] * work[3, i]
    return -2.0 * total


@part
def _mass_residuals(theta: Floats, y: Floats, weight: Floats, life: int, work: Floats) -> None:
    """Write residuals and weights at the curve that `_mass` left in `work`.

    Replaces the tails at the edges in work[3] by density per age.
    """
    height, offset = theta[AMPLITUDE], theta[OFFSET]
    for j in range(life + 1):
        age = offset - 1.0 + j
        work[3, j] = work[1, j] / age if age > _NO_AGE else 0.0
    work[_RESIDUALS, 0] = work[_RESIDUALS, life + 1] = 0.0
    for i in range(life):
        expected = height * work[2, i]
        work[_WEIGHTS, i] = weight[i] / expected
        work[_RESIDUALS, i + 1] = work[_WEIGHTS, i] * (y[i] - expected)


@exact
def _mass_slope(work: Floats, i: int, height: float, slope: float) -> tuple[float, float, float]:
    """Return the derivatives of day i's expected views by offset, mu and log sigma.

    They are computed anew by each caller: stored, they would cost a loop whose many rows the
    compiler must first prove to be apart, which takes longer than the days of a page.
    """
    by_offset = slope * (work[3, i + 1] - work[3, i])
    by_mu = slope * (work[1, i] - work[1, i + 1])
    by_sigma = height * (work[0, i] * work[1, i] - work[0, i + 1] * work[1, i + 1])
    return by_offset, by_mu, by_sigma


@part
def _mass_products(theta: Floats, life: int, work: Floats, h: Floats, g: Floats) -> None:
    """Write `_products` of what `_mass` and `_mass_residuals` left in `work`."""
    height = theta[AMPLITUDE]
    slope = height * exp(-theta[LOG_SIGMA])
    ga = go = gm = gs = 0.0
    aa = ao = am = as_ = oo = om = os_ = mm = ms = ss = 0.0
    for i in range(life):
        w, r, f = work[_WEIGHTS, i], work[_RESIDUALS, i + 1], work[2, i]
        jo, jm, js = _mass_slope(work, i, height, slope)
        ga += r * f
        go += r * jo
        gm += r * jm
        gs += r * js
        wf, wo, wm = w * f, w * jo, w * jm
        aa += wf * f
        ao += wf * jo
        am += wf * jm
        as_ += wf * js
        oo += wo * jo
        om += wo * jm
        os_ += wo * js
        mm += wm * jm
        ms += wm * js
        ss += w * js * js
    _symmetric(h, aa, ao, am, as_, oo, om, os_, mm, ms, ss)
    g[AMPLITUDE], g[OFFSET], g[MU], g[LOG_SIGMA] = ga, go, gm, gs


@part
def mass_curvature(theta: Floats, life: int, work: Floats, h: Floats) -> None:
    """Add to Fisher's h the terms that make it the second derivative of the likelihood.

    `work` is as `equations` left it. The second derivatives of a day's mass are differences between
    its edges; summed by parts, every edge is visited once. Those that involve A vanish, A being the
    best for the shape.
    """
    height, offset = theta[AMPLITUDE], theta[OFFSET]
    narrow = exp(-theta[LOG_SIGMA])
    slope = height * narrow
    oo = om = os_ = mm = ms = ss = 0.0
    for i in range(life):
        p = work[_RESIDUALS, i + 1] * work[_WEIGHTS, i]
        jo, jm, js = _mass_slope(work, i, height, slope)
        po, pm = p * jo, p * jm
        oo -= po * jo
        om -= po * jm
        os_ -= po * js
        mm -= pm * jm
        ms -= pm * js
        ss -= p * js * js
    for j in range(life + 1):
        age = offset - 1.0 + j
        z, change = work[0, j], slope * (work[_RESIDUALS, j] - work[_RESIDUALS, j + 1])
        per_age, flank = change * work[3, j], 1.0 - z * z
        inverse = 1.0 / age if age > _NO_AGE else 0.0
        oo -= per_age * (1.0 + narrow * z) * inverse
        om += per_age * narrow * z
        os_ -= per_age * flank
        mm -= change * narrow * z * work[1, j]
        ms += change * work[1, j] * flank
        ss += change * z * work[1, j] * flank / narrow
    _subtract(h, oo, om, os_, mm, ms, ss)
