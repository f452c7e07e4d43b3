"""Temporal by curve and news by concentration, side by side.

Here: the two labels, their scores and thresholds, and how far they agree. Not here: the scores
themselves (`curves`, `concentration`), choosing thresholds (`calibration`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from temporal_assets.core.metrics import cohen_kappa

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A page is temporal if Phi(n) > q, and news if its concentration over m days > p."""

    n: float = 3.0
    """TW 4.2."""
    q: float = 0.7
    """TW 4.2."""
    m: int = 3
    """NP does not give it."""
    p: float = 1.91
    """NP 6.1. (NP 5.1 says "less than" once; its experiment says greater.)"""


PAPERS: Final = Thresholds()


@dataclass(frozen=True, slots=True)
class PageThresholds:
    """The same, page by page: calibrated ones may be those of a site or a section."""

    n: float
    q: NDArray[np.float64]
    m: NDArray[np.int64]
    p: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Labels:
    """One row per page."""

    is_temporal: Flags
    """By the curve. False where the curve says nothing."""
    is_sure: Flags
    """Whether the interval of Phi(n) lies on one side of q."""
    is_news: Flags
    """By concentration. False where it is undefined."""
    accumulated: NDArray[np.float64]
    """Phi(n), the score of `is_temporal`."""
    concentration: NDArray[np.float64]
    """C, the score of `is_news`."""
    agree: Flags
    """Whether both labels are the same."""


def label(
    accumulated: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    concentration: ArrayLike,
    thresholds: Thresholds = PAPERS,
) -> Labels:
    """Labels of pages with Phi(n), its interval and the concentration over m days."""
    phi, c = np.asarray(accumulated, np.float64), np.asarray(concentration, np.float64)
    is_temporal = phi > thresholds.q
    is_news = c > thresholds.p
    is_sure = (np.asarray(low) > thresholds.q) | (np.asarray(high) <= thresholds.q)
    return Labels(is_temporal, is_sure, is_news, phi, c, is_temporal == is_news)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two labels of the same pages compare."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def share(self) -> float:
        """Share of pages with the same label; 1 for no pages."""
        pages = self.both + self.only_first + self.only_second + self.neither
        return (self.both + self.neither) / pages if pages else 1.0

    @property
    def kappa(self) -> float:
        """Agreement beyond chance (Cohen)."""
        return cohen_kappa(self.both, self.only_first, self.only_second, self.neither)


def agreement(first: ArrayLike, second: ArrayLike) -> Agreement:
    """Count where two labels agree."""
    a, b = np.asarray(first, np.bool_), np.asarray(second, np.bool_)
    return Agreement(
        int((a & b).sum()), int((a & ~b).sum()), int((~a & b).sum()), int((~a & ~b).sum())
    )
