"""The descent from a start to the nearest best curve: Levenberg-Marquardt, bounded, compiled.

Here: steps for one page. Not here: objective and normal equations (`page_equations`), where to
start (`starts`), loops over pages and what to say about the result (`curves`).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.curves.page_equations import (
    AMPLITUDE,
    LOG_SIGMA,
    MU,
    OFFSET,
    PARAMETERS,
    TINY,
    dots_curvature,
    equations,
    mass_curvature,
    objective,
)
from temporal_assets.core.curves.problem import Model, PageViews, Rival, Scratch
from temporal_assets.core.numerics.compiled import exp, kernel

Floats = NDArray[np.float64]

ROOM: Final = 18
"""Rows of scratch that a descent needs: two matrices, the gradient g, step, trial, the part of g
that is free, what `solve` needs, and steps to the edge of the box."""

_ROOT_HALF: Final = math.sqrt(0.5)
_FIRST_DAMPING: Final = 1e-3
_FREE_DAMPING: Final = 1e-3
"""Damping above which a small promised step may be due to the damping and does not end the
descent."""
_MOST_DAMPING: Final = 1e7
_SINGULAR: Final = 1e-14
"""Pivot, relative to its diagonal, below which it is rounding noise."""
_STILL: Final = 5e-4
"""Change of accumulated interest in a round above which the page is not settled."""
_SETTLED: Final = 1e-9
"""Relative gain below which the descent ends even if accumulated interest still changes."""
_NEAR_OF_MASS: Final = (0.25, 0.3, 0.2)
_NEAR_OF_DOTS: Final = (0.8, 0.5, 0.33)
"""Distances in offset, mu and log sigma within which a descent is in the valley of the best one."""
_EXACT: Final = 1e-3
"""Gains are compared with at least this share of what a constant leaves: a curve through every
point leaves nothing, and nothing would be a small gain."""
_HEATS: Final = 5
"""Rounds after which the allowed distance stays the same."""
_FACTOR_OF_MASS: Final = (0.4, 0.2, 0.11, 0.05, 0.025)
_SHARE_OF_MASS: Final = (0.02, 0.01, 0.005, 0.002, 0.001)
_PROMISES_OF_MASS: Final = 5.0
_FACTOR_OF_DOTS: Final = (1.3, 0.66, 0.35, 0.16, 0.08)
_SHARE_OF_DOTS: Final = (0.2, 0.1, 0.05, 0.025, 0.012)
"""Largest distance from the best at which a descent may still win after so many rounds: a share of
the best, and of what a constant leaves (where a curve fits almost perfectly, shares of the best
mean little). By mass, steps keep what they promise, so that five promised gains must reach as well.
Set where 6,000 pages, each descended from six starts to the end, lose 0.2 to 0.4 % of their
winners."""


@kernel
def copy(source: Floats, target: Floats) -> None:
    """Copy a parameter vector.

    With an assignment of slices the compiler takes seconds to build the words of an error that
    cannot occur.
    """
    for k in range(len(target)):
        target[k] = source[k]


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
        if not pivot > max(least, TINY):
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
def _is_near(likelihood: bool, theta: Floats, other: Floats) -> bool:
    """Return True if two parameter vectors lie in one valley."""
    near = _NEAR_OF_MASS if likelihood else _NEAR_OF_DOTS
    return bool(
        abs(theta[OFFSET] - other[OFFSET]) < near[0]
        and abs(theta[MU] - other[MU]) < near[1]
        and abs(theta[LOG_SIGMA] - other[LOG_SIGMA]) < near[2]
    )


@kernel
def descend(
    model: Model,
    page: PageViews,
    theta: Floats,
    rival: Rival,
    scratch: Scratch,
    rounds: int,
    enough: float,
) -> tuple[float, bool, int]:
    """Improve theta in place; return the objective, whether it stopped by itself, evaluations.

    It stops when the next step promises less than `enough` of the deviance and leaves the interest
    accumulated after n days where it is, when steps gain no more, and when it is not worth going
    on: in the valley of the rival, or too far behind it (`allowed`). In long flat valleys the
    objective is settled long before the label is.
    """
    likelihood, n, low, high = model
    y, weight, shift, flat = page
    works, room, free = scratch
    life = len(y)
    h, newton = room[:PARAMETERS], room[PARAMETERS : 2 * PARAMETERS]
    g, step, trial = room[8], room[9], room[10]
    copy(theta, trial)
    current = done = small = evaluations = 0
    best = math.inf
    damping, promised = _FIRST_DAMPING, 0.0
    while True:
        value = objective(likelihood, trial, y, weight, life, works[1 - current])
        evaluations += 1
        if value < best:
            gain = best - value
            moved = done == 0 or _moved(theta, trial, n)
            best = value
            copy(trial, theta)
            current = 1 - current
            scale = max(value + shift, _EXACT * flat, TINY)
            if done > 0:
                damping = _damped(damping, gain, promised)
                small = small + 1 if gain <= (_SETTLED if moved else enough) * scale else 0
                twin = best >= rival.value and _is_near(likelihood, theta, rival.theta)
                if small == 2 or done == rounds or twin:
                    return best, small == 2, evaluations
            done += 1
            _equations(likelihood, theta, y, weight, works[current], room)
            _release(theta, g, low, high, free[0])
        else:
            damping *= 4.0
        promised, damping = _promise(theta, newton, h, g, low, high, free, damping, step, room)
        if promised < 0.0 or _is_hopeless(model, page, rival, best, promised, done - 1):
            return best, True, evaluations
        copy(theta, trial)
        for k in range(1, PARAMETERS):
            trial[k] = min(max(theta[k] + step[k], low[k]), high[k])
        scale = max(best + shift, _EXACT * flat, TINY)
        little = promised <= enough * scale and damping <= _FREE_DAMPING
        if little and (promised <= _SETTLED * scale or not _moved(theta, trial, n)):
            return best, True, evaluations


@kernel
def _equations(
    likelihood: bool, theta: Floats, y: Floats, weight: Floats, work: Floats, room: Floats
) -> None:
    """Write the normal equations and the matrix of Newton's step into `room`."""
    h, newton, g = room[:PARAMETERS], room[PARAMETERS : 2 * PARAMETERS], room[8]
    equations(likelihood, theta, y, weight, len(y), work, h, g)
    for k in range(PARAMETERS):
        copy(h[k], newton[k])
    if likelihood:
        mass_curvature(theta, len(y), work, newton)
    else:
        dots_curvature(theta, len(y), work, g, newton)


