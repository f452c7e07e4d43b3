"""The visit cut: the published example, and every cut of small random trees."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.numerics.arrays import Floats, Int64s
from temporal_assets.core.numerics.hierarchy import Hierarchy, hierarchy
from temporal_assets.core.patterns.visit_cut import data_bits, visit_cut

# Li and Abe 1998, tables 3 and 4: BIRD {swallow, crow, eagle, bird}, INSECT {bug, bee, insect}.
ANIMAL, BIRD, INSECT = 0, 1, 6
PARENTS = [-1, 0, 1, 1, 1, 1, 0, 6, 6, 6]
LEAVES = [1, 1, 1, 1, 1, 1, 1]
VISITS = [0, 2, 2, 4, 0, 2, 0]


def totals(tree: Hierarchy, per_leaf: list[float]) -> Floats:
    leaf = np.zeros(len(tree))
    leaf[tree.is_leaf] = per_leaf
    return np.array([leaf[n : tree.end[n]].sum() for n in range(len(tree))])


def cost(nodes: list[int], urls: Int64s, visits: Floats) -> float:
    """Bits of a cut, written as in the paper."""
    bits = 0.5 * (len(nodes) - 1) * np.log2(visits[0])
    for node in nodes:
        if visits[node] > 0:
            bits -= visits[node] * np.log2(visits[node] / (urls[node] * visits[0]))
    return float(bits)


@pytest.fixture
def animals() -> tuple[Hierarchy, Int64s, Floats]:
    tree = hierarchy(PARENTS)
    return tree, totals(tree, LEAVES).astype(np.int64), totals(tree, VISITS)


@pytest.mark.parametrize(
    ("cut", "published"),
    [
        ([ANIMAL], 28.07),
        ([BIRD, INSECT], 28.05),
        ([BIRD, 7, 8, 9], 28.20),
        ([2, 3, 4, 5, INSECT], 29.03),
        ([2, 3, 4, 5, 7, 8, 9], 29.19),
    ],
)
def test_costs_of_the_published_cuts(
    animals: tuple[Hierarchy, Int64s, Floats], cut: list[int], published: float
) -> None:
    _, urls, visits = animals
    ours = 0.5 * (len(cut) - 1) * np.log2(10) + data_bits(urls, visits)[cut].sum()
    assert ours == pytest.approx(published, abs=0.012)
    assert ours == pytest.approx(cost(cut, urls, visits))


def test_the_published_example(animals: tuple[Hierarchy, Int64s, Floats]) -> None:
    cut = visit_cut(*animals)
    assert np.flatnonzero(cut.is_pattern).tolist() == [BIRD, INSECT]
    assert cut.model_bits == pytest.approx(1.66, abs=0.005)
    assert cut.data_bits == pytest.approx(26.39, abs=0.005)
    assert cut.merged.tolist() == [BIRD, INSECT]
    # INSECT divided costs 28.20 - 28.05 more; BIRD divided 29.03 - 28.05.
    assert cut.saved_bits == pytest.approx([0.98, 0.15], abs=0.015)


@st.composite
def small_trees(draw: st.DrawFn) -> tuple[Hierarchy, Int64s, Floats]:
    """Random preorder trees with up to 9 nodes, random URLs and visits at the leaves."""
    parents, path = [-1], [0]
    for node in range(1, draw(st.integers(1, 9))):
        level = draw(st.integers(0, len(path) - 1))
        parents.append(path[level])
        path = [*path[: level + 1], node]
    tree = hierarchy(parents)
    count = int(tree.is_leaf.sum())
    urls = draw(st.lists(st.integers(1, 50), min_size=count, max_size=count))
    visits = draw(st.lists(st.integers(0, 300), min_size=count, max_size=count))
    return tree, totals(tree, urls).astype(np.int64), totals(tree, visits)


def all_cuts(tree: Hierarchy, node: int = 0) -> list[list[int]]:
    cuts = [[node]]
    if children := tree.children(node):
        parts = itertools.product(*(all_cuts(tree, child) for child in children))
        cuts += [[n for part in choice for n in part] for choice in parts]
    return cuts


@given(small_trees())
def test_no_cut_is_cheaper(case: tuple[Hierarchy, Int64s, Floats]) -> None:
    tree, urls, visits = case
    cut = visit_cut(tree, urls, visits)
    positions = np.flatnonzero(cut.is_pattern).tolist()
    cuts = all_cuts(tree)
    assert positions in [sorted(c) for c in cuts]
    if visits[0] > 0:
        costs = {tuple(sorted(c)): cost(c, urls, visits) for c in cuts}
        assert costs[tuple(positions)] == pytest.approx(min(costs.values()), rel=1e-9, abs=1e-9)
        assert cut.model_bits + cut.data_bits == pytest.approx(costs[tuple(positions)])


def test_a_site_without_visits_is_one_pattern() -> None:
    tree = hierarchy([-1, 0, 0])
    cut = visit_cut(tree, np.array([2, 1, 1]), np.zeros(3))
    assert np.flatnonzero(cut.is_pattern).tolist() == [0]


def test_siblings_visited_alike_merge_and_others_do_not() -> None:
    """Figure 4 (b): the nodes with similar traffic merge into their parent."""
    tree = hierarchy([-1, 0, 1, 1, 0, 4, 4])
    urls = np.array([400, 200, 100, 100, 200, 100, 100])
    visits = np.array([2220.0, 1200.0, 610.0, 590.0, 1020.0, 1000.0, 20.0])
    cut = visit_cut(tree, urls, visits)
    assert np.flatnonzero(cut.is_pattern).tolist() == [1, 5, 6]
    assert cut.merged.tolist() == [1]
