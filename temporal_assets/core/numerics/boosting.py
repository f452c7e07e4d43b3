"""Gradient boosting of small trees for binary classification: compiled and deterministic.

Here: fitting and predicting as pure functions of arrays. Not here: which features (`early`).

Each round fits a complete tree of `_DEPTH` levels to the gradient of the logistic loss (Newton's
step in every leaf, Friedman 2001). Features are cut into bins once, so that a split is found from
sums by bin. Sums are taken in the order of the rows: the same rows give the same trees on every
machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import leaf, readonly

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]

_ROUNDS: Final = 100
_RATE: Final = 0.06
"""Learning rate: share of a tree's prediction that is added."""
_DEPTH: Final = 3
_LEAST: Final = 10
"""Least rows on each side of a split."""
_RIDGE: Final = 1.0
"""Added to the curvature in a leaf: shrinks the values of small leaves towards 0."""
_BINS: Final = 64
_INNER: Final = 2**_DEPTH - 1
_LEAVES: Final = 2**_DEPTH


@dataclass(frozen=True, slots=True)
class Trees:
    """Fitted trees.

    Node k of a tree has the children 2k + 1 (up to the cut) and 2k + 2.
    """

    start: float
    """Log-odds that all rows begin with."""
    features: Int64s
    """Shape (trees, inner nodes): feature of each cut; -1 where everything goes to the first
    child."""
    cuts: Floats
    """Shape (trees, inner nodes): largest value that goes to the first child."""
    values: Floats
    """Shape (trees, leaves): log-odds that each leaf adds."""

    def log_odds(self, rows: Floats) -> Floats:
        """Return the predicted log-odds of each row of features."""
        result = np.full(len(rows), self.start)
        _ask(readonly(rows), self.features, self.cuts, self.values, result)
        return result


def fit_trees(rows: Floats, truth: NDArray[np.bool_], start: float) -> Trees:
    """Fit trees that predict the log-odds of `truth` from rows of features, none of which is NaN.

    `start` has the log-odds before any feature is looked at.
    """
    edges = [np.unique(np.quantile(column, _levels(len(rows)))) for column in rows.T]
    width = max((len(column_edges) for column_edges in edges), default=0)
    cuts = np.full((rows.shape[1], width), np.inf)
    for place, column_edges in zip(cuts, edges, strict=True):
        place[: len(column_edges)] = column_edges
    bins = np.empty(rows.shape, np.int64)
    for k, column_edges in enumerate(edges):
        bins[:, k] = np.searchsorted(column_edges, rows[:, k], side="left")
    features = np.full((_ROUNDS, _INNER), -1, np.int64)
    chosen = np.zeros((_ROUNDS, _INNER))
    values = np.zeros((_ROUNDS, _LEAVES))
    odds, slope, bend = np.full(len(rows), start), np.empty(len(rows)), np.empty(len(rows))
    sums = np.empty((_LEAVES, rows.shape[1], max(width + 1, _LEAVES), 3))
    _grow(
        *(readonly(bins), truth.astype(np.float64), cuts, features, chosen, values),
        *(odds, slope, bend, np.empty(len(rows), np.int64), np.empty(_LEAVES, np.int64), sums),
    )
    return Trees(start, features, chosen, values)


def _levels(rows: int) -> Floats:
    """Return the quantiles at which features are cut, no more than there are rows."""
    cuts = min(_BINS, max(rows, 2)) - 1
    return np.arange(1, cuts + 1) / (cuts + 1)


@leaf
def _ask(rows: Floats, features: Int64s, cuts: Floats, values: Floats, result: Floats) -> None:
    """Add the value of every tree for each row to `result`."""
    for i in range(rows.shape[0]):
        for tree in range(features.shape[0]):
            node = 0
            for _ in range(_DEPTH):
                feature = features[tree, node]
                right = feature >= 0 and rows[i, feature] > cuts[tree, node]
                node = 2 * node + (2 if right else 1)
            result[i] += values[tree, node - _INNER]


