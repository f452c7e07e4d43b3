"""The measures of the papers and a few of ours, on counts.

Here: precision, recall, F, hit, miss, false alarm and measures of probabilities. Not here: what is
counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

_UPPER: Final = 0.975
"""Probability below the upper end of a two-sided interval of 95 %."""


def precision(found_right: float, found: float) -> float:
    """Return the share of the found items that are right; 0 if nothing was found."""
    return found_right / found if found else 0.0


def recall(found_right: float, right: float) -> float:
    """Return the share of the right items that were found; 0 if nothing is right."""
    return found_right / right if right else 0.0


def f_measure(precision: float, recall: float) -> float:
    """Return 2 P R / (P + R) (TW 4.3); 0 if both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Counts of labels against the truth, in TW's words (4.2)."""

    temporal: int
    """Temporal pages labelled temporal."""
    miss: int
    """Temporal pages labelled untemporal."""
    false_alarm: int
    """Untemporal pages labelled temporal."""
    untemporal: int
    """Untemporal pages labelled untemporal."""

    @property
    def hit(self) -> int:
        """Pages labelled right."""
        return self.temporal + self.untemporal

    @property
    def pages(self) -> int:
        """All of them."""
        return self.hit + self.miss + self.false_alarm

    @property
    def positive(self) -> int:
        """Temporal pages, however they are labelled."""
        return self.temporal + self.miss

    @property
    def accuracy(self) -> float:
        """Share of pages labelled right; 0 for no pages."""
        return self.hit / self.pages if self.pages else 0.0

    @property
    def precision(self) -> float:
        """Share of the pages labelled temporal that are temporal."""
        return precision(self.temporal, self.temporal + self.false_alarm)

    @property
    def recall(self) -> float:
        """Share of the temporal pages that are labelled temporal."""
        return recall(self.temporal, self.temporal + self.miss)

    @property
    def f_measure(self) -> float:
        """Harmonic mean of precision and recall."""
        return f_measure(self.precision, self.recall)

    def performance(self, a: float = 1.0, b: float = 0.0, c: float = 0.0) -> float:
        """Return a * hit - b * miss - c * false alarm (TW 5.2); by default the paper's hit."""
        return a * self.hit - b * self.miss - c * self.false_alarm


def outcome(truth: ArrayLike, label: ArrayLike) -> Outcome:
    """Count how the labels of pages compare with the truth."""
    t, g = np.asarray(truth, np.bool_), np.asarray(label, np.bool_)
    return Outcome(
        int((t & g).sum()), int((t & ~g).sum()), int((~t & g).sum()), int((~t & ~g).sum())
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference of two shares of the same pages, with its 95 % interval."""

    value: float
    low: float
    high: float


def difference(first: ArrayLike, second: ArrayLike, group: ArrayLike) -> Difference:
    """Return the share of pages that `first` flags, less the share that `second` flags.

    Pages of a group (numbers from 0) stand or fall together: the interval is that of Student's t
    for the scatter of groups (a ratio estimate). It is never narrower than that of single pages, of
    which only those that differ count, and half a page more on either side (Agresti and Min 2005).
    """
    gain = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    pages, total = len(gain), float(gain.sum())
    of_group = np.bincount(np.asarray(group, np.int64), gain - total / pages)
    groups = len(of_group)
    of_groups = float((of_group**2).sum()) * groups / max(groups - 1, 1)
    scatter = max(_of_pages(float(np.abs(gain).sum()), total, pages), of_groups)
    return _within(total, float(stdtrit(max(groups - 1, 1), _UPPER)) * scatter**0.5, pages)


def beside_constant(result: Outcome) -> Difference:
    """Return the share of pages labelled right, less that of always saying the commoner kind."""
    negative = result.pages - result.positive
    if result.positive > negative:  # the others are right where the constant is wrong
        gained, lost = result.untemporal, result.miss
    else:
        gained, lost = result.temporal, result.false_alarm
    total = float(gained - lost)
    scatter = _of_pages(float(gained + lost), total, result.pages)
    return _within(total, float(ndtri(_UPPER)) * scatter**0.5, max(result.pages, 1))


def _of_pages(differing: float, total: float, pages: int) -> float:
    """Return the variance of a difference of paired answers, from the pages that differ."""
    return differing + 1.0 - total**2 / (pages + 2)


def _within(total: float, margin: float, pages: int) -> Difference:
    return Difference(total / pages, (total - margin) / pages, (total + margin) / pages)


def cohen_kappa(both: int, only_first: int, only_second: int, neither: int) -> float:
    """Return Cohen's kappa, the agreement beyond chance; 1 if neither label ever varies."""
    n = both + only_first + only_second + neither
    if n == 0:
        return 1.0
    same = (both + neither) / n
    first, second = (both + only_first) / n, (both + only_second) / n
    chance = first * second + (1 - first) * (1 - second)
    return (same - chance) / (1 - chance) if chance < 1 else 1.0


def brier(truth: ArrayLike, probability: ArrayLike) -> float:
    """Return the Brier score: the mean squared error of the probabilities."""
    t, p = np.asarray(truth, np.float64), np.asarray(probability, np.float64)
    return float(np.mean((p - t) ** 2))


def log_loss(truth: ArrayLike, probability: ArrayLike) -> float:
    """Return the mean negative log-likelihood in nats; probabilities stay 1e-6 from 0 and 1."""
    t = np.asarray(truth, np.bool_)
    p = np.clip(np.asarray(probability, np.float64), 1e-6, 1 - 1e-6)
    return float(-np.mean(np.where(t, np.log(p), np.log1p(-p))))


@dataclass(frozen=True, slots=True)
class Reliability:
    """Promised and observed shares, in bins of the promised probability."""

    promised: NDArray[np.float64]
    """Mean probability of each bin."""
    observed: NDArray[np.float64]
    """Share of positive pages in each bin."""
    pages: NDArray[np.int64]

    @property
    def error(self) -> float:
        """Mean distance of observed from promised, weighted by pages (0 is perfect)."""
        return float(np.average(np.abs(self.observed - self.promised), weights=self.pages))


def reliability(truth: ArrayLike, probability: ArrayLike, bins: int = 10) -> Reliability:
    """Return the numbers of a reliability plot; empty bins are left out."""
    t, p = np.asarray(truth, np.float64), np.asarray(probability, np.float64)
    which = np.minimum((p * bins).astype(np.int64), bins - 1)
    pages = np.bincount(which, minlength=bins)
    used = pages > 0
    promised = np.bincount(which, p, bins)[used] / pages[used]
    observed = np.bincount(which, t, bins)[used] / pages[used]
    return Reliability(promised, observed, pages[used])
