"""Days as they are typed and shown."""

from __future__ import annotations

import datetime as dt

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.cli.shared.days import gaps, parse_day, ranges, span
from temporal_assets.cli.shared.exits import USAGE, CommandError


def day(text: str) -> dt.date:
    return dt.date.fromisoformat(text)


def test_a_span_includes_both_ends() -> None:
    assert span(day("2026-02-27"), day("2026-03-01")) == [
        day("2026-02-27"),
        day("2026-02-28"),
        day("2026-03-01"),
    ]


def test_a_span_of_one_day() -> None:
    assert span(day("2026-02-27"), day("2026-02-27")) == [day("2026-02-27")]


def test_a_span_that_ends_before_it_begins_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(CommandError, match=r"end \(2026-02-26\) before they begin") as error:
        span(day("2026-02-27"), day("2026-02-26"))
    assert error.value.code == USAGE


def test_gaps_are_days_within_that_are_absent() -> None:
    days = [day("2026-01-01"), day("2026-01-02"), day("2026-01-05")]
    assert gaps(days) == [day("2026-01-03"), day("2026-01-04")]
    assert gaps([]) == []


def test_runs_of_days_are_joined() -> None:
    days = [day("2025-12-31"), day("2026-01-01"), day("2026-01-03")]
    assert ranges(days) == "2025-12-31..2026-01-01, 2026-01-03"
    assert ranges([]) == ""


def test_long_lists_of_ranges_are_cut_and_say_so() -> None:
    days = [day("2026-01-01") + dt.timedelta(2 * n) for n in range(5)]
    assert ranges(days, limit=2) == "2026-01-01, 2026-01-03, and 3 more ranges up to 2026-01-09"


@given(st.sets(st.dates(), min_size=1, max_size=30))
def test_ranges_lose_no_day(days: set[dt.date]) -> None:
    text = ranges(sorted(days), limit=1000)
    actual: set[dt.date] = set()
    for part in text.split(", "):
        first, _, last = part.partition("..")
        actual.update(span(day(first), day(last or first)))
    assert actual == days


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "2026-02-30", ""])
def test_what_is_no_day_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a day like 2026-01-31"):
        parse_day(text)


def test_a_day_is_iso() -> None:
    assert parse_day("2026-01-31") == dt.date(2026, 1, 31)
