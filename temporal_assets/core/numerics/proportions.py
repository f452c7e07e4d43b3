"""Confidence bounds of a share of pages, when only so many were seen.

Here: Wilson's bounds, the chance of a share so low, and how many pages a share of views is worth.
Not here: what the shares are of (`site_scores`, `prefix_tree`).

Of a site with two pages, both temporal, nothing is known but that: its share is 1, its bound 0.43
at 95 %. Confidence 0.5 makes the bound the share itself, which is the papers' rule.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

Floats = NDArray[np.float64]

PLAIN: Final = 0.5
"""Confidence at which a bound is the plain share."""


def quantile(confidence: float) -> float:
    """Return the normal quantile z of a one-sided bound; 0 for a confidence of 0.5."""
    if not PLAIN <= confidence < 1:
        raise ValueError(f"confidence must be at least 0.5 and below 1, not {confidence}")
    return 0.0 if confidence == PLAIN else float(ndtri(confidence))


def share(part: ArrayLike, whole: ArrayLike) -> Floats:
    """Return `part / whole`, or 0 where `whole` is 0."""
    p, n = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    return np.divide(p, n, out=np.zeros(np.broadcast(p, n).shape), where=n > 0)


def lower_bound(share: ArrayLike, count: ArrayLike, confidence: float) -> Floats:
    """Return Wilson's one-sided lower bound of a share in `count` independent cases; 0 for none.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22
    (1927). The bound stays in [0, 1], and is no more than the share.
    """
    p, n = np.asarray(share, np.float64), np.asarray(count, np.float64)
    z = quantile(confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = p + z * z / (2 * n)
        reach = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        bound = (middle - reach) / (1 + z * z / n)
    # Rounding may leave a bound of 0 a hair below it.
    return np.where(n > 0, np.clip(bound, 0.0, p), 0.0)


def upper_bound(share: ArrayLike, count: ArrayLike, confidence: float) -> Floats:
    """Return Wilson's one-sided upper bound, no less than the share; 1 for no cases."""
    p, n = np.asarray(share, np.float64), np.asarray(count, np.float64)
    return np.where(n > 0, 1 - lower_bound(1 - p, n, confidence), 1.0)


def chance_of_less(share: ArrayLike, count: ArrayLike, truth: float) -> Floats:
    """Return the chance of a share this small where the true one is `truth`; 1 for no cases.

    The chance is at most 1 - confidence exactly where Wilson's upper bound is at most `truth`.
    """
    p, n = np.asarray(share, np.float64), np.asarray(count, np.float64)
    if not 0 < truth < 1:
        return np.ones(np.broadcast(p, n).shape)  # no share is below 0; no threshold is 1
    chance: Floats = ndtr((p - truth) * np.sqrt(n / (truth * (1 - truth))))
    return np.where(n > 0, chance, 1.0)


def effective_count(total: ArrayLike, squares: ArrayLike) -> Floats:
    """Return how many equally weighted cases unequal weights are worth.

    (sum w)^2 / sum w^2 (Kish).

    The views of a page are one piece of evidence, however many they are: a site whose views all
    fall on one page is a site of one page, as far as its share of views is concerned.
    """
    w = np.asarray(total, np.float64)
    return share(w * w, squares)
