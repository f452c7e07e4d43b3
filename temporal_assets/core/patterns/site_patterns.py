"""Patterns of one site (BB 2 to 4): three trees, the behaviour graph, the ranks.

Here: the order of the steps. Not here: the steps themselves, and the source of the traffic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from scipy import sparse

from temporal_assets.core.numerics.arrays import Floats, Int32s, Int64s
from temporal_assets.core.patterns.behaviour_graph import (
    BehaviourGraph,
    PatternRanks,
    count_transits,
    merge_transits,
    rank_patterns,
)
from temporal_assets.core.patterns.pattern_tree import PatternTree
from temporal_assets.core.patterns.syntax.sampled_tree import site_tree
from temporal_assets.core.patterns.syntax.tree_builder import TreeOptions
from temporal_assets.core.patterns.transit_cut import THRESHOLD, TransitCut, transit_cut
from temporal_assets.core.patterns.visit_cut import VisitCut, visit_cut
from temporal_assets.core.text.texts import Texts
from temporal_assets.core.traffic.audience import Audience

Cut = Literal["syntax", "visit", "transit"]
"""Choice of the tree that is used: T_syn, T_visit or T_tran."""

CUTS: Final[tuple[Cut, ...]] = ("syntax", "visit", "transit")


@dataclass(frozen=True, slots=True)
class SiteTraffic:
    """Traffic of one site, in which each triple (target, referrer, client) counts once."""

    urls: Texts
    """Distinct canonical URLs."""
    visits: Floats
    """F_in of each URL, from anywhere or nowhere."""
    referrals: Floats
    """F_out of each URL, to anywhere."""
    referrer: Int64s
    """Referrer's URL number of each pair of URLs with transits; -1 if it is not of the site."""
    target: Int64s
    transits: Floats
    """Transits of the pair, F_trans."""
    audience: Audience | None = None
    """Clients of the URLs; if given, values that few clients know are never named."""
    born: Int32s | None = None
    """The day on which each URL was first seen, below 0 where it is not known; where it is given,
    values that pass with time are never named."""


@dataclass(frozen=True, slots=True)
class SitePatterns:
    """Patterns of a site: the leaves of T_tran, in their order."""

    by_syntax: PatternTree
    """T_syn, the tree before a cut."""
    by_visit: PatternTree
    """T_visit, the tree after the visit cut."""
    by_transit: PatternTree
    """T_tran, the tree after the transit cut."""
    visit_cut: VisitCut
    """Nodes of `by_syntax` that became leaves, and why."""
    transit_cut: TransitCut
    """Nodes of `by_visit` that became leaves, and why."""
    patterns: PatternTree
    """The tree whose leaves are the patterns: `by_transit`."""
    graph: BehaviourGraph

    @property
    def ranks(self) -> PatternRanks:
        """Ranks of the patterns, one row each; computed on every access."""
        return rank_patterns(self.graph)

    @property
    def trees(self) -> dict[Cut, PatternTree]:
        """All three, from the largest to the smallest."""
        return {"syntax": self.by_syntax, "visit": self.by_visit, "transit": self.by_transit}


def learn_patterns(
    traffic: SiteTraffic,
    options: TreeOptions | None = None,
    threshold: float = THRESHOLD,
) -> SitePatterns:
    """Learn trees, cuts and graph of one site (`visit_cut`, `transit_cut`)."""
    syntax = site_tree(traffic.urls, options, traffic.audience, traffic.born)
    by_visits = visit_cut(syntax.hierarchy, syntax.sizes, syntax.totals(traffic.visits))
    visit = syntax.cut(by_visits.is_pattern)
    between = _between(visit, traffic)
    by_transits = transit_cut(visit.hierarchy, between, threshold)
    transit = visit.cut(by_transits.is_pattern)
    leaves = transit.leaves
    graph = BehaviourGraph(
        transit.sizes[leaves],
        transit.totals(traffic.visits)[leaves],
        transit.totals(traffic.referrals)[leaves],
        _merged(visit, transit, between),
    )
    return SitePatterns(syntax, visit, transit, by_visits, by_transits, transit, graph)


def _between(tree: PatternTree, traffic: SiteTraffic) -> sparse.csr_array:
    """Return F_trans between the leaves of a tree."""
    return count_transits(
        tree.pattern_of_url(),
        len(tree.leaves),
        traffic.referrer,
        traffic.target,
        traffic.transits,
    )


def _merged(tree: PatternTree, cut: PatternTree, between: sparse.csr_array) -> sparse.csr_array:
    """Return F_trans between the leaves of a cut, from F_trans between the leaves of the tree."""
    if cut is tree:
        return between
    # Leaves of both trees are ranges of the same order of URLs.
    group = np.searchsorted(cut.stop[cut.leaves], tree.start[tree.leaves], side="right")
    return merge_transits(between, group.astype(np.int32), len(cut.leaves))
