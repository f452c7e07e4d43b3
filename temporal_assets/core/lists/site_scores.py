"""Scores of sites and sections by temporal pages (TW 4.3), and the ranked list.

Here: Score1, Score2, Score, the bound that ranks them, and precision, recall and F of every length
of the list. Not here: counting (`sql/`, `url_sections`), which sections stand for a site
(`whole_sections`), choosing the weights (`list_tuning`).

    Score1 = temporal pages / pages
    Score2 = views of temporal pages / views
    Score  = (w alpha Score1 + beta Score2) / (w alpha + beta)

w is TW 5.2's additional weight of the page share; 1 is the paper's formula. The list is ranked by
a lower bound of Score: Wilson's of both shares, that of pages for `pages` cases and that of views
for as many as the views are worth. The paper's own list is `PAPER`: no bound, no minimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from temporal_assets.core.numerics.metrics import f_measure, precision, recall
from temporal_assets.core.numerics.proportions import PLAIN, effective_count, lower_bound, share

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]


_DIGITS: Final = 12
"""Digits of a score that count: those beyond depend on the order of additions."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """Parameters of the score and the ranking."""

    alpha: float = 3.0
    beta: float = 2.0
    """Weight of the share of views; TW 4.3 finds the best F at alpha : beta = 3 : 2."""
    page_share_weight: float = 1.0
    """w: above 1, a site that everybody reports the same event on counts for less (TW 5.2)."""
    confidence: float = 0.95
    """Confidence of the bound that ranks."""
    min_pages: int = 5
    """Sites with fewer reliable pages are not ranked."""

    @property
    def page_share(self) -> float:
        """Weight of Score1 in Score; Score2 has the rest."""
        pages = self.alpha * self.page_share_weight
        return pages / (pages + self.beta)


PAPER: Final = Scoring(confidence=PLAIN, min_pages=1)


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of the pages of each site; arrays of one length."""

    pages: Int64s
    temporal_pages: Int64s
    views: Int64s
    temporal_views: Int64s
    view_squares: Floats
    """Sum of the squared views of its pages."""

    def __len__(self) -> int:
        return len(self.pages)


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of sites, one row per site, all in [0, 1]."""

    score_1: Floats
    score_2: Floats
    score: Floats
    bound: Floats
    """Lower confidence bound of the score; it ranks."""


@dataclass(frozen=True, slots=True)
class ListCurve:
    """Precision, recall and F of the first K sites, for every K from 1."""

    temporal: Int64s
    total: Int64s
    precision: Floats
    recall: Floats
    f: Floats

    def best(self) -> int:
        """Return the smallest K with the largest F; 0 for an empty list."""
        return int(np.argmax(self.f)) + 1 if len(self.f) else 0


def count(sites: ArrayLike, is_temporal: ArrayLike, views: ArrayLike, number: int) -> Counts:
    """Count the pages of the sites 0 to `number - 1`.

    Args:
        sites: Shape (pages): number of each page's site.
        is_temporal: Shape (pages).
        views: Shape (pages): views in the window.
        number: Number of sites.
    """
    of, v = np.asarray(sites, np.int64), np.asarray(views, np.int64)
    temporal = np.asarray(is_temporal, np.bool_)

    def added(weights: NDArray[np.int64] | Floats | None, rows: NDArray[np.int64]) -> Floats:
        return np.bincount(rows, weights, number).astype(np.float64)

    return Counts(
        added(None, of).astype(np.int64),
        added(None, of[temporal]).astype(np.int64),
        added(v, of).astype(np.int64),
        added(v[temporal], of[temporal]).astype(np.int64),
        added(v.astype(np.float64) ** 2, of),
    )


def score(counts: Counts, scoring: Scoring) -> Scores:
    """Score the sites; the scores are 0 where there are no pages."""
    a = scoring.page_share
    score_1 = share(counts.temporal_pages, counts.pages)
    score_2 = share(counts.temporal_views, counts.views)
    worth = effective_count(counts.views, counts.view_squares)
    bound_1 = lower_bound(score_1, counts.pages, scoring.confidence)
    bound_2 = lower_bound(score_2, worth, scoring.confidence)
    return Scores(
        score_1,
        score_2,
        # Equal scores must be equal numbers: ties are told by other columns.
        np.round(a * score_1 + (1 - a) * score_2, _DIGITS),
        np.round(a * bound_1 + (1 - a) * bound_2, _DIGITS),
    )


def ranking(
    counts: Counts, names: Sequence[str], scoring: Scoring, among: ArrayLike | None = None
) -> Int64s:
    """Return the sites that can be listed, best first: by bound, then temporal pages, then name.

    `among` has a flag for each site and leaves sites out.
    """
    bound = score(counts, scoring).bound
    listed = counts.pages >= max(scoring.min_pages, 1)
    if among is not None:
        listed &= np.asarray(among, np.bool_)
    rows = np.flatnonzero(listed).tolist()
    rows.sort(key=lambda row: (-bound[row], -int(counts.temporal_pages[row]), names[row]))
    return np.array(rows, np.int64)


def list_curve(order: Int64s, judged: Counts, all_temporal: int) -> ListCurve:
    """Return precision, recall and F (TW 4.3) of the first K sites of `order`, for every K.

    `judged` counts the pages that the list is judged by; `all_temporal` is the number of all
    temporal pages, including those of sites that are not listed.
    """
    temporal = np.cumsum(judged.temporal_pages[order])
    total = np.cumsum(judged.pages[order])
    p = [precision(*row) for row in zip(temporal.tolist(), total.tolist(), strict=True)]
    r = [recall(found_temporal, all_temporal) for found_temporal in temporal.tolist()]
    f = [f_measure(*row) for row in zip(p, r, strict=True)]
    return ListCurve(temporal, total, np.array(p), np.array(r), np.array(f))
