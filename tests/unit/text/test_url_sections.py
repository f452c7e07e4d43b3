"""Sections by hand, and their trees against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.text.texts import texts
from temporal_assets.core.text.url_sections import MAX_DEPTH, section_trees, sections


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example/", ["a.example/"]),
        ("https://a.example/news", ["a.example/"]),
        ("https://a.example/news/", ["a.example/", "a.example/news/"]),
        ("https://a.example/news/1.html", ["a.example/", "a.example/news/"]),
        (
            "https://a.example/news/x.jsp?p=1&u=/b/",
            ["a.example/", "a.example/news/", "a.example/news/x.jsp?"],
        ),
        ("https://a.example/?p=1", ["a.example/", "a.example/?"]),
        ("https://a.example/a//b", ["a.example/", "a.example/a/", "a.example/a//"]),
        ("http://a.example:81/b/c", ["a.example:81/", "a.example:81/b/"]),
        ("https://[::1]/b/?q", ["[::1]/", "[::1]/b/", "[::1]/b/?"]),
        ("https://a.example", ["a.example"]),
        ("", [""]),
    ],
)
def test_sections_by_hand(url: str, expected: list[str]) -> None:
    assert sections(texts([url])).of(0) == expected


def test_sections_of_several_urls_at_once() -> None:
    actual = sections(texts(["https://ä.example/b/c?d=1", "https://x.example/"]))
    names, deepest = actual.names(), actual.innermost()
    assert [names[n] for n in range(4)] == [
        "ä.example/",
        "ä.example/b/",
        "ä.example/b/c?",
        "x.example/",
    ]
    assert [deepest[0], deepest[1]] == ["ä.example/b/c?", "x.example/"]
    # A section lies in the same sections as the pages in it.
    assert sections(deepest).of(0) == actual.of(0)
    assert sections(texts([])).names().offsets.tolist() == [0]


def test_programs_are_told_from_folders() -> None:
    actual = sections(texts(["https://a.example/b/c?d=1", "https://a.example/b/"]))
    assert actual.is_program.tolist() == [False, False, True, False, False]
    assert actual.first.tolist() == [0, 3, 5]


def test_deep_folders_are_part_of_the_last_that_counts() -> None:
    deep = "https://a.example/" + "x/" * 40
    actual = sections(texts([deep, deep + "y?z"]))
    assert actual.of(0)[-1] == "a.example/" + "x/" * MAX_DEPTH
    assert len(actual.of(0)) == MAX_DEPTH + 1
    assert actual.of(1)[-1] == "a.example/" + "x/" * 40 + "y?"


def test_the_tree_of_the_paper() -> None:
    """NP figure 3."""
    site = "https://website.example/"
    pages = ["index.html", "folder/page.htm", "news.jsp?p=1", "news.jsp?p=2"]
    trees = section_trees(texts([site + page for page in pages]))
    assert trees.names() == [
        "website.example/",
        "website.example/folder/",
        "website.example/news.jsp?",
    ]
    assert trees.parent.tolist() == [-1, 0, 0]
    assert trees.is_program.tolist() == [False, False, True]
    assert trees.total(np.array([0, 0, 1, 1])).tolist() == [2, 0, 2]
    assert trees.total(np.ones(4, np.int64)).tolist() == [4, 1, 2]
    chosen = trees.find(["website.example/news.jsp?", "unknown.example/"])
    assert trees.covered(chosen).tolist() == [False, False, True, True]


part = st.sampled_from(["", "a", "b", "ü", "%2F", "a.b"])
url = st.builds(
    lambda scheme, host, path, query: f"{scheme}://{host}/{'/'.join(path)}{query}",
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.example", "b.example:8", "a.example.b"]),
    st.lists(part, max_size=5),
    st.sampled_from(["", "?", "?a/b", "?a=1&b=?"]),
)


def plain_sections(page: str) -> list[str]:
    """The definition again, in Python's own words."""
    rest = page.split("://", 1)[1]
    path, question, _ = rest.partition("?")
    steps = path.split("/")
    folders = ["/".join(steps[: n + 1]) + "/" for n in range(len(steps) - 1)]
    return [*folders, path + "?"] if question else folders


@given(st.lists(url, max_size=30), st.data())
def test_trees_are_what_a_dictionary_says(pages: list[str], data: st.DataObject) -> None:
    trees = section_trees(texts(pages))
    names = trees.names()
    assert len(set(names)) == len(names)
    assert set(names) == {name for page in pages for name in plain_sections(page)}
    weights = data.draw(st.lists(st.integers(0, 9), min_size=len(pages), max_size=len(pages)))
    expected: dict[str, int] = dict.fromkeys(names, 0)
    for page, weight in zip(pages, weights, strict=True):
        for name in plain_sections(page):
            expected[name] += weight
    sums = trees.total(np.array(weights, np.int64)).tolist()
    assert dict(zip(names, sums, strict=True)) == expected
    for number, (name, above) in enumerate(zip(names, trees.parent.tolist(), strict=True)):
        assert above < number
        assert trees.depth[number] == (trees.depth[above] + 1 if above >= 0 else 0)
        assert above < 0 or name.startswith(names[above])
        assert trees.is_program[number] == name.endswith("?")
    chosen = trees.find(names[::3])
    covered = [any(name in names[::3] for name in plain_sections(page)) for page in pages]
    assert trees.covered(chosen).tolist() == covered
