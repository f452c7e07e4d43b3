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

ROWS: Final = 7
"""Rows of work that an objective and its equations need."""
ROOM: Final = 21
"""Rows of scratch that a descent needs: two matrices, g, step, trial, g less what is held, what
`solve` needs, and steps to the edge of the box."""

_PEAK: Final = 1.0 / math.sqrt(2.0 * math.pi)
_ROOT_HALF: Final = math.sqrt(0.5)
_NARROW: Final = 0.125
"""Width in z of a day below which tails are not subtracted from each other."""
_NO_AGE: Final = 1e-12
"""Stands for age 0, whose logarithm is no number; the curve is zero there."""

_FIRST_DAMPING: Final = 1e-3
_FREE_DAMPING: Final = 1e-3
"""With more, a step that promises little may have been cut short."""
_MOST_DAMPING: Final = 1e7
_TINY: Final = 1e-300
_SINGULAR: Final = 1e-14
"""A pivot, relative to its diagonal, that is nothing but rounding."""
_LEAST: Final = 1e-9
"""Share of a curve inside the page's life below which the curve is none of this page."""
_STILL: Final = 5e-4
"""Change of accumulated interest in a round that shows the page is not settled."""
_SETTLED: Final = 1e-9
"""Relative gain that ends the descent even if it does move."""
_NEAR: Final = (0.25, 0.3, 0.2)
"""Starts that have come so close to the best in offset, mu and log sigma are in its valley."""
_NEAR_DOTS: Final = 0.4
"""The same of the dots, whose valleys lie closer: three dots are fitted almost as well by many."""
_HEATS: Final = 5
"""Rounds after which what is allowed to a descent stays the same."""
_FACTOR_OF_MASS: Final = (0.4, 0.2, 0.11, 0.05, 0.025)
_SHARE_OF_MASS: Final = (0.02, 0.01, 0.005, 0.002, 0.001)
_PROMISES_OF_MASS: Final = 5.0
_FACTOR_OF_DOTS: Final = (1.3, 0.66, 0.35, 0.16, 0.08)
_SHARE_OF_DOTS: Final = (0.2, 0.1, 0.05, 0.025, 0.012)
"""How far behind the best a descent may be after so many rounds and still win: by a share of the
best, and of what a constant leaves (where a curve fits almost perfectly, shares of the best mean
little). By mass, steps keep what they promise, so that five promised gains must reach as well. Set
where 6,000 pages, each descended from six starts to the end, lose 0.2 to 0.4 % of their winners."""


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
    theta: Floats,
    y: Floats,
    weight: Floats,
    life: int,
    base: bool,
    work: Floats,
    h: Floats,
    g: Floats,
) -> None:
    """Normal equations (h, g) at the curve that `dots` left in `work`.

    Leaves residuals and the derivatives by offset, mu and log sigma in work[3] to work[6].
    """
    height, level, offset = theta[AMPLITUDE], theta[BASE], theta[OFFSET]
    narrow = exp(-theta[LOG_SIGMA])
    for i in range(life):
        z, af = work[0, i], height * work[1, i]
        jm = af * z * narrow
        work[3, i] = weight[i] * (y[i] - af - level)
        work[4, i] = -(af + jm) / (offset + i)
        work[5, i] = jm
        work[6, i] = af * (z * z - 1.0)
    ga = go = gm = gs = 0.0
    aa = ao = am = as_ = oo = om = os_ = mm = ms = ss = 0.0
    for i in range(life):
        w, f, r = weight[i], work[1, i], work[3, i]
        jo, jm, js = work[4, i], work[5, i], work[6, i]
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
    g[AMPLITUDE], g[BASE], g[OFFSET], g[MU], g[LOG_SIGMA] = ga, 0.0, go, gm, gs
    _fill(h, aa, ao, am, as_, oo, om, os_, mm, ms, ss)
    if base:
        _dots_base(weight, life, work, h, g)


