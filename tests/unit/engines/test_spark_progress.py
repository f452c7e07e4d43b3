"""Lines about stages and tasks; no Spark is needed for that."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from temporal_assets.engines.spark.spark_progress import Progress, told


def test_stages_and_tasks_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    progress = Progress("page_totals.sql", seconds=0)
    progress.see([])
    assert caplog.messages == []
    progress.see([(4, 1, 8)])
    progress.see([(4, 8, 8), (5, 2, 1000)])
    assert caplog.messages == [
        "page_totals.sql: 0 of 1 stages begun are done, 1 of their 8 tasks",
        "page_totals.sql: 1 of 2 stages begun are done, 10 of their 1,008 tasks",
    ]


def test_lines_come_calmly(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    progress = Progress("page_totals.sql", seconds=3600)
    for done in range(8):
        progress.see([(4, done, 8)])
    assert caplog.messages == []


def test_a_connect_server_tells_while_work_runs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    handlers: list[Callable[..., None]] = []
    session = SimpleNamespace(
        registerProgressHandler=handlers.append, removeProgressHandler=handlers.remove
    )
    stage: Any = SimpleNamespace(stage_id=1, num_tasks=2, num_completed_tasks=1)
    with told(session, "transits.sql", is_remote=True):
        (hear,) = handlers
        hear([stage], inflight_tasks=1, operation_id="x", done=False)
        hear(None, inflight_tasks=0, operation_id="x", done=True)
    assert handlers == []
    (line,) = caplog.messages
    assert line.startswith("transits.sql: done in ")
