"""The matcher against the tree it was made from and against the rendered expressions."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from temporal_assets.core.patterns.pattern_match import NOWHERE, compile_matcher
from temporal_assets.core.patterns.pattern_text import pattern_text
from temporal_assets.core.patterns.pattern_tree import PatternTree
from temporal_assets.core.patterns.syntax.tree_builder import TreeOptions, pattern_tree
from temporal_assets.core.text.texts import texts

SEGMENTS = (
    "a", "b", "c", "news", "", "2023", "2024", "07", "31", "may", "12345", "x-y-z", "v1.10", ".x",
    "a.b", "b.html", "story-97058163", "9f86d081", "2024-01-31", "%E4", "a+b", "x(1)", "a.",
)  # fmt: skip
VALUES = ("", "1", "2", "77", "a", "a=b", "2024", "x.y", "/q?")

hosts = st.sampled_from(
    ["https://h.example"] * 6
    + ["https://www.h.example", "http://h.example", "https://h.example:81"]
)
extensions = st.sampled_from(["", "", ".html", ".php", ".h5", ".7z", ".toolong"])
named = st.tuples(st.sampled_from(["id", "p", "", "q.x"]), st.sampled_from(VALUES)).map("=".join)
fields = st.lists(st.one_of(named, st.sampled_from(["print", "42", ""])), max_size=3).map(
    # More than two are found in the order of canonical URLs alone.
    lambda found: (
        sorted(found, key=lambda field: field.partition("=")[0]) if len(found) > 2 else found
    )
)


@st.composite
def urls(draw: st.DrawFn) -> str:
    path = draw(st.lists(st.sampled_from(SEGMENTS), min_size=1, max_size=5))
    query = draw(fields)
    return (
        draw(hosts)
        + "/"
        + "/".join(path)
        + draw(extensions)
        + ("?" + "&".join(query) if query else "")
    )


def expressions(tree: PatternTree) -> list[re.Pattern[str]]:
    return [re.compile(pattern_text(tree, n).expression()) for n in range(len(tree))]


def deepest(tree: PatternTree, found: list[re.Pattern[str]], url: str) -> int:
    """The most specific node whose expression takes the URL; all nodes above must take it too."""
    taking = [n for n in range(len(tree)) if found[n].match(url)]
    if not taking:
        return NOWHERE
    node = max(taking, key=lambda n: tree.hierarchy.depth[n])
    path = []
    at = node
    while at >= 0:
        path.append(at)
        at = int(tree.hierarchy.parent[at])
    assert sorted(path) == taking, url
    return node


def cut_at(tree: PatternTree, choice: int) -> PatternTree:
    leaf = tree.hierarchy.is_leaf.copy()
    leaf[choice % len(tree)] = True
    return tree.cut(leaf)


@settings(max_examples=300)
@given(
    st.lists(urls(), min_size=1, max_size=60, unique=True),
    st.lists(urls(), max_size=30),
    st.integers(2, 6),
    st.integers(0, 99),
)
@example(["https://h.example/a.html", "https://h.example/a/b"], ["https://h.example/a"], 2, 0)
@example([f"https://h.example/a{rest}" for rest in ("", "/a/a/a/", "/a/a/a/.html")], [], 2, 0)
@example(
    [f"https://h.example/{rest}" for rest in ("", "a", "a/a", "a/b", "2024-01-31", "2024-01-31/a")],
    [],
    2,
    0,
)
def test_matcher_and_expressions_agree(
    training: list[str], unseen: list[str], support: int, choice: int
) -> None:
    whole = pattern_tree(texts(training), TreeOptions(min_urls=support))
    for tree in (whole, cut_at(whole, choice)):
        actual = expressions(tree)
        everything = training + unseen
        matched = compile_matcher(tree).match(texts(everything)).tolist()
        for url, node in zip(everything, matched, strict=True):
            assert node == deepest(tree, actual, url), (url, [f.pattern for f in actual])


@given(
    st.lists(urls(), min_size=1, max_size=60, unique=True), st.integers(2, 6), st.integers(0, 99)
)
def test_every_training_url_matches_its_leaf_and_no_other(
    training: list[str], support: int, choice: int
) -> None:
    whole = pattern_tree(texts(training), TreeOptions(min_urls=support))
    for tree in (whole, cut_at(whole, choice)):
        leaf = tree.leaf_of_url().tolist()
        assert compile_matcher(tree).match(texts(training)).tolist() == leaf
        actual = expressions(tree)
        for url, own in zip(training, leaf, strict=True):
            assert [n for n in tree.leaves.tolist() if actual[n].match(url)] == [own]


@pytest.fixture
def tree() -> PatternTree:
    site = [
        f"https://h.example/news/2024/{m:02}/story-{m * d}x.html"
        for m in range(1, 9)
        for d in range(1, 9)
    ]
    site += [f"https://h.example/tag/{w}" for w in "abcdefghijkl"] + ["https://h.example/"]
    return pattern_tree(texts(site))  # fmt: skip


@pytest.mark.parametrize(
    ("url", "template"),
    [
        ("https://h.example/news/2031/11/unseen.html", "/news/{year}/{month}/{*}.html"),
        ("https://h.example/news/2031/11/unseen.html?ref=x", "/news/{year}/{month}/{*}.html"),
        ("https://h.example/tag/zebra", "/tag/{*}"),
        ("https://h.example/", "/"),
        ("https://h.example/news/old/11/unseen.html", None),
        ("https://h.example/tag/zebra.html", None),
        ("https://h.example/tag/", None),
        ("https://h.example/contact/form", None),
        ("https://h.example/a/b/c/d/e", None),
        ("https://h.example:81/", None),
        ("https://other.example/", None),
        ("", None),
        ("no url", None),
        ("https://h.example/tag/\udcff", "/tag/{*}"),
    ],
)
def test_unseen_urls(tree: PatternTree, url: str, template: str | None) -> None:
    node = int(compile_matcher(tree).match_leaves(texts([url]))[0])
    if template is None:
        assert node == NOWHERE
    else:
        shown = pattern_text(tree, node).template()
        assert re.sub(r"\{(word|slug[-id]*|token)\}", "{*}", shown) == template


def test_the_most_specific_pattern_of_an_uncovered_url_is_an_inner_node(tree: PatternTree) -> None:
    matcher = compile_matcher(tree)
    node = int(matcher.match(texts(["https://h.example/contact/form"]))[0])
    assert node != NOWHERE
    assert not matcher.is_leaf[node]


def test_a_matcher_can_be_sent_to_another_process(tree: PatternTree) -> None:
    sent = pickle.loads(pickle.dumps(compile_matcher(tree)))  # noqa: S301
    assert np.array_equal(sent.match(tree.keys.urls), tree.leaf_of_url())
