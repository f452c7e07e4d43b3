"""Scores of pages under every order that BB 5.3 compares, and ours.

Here: from ranks of patterns, page counts and links to one score a page. Not here: the ranks
(`behaviour_graph`), crawling by scores (`crawl_simulation`).

`combined` is ours. A pattern says what an unknown page is worth; the log says it of a known one.
A page's expected traffic is the mean of its own count and the average of its pattern, so that known
pages are told apart within their pattern and unknown ones stand where the pattern puts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from temporal_assets.core.behaviour_graph import BehaviourGraph, PatternRanks
from temporal_assets.core.link_graph import LinkGraph
from temporal_assets.core.page_rank import page_rank
from temporal_assets.core.texts import Floats, Int32s, Int64s

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
        "page_rank",
        "breadth_first",
        "random",
    ),
    "discovery": (
        "combined",
        "behaviour_graph",
        "average_referral",
        "overall_referral",
        "page_rank",
        "breadth_first",
        "random",
    ),
}


@dataclass(frozen=True, slots=True)
class SiteKnowledge:
    """What the log of the learning period says about a site's pages."""

    pattern: Int32s
    """Row of each page's pattern in `graph`; -1 for pages that no pattern covers."""
    graph: BehaviourGraph
    ranks: PatternRanks
    visits: Floats
    """F_in of each page, 0 for pages that are not in the log."""
    referrals: Floats
    """F_out of each page."""


def policy_scores(
    known: SiteKnowledge, links: LinkGraph, scenario: Scenario, seed: int = 1
) -> dict[str, Floats]:
    """A score a page for every policy of a scenario, the highest first; NaN: nothing is known."""
    pages = len(links)
    scores = {
        "page_rank": page_rank(links),
        "breadth_first": np.zeros(pages),
        "random": np.random.default_rng(seed).random(pages),
    }
    graph, ranks = known.graph, known.ranks
    if scenario == "fetch":
        count, of_page = graph.visits, known.visits
        by_rank = {
            "behaviour_graph": ranks.by_fetch,
            "average_visit": ranks.by_average_visit,
            "overall_visit": ranks.by_overall_visit,
            "volume": ranks.by_volume,
        }
    else:
        count, of_page = graph.referrals, known.referrals
        by_rank = {
            "behaviour_graph": ranks.by_discovery,
            "average_referral": ranks.by_average_referral,
            "overall_referral": ranks.by_overall_referral,
        }
    scores |= {name: _of_pages(known.pattern, rank) for name, rank in by_rank.items()}
    scores["combined"] = _expected(known.pattern, count / np.maximum(graph.volume, 1), of_page)
    return {name: scores[name] for name in POLICIES[scenario]}


def _of_pages(pattern: Int32s, rank: Int64s) -> Floats:
    """The rank of each page's pattern as a score."""
    return np.where(pattern >= 0, -rank[np.maximum(pattern, 0)].astype(np.float64), np.nan)


def _expected(pattern: Int32s, average: Floats, count: Floats) -> Floats:
    """Mean of a page's own count and its pattern's average; its own alone without a pattern."""
    prior = np.where(pattern >= 0, average[np.maximum(pattern, 0)], 0.0)
    return 0.5 * (count + prior)