@kernel
def _dots_base(weight: Floats, life: int, work: Floats, h: Floats, g: Floats) -> None:
    """The row of the base in the normal equations of the dots."""
    gb = ab = bb = bo = bm = bs = 0.0
    for i in range(life):
        w = weight[i]
        gb += work[3, i]
        ab += w * work[1, i]
        bb += w
        bo += w * work[4, i]
        bm += w * work[5, i]
        bs += w * work[6, i]
    g[BASE] = gb
    _fill_base(h, ab, bb, bo, bm, bs)


@kernel
def dots_curvature(theta: Floats, life: int, work: Floats, g: Floats, h: Floats) -> None:
    """Add to the normal equations' h what makes it half the second derivative of the squares.

    `work` and `g` are as `dots_equations` left them. f being the exponential of u, its second
    derivatives are f * (u_j u_k + u_jk).
    """
    height, offset = theta[AMPLITUDE], theta[OFFSET]
    narrow = exp(-theta[LOG_SIGMA])
    oo = om = os_ = mm = ms = ss = 0.0
    for i in range(life):
        z = work[0, i]
        p = work[3, i] * height * work[1, i]
        inverse = 1.0 / (offset + i)
        steep, wide = narrow * z, z * z - 1.0
        fall = -(1.0 + steep) * inverse
        oo += p * (fall * fall + (1.0 + steep - narrow * narrow) * inverse * inverse)
        om += p * (fall * steep + narrow * narrow * inverse)
        os_ += p * (fall * wide + 2.0 * steep * inverse)
        mm += p * (steep * steep - narrow * narrow)
        ms += p * steep * (wide - 2.0)
        ss += p * (wide * wide - 2.0 * z * z)
    tall = max(height, _TINY)
    _subtract(h, oo, om, os_, mm, ms, ss)
    for k in range(OFFSET, PARAMETERS):
        h[AMPLITUDE, k] -= g[k] / tall
        h[k, AMPLITUDE] = h[AMPLITUDE, k]


@kernel
def _fill(
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
    """Write a symmetric matrix from its upper half; the row of the base is zero."""
    h[0, 0], h[0, 1], h[0, 2], h[0, 3], h[0, 4] = aa, 0.0, ao, am, as_
    h[1, 0], h[1, 1], h[1, 2], h[1, 3], h[1, 4] = 0.0, 0.0, 0.0, 0.0, 0.0
    h[2, 0], h[2, 1], h[2, 2], h[2, 3], h[2, 4] = ao, 0.0, oo, om, os_
    h[3, 0], h[3, 1], h[3, 2], h[3, 3], h[3, 4] = am, 0.0, om, mm, ms
    h[4, 0], h[4, 1], h[4, 2], h[4, 3], h[4, 4] = as_, 0.0, os_, ms, ss


@kernel
def _fill_base(h: Floats, ab: float, bb: float, bo: float, bm: float, bs: float) -> None:
    """Write the row and the column of the base."""
    h[1, 0], h[1, 1], h[1, 2], h[1, 3], h[1, 4] = ab, bb, bo, bm, bs
    h[0, 1], h[2, 1], h[3, 1], h[4, 1] = ab, bo, bm, bs


@kernel
def _subtract(h: Floats, oo: float, om: float, os_: float, mm: float, ms: float, ss: float) -> None:
    """Subtract from the part of offset, mu and log sigma."""
    h[2, 2] -= oo
    h[2, 3] -= om
    h[2, 4] -= os_
    h[3, 3] -= mm
    h[3, 4] -= ms
    h[4, 4] -= ss
    h[3, 2], h[4, 2], h[4, 3] = h[2, 3], h[2, 4], h[3, 4]


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
    theta: Floats,
    y: Floats,
    weight: Floats,
    life: int,
    base: bool,
    work: Floats,
    h: Floats,
    g: Floats,
) -> None:
    """Fisher scoring equations (h, g) at the curve that `mass` left in `work`.

    Leaves density per age and density times z at the edges in work[3] and work[4], residuals per
    expected view, shifted by one, in work[5], and the weight of each day in work[6].
    """
    height, offset = theta[AMPLITUDE], theta[OFFSET]
    narrow = exp(-theta[LOG_SIGMA])
    for j in range(life + 1):
        age = offset - 1.0 + j
        work[3, j] = work[1, j] / age if age > _NO_AGE else 0.0
        work[4, j] = work[0, j] * work[1, j]
    work[5, 0] = work[5, life + 1] = 0.0
    for i in range(life):
        expected = height * work[2, i]
        work[6, i] = weight[i] / expected
        work[5, i + 1] = work[6, i] * (y[i] - expected)
    slope = height * narrow
    ga = go = gm = gs = 0.0
    aa = ao = am = as_ = oo = om = os_ = mm = ms = ss = 0.0
    for i in range(life):
        w, f, r = work[6, i], work[2, i], work[5, i + 1]
        jo = slope * (work[3, i + 1] - work[3, i])
        jm = slope * (work[1, i] - work[1, i + 1])
        js = height * (work[4, i] - work[4, i + 1])
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
    g[AMPLITUDE], g[BASE], g[OFFSET], g[MU], g[LOG_SIGMA] = ga, 0.0, go, gm, gs
    _fill(h, aa, ao, am, as_, oo, om, os_, mm, ms, ss)
    if base:
        _mass_base(theta, life, work, h, g)


