"""Logistic regression, small and deterministic.

Here: pure functions of arrays. Not here: which features (`early`).

Sums are computed by our own loops. BLAS splits rows among threads, so its last digits depend on the
number of cores, and a row's result on which rows are with it. For some thousand rows the threads
also wait longer for each other than they work: on 20,000 rows, six models took 6.6 s of the
processor on a busy machine, where one thread takes 0.1 s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from temporal_assets.core.numerics.compiled import kernel, readonly

Floats = NDArray[np.float64]

_RIDGE: Final = 3.0
"""Prior precision of a standardised coefficient: keeps separable pages from infinite odds, and few
pages from saying much."""
_INTERCEPT_RIDGE: Final = 1e-6
"""Prior precision of the intercept: next to none, so that it is hardly shrunk."""
_ROUNDS: Final = 50
"""Most steps of Newton's method."""
_LONGEST_STEP: Final = 4.0
"""Most that a coefficient changes in a step."""
_CONVERGED: Final = 1e-8
"""Step of every coefficient below which the fit is done."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A fitted regression on standardised features."""

    centre: Floats
    scale: Floats
    coefficients: Floats
    """Intercept, then one coefficient per feature."""

    def log_odds(self, features: Floats) -> Floats:
        """Return the log-odds of each row."""
        standardised = (features - self.centre) / self.scale
        odds: Floats = self.coefficients[0] + row_products(standardised, self.coefficients[1:])
        return odds


def row_products(rows: Floats, weights: Floats) -> Floats:
    """Return, for each row, the sum of its numbers times the weights."""
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
    """Return, for each column, the sum of its numbers times the weights of the rows."""
    result = np.zeros(rows.shape[1])
    _add_rows(readonly(rows), readonly(weights), result)
    return result


def _weighted_squares(rows: Floats, weights: Floats) -> Floats:
    """Return, for each pair of columns, the sum of their products times the weights of the rows."""
    result = np.zeros((rows.shape[1], rows.shape[1]))
    _add_squares(readonly(rows), readonly(weights), result)
    return result + np.tril(result, -1).T


@kernel
def _add_squares(rows: Floats, weights: Floats, result: Floats) -> None:
    """Add to the lower half of the square matrix alone; the other half is the same."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            weighted = rows[i, j] * weights[i]
            for k in range(j + 1):
                result[j, k] += weighted * rows[i, k]


@kernel
def _add_rows(rows: Floats, weights: Floats, result: Floats) -> None:
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            result[j] += rows[i, j] * weights[i]


def fit_logistic(features: Floats, truth: NDArray[np.bool_]) -> Logistic:
    """Fit the regression by Newton's method; the penalised likelihood has one maximum."""
    centre = features.mean(axis=0)
    spread = features.std(axis=0)
    scale = np.where(spread > 1e-9, spread, 1.0)
    design = np.column_stack([np.ones(len(features)), (features - centre) / scale])
    penalty = np.full(design.shape[1], _RIDGE)
    penalty[0] = _INTERCEPT_RIDGE
    beta = np.zeros(design.shape[1])
    for _ in range(_ROUNDS):
        p = expit(row_products(design, beta))
        weight = np.maximum(p * (1 - p), 1e-9)
        hessian = _weighted_squares(design, weight) + np.diag(penalty)
        step = np.linalg.solve(hessian, _column_products(design, truth - p) - penalty * beta)
        # A full Newton step can overshoot where almost all pages are of one kind.
        beta = beta + step * min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < _CONVERGED:
            break
    return Logistic(centre, scale, beta)
