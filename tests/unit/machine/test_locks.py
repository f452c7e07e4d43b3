"""Locks, cached objects and the Python of child processes."""

from __future__ import annotations

import logging
import subprocess
import threading
from pathlib import Path

import pytest
from filelock import FileLock

import temporal_assets
from temporal_assets.machine import child_process, locks
from temporal_assets.machine.object_cache import DiskCache


def test_the_working_folder_is_not_looked_into(tmp_path: Path) -> None:
    decoy = tmp_path / "temporal_assets"
    decoy.mkdir()
    for name in ("__init__.py", "__main__.py"):
        (decoy / name).write_text("raise SystemExit('another checkout')", "utf-8")
    done = subprocess.run(
        [*child_process.command("temporal_assets"), "--version"],
        cwd=tmp_path,
        env=child_process.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (f"temporal-assets {temporal_assets.__version__}\n", "")


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


CONTENT = b"what the store has"


def kept(folder: Path) -> Path:
    DiskCache(folder).add("part", CONTENT)
    (file,) = (path for path in folder.iterdir() if path.suffix != ".sha256")
    return file


def content_of(folder: Path) -> bytes | None:
    """Return the content that another process finds."""
    file = DiskCache(folder).open("part")
    if file is None:
        return None
    with file:
        return file.read()


def test_what_is_kept_is_found(tmp_path: Path) -> None:
    kept(tmp_path)
    assert content_of(tmp_path) == CONTENT
    assert DiskCache(tmp_path).open("another part") is None


@pytest.mark.parametrize("name", ["file", "sum"])
def test_a_flipped_bit_is_no_answer(tmp_path: Path, name: str) -> None:
    file = kept(tmp_path)
    victim = file if name == "file" else file.with_suffix(".sha256")
    written = victim.read_bytes()
    for at in range(len(written)):
        victim.write_bytes(written[:at] + bytes([written[at] ^ 1]) + written[at + 1 :])
        assert content_of(tmp_path) is None
        assert not file.exists()
        assert kept(tmp_path) == file
    assert content_of(tmp_path) == CONTENT


def test_what_has_no_sum_is_asked_for_again(tmp_path: Path) -> None:
    kept(tmp_path).with_suffix(".sha256").unlink()
    assert content_of(tmp_path) is None
