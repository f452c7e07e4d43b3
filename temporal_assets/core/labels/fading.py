"""Fading and steady pages, told apart by as little as two days of views.

Here: a mixture of two kinds of pages, fitted by expectation maximisation to the views of a site by
day. Not here: which pages and days are given (`windows.policy.provisional_lists`), what becomes of
the shares (`core.lists.provisional`), labels of pages whose life was observed (`labels`).

A steady page gets each of its views on any day, in proportion to the traffic of the site. A fading
page is born on some day, perhaps before the first, and its views follow the usual curve of news
since. The evidence of a page is how much likelier its views are under the second than under the
first; the share of fading pages of a site, and the probability q of each page, follow together:

    share = (sum of q + 1) / (pages + 2)        odds of q = evidence * share / (1 - share)

A page that is temporal by TW 4.2 is known to be fading only once its life was observed. This says
less, but days earlier: a site of two days is told from an encyclopedia.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.special import expit, logsumexp, ndtr

from temporal_assets.core.numerics.arrays import Floats, Int64s

LEAST_VIEWS: Final = 4
"""Views that a page needs to be evidence: fewer fall on one day by chance."""

_MU: Final = 0.3
_SIGMA: Final = 1.0
"""Sigma of the usual log-normal curve of news: 0.78 of the interest within three days."""

_WEIGHT: Final = 0.5
_MOST_VIEWS: Final = 30
"""A view counts for half, and the views of one page for at most thirty: people come in groups, so
that days differ by more than chance. Chosen with the curve on the sets that parameters are chosen
on (docs/evidence.md)."""

_ANY_DAY: Final = 0.02
"""Share of the views of a fading page that are spread like those of a steady one."""

_BORN_BEFORE: Final = 4
"""Days before the first one on which a fading page may have been born."""

_ROUNDS: Final = 50


def fading_evidence(views: Floats, days: Int64s) -> Floats:
    """Return the log-odds that the views of each page are evidence of fading interest.

    Args:
        views: Shape (pages, days), of all pages of a site with enough views.
        days: Numbers of the observed days, ascending.
    """
    traffic = views.sum(axis=0) + 0.5
    steady = traffic / traffic.sum()
    counted = _WEIGHT * np.minimum(1.0, _MOST_VIEWS / np.maximum(views.sum(axis=1), 1.0))
    births = np.arange(days[0] - _BORN_BEFORE, days[-1] + 1)
    ratios = np.empty((len(births), len(views)))
    for row, birth in enumerate(births):
        fading = _usual_interest(days - birth) * traffic
        fading = (1 - _ANY_DAY) * fading / fading.sum() + _ANY_DAY * steady
        ratios[row] = views @ np.log(fading / steady)
    evidence: Floats = logsumexp(ratios * counted, axis=0) - np.log(len(births))
    return evidence


def _usual_interest(age: Int64s) -> Floats:
    """Return the share of a page's interest on days of some age; next to 0 before its birth."""
    lived = np.maximum(age, 0).astype(np.float64)
    with np.errstate(divide="ignore"):
        start, end = ((np.log(days_lived) - _MU) / _SIGMA for days_lived in (lived, lived + 1))
    share: Floats = np.where(age >= 0, ndtr(end) - ndtr(start), 1e-3)
    return share


def fading_share(evidence: Floats) -> tuple[float, Floats]:
    """Return the share of fading pages, and the probability of each page to be one.

    Without evidence both are a half.

    Args:
        evidence: Result of `fading_evidence`; may be empty.
    """
    share = 0.5
    probability: Floats = np.full(len(evidence), share)
    for _ in range(_ROUNDS):
        probability = expit(evidence + np.log(share / (1 - share)))
        share = (float(probability.sum()) + 1) / (len(evidence) + 2)
    return share, probability
