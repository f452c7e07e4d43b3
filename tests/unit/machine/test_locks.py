"""Locks that may be waited for."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest
from filelock import FileLock

from temporal_assets.machine import locks


def test_who_waits_is_told_what_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(locks, "_PATIENCE", 0.1)
    event = threading.Event()
    monkeypatch.setattr(
        locks.log, "handle", lambda record: (caplog.handler.handle(record), event.set())
    )
    got: list[bool] = []

    def wait() -> None:
        with locks.held(tmp_path / "x.lock", "reading logs"):
            got.append(event.is_set())

    waiting = threading.Thread(target=wait)
    with FileLock(tmp_path / "x.lock"):
        waiting.start()
        assert event.wait(60)
        assert got == []
    waiting.join()
    assert got == [True]
    ((level, line),) = [(record.levelno, record.getMessage()) for record in caplog.records]
    assert level == logging.WARNING
    assert line.startswith("waiting for another process that is reading logs")
    assert str(tmp_path / "x.lock") in line


def test_a_lock_that_is_free_needs_no_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with locks.held(tmp_path / "x.lock", "reading logs"):
        other = FileLock(tmp_path / "x.lock")
        with pytest.raises(TimeoutError):
            other.acquire(timeout=0)
    with FileLock(tmp_path / "x.lock", timeout=0):
        assert caplog.records == []
