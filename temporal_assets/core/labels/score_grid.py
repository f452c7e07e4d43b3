"""Scores of pages for many numbers of days at once, as columns of a grid of thresholds.

Here: accumulated interest of known curves over several n, concentration over several m. Not here:
fitting the curves (`curves`), choosing thresholds (`calibration`).

A page of which nothing is known scores 0, so that no threshold makes it temporal: labels treat it
the same (docs/labels.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from temporal_assets.core.curves.lognormal import accumulated
from temporal_assets.core.labels.concentration import concentration

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FittedCurves:
    """Fitted curves, one row per page; NaN where there is no curve."""

    mu: Floats
    sigma: Floats
    is_one_day: NDArray[np.bool_]
    """All views on one day: no curve, and all interest at once."""


def interest(curves: FittedCurves, n: Sequence[float]) -> Floats:
    """Return Phi(n) for each number of days, shape (pages, numbers of days)."""
    is_fitted = np.isfinite(curves.mu)
    mu, sigma = (
        np.where(is_fitted, values, instead)[:, None]
        for values, instead in ((curves.mu, 0.0), (curves.sigma, 1.0))
    )
    share = accumulated(n, mu, sigma)
    unknown = np.where(curves.is_one_day, 1.0, 0.0)[:, None]
    return np.where(is_fitted[:, None], share, unknown)


def concentrations(
    views: ArrayLike, m: Sequence[int], *, observed: ArrayLike | None = None
) -> Floats:
    """Return the concentration over m days (NP 4.1), shape (pages, numbers of days)."""
    scores = [concentration(views, days, observed=observed) for days in m]
    return np.column_stack([np.where(score.is_defined, score.value, 0.0) for score in scores])
