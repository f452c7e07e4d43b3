"""Numbers that grow with time name no pattern; numbers that stay do."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets.core.patterns.pattern_match import NOWHERE, compile_matcher
from temporal_assets.core.patterns.pattern_text import PatternText
from temporal_assets.core.patterns.pattern_tree import PatternTree, pattern_tree
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
    return [PatternText(tree, node).template() for node in tree.leaves.tolist()]


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
