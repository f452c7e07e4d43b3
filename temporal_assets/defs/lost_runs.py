"""Runs whose process is gone: ended, and what they had published made known to Dagster.

A run tells Dagster of its days when it has made all of them. One that was killed on the way has
published days that the UI would show as missing for good, because nothing makes again what is
there and up to date. Not here: how such runs are recognised (`lifelines`), making what they did
not come to (`sensors`, the next command).
"""

# No `from __future__ import annotations`: Dagster looks at the annotations of the shells.

import datetime as dt
from collections.abc import Iterator
from typing import Final

import dagster as dg

from temporal_assets import contracts
from temporal_assets.defs import lifelines
from temporal_assets.defs.resources import Installation
from temporal_assets.defs.tags import days_of_run
from temporal_assets.storage.manifest import Manifest

SENSOR: Final = "lost_runs"

_INTERVAL_SECONDS: Final = 30
"""A run that is lost keeps a place of the queue until it is seen."""

_VERSION: Final = "dagster/data_version"


def lost_runs_sensor() -> dg.SensorDefinition:
    """Switched on from the beginning: it starts nothing, and without it a queue stands still."""

    @dg.sensor(
        name=SENSOR,
        minimum_interval_seconds=_INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=(
            "Ends runs whose process was killed, so that they hold up no other, and shows the days"
            " that they had published."
        ),
    )
    def lost_runs(
        context: dg.SensorEvaluationContext, installation: dg.ResourceParam[Installation]
    ) -> dg.SkipReason:
        lost = settle(context.instance, installation)
        return dg.SkipReason(f"Ended: {', '.join(lost)}." if lost else "No run is lost.")

    return lost_runs


def settle(instance: dg.DagsterInstance, installation: Installation) -> list[str]:
    """End the runs whose process is gone, and show what they published. Returns their ids."""
    ended = lifelines.fail_orphans(instance, installation.settings.state)
    for run in ended:
        for manifest in _published(installation, run):
            if not _is_known(instance, manifest):
                instance.report_runless_asset_event(_event(manifest, run.run_id))
    return [run.run_id for run in ended if lifelines.is_lost(instance, run)]


def _published(installation: Installation, run: dg.DagsterRun) -> Iterator[Manifest]:
    """What is there now of the run's assets and days."""
    chosen = run.asset_selection
    for table in contracts.TABLES:
        if chosen is not None and dg.AssetKey(table.name) not in chosen:
            continue
        for day in days_of_run(run.tags):
            # What is damaged is made again, and is not there before.
            if manifest := installation.store.intact(table.name, day):
                yield manifest


def _is_known(instance: dg.DagsterInstance, manifest: Manifest) -> bool:
    latest = instance.fetch_materializations(
        dg.AssetRecordsFilter(dg.AssetKey(manifest.asset), [_key(manifest.day)]), limit=1
    ).records
    made = latest[0].asset_materialization if latest else None
    return made is not None and (made.tags or {}).get(_VERSION) == manifest.digest


def _event(manifest: Manifest, run_id: str) -> dg.AssetMaterialization:
    return dg.AssetMaterialization(
        asset_key=manifest.asset,
        partition=_key(manifest.day),
        description=f"Published by run {run_id}, which ended before it could say so.",
        metadata={"dagster/partition_row_count": manifest.rows, "bytes": manifest.size},
        tags={_VERSION: manifest.digest, "dagster/data_version_is_user_provided": "true"},
    )


def _key(day: dt.date) -> str:
    return day.isoformat()
