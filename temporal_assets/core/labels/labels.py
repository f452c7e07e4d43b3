"""Labels of pages as temporal: by the observed views, by the curve, and by concentration.

Here: the labels, their thresholds, and how far two of them agree. Not here: the scores themselves
(`curves`, `concentration`), choosing thresholds (`calibration`). sql/labels/page_labels.sql defines
the same labels for tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from temporal_assets.core.curves.curves import MIN_LIFE, Options, Reason, fit
from temporal_assets.core.labels.concentration import concentration, days_before, first_and_all
from temporal_assets.core.numerics.metrics import cohen_kappa

Flags = NDArray[np.bool_]

_CHI_SQUARE: Final = 3.8415
"""Quantile of the chi-square distribution of one degree of freedom, for 95 %."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A page is temporal if Phi(n) > q, and news if its concentration over m days > p."""

    n: float = 3.0
    """Days of life whose accumulated interest decides (TW 4.2)."""
    q: float = 0.7
    """Accumulated interest above which a page is temporal (TW 4.2)."""
    m: int = 3
    """Days of life that concentration looks at; NP does not give a number."""
    p: float = 1.91
    """Concentration above which a page is news (NP 6.1; NP 5.1 says "less than" once, wrongly)."""


PAPERS: Final = Thresholds()


Rule = Literal["observed", "curve", "concentration"]
"""Rules of labels: `observed` fits curves only where too little was observed; the others are the
papers'."""

LEAST_DAYS: Final = MIN_LIFE
"""Days of life from which the share of the views so far decides, if one of those after the first n
was observed. On real clicks the share is right more often than the curve from the fifth day on,
also where some of these days are missing."""


CUT_PART: Final = 6
"""The share of a page that was there on the first day of the data is compared with q + (1 - q) / 6,
0.75 for 0.7: it may have lost views of earlier days. The curve is right less often, and thresholds
from 0.7 to 0.8 are much the same."""


def cut_of_older(q: ArrayLike) -> NDArray[np.float64]:
    """Return the threshold for the share of pages that may be older than the data (`CUT_PART`)."""
    cut = np.asarray(q, np.float64)
    return np.asarray(cut + (1 - cut) / CUT_PART)


class Basis(StrEnum):
    """Evidence that decided a label."""

    SHARE = "share"
    """Share of the views so far in the first n days of a life."""
    CUT_SHARE = "cut_share"
    """Share of the views in the first n days in sight, of a page that may be older than the window;
    the threshold is higher (`cut_of_older`)."""
    CURVE = "curve"
    """Interest curve: no day after the first n was observed, or it is the rule."""
    LIMIT = "limit"
    """All views on one day: the limit of ever narrower curves."""
    CONCENTRATION = "concentration"
    """Concentration of the views in the first m days (NP 4.1)."""
    NONE = "none"
    """Basis of a page that is too young for a curve. Its label is false."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels, one row per page."""

    is_temporal: Flags
    """Label by the rule that was asked for."""
    basis: NDArray[np.str_]
    """See `Basis`."""
    is_sure: Flags
    """True if the 95 % interval of what decided lies on one side of the threshold."""
    is_temporal_by_curve: Flags
    """TW 4.2 for all pages. False where the curve says nothing."""
    is_news: Flags
    """Label by concentration (NP 4.1). False where it is undefined."""
    first_share: NDArray[np.float64]
    """Share of the views so far that fell in the first n days."""


def label(
    views: ArrayLike,
    thresholds: Thresholds = PAPERS,
    rule: Rule = "observed",
    *,
    observed: ArrayLike | None = None,
    options: Options | None = None,
) -> Labels:
    """Label the pages of one window.

    Args:
        views: Shape (pages, days).
        thresholds: Thresholds of all rules.
        rule: Rule that decides `is_temporal`.
        observed: Shape (days): False where the day is missing from the data.
        options: Options of the curve; its `n` is replaced by that of the thresholds.
    """
    table = np.asarray(views)
    there = np.ones(table.shape[1], np.bool_) if observed is None else np.asarray(observed, bool)
    curves = fit(table, replace(options or Options(), n=thresholds.n), observed=there)
    n_days = math.ceil(thresholds.n)
    share = concentration(table, n_days, observed=there).first_share
    news = concentration(table, thresholds.m, observed=there)
    born = np.maximum(curves.birth - 1, 0).astype(np.int64)
    first, days = first_and_all(born, np.full(len(table), n_days), days_before(there))
    is_observed = (table.shape[1] - born >= LEAST_DAYS) & (days > first)
    is_cut = is_observed & (born <= np.argmax(there))
    basis = np.where(curves.tells_interest, Basis.CURVE, Basis.NONE)
    basis = np.where(curves.reason == Reason.ONE_DAY, Basis.LIMIT, basis)
    is_sure = (curves.phi_low > thresholds.q) | (curves.phi_high <= thresholds.q)
    total = np.maximum((table * there).sum(axis=1), 1)
    cut = np.where(is_cut, cut_of_older(thresholds.q), thresholds.q)
    if rule == "observed":
        basis = np.where(is_observed, np.where(is_cut, Basis.CUT_SHARE, Basis.SHARE), basis)
        is_sure = np.where(is_observed, _is_sure(share, thresholds.q, total), is_sure)
        # The share of a cut life looks as exact as any other: the curve must be sure of the same.
        agrees = np.where(
            share > cut, curves.phi_low > thresholds.q, curves.phi_high <= thresholds.q
        )
        is_sure = np.where(is_cut, agrees, is_sure)
    elif rule == "concentration":
        basis = np.where(news.is_defined, Basis.CONCENTRATION, Basis.NONE)
        m_first, _ = first_and_all(born, np.full(len(table), thresholds.m), days_before(there))
        is_sure = _is_sure(news.first_share, thresholds.p * m_first / np.maximum(days, 1), total)
    by_curve, is_news = curves.is_above(thresholds.q), news.is_defined & (news.value > thresholds.p)
    has_share = (basis == Basis.SHARE) | (basis == Basis.CUT_SHARE)
    is_temporal = np.where(has_share, share > cut, by_curve)
    if rule == "concentration":
        is_temporal = is_news
    is_sure = is_sure & (basis != Basis.NONE)
    return Labels(is_temporal, basis, is_sure, by_curve, is_news, share)


def _is_sure(
    share: NDArray[np.float64], cut: float | NDArray[np.float64], total: NDArray[np.number]
) -> Flags:
    """Return True where the share's 95 % interval (Wilson) does not contain the threshold."""
    sure: Flags = (share - cut) ** 2 > _CHI_SQUARE * cut * (1 - cut) / total
    return sure


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two labels of the same pages."""

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


def by_both(rows: Iterable[Mapping[str, Any]]) -> Agreement:
    """Return the agreement of both papers' labels, from rows of counts by the two labels."""
    cells = dict.fromkeys(((a, b) for a in (True, False) for b in (True, False)), 0)
    for row in rows:
        cells[row["is_temporal_by_curve"], row["is_news"]] += int(row["pages"])
    return Agreement(*cells.values())


def agreement(first: ArrayLike, second: ArrayLike) -> Agreement:
    """Count the pages on which two labels agree and differ."""
    a, b = np.asarray(first, np.bool_), np.asarray(second, np.bool_)
    return Agreement(
        int((a & b).sum()), int((a & ~b).sum()), int((~a & b).sum()), int((~a & ~b).sum())
    )
