"""Runs whose process is gone: marking them as failed and recording what they published.

A run tells Dagster of its days when it has built all of them. One that was killed on the way has
published days that the UI would show as missing for good, because nothing rebuilds what is up to
date. Days that it did not check are checked by a run of `finish`, which also releases the policy. A
new history (Dagster's database moved to PostgreSQL, or was lost) is told of everything published.

Not here: how such runs are recognised (`lifelines`), building what they did not come to (`sensors`,
the next command).
"""

# No `from __future__ import annotations`: Dagster evaluates the annotations of its functions.

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import dagster as dg

from temporal_assets import contracts
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.jobs import FINISH, Job
from temporal_assets.defs.metadata.metadata import plottable
from temporal_assets.defs.runs import lifelines
from temporal_assets.defs.runs.tags import days_of_run, of_range
from temporal_assets.ops import catalogue
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.sealed import digest_of
from temporal_assets.windows import registry
from temporal_assets.windows.policy.crawl_policy import CRAWL_POLICY
from temporal_assets.windows.policy.released_policy import RELEASED_POLICY, is_released

SENSOR: Final = "lost_runs"

_INTERVAL_SECONDS: Final = 30
"""Seconds between two looks: a lost run keeps a place in the queue until it is found."""

_VERSION: Final = "dagster/data_version"
"""Tag with the digest of a materialisation's content."""

_BEFORE: Final = "Published before this history of Dagster began."

_NAMES: Final = (*(table.name for table in contracts.TABLES), RELEASED_POLICY)
"""Assets of days: the tables, and the release of the policy."""


def lost_runs_sensor(finish: Job) -> dg.SensorDefinition:
    """Return the sensor, which is on from the beginning: otherwise a queue stands still."""

    @dg.sensor(
        name=SENSOR,
        job=finish,
        minimum_interval_seconds=_INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=(
            "Ends runs whose process was killed, so that they hold up no other, shows the days that"
            " they had published, and has those judged that they did not come to judge."
        ),
    )
    def lost_runs(
        context: dg.SensorEvaluationContext, installation: dg.ResourceParam[Installation]
    ) -> dg.SensorResult:
        lost = settle(context.instance, installation)
        message = f"Ended: {', '.join(lost)}." if lost else "No run is lost."
        looked = _last_failure(context.instance)
        if looked == context.cursor or lifelines.are_others_running(installation.settings.state):
            return dg.SensorResult(skip_reason=message, cursor=context.cursor)
        if installation.store.assets() and not catalogue.is_current(installation.store):
            catalogue.refresh(installation.store)
        left = registry.unfinished(installation.store, installation.settings)
        if not left:
            return dg.SensorResult(skip_reason=message, cursor=looked)
        return dg.SensorResult(run_requests=[_request(left, looked)], cursor=looked)

    return lost_runs


def finishing(left: Iterable[str]) -> tuple[list[dg.AssetKey], list[dg.AssetCheckKey]]:
    """Return the assets and checks that a run of `finish` executes for unfinished assets."""
    released = [dg.AssetKey(name) for name in left if name == RELEASED_POLICY]
    checks = [
        dg.AssetCheckKey(dg.AssetKey(name), check.name)
        for name in left
        if name != RELEASED_POLICY
        for check in contracts.table(name).checks
    ]
    return released, checks


def _last_failure(instance: dg.DagsterInstance) -> str:
    """Return the id of the last run that ended without success; only such runs leave work.

    For a run of `finish` itself, it changes once an hour.
    """
    filters = dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED])
    records = instance.get_run_records(filters, limit=1, order_by="update_timestamp")
    if not records:
        return "none"
    run, ended = records[0].dagster_run, records[0].update_timestamp
    return f"{ended:%Y-%m-%dT%H}" if run.job_name == FINISH else run.run_id


def _request(left: Mapping[str, Sequence[dt.date]], looked: str) -> dg.RunRequest:
    """Return the request of a run that finishes what lost runs have left."""
    state = {name: [str(day) for day in days] for name, days in left.items()}
    released, checks = finishing(left)
    return dg.RunRequest(
        run_key=f"{FINISH}:{digest_of([looked, state])}",
        asset_selection=released,
        asset_check_keys=checks,
        tags=of_range(left[RELEASED_POLICY]) if released else {},
    )


def settle(instance: dg.DagsterInstance, installation: Installation) -> list[str]:
    """Mark runs without a process as failed, record what they published, and return their ids.

    A history that knows no run is new, and is told of everything that is published.
    """
    if not instance.get_run_ids(limit=1):
        _show(instance, _all_published(installation), _BEFORE)
    ended = lifelines.fail_orphans(instance, installation.settings.state)
    for run in ended:
        why = f"Published by run {run.run_id}, which ended before it could say so."
        _show(instance, _published(installation, run), why)
    return [run.run_id for run in ended if lifelines.is_lost(instance, run)]


def _show(
    instance: dg.DagsterInstance, published: Iterable[tuple[str, Manifest]], description: str
) -> None:
    for asset, manifest in published:
        if not _is_known(instance, asset, manifest):
            instance.report_runless_asset_event(_event(asset, manifest, description))


def _all_published(installation: Installation) -> Iterator[tuple[str, Manifest]]:
    """Yield (asset, manifest) of all that is published, whoever made it."""
    for name in _NAMES:
        stored = CRAWL_POLICY.name if name == RELEASED_POLICY else name
        for day in installation.store.days(stored):
            if manifest := _intact(installation, name, day):
                yield name, manifest


def _published(installation: Installation, run: dg.DagsterRun) -> Iterator[tuple[str, Manifest]]:
    """Yield (asset, manifest) of what is published of the run's assets and days."""
    chosen = run.asset_selection
    for name in _NAMES:
        if chosen is not None and dg.AssetKey(name) not in chosen:
            continue
        for day in days_of_run(run.tags):
            # What is damaged is made again, and is not there before.
            if manifest := _intact(installation, name, day):
                yield name, manifest


def _intact(installation: Installation, name: str, day: dt.date) -> Manifest | None:
    store = installation.store
    if name != RELEASED_POLICY:
        return store.intact(name, day)
    policy = store.intact(CRAWL_POLICY.name, day)
    is_there = policy and is_released(store, installation.settings, policy)
    return policy if is_there else None


def _is_known(instance: dg.DagsterInstance, asset: str, manifest: Manifest) -> bool:
    """Return True if Dagster's last record of a day is of this content."""
    latest = instance.fetch_materializations(
        dg.AssetRecordsFilter(dg.AssetKey(asset), [_key(manifest.day)]), limit=1
    ).records
    materialization = latest[0].asset_materialization if latest else None
    return (
        materialization is not None
        and (materialization.tags or {}).get(_VERSION) == manifest.digest
    )


def _event(asset: str, manifest: Manifest, description: str) -> dg.AssetMaterialization:
    return dg.AssetMaterialization(
        asset_key=asset,
        partition=_key(manifest.day),
        description=description,
        metadata=plottable({"dagster/partition_row_count": manifest.rows, "bytes": manifest.size}),
        tags={_VERSION: manifest.digest, "dagster/data_version_is_user_provided": "true"},
    )


def _key(day: dt.date) -> str:
    return day.isoformat()
