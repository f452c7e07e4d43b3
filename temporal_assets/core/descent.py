"""From a start to the nearest best curve: Levenberg-Marquardt, bounded, compiled.

Here: objective, normal equations and steps for one page, for both methods. Not here: where to
start (`starts`), loops over pages and what to say about the result (`curves`).

A page's parameters are a vector: A, base, offset, mu, log sigma. A (and for dots the base) has a
closed form given the rest, so steps are taken in all of them and these are then put right.
For the likelihood the base is kept in units of A.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.compiled import exact, exp, kernel, log, mills
from temporal_assets.core.lognormal import STRAY

Floats = NDArray[np.float64]

PARAMETERS: Final = 5
AMPLITUDE: Final = 0
BASE: Final = 1
OFFSET: Final = 2
MU: Final = 3
LOG_SIGMA: Final = 4

ROWS: Final = 4
"""Rows of work that an objective needs."""
ROOM: Final = 16
"""Rows of scratch that a descent needs: h, g, step, trial, and what `solve` needs."""

_PEAK: Final = 1.0 / math.sqrt(2.0 * math.pi)
_ROOT_HALF: Final = math.sqrt(0.5)
_NARROW: Final = 0.125
"""Width in z of a day below which tails are not subtracted from each other."""
_NO_AGE: Final = 1e-12
"""Stands for age 0, whose logarithm is no number; the curve is zero there."""

_FIRST_DAMPING: Final = 1e-3
_MOST_DAMPING: Final = 1e7
_TINY: Final = 1e-300
_SINGULAR: Final = 1e-14
"""Square of a pivot, relative to its diagonal, that is nothing but rounding."""
_LEAST: Final = 1e-9
"""Share of a curve inside the page's life below which the curve is none of this page."""
_STILL: Final = 5e-4
"""Change of accumulated interest in a round that shows the page is not settled."""
_SETTLED: Final = 1e-9
"""Relative gain that ends the descent even if it does move."""


@kernel
def dots(theta: Floats, y: Floats, weight: Floats, life: int, base: bool, work: Floats) -> float:
    """Sum of squares of the best A (and base) for theta's shape; puts both into theta.

    Leaves z and the curve in work[0] and work[1].
    """
    offset, mu = theta[OFFSET], theta[MU]
    narrow = exp(-theta[LOG_SIGMA])
    scale = narrow * _PEAK
    n = sy = syy = sf = sff = syf = 0.0
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
        n += w
        sy += wy
        syy += wy * y[i]
        sf += w * f
        sff += w * f * f
        syf += wy * f
    theta[BASE] = 0.0
    theta[AMPLITUDE] = syf / max(sff, _TINY)
    if base:
        spread = sff - sf * sf / n
        if spread > 1e-12 * sff:
            height = (syf - sy * sf / n) / spread
            level = (sy - height * sf) / n
            if height >= 0 and level >= 0:
                theta[AMPLITUDE], theta[BASE] = height, level
    height, level = theta[AMPLITUDE], theta[BASE]
    # Summed anew: the closed form of the sum loses its digits on pages fitted well.
    total = 0.0
    for i in range(life):
        r = y[i] - height * work[1, i] - level
        total += weight[i] * r * r
    return total


@kernel
def dots_equations(
    theta: Floats, y: Floats, weight: Floats, life: int, work: Floats, h: Floats, g: Floats
) -> None:
    """Normal equations (h, g) at the curve that `dots` left in `work`."""
    height, level, offset = theta[AMPLITUDE], theta[BASE], theta[OFFSET]
    narrow = exp(-theta[LOG_SIGMA])
    ga = gb = go = gm = gs = 0.0
    aa = ab = ao = am = as_ = bb = bo = bm = bs = oo = om = os_ = mm = ms = ss = 0.0
    for i in range(life):
        w, z, f = weight[i], work[0, i], work[1, i]
        af = height * f
        r = w * (y[i] - af - level)
        jm = af * z * narrow
        jo = -(af + jm) / (offset + i)
        js = af * (z * z - 1.0)
        ga += r * f
        gb += r
        go += r * jo
        gm += r * jm
        gs += r * js
        wf, wo, wm = w * f, w * jo, w * jm
        aa += wf * f
        ab += wf
        ao += wf * jo
        am += wf * jm
        as_ += wf * js
        bb += w
        bo += wo
        bm += wm
        bs += w * js
        oo += wo * jo
        om += wo * jm
        os_ += wo * js
        mm += wm * jm
        ms += wm * js
        ss += w * js * js
    _fill(h, aa, ab, ao, am, as_, bb, bo, bm, bs, oo, om, os_, mm, ms, ss)
    g[0], g[1], g[2], g[3], g[4] = ga, gb, go, gm, gs


