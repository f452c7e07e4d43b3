"""Scores of pages under the crawl orders that BB 5.3 compares, under simpler ones, and under ours.

Here: from ranks of patterns, page counts and links to one score a page. Not here: the ranks
(`behaviour_graph`), crawling by scores (`crawl_simulation`).

`combined` is ours: the expected traffic of each page, learned from the site's own past
(`expected_traffic`), and a plan of the crawl by it (`crawl_plan`), or the same by page counts,
whichever would have done best in that past.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from temporal_assets.core.crawls.crawl_curves import THROUGHPUTS, curve_of
from temporal_assets.core.crawls.crawl_plan import discovery_plan, fetch_plan, greedy_discovery
from temporal_assets.core.crawls.crawl_simulation import crawl
from temporal_assets.core.crawls.expected_traffic import (
    PageEvidence,
    expected_traffic,
    with_random_readers,
)
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

PLANNED_SHARE: Final = 0.4
"""Share of the pages, those fetched first, that `combined` never leaves to PageRank. Chosen on demo
seed 11, the first six days of the portal's clicks and the first 120 days of the encyclopaedia's
views, where 0.1 to 0.6 differ by less than 0.05 points of traffic (docs/evaluation.md)."""
_STEP: Final = 1e-12
"""Difference of two scores of the other pages, as a multiple of the mean score: small enough to
stay just below the planned pages, and large enough for the digits of a score."""

BASELINES: Final = ("page_counts", "page_rank", "opic", "breadth_first", "random")
"""Orders that need no patterns."""


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
    """The learning period in two parts; None if it has one part only."""


@dataclass(frozen=True, slots=True)
class Training:
    """The learning period in two parts, so that weights can be learned in time order."""

    earlier: SiteKnowledge
    """Knowledge from the first part."""
    visits: Floats
    """F_in of each page in the second part."""


def policy_scores(
    knowledge: SiteKnowledge,
    links: LinkGraph,
    scenario: Scenario,
    seed: int = 1,
    start: ArrayLike = (0,),
) -> dict[str, Floats]:
    """Return one score per page for every policy; crawls fetch the highest first, NaN last.

    Args:
        knowledge: Knowledge about the pages of the site.
        links: Links of the mirror, between the same pages.
        scenario: Purpose of the crawl: comprehensive fetch or timely discovery.
        seed: Seed of the random order.
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

    Each candidate crawls the site as it was known in the first part of the learning period, and is
    judged by the visits of the second: the mean share of traffic at `THROUGHPUTS`, half of which
    are small. The first candidate wins ties, and is taken if there is only one part. For fetching,
    the last pages are left to PageRank if that would have done better.
    """
    training = knowledge.training
    now = _evidence(knowledge, page_ranks)
    if training is None or not training.visits.any():
        return _candidates(now, expected_traffic(now), links, scenario, start)[0]
    before = _evidence(training.earlier, page_ranks)
    then = expected_traffic(before, before, training.visits)
    tried = _candidates(before, then, links, scenario, start)
    shares = [_mean_share(links, start, score, training.visits, scenario) for score in tried]
    best = int(np.argmax(shares))
    expected = expected_traffic(now, before, training.visits)
    chosen = _candidates(now, expected, links, scenario, start)[best]
    if scenario == "discovery":
        return chosen
    hedged = _by_links_at_last(tried[best], links, page_ranks, start)
    if _mean_share(links, start, hedged, training.visits, scenario) <= shares[best]:
        return chosen
    return _by_links_at_last(chosen, links, page_ranks, start)


def _by_links_at_last(
    score: Floats, links: LinkGraph, page_ranks: Floats, start: ArrayLike
) -> Floats:
    """Return a score with the same order for the first `PLANNED_SHARE` of the pages.

    The others follow by PageRank: the log says next to nothing about the pages that come last.
    """
    order = crawl(links, start, score).fetched
    planned = order[: int(PLANNED_SHARE * len(links))]
    if not len(planned):
        return score
    # Just below the planned pages, so that the scores of several sites can still be compared.
    lowest, step = float(score[planned].min()), _STEP * (float(np.abs(score).mean()) or 1.0)
    place = np.unique(-page_ranks, return_inverse=True)[1] + 1  # the same for equal PageRanks
    hedged = lowest - step * place
    hedged[planned] = score[planned]
    return np.asarray(hedged)


def _candidates(
    evidence: PageEvidence, expected: Floats, links: LinkGraph, scenario: Scenario, start: ArrayLike
) -> list[Floats]:
    """Return scores by expected traffic and by page counts, each with and without a plan."""
    scores = []
    for value in (with_random_readers(expected, evidence.page_rank), evidence.count):
        if scenario == "fetch":
            scores.append(fetch_plan(links, start, value))
        else:
            scores.append(discovery_plan(links, start, value))
            scores.append(greedy_discovery(links, start, value))
        scores.append(value)
    return scores


def _mean_share(
    links: LinkGraph, start: ArrayLike, score: Floats, traffic: Floats, scenario: Scenario
) -> float:
    """Return the mean share of the traffic that a crawl has at `THROUGHPUTS`."""
    done = crawl(links, start, score)
    gained = done.fetched_traffic(traffic) if scenario == "fetch" else done.seen_traffic(traffic)
    return float(curve_of(gained, len(links), float(traffic.sum())).at(THROUGHPUTS).mean())


def _evidence(knowledge: SiteKnowledge, page_ranks: Floats) -> PageEvidence:
    average = knowledge.graph.visits / np.maximum(knowledge.graph.volume, 1)
    pattern = knowledge.pattern
    return PageEvidence(
        count=knowledge.visits,
        pattern_average=np.where(pattern >= 0, average[np.maximum(pattern, 0)], 0.0),
        page_rank=page_ranks,
    )