@kernel
def _mass_base(theta: Floats, life: int, work: Floats, h: Floats, g: Floats) -> None:
    """The row of the base in the equations of the mass."""
    height = theta[AMPLITUDE]
    slope = height * exp(-theta[LOG_SIGMA])
    gb = ab = bb = bo = bm = bs = 0.0
    for i in range(life):
        w = work[6, i] * height
        gb += work[5, i + 1]
        ab += w * work[2, i]
        bb += w
        bo += w * (work[3, i + 1] - work[3, i])
        bm += w * (work[1, i] - work[1, i + 1])
        bs += w * (work[4, i] - work[4, i + 1])
    g[BASE] = gb * height
    _fill_base(h, ab, bb * height, bo * slope, bm * slope, bs * height)


@kernel
def mass_curvature(theta: Floats, life: int, work: Floats, h: Floats) -> None:
    """Add to Fisher's h what makes it the second derivative of the likelihood.

    `work` is as `mass_equations` left it. The second derivatives of a day's mass are differences
    between its edges; summed by parts, every edge is visited once. Those that involve A vanish,
    A being the best for the shape.
    """
    height, offset = theta[AMPLITUDE], theta[OFFSET]
    narrow = exp(-theta[LOG_SIGMA])
    slope = height * narrow
    oo = om = os_ = mm = ms = ss = 0.0
    for i in range(life):
        p = work[5, i + 1] * work[6, i]
        jo = slope * (work[3, i + 1] - work[3, i])
        jm = slope * (work[1, i] - work[1, i + 1])
        js = height * (work[4, i] - work[4, i + 1])
        po, pm = p * jo, p * jm
        oo -= po * jo
        om -= po * jm
        os_ -= po * js
        mm -= pm * jm
        ms -= pm * js
        ss -= p * js * js
    for j in range(life + 1):
        age = offset - 1.0 + j
        z, change = work[0, j], slope * (work[5, j] - work[5, j + 1])
        per_age, flank = change * work[3, j], 1.0 - z * z
        inverse = 1.0 / age if age > _NO_AGE else 0.0
        oo -= per_age * (1.0 + narrow * z) * inverse
        om += per_age * narrow * z
        os_ -= per_age * flank
        mm -= change * narrow * work[4, j]
        ms += change * work[1, j] * flank
        ss += change * work[4, j] * flank / narrow
    _subtract(h, oo, om, os_, mm, ms, ss)


