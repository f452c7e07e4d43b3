"""Days that are made at the same time, and those that are not."""

from __future__ import annotations

import datetime as dt
import threading
from pathlib import Path

import pytest

from temporal_assets.days.daily import SMALL_ROWS, side_by_side
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings

DAYS = [dt.date(2026, 3, n) for n in range(1, 7)]


def made_by(
    state: Path, threads: int, rows: int = 10, *, is_spread: bool = False
) -> list[tuple[dt.date, int]]:
    """Days as they come, and the threads that made them."""
    settings = load_settings(state, engine={"threads": threads})
    engine = DuckDBEngine(settings)
    if is_spread:
        engine.spread = lambda work, items: map(work, items)

    def make(day: dt.date) -> tuple[dt.date, int]:
        return day, threading.get_ident()

    largest = DAYS[3]
    found = side_by_side(make, DAYS, lambda day: rows if day == largest else 1, engine, settings)
    return list(found)


def test_two_small_days_are_made_at_once(state: Path) -> None:
    settings = load_settings(state, engine={"threads": 2})
    both = threading.Barrier(2)

    def make(day: dt.date) -> dt.date:
        both.wait(60)  # for the other one: a day made alone would break the barrier
        return day

    found = side_by_side(make, DAYS, lambda _: 10, DuckDBEngine(settings), settings)
    assert list(found) == DAYS


@pytest.mark.parametrize(
    "alone",
    [{"threads": 1}, {"threads": 2, "rows": SMALL_ROWS + 1}, {"threads": 2, "is_spread": True}],
)
def test_others_are_made_here_one_after_the_other(state: Path, alone: dict[str, int]) -> None:
    assert made_by(state, **alone) == [(day, threading.get_ident()) for day in DAYS]


def test_a_day_whose_size_is_not_known_costs_no_other(state: Path) -> None:
    settings = load_settings(state, engine={"threads": 2})

    def rows(day: dt.date) -> int:
        if day == DAYS[2]:
            raise PermissionError(f"{day} is not to be read")
        return 10

    engine = DuckDBEngine(settings)
    assert list(side_by_side(lambda day: day, DAYS, rows, engine, settings)) == DAYS


def test_the_largest_day_decides(state: Path) -> None:
    made = made_by(state, 2, SMALL_ROWS)
    assert [day for day, _ in made] == DAYS
    assert threading.get_ident() not in {thread for _, thread in made}
