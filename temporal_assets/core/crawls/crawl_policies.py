"""Scores of pages under every order that BB 5.3 compares, under simpler ones, and under ours.

Here: from ranks of patterns, page counts and links to one score a page. Not here: the ranks
(`behaviour_graph`), crawling by scores (`crawl_simulation`).

`combined` is ours: the traffic to expect of each page, learned from the site's own past
(`expected_traffic`), or one of five other orders where it would have done better in that past.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from temporal_assets.core.crawls.crawl_curves import THROUGHPUTS, curve_of
from temporal_assets.core.crawls.crawl_simulation import crawl
from temporal_assets.core.crawls.expected_traffic import PageEvidence, expected_traffic
from temporal_assets.core.crawls.opic import opic_scores
from temporal_assets.core.graph.link_graph import LinkGraph
from temporal_assets.core.graph.page_rank import page_rank
from temporal_assets.core.numerics.arrays import Floats, Int32s, Int64s
from temporal_assets.core.patterns.behaviour_graph import BehaviourGraph, PatternRanks

Scenario = Literal["fetch", "discovery"]
SCENARIOS: Final[tuple[Scenario, ...]] = ("fetch", "discovery")
"""Comprehensive fetch (BB 5.3.1) and timely discovery (BB 5.3.2)."""

POLICIES: Final[Mapping[Scenario, tuple[str, ...]]] = {
    "fetch": (
        "combined",
        "behaviour_graph",
        "average_visit",
        "overall_visit",
        "volume",
        "page_counts",
        "page_rank",
        "opic",
        "breadth_first",
        "random",
    ),
    "discovery": (
        "combined",
        "behaviour_graph",
        "average_referral",
        "overall_referral",
        "page_counts",
        "page_rank",
        "opic",
        "breadth_first",
        "random",
    ),
}

BASELINES: Final = ("page_counts", "page_rank", "opic", "breadth_first", "random")
"""Orders that anybody can have without patterns."""


@dataclass(frozen=True, slots=True)
class SiteKnowledge:
    """Knowledge about a site's pages from the log of the learning period."""

    pattern: Int32s
    """Row of each page's pattern in `graph`; -1 for pages that no pattern covers."""
    graph: BehaviourGraph
    ranks: PatternRanks
    visits: Floats
    """F_in of each page, 0 for pages that are not in the log."""
    referrals: Floats
    """F_out of each page."""
    training: Training | None = None
    """None where the learning period has one part only."""


@dataclass(frozen=True, slots=True)
class Training:
    """The learning period in two parts, so that weights can be learned in time order."""

    earlier: SiteKnowledge
    """Knowledge from the first part."""
    visits: Floats
    """F_in of each page in the second part."""
    referrals: Floats
    """F_out of each page in the second part."""


def policy_scores(
    knowledge: SiteKnowledge,
    links: LinkGraph,
    scenario: Scenario,
    seed: int = 1,
    start: ArrayLike = (0,),
) -> dict[str, Floats]:
    """Return a score a page for every policy, the highest first; NaN where nothing is known.

    Args:
        knowledge: Knowledge about the pages of the site.
        links: Links of the mirror, between the same pages.
        scenario: What the crawl is for.
        seed: Of the random order.
        start: Pages that the crawl begins with, for orders that are made while crawling.
    """
    page_ranks = page_rank(links)
    ranks = knowledge.ranks
    if scenario == "fetch":
        by_rank = {
            "behaviour_graph": ranks.by_fetch,
            "average_visit": ranks.by_average_visit,
            "overall_visit": ranks.by_overall_visit,
            "volume": ranks.by_volume,
        }
    else:
        by_rank = {
            "behaviour_graph": ranks.by_discovery,
            "average_referral": ranks.by_average_referral,
            "overall_referral": ranks.by_overall_referral,
        }
    scores = {name: _of_pages(knowledge.pattern, rank) for name, rank in by_rank.items()}
    scores |= {
        "combined": _combined(knowledge, links, page_ranks, scenario, start),
        "page_counts": knowledge.visits if scenario == "fetch" else knowledge.referrals,
        "page_rank": page_ranks,
        "opic": opic_scores(links, start),
        "breadth_first": np.zeros(len(links)),
        "random": np.random.default_rng(seed).random(len(links)),
    }
    return {name: scores[name] for name in POLICIES[scenario]}


