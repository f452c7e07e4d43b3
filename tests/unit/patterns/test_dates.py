"""Dates in every form: patterns learned on sixty days hold the next fourteen."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from temporal_assets.core.patterns.pattern_match import NOWHERE, compile_matcher
from temporal_assets.core.patterns.pattern_text import pattern_text
from temporal_assets.core.patterns.pattern_tree import PatternTree
from temporal_assets.core.patterns.syntax.tree_builder import pattern_tree
from temporal_assets.core.text.texts import texts

LEARNED, JUDGED = 60, 14
FIRST = dt.date(2025, 1, 20)
WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty")

FORMS = {
    "segments": "/a/%Y/%m/%d/{name}.html", "YYYYMMDD": "/a/%Y%m%d/{name}.html",
    "YYYYMM/DD": "/a/%Y%m/%d/{name}.html", "YYYYMM": "/a/%Y%m/{name}.html",
    "YYYY/MMDD": "/a/%Y/%m%d/{name}.html", "YYYY/MM-DD": "/a/%Y/%m-%d/{name}.html",
    "YYYY-MM/DD": "/a/%Y-%m/%d/{name}.html", "YYYY-MM-DD": "/a/%Y-%m-%d/{name}.html",
    "YYYY_MM_DD": "/a/%Y_%m_%d/{name}.html", "YYYY.MM.DD": "/a/%Y.%m.%d/{name}.html",
    "unpadded": "/a/{year}/{month}/{day}/{name}.html",
    "unpadded in one": "/a/{year}-{month}-{day}/{name}.html",
    "DD/MM/YYYY": "/a/%d/%m/%Y/{name}.html", "MM/DD/YYYY": "/a/%m/%d/%Y/{name}.html",
    "MM/YYYY": "/a/%m/%Y/{name}.html", "MMDD/YYYY": "/a/%m%d/%Y/{name}.html",
    "DD-MM-YYYY": "/a/%d-%m-%Y/{name}.html", "DD.MM.YYYY": "/a/%d.%m.%Y/{name}.html",
    "DDMMYYYY": "/a/%d%m%Y/{name}.html", "YY/MM/DD": "/a/%y/%m/%d/{name}.html",
    "DD/MM/YY": "/a/%d/%m/%y/{name}.html", "MM/DD/YY": "/a/%m/%d/%y/{name}.html",
    "YY/MMDD": "/a/%y/%m%d/{name}.html", "YYMMDD": "/a/%y%m%d/{name}.html",
    "DDMMYY": "/a/%d%m%y/{name}.html", "MMDDYY": "/a/%m%d%y/{name}.html",
    "YY-MM-DD": "/a/%y-%m-%d/{name}.html", "names": "/a/%Y/%b/%d/{name}.html",
    "lower names": "/a/%Y/{mon}/%d/{name}.html", "whole names": "/a/%B/%d/%Y/{name}.html",
    "day before name": "/a/%d/{mon}/%Y/{name}.html", "name and day": "/a/%b/%d/{name}.html",
    "name in one": "/a/%d-%b-%Y/{name}.html", "name glued": "/a/%d%b%Y/{name}.html",
    "year and name": "/a/%Y-%b/{name}.html", "week": "/a/%G-W%V/{name}.html",
    "with time": "/a/%Y%m%d%H%M%S/{name}.html",
    "with T and time": "/a/%Y%m%dt101500/{name}.html", "day of the year": "/a/%Y/%j/{name}.html",
    "year and name and day": "/a/%Y-%b-%d/{name}.html",
    "number that grows": "/a/{grows}/{name}.html",
    "snowflake of the day": "/a/{snowflake}/{name}.html",
    "id within a slug": "/a/{word}-{n}-story/{name}.html",
    "file name": "/a/story-%Y%m%d-{word}/{n}.html",
    "end of file name": "/a/{word}-%Y%m%d/{n}.html",
    "dashed file name": "/a/{word}-%Y-%m-%d/{n}.html",
    "short file name": "/a/%m%d%y-{word}/{n}.html",
    "named file name": "/a/{word}-%d-{mon}-%Y/{n}.html", "file": "/a/story-%Y%m%d-{name}.html",
    "value": "/a/list?date=%Y%m%d&id={n}", "dashed value": "/a/list?date=%Y-%m-%d&id={n}",
    "month value": "/a/list?ym=%Y%m&id={n}", "values": "/a/list?y=%Y&m=%m&d=%d&id={n}",
    "values with long names": "/a/list?day=%d&month=%m&n={n}&year=%Y",
    "short year value": "/a/list?d={day}&id={n}&m={month}&y=%y",
    "epoch": "/a/{epoch}/{name}.html", "epoch value": "/a/list?id={n}&t={epoch}",
    "milliseconds": "/a/{epoch}000/{name}.html",
}  # fmt: skip


def urls(form: str, day: dt.date, count: int = 24) -> Iterator[str]:
    """Pages of one day."""
    for i in range(count):
        number = (day - FIRST).days * 1000 + i * 7
        written = day.strftime(form)
        yield "https://h.example" + written.format(
            name=f"{WORDS[i % 10]}-{WORDS[i % 7]}-{number}",
            word=WORDS[i % 2],
            n=number,
            year=day.year,
            month=day.month,
            day=day.day,
            mon=day.strftime("%b").lower(),
            grows=4_711_234 + (day - FIRST).days,
            snowflake=(day - dt.date(2010, 11, 4)).days * 86_400_000 << 22,
            epoch=int(dt.datetime.combine(day, dt.time(), dt.UTC).timestamp()),
        )


def others(day: dt.date) -> Iterator[str]:
    """Other pages of the site."""
    for i in range(6):
        yield f"https://h.example/tag/{WORDS[i]}-{WORDS[day.day % 10]}/{day.day}"
        yield f"https://h.example/video/{WORDS[i]}/{WORDS[day.day % 10]}/{WORDS[i % 3]}-{day.day}"


def pages(form: str, first: int, days: int, *, alone: bool) -> list[str]:
    actual: list[str] = []
    for offset in range(first, first + days):
        day = FIRST + dt.timedelta(offset)
        actual += urls(form, day)
        if not alone:
            actual += others(day)
    return list(dict.fromkeys(actual))


def coverage(tree: PatternTree, later: list[str]) -> float:
    return float((compile_matcher(tree).match_leaves(texts(later)) != NOWHERE).mean())


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "among others"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_patterns_of_dated_pages_hold_later_pages(form: str, alone: bool) -> None:
    tree = pattern_tree(texts(pages(form, 0, LEARNED, alone=alone)))
    assert coverage(tree, pages(form, LEARNED, JUDGED, alone=True)) > 0.95
    dated = [n for n in tree.leaves.tolist() if "/a/" in pattern_text(tree, n).template()]
    assert len(dated) <= 4
    for node in dated:
        assert not re.search(r"\d", pattern_text(tree, node).template().replace(".h5", ""))


def test_three_days_of_a_folder_are_one_pattern() -> None:
    actual = [f"https://h.example/n/2025032{i % 3}/{i}.html" for i in range(40)]
    tree = pattern_tree(texts(actual))
    assert [pattern_text(tree, n).template() for n in range(len(tree))] == [
        "/n/{date}/{digits}.html"
    ]
    assert coverage(tree, ["https://h.example/n/20250323/99.html"]) == 1.0
    assert coverage(tree, ["https://h.example/n/20251350/99.html"]) == 0.0


def test_month_and_day_need_no_other_number_beside_them() -> None:
    """Ten pages a day: no other segment looks like a day, a month or a short year."""
    form = "/b/%Y/%m-%d/{name}.html"
    some_urls = [url for i in range(14) for url in urls(form, FIRST + dt.timedelta(i), 10)]
    tree = pattern_tree(texts(some_urls))
    assert [pattern_text(tree, n).template() for n in tree.leaves.tolist()] == [
        "/b/{year}/{date}/{slug-id}.html"
    ]


FORM = st.sampled_from(sorted(FORMS))


@settings(max_examples=60, deadline=None)
@example("DD-MM-YYYY", "YYYY/MM-DD", 14, 10)
@given(FORM, FORM, st.integers(14, 90), st.integers(3, 30))
def test_two_forms_on_one_site_hold_as_well(a: str, b: str, days: int, count: int) -> None:
    """Independent rule: no date that was learned from is named, whatever stands beside it."""

    def actual(first: int, length: int) -> list[str]:
        both: list[str] = []
        for offset in range(first, first + length):
            day = FIRST + dt.timedelta(offset)
            both += urls(FORMS[a].replace("/a/", "/a/", 1), day, count)
            both += urls(FORMS[b].replace("/a/", "/b/", 1), day, count)
        return list(dict.fromkeys(both))

    tree = pattern_tree(texts(actual(0, days)))
    assert coverage(tree, actual(days, JUDGED)) > 0.95
