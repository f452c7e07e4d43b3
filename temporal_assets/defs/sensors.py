"""When things happen by themselves because something is there.

One sensor watches the folders of the logs. Files that are new or changed, and have not been
written to for a minute, are read by a run of `ingest`. Days whose logs have changed, that were
never made, or that a failed run left half-way, are made by runs of `daily`, in batches. The window
of the latest day that is over is made by a run of `windows`, once none of its days is being made.
Whether a day is up to date is decided by content, from the manifests, not by Dagster's history.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import dagster as dg

from temporal_assets import daily
from temporal_assets.defs import lifelines, lost_runs, tags
from temporal_assets.defs.batches import Batch, Stale, batches
from temporal_assets.defs.days import broken_of
from temporal_assets.defs.jobs import Job
from temporal_assets.defs.partitions import days_between, first_day, in_words, today
from temporal_assets.defs.resources import Installation
from temporal_assets.storage.inventory import Inventory, Pending
from temporal_assets.storage.manifest import digest_of
from temporal_assets.windows.asset import first_of
from temporal_assets.windows.registry import LATEST_OF, due

SETTLED: Final = dt.timedelta(minutes=1)
"""How long a file must have been left alone: one that is being copied is not read half."""

_INTERVAL_SECONDS: Final = 60
"""Logs rotate hourly or daily; a look at the folders every minute is soon enough."""

_UNFINISHED: Final = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]

_RUN_KEY: Final = "dagster/run_key"
"""Dagster's tag of runs that a sensor asked for."""

_READING_JOBS: Final = frozenset({"ingest", "nightly"})


@dataclass(frozen=True, slots=True)
class _Memory:
    """What one tick tells the next, as the sensor's cursor."""

    asked: str = ""
    """Identity of the files that a run was asked to read last."""

    @classmethod
    def from_cursor(cls, cursor: str | None) -> _Memory:
        return cls(json.loads(cursor)["asked"]) if cursor else cls()


@dataclass(frozen=True, slots=True)
class _Unread:
    """What a run of `ingest` has to do."""

    pending: Sequence[Pending]
    damaged: Sequence[Path]
    """Records of files that were read."""

    def __bool__(self) -> bool:
        return bool(self.pending or self.damaged)

    @property
    def identity(self) -> str:
        seen = (item.sighting for item in self.pending)
        files = sorted((one.path, one.size, one.mtime_ns) for one in seen)
        return digest_of([files, list(map(str, self.damaged))])


def log_files_sensor(ingest: Job, daily_job: Job, windows_job: Job) -> dg.SensorDefinition:
    """Switched off until somebody switches it on."""

    @dg.sensor(
        name="new_log_files",
        jobs=[ingest, daily_job, windows_job],
        minimum_interval_seconds=_INTERVAL_SECONDS,
        description=(
            "Reads log files that are new or changed, then makes the days they change, however"
            " old these are, and then the window of the latest day."
        ),
    )
    def new_log_files(
        context: dg.SensorEvaluationContext, installation: dg.ResourceParam[Installation]
    ) -> dg.SensorResult:
        memory = _Memory.from_cursor(context.cursor)
        lost_runs.settle(context.instance, installation)
        return _tick(context.instance, installation, memory, dt.datetime.now(dt.UTC))

    return new_log_files


def _tick(
    instance: dg.DagsterInstance, installation: Installation, memory: _Memory, now: dt.datetime
) -> dg.SensorResult:
    settings = installation.settings
    unfinished = instance.get_runs(filters=dg.RunsFilter(statuses=_UNFINISHED))
    if any(run.job_name in _READING_JOBS for run in unfinished):
        return _nothing(memory, "Log files are being read.")
    inventory = Inventory.load(settings)
    # Part of every key: what was lost with its process is asked for again.
    lost = lifelines.lost_lately(instance, now)
    unread = _Unread(inventory.pending(settings, settled=SETTLED), inventory.damaged)
    if unread and unread.identity != memory.asked:
        memory = replace(memory, asked=unread.identity)
        # Days are made after all their files have been read, not after each.
        return _result(memory, [_ingest_request(unread, lost)])
    requests: list[dg.RunRequest] = []
    if unread:
        # That run has failed. It is asked for again once an hour; days go on meanwhile.
        requests.append(_ingest_request(unread, lost, f"{now:%Y-%m-%dT%H}"))
    if unread.damaged:
        # No day is made of what is not known in full.
        return _result(memory, requests)
    busy = {day for run in unfinished for day in tags.days_of_run(run.tags)}
    stale, outside = _stale(installation, inventory, now)
    days = [
        (batch.days, _daily_request(installation, inventory, batch, lost))
        for batch in batches(stale, settings.orchestration.days_per_run, leave_out=busy)
    ]
    requests += [request for _, request in days]
    # Days that failed stay as they are and hold up no window; those that are made now do.
    busy |= {day for some, one in days if not _was_asked(instance, one) for day in some}
    requests += _window_requests(installation, busy, lost, now)
    if requests:
        return _result(memory, requests)
    if outside:
        return _nothing(
            memory,
            f"The logs hold {in_words(outside)}, before the first partition: set or remove"
            " `orchestration.first_day`.",
        )
    return _nothing(memory, "No new log files, and every day is up to date.")


