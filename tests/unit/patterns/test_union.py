"""Merged patterns list what they stand for, and hold that alone."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets.core.patterns.pattern_match import NOWHERE, compile_matcher
from temporal_assets.core.patterns.pattern_text import pattern_text, pattern_texts
from temporal_assets.core.patterns.pattern_tree import MOST_PARTS, PatternTree
from temporal_assets.core.patterns.pattern_union import joined
from temporal_assets.core.patterns.syntax.tree_builder import TreeOptions, pattern_tree
from temporal_assets.core.text.texts import texts

HOST = "https://h.example"


@pytest.mark.parametrize(
    ("alternatives", "text"),
    [
        (["/china /{date} .shtml", "/finance /stock /{date} .shtml"],
         "/{china|finance/stock}/{date}.shtml"),
        (["/a /{slug}", "/a /{slug} .html"], "/a/{slug}{|.html}"),
        (["/a /{slug} .php", "/a /{slug} .html"], "/a/{slug}.{php|html}"),
        (["/a ?id={digits}", "/a ?no={digits}"], "/a?{id={digits}|no={digits}}"),
        (["/a /x /{slug}", "/b /x /{slug}", "/c /{word}"], "/{{a|b}/x/{slug}|c/{word}}"),
        (["/a", "/a"], "/a"),
        (["/a"], "/a"),
    ],
)  # fmt: skip
def test_joined(alternatives: list[str], text: str) -> None:
    assert joined([alternative.split() for alternative in alternatives], "{", "}", "/.?") == text


letters = st.lists(st.sampled_from(["/a", "/b", "/cd", ".x"]), max_size=4)


@given(st.lists(letters, min_size=1, max_size=6))
def test_joined_expressions_mean_their_alternatives(alternatives: list[list[str]]) -> None:
    expression = joined(
        [[re.escape(piece) for piece in alternative] for alternative in alternatives],
        "(?:",
        ")",
        "/",
    )
    meant = {"".join(alternative) for alternative in alternatives}
    others = {text + more for text in meant for more in ("/a", "/b", ".x", "")} | {"", "/a/b"}
    assert {text for text in others | meant if re.fullmatch(expression, text)} == meant


def sections(count: int) -> PatternTree:
    """Sections, of which the last two are a segment deeper."""
    names = [f"s{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(count)]
    names[-2:] = [f"deep/{name}" for name in names[-2:]]
    urls = [
        f"{HOST}/{name}/202503{1 + i % 28:02}/{1000 + i}.shtml" for name in names for i in range(30)
    ]
    return pattern_tree(texts(urls))


def merged(tree: PatternTree, node: int = 0) -> PatternTree:
    flags = np.zeros(len(tree), np.bool_)
    flags[node] = True
    return tree.cut(flags)


def test_a_merged_pattern_names_its_sections() -> None:
    cut = merged(sections(3))
    text = pattern_text(cut, 0)
    assert text.template() == "/{deep/{sab|sac}|saa}/{date}/{digits}.shtml"
    assert text.key_values()["path[0]"] == "{deep|saa}"
    assert text.key_values()["extension"] == "shtml"
    leaves = compile_matcher(cut).match_leaves(
        texts(
            [
                f"{HOST}/saa/20250401/7.shtml",
                f"{HOST}/deep/sac/20250401/7.shtml",
                f"{HOST}/other/20250401/7.shtml",
                f"{HOST}/deep/other/20250401/7.shtml",
                f"{HOST}/saa/20251401/7.shtml",
            ]
        )
    )
    assert leaves.tolist() == [0, 0, NOWHERE, NOWHERE, NOWHERE]


def test_all_nodes_at_once_are_written_alike() -> None:
    tree = sections(4)
    flags = np.zeros(len(tree), np.bool_)
    flags[0] = True
    at_once = pattern_texts(tree, flags)[0]
    alone = pattern_text(merged(tree), 0)
    assert at_once.template() == alone.template()
    assert at_once.expression() == alone.expression()
    assert at_once.key_values() == alone.key_values()


def test_a_list_that_nobody_reads_is_what_its_parts_have_in_common() -> None:
    cut = merged(sections(MOST_PARTS + 1))
    assert cut.parts is None
    assert pattern_text(cut, 0).template() == "/{word}/{date}/{digits}/{**}.shtml"
    later = texts([f"{HOST}/other/20250401/7.shtml"])
    assert compile_matcher(cut).match_leaves(later).tolist() == [0]
    assert len(pattern_text(merged(sections(MOST_PARTS)), 0).template()) < 200


SEGMENTS = st.sampled_from(["a", "b", "news", "2025", "20250322", "7", "x-y", "i.html", ""])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join),
        min_size=4,
        max_size=60,
        unique=True,
    ),
    st.lists(st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join), max_size=30),
    st.lists(st.integers(0, 99), min_size=1, max_size=4),
)
def test_a_cut_holds_what_the_leaves_below_it_held(
    training: list[str], unseen: list[str], choices: list[int]
) -> None:
    """Independent rule: the leaf of a URL in a cut is the one above its leaf before the cut."""
    tree = pattern_tree(texts([f"{HOST}/{path}" for path in training]), TreeOptions(min_urls=3))
    cut, node = tree, np.arange(len(tree))
    for choice in choices:  # one cut after the other, as by visits and then by transits
        flags = cut.hierarchy.is_leaf.copy()
        flags[choice % len(cut)] = True
        node = node[np.flatnonzero(cut.hierarchy.cut(flags))]
        cut = cut.cut(flags)
    urls = texts([f"{HOST}/{path}" for path in (*training, *unseen)])
    before = compile_matcher(tree).match_leaves(urls).tolist()
    leaves = cut.leaves.tolist()
    end = tree.hierarchy.end[node]
    is_many = [tree.hierarchy.is_leaf[node[leaf] : end[leaf]].sum() > MOST_PARTS for leaf in leaves]
    if not any(is_many):
        expected = [
            next((leaf for leaf in leaves if node[leaf] <= one < end[leaf]), NOWHERE)
            for one in before
        ]
        assert compile_matcher(cut).match_leaves(urls).tolist() == expected
    assert compile_matcher(cut).match_leaves(urls)[: len(training)].tolist() == (
        cut.leaf_of_url().tolist()
    )
