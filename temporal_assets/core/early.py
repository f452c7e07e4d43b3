"""Whether a page will turn out temporal, from its first days and its site's history.

Here: what the first k days say (features), learning from complete pages, the probability for
young ones, and a comparison with simpler answers. Not here: the site's share (`priors`), the
regression (`logistic`), labels of complete pages (`labels`).

A crawler decides on a page's first or second day, when no curve can be fitted. For each k the
model is a logistic regression on a few numbers that say how fast the views fall, with the log-odds
of the site's and section's history among them, calibrated on pages it was not fitted to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from temporal_assets.core.logistic import (
    Floats,
    Logistic,
    Monotone,
    fit_logistic,
    fit_monotone,
    log_odds_of,
    row_products,
)
from temporal_assets.core.metrics import Reliability, brier, log_loss, outcome, reliability
from temporal_assets.core.priors import Prior
from temporal_assets.core.thinning import thinned

AGES: Final = (1, 2, 3, 5, 7)
"""Days seen so far that a model is learned for."""
MIN_PAGES: Final = 50
"""Complete pages below which nothing is learned from views, only from sites."""
COPIES: Final = 4
"""Thinned copies of each page that are learned from as well: chosen on a demo corpus of its own
(docs/early-labels.md)."""
_FOLDS: Final = 5
_SEED: Final = 2007


@dataclass(frozen=True, slots=True)
class _Model:
    regression: Logistic
    calibration: Monotone


@dataclass(frozen=True, slots=True)
class Early:
    """What was learned."""

    prior: Prior
    ages: tuple[int, ...]
    _models: tuple[_Model | None, ...]

    @property
    def knows_views(self) -> bool:
        """Whether views were learned from, and not only the history of sites."""
        return any(model is not None for model in self._models)

    def probability(
        self, first_views: ArrayLike, age: ArrayLike, sites: ArrayLike, sections: ArrayLike
    ) -> Floats:
        """Probability that each page is temporal.

        Args:
            first_views: pages x days; views on the day of birth, the day after and so on. Days at
                or beyond a page's age are not looked at.
            age: pages; days seen so far, the day of birth included. Pages of age 0 get the prior.
            sites: pages.
            sections: pages, named as in `learn`.
        """
        return self.given(first_views, age, self.prior.of(sites, sections))

    def given(self, first_views: ArrayLike, age: ArrayLike, prior: Floats) -> Floats:
        """The same, given the prior of each page."""
        views, seen = np.asarray(first_views, np.float64), np.asarray(age, np.int64)
        result = prior.copy()
        for position, (k, model) in enumerate(zip(self.ages, self._models, strict=True)):
            following = self.ages[position + 1 :]
            rows = (seen >= k) & (seen < following[0] if following else True)
            if model is not None and rows.any():
                odds = model.regression.log_odds(_features(views[rows, :k], prior[rows]))
                result[rows] = model.calibration(odds)
        return result


def learn(
    first_views: ArrayLike,
    truth: ArrayLike,
    sites: ArrayLike,
    sections: ArrayLike,
    ages: Sequence[int] = AGES,
    *,
    copies: int = 0,
) -> Early:
    """Learn from complete pages.

    Args:
        first_views: pages x days (at least max(ages)), from the day of birth on.
        truth: pages; whether each turned out temporal.
        sites: pages.
        sections: pages; names unique over all sites.
        ages: Ascending.
        copies: Thinned copies of each page that are learned from as well, so that pages with few
            views are not judged by how well-read ones begin. Then `first_views` should hold some
            days more than the ages ask for: a copy may be born later than its page.
    """
    views, t = np.asarray(first_views, np.float64), np.asarray(truth, np.bool_)
    if views.shape[1] < max(ages):
        raise ValueError(f"{max(ages)} first days are needed, not {views.shape[1]}")
    by_site, by_section = np.asarray(sites), np.asarray(sections)
    prior = Prior.learn(t, by_site, by_section)
    enough = len(t) >= MIN_PAGES and 0 < t.sum() < len(t)
    if not enough:
        return Early(prior, tuple(ages), (None,) * len(ages))
    fold = _deal(t)
    own = _unseen_priors(t, by_site, by_section, fold)
    page, shown = _with_copies(views, max(ages), copies)
    models = [_learn_age(_features(shown[:, :k], own[page]), t[page], fold[page]) for k in ages]
    return Early(prior, tuple(ages), tuple(models))


def _unseen_priors(
    truth: NDArray[np.bool_], sites: NDArray[Any], sections: NDArray[Any], fold: NDArray[np.int64]
) -> Floats:
    """The prior of each page from the other folds.

    Were only the page itself left out, its label could be told from what is missing: of a section,
    all temporal pages would have the one prior, and all others a slightly higher one.
    """
    own = np.empty(len(truth))
    for part in range(_FOLDS):
        held = fold == part
        others = Prior.learn(truth[~held], sites[~held], sections[~held])
        own[held] = others.of(sites[held], sections[held])
    return own


def _with_copies(views: Floats, days: int, copies: int) -> tuple[NDArray[np.int64], Floats]:
    """The row that each page to learn from is, or is a copy of; and its first days."""
    made = [thinned(views, days, _SEED + number) for number in range(copies)]
    page = np.concatenate([np.arange(len(views)), *(one.page for one in made)])
    return page, np.concatenate([views[:, :days], *(one.views for one in made)])


def _deal(truth: NDArray[np.bool_]) -> NDArray[np.int64]:
    """A fold for each page, dealt out in turn within each kind, as in `calibration`."""
    fold = np.empty(len(truth), np.int64)
    for kind in (True, False):
        rows = np.flatnonzero(truth == kind)
        fold[rows] = np.arange(len(rows)) % _FOLDS
    return fold


def _learn_age(features: Floats, truth: NDArray[np.bool_], fold: NDArray[np.int64]) -> _Model:
    """Fit on all pages; calibrate on what models that had not seen a page promised for it."""
    promised = np.empty(len(truth))
    for part in range(_FOLDS):
        held = fold == part
        promised[held] = fit_logistic(features[~held], truth[~held]).log_odds(features[held])
    return _Model(fit_logistic(features, truth), fit_monotone(promised, truth))


def _features(views: Floats, prior: Floats) -> Floats:
    """Pages x features of the first k days: level, fall and peak of the views, and the prior."""
    k = views.shape[1]
    logs = np.log(views + 0.5)
    total = views.sum(axis=1)
    level = np.log1p(total)
    odds = log_odds_of(prior)
    columns = [odds, level, level**2]
    if k > 1:
        day = np.arange(k) - (k - 1) / 2
        slope = row_products(logs, day) / np.sum(day * day)
        last = (views[:, -1] + 0.5) / (total + 0.5 * k)
        first = (views[:, 0] + 0.5) / (total + 0.5 * k)
        middle = (row_products(views, np.arange(k, dtype=np.float64)) + 0.5) / (total + 1.0)
        # A fall seen on many views says more than the same fall on few.
        columns += [slope, slope * level, slope**2, np.log(last), np.log(first), middle]
        columns += [slope * odds, np.log(last) * level]
    return np.column_stack(columns)


@dataclass(frozen=True, slots=True)
class Score:
    """How good one answer at one age is."""

    age: int
    answer: str
    pages: int
    accuracy: float
    f_measure: float
    brier: float | None
    """None for answers that are no probabilities, and so the next two."""
    log_loss: float | None
    reliability: Reliability | None


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
