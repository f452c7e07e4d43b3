"""Files that grow, are renamed and rotated, also while they are read: every line once."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.landing.source_files import pending_files
from temporal_assets.logs.read import packed, streams
from temporal_assets.logs.read.streams import LogStream
from temporal_assets.settings import Reading, Settings
from tests import logs
from tests.landing import DAY, NOON, W3C_HEADER, let_grace_pass, rows_of, settings_of, w3c_line


def test_a_grown_file_replaces_its_beginning(state: Path, folder: Path) -> None:
    settings = settings_of(state, folder)
    lines = logs.day_of_lines(DAY, clients=3)
    logs.write(folder / "access.log", lines[:2])
    refresh(settings)
    assert rows_of(settings) == 2
    logs.write(folder / "access.log", lines, minutes_old=5)
    (grown,) = refresh(settings).landed
    assert len(grown.supersedes) == 1
    assert [file.id for file in Inventory.load(settings).of_day(DAY)] == [grown.id]
    assert rows_of(settings) == 6


def test_a_grown_file_with_a_header_replaces_its_beginning(state: Path, folder: Path) -> None:
    settings = settings_of(state, folder)
    (folder / "u_ex.log").write_text(W3C_HEADER + w3c_line(1))
    refresh(settings)
    (folder / "u_ex.log").write_text(W3C_HEADER + w3c_line(1) + w3c_line(2))
    (grown,) = refresh(settings).landed
    assert len(grown.supersedes) == 1
    assert rows_of(settings) == 2


def test_what_was_only_renamed_is_not_read_again(
    state: Path, folder: Path, compared: list[tuple[int, ...]]
) -> None:
    settings = settings_of(state, folder, engine={"threads": 1})
    for n in (1, 2):
        logs.write(folder / f"access.log.{n}", logs.day_of_lines(DAY - n * dt.timedelta(days=1)))
    refresh(settings)
    for n in (2, 1):
        (folder / f"access.log.{n}").rename(folder / f"access.log.{n + 1}")
    logs.write(folder / "access.log.1", logs.day_of_lines(DAY))
    compared.clear()
    report = refresh(settings)
    assert report.days == (DAY,)
    assert report.unchanged == 2
    assert len(compared) == 2 + 2  # the heads of two, and the new one from its beginning
    assert [path.name for path in folder.iterdir() if is_pending(settings, path)] == []


def is_pending(settings: Settings, path: Path) -> bool:
    return any(item.path == path for item in pending_files(Inventory.load(settings), settings))


def test_rotation_by_copy_and_truncate_loses_nothing(state: Path, folder: Path) -> None:
    settings = settings_of(state, folder)
    lines = logs.day_of_lines(DAY, clients=4)
    log = logs.write(folder / "access.log", lines[:4])
    refresh(settings)
    shutil.copy2(log, folder / "access.log.1")
    logs.write(log, lines[4:], minutes_old=5)
    refresh(settings)
    assert rows_of(settings) == 8


@pytest.fixture
def at_opening(monkeypatch: pytest.MonkeyPatch) -> dict[int, Callable[[], object]]:
    """Actions right after a log was opened for the n-th time."""
    happens: dict[int, Callable[[], object]] = {}
    opened = streams.open_stream
    times = itertools.count(1)

    def opening(
        path: Path, reading: Reading, checkpoints: Sequence[int] = (), **more: Any
    ) -> LogStream:
        stream = opened(path, reading, checkpoints, **more)
        happens.pop(next(times), lambda: None)()
        return stream

    monkeypatch.setattr(streams, "open_stream", opening)
    return happens


@pytest.mark.parametrize("opening", [1, 2, 3], ids=["the head", "to be known", "to be read"])
def test_rotation_while_a_log_is_read_loses_nothing(
    state: Path, folder: Path, at_opening: dict[int, Callable[[], object]], opening: int
) -> None:
    settings = settings_of(state, folder, engine={"threads": 1})
    lines = logs.day_of_lines(DAY, clients=6)
    log = logs.write(folder / "access.log", lines[:4])
    refresh(settings)
    logs.write(log, lines[:8], minutes_old=5)

    def rotate() -> None:
        log.rename(folder / "access.log.1")
        logs.write(log, lines[8:], minutes_old=1)

    at_opening[2 + opening] = rotate  # two were of the first refresh
    refresh(settings)
    assert at_opening == {}
    refresh(settings)
    assert rows_of(settings) == 12


def test_a_log_that_is_emptied_while_it_is_read_loses_nothing(
    state: Path,
    folder: Path,
    at_opening: dict[int, Callable[[], object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packed, "READ", 1000)
    monkeypatch.setattr(streams, "HEAD_BYTES", 1000)
    settings = settings_of(state, folder, engine={"threads": 1})
    lines = logs.day_of_lines(DAY, clients=40)
    log = logs.write(folder / "access.log", lines[:60])

    def rotate() -> None:
        shutil.copy2(log, folder / "access.log.1")
        logs.write(log, lines[60:], minutes_old=1)

    at_opening[2] = rotate
    refresh(settings)
    assert at_opening == {}
    refresh(settings)
    assert rows_of(settings) == 80


def test_superseded_readings_go_after_a_grace_period(state: Path, folder: Path) -> None:
    settings = settings_of(state, folder)
    lines = logs.day_of_lines(DAY)
    logs.write(folder / "access.log", lines[:2])
    refresh(settings)
    logs.write(folder / "access.log", lines, minutes_old=5)
    refresh(settings)
    records = state / "landing" / "files"
    assert len(list(records.iterdir())) == 2
    for record in records.iterdir():
        os.utime(record, (0, 0))
    refresh(settings)
    assert len(list(records.iterdir())) == 1
    assert len(list((state / "landing" / "segments").iterdir())) == 1
    assert rows_of(settings) == 6


@pytest.mark.parametrize(
    ("owner", "step"), [(Path, "rename"), (Path, "unlink"), (shutil, "rmtree")]
)
def test_a_reading_whose_removal_was_killed_is_removed_later(
    state: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, owner: object, step: str
) -> None:
    settings = settings_of(state, folder)
    lines = logs.day_of_lines(DAY)
    for count in (2, 6):
        logs.write(folder / "access.log", lines[:count], minutes_old=10 - count)
        refresh(settings)
    (old,) = Inventory.load(settings).superseded
    let_grace_pass(state)
    right = getattr(owner, step)

    def killed(path: Path, *given: Any, **named: Any) -> Any:
        if old.id in Path(path).name:
            raise KeyboardInterrupt
        return right(path, *given, **named)

    monkeypatch.setattr(owner, step, killed)
    with pytest.raises(KeyboardInterrupt):
        refresh(settings)
    monkeypatch.undo()
    assert Inventory.load(settings).unnamed == []
    assert refresh(settings).warnings == ()
    inventory = Inventory.load(settings)
    assert inventory.files == inventory.active
    assert len(list((state / "landing" / "segments").iterdir())) == 1
    assert rows_of(settings) == 6


def test_a_beginning_stays_superseded_under_other_settings(state: Path, folder: Path) -> None:
    path = logs.write(folder / "access.log", [logs.line(NOON, "/a")])
    settings = settings_of(state, folder)
    refresh(settings)
    logs.write(path, [logs.line(NOON, "/a"), logs.line(NOON, "/b")])
    refresh(settings)
    other = settings_of(state, folder, privacy={"client": "address+agent"})
    refresh(other)
    assert len(Inventory.load(other).active) == 1
    assert rows_of(other) == 2


def test_files_still_being_written_wait(state: Path, folder: Path) -> None:
    logs.write(folder / "settled.log", logs.day_of_lines(DAY), minutes_old=10)
    logs.write(folder / "growing.log", logs.day_of_lines(DAY), minutes_old=0)
    settings = settings_of(state, folder)
    pending = pending_files(Inventory.load(settings), settings, settled=dt.timedelta(minutes=1))
    assert [item.path.name for item in pending] == ["settled.log"]


def test_a_reading_killed_before_it_was_entered_leaves_only_waste(
    state: Path, folder: Path
) -> None:
    logs.write(folder / "access.log", logs.day_of_lines(DAY))
    settings = settings_of(state, folder)
    refresh(settings)
    (record,) = (state / "landing" / "files").iterdir()
    content = json.loads(record.read_text("utf-8"))
    record.unlink()  # as if killed between moving the segments and entering the file
    (file,) = refresh(settings).landed
    assert file.id == content["id"]
    assert rows_of(settings) == 6
