"""Everything of BB 2 to 4 for one site: three trees, the behaviour graph, the ranks.

Here: the order of the steps. Not here: the steps, and where the traffic comes from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from temporal_assets.core.behaviour_graph import (
    BehaviourGraph,
    PatternRanks,
    count_transits,
    merge_transits,
    rank_patterns,
)
from temporal_assets.core.pattern_tree import PatternTree, TreeOptions, pattern_tree
from temporal_assets.core.texts import Floats, Int32s, Int64s, Texts
from temporal_assets.core.transit_cut import THRESHOLD, TransitCut, transit_cut
from temporal_assets.core.visit_cut import VisitCut, visit_cut


@dataclass(frozen=True, slots=True)
class SiteTraffic:
    """What users did on one site. Triples (target, referrer, client) count once."""

    urls: Texts
    """Distinct canonical URLs."""
    visits: Floats
    """F_in of each URL, from anywhere or nowhere."""
    referrals: Floats
    """F_out of each URL, to anywhere."""
    referrer: Int64s
    """One row a pair of URLs with transits: number of the referrer, -1 if not of the site."""
    target: Int64s
    transits: Floats
    """F_trans of the pair."""


@dataclass(frozen=True, slots=True)
class SitePatterns:
    """The patterns of a site: the leaves of `by_transit`, in their order."""

    by_syntax: PatternTree
    """T_syn."""
    by_visit: PatternTree
    """T_visit."""
    by_transit: PatternTree
    """T_tran."""
    visit_cut: VisitCut
    """Nodes of `by_syntax` that became leaves, and why."""
    transit_cut: TransitCut
    """The same for `by_visit`."""
    graph: BehaviourGraph
    ranks: PatternRanks
    """One row a pattern, as in the graph."""


def learn_patterns(
    traffic: SiteTraffic,
    options: TreeOptions | None = None,
    threshold: float = THRESHOLD,
    visit_weight: float = 1.0,
) -> SitePatterns:
    """Trees, cuts, graph and ranks of one site. See `visit_cut` and `transit_cut`."""
    syntax = pattern_tree(traffic.urls, options)
    by_visits = visit_cut(
        syntax.hierarchy, syntax.sizes, syntax.totals(traffic.visits), visit_weight
    )
    visit = syntax.cut(by_visits.is_pattern)
    between = count_transits(
        _number_of_url(visit),
        len(visit.leaves),
        traffic.referrer,
        traffic.target,
        traffic.transits,
    )
    by_transits = transit_cut(visit.hierarchy, between, threshold)
    transit = visit.cut(by_transits.is_pattern)
    leaves = transit.leaves
    # Leaves of both trees are ranges of the same order of URLs.
    group = np.searchsorted(transit.stop[leaves], visit.start[visit.leaves], side="right")
    graph = BehaviourGraph(
        transit.sizes[leaves],
        transit.totals(traffic.visits)[leaves],
        transit.totals(traffic.referrals)[leaves],
        merge_transits(between, group.astype(np.int32), len(leaves)),
    )
    return SitePatterns(syntax, visit, transit, by_visits, by_transits, graph, rank_patterns(graph))


def _number_of_url(tree: PatternTree) -> Int32s:
    """Which leaf each URL belongs to, counting leaves from 0."""
    return np.searchsorted(tree.leaves, tree.leaf_of_url()).astype(np.int32)
