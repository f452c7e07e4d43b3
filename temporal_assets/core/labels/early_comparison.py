"""Early labels compared with simpler methods, on pages whose true label is known.

Here: every method at every age, scored. Not here: the model (`early`), the true labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from temporal_assets.core.curves.curves import Options, fit
from temporal_assets.core.labels.concentration import concentration
from temporal_assets.core.labels.early import AGES, Early, Score, score_label, score_probability
from temporal_assets.core.labels.labels import PAPERS, Thresholds

Floats = NDArray[np.float64]

EARLY: Final = "early label"
PRIOR: Final = "site and section alone"
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
    """
    views, t = np.asarray(first_views, np.float64), np.asarray(truth, np.bool_)
    prior = model.prior.of(sites, sections)
    scores = []
    for age in ages:
        seen = views[:, :age]
        young = np.full(len(views), age)
        probability = model.probability(seen, young, sites, sections)
        scores += [
            score_probability(age, EARLY, t, probability),
            score_probability(age, PRIOR, t, prior),
            score_label(age, CURVE, t, _by_curve(seen, thresholds)),
            score_label(age, CONCENTRATION, t, _by_concentration(seen, thresholds)),
        ]
    return scores


def _by_curve(seen: Floats, thresholds: Thresholds) -> NDArray[np.bool_]:
    """Return the label of `page_labels`; False where the page is too young for a curve."""
    window = np.pad(seen, ((0, 0), (_BEFORE, 0)))
    label: NDArray[np.bool_] = fit(window, Options(n=thresholds.n)).is_above(thresholds.q)
    return label


def _by_concentration(seen: Floats, thresholds: Thresholds) -> NDArray[np.bool_]:
    concentrated = concentration(seen, thresholds.m)
    label: NDArray[np.bool_] = (concentrated.value > thresholds.p) & concentrated.is_defined
    return label
