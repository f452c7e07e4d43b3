"""Days that are made at the same time, and those that are not."""

from __future__ import annotations

import datetime as dt
import threading
from pathlib import Path

import pytest

from temporal_assets.days.daily import side_by_side
from temporal_assets.engines.batches import SMALL_ROWS, small_batches
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings

DAYS = [dt.date(2026, 3, n) for n in range(1, 7)]


def test_two_small_days_are_made_at_once(state: Path) -> None:
    settings = load_settings(state, engine={"threads": 2})
    both = threading.Barrier(2)

    def make(day: dt.date) -> dt.date:
        both.wait(60)  # for the other one: a day made alone would break the barrier
        return day

    assert list(side_by_side(make, DAYS, DuckDBEngine(settings), settings)) == DAYS


@pytest.mark.parametrize(("threads", "is_spread"), [(1, False), (2, True)])
def test_others_are_made_here_one_after_the_other(
    state: Path, threads: int, is_spread: bool
) -> None:
    settings = load_settings(state, engine={"threads": threads})
    engine = DuckDBEngine(settings)
    if is_spread:
        engine.spread = lambda work, items: map(work, items)

    def make(day: dt.date) -> tuple[dt.date, int]:
        return day, threading.get_ident()

    found = list(side_by_side(make, DAYS, engine, settings))
    assert found == [(day, threading.get_ident()) for day in DAYS]


def test_small_days_are_a_batch_and_a_large_one_is_alone() -> None:
    rows = dict(zip(DAYS, [1, SMALL_ROWS, SMALL_ROWS + 1, 5, 6, 7], strict=True))
    assert list(small_batches(DAYS, rows.__getitem__)) == [DAYS[:2], [DAYS[2]], DAYS[3:]]


def test_a_batch_has_an_end_by_its_rows_and_by_its_days() -> None:
    assert list(small_batches(DAYS, lambda _: SMALL_ROWS)) == [DAYS[:4], DAYS[4:]]
    many = [DAYS[0] + dt.timedelta(n) for n in range(300)]
    assert [len(batch) for batch in small_batches(many, lambda _: 10)] == [128, 128, 44]


def test_a_day_whose_size_is_not_known_costs_no_other() -> None:
    def rows(day: dt.date) -> int:
        if day == DAYS[2]:
            raise PermissionError(f"{day} is not to be read")
        return 10

    assert list(small_batches(DAYS, rows)) == [DAYS]