def _of_pages(pattern: Int32s, rank: Int64s) -> Floats:
    """Return the rank of each page's pattern as a score."""
    return np.where(pattern >= 0, -rank[np.maximum(pattern, 0)].astype(np.float64), np.nan)


def _combined(
    knowledge: SiteKnowledge,
    links: LinkGraph,
    page_ranks: Floats,
    scenario: Scenario,
    start: ArrayLike,
) -> Floats:
    """Return the score of `combined`: the order that would have done best in the site's own past.

    The candidates are the traffic to expect, page counts, both for opened pages alone, counts
    followed by the traffic to expect of the other pages, and PageRank. Each crawls the site as it
    was known in the first part of the learning period, and is judged by the traffic of the second:
    the mean of what it has at `THROUGHPUTS`, of which half are small.
    """
    # Logs without referrers say nothing of where visits lead to. Pages that are read are linked
    # from pages that are read, so visits stand in.
    by_visits = scenario == "fetch" or not knowledge.referrals.any()
    now, training = _evidence(knowledge, page_ranks, by_visits), knowledge.training
    if training is None:
        return expected_traffic(now)
    before = _evidence(training.earlier, page_ranks, by_visits)
    later = training.visits if by_visits else training.referrals
    if not later.any() or not training.visits.any():
        return expected_traffic(now)
    then = expected_traffic(before, before, later)
    expected = expected_traffic(now, before, later)
    candidates = (
        (then, expected),
        (opened_first(before, then), opened_first(now, expected)),
        (before.count, now.count),
        (opened_first(before, before.count), opened_first(now, now.count)),
        (counts_then_expected(before, then), counts_then_expected(now, expected)),
        (page_ranks * before.count.sum(), page_ranks * now.count.sum()),
    )
    shares = [
        _mean_share(links, start, score, training.visits, scenario) for score, _ in candidates
    ]
    return candidates[int(np.argmax(shares))][1]


def opened_first(evidence: PageEvidence, score: Floats) -> Floats:
    """Return a score for opened pages alone.

    Of the others, pages of patterns that somebody opens come in the order in which they are linked,
    and pages of patterns that nobody opens come last.
    """
    rest = np.where(evidence.pattern_average > 0, 0.0, -1.0)
    return np.where(evidence.count > 0, score, rest)


def counts_then_expected(evidence: PageEvidence, expected: Floats) -> Floats:
    """Return the count of opened pages, and of the others the traffic to expect as a fraction."""
    rest = expected / (1.0 + float(np.max(expected, initial=0.0)))
    return np.where(evidence.count > 0, evidence.count, rest - (evidence.pattern_average == 0))


def _mean_share(
    links: LinkGraph, start: ArrayLike, score: Floats, traffic: Floats, scenario: Scenario
) -> float:
    """Return the mean share of the traffic that a crawl has at `THROUGHPUTS`."""
    done = crawl(links, start, score)
    gained = done.fetched_traffic(traffic) if scenario == "fetch" else done.seen_traffic(traffic)
    return float(curve_of(gained, len(links), float(traffic.sum())).at(THROUGHPUTS).mean())


def _evidence(knowledge: SiteKnowledge, page_ranks: Floats, by_visits: bool) -> PageEvidence:
    total = knowledge.graph.visits if by_visits else knowledge.graph.referrals
    average = total / np.maximum(knowledge.graph.volume, 1)
    pattern = knowledge.pattern
    return PageEvidence(
        count=knowledge.visits if by_visits else knowledge.referrals,
        pattern_average=np.where(pattern >= 0, average[np.maximum(pattern, 0)], 0.0),
        visits=knowledge.visits,
        page_rank=page_ranks,
    )
