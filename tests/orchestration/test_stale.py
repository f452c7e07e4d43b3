"""Stale marks in the UI: decided by content, per day."""

from __future__ import annotations

import datetime as dt

import dagster as dg
import pytest

from temporal_assets.defs.runs import tags
from tests import logs
from tests.dagster_internals import CachingStaleStatusResolver, LoadingContextForTest, StaleStatus
from tests.orchestration.conftest import Project

DAY = dt.date(2026, 3, 1)
DAYS = [DAY + dt.timedelta(days=n) for n in range(3)]


def stale(project: Project) -> set[tuple[str, dt.date]]:
    """What the UI marks. Dagster has no public way to ask for it."""
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
