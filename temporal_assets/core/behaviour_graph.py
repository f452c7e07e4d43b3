"""The behaviour graph of a site, and the ranks of its patterns.

Here: transits between patterns (BB Table 1) and everything of BB 4.1 and 4.2. Not here: which
patterns there are (`pattern_tree`, `visit_cut`, `transit_cut`).

Authority and hub are what two matrices leave unchanged but for length:

    auth(i) = sum over j of p_out(j -> i) * hub(j)      p_out(j -> i) = transits(j, i) / F_out(j)
    hub(i)  = sum over j of p_in(i -> j) * auth(j)      p_in(i -> j)  = transits(i, j) / F_in(j)

both from the values of the round before (eq 10), from eq 9 on. Where every visit comes from within
the site and the site is connected, the limit is F_in and F_out themselves: the graph adds to the
counts what visits from outside and dead ends take from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numba import njit
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from temporal_assets.core.texts import Flags, Floats, Int32s, Int64s

TOLERANCE: Final = 1e-9
"""Both scores move less than this in a round (design: ranks)."""

ROUNDS: Final = 10_000
"""Parts of a site that few transits connect converge slowly; a round costs microseconds."""


@dataclass(frozen=True, slots=True)
class BehaviourGraph:
    """Patterns as nodes, transits as weights."""

    volume: Int64s
    """||P||: distinct URLs."""
    visits: Floats
    """F_in, from anywhere."""
    referrals: Floats
    """F_out, to anywhere."""
    transits: sparse.csr_array
    """Shape (patterns, patterns): F_trans(i, j)."""


@dataclass(frozen=True, slots=True)
class Convergence:
    """How the scores came about."""

    rounds: int
    movement: float
    """Euclidean movement in the last round, of the score that moved more."""
    converged: bool


@dataclass(frozen=True, slots=True)
class PatternRanks:
    """Scores and ranks, one a pattern; rank 1 is the best.

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
    has_transits: bool
    """False: no transit within the site is known (no referrers are logged, say). Authority and
    hub are then those of eq 9, shares of visits and referrals, and say no more than these."""
    components: int
    """Parts of the graph that no transit connects, patterns without any transit left aside. With
    more than one, the graph says little about how patterns of different parts compare."""
    is_isolated: Flags
    """Patterns without any transit within the site; their authority and hub are 0."""


def count_transits(
    pattern_of_url: Int32s, patterns: int, referrer: Int64s, target: Int64s, count: Floats
) -> sparse.csr_array:
    """F_trans between patterns from transits between URLs; URLs of no pattern (-1) are left out.

    `referrer` and `target` are numbers of URLs, -1 for URLs outside the site.
    """
    inside = (referrer >= 0) & (target >= 0)
    source = pattern_of_url[referrer[inside]]
    goal = pattern_of_url[target[inside]]
    known = (source >= 0) & (goal >= 0)
    matrix = sparse.coo_array(
        (count[inside][known].astype(np.float64), (source[known], goal[known])),
        shape=(patterns, patterns),
    )
    return matrix.tocsr()


def merge_transits(transits: sparse.csr_array, group: Int32s, groups: int) -> sparse.csr_array:
    """F_trans after patterns were merged: pattern i became part of `group[i]`."""
    rows = np.repeat(group, np.diff(transits.indptr))
    merged = (transits.data, (rows, group[transits.indices]))
    return sparse.coo_array(merged, shape=(groups, groups)).tocsr()