@kernel
def _fill(
    h: Floats,
    aa: float,
    ab: float,
    ao: float,
    am: float,
    as_: float,
    bb: float,
    bo: float,
    bm: float,
    bs: float,
    oo: float,
    om: float,
    os_: float,
    mm: float,
    ms: float,
    ss: float,
) -> None:
    """Write a symmetric matrix from its upper half."""
    h[0, 0], h[0, 1], h[0, 2], h[0, 3], h[0, 4] = aa, ab, ao, am, as_
    h[1, 0], h[1, 1], h[1, 2], h[1, 3], h[1, 4] = ab, bb, bo, bm, bs
    h[2, 0], h[2, 1], h[2, 2], h[2, 3], h[2, 4] = ao, bo, oo, om, os_
    h[3, 0], h[3, 1], h[3, 2], h[3, 3], h[3, 4] = am, bm, om, mm, ms
    h[4, 0], h[4, 1], h[4, 2], h[4, 3], h[4, 4] = as_, bs, os_, ms, ss


@exact
def _mass_between(
    low: float,
    high: float,
    at_low: float,
    at_high: float,
    beyond_low: float,
    beyond_high: float,
) -> float:
    """Standard normal mass between two points, given density and outer tail at both.

    Wide intervals are a difference of tails, the nearer ones. Narrow ones, where that difference
    loses its digits, are the trapezoid with Euler and Maclaurin's corrections (relative error
    below 1e-9 wherever the mass is above 1e-9). Both are computed and one is taken: a branch
    would keep the loop from being vectorised.
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


@kernel
def mass(theta: Floats, y: Floats, weight: Floats, life: int, work: Floats) -> float:
    """-2 * log-likelihood (up to a constant) of the best A for theta's shape; puts it into theta.

    Leaves z and its density at the edges of the days in work[0] and work[1], the daily mass with
    base and stray views in work[2].
    """
    offset, mu, base = theta[OFFSET], theta[MU], theta[BASE]
    narrow = exp(-theta[LOG_SIGMA])
    # Edges up to a whole vector; those beyond life + 1 are not used.
    edges = life + 4
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
    level = base + STRAY * inside / days
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


@kernel
def mass_equations(
    theta: Floats, y: Floats, weight: Floats, life: int, work: Floats, h: Floats, g: Floats
) -> None:
    """Fisher scoring equations (h, g) at the curve that `mass` left in `work`."""
    height, offset = theta[AMPLITUDE], theta[OFFSET]
    narrow = exp(-theta[LOG_SIGMA])
    ga = gb = go = gm = gs = 0.0
    aa = ab = ao = am = as_ = bb = bo = bm = bs = oo = om = os_ = mm = ms = ss = 0.0
    for i in range(life):
        f = work[2, i]
        z0, z1, e0, e1 = work[0, i], work[0, i + 1], work[1, i], work[1, i + 1]
        start = offset - 1.0 + i
        d0 = e0 / start if start > _NO_AGE else 0.0
        jo = height * narrow * (e1 / (start + 1.0) - d0)
        jm = -height * narrow * (e1 - e0)
        js = -height * (z1 * e1 - z0 * e0)
        expected = height * f
        w = weight[i] / expected
        r = w * (y[i] - expected)
        ga += r * f
        gb += r * height
        go += r * jo
        gm += r * jm
        gs += r * js
        wf, wb, wo, wm = w * f, w * height, w * jo, w * jm
        aa += wf * f
        ab += wf * height
        ao += wf * jo
        am += wf * jm
        as_ += wf * js
        bb += wb * height
        bo += wb * jo
        bm += wb * jm
        bs += wb * js
        oo += wo * jo
        om += wo * jm
        os_ += wo * js
        mm += wm * jm
        ms += wm * js
        ss += w * js * js
    _fill(h, aa, ab, ao, am, as_, bb, bo, bm, bs, oo, om, os_, mm, ms, ss)
    g[0], g[1], g[2], g[3], g[4] = ga, gb, go, gm, gs


@kernel
def solve(
    h: Floats, g: Floats, free: NDArray[np.bool_], damping: float, step: Floats, room: Floats
) -> bool:
    """Solve (h + damping * diag h) step = g in the free parameters; False if h is singular.

    `room` is scratch: memory asked for here would take longer than solving.
    """
    low, scale = room[:PARAMETERS], room[PARAMETERS]
    # Scaled to a unit diagonal: parameters differ by powers of ten. What is not free has scale 0,
    # which makes its row that of the identity.
    for a in range(PARAMETERS):
        if free[a] and not h[a, a] > _TINY:
            return False
        scale[a] = 1.0 / math.sqrt(h[a, a]) if free[a] else 0.0
        step[a] = g[a] * scale[a]
    for a in range(PARAMETERS):
        for b in range(a):
            value = h[a, b] * scale[a] * scale[b]
            for c in range(b):
                value -= low[a, c] * low[b, c]
            low[a, b] = value / low[b, b]
            step[a] -= low[a, b] * step[b]
        value = 1.0 + damping
        for c in range(a):
            value -= low[a, c] * low[a, c]
        if not value > _SINGULAR:
            return False
        low[a, a] = math.sqrt(value)
        step[a] /= low[a, a]
    for a in range(PARAMETERS - 1, -1, -1):
        for c in range(a + 1, PARAMETERS):
            step[a] -= low[c, a] * step[c]
        step[a] /= low[a, a]
    for a in range(PARAMETERS):
        step[a] *= scale[a]
    return True


@kernel
def objective(
    likelihood: bool,
    theta: Floats,
    y: Floats,
    weight: Floats,
    life: int,
    base: bool,
    work: Floats,
) -> float:
    """The method's objective at theta's shape; sets theta's A (and base)."""
    if likelihood:
        return mass(theta, y, weight, life, work)
    return dots(theta, y, weight, life, base, work)