def _stale(
    installation: Installation, inventory: Inventory, now: dt.datetime
) -> tuple[Stale, list[dt.date]]:
    """Days to be made: over, within the partitions, not waiting for somebody to mend them.

    And the days that have no partition.
    """
    settings = installation.settings
    first, last = first_day(settings), today(settings, now)
    found = daily.stale(installation.store, inventory, settings)
    stale: dict[str, list[dt.date]] = {
        asset: [day for day in days if first <= day < last] for asset, days in found.items()
    }
    fresh = {day for days in stale.values() for day in days} - set(stale["requests"])
    blocked = {day for day in fresh if broken_of(installation, "requests", day)}
    for asset in daily.DERIVED:
        stale[asset] = [day for day in stale[asset] if day not in blocked]
    return stale, [day for day in found["requests"] if day < first]


def _ingest_request(unread: _Unread, lost: str, attempt: str = "first") -> dg.RunRequest:
    return dg.RunRequest(
        run_key=f"ingest:{unread.identity}:{lost}:{attempt}",
        job_name="ingest",
        tags={"log_files": str(len(unread.pending))},
    )


def _daily_request(
    installation: Installation, inventory: Inventory, batch: Batch, lost: str
) -> dg.RunRequest:
    """The key names the days and what they are made from: a failure is not repeated as it is."""
    sources: list[Any] = [daily.requests_digest(installation.settings)]
    for day in batch.days:
        made = installation.store.manifest("requests", day)
        sources.append([item.digest for item in inventory.inputs(day)])
        sources.append(None if "requests" in batch.assets or made is None else made.digest)
    key = f"daily:{batch.days[0]}..{batch.days[-1]}:{digest_of([batch.assets, sources])}"
    return dg.RunRequest(
        run_key=f"{key}:{lost}",
        job_name="daily",
        tags=tags.of_range(batch.days),
        asset_selection=[dg.AssetKey(asset) for asset in batch.assets],
    )


def _was_asked(instance: dg.DagsterInstance, request: dg.RunRequest) -> bool:
    """Whether Dagster has a run for the request already, and so starts none."""
    filters = dg.RunsFilter(tags={_RUN_KEY: str(request.run_key)})
    return bool(instance.get_runs(filters=filters, limit=1))


def _window_requests(
    installation: Installation, busy: Collection[dt.date], lost: str, now: dt.datetime
) -> list[dg.RunRequest]:
    """At most one: for the latest day that is over, asked for once per state of its window."""
    store, settings = installation.store, installation.settings
    found = due(store, settings, before=today(settings, now))
    if found is None or found.day < first_day(settings):
        return []
    window = days_between(first_of(settings, found.day), found.day)
    if any(day in busy or broken_of(installation, LATEST_OF, day) for day in window):
        return []
    days = [store.manifest(LATEST_OF, day) for day in window]
    state = digest_of([found.assets, [day and day.digest for day in days], str(settings.window)])
    return [
        dg.RunRequest(
            run_key=f"windows:{found.day}:{state}:{lost}",
            job_name="windows",
            tags=tags.of_range([found.day]),
            asset_selection=[dg.AssetKey(asset) for asset in found.assets],
        )
    ]


def _result(memory: _Memory, requests: list[dg.RunRequest]) -> dg.SensorResult:
    return dg.SensorResult(run_requests=requests, cursor=json.dumps(asdict(memory)))


def _nothing(memory: _Memory, reason: str) -> dg.SensorResult:
    return dg.SensorResult(skip_reason=reason, cursor=json.dumps(asdict(memory)))
