"""Telling runs that are under way from runs whose process is gone.

Dagster cannot see that the process of a run was killed: the run stays `STARTED` and takes a place
in the queue for as long as monitoring allows. So every run holds a lock that the operating
system releases with the process, and a run whose lock can be taken is over.

    locks/run-<id>.lock     in the state folder
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import dagster as dg
from filelock import FileLock, Timeout

_UNDER_WAY: Final = [
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]

_GONE: Final = "The process of this run is gone. What it published is whole; start it again."

_STARTING_SECONDS: Final = 5
"""A lock as young as this may have been made and not been taken yet."""

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
    """The run is over, and its process goes on. Without it `fail_orphans` tidies up."""
    lock = _held.pop(run_id, None)
    if lock:
        lock.release()
        _path(state, run_id).unlink(missing_ok=True)


def fail_orphans(instance: dg.DagsterInstance, state: Path) -> list[str]:
    """Mark runs as failed whose process is gone. Returns their ids."""
    orphans = []
    for path in sorted((state / "locks").glob("run-*.lock")):
        run_id = path.stem.removeprefix("run-")
        if run_id in _held or not _is_released(path):
            continue
        run = instance.get_run_by_id(run_id)
        if run is not None and run.status in _UNDER_WAY:
            instance.report_run_failed(run, _GONE)
            orphans.append(run_id)
        path.unlink(missing_ok=True)
    return orphans


def _is_released(path: Path) -> bool:
    try:
        if time.time() - path.stat().st_mtime < _STARTING_SECONDS:
            return False
        with FileLock(path, timeout=0):
            return True
    except (FileNotFoundError, Timeout):
        return False


def _path(state: Path, run_id: str) -> Path:
    return state / "locks" / f"run-{run_id}.lock"