@kernel
def solve(
    h: Floats,
    metric: Floats,
    g: Floats,
    free: NDArray[np.bool_],
    damping: float,
    step: Floats,
    room: Floats,
) -> bool:
    """Solve (h + damping * diag metric) step = g in the free parameters.

    Returns False if the matrix is not positive definite. `room` is scratch: memory asked for here
    would take longer than solving.
    """
    low, pivots = room[:PARAMETERS], room[PARAMETERS]
    for a in range(PARAMETERS):
        step[a] = 0.0
        if not free[a]:
            continue
        # A tiny pivot, relative to its diagonal, is nothing but rounding.
        pivot = h[a, a] + damping * metric[a, a]
        least = _SINGULAR * metric[a, a]
        value = g[a]
        for b in range(a):
            if free[b]:
                entry = h[a, b]
                for c in range(b):
                    if free[c]:
                        entry -= low[a, c] * low[b, c] * pivots[c]
                entry /= pivots[b]
                low[a, b] = entry
                pivot -= entry * entry * pivots[b]
                value -= entry * step[b]
        if not pivot > max(least, _TINY):
            return False
        pivots[a] = pivot
        step[a] = value
    for a in range(PARAMETERS - 1, -1, -1):
        if free[a]:
            step[a] /= pivots[a]
            for c in range(a + 1, PARAMETERS):
                if free[c]:
                    step[a] -= low[c, a] * step[c]
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
    base: bool,
    work: Floats,
    h: Floats,
    g: Floats,
) -> None:
    """The method's equations at the point last given to `objective` with this `work`."""
    if likelihood:
        mass_equations(theta, y, weight, life, base, work, h, g)
    else:
        dots_equations(theta, y, weight, life, base, work, h, g)


@kernel
def _is_near(likelihood: bool, one: Floats, other: Floats) -> bool:
    """Whether two parameter vectors lie in one valley."""
    unit = 1.0 if likelihood else _NEAR_DOTS
    return bool(
        abs(one[OFFSET] - other[OFFSET]) < unit * _NEAR[0]
        and abs(one[MU] - other[MU]) < unit * _NEAR[1]
        and abs(one[LOG_SIGMA] - other[LOG_SIGMA]) < unit * _NEAR[2]
    )


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
    rival: Floats,
    goal: float,
    flat: float,
    patience: float,
) -> tuple[float, bool, int]:
    """Improve theta in place; returns the objective, whether it stopped by itself, evaluations.

    It stops when the next step promises less than `enough` of the objective (+ `shift`, which
    turns the likelihood into a deviance) and leaves the interest accumulated after `n` days where
    it is, when steps gain no more, and when it is not worth going on: in the valley of `rival`, or
    too far behind `goal`, the objective there (infinite where there is no rival; `patience` is
    explained at `allowed`). In long flat valleys the objective is settled long before the label
    is. `works`, `room` and `free` (2 rows) are scratch.
    """
    h, newton = room[:PARAMETERS], room[PARAMETERS : 2 * PARAMETERS]
    g, step, trial = room[10], room[11], room[12]
    trial[:] = theta
    current = done = small = evaluations = 0
    best = math.inf
    damping, promised = _FIRST_DAMPING, 0.0
    while True:
        value = objective(likelihood, trial, y, weight, life, base, works[1 - current])
        evaluations += 1
        if value < best:
            gain = best - value
            moved = done == 0 or _moved(theta, trial, n)
            best = value
            theta[:] = trial
            current = 1 - current
            scale = max(value + shift, _TINY)
            if done > 0:
                damping = _damped(damping, gain, promised)
                small = small + 1 if gain <= (_SETTLED if moved else enough) * scale else 0
                twin = best >= goal and _is_near(likelihood, theta, rival)
                if small == 2 or done == rounds or twin:
                    return best, small == 2, evaluations
            done += 1
            equations(likelihood, theta, y, weight, life, base, works[current], h, g)
            newton[:] = h
            if likelihood:
                mass_curvature(theta, life, works[current], newton)
            else:
                dots_curvature(theta, life, works[current], g, newton)
            _release(theta, g, low, high, free[0])
        else:
            damping *= 4.0
        promised, damping = _promise(theta, newton, h, g, low, high, free, damping, step, room)
        if promised < 0.0 or _is_hopeless(
            likelihood, best - goal, promised, done - 1, patience, goal + shift, flat
        ):
            return best, True, evaluations
        trial[:] = theta
        for k in range(1, PARAMETERS):
            trial[k] = min(max(theta[k] + step[k], low[k]), high[k])
        scale = max(best + shift, _TINY)
        little = promised <= enough * scale and damping <= _FREE_DAMPING
        if little and (promised <= _SETTLED * scale or not _moved(theta, trial, n)):
            return best, True, evaluations


