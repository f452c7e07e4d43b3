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
    """A rising step function of log-odds, joined by lines."""

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
    order = np.argsort(log_odds, kind="stable")
    x, t = log_odds[order], truth[order].astype(np.float64)
    blocks = isotonic_regression(t).blocks
    size = np.diff(blocks)
    knots = np.add.reduceat(x, blocks[:-1]) / size
    hits = np.add.reduceat(t, blocks[:-1])
    values = (hits + expit(knots)) / (size + 1.0)
    values = np.clip(np.maximum.accumulate(values), _SURE, 1 - _SURE)
    return Monotone(knots, values)


def log_odds_of(probability: Floats) -> Floats:
    """Log-odds, finite for every probability."""
    result: Floats = logit(np.clip(probability, _SURE, 1 - _SURE))
    return result
