"""Numbers that grow with time name no pattern; numbers that stay do."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets.core.patterns.pattern_match import NOWHERE, compile_matcher
from temporal_assets.core.patterns.pattern_text import pattern_text
from temporal_assets.core.patterns.pattern_tree import PatternTree
from temporal_assets.core.patterns.syntax.tree_builder import pattern_tree
from temporal_assets.core.text.running_values import births, is_counter
from temporal_assets.core.text.texts import texts

DAYS, LATER = 60, 14
Page = tuple[str, int]

FORMS = {
    "/article/{id}/{page}": "numbers",
    "/article/{id}?page={page}": "query beside numbers",
    "/read?id={id}&page={page}": "query",
    "/a/{id}/{page}.html": "folder",
    "/story-{id}/{page}": "slug with a number",
    "/news/c{id}x/photo/{page}": "token",
}


def articles(form: str, first: int, days: int, pages: int, a_day: int, start: int) -> list[Page]:
    """Articles whose numbers grow; all pages of each are born within two days."""
    actual = []
    for day in range(first, first + days):
        for n in range(a_day):
            number = start + 17 * (day * a_day + n)
            actual += [
                (
                    f"https://h.example{form.format(id=number, page=100 * number + page)}",
                    day + page % 2,
                )
                for page in range(pages)
            ]
    return actual


def sections(first: int, days: int, numbers: list[int]) -> list[Page]:
    """Sections with numbers, each with a new page every day."""
    return [
        (f"https://h.example/forum/{number}/{1000 * day + number % 999}", day)
        for day in range(first, first + days)
        for number in numbers
    ]


def learn(pages: list[Page]) -> PatternTree:
    days = dict(reversed(pages))
    return pattern_tree(texts(list(days)), born=np.array(list(days.values())))


def templates(tree: PatternTree) -> list[str]:
    return [pattern_text(tree, node).template() for node in tree.leaves.tolist()]


def coverage(tree: PatternTree, pages: list[Page]) -> float:
    later = texts([url for url, _ in pages])
    return float((compile_matcher(tree).match_leaves(later) != NOWHERE).mean())


@pytest.mark.parametrize("form", FORMS, ids=FORMS.values())
@settings(max_examples=15, deadline=None)
@given(st.integers(10, 20), st.integers(1, 3), st.integers(10_000, 9_000_000))
def test_numbers_that_grow_name_no_pattern(form: str, pages: int, a_day: int, start: int) -> None:
    tree = learn(articles(form, 0, DAYS, pages, a_day, start))
    assert coverage(tree, articles(form, DAYS, LATER, pages, a_day, start)) > 0.95
    assert len(templates(tree)) <= 3


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 99_999), min_size=2, max_size=12, unique=True))
def test_numbers_that_stay_name_theirs(numbers: list[int]) -> None:
    tree = learn(sections(0, DAYS, numbers))
    named = set(re.findall(r"/forum/(\d+)/", " ".join(templates(tree))))
    years = {str(number) for number in numbers if 1900 <= number <= 2099}
    assert named == {str(number) for number in numbers} - years
    assert coverage(tree, sections(DAYS, LATER, numbers)) == 1.0


def test_both_on_one_site() -> None:
    pages = sections(0, DAYS, [7, 12, 40_021]) + articles("/article/{id}/{page}", 0, 60, 12, 2, 50)
    actual = templates(learn(pages))
    assert {"/forum/7/{digits}", "/forum/12/{digits}", "/forum/40021/{digits}"} < set(actual)
    assert not [text for text in actual if re.search(r"article/\d", text)]


def test_events_that_follow_each_other_name_no_pattern() -> None:
    names = [f"{a}{b}" for a in ("amber", "birch", "cedar", "delta") for b in "abcdefghijklmno"]

    def live(first: int, days: int) -> list[Page]:
        return [
            (f"https://h.example/live/{names[day]}/{100 * day + n}", day)
            for day in range(first, first + days)
            for n in range(12)
        ]

    tree = learn(live(0, 46))
    assert coverage(tree, live(46, LATER)) == 1.0
    assert templates(tree) == ["/live/{word}/{digits}"]


@pytest.mark.parametrize(
    ("numbers", "counts"),
    [
        ([4_711_234, 4_711_301, 4_711_388], True),
        ([4_711_234, 4_711_301], False),  # two say nothing
        ([101, 102, 103], False),  # categories
        ([10_021, 55_310, 98_120], False),
    ],
)
def test_numbers_without_days(numbers: list[int], counts: bool) -> None:
    assert is_counter(numbers) is counts


def test_numbers_that_grow_are_known_without_days_too() -> None:
    pages = articles("/article/{id}/{page}", 0, 9, 12, 2, 4_711_234)
    tree = pattern_tree(texts([url for url, _ in pages]))
    assert templates(tree) == ["/article/{digits}/{digits}"]


@pytest.mark.parametrize("days", [None, [], [3] * 40, list(range(10)), [-1] * 40])
def test_births_that_say_nothing(days: list[int] | None) -> None:
    assert births(None if days is None else np.array(days, np.int64)) is None


@pytest.mark.parametrize(("form", "days_each"), [("issue-{}", 7), ("vol{}", 20), ("{}", 15)])
def test_issues_that_follow_one_another_name_no_pattern(form: str, days_each: int) -> None:
    """Few of them begin in the last third of the window, and the next one is not there yet."""

    def issues(first: int, days: int) -> list[Page]:
        return [
            (f"https://h.example/{form.format(100 + day // days_each)}/story-{day}-{n}", day)
            for day in range(first, first + days)
            for n in range(3)
        ] + [(f"https://h.example/about/page-{day}x", day) for day in range(first, first + days)]

    tree = learn(issues(0, DAYS))
    assert coverage(tree, issues(DAYS, LATER)) == 1.0
    assert len(templates(tree)) == 2


def test_sections_with_numbers_that_are_read_side_by_side_keep_their_names() -> None:
    pages = [
        (f"https://h.example/region-{n}/{day * 37 % 101}-story-{day}", day)
        for day in range(DAYS)
        for n in (1, 2, 3)
    ]
    assert {name.split("/")[1] for name in templates(learn(pages))} == {
        "region-1",
        "region-2",
        "region-3",
    }


@pytest.mark.parametrize(
    ("form", "template"),
    [
        ("/list.html?page={}&topic={word}", "/list.html?page={digits}&topic={word}"),
        ("/threads/{word}/page-{}", "/threads/{word}/{slug}"),
        ("/tag/{word}/page/{}/", "/tag/{word}/page/{digits}/"),
        ("/show.php?start={}&t={word}", "/show.php?start={digits}&t={word}"),
    ],
)
def test_the_pages_of_a_list_are_one_pattern(form: str, template: str) -> None:
    words = [a + b for a in "bcdfghklmnprst" for b in ("ala", "ore", "ine")]
    urls = [
        "https://h.example" + form.format(number, word=word)
        for word in words
        for number in range(2, 8)
    ]
    assert templates(pattern_tree(texts(urls))) == [template]


def test_a_category_with_a_number_keeps_its_name() -> None:
    """`page` counts pages, `catid` names a category; a static page may be named by a word."""
    urls = [f"https://h.example/?catid={n}&id={n * 100 + i}" for n in (3, 4, 5) for i in range(20)]
    urls += [f"https://h.example/?page={w}&id={i}" for w in ("news", "jobs") for i in range(20)]
    written = templates(pattern_tree(texts(urls)))
    assert {f"/?catid={n}&id={{digits}}" for n in (3, 4, 5)} < set(written)
    assert {f"/?id={{digits}}&page={w}" for w in ("news", "jobs")} < set(written)
