"""Early labels compared with simpler methods, on pages whose true label is known.

Here: every method at every age, scored. Not here: the model (`early`), the true labels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from temporal_assets.core.curves.curves import Options, fit
from temporal_assets.core.labels.concentration import concentration
from temporal_assets.core.labels.early import AGES, Early, Score, score_label, score_probability
from temporal_assets.core.labels.labels import PAPERS, Thresholds
from temporal_assets.core.numerics.metrics import difference

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

EARLY: Final = "early label"
PRIOR: Final = "site and section alone"
SHARE: Final = "share of the first days so far"
ALWAYS: Final = "always the commoner kind"
CURVE: Final = "curve"
CONCENTRATION: Final = "concentration"

_BEFORE: Final = 20
"""Days without views put before a page's life, so that the fitter knows that it was born."""


def compare(
    model: Early,
    first_views: ArrayLike,
    truth: ArrayLike,
    sites: ArrayLike,
    sections: ArrayLike,
    ages: Sequence[int] = AGES,
    thresholds: Thresholds = PAPERS,
    *,
    groups: ArrayLike | None = None,
) -> list[Score]:
    """Return the scores of every method at every age, for pages the model has not learned from.

    Args:
        model: The learned model of early labels.
        first_views: Shape (pages, days) from the day of birth on, at least max(ages) days.
        truth: Shape (pages): True for pages that turned out temporal.
        sites: Shape (pages).
        sections: Shape (pages), named as the model knows them.
        ages: Numbers of days seen.
        thresholds: Thresholds of the curve and of concentration.
        groups: Shape (pages): number of the group with which a page stands or falls. Unset: each
            page by itself.
    """
    views, t = np.asarray(first_views, np.float64), np.asarray(truth, np.bool_)
    prior = model.prior.of(sites, sections)
    together = np.arange(len(t)) if groups is None else np.asarray(groups, np.int64)
    scores = []
    for age in ages:
        seen = views[:, :age]
        young = np.full(len(views), age)
        probabilities = {EARLY: model.probability(seen, young, sites, sections), PRIOR: prior}
        labels = {
            SHARE: _by_share(seen, thresholds),
            ALWAYS: np.full(len(t), model.prior.rate > 0.5),
            CURVE: _by_curve(seen, thresholds),
            CONCENTRATION: _by_concentration(seen, thresholds),
        }
        of_age = [score_probability(age, name, t, p) for name, p in probabilities.items()]
        of_age += [score_label(age, name, t, label) for name, label in labels.items()]
        labels |= {name: p > 0.5 for name, p in probabilities.items()}
        scores += [_with_lead(of_age[0], of_age[1:], labels, t, together), *of_age[1:]]
    return scores


def _with_lead(
    own: Score,
    others: Sequence[Score],
    labels: Mapping[str, Flags],
    truth: Flags,
    groups: NDArray[np.int64],
) -> Score:
    """Return a score with its lead over the most accurate of the others."""
    rival = max(others, key=lambda score: score.accuracy).answer
    lead = difference(labels[own.answer] == truth, labels[rival] == truth, groups)
    return replace(own, lead=lead, rival=rival)


def _by_share(seen: Floats, thresholds: Thresholds) -> Flags:
    """Return True where the first n days have more than q of the views so far."""
    first = seen[:, : math.ceil(thresholds.n)].sum(axis=1)
    return np.asarray(first > thresholds.q * seen.sum(axis=1))


def _by_curve(seen: Floats, thresholds: Thresholds) -> Flags:
    """Return the label of `page_labels`; False where the page is too young for a curve."""
    window = np.pad(seen, ((0, 0), (_BEFORE, 0)))
    label: Flags = fit(window, Options(n=thresholds.n)).is_above(thresholds.q)
    return label


def _by_concentration(seen: Floats, thresholds: Thresholds) -> Flags:
    concentrated = concentration(seen, thresholds.m)
    label: Flags = (concentrated.value > thresholds.p) & concentrated.is_defined
    return label
