"""The behaviour graph and its ranks: by hand, against scipy's SVD, and on broken sites."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, sparse

from temporal_assets.core.numerics.arrays import Floats
from temporal_assets.core.patterns.behaviour_graph import (
    BehaviourGraph,
    Convergence,
    PatternRanks,
    count_transits,
    merge_transits,
    rank_patterns,
)


def graph(
    transits: list[list[float]],
    visits: list[float] | None = None,
    referrals: list[float] | None = None,
    volume: list[int] | None = None,
) -> BehaviourGraph:
    matrix = np.array(transits, float)
    return BehaviourGraph(
        np.array(volume or [1] * len(matrix), np.int64),
        np.array(visits if visits is not None else matrix.sum(axis=0), float),
        np.array(referrals if referrals is not None else matrix.sum(axis=1), float),
        sparse.csr_array(matrix),
    )


def test_counting_transits() -> None:
    pattern_of_url = np.array([0, 0, 1, -1], np.int32)
    referrer = np.array([0, 1, -1, 2, 3, 0])
    target = np.array([2, 2, 2, 0, 2, -1])
    count = np.array([5.0, 7.0, 100.0, 2.0, 50.0, 9.0])
    counts = count_transits(pattern_of_url, 2, referrer, target, count)
    assert counts.toarray().tolist() == [[0.0, 12.0], [2.0, 0.0]]


def test_merging_patterns_adds_their_transits() -> None:
    transits = sparse.csr_array(np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]))
    merged = merge_transits(transits, np.array([0, 1, 0], np.int32), 2)
    assert merged.toarray().tolist() == [[1 + 3 + 7 + 9, 2 + 8], [4 + 6, 5]]


def test_simple_ranks() -> None:
    ranks = rank_patterns(
        graph(
            [[0, 1, 0], [0, 0, 1], [1, 0, 0]],
            visits=[100.0, 90.0, 40.0],
            referrals=[10.0, 80.0, 50.0],
            volume=[50, 10, 2],
        )
    )
    assert ranks.by_volume.tolist() == [1, 2, 3]
    assert ranks.by_overall_visit.tolist() == [1, 2, 3]
    assert ranks.by_average_visit.tolist() == [3, 2, 1]  # 2, 9, 20
    assert ranks.by_overall_referral.tolist() == [3, 1, 2]
    assert ranks.by_average_referral.tolist() == [3, 2, 1]  # 0.2, 8, 25


def test_scores_by_hand() -> None:
    """A hub (0) sends to two articles (1, 2), which are also reached from outside.

    p_out(0 -> 1) = 0.75, p_out(0 -> 2) = 0.25; p_in(0 -> 1) = 30/40, p_in(0 -> 2) = 10/20.
    Authority is then (0, .75, .25) of unit length; hub is (1, 0, 0).
    """
    ranks = rank_patterns(
        graph(
            [[0, 30, 10], [0, 0, 0], [0, 0, 0]], visits=[50.0, 40.0, 20.0], referrals=[40.0, 0, 0]
        )
    )
    assert ranks.authority == pytest.approx([0, 3 / np.sqrt(10), 1 / np.sqrt(10)])
    assert ranks.hub == pytest.approx([1, 0, 0])
    assert ranks.fetch_score == pytest.approx([0.5, 1.5 / np.sqrt(10), 0.5 / np.sqrt(10)])
    assert ranks.by_fetch.tolist() == [1, 2, 3]
    # Hubs of equal score rank by referrals, then by number.
    assert ranks.by_discovery.tolist() == [1, 2, 3]
    assert ranks.convergence.converged
    assert (ranks.components, ranks.is_isolated.any()) == (1, False)


def test_a_closed_site_gives_back_its_counts() -> None:
    """Authority is F_in and hub is F_out, to scale, where every visit comes from within."""
    matrix = np.array([[0, 9.0, 4], [3, 0, 5], [8, 1, 2]])
    ranks = rank_patterns(graph(matrix.tolist()))
    visits, referrals = matrix.sum(axis=0), matrix.sum(axis=1)
    assert ranks.authority == pytest.approx(visits / np.linalg.norm(visits))
    assert ranks.hub == pytest.approx(referrals / np.linalg.norm(referrals))


sizes = st.integers(2, 8)


@st.composite
def random_graphs(draw: st.DrawFn) -> tuple[BehaviourGraph, Floats, Floats, Floats]:
    size = draw(sizes)
    cells = draw(st.lists(st.integers(1, 30), min_size=size * size, max_size=size * size))
    outside = draw(st.lists(st.integers(0, 40), min_size=2 * size, max_size=2 * size))
    matrix = np.array(cells, float).reshape(size, size)
    visits = matrix.sum(axis=0) + outside[:size]
    referrals = matrix.sum(axis=1) + outside[size:]
    actual = graph(matrix.tolist(), visits.tolist(), referrals.tolist())
    return actual, matrix, visits, referrals


@given(random_graphs())
def test_scores_are_scipys_singular_vectors(
    case: tuple[BehaviourGraph, Floats, Floats, Floats],
) -> None:
    """auth = A hub, hub = B auth with A = (D_out^-1 T)', B = T D_in^-1.

    With S = D_out^-1/2 T D_in^-1/2: authority is D_in^1/2 v and hub D_out^1/2 u for the first
    singular vectors u, v of S.
    """
    actual, matrix, visits, referrals = case
    u, _, v = linalg.svd(matrix / np.sqrt(np.outer(referrals, visits)))
    authority = np.abs(v[0]) * np.sqrt(visits)
    hub = np.abs(u[:, 0]) * np.sqrt(referrals)
    ranks = rank_patterns(actual)
    assert ranks.convergence.converged
    assert ranks.authority == pytest.approx(authority / np.linalg.norm(authority), abs=1e-6)
    assert ranks.hub == pytest.approx(hub / np.linalg.norm(hub), abs=1e-6)


def by_rounds(found: BehaviourGraph) -> tuple[Floats, Floats]:
    """Eq 10 as it stands, from eq 9 on, until rounding stops it."""
    matrix = found.transits.toarray()
    out, into = matrix / found.referrals[:, None], matrix / found.visits
    authority, hub = found.visits / found.visits.sum(), found.referrals / found.referrals.sum()
    for _ in range(20_000):
        authority, hub = out.T @ hub, into @ authority
        authority, hub = authority / np.linalg.norm(authority), hub / np.linalg.norm(hub)
    return authority, hub


def chain(length: int) -> BehaviourGraph:
    """Sections that each lead to the next and back, with a way out of some."""
    matrix = 9.0 * (np.eye(length) + np.eye(length, k=1) + np.eye(length, k=-1))
    outside = np.where(np.arange(length) % 7, 0.0, 2.0)
    visits, referrals = matrix.sum(axis=0) + outside, matrix.sum(axis=1) + outside
    return graph(matrix.tolist(), visits.tolist(), referrals.tolist())


def test_a_site_in_one_piece_is_found_in_fewer_rounds_and_no_other() -> None:
    actual = chain(30)
    ranks = rank_patterns(actual)
    assert ranks.convergence.converged
    assert ranks.convergence.rounds < 60
    authority, hub = by_rounds(actual)
    assert ranks.authority == pytest.approx(authority, abs=1e-8)
    assert ranks.hub == pytest.approx(hub, abs=1e-8)


def test_a_space_that_is_full_is_begun_anew() -> None:
    """A long chain has many vectors that hardly differ in strength."""
    ranks = rank_patterns(chain(400))
    assert ranks.convergence.converged
    assert ranks.convergence.rounds > 2 * 24
    again = rank_patterns(chain(400), tolerance=1e-12)
    assert again.hub == pytest.approx(ranks.hub, abs=1e-4)


def test_rounds_that_are_too_few_are_said() -> None:
    ranks = rank_patterns(chain(400), rounds=10)
    assert not ranks.convergence.converged
    assert ranks.convergence.rounds == 10
    assert ranks.convergence.movement > 1e-9
    assert np.isfinite(ranks.hub).all()


def test_transits_that_no_referral_stands_behind_do_no_harm() -> None:
    """Counts that contradict each other, which tables from elsewhere may have."""
    for visits, referrals in ([1.0, 1.0], [0.0, 0.0]), ([0.0, 0.0], [1.0, 1.0]):
        ranks = rank_patterns(graph([[1, 2], [3, 1]], visits, referrals))
        assert np.isfinite(ranks.authority).all()
        assert np.isfinite(ranks.hub).all()


def test_a_site_without_referrers_is_flagged_and_ranked_by_counts() -> None:
    ranks = rank_patterns(graph([[0, 0], [0, 0]], visits=[30.0, 70.0], referrals=[0.0, 0.0]))
    assert not ranks.has_transits
    assert ranks.components == 0
    assert ranks.authority.tolist() == [0.3, 0.7]
    assert ranks.hub.tolist() == [0.0, 0.0]
    assert ranks.by_fetch.tolist() == [2, 1]
    assert ranks.convergence.converged
    assert ranks.convergence.rounds == 0


def test_disconnected_parts_are_counted_and_isolated_patterns_named() -> None:
    ranks = rank_patterns(
        graph(
            [[0, 5, 0, 0, 0], [5, 0, 0, 0, 0], [0, 0, 0, 3, 0], [0, 0, 3, 0, 0], [0, 0, 0, 0, 0]],
            visits=[5, 5, 3, 3, 99],
        )
    )
    assert ranks.components == 2
    assert ranks.is_isolated.tolist() == [False, False, False, False, True]
    assert ranks.authority[4] == 0
    assert np.isfinite(ranks.authority).all()


def test_what_does_not_converge_says_so() -> None:
    """Two parts of equal strength: eq 10 takes both scores of the round before, and they swap.

    A = diag(1/8, 1/2), B = diag(1/2, 1/8): authority goes from (1, 1) to (1, 4) and back.
    """
    ranks = rank_patterns(graph([[1, 0], [0, 1]], visits=[2, 8], referrals=[8, 2]), rounds=100)
    assert not ranks.convergence.converged
    assert ranks.convergence.rounds == 100
    expected = np.array([1, 4]) / np.sqrt(17)
    assert ranks.authority == pytest.approx(expected)
    assert ranks.convergence.movement == pytest.approx(
        np.linalg.norm(expected - np.sqrt([0.5, 0.5]))
    )
    assert ranks.components == 2


def test_a_site_of_one_pattern_and_an_empty_graph() -> None:
    ranks = rank_patterns(graph([[4.0]]))
    assert ranks.authority.tolist() == [1.0]
    assert ranks.by_fetch.tolist() == [1]
    assert (ranks.components, ranks.is_isolated.any()) == (1, False)


few = st.integers(0, 3)


@st.composite
def sparse_graphs(draw: st.DrawFn) -> BehaviourGraph:
    """Any site: without transits, with parts that nothing connects, with ties."""
    size = draw(st.integers(1, 5))
    cells = draw(st.lists(few, min_size=size * size, max_size=size * size))
    counts = st.lists(few, min_size=size, max_size=size)
    matrix = np.array(cells, float).reshape(size, size)
    visits = matrix.sum(axis=0) + draw(counts)
    referrals = matrix.sum(axis=1) + draw(counts)
    return graph(matrix.tolist(), visits.tolist(), referrals.tolist(), draw(counts))


@given(st.lists(sparse_graphs(), min_size=1, max_size=5))
def test_sites_that_are_ranked_together_are_ranked_as_each_by_itself(
    sites: list[BehaviourGraph],
) -> None:
    first = np.concatenate(([0], np.cumsum([len(site.volume) for site in sites])))
    together = rank_patterns(
        BehaviourGraph(
            np.concatenate([site.volume for site in sites]),
            np.concatenate([site.visits for site in sites]),
            np.concatenate([site.referrals for site in sites]),
            sparse.block_diag([site.transits for site in sites], format="csr"),
        ),
        first,
    )
    alone = [rank_patterns(site) for site in sites]
    for name in PatternRanks.__slots__:
        if name != "convergence":
            apart = np.concatenate([getattr(ranks, name) for ranks in alone])
            assert getattr(together, name).tolist() == apart.tolist(), name
    for name in Convergence.__slots__:
        apart = np.concatenate([getattr(ranks.convergence, name) for ranks in alone])
        assert getattr(together.convergence, name).tolist() == apart.tolist(), name


@given(st.integers(1, 6), st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_transits_are_counted_as_one_by_one(patterns: int, links: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    pattern_of_url = random.integers(-1, patterns, 9).astype(np.int32)
    referrer, target = random.integers(-1, 9, links), random.integers(-1, 9, links)
    count = random.integers(1, 5, links).astype(np.float64)
    expected = np.zeros((patterns, patterns))
    for source, goal, times in zip(referrer, target, count, strict=True):
        if min(source, goal) >= 0 and min(pattern_of_url[source], pattern_of_url[goal]) >= 0:
            expected[pattern_of_url[source], pattern_of_url[goal]] += times
    counts = count_transits(pattern_of_url, patterns, referrer, target, count)
    assert counts.toarray().tolist() == expected.tolist()
    assert counts.nnz == np.count_nonzero(expected)
    assert counts.has_canonical_format