@kernel
def _damped(damping: float, gain: float, promised: float) -> float:
    """Damping of the next step, from what the last one kept of its promise."""
    if gain > 0.75 * promised:
        return max(damping * 0.2, 1e-9)
    return damping if gain > 0.25 * promised else damping * 4.0


@kernel
def allowed(likelihood: bool, done: int, patience: float, goal: float, flat: float) -> float:
    """How far behind `goal`, a deviance or a sum of squares, a descent may be after `done` rounds.

    `patience` is 1 for a start that is a peak of the grid, less for others.
    """
    heat = min(done, _HEATS - 1)
    if likelihood:
        return patience * (_FACTOR_OF_MASS[heat] * goal + _SHARE_OF_MASS[heat] * flat)
    return patience * (_FACTOR_OF_DOTS[heat] * goal + _SHARE_OF_DOTS[heat] * flat)


@kernel
def _is_hopeless(
    likelihood: bool,
    behind: float,
    promised: float,
    done: int,
    patience: float,
    goal: float,
    flat: float,
) -> bool:
    """Whether a descent so far behind its rival will not overtake it."""
    if behind > allowed(likelihood, done, patience, goal, flat):
        return True
    return likelihood and behind > _PROMISES_OF_MASS * promised


@kernel
def _promise(
    theta: Floats,
    newton: Floats,
    metric: Floats,
    g: Floats,
    low: Floats,
    high: Floats,
    free: NDArray[np.bool_],
    damping: float,
    step: Floats,
    room: Floats,
) -> tuple[float, float]:
    """The first damping from `damping` on with a step, and the gain that it promises, or -1."""
    while damping < _MOST_DAMPING:
        if _step(theta, newton, metric, g, low, high, free, damping, step, room):
            promised = 0.0
            for a in range(PARAMETERS):
                pushed = 0.0
                for b in range(PARAMETERS):
                    pushed += newton[a, b] * step[b]
                promised += step[a] * (2.0 * g[a] - pushed)
            if promised > 0.0:
                return promised, damping
        damping *= 8.0
    return -1.0, damping


@kernel
def _step(
    theta: Floats,
    h: Floats,
    metric: Floats,
    g: Floats,
    low: Floats,
    high: Floats,
    free: NDArray[np.bool_],
    damping: float,
    step: Floats,
    room: Floats,
) -> bool:
    """A step inside the box into `step`, or False if h is not good for one.

    A parameter that the step would take out of the box goes to its edge, and the others take the
    best step given that: cutting the step as a whole would go astray along the edge.
    """
    pull, to_edge, open_ = room[13], room[20], free[1]
    pull[:] = g
    open_[:] = free[0]
    while solve(h, metric, pull, open_, damping, step, room[14:]):
        worst = _furthest_out(theta, low, high, open_, step)
        for k in range(PARAMETERS):
            if free[0, k] and not open_[k]:
                step[k] = to_edge[k]  # where `solve` leaves 0
        if worst < 0:
            return True
        to_edge[worst] = (low[worst] if step[worst] < 0 else high[worst]) - theta[worst]
        open_[worst] = False
        for k in range(PARAMETERS):
            pull[k] -= h[k, worst] * to_edge[worst]
    return False


@kernel
def _furthest_out(
    theta: Floats, low: Floats, high: Floats, open_: NDArray[np.bool_], step: Floats
) -> int:
    """The open parameter that the step takes furthest out of the box, or -1."""
    worst, excess = -1, 1e-12
    for k in range(1, PARAMETERS):
        if open_[k]:
            out = max(low[k] - theta[k] - step[k], theta[k] + step[k] - high[k])
            if out > excess * (high[k] - low[k]):
                worst, excess = k, out / (high[k] - low[k])
    return worst


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
