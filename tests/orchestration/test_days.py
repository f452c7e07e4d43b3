"""Daily partitions: their dependencies, and what makes them stale."""

from __future__ import annotations

import datetime as dt

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.defs.partitions import (
    DAYS_PER_RUN,
    End,
    daily_partitions,
    days_of,
    end_of_days,
    first_day,
    in_words,
    ranges,
    today,
)
from temporal_assets.defs.reloading import follow
from temporal_assets.defs.runs import tags
from temporal_assets.defs.runs.batches import Batch, batches
from temporal_assets.landing.landing import refresh
from temporal_assets.settings import load_settings
from tests import logs
from tests.dagster_internals import CachingStaleStatusResolver, LoadingContextForTest, StaleStatus
from tests.orchestration.conftest import Project

ALL = ("requests", "rejects", "page_views", "transits")


def day(n: int) -> dt.date:
    return dt.date(2026, 3, n)


def test_the_first_day_is_configured_or_landed_or_the_earliest_possible(project: Project) -> None:
    assert first_day(project.settings) == dt.date(1993, 1, 1)
    logs.write_days(project.logs, day(5), 2)
    refresh(project.settings)
    assert first_day(project.settings) == day(5)
    configured = project.with_settings(orchestration={"first_day": "2026-01-01"})
    assert first_day(configured) == dt.date(2026, 1, 1)


def test_a_day_begins_in_the_configured_zone(project: Project) -> None:
    settings = project.with_settings(
        orchestration={"timezone": "Asia/Tokyo", "first_day": "2026-03-01"}
    )
    window = daily_partitions(settings).time_window_for_partition_key("2026-03-02")
    assert window.start.astimezone(dt.UTC) == dt.datetime(2026, 3, 1, 15, tzinfo=dt.UTC)
    assert today(settings, dt.datetime(2026, 3, 1, 16, tzinfo=dt.UTC)) == day(2)
    assert today(settings, dt.datetime(2026, 3, 1, 14, tzinfo=dt.UTC)) == day(1)


def test_before_any_log_was_read_today_is_a_partition(state: object) -> None:
    settings = load_settings(str(state))
    now = dt.datetime.now(dt.UTC)
    keys = daily_partitions(settings).get_partition_keys(current_time=now)
    assert keys[-1] == now.date().isoformat()


def test_partitions_end_with_the_last_day_of_the_logs(project: Project) -> None:
    logs.write_days(project.logs, day(5), 3)
    refresh(project.settings)
    keys = daily_partitions(project.settings).get_partition_keys()
    assert keys == ["2026-03-05", "2026-03-06", "2026-03-07"]
    # A file that waits to be read may hold any day up to today.
    logs.write_days(project.logs, day(8), 1)
    now = dt.datetime.now(dt.UTC)
    assert end_of_days(project.settings, now) == End(now.date(), is_open=True, has_today=True)
    refresh(project.settings)
    assert daily_partitions(project.settings).get_partition_keys()[-1] == "2026-03-08"


def test_logs_that_reach_to_yesterday_have_a_new_partition_every_day(project: Project) -> None:
    logs.write_days(project.logs, day(5), 3)
    refresh(project.settings)
    noon = dt.datetime(2026, 3, 8, 12, tzinfo=dt.UTC)
    assert end_of_days(project.settings, noon) == End(day(7), is_open=True)
    assert end_of_days(project.settings, noon + dt.timedelta(1)) == End(day(7), is_open=False)
    # The day that is not over is one only where there are lines of it.
    in_time = noon - dt.timedelta(1)
    assert end_of_days(project.settings, in_time) == End(day(7), is_open=True, has_today=True)


def test_a_web_server_loads_the_days_again_when_they_have_changed() -> None:
    spans = iter(["1 to 3", "1 to 3", OSError("away"), "1 to 4", "1 to 4"])
    reloads: list[str] = []

    def look() -> str:
        actual = next(spans)
        if isinstance(actual, OSError):
            raise actual
        return actual

    def wait(_: float) -> None:
        log.append(len(reloads))
        if len(log) == 5:
            raise SystemExit

    log: list[int] = []
    with pytest.raises(SystemExit):
        follow(lambda: reloads.append("again"), look, wait)
    assert log == [0, 0, 0, 1, 1]


def test_ranges_break_at_gaps_and_at_the_longest_run() -> None:
    days = [day(n) for n in (1, 2, 3, 4, 5, 8, 9, 12)]
    assert list(ranges(days, 3)) == [
        [day(1), day(2), day(3)],
        [day(4), day(5)],
        [day(8), day(9)],
        [day(12)],
    ]


