"""Runs that Dagster may forget.

A run that made what is published now is never one of them: without its events the UI would show the
day as missing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import Final

import dagster as dg

_OVER: Final = [
    dg.DagsterRunStatus.SUCCESS,
    dg.DagsterRunStatus.FAILURE,
    dg.DagsterRunStatus.CANCELED,
]
"""Statuses of runs that have ended."""

_PAGE: Final = 1000
"""Events that are read at a time."""


def old_runs(instance: dg.DagsterInstance, assets: Iterable[str], days: int) -> list[str]:
    """Return ids of runs that were over `days` days before the latest one began, oldest first."""
    latest = instance.get_run_records(limit=1)
    if not latest:
        return []
    before = latest[0].create_timestamp - dt.timedelta(days=days)
    filters = dg.RunsFilter(statuses=_OVER, created_before=before)
    records = instance.get_run_records(filters, ascending=True)
    if not records:
        return []
    needed = {run_id for asset in assets for run_id in _makers(instance, asset)}
    return [
        record.dagster_run.run_id for record in records if record.dagster_run.run_id not in needed
    ]


def _makers(instance: dg.DagsterInstance, asset: str) -> Iterator[str]:
    """Yield the runs that made the newest version of each partition."""
    seen: set[str | None] = set()
    cursor = None
    while True:
        page = instance.fetch_materializations(dg.AssetKey(asset), limit=_PAGE, cursor=cursor)
        for record in page.records:
            if record.partition_key not in seen:
                seen.add(record.partition_key)
                yield record.run_id
        cursor = page.cursor
        if not page.has_more:
            return
