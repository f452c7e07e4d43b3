"""The event log in batches holds what Dagster's own would."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster import DagsterEventType, EventLogEntry

from temporal_assets.defs.runs.event_log import BatchedEventLog
from tests.dagster_internals import AssetCheckEvaluationPlanned, DagsterEvent, SqliteEventLogStorage

_DAYS = dg.DailyPartitionsDefinition("2026-01-01", end_date="2026-03-01")
_SOME = _DAYS.subset_with_partition_keys(["2026-02-01", "2026-02-02"]).to_serializable_subset()
_QUERIES = (
    "SELECT asset_key, check_name, partition, run_id, execution_status, evaluation_event,"
    " evaluation_event_timestamp, evaluation_event_storage_id FROM asset_check_executions"
    " ORDER BY check_name, partition",
    "SELECT run_id, event, dagster_event_type, timestamp, step_key, asset_key, partition"
    " FROM event_logs ORDER BY id",
)


def planned(name: str, subset: Any) -> EventLogEntry:
    event = DagsterEvent(
        event_type_value=DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED.value,
        job_name="daily",
        step_key="checks",
        event_specific_data=AssetCheckEvaluationPlanned(
            asset_key=dg.AssetKey("requests"), check_name=name, partitions_subset=subset
        ),
    )
    return EventLogEntry(
        error_info=None,
        level=10,
        user_message="",
        run_id="run",
        timestamp=1.5,
        step_key="checks",
        job_name="daily",
        dagster_event=event,
    )


def stored(folder: Path) -> list[Any]:
    with sqlite3.connect(folder / "index.db") as index:
        return [index.execute(query).fetchall() for query in _QUERIES]


@pytest.mark.parametrize("subset", [_SOME, None])
def test_checks_are_planned_as_dagster_plans_them(tmp_path: Path, subset: Any) -> None:
    events = [planned(name, subset) for name in ("no_nulls", "has_rows")]
    theirs = SqliteEventLogStorage(str(tmp_path / "theirs"))
    for event in events:
        theirs.store_event(event)
    theirs.dispose()
    ours = BatchedEventLog(str(tmp_path / "ours"))
    ours.store_event_batch(events)
    ours.dispose()
    assert stored(tmp_path / "ours") == stored(tmp_path / "theirs")
