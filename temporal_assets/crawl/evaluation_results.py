"""Results of crawls of the sites of a mirror: curves by policy, their average and their gains.

Not here: the crawls (`evaluation`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from temporal_assets.core.crawls.crawl_curves import CrawlCurve, mean_curve
from temporal_assets.core.crawls.crawl_policies import BASELINES
from temporal_assets.core.numerics.arrays import Floats

ORACLE: Final = "oracle"
"""Name of the upper bound that no order can exceed (`core.crawls.crawl_curves`)."""

_DRAWS: Final = 1000
"""Number of bootstrap samples of sites."""
_SEED: Final = 2011

Curves = Mapping[str, Mapping[str, CrawlCurve]]
"""Curves by scenario, then by policy."""


@dataclass(frozen=True, slots=True)
class SiteResult:
    """Crawls of one site of the mirror."""

    site: str
    start: str
    pages: int
    reachable: int
    links: int
    patterns: int
    covered: float
    """Share of the mirror's pages that a pattern covers."""
    traffic: float
    """Traffic of the mirror's pages in the period of scoring."""
    visited: int
    """Number of pages of the mirror with such traffic."""
    in_mirror: float
    """Share of the site's traffic that is of pages of the mirror."""
    curves: Curves


@dataclass(frozen=True, slots=True)
class Gain:
    """Difference of two curves at some shares of the pages, with its 95 % interval over sites."""

    mean: Floats
    low: Floats | None
    """Lower bound, as `high` the upper one; None where there is one site only."""
    high: Floats | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Results of all sites, and sites that could not be judged."""

    sites: tuple[SiteResult, ...]
    skipped: Mapping[str, str]
    """Reason for each skipped site."""

    def mean(self, scenario: str) -> dict[str, CrawlCurve]:
        """Return each curve averaged over all sites: ORACLE, then the policies as in POLICIES."""
        names = self.sites[0].curves[scenario] if self.sites else ()
        return {
            name: mean_curve([site.curves[scenario][name] for site in self.sites]) for name in names
        }

    def best_baseline(self, scenario: str, throughputs: Floats) -> list[str]:
        """Return the simple order with the most traffic at each share of the pages.

        The order is chosen with hindsight, which flatters it.
        """
        curves = self.mean(scenario)
        shares = np.array([curves[name].at(throughputs) for name in BASELINES])
        return [BASELINES[row] for row in np.argmax(np.round(shares, 12), axis=0)]

    def gain(self, scenario: str, name: str, others: Sequence[str], throughputs: Floats) -> Gain:
        """Return the lead of a policy over another, which is given for each share of the pages.

        Sites are drawn again with replacement for the interval; one site has none.
        """
        rows = []
        for site in self.sites:
            curves = site.curves[scenario]
            theirs = {other: curves[other].at(throughputs) for other in set(others)}
            beside = [theirs[other][i] for i, other in enumerate(others)]
            rows.append(curves[name].at(throughputs) - np.array(beside))
        differences = np.array(rows)
        if len(rows) < 2:
            return Gain(differences.mean(axis=0), None, None)
        drawn = np.random.default_rng(_SEED).multinomial(
            len(rows), np.full(len(rows), 1 / len(rows)), _DRAWS
        )
        low, high = np.quantile(drawn @ differences / len(rows), (0.025, 0.975), axis=0)
        return Gain(differences.mean(axis=0), low, high)

    def sites_ahead(self, scenario: str, name: str, other: str, wanted: float = 0.8) -> int:
        """Return on how many sites a policy needs fewer pages than another for a share of traffic.

        A policy that never has it needs more than any that does.
        """
        needed = (
            [site.curves[scenario][order_name].pages_for(wanted) for order_name in (name, other)]
            for site in self.sites
        )
        return sum(
            mine is not None and (theirs is None or mine < theirs) for mine, theirs in needed
        )
