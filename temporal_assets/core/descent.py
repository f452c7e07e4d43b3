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

from temporal_assets.core.compiled import exp, kernel, log
from temporal_assets.core.lognormal import FLOOR

Floats = NDArray[np.float64]

PARAMETERS: Final = 5
AMPLITUDE: Final = 0
BASE: Final = 1
OFFSET: Final = 2
MU: Final = 3
LOG_SIGMA: Final = 4

_PEAK: Final = 1.0 / math.sqrt(2.0 * math.pi)
_ROOT_HALF: Final = math.sqrt(0.5)
_NODE: Final = math.sqrt(0.6)
_NARROW: Final = 0.5
"""Days no wider than this in z are integrated by three Gauss-Legendre nodes (relative error below
1e-8, and none of the cancellation of two nearly equal tails); wider ones by the error function."""
_NO_AGE: Final = 1e-12
"""Stands for age 0, whose logarithm is no number; the curve is zero there."""

_FIRST_DAMPING: Final = 1e-3
_MOST_DAMPING: Final = 1e7
_TINY: Final = 1e-300
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
    for i in range(life):
        lx = log(offset + i)
        z = (lx - mu) * narrow
        f = exp(-0.5 * z * z - lx) * scale
        work[0, i] = z
        work[1, i] = f
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


@kernel
def _wide_mass(low: float, high: float) -> float:
    """Standard normal mass between two points, from the nearer tail."""
    if low > 0:
        return 0.5 * (math.erfc(low * _ROOT_HALF) - math.erfc(high * _ROOT_HALF))
    if high < 0:
        return 0.5 * (math.erfc(-high * _ROOT_HALF) - math.erfc(-low * _ROOT_HALF))
    return 1.0 - 0.5 * (math.erfc(high * _ROOT_HALF) + math.erfc(-low * _ROOT_HALF))


@kernel
def mass(theta: Floats, y: Floats, weight: Floats, life: int, work: Floats) -> float:
    """-2 * log-likelihood (up to a constant) of the best A for theta's shape; puts it into theta.

    Leaves z and its density at the edges of the days in work[0] and work[1], the daily mass with
    floor and base in work[2].
    """
    offset, mu, base = theta[OFFSET], theta[MU], theta[BASE]
    narrow = exp(-theta[LOG_SIGMA])
    for j in range(life + 1):
        z = (log(max(offset - 1.0 + j, _NO_AGE)) - mu) * narrow
        work[0, j] = z
        work[1, j] = exp(-0.5 * z * z) * _PEAK
    first = 0
    while first < life and work[0, first + 1] - work[0, first] > _NARROW:
        work[2, first] = _wide_mass(work[0, first], work[0, first + 1])
        first += 1
    for i in range(first, life):
        half = 0.5 * (work[0, i + 1] - work[0, i])
        middle = work[0, i] + half
        left, right = middle - _NODE * half, middle + _NODE * half
        outer = exp(-0.5 * left * left) + exp(-0.5 * right * right)
        inner = exp(-0.5 * middle * middle)
        work[2, i] = half * _PEAK / 9.0 * (5.0 * outer + 8.0 * inner)
    views = expected = 0.0
    for i in range(life):
        work[2, i] += FLOOR + base
        views += weight[i] * y[i]
        expected += weight[i] * work[2, i]
    height = views / expected
    theta[AMPLITUDE] = height
    total = 0.0
    for i in range(life):
        total += weight[i] * y[i] * log(height * work[2, i])
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
def solve(h: Floats, g: Floats, free: NDArray[np.bool_], damping: float, step: Floats) -> bool:
    """Solve (h + damping * diag h) step = g in the free parameters; False if h is singular."""
    n = 0
    where = np.zeros(PARAMETERS, np.int64)
    for k in range(PARAMETERS):
        step[k] = 0.0
        if free[k]:
            where[n] = k
            n += 1
    low = np.zeros((PARAMETERS, PARAMETERS))
    right = np.zeros(PARAMETERS)
    # Scaled to a unit diagonal: parameters differ by powers of ten.
    for a in range(n):
        i = where[a]
        if h[i, i] <= _TINY:
            return False
        for b in range(a + 1):
            j = where[b]
            value = h[i, j] / math.sqrt(h[i, i] * h[j, j])
            if a == b:
                value = 1.0 + damping
            for c in range(b):
                value -= low[a, c] * low[b, c]
            if a > b:
                low[a, b] = value / low[b, b]
            elif value > 1e-14:
                low[a, a] = math.sqrt(value)
            else:
                return False
        value = g[i] / math.sqrt(h[i, i])
        for c in range(a):
            value -= low[a, c] * right[c]
        right[a] = value / low[a, a]
    for a in range(n - 1, -1, -1):
        value = right[a]
        for c in range(a + 1, n):
            value -= low[c, a] * right[c]
        right[a] = value / low[a, a]
    for a in range(n):
        step[where[a]] = right[a] / math.sqrt(h[where[a], where[a]])
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
    rounds: int,
    enough: float,
    shift: float,
    n: float,
) -> tuple[float, bool]:
    """Improve theta in place; returns the objective and whether it stopped by itself.

    It stops when a round gains less than `enough` of the objective (+ `shift`, which turns the
    likelihood into a deviance) and leaves the interest accumulated after `n` days where it was, or
    when no step gains anything. In long flat valleys the objective is settled long before the
    label is.
    """
    h = np.zeros((PARAMETERS, PARAMETERS))
    g = np.zeros(PARAMETERS)
    step = np.zeros(PARAMETERS)
    trial = np.zeros(PARAMETERS)
    free = np.ones(PARAMETERS, np.bool_)
    current = 0
    best = objective(likelihood, theta, y, weight, life, base, works[current])
    damping = _FIRST_DAMPING
    small = 0
    for _ in range(rounds):
        equations(likelihood, theta, y, weight, life, works[current], h, g)
        for k in range(1, PARAMETERS):
            outward = (theta[k] <= low[k] and g[k] <= 0) or (theta[k] >= high[k] and g[k] >= 0)
            free[k] = not outward and high[k] > low[k]
        gained = -1.0
        while damping < _MOST_DAMPING:
            if solve(h, g, free, damping, step):
                trial[AMPLITUDE] = theta[AMPLITUDE]
                for k in range(1, PARAMETERS):
                    trial[k] = min(max(theta[k] + step[k], low[k]), high[k])
                value = objective(
                    likelihood, trial, y, weight, life, base, works[1 - current]
                )
                if value < best:
                    gained = best - value
                    break
            damping *= 8.0
        if gained < 0:
            return best, True
        best -= gained
        current = 1 - current
        before = (math.log(n) - theta[MU]) * exp(-theta[LOG_SIGMA])
        after = (math.log(n) - trial[MU]) * exp(-trial[LOG_SIGMA])
        moved = abs(math.erf(after * _ROOT_HALF) - math.erf(before * _ROOT_HALF)) > 2 * _STILL
        theta[:] = trial
        damping = max(damping * 0.2, 1e-9)
        # Two small gains running: one may be a step cut short by damping or a bound.
        gain = gained / max(best + shift, _TINY)
        small = small + 1 if gain <= (_SETTLED if moved else enough) else 0
        if small == 2:
            return best, True
    return best, False