@leaf
def _grow(
    bins: Int64s,
    truth: Floats,
    cuts: Floats,
    features: Int64s,
    chosen: Floats,
    values: Floats,
    odds: Floats,
    slope: Floats,
    bend: Floats,
    node: Int64s,
    last_bin: Int64s,
    sums: Floats,
) -> None:
    """Fill `features`, `chosen` and `values`; the arguments after them are scratch.

    `sums` has slope, curvature and rows by node of a level, feature and bin; `last_bin` of each
    node is the last one that goes to its first child.
    """
    count = len(truth)
    for tree in range(features.shape[0]):
        for i in range(count):
            p = 1.0 / (1.0 + math.exp(-odds[i]))
            slope[i], bend[i], node[i] = truth[i] - p, p * (1.0 - p), 0
        for level in range(_DEPTH):
            first, nodes = 2**level - 1, 2**level
            _add_up(bins, node, slope, bend, first, nodes, sums)
            for own in range(nodes):
                feature, at = _best_split(sums[own])
                features[tree, first + own] = feature
                last_bin[own] = at
                if feature >= 0:
                    chosen[tree, first + own] = cuts[feature, at]
            for i in range(count):
                feature = features[tree, node[i]]
                right = feature >= 0 and bins[i, feature] > last_bin[node[i] - first]
                node[i] = 2 * node[i] + (2 if right else 1)
        _leave(node, slope, bend, sums[0, 0], values[tree])
        for i in range(count):
            odds[i] += values[tree, node[i] - _INNER]


@leaf
def _add_up(
    bins: Int64s, node: Int64s, slope: Floats, bend: Floats, first: int, nodes: int, sums: Floats
) -> None:
    """Sum slopes, bends and rows by node, feature and bin."""
    for own in range(nodes):
        for feature in range(sums.shape[1]):
            for at in range(sums.shape[2]):
                for k in range(3):
                    sums[own, feature, at, k] = 0.0
    for i in range(len(node)):
        own = node[i] - first
        for feature in range(bins.shape[1]):
            at = bins[i, feature]
            sums[own, feature, at, 0] += slope[i]
            sums[own, feature, at, 1] += bend[i]
            sums[own, feature, at, 2] += 1.0


@leaf
def _best_split(sums: Floats) -> tuple[int, int]:
    """Return feature and bin after which to split a node, or -1 where no split gains."""
    slope = bend = rows = 0.0
    for at in range(sums.shape[1]):
        slope += sums[0, at, 0]
        bend += sums[0, at, 1]
        rows += sums[0, at, 2]
    whole = slope * slope / (bend + _RIDGE)
    best, feature_, at_ = 1e-9, -1, 0
    for feature in range(sums.shape[0]):
        left = curve = below = 0.0
        for at in range(sums.shape[1] - 1):
            left += sums[feature, at, 0]
            curve += sums[feature, at, 1]
            below += sums[feature, at, 2]
            if below < _LEAST or rows - below < _LEAST:
                continue
            right = slope - left
            gain = left * left / (curve + _RIDGE) - whole
            gain += right * right / (bend - curve + _RIDGE)
            if gain > best:
                best, feature_, at_ = gain, feature, at
    return feature_, at_


@leaf
def _leave(node: Int64s, slope: Floats, bend: Floats, sums: Floats, values: Floats) -> None:
    """Write Newton's step of each leaf to `values`; `sums` is scratch."""
    for own in range(len(values)):
        sums[own, 0] = sums[own, 1] = 0.0
    for i in range(len(node)):
        sums[node[i] - _INNER, 0] += slope[i]
        sums[node[i] - _INNER, 1] += bend[i]
    for own in range(len(values)):
        values[own] = _RATE * sums[own, 0] / (sums[own, 1] + _RIDGE)
