"""The transit cut: Figures 4 and 5 by hand, and the paper's matrices computed anew every step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from temporal_assets.core.numerics.arrays import Floats
from temporal_assets.core.numerics.hierarchy import Hierarchy, hierarchy
from temporal_assets.core.patterns.transit_cut import transit_cut


def between(tree: Hierarchy, edges: dict[tuple[int, int], float]) -> sparse.csr_array:
    """Transits between leaves, given by node."""
    number = {node: i for i, node in enumerate(np.flatnonzero(tree.is_leaf).tolist())}
    matrix = np.zeros((len(number), len(number)))
    for (a, b), count in edges.items():
        matrix[number[a], number[b]] += count
    return sparse.csr_array(matrix)


def patterns(tree: Hierarchy, edges: dict[tuple[int, int], float], threshold: float) -> list[int]:
    return np.flatnonzero(transit_cut(tree, between(tree, edges), threshold).is_pattern).tolist()


def test_figure_4_identical_links_merge() -> None:
    """Children of 1 share their in-links and out-links, children of 4 do not."""
    tree = hierarchy([-1, 0, 1, 1, 0, 4, 4, 0])
    edges = {(7, 2): 50.0, (7, 3): 5.0, (2, 7): 20.0, (3, 7): 2.0, (7, 5): 9.0, (6, 7): 9.0}
    assert patterns(tree, edges, 0.9) == [1, 5, 6, 7]
    merged = transit_cut(tree, between(tree, edges), 0.9)
    by_node = {d.node: d for d in merged.decisions}
    assert by_node[1].merged
    assert by_node[1].similarity == pytest.approx(1.0)
    # 5 has in-links only, 6 out-links only.
    assert not by_node[4].merged
    assert by_node[4].similarity == 0.0
    assert by_node[4].pair == (5, 6)


# Figure 5: 6 and 7 are siblings under 5; 10 and 11, children of 9, refer to them; they refer to
# 3 and 4, children of 2. H = 3.
FIGURE_5 = [-1, 0, 1, 2, 2, 1, 5, 5, 0, 8, 9, 9]
IN_6, IN_7, OUT_6, OUT_7 = (10, 6), (11, 7), (6, 3), (7, 4)
EDGES_5 = {IN_6: 10.0, IN_7: 10.0, OUT_6: 10.0, OUT_7: 10.0}


def test_figure_5_siblings_as_partners_count_by_their_parents() -> None:
    tree = hierarchy(FIGURE_5)
    assert [tree.depth[n] for n in (2, 5, 9)] == [2, 2, 2]
    decisions = transit_cut(tree, between(tree, EDGES_5), 0.99).decisions
    by_node = {d.node: d for d in decisions}
    # No partner in common; on the way up 2/3, then 2/3 * 1/3: S/(1+S), S = 4/9 + 4/81.
    shared = 4 / 9 + 4 / 81
    assert by_node[5].similarity == pytest.approx(shared / (1 + shared))
    assert not any(d.merged for d in decisions)


def test_figure_5_merges_travel() -> None:
    """Once 3 and 4 are 2, 6 and 7 have the same out-link; so the threshold may be higher."""
    tree = hierarchy(FIGURE_5)
    # Nodes 2, 5, 9 are equally deep and taken in this order. 3 and 4 have no out-links and
    # in-links from the siblings 6 and 7: (0.331 + 1) / 2. Then 6 and 7: (0.331 + 1) / 2 again.
    merged = transit_cut(tree, between(tree, EDGES_5), 0.6)
    shared = 4 / 9 + 4 / 81
    expected = 0.5 * (shared / (1 + shared) + 1.0)
    by_node = {d.node: d for d in merged.decisions}
    assert by_node[2].similarity == pytest.approx(expected)
    assert by_node[5].similarity == pytest.approx(expected)
    # 10 and 11: no in-links, the same out-link.
    assert by_node[9].similarity == pytest.approx(1.0)
    assert by_node[2].merged
    assert by_node[5].merged
    assert by_node[9].merged


def test_figure_5_the_height_shrinks_with_the_tree() -> None:
    """After all of depth 3 is gone, H is 2: node 2 and 5 are compared in a lower tree."""
    tree = hierarchy(FIGURE_5)
    decisions = transit_cut(tree, between(tree, EDGES_5), 0.6).decisions
    decision = next(d for d in decisions if d.node == 1)
    # 2: in from 5, no out. 5: in from 9, out to 2. Spread: depth 2 to 1 with 1/2.
    # in: 2 has {5: 1, 1: 1/2}, 5 has {9: 1, 8: 1/2}: nothing in common.
    assert decision.similarity == pytest.approx(0.0)
    assert not decision.merged


def test_a_site_without_transits_is_left_as_it_is() -> None:
    tree = hierarchy([-1, 0, 0])
    cut = transit_cut(tree, sparse.csr_array((2, 2)))
    assert not cut.has_transits
    assert np.flatnonzero(cut.is_pattern).tolist() == [1, 2]
    assert cut.decisions == ()


def test_one_pattern_stays_one() -> None:
    cut = transit_cut(hierarchy([-1]), sparse.csr_array(np.array([[3.0]])))
    assert cut.is_pattern.tolist() == [True]


def test_transits_of_another_tree_are_refused() -> None:
    with pytest.raises(ValueError, match="leaves"):
        transit_cut(hierarchy([-1, 0, 0]), sparse.csr_array((3, 3)))


def literal(tree: Hierarchy, counts: Floats, threshold: float) -> list[int]:
    """Algorithm 1 as printed, with p and P of eqs 5 to 7 computed anew in every step."""
    parent, depth = tree.parent.tolist(), tree.depth.tolist()
    alive = set(range(len(parent)))
    leaves = [n for n in alive if not tree.children(n)]
    table = {(a, b): counts[i, j] for i, a in enumerate(leaves) for j, b in enumerate(leaves)}

    def children(node: int) -> list[int]:
        return [n for n in sorted(alive) if parent[n] == node]

    def spread(node: int, inward: bool) -> Floats:
        height = max(depth[n] for n in alive)
        vector = np.zeros(len(parent))
        total = sum(c for (a, b), c in table.items() if (b if inward else a) == node)
        for (a, b), count in table.items():
            if count and (b if inward else a) == node:
                partner = a if inward else b
                at = partner
                while at >= 0:
                    factors = [h / height for h in range(depth[at], depth[partner])]
                    vector[at] += count / total * float(np.prod(factors))
                    at = parent[at]
        return vector

    def cosine(u: Floats, v: Floats) -> float:
        lengths = float(np.linalg.norm(u) * np.linalg.norm(v))
        if lengths == 0:
            return float(not u.any() and not v.any())
        return float(u @ v) / lengths

    queue = [n for n in alive if children(n) and not any(children(c) for c in children(n))]
    while queue:
        queue.sort(key=lambda n: (-depth[n], n))
        node = queue.pop(0)
        members = children(node)
        least = min(
            (
                (
                    cosine(spread(a, True), spread(b, True))
                    + cosine(spread(a, False), spread(b, False))
                )
                / 2
                for i, a in enumerate(members)
                for b in members[:i]
            ),
            default=1.0,
        )
        if least > threshold:
            alive -= set(members)
            merged: dict[tuple[int, int], float] = {}
            for (a, b), count in table.items():
                key = (node if a in members else a, node if b in members else b)
                merged[key] = merged.get(key, 0.0) + count
            table = merged
            above = parent[node]
            if above >= 0 and not any(children(c) for c in children(above)):
                queue.append(above)
    return [n for n in sorted(alive) if not children(n)]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Hierarchy, Floats]:
    parents, path = [-1], [0]
    for node in range(1, draw(st.integers(2, 14))):
        level = draw(st.integers(0, len(path) - 1))
        parents.append(path[level])
        path = [*path[: level + 1], node]
    tree = hierarchy(parents)
    size = int(tree.is_leaf.sum())
    cells = draw(
        st.lists(st.sampled_from([0, 0, 1, 2, 7]), min_size=size * size, max_size=size * size)
    )
    return tree, np.array(cells, float).reshape(size, size)


@given(cases(), st.sampled_from([0.2, 0.45, 0.65, 0.9]))
def test_as_the_algorithm_is_printed(case: tuple[Hierarchy, Floats], threshold: float) -> None:
    tree, counts = case
    actual = transit_cut(tree, sparse.csr_array(counts), threshold)
    if counts.any():
        assert np.flatnonzero(actual.is_pattern).tolist() == literal(tree, counts, threshold)
