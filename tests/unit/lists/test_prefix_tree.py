"""The walk of NP 5.2 by hand and against a recursion; sections that are listed as a whole."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.lists.dated_sections import dated_sections
from temporal_assets.core.lists.prefix_tree import (
    PAPER_RULE,
    PrefixRule,
    news_prefixes,
    score_sections,
)
from temporal_assets.core.lists.whole_sections import whole_sections
from temporal_assets.core.numerics.proportions import chance_of_less, upper_bound
from temporal_assets.core.text.texts import texts
from temporal_assets.core.text.url_sections import SectionTrees, section_trees

SITE = "https://website.example/"


def chosen(pages: dict[str, bool], rule: PrefixRule) -> list[str]:
    trees = section_trees(texts([SITE + page for page in pages]))
    actual = news_prefixes(trees, list(pages.values()), rule)
    return [trees.name(section) for section in np.flatnonzero(actual)]


FIGURE_3 = {
    "index.html": False,
    "folder/page.htm": False,
    "news.jsp?p=1": True,
    "news.jsp?p=2": True,
}


def test_the_example_of_the_paper() -> None:
    assert chosen(FIGURE_3, PAPER_RULE) == ["website.example/news.jsp?"]


def test_the_walk_stops_at_the_first_news_section() -> None:
    pages = {f"news/{n}/1": True for n in range(9)} | {"news/9/1": False, "2": False}
    # Under /news/ 9 of 10, in the root 9 of 11 are news: both are above 0.8.
    assert chosen(pages, PAPER_RULE) == ["website.example/"]
    assert chosen(pages, PrefixRule(0.85, 1, 0.5, splits_mixed=False)) == ["website.example/news/"]
    # 0.9 is not above 0.9: the walk goes on, to folders of a page each.
    assert len(chosen(pages, PrefixRule(0.9, 1, 0.5, splits_mixed=False))) == 9


def test_support_and_confidence() -> None:
    pages = {f"news/{n}": True for n in range(10)} | {"lucky/1": True, "2": False, "3": False}
    assert chosen(pages, PrefixRule(0.9, 1, 0.5)) == [
        "website.example/news/",
        "website.example/lucky/",
    ]
    assert chosen(pages, PrefixRule(0.9, 2, 0.5)) == ["website.example/news/"]
    # The bound of 10 of 10 is 1 / (1 + 1.645^2 / 10) = 0.787.
    assert chosen(pages, PrefixRule(0.78, 1, 0.95)) == ["website.example/news/"]
    assert chosen(pages, PrefixRule(0.79, 1, 0.95)) == []


def test_a_good_site_is_taken_without_its_bad_section() -> None:
    portal = {f"news/{n}": True for n in range(20)} | {f"world/{n}": True for n in range(20)}
    topics = {f"topics/{n}": False for n in range(10)}
    # 40 of 50 are news: enough for the whole, were it not for a section with none in ten.
    assert chosen(portal | topics, PrefixRule(splits_mixed=False)) == ["website.example/"]
    assert chosen(portal | topics, PrefixRule()) == [
        "website.example/news/",
        "website.example/world/",
    ]
    # Of one page nothing is certain: it splits nothing.
    assert chosen(portal | {"topics/1": False}, PrefixRule()) == ["website.example/"]


def test_a_day_without_news_does_not_split_a_folder_of_days() -> None:
    days = {f"issues/{day:02}/{n}": day != 7 for day in range(40) for n in range(3)}
    # No news in three where 0.4 are is chance once in 13 times, and they are a fortieth.
    assert chosen(days, PrefixRule()) == ["website.example/"]
    assert chosen(dict(list(days.items())[18:24]), PrefixRule()) == ["website.example/issues/06/"]
    # No news in eight is once in 96 times, for 8 of 128 at most 0.2 / 16 = once in 80.
    care = {f"care/{n}": False for n in range(8)}
    assert chosen(days | care, PrefixRule()) == ["website.example/issues/"]
    care.pop("care/0")  # in seven once in 65 times, for 7 of 127 too often
    assert chosen(days | care, PrefixRule()) == ["website.example/"]


def test_what_is_left_of_a_month_splits_no_year() -> None:
    """Only pages of February that are still read are left: forty pages, none of them news."""
    news = {f"2026/03/{day:02}/{n}": True for day in range(1, 29) for n in range(4)}
    left = {f"2026/02/{day:02}/{n}": False for day in range(1, 21) for n in range(2)}
    care = {f"care/{n}": False for n in range(40)}
    assert chosen(news | left | care, PrefixRule()) == ["website.example/2026/"]
    assert chosen(news | left, PrefixRule()) == ["website.example/"]


def test_folders_of_dates() -> None:
    dated = ("2026/", "x/2026/03/", "2026/3/", "2026/mar/", "2026/March/14/", "2026/03/14/")
    dated += ("2026-03-14/", "20260314/", "202603/", "a/1999-12/")
    others = ("", "14/", "03/14/", "2026/13/", "2026/03/14/15/", "2026x/", "20261314/", "2026?")
    others += ("2026/03/32/", "2126/", "v2026/", "2026/03/14/x?")
    names = [f"a.example/{name}" for name in (*dated, *others)]
    actual = [name for name, flag in zip(names, dated_sections(names), strict=True) if flag]
    assert actual == names[: len(dated)]


@given(
    st.integers(1, 400), st.floats(0, 1), st.floats(0.01, 0.99), st.sampled_from([0.5, 0.8, 0.95])
)
def test_the_chance_of_a_share_is_what_its_bound_inverts(
    count: int, part: float, truth: float, confidence: float
) -> None:
    share = round(part * count) / count
    bound = float(upper_bound(share, count, confidence))
    chance = float(chance_of_less(share, count, truth))
    if abs(bound - truth) > 1e-9:
        assert (bound < truth) == (chance < 1 - confidence)


def test_no_share_is_less_than_nothing() -> None:
    assert chance_of_less([0.0, 0.5], [9, 9], 0.0).tolist() == [1.0, 1.0]
    assert chance_of_less([0.0], [0], 0.4).tolist() == [1.0]


def test_prefixes_learned_from_some_pages_reach_others() -> None:
    pages = [f"{SITE}news/{n}" for n in range(4)] + [f"{SITE}a/1", f"{SITE}news/x/5"]
    trees = section_trees(texts(pages))
    known = [True] * 4 + [True, False]
    actual = news_prefixes(trees, [True] * 4 + [False, False], PrefixRule(0.8, 3, 0.5), known)
    assert trees.covered(actual).tolist() == [True] * 4 + [False, True]


def walk(trees: SectionTrees, good: list[bool], section: int) -> list[int]:
    """FindNewsNode of NP 5.2."""
    if good[section]:
        return [section]
    children = np.flatnonzero(trees.parent == section).tolist()
    return [found for child in children for found in walk(trees, good, child)]


paths = st.lists(
    st.lists(st.sampled_from(["a", "b", "c?"]), min_size=1, max_size=5).map("/".join),
    min_size=1,
    max_size=40,
)


@given(paths, st.data())
def test_the_walk_is_the_papers(pages: list[str], data: st.DataObject) -> None:
    news = data.draw(st.lists(st.booleans(), min_size=len(pages), max_size=len(pages)))
    trees = section_trees(texts([SITE + page for page in pages]))
    all_pages, of_news = trees.total(np.ones(len(pages), np.int64)), trees.total(np.array(news))
    good = [bool(n > 0.5 * total) for n, total in zip(of_news, all_pages, strict=True)]
    scores = score_sections(
        trees.parent, all_pages, of_news, PrefixRule(0.5, 1, 0.5, splits_mixed=False)
    )
    assert np.flatnonzero(scores.is_prefix).tolist() == sorted(walk(trees, good, 0))
    assert ((scores.bound >= 0) & (scores.bound <= scores.score) & (scores.score <= 1)).all()
    names = [trees.name(one) for one in np.flatnonzero(scores.is_prefix)]
    assert not any(a != b and a.startswith(b) for a in names for b in names)


def test_a_mixed_site_is_split_and_others_are_not() -> None:
    #        root  news  2025  care
    parent = np.array([-1, 0, 1, 0], np.int32)
    counts = np.ones(4, np.bool_)
    mixed = whole_sections(
        parent, np.array([0.3, 0.97, 1.0, 0.0]), np.array([0.25, 0.93, 0.96, 0.0]), counts
    )
    # That /news/2025/ is better than /news/ is not certain: 0.96 is not above 0.97.
    assert mixed.tolist() == [False, True, False, True]
    uniform = whole_sections(
        parent, np.array([0.95, 0.97, 1.0, 0.5]), np.array([0.94, 0.93, 0.94, 0.1]), counts
    )
    assert uniform.tolist() == [True, False, False, False]
    too_few = whole_sections(
        parent,
        np.array([0.3, 0.97, 1.0, 0.0]),
        np.array([0.25, 0.93, 0.96, 0.0]),
        np.array([True, False, False, True]),
    )
    assert too_few.tolist() == [True, False, False, False]