@kernel
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
    """The method's equations at the point last given to `objective` with this `work`."""
    if likelihood:
        mass_equations(theta, y, weight, life, work, h, g)
    else:
        dots_equations(theta, y, weight, life, work, h, g)


@kernel
def descend(
    likelihood: bool,
    theta: Floats,
    y: Floats,
    weight: Floats,
    life: int,
    base: bool,
    low: Floats,
    high: Floats,
    works: Floats,
    room: Floats,
    free: NDArray[np.bool_],
    rounds: int,
    enough: float,
    shift: float,
    n: float,
) -> tuple[float, bool]:
    """Improve theta in place; returns the objective and whether it stopped by itself.

    It stops when a round gains less than `enough` of the objective (+ `shift`, which turns the
    likelihood into a deviance) and leaves the interest accumulated after `n` days where it was, or
    when no step gains anything. In long flat valleys the objective is settled long before the
    label is. `works`, `room` and `free` are scratch.
    """
    h, g, step, trial = room[:PARAMETERS], room[5], room[6], room[7]
    trial[:] = theta
    current = 0
    best = math.inf
    damping = _FIRST_DAMPING
    small = done = 0
    while True:
        value = objective(likelihood, trial, y, weight, life, base, works[1 - current])
        if value < best:
            gain = (best - value) / max(value + shift, _TINY)
            moved = _moved(theta, trial, n)
            best = value
            theta[:] = trial
            current = 1 - current
            if done > 0:
                damping = max(damping * 0.2, 1e-9)
                # Two small gains running: one may be a step cut short by damping or a bound.
                little = _SETTLED if moved else enough
                small = small + 1 if gain <= little else 0
                # Where steps gain ever less, so much less is the end.
                if gain <= 0.01 * little:
                    small = 2
            if small == 2 or done == rounds:
                return best, small == 2
            done += 1
            equations(likelihood, theta, y, weight, life, works[current], h, g)
            _release(theta, g, low, high, free)
        else:
            damping *= 8.0
        while damping < _MOST_DAMPING and not solve(h, g, free, damping, step, room[8:]):
            damping *= 8.0
        if damping >= _MOST_DAMPING:
            return best, True
        trial[AMPLITUDE] = theta[AMPLITUDE]
        for k in range(1, PARAMETERS):
            trial[k] = min(max(theta[k] + step[k], low[k]), high[k])


@kernel
def _moved(before: Floats, after: Floats, n: float) -> bool:
    """Whether the interest accumulated after n days differs."""
    z0 = (math.log(n) - before[MU]) * exp(-before[LOG_SIGMA])
    z1 = (math.log(n) - after[MU]) * exp(-after[LOG_SIGMA])
    return abs(math.erf(z1 * _ROOT_HALF) - math.erf(z0 * _ROOT_HALF)) > 2 * _STILL


@kernel
def _release(theta: Floats, g: Floats, low: Floats, high: Floats, free: NDArray[np.bool_]) -> None:
    """Free every parameter but those at a bound that the objective pulls outward."""
    free[AMPLITUDE] = True
    for k in range(1, PARAMETERS):
        outward = (theta[k] <= low[k] and g[k] <= 0) or (theta[k] >= high[k] and g[k] >= 0)
        free[k] = not outward and high[k] > low[k]