@given(st.sets(st.dates(dt.date(2026, 1, 1), dt.date(2026, 6, 30))), st.integers(1, 40))
def test_ranges_keep_every_day_once(days: set[dt.date], longest: int) -> None:
    runs = list(ranges(days, longest))
    assert [one for run in runs for one in run] == sorted(days)
    for run in runs:
        assert 1 <= len(run) <= longest
        assert (run[-1] - run[0]).days == len(run) - 1


def test_sixty_days_are_two_runs() -> None:
    sixty = [dt.date(2026, 1, 1) + dt.timedelta(days=n) for n in range(60)]
    assert [len(run) for run in ranges(sixty, DAYS_PER_RUN)] == [30, 30]


def test_stale_days_are_batched_by_what_they_need() -> None:
    stale = {
        "requests": [day(1), day(2), day(5)],
        "page_views": [day(1), day(2), day(3), day(5)],
        "transits": [day(1), day(2), day(5), day(6)],
    }
    assert batches(stale, 30) == [
        Batch((day(1), day(2)), ALL),
        Batch((day(3),), ("page_views",)),
        Batch((day(5),), ALL),
        Batch((day(6),), ("transits",)),
    ]


def test_days_that_are_being_made_are_left_out() -> None:
    days = [day(1), day(2), day(3)]
    stale = {"requests": days, "page_views": days, "transits": days}
    assert batches(stale, 30, leave_out={day(2)}) == [Batch((day(1),), ALL), Batch((day(3),), ALL)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({}, []),
        ({"dagster/partition": "2026-03-02"}, [day(2)]),
        (tags.of_range([day(1), day(2), day(3)]), [day(1), day(2), day(3)]),
        ({"dagster/partition": "de"}, []),
        ({"dagster/partition": "2026-03-02|de"}, []),
        (
            {
                "dagster/asset_partition_range_start": "at",
                "dagster/asset_partition_range_end": "de",
            },
            [],
        ),
    ],
)
def test_the_days_of_a_run_are_in_its_tags(found: dict[str, str], expected: list[dt.date]) -> None:
    assert tags.days_of_run(found) == expected


def test_keys_are_days() -> None:
    assert days_of(["2026-03-02", "2026-03-01"]) == [day(1), day(2)]


def test_many_days_are_named_in_few_words() -> None:
    assert in_words([day(1), day(2)]) == "2026-03-01, 2026-03-02"
    assert in_words([day(n) for n in range(1, 5)], limit=2) == "2026-03-01, 2026-03-02 and 2 more"


DAY = dt.date(2026, 3, 1)
DAYS = [DAY + dt.timedelta(days=n) for n in range(3)]


def stale(project: Project) -> set[tuple[str, dt.date]]:
    """Return the days that the UI marks as stale. Dagster has no public way to ask for them."""
    resolver = CachingStaleStatusResolver(
        instance=project.instance,
        asset_graph=project.defs().resolve_asset_graph(),
        loading_context=LoadingContextForTest(project.instance),
    )
    return {
        (asset, day)
        for asset in ("requests", "page_views", "transits")
        for day in DAYS
        if resolver.get_status(dg.AssetKey(asset), day.isoformat()) is StaleStatus.STALE
    }


@pytest.fixture
def made(running: Project) -> Project:
    logs.write_days(running.logs, DAY, 3)
    running.run_well("ingest")
    for day in DAYS:
        running.run_well("daily", partition=day)
    return running


def test_fresh_days_are_not_stale(made: Project) -> None:
    assert stale(made) == set()


def test_a_late_file_marks_its_day_and_then_what_is_downstream(made: Project) -> None:
    noon = dt.datetime.combine(DAYS[1], dt.time(15))
    logs.write(made.logs / "late.log", [logs.line(noon, "/late", "192.0.2.77")])
    made.run_well("ingest")
    assert stale(made) == {("requests", DAYS[1])}
    made.materialize([DAYS[1]], ["requests"])
    assert stale(made) == {("page_views", DAYS[1]), ("transits", DAYS[1])}
    made.materialize([DAYS[1]], ["page_views", "transits"])
    assert stale(made) == set()


def test_unchanged_content_is_not_stale(made: Project) -> None:
    logs.write(made.logs / "copy.log", logs.day_of_lines(DAYS[0]))
    made.run_well("ingest")
    made.materialize([DAYS[0]], ["requests"])
    assert stale(made) == set()


def test_a_run_over_several_days_leaves_nothing_stale(running: Project) -> None:
    logs.write_days(running.logs, DAY, 3)
    running.run_well("ingest")
    running.run_well("daily", tags.of_range(DAYS))
    assert stale(running) == set()
