"""Logistic regression and monotone calibration, small and deterministic.

Here: both as pure functions of arrays. Not here: which features (`early`).

Products with a vector are loops of ours: the library's divide rows among threads, so that the last
digits tell how many cores a machine has, and what a row gets, which others are with it. For some
thousand rows the threads also wait longer for each other than they work. Products of matrices have
one order of sums whatever the threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.special import expit, logit

from temporal_assets.core.compiled import kernel, readonly

Floats = NDArray[np.float64]

_RIDGE: Final = 1.0
"""Prior precision of a standardised coefficient: keeps separable pages from infinite odds."""
_ROUNDS: Final = 50
_SURE: Final = 1e-4
"""Calibrated probabilities stay this far from 0 and 1: a sample of thousands shows no more."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A fitted regression on standardised features."""

    centre: Floats
    scale: Floats
    coefficients: Floats
    """First the constant."""

    def log_odds(self, features: Floats) -> Floats:
        """Log-odds of each row."""
        standardised = (features - self.centre) / self.scale
        odds: Floats = self.coefficients[0] + row_products(standardised, self.coefficients[1:])
        return odds


def row_products(rows: Floats, weights: Floats) -> Floats:
    """For each row, the sum of its numbers times the weights."""
    result = np.empty(len(rows))
    _row_products(readonly(rows), readonly(weights), result)
    return result


@kernel
def _row_products(rows: Floats, weights: Floats, result: Floats) -> None:
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(rows.shape[1]):
            total += rows[i, j] * weights[j]
        result[i] = total


def _column_products(rows: Floats, weights: Floats) -> Floats:
    """For each column, the sum of its numbers times the weights of the rows."""
    result = np.zeros(rows.shape[1])
    _add_rows(readonly(rows), readonly(weights), result)
    return result


@kernel
def _add_rows(rows: Floats, weights: Floats, result: Floats) -> None:
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            result[j] += rows[i, j] * weights[i]


def fit_logistic(features: Floats, truth: NDArray[np.bool_]) -> Logistic:
    """Newton's method on the penalised likelihood, which has one maximum."""
    centre = features.mean(axis=0)
    spread = features.std(axis=0)
    scale = np.where(spread > 1e-9, spread, 1.0)
    design = np.column_stack([np.ones(len(features)), (features - centre) / scale])
    penalty = np.full(design.shape[1], _RIDGE)
    penalty[0] = 1e-6
    beta = np.zeros(design.shape[1])
    weighted = np.empty_like(design)
    for _ in range(_ROUNDS):
        p = expit(row_products(design, beta))
        weight = np.maximum(p * (1 - p), 1e-9)
        np.multiply(design, weight[:, None], out=weighted)
        hessian = weighted.T @ design + np.diag(penalty)
        step = np.linalg.solve(hessian, _column_products(design, truth - p) - penalty * beta)
        # A full Newton step can overshoot where almost all pages are of one kind.
        beta = beta + step * min(1.0, 4.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < 1e-8:
            break
    return Logistic(centre, scale, beta)


@dataclass(frozen=True, slots=True)
class Monotone:
    """Rising steps of log-odds, joined by lines."""

    knots: Floats
    values: Floats

    def __call__(self, log_odds: Floats) -> Floats:
        """Calibrated probability."""
        return np.interp(log_odds, self.knots, self.values)


def fit_monotone(log_odds: Floats, truth: NDArray[np.bool_]) -> Monotone:
    """Isotonic regression of what happened on what was promised.

    Each step is drawn towards the promise by one page, so that a step of three pages, all
    temporal, does not promise certainty.
    """
    # Equal promises are one promise, in whatever order their pages come.
    x, which = np.unique(log_odds, return_inverse=True)
    pages = np.bincount(which).astype(np.float64)
    temporal = np.bincount(which, truth.astype(np.float64))
    blocks = isotonic_regression(temporal / pages, weights=pages).blocks
    first, last = blocks[:-1], blocks[1:] - 1
    size = np.add.reduceat(pages, first)
    middle = np.add.reduceat(x * pages, first) / size
    values = (np.add.reduceat(temporal, first) + expit(middle)) / (size + 1.0)
    values = np.clip(np.maximum.accumulate(values), _SURE, 1 - _SURE)
    # Flat within a step: lines from middle to middle would blur two clear-cut groups.
    ends = np.column_stack([x[first], x[last]]).ravel()
    return Monotone(ends, np.repeat(values, 2))


def log_odds_of(probability: Floats) -> Floats:
    """Log-odds, finite for every probability."""
    result: Floats = logit(np.clip(probability, _SURE, 1 - _SURE))
    return result
