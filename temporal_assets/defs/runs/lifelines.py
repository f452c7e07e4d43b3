"""Telling runs that are under way from runs whose process is gone.

Dagster cannot see that the process of a run was killed: the run stays `STARTED` and takes a place
in the queue for as long as monitoring allows. So every run holds a lock that the operating
system releases with the process, and a run whose locks can all be taken was killed. A process that
comes to the end of its steps writes a note: the run is about to end, or another process of it
goes on, as some executors have it.

    locks/run-<id>.<number>.lock     in the state folder, one for each process of the run
    locks/run-<id>.<number>.over     the same, when its steps are over
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

import dagster as dg
from filelock import FileLock, Timeout

from temporal_assets import contracts
from temporal_assets.machine.scratch import scratch_folder
from temporal_assets.windows.policy.released_policy import RELEASED_POLICY

_BEGUN: Final = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
"""Statuses of runs that Dagster does not end itself, unlike runs that are starting."""

_GONE: Final = "The process of this run is gone. What it published is whole; start it again."

_UNSTARTED: Final = (
    "This run was written down and never started: its server was killed in between. Start it again."
)

_JOBS: Final = frozenset({"ingest", "daily", "nightly", "windows", "finish", "what_if"})
"""Jobs all of whose steps hold a lock."""

LOST: Final = "temporal_assets/lost"
"""Tag of runs that were marked as failed here."""

_MOST_LOST: Final = 3
"""Runs that may be lost within an hour before the same work is tried once an hour only."""

_SETTLED_SECONDS: Final = 600
"""A run takes its lock with its first step. One that has none so long after its start, or after
one of its processes was over, was killed in between."""

_OVER: Final = ".over"

_LATELY: Final = dt.timedelta(hours=1)
"""Age up to which failed runs are looked at: `fail_orphans` is called twice a minute."""


@contextmanager
def held(state: Path, run_id: str) -> Iterator[Path]:
    """Hold a lock that shows that this process executes the run; the lock is removed afterwards."""
    folder = state / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"run-{run_id}.{uuid4().hex[:8]}.lock"
    with scratch_folder(state / "tmp") as scratch:
        lock = FileLock(lock_file := scratch / path.name)
        lock.acquire()
        lock_file.replace(path)  # whoever sees it sees it taken
    try:
        yield path
    finally:
        lock.release()
        path.unlink(missing_ok=True)


@contextmanager
def of_steps(state: Path, run_id: str) -> Iterator[None]:
    """Hold the lock for steps of a run, before whose end Dagster still has work to do."""
    with held(state, run_id) as path:
        try:
            yield
        finally:
            path.with_suffix(_OVER).touch()


def are_others_running(state: Path, own: str = "") -> bool:
    """Return True if a process executes another run than `own`; it checks what it publishes."""
    return any(
        not _is_released(path)
        for run_id, paths in _locks(state).items()
        for path in paths
        if run_id != own
    )


def orphans(state: Path) -> list[str]:
    """Return the ids of runs whose process was killed and that nobody has ended yet."""
    return [
        run_id
        for run_id, paths in _locks(state).items()
        if any(path.suffix != _OVER for path in paths) and all(map(_is_released, paths))
    ]


def _locks(state: Path) -> dict[str, list[Path]]:
    """Return locks and marks by run."""
    paths_of_run: dict[str, list[Path]] = {}
    for path in sorted((state / "locks").glob("run-*")):
        paths_of_run.setdefault(path.name.removeprefix("run-").split(".")[0], []).append(path)
    return paths_of_run


def fail_orphans(instance: dg.DagsterInstance, state: Path) -> list[dg.DagsterRun]:
    """Mark runs as failed whose process is gone.

    Returns every run that has ended without success since the last look: those, the ones whose
    end Dagster itself has noticed, and runs that failed or were cancelled.
    """
    ended = _never_held(instance, state)  # first, because what follows removes locks
    for run_id, paths in _locks(state).items():
        if not all(map(_is_released, paths)):
            continue
        run = instance.get_run_by_id(run_id)
        if run is not None and run.status in _BEGUN and _may_go_on(instance, run, paths):
            continue
        if run is not None and run.status is not dg.DagsterRunStatus.SUCCESS:
            ended.append(run)
        for path in paths:
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
    """Return True if a run ended because its process did, rather than by itself or by order."""
    stored = instance.get_run_by_id(run.run_id)
    return stored is not None and LOST in stored.tags


def lost_lately(instance: dg.DagsterInstance, now: dt.datetime) -> str:
    """Return a text that changes with every lost run; after three within an hour, once an hour.

    What was lost with its process is tried again. What kills its process each time is not to do so
    each minute.
    """
    lost = instance.get_run_records(dg.RunsFilter(tags={LOST: "true"}), limit=_MOST_LOST)
    hour = now - dt.timedelta(hours=1)
    if len(lost) == _MOST_LOST and all(record.create_timestamp > hour for record in lost):
        return f"{now:%Y-%m-%dT%H}"
    return lost[0].dagster_run.run_id if lost else "0"


def _was_killed(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Return True if Dagster failed a run because its process was gone: no step has failed."""
    if run.status is not dg.DagsterRunStatus.FAILURE:
        return False
    failures = instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    return not failures.records


