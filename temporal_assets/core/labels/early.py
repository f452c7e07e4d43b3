"""Early labels: the probability that a page will turn out temporal, from its first days.

Here: features of the first k days, learning from pages whose label is known, the probability for
young pages, and scores. Not here: the site's share (`priors`), the two regressions (`logistic`,
`boosting`), which pages are known (`windows.labels.first_days`).

A crawler decides on a page's first or second day. For each number of days seen there is a separate
model: the mean, in log-odds, of a logistic regression and of small boosted trees on the same
features. The first is safe where few pages are known, the second learns nonlinear effects; their
mean was ahead of both on the real sets that it was chosen on. The trees count for more where a page
has few views. Both are shrunk towards the site's and section's history, the more so the fewer pages
are known, so that there is no number of pages below which nothing works.

A page whose share of early views has fallen to the threshold ("cut"), or below it, after its first
n days is untemporal for good: the share can only fall. The model of age k is learned twice, from
all known pages and from those that have been seen for some days longer: of a page of exactly k days
the share so far would be the truth itself, but pages seen for longer are fewer and born earlier.
The answer is the mean of both. Where no page has been seen longer, as in windows of a week, the
model of a day before answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from temporal_assets.core.labels.labels import PAPERS
from temporal_assets.core.labels.priors import Prior
from temporal_assets.core.numerics.boosting import Trees, fit_trees
from temporal_assets.core.numerics.logistic import Floats, Logistic, fit_logistic, row_products
from temporal_assets.core.numerics.metrics import (
    Difference,
    Reliability,
    brier,
    log_loss,
    outcome,
    reliability,
)

Int64s = NDArray[np.int64]

AGES: Final = (1, 2, 3, 4, 5, 6, 7)
"""Days seen so far that a model is learned for."""
_FOLDS: Final = 5
_SURE: Final = 1e-3
"""Distance of the prior from 0 and 1, at least, when it is a feature."""
_LATER_DAYS: Final = 7
"""Days after its age k for which a page should have been seen to be learned from, if k > n."""
_FEWEST: Final = 50
"""Pages that are learned from (at least half of all) even if they have not been seen as long."""
_MANY_VIEWS: Final = 20.0
"""Views from which on the regression counts as much as the trees."""
_TREES_OF_FEW: Final = 0.75
"""Weight of the trees for pages without views; a half from `_MANY_VIEWS` on."""


@dataclass(frozen=True, slots=True)
class _Model:
    regression: Logistic
    trees: Trees
    is_final: bool
    """No known page whose share had fallen to the cut by this age turned out temporal."""

    def probability(self, views: Floats, prior: Floats, cut: float, n_days: int) -> Floats:
        """Return the probability of pages of this age, given their views by day of life."""
        rows = features(views, prior, cut, n_days)
        few = 1.0 - np.minimum(views.sum(axis=1) / _MANY_VIEWS, 1.0)
        trees = 0.5 + (_TREES_OF_FEW - 0.5) * few
        odds = (1.0 - trees) * self.regression.log_odds(rows) + trees * self.trees.log_odds(rows)
        has_fallen = _has_fallen(views, cut, n_days) & self.is_final
        return np.where(has_fallen, 0.0, expit(odds))


@dataclass(frozen=True, slots=True)
class Early:
    """The learned models of early labels."""

    prior: Prior
    ages: tuple[int, ...]
    learned_from: int
    """Number of known pages that were learned from."""
    cut: float
    """Share of the first days above which a page is temporal, q."""
    n_days: int
    """Number of these first days."""
    _models: tuple[tuple[_Model, ...], ...]
    """For each age one, or two of which the mean is taken."""

    @property
    def knows_views(self) -> bool:
        """True if views were learned from, and not only the history of sites."""
        return bool(self._models)

    def probability(
        self, first_views: ArrayLike, age: ArrayLike, sites: ArrayLike, sections: ArrayLike
    ) -> Floats:
        """Return the probability that each page is temporal.

        Args:
            first_views: Shape (pages, days): views on the day of birth, the day after and so on.
                Days at or beyond a page's age are ignored.
            age: Shape (pages): days seen so far, the day of birth included. Pages of age 0 get the
                prior, pages older than the oldest model what that model says of their first days.
            sites: Shape (pages).
            sections: Shape (pages), named as in `learn`.
        """
        return self.given(first_views, age, self.prior.of(sites, sections))

    def given(self, first_views: ArrayLike, age: ArrayLike, prior: Floats) -> Floats:
        """Return the same probability, with the prior of each page given."""
        views, seen = np.asarray(first_views, np.float64), np.asarray(age, np.int64)
        result = prior.copy()
        for position, (k, models) in enumerate(zip(self.ages, self._models, strict=False)):
            following = self.ages[position + 1 :]
            rows = (seen >= k) & (seen < following[0] if following else True)
            if rows.any():
                of_rows = views[rows, :k], prior[rows], self.cut, self.n_days
                answers = [model.probability(*of_rows) for model in models]
                result[rows] = np.mean(answers, axis=0)
        # Of n pages that were all of a kind, the next is of the other with a chance of 1 / (n + 2).
        least = 1.0 / (self.learned_from + 2.0)
        return np.clip(result, least, 1.0 - least)


def learn(
    first_views: ArrayLike,
    truth: ArrayLike,
    sites: ArrayLike,
    sections: ArrayLike,
    ages: Sequence[int] = AGES,
    *,
    seen_days: ArrayLike | None = None,
    cut: float = PAPERS.q,
    n_days: int = round(PAPERS.n),
) -> Early:
    """Learn the models from known pages, however few.

    Args:
        first_views: Shape (pages, days), with at least max(ages) days from the day of birth on.
        truth: Shape (pages): True for pages that turned out temporal.
        sites: Shape (pages).
        sections: Shape (pages): names unique over all sites.
        ages: Ages to learn a model for, ascending.
        seen_days: Shape (pages): days since the birth of each that `truth` is from. Unset: long
            enough.
        cut: Share of the views of the first `n_days` days above which a page is temporal.
        n_days: See `cut`.
    """
    views, t = np.asarray(first_views, np.float64), np.asarray(truth, np.bool_)
    if views.shape[1] < max(ages):
        raise ValueError(f"{max(ages)} first days are needed, not {views.shape[1]}")
    by_site, by_section = np.asarray(sites), np.asarray(sections)
    prior = Prior.learn(t, by_site, by_section)
    if not 0 < t.sum() < len(t):
        return Early(prior, tuple(ages), len(t), cut, n_days, ())
    own = _unseen_priors(t, by_site, by_section)
    models: list[tuple[_Model, ...]] = []
    for k in ages:
        parts = [np.ones(len(t), np.bool_)]
        if seen_days is not None and k > n_days:
            seen = np.asarray(seen_days, np.int64)
            longer = _seen_longer(seen, t, k)
            if models and seen[longer].min() <= k:
                break  # of these pages the share so far is the truth: nothing is said of later days
            parts += [] if longer.all() else [longer]
        of_parts = [(views[rows, :k], t[rows], own[rows]) for rows in parts]
        models.append(tuple(_learn_age(*pages, cut, n_days) for pages in of_parts))
    return Early(prior, tuple(ages[: len(models)]), len(t), cut, n_days, tuple(models))


def filled(views: Floats, observed: NDArray[np.bool_]) -> Floats:
    """Return views in which missing days are filled in from the observed days around them.

    Args:
        views: Shape (pages, days).
        observed: Shape (days); the first day is observed.

    Returns:
        The geometric mean of the days before and after, by their distance; the day before where
        none after is observed.
    """
    days, there = np.arange(views.shape[1]), np.flatnonzero(observed)
    place = np.searchsorted(there, days)
    after = there[np.minimum(place, len(there) - 1)]
    before = there[np.maximum(np.minimum(place, len(there)) - 1, 0)]
    part = (days - before) / np.maximum(after - before, 1)
    smooth = np.log(views + 0.5)
    between = np.exp((1 - part) * smooth[:, before] + part * smooth[:, after]) - 0.5
    return np.where(observed, views, between)


def _seen_longer(seen_days: Int64s, truth: NDArray[np.bool_], age: int) -> NDArray[np.bool_]:
    """Return flags of the pages seen for some days beyond an age; at least half of all pages."""
    kept = max(-(-len(seen_days) // 2), min(_FEWEST, len(seen_days)))
    at_least = np.sort(seen_days)[len(seen_days) - kept]
    rows: NDArray[np.bool_] = seen_days >= min(age + _LATER_DAYS, at_least)
    has_both = 0 < truth[rows].sum() < rows.sum()
    return rows if has_both else np.ones(len(rows), np.bool_)


def _has_fallen(views: Floats, cut: float, n_days: int) -> NDArray[np.bool_]:
    """Return True for pages that the first n days alone cannot make temporal any more."""
    if views.shape[1] <= n_days:
        return np.zeros(len(views), np.bool_)
    total = views.sum(axis=1)
    return np.asarray(views[:, :n_days].sum(axis=1) / np.maximum(total, 1.0) <= cut)


def _unseen_priors(truth: NDArray[np.bool_], sites: NDArray[Any], sections: NDArray[Any]) -> Floats:
    """Return the prior of each page, computed from the other folds.

    Were only the page itself left out, its label could be told from what is missing: of a section,
    all temporal pages would have the one prior, and all others a slightly higher one.
    """
    own, fold = np.empty(len(truth)), _deal(truth)
    for part in range(_FOLDS):
        held = fold == part
        others = Prior.learn(truth[~held], sites[~held], sections[~held])
        own[held] = others.of(sites[held], sections[held])
    return own


def _deal(truth: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return a fold for each page, dealt out in turn within each kind."""
    fold = np.empty(len(truth), np.int64)
    for kind in (True, False):
        rows = np.flatnonzero(truth == kind)
        fold[rows] = np.arange(len(rows)) % _FOLDS
    return fold


