"""Telling runs that are under way from runs whose process is gone.

Dagster cannot see that the process of a run was killed: the run stays `STARTED` and takes a place
in the queue for as long as monitoring allows. So every run holds a lock that the operating
system releases with the process, and a run whose lock can be taken is over.

    locks/run-<id>.lock     in the state folder
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import dagster as dg
from filelock import FileLock, Timeout

_UNDER_WAY: Final = [
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]

_held: dict[str, FileLock] = {}
"""Locks of this process's runs by run id: a step must not release what the next one needs."""


def hold(state: Path, run_id: str) -> None:
    """Show that this process executes the run, until `release` or until the process ends."""
    if run_id in _held:
        return
    path = _path(state, run_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    lock.acquire()
    _held[run_id] = lock


def release(state: Path, run_id: str) -> None:
    """The run is over, and its process goes on."""
    lock = _held.pop(run_id, None)
    if lock:
        lock.release()
        _path(state, run_id).unlink(missing_ok=True)


def fail_orphans(instance: dg.DagsterInstance, state: Path) -> list[str]:
    """Mark runs as failed whose process is gone. Returns their ids."""
    orphans = []
    for run in instance.get_runs(filters=dg.RunsFilter(statuses=_UNDER_WAY)):
        path = _path(state, run.run_id)
        if run.run_id in _held or not path.exists():
            continue  # ours, or it has not come to its first step yet
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            continue
        instance.report_run_failed(
            run, "The process of this run is gone. What it published is whole; start it again."
        )
        lock.release()
        path.unlink(missing_ok=True)
        orphans.append(run.run_id)
    return orphans


def _path(state: Path, run_id: str) -> Path:
    return state / "locks" / f"run-{run_id}.lock"