def _never_held(instance: dg.DagsterInstance, state: Path) -> list[dg.DagsterRun]:
    """Return runs of our assets whose process ended before it took a lock."""
    settled, marked = time.time() - _SETTLED_SECONDS, _locks(state)
    begun = instance.get_run_records(dg.RunsFilter(statuses=_BEGUN))
    lately = dt.datetime.now(dt.UTC) - _LATELY
    failed = instance.get_run_records(
        dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE], updated_after=lately)
    )
    orphaned = [
        *(
            record
            for record in begun
            if (record.start_time or record.create_timestamp.timestamp()) < settled
        ),
        # Dagster has seen their process end while it was starting.
        *(
            record
            for record in failed
            if record.start_time is None and LOST not in record.dagster_run.tags
        ),
    ]
    return [
        record.dagster_run
        for record in orphaned
        if _is_ours(record.dagster_run)
        and record.dagster_run.run_id not in marked
        and not _is_watched(instance, record.dagster_run)
    ]


def _may_go_on(instance: dg.DagsterInstance, run: dg.DagsterRun, paths: list[Path]) -> bool:
    """Return True if another process of the run may begin: none was killed, one just ended."""
    if not all(path.suffix == _OVER for path in paths):
        return False
    return all(map(_is_just_over, paths)) or _is_watched(instance, run)


def _is_watched(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Return True if a run has a process for each step, under a launcher that monitors the run.

    On Kubernetes a step waits for a node for as long as it takes; Dagster ends the run when its pod
    is gone.
    """
    if run.is_finished or not instance.run_launcher.supports_check_run_worker_health:
        return False
    workers = {dg.DagsterEventType.STEP_WORKER_STARTING}
    return bool(instance.get_records_for_run(run.run_id, of_type=workers, limit=1).records)


def _is_ours(run: dg.DagsterRun) -> bool:
    """Return True if a run builds assets of the contracts: other assets hold no lock."""
    if not run.asset_selection:
        return run.job_name in _JOBS
    names = ("log_files", RELEASED_POLICY, *(table.name for table in contracts.TABLES))
    return {dg.AssetKey(name) for name in names}.issuperset(run.asset_selection)


def _is_released(path: Path) -> bool:
    if path.suffix == _OVER:
        return True
    try:
        with FileLock(path, timeout=0):
            return True
    except (OSError, Timeout):  # gone by now, held, or not for this user to take
        return False


def _is_just_over(path: Path) -> bool:
    if path.suffix != _OVER:
        return False
    try:
        return path.stat().st_mtime > time.time() - _SETTLED_SECONDS
    except FileNotFoundError:  # somebody else has tidied up
        return True
