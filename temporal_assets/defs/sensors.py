"""Sensors: what runs because there is something new.

One sensor watches the folders of the logs. Files that are new or changed, and have not been
written to for a minute, are read by a run of `ingest`, and once more those whose lines were lost.
Days whose logs have changed, that were never made, or that a failed run left half-way, are made by
runs of `daily`, in batches. The window of the latest day that is over is made by a run of
`windows`, once none of its days is being made. A second sensor makes it after a run of `nightly`.
Whether a day is up to date is decided by content, from the manifests, not by Dagster's history.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import dagster as dg

from temporal_assets.days import asset_names, staleness
from temporal_assets.defs.days import broken_of
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.jobs import Job
from temporal_assets.defs.partitions import DAYS_PER_RUN, first_day, in_words, today
from temporal_assets.defs.runs import lifelines, lost_runs, tags
from temporal_assets.defs.runs.batches import Batch, Stale, batches
from temporal_assets.defs.runs.sensor_cursor import PastRequests
from temporal_assets.defs.runs.states import LatestWindow, latest_window, states_of
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import torn_files
from temporal_assets.landing.source_files import Pending, pending_files
from temporal_assets.settings import Settings
from temporal_assets.storage.sealed import digest_of
from temporal_assets.windows import registry
from temporal_assets.windows.frame.window_end import LATEST_OF

SETTLED: Final = dt.timedelta(minutes=1)
"""Time for which a file must be unchanged, so that a file being copied is not read half."""

_INTERVAL_SECONDS: Final = 60
"""Seconds between two looks: logs rotate hourly or daily."""

_UNFINISHED: Final = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
"""Statuses of runs that have not ended."""

_READING_JOBS: Final = frozenset({"ingest", "nightly"})
"""Jobs that read log files."""


@dataclass(frozen=True, slots=True)
class _Unread:
    """Work for a run of `ingest`."""

    pending: Sequence[Pending]
    damaged: Sequence[Path]
    """Damaged records of files that were read."""
    torn: Sequence[str]
    """Files whose lines were partly lost and that can be read again."""

    def __bool__(self) -> bool:
        return bool(self.pending or self.damaged or self.torn)

    @property
    def identity(self) -> str:
        """Return a digest of the files and of the settings they are read with."""
        seen = ((item.sighting, item.options) for item in self.pending)
        files = sorted(
            (sighting.path, sighting.size, sighting.mtime_ns, how) for sighting, how in seen
        )
        return digest_of([files, list(map(str, self.damaged)), list(self.torn)])


def log_files_sensor(ingest: Job, daily_job: Job, windows_job: Job) -> dg.SensorDefinition:
    """Return the sensor for new log files, which is off until somebody switches it on."""

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
        asked = PastRequests.from_cursor(context.cursor)
        lost_runs.settle(context.instance, installation)
        return _tick(context.instance, installation, asked, dt.datetime.now(dt.UTC))

    return new_log_files


NIGHTLY_WINDOWS: Final = "nightly_windows"


def nightly_windows_sensor(nightly: Job, windows_job: Job) -> dg.SensorDefinition:
    """Return the sensor for windows after `nightly`, which is on from the beginning."""

    @dg.run_status_sensor(
        run_status=dg.DagsterRunStatus.SUCCESS,
        name=NIGHTLY_WINDOWS,
        monitored_jobs=[nightly],
        request_job=windows_job,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Makes the window of the latest day when a run of `nightly` has succeeded.",
    )
    def nightly_windows(
        context: dg.RunStatusSensorContext, installation: dg.ResourceParam[Installation]
    ) -> dg.RunRequest | dg.SkipReason:
        settings = installation.settings
        now = dt.datetime.now(dt.UTC)
        due = registry.due(installation.store, settings, before=today(settings, now))
        if due is None or due.day < first_day(settings):
            return dg.SkipReason("The latest window is up to date.")
        filters = dg.RunsFilter(job_name="windows", statuses=_UNFINISHED)
        runs = context.instance.get_runs(filters)
        if any(due.day in tags.days_of_run(run.tags) for run in runs):
            return dg.SkipReason(f"The window of {due.day} is being made.")
        return dg.RunRequest(
            run_key=f"windows:{due.day}:{context.dagster_run.run_id}",
            tags=tags.of_range([due.day]),
            asset_selection=[dg.AssetKey(asset) for asset in due.assets],
        )

    return nightly_windows


def _tick(
    instance: dg.DagsterInstance, installation: Installation, asked: PastRequests, now: dt.datetime
) -> dg.SensorResult:
    """Return the runs to request now: reading new files first, then days and windows."""
    settings = installation.settings
    unfinished = instance.get_runs(filters=dg.RunsFilter(statuses=_UNFINISHED))
    if any(run.job_name in _READING_JOBS for run in unfinished):
        return _no_requests(asked, "Log files are being read.")
    inventory = Inventory.load(settings)
    # Part of every state: what was lost with its process is asked for again.
    lost = lifelines.lost_lately(instance, now)
    unread = _unread(inventory, settings)
    if unread and unread.identity != asked.files:
        # Days are made after all their files have been read, not after each.
        request = _ingest_request(unread, lost, f"{now}")
        return _result(replace(asked, files=unread.identity), [request])
    requests: list[dg.RunRequest] = []
    if unread:
        # That run has failed. It is asked for again once an hour; days go on meanwhile.
        requests.append(_ingest_request(unread, lost, f"{now:%Y-%m-%dT%H}"))
    if unread.damaged:
        # No day is made of what is not known in full.
        return _result(asked, requests)
    busy = {day for run in unfinished for day in tags.days_of_run(run.tags)}
    stale, outside = _stale(installation, inventory, now)
    states = states_of(installation, inventory, stale, lost)
    asked_before = asked.asked_before(states)
    day_batches = batches(stale, DAYS_PER_RUN, leave_out=busy | asked_before)
    requests += [_daily_request(batch, states, now) for batch in day_batches]
    new = {day for batch in day_batches for day in batch.days}
    asked = asked.with_days(states, new)
    window = latest_window(installation, lost, now)
    asked, windows = _window_requests(installation, window, asked, busy, new, now)
    requests += windows
    if requests:
        return _result(asked, requests)
    return _no_requests(asked, _reason(outside, sorted(asked_before - busy)))


def _unread(inventory: Inventory, settings: Settings) -> _Unread:
    torn = [file.id for file, is_there in torn_files(inventory, settings) if is_there]
    return _Unread(pending_files(inventory, settings, settled=SETTLED), inventory.damaged, torn)


def _stale(
    installation: Installation, inventory: Inventory, now: dt.datetime
) -> tuple[Stale, list[dt.date]]:
    """Return the stale days by asset that can be built now, and stale days without a partition.

    A day can be built once it is over, has a partition, and no check blocks it.
    """
    settings = installation.settings
    first, last = first_day(settings), today(settings, now)
    days_of_asset = staleness.stale(installation.store, inventory, settings)
    stale: dict[str, list[dt.date]] = {
        asset: [day for day in days if first <= day < last] for asset, days in days_of_asset.items()
    }
    fresh = {day for days in stale.values() for day in days} - set(stale["requests"])
    blocked = {day for day in fresh if broken_of(installation, "requests", day)}
    for asset in asset_names.DERIVED:
        stale[asset] = [day for day in stale[asset] if day not in blocked]
    return stale, [day for day in days_of_asset["requests"] if day < first]


def _ingest_request(unread: _Unread, lost: str, attempt: str) -> dg.RunRequest:
    return dg.RunRequest(
        run_key=f"ingest:{digest_of([unread.identity, lost, attempt])}",
        job_name="ingest",
        tags={"log_files": str(len(unread.pending))},
    )


def _daily_request(batch: Batch, states: Mapping[dt.date, str], now: dt.datetime) -> dg.RunRequest:
    key = digest_of([[states[day] for day in batch.days], now])
    return dg.RunRequest(
        run_key=f"daily:{batch.days[0]}..{batch.days[-1]}:{key}",
        job_name="daily",
        tags=tags.of_range(batch.days),
        asset_selection=[dg.AssetKey(asset) for asset in batch.assets],
    )


def _window_requests(
    installation: Installation,
    window: LatestWindow | None,
    asked: PastRequests,
    busy: Collection[dt.date],
    new: Collection[dt.date],
    now: dt.datetime,
) -> tuple[PastRequests, list[dg.RunRequest]]:
    """Return the request for the latest window, if it is due, and the updated memory.

    It waits for days that are being built. Days that failed hold up no window.
    """
    if window is None or any(day in new for day in window.days):
        # A day that is made again may come out as it was: the window is asked for all the same.
        return replace(asked, window=""), []
    held_up = any(day in busy or broken_of(installation, LATEST_OF, day) for day in window.days)
    if held_up or window.state == asked.window:
        return asked, []
    request = dg.RunRequest(
        run_key=f"windows:{window.day}:{digest_of([window.state, now])}",
        job_name="windows",
        tags=tags.of_range([window.day]),
        asset_selection=[dg.AssetKey(asset) for asset in window.assets],
    )
    return replace(asked, window=window.state), [request]


def _reason(outside: Sequence[dt.date], failed: Sequence[dt.date]) -> str:
    """Return why nothing is requested."""
    if outside:
        return (
            f"The logs hold {in_words(outside)}, before the first partition: set or remove"
            " `orchestration.first_day`."
        )
    if failed:
        return (
            f"Not made when asked for: {in_words(failed)}. Asked for again when the logs of these"
            " days or the settings change; their runs say what is wrong."
        )
    return "No new log files, and every day is up to date."


def _result(asked: PastRequests, requests: list[dg.RunRequest]) -> dg.SensorResult:
    return dg.SensorResult(run_requests=requests, cursor=asked.cursor)


def _no_requests(asked: PastRequests, reason: str) -> dg.SensorResult:
    return dg.SensorResult(skip_reason=reason, cursor=asked.cursor)