def _learn_age(
    views: Floats, truth: NDArray[np.bool_], prior: Floats, cut: float, n_days: int
) -> _Model:
    rows = features(views, prior, cut, n_days)
    rate = (truth.sum() + 1.0) / (len(truth) + 2.0)
    is_final = not (_has_fallen(views, cut, n_days) & truth).any()
    return _Model(fit_logistic(rows, truth), fit_trees(rows, truth, float(logit(rate))), is_final)


def features(views: Floats, prior: Floats, cut: float, n_days: int) -> Floats:
    """Return the features of each page: level, fall and early share of its views, and the prior."""
    k = views.shape[1]
    total = views.sum(axis=1)
    level = np.log1p(total)
    columns = [logit(np.clip(prior, _SURE, 1 - _SURE)), level, level**2 / 5]
    if k > 1:
        smooth = views + 0.5
        first, last = smooth[:, 0], smooth[:, -1]
        middle = (row_products(views, np.arange(k, dtype=np.float64)) + 0.5) / (total + 1.0)
        whole = total + 0.5 * k
        columns += [np.log(first / whole), np.log(last / whole), np.log(last / first), middle / k]
        if k > 2:
            columns += [np.log(last / smooth[:, -2]), np.log(smooth[:, 1] / first)]
    if k > n_days:
        early = views[:, :n_days].sum(axis=1)
        # How far the share is from the cut: what it would fall to if nobody came any more.
        over = np.log((early + 0.5) / (total - early + 0.5)) - logit(cut)
        columns += [over, np.maximum(over, 0), np.minimum(over, 0), (early + 0.5) / (total + 1.0)]
        columns += [over * np.minimum(level, 6) / 3, np.log((views[:, -1] + 0.5) / (early + 0.5))]
    return np.column_stack(columns)


@dataclass(frozen=True, slots=True)
class Score:
    """Quality of one method at one age."""

    age: int
    answer: str
    pages: int
    accuracy: float
    f_measure: float
    brier: float | None
    """Brier score; None, like the next two, for methods that give no probabilities."""
    log_loss: float | None
    reliability: Reliability | None
    lead: Difference | None = None
    """Accuracy less that of `rival`; only of the method that is compared with all others."""
    rival: str = ""
    """The best of the other methods by accuracy."""


def score_probability(age: int, answer: str, truth: ArrayLike, probability: ArrayLike) -> Score:
    """Score probabilities; a page counts as labelled temporal above one half."""
    p = np.asarray(probability, np.float64)
    result = outcome(truth, p > 0.5)
    return Score(
        age,
        answer,
        result.pages,
        result.accuracy,
        result.f_measure,
        brier(truth, p),
        log_loss(truth, p),
        reliability(truth, p),
    )


def score_label(age: int, answer: str, truth: ArrayLike, label: ArrayLike) -> Score:
    """Score plain labels."""
    result = outcome(truth, label)
    return Score(age, answer, result.pages, result.accuracy, result.f_measure, None, None, None)
