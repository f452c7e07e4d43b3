"""Telling runs that are under way from runs whose process is gone.

Dagster cannot see that the process of a run was killed: the run stays `STARTED` and takes a place
in the queue for as long as monitoring allows. So every run holds a lock that the operating
system releases with the process, and a run whose lock can be taken is over.

    locks/run-<id>.lock     in the state folder
"""

from __future__ import annotations

import datetime as dt
import time
from pathlib import Path
from typing import Final

import dagster as dg
from filelock import FileLock, Timeout

from temporal_assets import contracts
from temporal_assets.machine.scratch import scratch_folder

_BEGUN: Final = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
"""Statuses that Dagster itself does not end: it watches over runs that are starting."""

_GONE: Final = "The process of this run is gone. What it published is whole; start it again."

_UNSTARTED: Final = (
    "This run was written down and never started: its server was killed in between. Start it again."
)

_JOBS: Final = frozenset({"ingest", "daily", "nightly", "windows", "finish", "what_if"})
"""Jobs all of whose steps hold a lock."""

LOST: Final = "temporal_assets/lost"
"""Tag of runs that were ended here."""

_MOST_LOST: Final = 3
"""Runs that may be lost within an hour before the same work is tried once an hour only."""

_SETTLED_SECONDS: Final = 600
"""A run takes its lock with its first step. One that has none so long after its start was killed
in between."""

_LATELY: Final = dt.timedelta(hours=1)
"""Age up to which failed runs are looked at: `fail_orphans` is called twice a minute."""

_held: dict[str, FileLock] = {}
"""Locks of this process's runs by run id: a step must not release what the next one needs."""


def hold(state: Path, run_id: str) -> None:
    """Show that this process executes the run, until `release` or until the process ends."""
    if run_id in _held:
        return
    path = _path(state, run_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(state / "tmp") as scratch:
        lock = FileLock(made := scratch / path.name)
        lock.acquire()
        made.replace(path)  # whoever sees it sees it taken
    _held[run_id] = lock


def release(state: Path, run_id: str) -> None:
    """The run is over, and its process goes on. Without it `fail_orphans` tidies up."""
    lock = _held.pop(run_id, None)
    if lock:
        lock.release()
        _path(state, run_id).unlink(missing_ok=True)


def are_others_running(state: Path) -> bool:
    """Return whether another process executes a run; it judges what it publishes by itself."""
    return any(not _is_released(_path(state, one)) for one in _of_others(state))


def orphans(state: Path) -> list[str]:
    """Return the ids of runs whose process is gone and that nobody has ended yet."""
    return [one for one in _of_others(state) if _is_released(_path(state, one))]


def _of_others(state: Path) -> list[str]:
    ids = (path.stem.removeprefix("run-") for path in (state / "locks").glob("run-*.lock"))
    return sorted(one for one in ids if one not in _held)


def fail_orphans(instance: dg.DagsterInstance, state: Path) -> list[dg.DagsterRun]:
    """Mark runs as failed whose process is gone.

    Returns every run that has ended without success since the last look: those, the ones whose
    end Dagster itself has noticed, and runs that failed or were cancelled.
    """
    ended = _never_held(instance, state)  # first, because what follows removes locks
    for run_id in orphans(state):
        path = _path(state, run_id)
        run = instance.get_run_by_id(run_id)
        if run is not None and run.status is not dg.DagsterRunStatus.SUCCESS:
            ended.append(run)
        path.unlink(missing_ok=True)
    for run in ended:
        if run.status in _BEGUN:
            unstarted = run.status is dg.DagsterRunStatus.NOT_STARTED
            instance.add_run_tags(run.run_id, {LOST: "true"})
            instance.report_run_failed(run, _UNSTARTED if unstarted else _GONE)
        elif _was_killed(instance, run):
            instance.add_run_tags(run.run_id, {LOST: "true"})
            instance.report_engine_event(_GONE, run)
    return ended


def is_lost(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Return whether a run ended with its process, rather than by itself or by somebody's order."""
    stored = instance.get_run_by_id(run.run_id)
    return stored is not None and LOST in stored.tags


def lost_lately(instance: dg.DagsterInstance, now: dt.datetime) -> str:
    """A text that changes with every lost run; after three within an hour, once an hour.

    What was lost with its process is tried again. What kills its process each time is not to do
    so each minute.
    """
    lost = instance.get_run_records(dg.RunsFilter(tags={LOST: "true"}), limit=_MOST_LOST)
    hour = now - dt.timedelta(hours=1)
    if len(lost) == _MOST_LOST and all(one.create_timestamp > hour for one in lost):
        return f"{now:%Y-%m-%dT%H}"
    return lost[0].dagster_run.run_id if lost else "0"


def _was_killed(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Dagster fails runs whose process its code server has seen to end. No step has failed then."""
    if run.status is not dg.DagsterRunStatus.FAILURE:
        return False
    failures = instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    return not failures.records


def _never_held(instance: dg.DagsterInstance, state: Path) -> list[dg.DagsterRun]:
    """Runs of our assets that ended, or must have, before they took a lock."""
    settled = time.time() - _SETTLED_SECONDS
    begun = instance.get_run_records(dg.RunsFilter(statuses=_BEGUN))
    lately = dt.datetime.now(dt.UTC) - _LATELY
    failed = instance.get_run_records(
        dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE], updated_after=lately)
    )
    gone = [
        *(one for one in begun if (one.start_time or one.create_timestamp.timestamp()) < settled),
        # Dagster has seen their process end while it was starting.
        *(one for one in failed if one.start_time is None and LOST not in one.dagster_run.tags),
    ]
    return [
        one.dagster_run
        for one in gone
        if _is_ours(one.dagster_run) and not _path(state, one.dagster_run.run_id).exists()
    ]


def _is_ours(run: dg.DagsterRun) -> bool:
    """Return whether a run makes what the contracts name: assets of others hold no lock."""
    if not run.asset_selection:
        return run.job_name in _JOBS
    ours = {dg.AssetKey("log_files"), *(dg.AssetKey(table.name) for table in contracts.TABLES)}
    return ours.issuperset(run.asset_selection)


def _is_released(path: Path) -> bool:
    try:
        with FileLock(path, timeout=0):
            return True
    except (OSError, Timeout):  # gone by now, held, or not for this user to take
        return False


def _path(state: Path, run_id: str) -> Path:
    return state / "locks" / f"run-{run_id}.lock"
