"""Expected traffic of every page of a site, learned from the site's own past.

Here: the evidence about a page before a crawl, and a regression that turns it into the traffic to
expect. Not here: where the evidence comes from (`crawl_policies`), crawling by it
(`crawl_simulation`).

How much a page's own count, the average of its pattern and its PageRank say about its later
traffic differs from site to site. Counts are nearly everything in an encyclopaedia, where what was
read will be read; they mislead on a news site, where what was read is over. So each site teaches
its own weights. The evidence of the first part of the learning period is regressed on the traffic
of the second part:

    log E[traffic] = log prior + w . features

The prior is the mean of a page's count and its pattern's average. The weights are those of a
Poisson regression with a ridge penalty, so that a site with little traffic keeps the prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Floats

RIDGE: Final = 100.0
"""Weight of the penalty. Chosen on demo seed 11, the first six days of the portal's clicks and the
first 120 days of the encyclopaedia's views, where 30 to 300 differ by less than a point of traffic
(docs/evaluation.md)."""

RANDOM_READERS: Final = 0.5
"""Readers who follow links at random, for each reader that is expected. Chosen as `RIDGE` was; 0.2
to 1 differ by less than chance on the demo."""

_PRIOR_FLOOR: Final = 0.02
"""Added to the prior, as a multiple of its mean: a page without any evidence may still be read."""
_FEATURE_FLOOR: Final = 0.05
"""Added to each feature, as a multiple of its mean, before its logarithm is taken."""
_STEPS: Final = 50
"""Newton's method needs about ten; more only where nothing can be learned."""
_MOVEMENT: Final = 1e-9
"""Relative change of the objective at which the fit is done."""
_LARGEST: Final = 30.0
"""Bound of the linear predictor while fitting; exp(30) is 10^13."""


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """Evidence about the pages of a site before a crawl, one entry a page."""

    count: Floats
    """Visits to the page in the log."""
    pattern_average: Floats
    """Mean count of the pages of its pattern; 0 for pages of no pattern."""
    page_rank: Floats
    """PageRank on the links that the crawler knows; sums to one."""

    def prior(self) -> Floats:
        """Return the mean of a page's own count and its pattern's average."""
        return 0.5 * (self.count + self.pattern_average)


def expected_traffic(
    evidence: PageEvidence, earlier: PageEvidence | None = None, later: Floats | None = None
) -> Floats:
    """Return the expected traffic of each page, in the unit of `evidence.count`.

    Args:
        evidence: Evidence of the whole learning period.
        earlier: Evidence of its first part alone; without it the prior is returned.
        later: Traffic of each page in its second part.
    """
    if earlier is None or later is None or not later.any():
        return evidence.prior()
    scale = _Scale.of(_features(earlier))
    weights = _fit(scale.applied(_features(earlier)), later, _log_prior(earlier))
    predictor = scale.applied(_features(evidence)) @ weights + _log_prior(evidence)
    return np.asarray(np.exp(np.minimum(predictor, _LARGEST)) * _mean(evidence.prior()))


def with_random_readers(expected: Floats, page_rank: Floats) -> Floats:
    """Return the expected traffic with some readers added who follow links at random.

    The log tells little of pages that nobody opened; where they are linked says more.
    """
    return expected + RANDOM_READERS * float(expected.mean()) * len(expected) * page_rank


@dataclass(frozen=True, slots=True)
class _Scale:
    """Mean and deviation of each feature, so that one penalty fits all weights."""

    mean: Floats
    deviation: Floats

    @classmethod
    def of(cls, features: Floats) -> _Scale:
        deviation = features.std(axis=0)
        return cls(features.mean(axis=0), np.where(deviation > 0, deviation, 1.0))

    def applied(self, features: Floats) -> Floats:
        """Return the features standardised, with a constant in front."""
        return np.column_stack([np.ones(len(features)), (features - self.mean) / self.deviation])


def _log_prior(evidence: PageEvidence) -> Floats:
    prior = evidence.prior()
    return np.asarray(np.log(prior / _mean(prior) + _PRIOR_FLOOR))


def _features(evidence: PageEvidence) -> Floats:
    """Return pages x features: logarithms of all evidence, relative to the mean count."""
    mean = _mean(evidence.count)
    own = np.log(evidence.count / mean + _FEATURE_FLOOR)
    pattern = np.log(evidence.pattern_average / mean + _FEATURE_FLOOR)
    rank = np.log(evidence.page_rank * len(own) + _FEATURE_FLOOR)
    # Pattern and links matter most where the page itself is unknown.
    unknown = (evidence.count == 0).astype(np.float64)
    return np.column_stack([own, pattern, rank, unknown, unknown * pattern, unknown * rank])


def _mean(values: Floats) -> float:
    mean = float(values.mean()) if len(values) else 0.0
    return mean if mean > 0 else 1.0


def _fit(features: Floats, traffic: Floats, offset: Floats) -> Floats:
    """Return the weights of a Poisson regression with an offset, by Newton's method.

    Traffic is scaled so that it weighs no more than the number of pages and no more than the number
    of visits: a hundred visits to one page are not a hundred independent observations.
    """
    wanted = traffic * min(len(traffic) / float(traffic.sum()), 1.0)
    problem = _Regression(features, wanted, offset)
    weights = np.zeros(features.shape[1])
    value = problem.objective(weights)
    for _ in range(_STEPS):
        step, share = problem.newton_step(weights), 1.0
        while share > _MOVEMENT and problem.objective(weights - share * step) > value:
            share /= 2
        before, weights = value, weights - share * step
        value = problem.objective(weights)
        if before - value <= _MOVEMENT * abs(before):
            break
    return weights


@dataclass(frozen=True, slots=True)
class _Regression:
    """A penalised Poisson regression."""

    features: Floats
    wanted: Floats
    offset: Floats

    @property
    def penalty(self) -> Floats:
        """Return one entry a weight; the constant in front is free, but never singular."""
        return np.array([1e-6, *[RIDGE] * (self.features.shape[1] - 1)])

    def objective(self, weights: Floats) -> float:
        """Return the negative log-likelihood with the penalty, up to a constant."""
        predictor = self._predictor(weights)
        fit = np.exp(predictor) - self.wanted * predictor
        return float(fit.sum() + 0.5 * np.sum(self.penalty * weights**2))

    def newton_step(self, weights: Floats) -> Floats:
        """Return the step that a quadratic model of the objective asks for."""
        expected = np.exp(self._predictor(weights))
        gradient = self.features.T @ (expected - self.wanted) + self.penalty * weights
        curvature = (self.features * expected[:, None]).T @ self.features + np.diag(self.penalty)
        return np.asarray(np.linalg.solve(curvature, gradient))

    def _predictor(self, weights: Floats) -> Floats:
        return np.clip(self.features @ weights + self.offset, -_LARGEST, _LARGEST)