def rank_patterns(
    graph: BehaviourGraph, tolerance: float = TOLERANCE, rounds: int = ROUNDS
) -> PatternRanks:
    """All ranks of BB 4.1 and 4.2."""
    volume = np.maximum(graph.volume, 1)
    authority, hub = _share(graph.visits), _share(graph.referrals)
    has_transits = bool(graph.transits.data.sum() > 0)
    convergence = Convergence(0, 0.0, True)
    if has_transits:
        authority, hub, convergence = _iterate(graph, authority, hub, tolerance, rounds)
    touched = _touched(graph.transits)
    fetch = 0.5 * (authority + hub)
    visits, referrals = graph.visits, graph.referrals
    return PatternRanks(
        authority,
        hub,
        fetch,
        _ranks(graph.volume, visits),
        _ranks(visits, visits),
        _ranks(visits / volume, visits),
        _ranks(fetch, visits),
        _ranks(referrals, referrals),
        _ranks(referrals / volume, referrals),
        _ranks(hub, referrals),
        convergence,
        has_transits,
        _components(graph.transits, touched),
        ~touched,
    )


def _iterate(
    graph: BehaviourGraph, authority: Floats, hub: Floats, tolerance: float, rounds: int
) -> tuple[Floats, Floats, Convergence]:
    of = graph.transits
    rows = np.repeat(np.arange(of.shape[0]), np.diff(of.indptr))
    out_share = of.data * _inverse(graph.referrals)[rows]
    in_share = of.data * _inverse(graph.visits)[of.indices]
    pointers, partners = of.indptr.astype(np.int64), of.indices.astype(np.int32)
    authority, hub, done, movement = _power(
        pointers, partners, out_share, in_share, _unit(authority), _unit(hub), tolerance, rounds
    )
    return authority, hub, Convergence(int(done), float(movement), bool(movement < tolerance))


@njit(nogil=True, cache=True)
def _power(
    pointers: Int64s,
    partners: Int32s,
    out_share: Floats,
    in_share: Floats,
    authority: Floats,
    hub: Floats,
    tolerance: float,
    rounds: int,
) -> tuple[Floats, Floats, int, float]:
    """Eq 10 until nothing moves: both scores, rounds, and the movement of the last."""
    movement = np.inf
    done = 0
    while done < rounds and movement >= tolerance:
        next_authority, next_hub = np.zeros_like(authority), np.zeros_like(hub)
        for i in range(len(hub)):
            for entry in range(pointers[i], pointers[i + 1]):
                j = partners[entry]
                next_authority[j] += out_share[entry] * hub[i]
                next_hub[i] += in_share[entry] * authority[j]
        next_authority, next_hub = _unit(next_authority), _unit(next_hub)
        movement = max(_length(next_authority - authority), _length(next_hub - hub))
        authority, hub = next_authority, next_hub
        done += 1
    return authority, hub, done, movement


def _share(counts: Floats) -> Floats:
    """Eq 9."""
    total = counts.sum()
    return counts / total if total > 0 else np.zeros(len(counts))


@njit(nogil=True, cache=True)
def _length(vector: Floats) -> float:
    return float(np.sqrt((vector * vector).sum()))


@njit(nogil=True, cache=True)
def _unit(vector: Floats) -> Floats:
    length = _length(vector)
    return vector / length if length > 0 else vector


def _inverse(counts: Floats) -> Floats:
    inverse = np.zeros(len(counts))
    np.divide(1.0, counts, out=inverse, where=counts > 0)
    return inverse


def _touched(transits: sparse.csr_array) -> Flags:
    """Patterns with a transit from or to them."""
    count = transits.shape[0]
    source = np.repeat(np.arange(count), np.diff(transits.indptr))
    ends = np.concatenate((source, transits.indices))
    found: Flags = np.bincount(ends, np.tile(transits.data, 2), count) > 0
    return found


def _components(transits: sparse.csr_array, touched: Flags) -> int:
    count, label = connected_components(transits, directed=False)
    return len(np.unique(label[touched])) if count else 0


def _ranks(score: Floats | Int64s, support: Floats) -> Int64s:
    """1 for the highest score."""
    # Scores equal but for rounding rank by support.
    rounded = np.round(np.asarray(score, np.float64), 12)
    order = np.lexsort((np.arange(len(score)), -support, -rounded))
    ranks = np.empty(len(score), np.int64)
    ranks[order] = np.arange(1, len(score) + 1)
    return ranks
