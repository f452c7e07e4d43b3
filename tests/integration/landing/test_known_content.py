"""Content that was read before, under the same settings or others."""

from __future__ import annotations

import bz2
import gzip
import os
from pathlib import Path

import pytest
import zstandard

from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.landing.source_files import pending_files
from temporal_assets.settings import load_settings
from tests import logs
from tests.landing import DAY, NOON, W3C_HEADER, let_grace_pass, rows_of, settings_of, w3c_line


def test_nothing_new_reads_nothing(state: Path, folder: Path) -> None:
    logs.write(folder / "access.log", logs.day_of_lines(DAY))
    settings = settings_of(state, folder)
    refresh(settings)
    before = {path: path.stat().st_mtime_ns for path in (state / "landing").rglob("*.*")}
    again = refresh(settings)
    assert (again.landed, again.unchanged) == ((), 1)
    after = {path: path.stat().st_mtime_ns for path in (state / "landing").rglob("*.*")}
    del before[state / "landing" / "landing.lock"], after[state / "landing" / "landing.lock"]
    assert after == before


def test_the_same_content_under_any_name_and_compression_is_one_file(
    state: Path, folder: Path
) -> None:
    settings = settings_of(state, folder)
    plain = logs.write(folder / "access.log", logs.day_of_lines(DAY))
    refresh(settings)
    inputs = Inventory.load(settings).inputs(DAY)
    content = plain.read_bytes()
    plain.unlink()
    (folder / "access.log.1").write_bytes(content)
    (folder / "access.log.2.gz").write_bytes(gzip.compress(content))
    (folder / "access.log.3.zst").write_bytes(zstandard.compress(content))
    (folder / "access.log.4.bz2").write_bytes(bz2.compress(content))
    report = refresh(settings)
    assert (report.landed, report.failed) == ((), ())
    assert Inventory.load(settings).inputs(DAY) == inputs
    assert rows_of(settings) == 6


def test_copies_that_come_together_are_read_once_and_said(state: Path, folder: Path) -> None:
    settings = settings_of(state, folder)
    content = logs.write(folder / "access.log", logs.day_of_lines(DAY)).read_bytes()
    (folder / "copy.log").write_bytes(content)
    (folder / "packed.log.gz").write_bytes(gzip.compress(content))
    report = refresh(settings)
    assert (len(report.landed), report.copies, report.unchanged) == (1, 2, 0)
    assert rows_of(settings) == 6
    again = refresh(settings)
    assert (again.landed, again.copies, again.unchanged) == ((), 0, 1)


def test_a_state_folder_among_the_logs_is_not_read(folder: Path) -> None:
    """Its landed rows and tables are Parquet with times, clients and URLs, as logs may be."""
    settings = settings_of(folder / "state", folder)
    logs.write(folder / "access.log", logs.day_of_lines(DAY))
    for read in (1, 0, 0):
        report = refresh(settings)
        assert (len(report.landed), report.failed) == (read, ())
        assert rows_of(settings) == 6


def test_files_with_one_header_are_not_compared(
    state: Path, folder: Path, compared: list[tuple[int, ...]]
) -> None:
    settings = settings_of(state, folder, engine={"threads": 1})
    for minute in range(5):
        (folder / f"{minute}.log").write_text(W3C_HEADER + w3c_line(minute))
    refresh(settings)
    assert rows_of(settings) == 5
    assert compared == [()] * 10  # once for the head, once for all of it


_LINES = logs.day_of_lines(DAY)


@pytest.mark.parametrize(
    ("lines", "is_younger"),
    [
        pytest.param([*_LINES[:-1], _LINES[-1].replace("/news", "/mews")], True, id="younger"),
        pytest.param(_LINES * 2, False, id="longer"),
        pytest.param(_LINES[::-1], False, id="begins otherwise"),
    ],
)
def test_what_looks_only_nearly_like_a_known_log_is_read(
    state: Path, folder: Path, lines: list[str], is_younger: bool
) -> None:
    settings = settings_of(state, folder)
    log = logs.write(folder / "access.log", _LINES)
    refresh(settings)
    then = log.stat().st_mtime_ns + is_younger
    log.unlink()
    os.utime(logs.write(folder / "other.log", lines), ns=(then, then))
    (actual,) = refresh(settings).landed
    assert actual.lines == len(lines)


def test_the_first_source_of_a_file_decides_for_good(state: Path, folder: Path) -> None:
    path = logs.write(folder / "access.log", [logs.line(NOON, "/a")])
    sources = [
        {"path": str(path), "host": "one.example"},
        {"path": str(folder), "host": "two.example"},
    ]
    folder_first = load_settings(state, sources=sources[1:])
    refresh(folder_first)
    settings = load_settings(state, sources=sources)
    assert len(refresh(settings).landed) == 1
    inputs = Inventory.load(settings).inputs(DAY)
    for _ in range(2):
        let_grace_pass(state)
        assert refresh(settings).landed == ()
    assert Inventory.load(settings).inputs(DAY) == inputs


def test_settings_changed_back_count_again_at_once(state: Path, folder: Path) -> None:
    logs.write(folder / "access.log", [logs.line(NOON, "/a"), logs.line(NOON, "/b.png")])
    first = settings_of(state, folder)
    refresh(first)
    inputs = Inventory.load(first).inputs(DAY)
    refresh(settings_of(state, folder, cleaning={"static_resources": "keep"}))
    assert len(pending_files(Inventory.load(first), first)) == 1
    report = refresh(first)
    assert len(report.landed) == 1
    assert report.days == (DAY,)
    assert Inventory.load(first).inputs(DAY) == inputs
    assert rows_of(first) == 1
    again = refresh(first)
    assert (again.landed, again.unchanged) == ((), 1)


def test_a_copy_under_other_settings_is_not_read_again_and_again(state: Path, folder: Path) -> None:
    line = [logs.line(NOON, "/a")]
    one, two = (logs.write(folder / name / "a.log", line) for name in ("one", "two"))
    sources = [{"path": str(one), "host": "one.example"}, {"path": str(two), "host": "two.example"}]
    settings = load_settings(state, sources=sources)
    refresh(settings)
    let_grace_pass(state)
    assert refresh(settings).landed == ()
    assert pending_files(Inventory.load(settings), settings) == []
