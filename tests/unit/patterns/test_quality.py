"""Measures of patterns, by hand and against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from temporal_assets.core.patterns.pattern_quality import (
    TreeSize,
    layout_consistency,
    traffic_divergence,
    tree_size,
)
from temporal_assets.core.patterns.syntax.tree_builder import pattern_tree
from temporal_assets.core.text.page_layout import layout_similarity, tag_paths
from temporal_assets.core.text.texts import texts

TRAINING = [f"https://h.example/news/{i}" for i in range(100, 120)] + [
    f"https://h.example/shop/item-{i}x" for i in range(20)
]


def test_sizes() -> None:
    assert tree_size(pattern_tree(texts(TRAINING))) == TreeSize(2, 1)


def test_divergence_by_hand() -> None:
    # One pattern of two URLs with all visits on one: p = (1, 0), q = (1/2, 1/2).
    # JS = 1/2 * log2(1 / .75) + 1/2 * (1/2 log2(.5/.75) + 1/2 log2(.5/.25)).
    expected = 0.5 * math.log2(4 / 3) + 0.25 * (math.log2(2 / 3) + 1)
    assert traffic_divergence(np.array([0, 0]), np.array([4.0, 0.0])) == pytest.approx(expected)
    assert traffic_divergence(np.array([0, 1]), np.array([4.0, 0.0])) == 0.0
    assert traffic_divergence(np.array([0, 0]), np.array([0.0, 0.0])) == 0.0


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 50)), min_size=1, max_size=40))
def test_divergence_is_scipys(rows: list[tuple[int, int]]) -> None:
    pattern = np.array([p for p, _ in rows], np.int32)
    visits = np.array([float(v) for _, v in rows])
    ours = traffic_divergence(pattern, visits)
    assert 0 <= ours <= 1 + 1e-12
    if visits.sum() > 0:
        smooth = np.array([visits[pattern == p].mean() for p in pattern])
        assert ours == pytest.approx(jensenshannon(visits, smooth, base=2) ** 2, abs=1e-9)


ARTICLE = "<html><body><h1>A</h1>" + "<p>x<br>y</p>" * 3 + "</body></html>"
LONGER = "<html><body><h1>B</h1>" + "<p>x<br>y</p>" * 5 + "</body></html>"
TABLE = "<html><body><table><tr><td>1</td></tr></table></body></html>"


def test_tag_paths() -> None:
    assert tag_paths(ARTICLE) == pytest.approx(
        {
            "html": math.log(2), "html/body": math.log(2), "html/body/h1": math.log(2),
            "html/body/p": math.log(4), "html/body/p/br": math.log(4),
        }
    )  # fmt: skip


def test_tag_paths_forgive() -> None:
    assert set(tag_paths("<ul><li>a<li>b</ul></b><p>")) == {"ul", "ul/li", "ul/li/li", "p"}
    assert tag_paths("no tags") == {}
    assert len(tag_paths("<div>" * 500)) == 65


def test_layout_similarity() -> None:
    article, longer, table = tag_paths(ARTICLE), tag_paths(LONGER), tag_paths(TABLE)
    assert layout_similarity(article, article) == pytest.approx(1.0)
    assert layout_similarity(article, longer) > 0.98
    # Common: html and body, log 2 each; lengths: 5 paths each.
    single, many = math.log(2), math.log(4)
    expected = 2 * single**2 / math.sqrt((3 * single**2 + 2 * many**2) * 5 * single**2)
    assert layout_similarity(article, table) == pytest.approx(expected)
    assert layout_similarity(article, {}) == 0.0


def test_pages_of_one_pattern_are_compared_with_random_pairs() -> None:
    article, longer, table = tag_paths(ARTICLE), tag_paths(LONGER), tag_paths(TABLE)
    pages = {(0, 7): [article, longer], (0, 3): [table, table], (0, 5): [], (0, 9): [table]}
    similarity = layout_consistency(pages, 200, seed=1)
    assert similarity.within > 0.98
    assert similarity.random < 0.7
    assert (similarity.pairs_within, similarity.pairs_random) == (200, 200)
    assert similarity == layout_consistency(pages, 200, seed=1)


def test_random_pairs_are_of_one_site() -> None:
    """Two sites with a layout of their own each: across sites nothing would be alike."""
    article, table = tag_paths(ARTICLE), tag_paths(TABLE)
    pages = {(0, 1): [article], (0, 2): [article, article], (1, 1): [table], (1, 2): [table]}
    assert layout_consistency(pages, 100, seed=1).random == pytest.approx(1.0)
    alone = {(0, 1): [article, article], (1, 1): [table]}
    assert layout_consistency(alone, 100, seed=1).pairs_random == 0


def test_too_few_pages_give_no_similarity() -> None:
    similarity = layout_consistency({(0, 1): [tag_paths(TABLE)]}, 10, seed=1)
    assert math.isnan(similarity.within)
    assert math.isnan(similarity.random)
    assert (similarity.pairs_within, similarity.pairs_random) == (0, 0)
