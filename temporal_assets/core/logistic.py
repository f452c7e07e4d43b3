"""Logistic regression and monotone calibration, small and deterministic.

Here: both as pure functions of arrays. Not here: which features (`early`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.special import expit, logit

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
        result: Floats = (
            self.coefficients[0] + (features - self.centre) / self.scale @ self.coefficients[1:]
        )
        return result


def fit_logistic(features: Floats, truth: NDArray[np.bool_]) -> Logistic:
    """Newton's method on the penalised likelihood, which has one maximum."""
    centre = features.mean(axis=0)
    spread = features.std(axis=0)
    scale = np.where(spread > 1e-9, spread, 1.0)
    design = np.column_stack([np.ones(len(features)), (features - centre) / scale])
    penalty = np.full(design.shape[1], _RIDGE)
    penalty[0] = 1e-6
    beta = np.zeros(design.shape[1])
    for _ in range(_ROUNDS):
        p = expit(design @ beta)
        weight = np.maximum(p * (1 - p), 1e-9)
        hessian = (design * weight[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(hessian, design.T @ (truth - p) - penalty * beta)
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
