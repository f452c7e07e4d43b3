"""No pattern names what too few clients know; trees survive being written down."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.numerics.hierarchy import hierarchy
from temporal_assets.core.patterns.pattern_match import compile_matcher
from temporal_assets.core.patterns.pattern_rules import rules_of, tree_of
from temporal_assets.core.patterns.pattern_text import pattern_text
from temporal_assets.core.patterns.pattern_tree import PatternTree
from temporal_assets.core.patterns.syntax.tree_builder import TreeOptions, pattern_tree
from temporal_assets.core.text.texts import texts
from temporal_assets.core.traffic.audience import Audience, is_public, public_nodes


def audience(openers: list[set[int]], least: int) -> Audience:
    few = [sorted(clients) if len(clients) < least else [] for clients in openers]
    return Audience(
        least,
        np.array([len(clients) for clients in openers], np.int64),
        np.array([client for clients in few for client in clients], np.int64),
        np.concatenate(([0], np.cumsum([len(clients) for clients in few]))).astype(np.int64),
    )


@given(
    openers=st.lists(st.sets(st.integers(0, 9), max_size=6), min_size=1, max_size=12),
    least=st.integers(1, 5),
    data=st.data(),
)
def test_clients_are_counted_as_sets_are(
    openers: list[set[int]], least: int, data: st.DataObject
) -> None:
    leaf = np.array(data.draw(st.lists(st.sampled_from([1, 3, 4]), min_size=len(openers),
                                       max_size=len(openers))), np.int32)  # fmt: skip
    of = audience(openers, least)
    groups = [
        set().union(*(c for c, g in zip(openers, leaf, strict=True) if g == n)) for n in range(5)
    ]
    assert is_public(of, leaf, 5).tolist() == [len(clients) >= least for clients in groups]
    # 0 above 1 and 2, 2 above 3 and 4.
    groups[2] = groups[3] | groups[4]
    groups[0] = groups[1] | groups[2]
    tree = hierarchy([-1, 0, 0, 2, 2])
    assert public_nodes(of, tree, leaf).tolist() == [len(group) >= least for group in groups]


def templates(tree: PatternTree) -> set[str]:
    return {pattern_text(tree, node).template() for node in range(len(tree))}


URLS = [
    *(f"https://h.example/news/story-{i}x?page={i % 3}" for i in range(40)),
    *(f"https://h.example/anna-schmidt/mail-{i}x?anna={i % 3}" for i in range(40)),
]


@pytest.mark.parametrize(("clients", "named"), [(4, False), (5, True)])
def test_a_folder_is_named_once_enough_clients_know_it(clients: int, named: bool) -> None:
    openers = [{100 + i} for i in range(40)] + [{i % clients} for i in range(40)]
    tree = pattern_tree(texts(URLS), TreeOptions(min_urls=5), audience(openers, 5))
    everything = " ".join([*rules_of(tree), *templates(tree)])
    everything += " ".join(pattern_text(tree, node).expression() for node in range(len(tree)))
    assert "/news/" in everything
    assert ("anna" in everything) == named
    # Whatever is named, every URL is in one leaf and finds it again.
    matcher = compile_matcher(tree)
    assert matcher.match_leaves(texts(URLS)).tolist() == tree.leaf_of_url().tolist()


def test_an_extension_is_a_value_too() -> None:
    urls = [f"https://h.example/a/{i}x.anna" for i in range(20)]
    tree = pattern_tree(texts(urls), None, audience([{1}] * 20, 2))
    assert "anna" not in " ".join(rules_of(tree))
    assert compile_matcher(tree).match_leaves(texts(urls)).tolist() == [0] * 20


segment = st.sampled_from(["", "a", "b", "2024", "05", "x.html", "7", "é", "a-b-1234567"])
query = st.lists(
    st.tuples(st.sampled_from(["id", "p", "", "id"]), st.sampled_from(["", "1", "x", "2024"])),
    max_size=3,
)
a_url = st.builds(
    lambda host, path, fields: (
        f"https://{host}/{'/'.join(path)}"
        + ("?" + "&".join(f"{k}={v}" if k else v for k, v in fields) if fields else "")
    ),
    st.sampled_from(["h.example", "www.h.example", "h.example:81"]),
    st.lists(segment, min_size=1, max_size=4),
    query,
)


@given(known=st.sets(a_url, min_size=1, max_size=60), others=st.sets(a_url, max_size=60))
def test_a_tree_that_was_written_down_is_the_same_tree(known: set[str], others: set[str]) -> None:
    tree = pattern_tree(texts(sorted(known)), TreeOptions(min_urls=2))
    again = tree_of(tree.hierarchy.parent.tolist(), rules_of(tree))
    unseen = texts(sorted(others | known))
    assert (
        compile_matcher(again).match(unseen).tolist()
        == compile_matcher(tree).match(unseen).tolist()
    )
    for node in range(len(tree)):
        before, other = pattern_text(tree, node), pattern_text(again, node)
        assert (before.template(), before.expression(), before.key_values()) == (
            other.template(), other.expression(), other.key_values(),
        )  # fmt: skip