@kernel
def _damped(damping: float, gain: float, promised: float) -> float:
    """Return the damping of the next step, from the gained and the promised decrease."""
    if gain > 0.75 * promised:
        return max(damping * 0.2, 1e-9)
    return damping if gain > 0.25 * promised else damping * 4.0


@kernel
def allowed(likelihood: bool, done: int, patience: float, goal: float, flat: float) -> float:
    """Return the allowed distance from `goal` (deviance or squares) after `done` rounds.

    `patience` is 1 for a start that is a peak of the grid, less for others.
    """
    heat = min(done, _HEATS - 1)
    if likelihood:
        return patience * (_FACTOR_OF_MASS[heat] * goal + _SHARE_OF_MASS[heat] * flat)
    return patience * (_FACTOR_OF_DOTS[heat] * goal + _SHARE_OF_DOTS[heat] * flat)


@kernel
def _is_hopeless(
    model: Model, page: PageViews, rival: Rival, best: float, promised: float, done: int
) -> bool:
    """Return True if a descent so far behind its rival will not overtake it."""
    behind, goal = best - rival.value, rival.value + page.shift
    if behind > allowed(model.likelihood, done, rival.patience, goal, page.flat):
        return True
    return model.likelihood and behind > _PROMISES_OF_MASS * promised


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
    """Raise the damping until there is a step; return the promised gain (or -1) and the damping."""
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
    """Write a step inside the box to `step`; return False if h is not positive definite.

    A parameter that the step would take out of the box goes to its edge, and the others take the
    best step given that: cutting the step as a whole would go astray along the edge.
    """
    pull, to_edge, open_ = room[11], room[17], free[1]
    for k in range(PARAMETERS):
        pull[k], open_[k] = g[k], free[0, k]
    while solve(h, metric, pull, open_, damping, step, room[12:]):
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
    """Return the free parameter that the step takes furthest out of the box, or -1."""
    worst, excess = -1, 1e-12
    for k in range(1, PARAMETERS):
        if open_[k]:
            out = max(low[k] - theta[k] - step[k], theta[k] + step[k] - high[k])
            if out > excess * (high[k] - low[k]):
                worst, excess = k, out / (high[k] - low[k])
    return worst


@kernel
def _moved(before: Floats, after: Floats, n: float) -> bool:
    """Return True if the interest accumulated after n days differs between two curves."""
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
