"""Thresholds of labels, chosen from annotated pages (TW 4.2, 5.2; NP 6.1).

Here: the grid over (days, threshold), its outcomes in sample and cross-validated, and the choice.
Not here: reading annotations, computing the scores.

There are two kinds of score: accumulated interest Phi(n) with a threshold q, and concentration over
m days with a threshold p. A score table holds one column per candidate number of days n (or m). A
page is labelled temporal where its score exceeds the threshold.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from temporal_assets.core.numerics.metrics import Outcome, outcome

Counts = NDArray[np.int64]

FOLDS: Final = 5
MIN_GROUP: Final = 50
"""Annotated pages a site or section needs for thresholds of its own: with fewer, a chosen pair
says more about the sample than about the site."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Performance = a * hit - b * miss - c * false alarm (TW 5.2)."""

    a: float = 1.0
    b: float = 0.0
    c: float = 0.0


HIT: Final = Weights()
"""The paper's objective: the number of pages labelled right."""


@dataclass(frozen=True, slots=True)
class Table:
    """Outcomes of every cell of the grid; arrays have shape (days, thresholds)."""

    days: tuple[float, ...]
    thresholds: NDArray[np.float64]
    hit: Counts
    miss: Counts
    false_alarm: Counts
    performance: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Calibration:
    """The chosen cell of the grid, with its outcomes."""

    days: float
    threshold: float
    in_sample: Outcome
    cross_validated: Outcome
    """Outcome where every page is labelled by thresholds chosen without it."""
    performance: float
    """Weighted performance, in sample."""
    table: Table


def tabulate(
    truth: ArrayLike,
    scores: ArrayLike,
    days: Sequence[float],
    thresholds: ArrayLike,
    weights: Weights = HIT,
) -> Table:
    """Return hit, miss and false alarm of every cell of the grid; arguments as for `calibrate`."""
    t, s = _checked(truth, scores, days)
    levels = np.asarray(thresholds, np.float64)
    temporal, untemporal = _above(s[t], levels), _above(s[~t], levels)
    miss = int(t.sum()) - temporal
    hit = temporal + int((~t).sum()) - untemporal
    performance = weights.a * hit - weights.b * miss - weights.c * untemporal
    return Table(tuple(days), levels, hit, miss, untemporal, performance)


def calibrate(
    truth: ArrayLike,
    scores: ArrayLike,
    days: Sequence[float],
    thresholds: ArrayLike,
    weights: Weights = HIT,
    *,
    folds: int = FOLDS,
) -> Calibration:
    """Choose the cell (days, threshold) with the best performance, and cross-validate the choice.

    Args:
        truth: Shape (pages): True for temporal pages.
        scores: Shape (pages, days): a page is called temporal where its score exceeds the
            threshold.
        days: The candidates for n (or m).
        thresholds: The candidates for q (or p), ascending.
        weights: The objective.
        folds: Parts of the cross-validation. Pages of each class are dealt out in turn, in the
            order given, so that the result is the same every time.
    """
    t, s = _checked(truth, scores, days)
    levels = np.asarray(thresholds, np.float64)
    table = tabulate(t, s, days, levels, weights)
    d, k = _choose(table)
    guessed = np.zeros(len(t), np.bool_)
    fold = _deal(t, folds)
    for part in range(folds):
        held = fold == part
        if held.any() and not held.all():
            own_d, own_k = _choose(tabulate(t[~held], s[~held], days, levels, weights))
            guessed[held] = s[held, own_d] > levels[own_k]
    inside, outside = outcome(t, s[:, d] > levels[k]), outcome(t, guessed)
    return Calibration(
        float(days[d]),
        float(levels[k]),
        inside,
        outside,
        inside.performance(weights.a, weights.b, weights.c),
        table,
    )


def calibrate_groups(
    truth: ArrayLike,
    scores: ArrayLike,
    days: Sequence[float],
    thresholds: ArrayLike,
    groups: Sequence[Hashable],
    weights: Weights = HIT,
    *,
    folds: int = FOLDS,
    least: int = MIN_GROUP,
) -> dict[Hashable, Calibration]:
    """Calibrate each group (site or section) with `least` pages or more and pages of both kinds."""
    t, s = _checked(truth, scores, days)
    members: dict[Hashable, list[int]] = {}
    for row, group in enumerate(groups):
        members.setdefault(group, []).append(row)
    chosen = {}
    for group, rows in members.items():
        if len(rows) >= least and 0 < t[rows].sum() < len(rows):
            chosen[group] = calibrate(t[rows], s[rows], days, thresholds, weights, folds=folds)
    return chosen


def _checked(
    truth: ArrayLike, scores: ArrayLike, days: Sequence[float]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return truth and scores as arrays; raise ValueError if their shapes do not fit."""
    t, s = np.asarray(truth, np.bool_), np.asarray(scores, np.float64)
    if len(t) == 0:
        raise ValueError("no annotated pages")
    if s.shape != (len(t), len(days)):
        raise ValueError(f"scores must be {len(t)} pages x {len(days)} days, not {s.shape}")
    return t, s


def _above(scores: NDArray[np.float64], levels: NDArray[np.float64]) -> Counts:
    """Return how many scores exceed each level, shape (days, levels)."""
    ordered = np.sort(scores, axis=0)
    counts = [len(ordered) - np.searchsorted(column, levels, "right") for column in ordered.T]
    return np.array(counts, dtype=np.int64)


def _choose(table: Table) -> tuple[int, int]:
    """Return the indices (day, threshold) of the best cell.

    Of equally good cells it is the middle of the longest run of neighbouring thresholds: one at the
    edge of a plateau is one page away from a worse one.
    """
    best = table.performance.max()
    runs = [_longest_run(row == best) for row in table.performance]
    day = int(np.argmax([len(run) for run in runs]))
    return day, runs[day][(len(runs[day]) - 1) // 2]


def _longest_run(flags: NDArray[np.bool_]) -> range:
    """Return indices of the longest run of True, the first of equals; empty if there is none."""
    edges = np.flatnonzero(np.diff(flags, prepend=False, append=False))
    starts, stops = edges[::2], edges[1::2]
    if not len(starts):
        return range(0)
    at = np.argmax(stops - starts)
    return range(int(starts[at]), int(stops[at]))


def _deal(truth: NDArray[np.bool_], folds: int) -> Counts:
    fold = np.empty(len(truth), np.int64)
    for kind in (True, False):
        rows = np.flatnonzero(truth == kind)
        fold[rows] = np.arange(len(rows)) % folds
    return fold
