"""Pieces of a graph and of its ends, against scipy's."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from temporal_assets.core.graph.graph_pieces import count_pieces

cells = st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0]), min_size=64, max_size=64)


def pieces(matrix: sparse.csr_array, *first: int) -> tuple[list[int], list[int], list[bool]]:
    """Of the graph and of the ends of each site, and which ends have a link."""
    patterns, sites = matrix.shape[0], len(first)
    of_graph, of_ends = np.zeros(sites, np.int64), np.zeros(sites, np.int64)
    has = np.zeros(2 * patterns, np.bool_)
    count_pieces(
        np.array([*first, patterns]),
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data,
        np.empty(2 * patterns, np.int32),
        has,
        of_graph,
        of_ends,
    )
    return of_graph.tolist(), of_ends.tolist(), has.tolist()


def of_scipy(links: np.ndarray) -> int:
    """Pieces that have a link."""
    touched = links.any(axis=0) | links.any(axis=1)
    _, label = connected_components(sparse.csr_array(links), directed=False)
    return len(set(label[touched].tolist()))


@given(cells, st.integers(1, 8))
def test_pieces_are_scipys(links: list[float], size: int) -> None:
    matrix = np.array(links).reshape(8, 8)[:size, :size]
    ends = np.block([[np.zeros((size, size)), matrix], [np.zeros((size, 2 * size))]])
    of_graph, of_ends, has = pieces(sparse.csr_array(matrix), 0)
    assert of_graph == [of_scipy(matrix)]
    assert of_ends == [of_scipy(ends)]
    assert has == [*matrix.any(axis=1).tolist(), *matrix.any(axis=0).tolist()]


def test_sites_among_others_and_links_that_weigh_nothing() -> None:
    matrix = sparse.block_diag([np.ones((3, 3)), [[0.0, 1.0], [0.0, 0.0]]], format="csr")
    assert pieces(matrix, 0, 3) == ([1, 1], [1, 1], [*[True] * 4, False, *[True] * 3, False, True])
    matrix.data[:] = 0.0
    assert pieces(matrix, 0, 3) == ([0, 0], [0, 0], [False] * 10)


def test_there_and_back_is_one_piece_of_the_graph_and_two_of_its_ends() -> None:
    matrix = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert pieces(matrix, 0)[:2] == ([1], [2])
