"""Progress of the work on a cluster, written to the step's log every few seconds.

Here: counting the stages and tasks that run. Not here: running them (`spark`), and where lines of
the log go (`defs.runs.step_log`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, Final

log = logging.getLogger(__name__)

_CALM_SECONDS: Final = 10.0
"""Seconds between two lines: a step of an hour has some hundred of them."""


class Progress:
    """Progress of one piece of work: the stages that have been seen so far."""

    def __init__(self, name: str, seconds: float = _CALM_SECONDS) -> None:
        self._name = name
        self._seconds = seconds
        self._stages: dict[int, tuple[int, int]] = {}
        self._reported = self._began = time.monotonic()

    def update(self, stages: Iterable[tuple[int, int, int]]) -> None:
        """Note (stage, finished tasks, all tasks) of some stages, and log a line if it is time."""
        for stage, done, tasks in stages:
            self._stages[stage] = (done, tasks)
        now = time.monotonic()
        if self._stages and now - self._reported >= self._seconds:
            self._reported = now
            log.info("%s: %s", self._name, self._counted())

    def end(self) -> None:
        """Log how long the work took."""
        log.info("%s: done in %.1f s", self._name, time.monotonic() - self._began)

    def _counted(self) -> str:
        counts = self._stages.values()
        whole = sum(done >= tasks for done, tasks in counts)
        done, tasks = (sum(column) for column in zip(*counts, strict=True))
        # Spark plans a query while it runs, so nobody knows how many stages are still to come.
        return f"{whole} of {len(counts)} stages begun are done, {done:,} of their {tasks:,} tasks"


@contextmanager
def reported(session: Any, name: str, *, is_remote: bool) -> Iterator[None]:
    """Context that logs the progress of the stages that run in a session."""
    progress = Progress(name)
    watch = _connect_server(session, progress) if is_remote else _status_tracker(session, progress)
    with watch:
        yield
    progress.end()


@contextmanager
def _status_tracker(session: Any, progress: Progress) -> Iterator[None]:
    """Context in which a thread asks the driver, which is this process, once a second."""
    over = Event()
    tracker = session.sparkContext.statusTracker()

    def ask() -> None:
        """Ask the cluster every second what it has done, until the work is over."""
        seen: set[int] = set()
        while not over.wait(1):
            try:
                jobs = [tracker.getJobInfo(job) for job in tracker.getActiveJobsIds()]
                seen.update(stage for job in jobs if job for stage in job.stageIds)
                stages = [(stage, tracker.getStageInfo(stage)) for stage in seen]
                # A stage that has not begun has no tasks; it may never begin.
                progress.update(
                    (stage, info.numCompletedTasks, info.numTasks)
                    for stage, info in stages
                    if info is not None
                )
            except Exception as error:  # whatever it is, the work goes on
                log.debug("no progress is known: %s", error)
                return

    thread = Thread(target=ask, name="progress of Spark", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()


@contextmanager
def _connect_server(session: Any, progress: Progress) -> Iterator[None]:
    """Context in which a Spark Connect server calls us with its progress."""

    def handle(stages: Iterable[Any] | None, *_: Any, **__: Any) -> None:
        progress.update(
            (stage.stage_id, stage.num_completed_tasks, stage.num_tasks) for stage in stages or ()
        )

    session.registerProgressHandler(handle)
    try:
        yield
    finally:
        session.removeProgressHandler(handle)
