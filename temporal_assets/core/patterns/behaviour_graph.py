"""The behaviour graph of a site (transits between its URL patterns), and the ranks of its patterns.

Here: transits between patterns (BB Table 1) and the ranks of BB 4.1 and 4.2. Not here: which
patterns there are (`tree_builder`, `visit_cut`, `transit_cut`).

Authority and hub scores (`mutual_scores`) begin with eq 9 and follow eq 10. Where every visit comes
from within the site and the site is connected, the limit is F_in and F_out themselves: the graph
adds to the counts what visits from outside and dead ends take from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from temporal_assets.core.graph.link_graph import graph_of
from temporal_assets.core.graph.mutual_scores import Scores, Weights, settle
from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s, Int64s

TOLERANCE: Final = 1e-9
"""Movement of both scores in a round below which they have converged."""

ROUNDS: Final = 10_000
"""Most rounds: parts of a site that few transits connect converge slowly; a round costs
microseconds."""


@dataclass(frozen=True, slots=True)
class BehaviourGraph:
    """Graph with patterns as nodes and transits as weights, of one or several unconnected sites."""

    volume: Int64s
    """Number of distinct URLs of each pattern, ||P||."""
    visits: Floats
    """F_in, from anywhere."""
    referrals: Floats
    """F_out, to anywhere."""
    transits: sparse.csr_array
    """Shape (patterns, patterns): F_trans(i, j)."""


@dataclass(frozen=True, slots=True)
class Convergence:
    """Rounds and last movement of the scores, one entry per site."""

    rounds: Int64s
    movement: Floats
    """Euclidean movement in the last round, of the score that moved more."""
    converged: Flags


@dataclass(frozen=True, slots=True)
class PatternRanks:
    """Scores and ranks, one per pattern; rank 1 is the best of its site.

    Equal scores are ranked by visits (fetching) or referrals (discovery), then by number.
    """

    authority: Floats
    hub: Floats
    fetch_score: Floats
    """(auth + hub) / 2."""
    by_volume: Int64s
    by_overall_visit: Int64s
    by_average_visit: Int64s
    by_fetch: Int64s
    by_overall_referral: Int64s
    by_average_referral: Int64s
    by_discovery: Int64s
    convergence: Convergence
    has_transits: Flags
    """Flags of sites: False if no transit within the site is known, for example because no
    referrers are logged. Authority and hub are then those of eq 9: shares of visits and
    referrals."""
    components: Int64s
    """Number of connected components of each site's graph, without patterns that have no transit.
    With more than one, the graph says little about how patterns of different components compare."""
    is_isolated: Flags
    """Patterns without any transit within the site; their authority and hub are 0."""


def count_transits(
    pattern_of_url: Int32s, patterns: int, referrer: Int64s, target: Int64s, count: Floats
) -> sparse.csr_array:
    """Return F_trans between patterns; URLs of no pattern (-1) are left out.

    `referrer` and `target` are numbers of URLs, -1 for URLs outside the site; `count` are their
    transits.
    """
    within = np.flatnonzero((referrer >= 0) & (target >= 0))
    source, goal = (pattern_of_url[ends[within]] for ends in (referrer, target))
    of_patterns = (source >= 0) & (goal >= 0)
    links = (count[within][of_patterns], (source[of_patterns], goal[of_patterns]))
    return sparse.coo_array(links, shape=(patterns, patterns)).tocsr()


def merge_transits(transits: sparse.csr_array, group: Int32s, groups: int) -> sparse.csr_array:
    """Return F_trans after patterns were merged: pattern i became part of `group[i]`."""
    rows = np.repeat(group, np.diff(transits.indptr))
    merged = (transits.data, (rows, group[transits.indices]))
    return sparse.coo_array(merged, shape=(groups, groups)).tocsr()


def rank_patterns(
    graph: BehaviourGraph,
    first: Int64s | None = None,
    tolerance: float = TOLERANCE,
    rounds: int = ROUNDS,
) -> PatternRanks:
    """Return all ranks of BB 4.1 and 4.2.

    `first` has the number of each site's first pattern, and at its end the number of all patterns;
    by default all patterns are of one site. Sites share a call because a call costs more than a
    small site.
    """
    bounds = np.array([0, len(graph.volume)]) if first is None else first
    count = len(bounds) - 1
    site = np.repeat(np.arange(count), np.diff(bounds))
    volume = np.maximum(graph.volume, 1)
    pieces = _pieces(graph.transits, site, count)
    scores = Scores(_share(graph.visits, site, count), _share(graph.referrals, site, count))
    settled = settle(
        graph_of(graph.transits),
        Weights(graph.transits.data, _inverse(graph.referrals), _inverse(graph.visits)),
        bounds,
        pieces.of_ends,
        scores,
        tolerance,
        rounds,
    )
    fetch = 0.5 * (scores.authority + scores.hub)
    visits, referrals = graph.visits, graph.referrals
    return PatternRanks(
        *scores,
        fetch,
        _ranks(graph.volume, visits, site, bounds),
        _ranks(visits, visits, site, bounds),
        _ranks(visits / volume, visits, site, bounds),
        _ranks(fetch, visits, site, bounds),
        _ranks(referrals, referrals, site, bounds),
        _ranks(referrals / volume, referrals, site, bounds),
        _ranks(scores.hub, referrals, site, bounds),
        Convergence(*settled, settled.movement < tolerance),
        pieces.of_graph > 0,
        pieces.of_graph,
        ~pieces.is_touched,
    )


class _Pieces(NamedTuple):
    """Connected components: two counts per site, one flag per pattern."""

    of_graph: Int64s
    of_ends: Int64s
    is_touched: Flags
    """Patterns with a transit from or to them."""


def _pieces(transits: sparse.csr_array, site: Int64s, sites: int) -> _Pieces:
    """Count connected components, leaving out patterns without transits.

    Scores go from a pattern that gives to one that gets, never between both ends of one pattern, so
    the scores can have more components than the graph.
    """
    patterns = len(site)
    links = transits.tocoo()
    source, goal = (ends[links.data > 0].astype(np.int64) for ends in links.coords)
    is_touched = np.zeros(patterns, np.bool_)
    is_touched[source] = is_touched[goal] = True

    def pieces(ends: Int64s, nodes: int) -> Int64s:
        ones = np.ones(len(source))
        graph = sparse.coo_array((ones, (source, ends)), shape=(nodes, nodes))
        _, piece = connected_components(graph, directed=False)
        _, first = np.unique(piece[source], return_index=True)
        return np.bincount(site[source[first]], minlength=sites)

    return _Pieces(pieces(goal, patterns), pieces(patterns + goal, 2 * patterns), is_touched)


def _share(counts: Floats, site: Int64s, sites: int) -> Floats:
    """Return each count as a share of its site's total (eq 9)."""
    total = np.bincount(site, counts, sites)
    return counts / np.where(total > 0, total, 1.0)[site]


def _inverse(counts: Floats) -> Floats:
    inverse = np.zeros(len(counts))
    np.divide(1.0, counts, out=inverse, where=counts > 0)
    return inverse


def _ranks(score: Floats | Int64s, support: Floats, site: Int64s, first: Int64s) -> Int64s:
    """Return the rank of each score within its site, 1 for the highest."""
    # Scores equal but for rounding rank by support.
    rounded = np.round(np.asarray(score, np.float64), 12)
    order = np.lexsort((-support, -rounded, site))  # stable: then by number
    ranks = np.empty(len(score), np.int64)
    ranks[order] = np.arange(1, len(score) + 1) - first[site]
    return ranks
