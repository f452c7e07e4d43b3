"""From log files to the landing zone: every file once, every line counted, nothing lost."""

from __future__ import annotations

import bz2
import datetime as dt
import errno
import gzip
import itertools
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from temporal_assets.landing import segments
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import LandingReport, refresh
from temporal_assets.logs.read import streams
from temporal_assets.logs.read.records import Block
from temporal_assets.logs.read.streams import LogStream
from temporal_assets.logs.tables import parquet
from temporal_assets.settings import Reading, Settings, load_settings
from tests import logs

DAY = dt.date(2026, 3, 2)
NOON = dt.datetime.combine(DAY, dt.time(12))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the web server writes its logs."""
    made = tmp_path / "logs"
    made.mkdir()
    return made


def _settings(state: Path, folder: Path, **changes: object) -> Settings:
    source = {"path": str(folder), "host": "example.com"}
    return load_settings(state, sources=[source | changes.pop("source", {})], **changes)  # type: ignore[operator]


def _rows(settings: Settings, day: dt.date = DAY) -> int:
    inventory = Inventory.load(settings)
    return sum(file.days[day].rows for file in inventory.of_day(day))


def _errors(report: LandingReport) -> list[str]:
    return [str(file.error) for file in report.failed]


def _let_grace_pass(state: Path) -> None:
    for record in (state / "landing" / "files").iterdir():
        os.utime(record, (1e9, 1e9))


def test_a_file_of_several_days_feeds_each(state: Path, folder: Path) -> None:
    days = [DAY + dt.timedelta(days=n) for n in range(3)]
    lines = [line for day in days for line in logs.day_of_lines(day, clients=2)]
    logs.write(folder / "access.log", lines)
    report = refresh(_settings(state, folder))
    assert report.days == tuple(days)
    (file,) = report.landed
    assert file.format == "combined"
    assert [share.lines for share in file.days.values()] == [4, 4, 4]
    assert [share.rows for share in file.days.values()] == [4, 4, 4]


def test_nothing_new_reads_nothing(state: Path, folder: Path) -> None:
    logs.write(folder / "access.log", logs.day_of_lines(DAY))
    settings = _settings(state, folder)
    refresh(settings)
    before = {path: path.stat().st_mtime_ns for path in (state / "landing").rglob("*.*")}
    again = refresh(settings)
    assert (again.landed, again.unchanged) == ((), 1)
    after = {path: path.stat().st_mtime_ns for path in (state / "landing").rglob("*.*")}
    del before[state / "landing" / "landing.lock"], after[state / "landing" / "landing.lock"]
    assert after == before


def test_an_archive_that_breaks_within_its_first_line_says_so(state: Path, folder: Path) -> None:
    whole = gzip.compress(logs.day_of_lines(DAY)[0].encode())
    for end, why in ((len(whole) // 2, "no known format fits"), (-12, "none of 1 lines")):
        (folder / "access.log.gz").write_bytes(whole[:end])
        (file,) = refresh(_settings(state, folder)).failed
        assert "access.log.gz: truncated gzip" in str(file.error)
        assert f"; of what precedes it, {why}" in str(file.error)


def test_the_same_content_under_any_name_and_compression_is_one_file(
    state: Path, folder: Path
) -> None:
    settings = _settings(state, folder)
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
    assert _rows(settings) == 6


def test_copies_that_come_together_are_read_once_and_said(state: Path, folder: Path) -> None:
    settings = _settings(state, folder)
    content = logs.write(folder / "access.log", logs.day_of_lines(DAY)).read_bytes()
    (folder / "copy.log").write_bytes(content)
    (folder / "packed.log.gz").write_bytes(gzip.compress(content))
    report = refresh(settings)
    assert (len(report.landed), report.copies, report.unchanged) == (1, 2, 0)
    assert _rows(settings) == 6
    again = refresh(settings)
    assert (again.landed, again.copies, again.unchanged) == ((), 0, 1)


def test_a_state_folder_among_the_logs_is_not_read(folder: Path) -> None:
    """Its landed rows and tables are Parquet with times, clients and URLs, as logs may be."""
    settings = _settings(folder / "state", folder)
    logs.write(folder / "access.log", logs.day_of_lines(DAY))
    for read in (1, 0, 0):
        report = refresh(settings)
        assert (len(report.landed), report.failed) == (read, ())
        assert _rows(settings) == 6


def test_a_grown_file_replaces_its_beginning(state: Path, folder: Path) -> None:
    settings = _settings(state, folder)
    lines = logs.day_of_lines(DAY, clients=3)
    logs.write(folder / "access.log", lines[:2])
    refresh(settings)
    assert _rows(settings) == 2
    logs.write(folder / "access.log", lines, minutes_old=5)
    (grown,) = refresh(settings).landed
    assert len(grown.supersedes) == 1
    assert [file.id for file in Inventory.load(settings).of_day(DAY)] == [grown.id]
    assert _rows(settings) == 6


_W3C = "#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri-stem sc-status\n"


def _w3c(minute: int) -> str:
    return f"{DAY} 12:{minute:02}:00 192.0.2.1 GET /news/{minute} 200\n"


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """For every time that a log is opened, the lengths of others that it is compared with."""
    found = []
    opened = streams.open_stream

    def noting(path: Path, reading: Reading, checkpoints: Sequence[int] = ()) -> LogStream:
        found.append(tuple(checkpoints))
        return opened(path, reading, checkpoints)

    monkeypatch.setattr(streams, "open_stream", noting)
    return found


def test_files_with_one_header_are_not_compared(
    state: Path, folder: Path, compared: list[tuple[int, ...]]
) -> None:
    settings = _settings(state, folder, engine={"threads": 1})
    for minute in range(5):
        (folder / f"{minute}.log").write_text(_W3C + _w3c(minute))
    refresh(settings)
    assert _rows(settings) == 5
    assert compared == [()] * 10  # once for the head, once for all of it


def test_a_grown_file_with_a_header_replaces_its_beginning(state: Path, folder: Path) -> None:
    settings = _settings(state, folder)
    (folder / "u_ex.log").write_text(_W3C + _w3c(1))
    refresh(settings)
    (folder / "u_ex.log").write_text(_W3C + _w3c(1) + _w3c(2))
    (grown,) = refresh(settings).landed
    assert len(grown.supersedes) == 1
    assert _rows(settings) == 2


def test_what_was_only_renamed_is_not_read_again(
    state: Path, folder: Path, compared: list[tuple[int, ...]]
) -> None:
    settings = _settings(state, folder, engine={"threads": 1})
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
    assert [path.name for path in folder.iterdir() if _is_pending(settings, path)] == []


def _is_pending(settings: Settings, path: Path) -> bool:
    return any(item.path == path for item in Inventory.load(settings).pending(settings))


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
    settings = _settings(state, folder)
    log = logs.write(folder / "access.log", _LINES)
    refresh(settings)
    then = log.stat().st_mtime_ns + is_younger
    log.unlink()
    os.utime(logs.write(folder / "other.log", lines), ns=(then, then))
    (found,) = refresh(settings).landed
    assert found.lines == len(lines)


def test_rotation_by_copy_and_truncate_loses_nothing(state: Path, folder: Path) -> None:
    settings = _settings(state, folder)
    lines = logs.day_of_lines(DAY, clients=4)
    log = logs.write(folder / "access.log", lines[:4])
    refresh(settings)
    shutil.copy2(log, folder / "access.log.1")
    logs.write(log, lines[4:], minutes_old=5)
    refresh(settings)
    assert _rows(settings) == 8


@pytest.fixture
def at_opening(monkeypatch: pytest.MonkeyPatch) -> dict[int, Callable[[], object]]:
    """What happens right after a log was opened for the n-th time."""
    happens: dict[int, Callable[[], object]] = {}
    opened = streams.open_stream
    times = itertools.count(1)

    def opening(path: Path, reading: Reading, checkpoints: Sequence[int] = ()) -> LogStream:
        stream = opened(path, reading, checkpoints)
        happens.pop(next(times), lambda: None)()
        return stream

    monkeypatch.setattr(streams, "open_stream", opening)
    return happens


@pytest.mark.parametrize("opening", [1, 2, 3], ids=["the head", "to be known", "to be read"])
def test_rotation_while_a_log_is_read_loses_nothing(
    state: Path, folder: Path, at_opening: dict[int, Callable[[], object]], opening: int
) -> None:
    settings = _settings(state, folder, engine={"threads": 1})
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
    assert _rows(settings) == 12


def test_a_log_that_is_emptied_while_it_is_read_loses_nothing(
    state: Path,
    folder: Path,
    at_opening: dict[int, Callable[[], object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("_READ", "HEAD_BYTES"):
        monkeypatch.setattr(streams, name, 1000)
    settings = _settings(state, folder, engine={"threads": 1})
    lines = logs.day_of_lines(DAY, clients=40)
    log = logs.write(folder / "access.log", lines[:60])

    def rotate() -> None:
        shutil.copy2(log, folder / "access.log.1")
        logs.write(log, lines[60:], minutes_old=1)

    at_opening[2] = rotate
    refresh(settings)
    assert at_opening == {}
    refresh(settings)
    assert _rows(settings) == 80


def test_superseded_readings_go_after_a_grace_period(state: Path, folder: Path) -> None:
    settings = _settings(state, folder)
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
    assert _rows(settings) == 6


@pytest.mark.parametrize(
    ("owner", "step"), [(Path, "rename"), (Path, "unlink"), (shutil, "rmtree")]
)
def test_a_reading_whose_removal_was_killed_is_removed_later(
    state: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, owner: object, step: str
) -> None:
    settings = _settings(state, folder)
    lines = logs.day_of_lines(DAY)
    for count in (2, 6):
        logs.write(folder / "access.log", lines[:count], minutes_old=10 - count)
        refresh(settings)
    (old,) = Inventory.load(settings).superseded
    _let_grace_pass(state)
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
    assert _rows(settings) == 6


def test_other_settings_read_again(state: Path, folder: Path) -> None:
    lines = [logs.line(NOON, "/a"), logs.line(NOON, "/b", status=404)]
    logs.write(folder / "access.log", lines)
    refresh(_settings(state, folder))
    settings = _settings(state, folder, cleaning={"statuses": [200, 404]})
    report = refresh(settings)
    assert len(report.landed) == 1
    assert _rows(settings) == 2


def test_settings_changed_back_count_again_at_once(state: Path, folder: Path) -> None:
    logs.write(folder / "access.log", [logs.line(NOON, "/a"), logs.line(NOON, "/b", status=404)])
    first = _settings(state, folder)
    refresh(first)
    inputs = Inventory.load(first).inputs(DAY)
    refresh(_settings(state, folder, cleaning={"statuses": [200, 404]}))
    assert len(Inventory.load(first).pending(first)) == 1
    report = refresh(first)
    assert len(report.landed) == 1
    assert report.days == (DAY,)
    assert Inventory.load(first).inputs(DAY) == inputs
    assert _rows(first) == 1
    again = refresh(first)
    assert (again.landed, again.unchanged) == ((), 1)


def test_a_copy_under_other_settings_is_not_read_again_and_again(state: Path, folder: Path) -> None:
    line = [logs.line(NOON, "/a")]
    one, two = (logs.write(folder / name / "a.log", line) for name in ("one", "two"))
    sources = [{"path": str(one), "host": "one.example"}, {"path": str(two), "host": "two.example"}]
    settings = load_settings(state, sources=sources)
    refresh(settings)
    _let_grace_pass(state)
    assert refresh(settings).landed == ()
    assert Inventory.load(settings).pending(settings) == []


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
        _let_grace_pass(state)
        assert refresh(settings).landed == ()
    assert Inventory.load(settings).inputs(DAY) == inputs


def test_a_beginning_stays_superseded_under_other_settings(state: Path, folder: Path) -> None:
    path = logs.write(folder / "access.log", [logs.line(NOON, "/a")])
    settings = _settings(state, folder)
    refresh(settings)
    logs.write(path, [logs.line(NOON, "/a"), logs.line(NOON, "/b")])
    refresh(settings)
    other = _settings(state, folder, privacy={"client": "address+agent"})
    refresh(other)
    assert len(Inventory.load(other).active) == 1
    assert _rows(other) == 2


def test_two_files_of_one_content_are_reported_once(state: Path, folder: Path) -> None:
    for name in ("access.log", "copy.log"):
        logs.write(folder / name, [logs.line(NOON, "/a")])
    assert len(refresh(_settings(state, folder)).landed) == 1


def test_every_line_is_counted_and_located(state: Path, folder: Path) -> None:
    lines = [
        "GARBAGE before the first readable time",
        logs.line(NOON, "/kept"),
        logs.line(NOON, "/logo.png"),
        logs.line(NOON, "/gone", status=404),
        logs.line(NOON, "/bot", agent="Googlebot/2.1"),
        logs.line(NOON, "/post").replace("GET", "POST"),
        "",
        "garbage after it \x00 with a NUL",
        logs.line(NOON + dt.timedelta(days=1), "/next"),
        logs.line(NOON.replace(year=1990), "/ancient"),
        logs.line(NOON.replace(year=2990), "/future"),
    ]
    logs.write(folder / "access.log", lines)
    (file,) = refresh(_settings(state, folder)).landed
    first, second = file.days[DAY], file.days[DAY + dt.timedelta(days=1)]
    assert {(loss["kind"], loss["reason"]): loss["lines"] for loss in first.losses} == {
        ("dropped", "bot_agent"): 1,
        ("dropped", "method"): 1,
        ("dropped", "static"): 1,
        ("dropped", "status"): 1,
        ("rejected", "not_the_format"): 1,
        ("rejected", "nul_bytes"): 1,
    }
    samples = {loss["reason"]: loss["samples"] for loss in (*first.losses, *second.losses)}
    assert samples["not_the_format"] == [(1, "GARBAGE before the first readable time")]
    assert samples["nul_bytes"][0][0] == 8
    assert samples["ancient"][0][0] == 10
    assert samples["future"][0][0] == 11
    for share in (first, second):
        assert share.lines == share.rows + sum(loss["lines"] for loss in share.losses)
    assert (first.lines, second.lines) == (7, 3)


def test_a_large_file_is_read_in_blocks_with_the_same_result(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "big"
    lines = [
        logs.line(NOON + dt.timedelta(seconds=n // 10), f"/page/{n % 700}", f"198.51.100.{n % 250}")
        for n in range(40_000)
    ]
    logs.write(folder / "access.log", lines)
    assert (folder / "access.log").stat().st_size > 4 << 20
    blockwise = _settings(state, folder)
    with monkeypatch.context() as small:
        small.setattr(streams, "BLOCK_BYTES", 1 << 20)
        refresh(blockwise)
    whole = load_settings(
        tmp_path / "other",
        sources=[{"path": str(folder), "host": "example.com"}],
        engine={"threads": 1},
    )
    shutil.copytree(state / "secrets", tmp_path / "other" / "secrets")
    refresh(whole)
    tables = []
    for settings in (blockwise, whole):
        inventory = Inventory.load(settings)
        (file,) = inventory.of_day(DAY)
        table = pq.read_table(inventory.segments(file, DAY)).drop_columns(["source"])
        tables.append(table.cast(pq.read_schema(inventory.segments(file, DAY)[0]).remove(6)))
    assert tables[0].num_rows == 40_000
    assert tables[0].to_pylist() == tables[1].to_pylist()


def test_days_written_side_by_side_are_the_same_files(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "_OPEN_DAYS", 3)
    folder = tmp_path / "big"
    lines = [
        logs.line(NOON + dt.timedelta(minutes=n // 2), f"/page/{n % 700}", f"198.51.100.{n % 250}")
        for n in range(40_000)
    ]
    logs.write(folder / "access.log", lines)
    found = []
    for root, workers in ((state, 4), (tmp_path / "other", 1)):
        settings = _settings(root, folder, engine={"threads": workers})
        if root != state:
            shutil.copytree(state / "secrets", root / "secrets")
        (file,) = refresh(settings).landed
        found.append({day: (share.segments, share.digests) for day, share in file.days.items()})
    assert found[0] == found[1]
    assert len(found[0]) > 2 * 3


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.zip", b"PK\x03\x04" + bytes(100), "zip archives are not read"),
        ("noise.log", bytes(range(32, 127)) * 50 + b"\n", "no known format fits"),
        (
            "error.log",
            b"2026/01/31 09:00:01 [error] 12#12: *1 open() failed, client: 192.0.2.1\n" * 3,
            "an error log of nginx, which does not say what was served: let the path",
        ),
        (
            "error_log",
            b"[Sat Jan 31 09:00:01.123456 2026] [core:error] [pid 12] [client 192.0.2.1] AH00126\n",
            "an error log of Apache",
        ),
        ("broken.parquet", b"PAR1" + bytes(64) + b"PAR1", "broken.parquet"),
    ],
)
def test_an_unreadable_file_is_reported_and_holds_nobody_up(
    state: Path, folder: Path, name: str, content: bytes, says: str
) -> None:
    (folder / name).write_bytes(content)
    logs.write(folder / "good.log", logs.day_of_lines(DAY))
    settings = _settings(state, folder)
    report = refresh(settings)
    assert [file.name for file in report.landed] == ["logs/good.log"]
    (error,) = _errors(report)
    assert str(folder / name) in error
    assert says in error
    again = refresh(settings)
    assert _errors(again) == [error], "reported as long as the file is there"
    (folder / name).unlink()
    assert refresh(settings).failed == ()


def test_a_stated_format_that_fits_no_line_is_named_with_the_likely_one(
    state: Path, folder: Path
) -> None:
    logs.write(folder / "access.log", logs.day_of_lines(DAY))
    (error,) = _errors(refresh(_settings(state, folder, source={"format": "squid"})))
    assert "none of 6 lines can be read as `squid`" in error
    assert "looks like `combined`" in error
    assert "line 1" in error


def test_logs_of_another_age_are_not_read(state: Path, folder: Path) -> None:
    old = dt.date(1992, 3, 31)
    logs.write(folder / "access.log", logs.day_of_lines(old))
    settings = _settings(state, folder)
    (error,) = _errors(refresh(settings))
    assert "(ancient, for example line 1" in error
    assert "There were no access logs then" in error


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ("nginx:$remote_addr", "says too little: nothing is named for time"),
        ('apache:%h "%r %t', "quotes and brackets do not delimit fields"),
        ("comined", "format 'comined' is not known"),
    ],
)
def test_a_format_that_cannot_be_used_keeps_no_other_source_from_being_read(
    state: Path, folder: Path, form: str, says: str
) -> None:
    logs.write(folder / "access.log", logs.day_of_lines(DAY))
    (error,) = _errors(refresh(_settings(state, folder, source={"format": form})))
    assert str(folder / "access.log") in error
    assert says in error


def test_a_failure_is_forgotten_when_the_file_is_repaired(state: Path, folder: Path) -> None:
    (folder / "access.log").write_bytes(b"\x01\x02 not a log\n")
    settings = _settings(state, folder)
    assert len(refresh(settings).failed) == 1
    logs.write(folder / "access.log", logs.day_of_lines(DAY))
    report = refresh(settings)
    assert (len(report.landed), report.failed) == (1, ())


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> dict[str, OSError]:
    """Name of a file -> what opening it raises: root may read everything."""
    faults: dict[str, OSError] = {}
    right = Path.open

    def opening(path: Path, *given: Any, **named: Any) -> Any:
        if path.name in faults:
            raise faults[path.name]
        return right(path, *given, **named)

    monkeypatch.setattr(Path, "open", opening)
    return faults


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), "make the file readable"),
        (OSError(errno.EIO, "Input/output error"), "opening failed"),
    ],
)
def test_a_fault_that_is_not_of_the_content_is_tried_again(
    state: Path, folder: Path, refused: dict[str, OSError], fault: OSError, says: str
) -> None:
    path = logs.write(folder / "access.log", logs.day_of_lines(DAY))
    logs.write(folder / "other.log", logs.day_of_lines(DAY + dt.timedelta(days=1)))
    settings = _settings(state, folder)
    refused["access.log"] = fault
    report = refresh(settings)
    assert [file.name for file in report.landed] == ["logs/other.log"]
    (error,) = _errors(report)
    assert error.startswith(f"{path}: ")
    assert says in error
    del refused["access.log"]
    report = refresh(settings)
    assert ([file.name for file in report.landed], report.failed) == (["logs/access.log"], ())


def test_a_disk_that_fails_in_the_middle_is_asked_again(
    state: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.write(folder / "access.log", logs.day_of_lines(DAY))
    settings = _settings(state, folder)

    def failing(stream: streams.LogStream) -> Iterator[Block]:
        yield from right(stream)
        raise OSError(errno.EIO, "Input/output error")

    right = streams.LogStream.__iter__
    monkeypatch.setattr(streams.LogStream, "__iter__", failing)
    assert "reading failed after line 6" in _errors(refresh(settings))[0]
    monkeypatch.undo()
    report = refresh(settings)
    assert (len(report.landed), report.failed) == (1, ())


def test_who_may_not_read_a_file_does_not_try_all_the_time(
    state: Path, folder: Path, refused: dict[str, OSError], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = logs.write(folder / "access.log", logs.day_of_lines(DAY))
    settings = _settings(state, folder)
    refused["access.log"] = PermissionError(errno.EACCES, "Permission denied")
    refresh(settings)
    monkeypatch.setattr("temporal_assets.landing.inventory.os.access", lambda one, _: one != path)
    assert Inventory.load(settings).pending(settings) == []
    time.sleep(0.02)  # the clock of file systems is a coarse one
    path.chmod(0o644)
    assert len(Inventory.load(settings).pending(settings)) == 1


def test_a_file_that_is_replaced_in_the_same_size_and_time_is_tried_again(
    state: Path, folder: Path
) -> None:
    good = "".join(f"{one}\n" for one in logs.day_of_lines(DAY)).encode()
    path = folder / "access.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x01" * (len(good) - 1) + b"\n")
    os.utime(path, (1e9, 1e9))
    settings = _settings(state, folder)
    assert len(refresh(settings).failed) == 1
    assert Inventory.load(settings).pending(settings) == []
    time.sleep(0.02)
    path.write_bytes(good)
    os.utime(path, (1e9, 1e9))
    report = refresh(settings)
    assert (len(report.landed), report.failed) == (1, ())


@pytest.mark.parametrize("is_replaced", [True, False])
def test_a_parquet_log_that_changes_between_its_digest_and_its_rows_is_left_for_the_next_time(
    state: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, is_replaced: bool
) -> None:
    """Rows of the second would be taken for those of the first, and never be read again."""
    path, other = folder / "access.parquet", folder.parent / "other.parquet"
    days = (DAY, DAY + dt.timedelta(days=1))
    for file, day in zip((path, other), days, strict=True):
        time = dt.datetime.combine(day, dt.time(12), dt.UTC)
        rows = {"time": [time] * 3, "url": [f"https://a.example/{n}" for n in range(3)]}
        pq.write_table(pa.table(rows | {"address": ["192.0.2.1"] * 3}), file)

    read = parquet.read

    def changed(*given: Any) -> Any:
        monkeypatch.setattr(parquet, "read", read)
        if is_replaced:
            other.replace(path)
        else:
            path.write_bytes(other.read_bytes())
        return read(*given)

    monkeypatch.setattr(parquet, "read", changed)
    settings = _settings(state, folder)
    assert refresh(settings).landed == ()
    assert len(refresh(settings).landed) == 1
    assert Inventory.load(settings).days() == [days[1]]


def test_a_failure_that_another_process_forgets_meanwhile_is_tried_again(
    state: Path, folder: Path
) -> None:
    (folder / "access.log").write_bytes(b"\x01\x02 not a log\n")
    settings = _settings(state, folder)
    refresh(settings)
    inventory = Inventory.load(settings)
    assert inventory.pending(settings) == []
    for record in (state / "landing" / "files").iterdir():
        record.unlink()
    assert [item.path.name for item in inventory.pending(settings)] == ["access.log"]


def test_a_truncated_archive_gives_what_is_readable_and_says_so(state: Path, folder: Path) -> None:
    lines = logs.day_of_lines(DAY, clients=120)
    packed = gzip.compress("".join(f"{one}\n" for one in lines).encode())
    (folder / "access.log.gz").write_bytes(packed[: len(packed) * 2 // 3])
    settings = _settings(state, folder)
    (file,) = refresh(settings).landed
    assert file.problem is not None
    assert "truncated gzip" in file.problem
    assert 0 < _rows(settings) < 240
    (folder / "access.log.gz").write_bytes(packed)
    refresh(settings)
    assert _rows(settings) == 240, "the whole archive replaces its beginning"


@pytest.mark.parametrize("end", ["\n", ""])
def test_an_archive_that_was_read_without_its_last_bytes_is_whole_later(
    state: Path, folder: Path, end: str
) -> None:
    """Its text was there. Without a newline its last line may have been cut, and is still lost."""
    packed = gzip.compress(("\n".join(logs.day_of_lines(DAY)) + end).encode())
    settings = _settings(state, folder)
    (folder / "access.log.gz").write_bytes(packed[:-8])
    (file,) = refresh(settings).landed
    assert "truncated gzip" in str(file.problem)
    (folder / "access.log.gz").write_bytes(packed)
    assert refresh(settings).landed == ()
    (again,) = Inventory.load(settings).active
    assert again.problem == (None if end else file.problem)
    assert _rows(settings) == (6 if end else 5)


def test_copies_of_which_one_is_truncated_have_no_problem(state: Path, folder: Path) -> None:
    packed = gzip.compress("".join(f"{one}\n" for one in logs.day_of_lines(DAY)).encode())
    (folder / "a.log.gz").write_bytes(packed[:-8])
    (folder / "b.log.gz").write_bytes(packed)
    (folder / "c.log.gz").write_bytes(packed[:-8])
    settings = _settings(state, folder)
    refresh(settings)
    (file,) = Inventory.load(settings).active
    assert (file.problem, file.lines) == (None, 6)


def test_empty_files_and_missing_sources_are_no_failures(state: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.log"
    empty.touch()
    settings = load_settings(
        state, sources=[{"path": str(empty)}, {"path": str(tmp_path / "nowhere.log")}]
    )
    report = refresh(settings)
    assert report.failed == ()
    assert [file.lines for file in report.landed] == [0]
    (missing,) = report.missing
    assert "nowhere.log: no such file" in missing


def test_files_still_being_written_wait(state: Path, folder: Path) -> None:
    logs.write(folder / "settled.log", logs.day_of_lines(DAY), minutes_old=10)
    logs.write(folder / "growing.log", logs.day_of_lines(DAY), minutes_old=0)
    pending = Inventory.load(_settings(state, folder)).pending(
        _settings(state, folder), settled=dt.timedelta(minutes=1)
    )
    assert [item.path.name for item in pending] == ["settled.log"]


def test_a_reading_killed_before_it_was_entered_leaves_only_waste(
    state: Path, folder: Path
) -> None:
    logs.write(folder / "access.log", logs.day_of_lines(DAY))
    settings = _settings(state, folder)
    refresh(settings)
    (record,) = (state / "landing" / "files").iterdir()
    content = json.loads(record.read_text("utf-8"))
    record.unlink()  # as if killed between moving the segments and entering the file
    (file,) = refresh(settings).landed
    assert file.id == content["id"]
    assert _rows(settings) == 6


def test_days_start_in_the_zone_of_the_partitions(state: Path, folder: Path) -> None:
    logs.write(folder / "access.log", [logs.line(dt.datetime(2026, 3, 2, 23, 30), "/late")])
    settings = _settings(state, folder, orchestration={"timezone": "Europe/Berlin"})
    assert refresh(settings).days == (dt.date(2026, 3, 3),)


def test_a_name_that_is_no_text_is_shown_escaped(state: Path, folder: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(folder) + b"/latin\xe9.log"))
    logs.write(path, [*logs.day_of_lines(DAY), "garbage"])
    (file,) = refresh(_settings(state, folder)).landed
    assert file.name == "logs/latin\\udce9.log"
    path.write_bytes(b"\x00\x01 no log\n")
    (error,) = _errors(refresh(_settings(state, folder)))
    assert error.encode().isascii()


def test_a_key_that_was_lost_is_not_replaced_without_a_word(state: Path, folder: Path) -> None:
    settings = _settings(state, folder)
    logs.write(folder / "a.log", logs.day_of_lines(DAY))
    assert refresh(settings).lost_keys == ()
    (key,) = (state / "secrets").glob("clients-*.key")
    key.unlink()
    logs.write(folder / "b.log", logs.day_of_lines(DAY + dt.timedelta(days=1)))
    assert refresh(settings).lost_keys == (key,)


def test_no_key_was_lost_where_no_request_was_kept(state: Path, folder: Path) -> None:
    """Lines without a host, which is named only when the first reading has shown that it lacks."""
    logs.write(folder / "a.log", logs.day_of_lines(DAY))
    (file,) = refresh(_settings(state, folder, source={"host": None})).landed
    assert sum(day.rows for day in file.days.values()) == 0
    report = refresh(_settings(state, folder))
    assert report.lost_keys == ()
    assert list((state / "secrets").glob("clients-*.key"))


def test_a_key_of_a_new_period_is_not_a_lost_one(state: Path, folder: Path) -> None:
    settings = _settings(state, folder, privacy={"rotation_days": 1})
    logs.write(folder / "a.log", logs.day_of_lines(DAY))
    refresh(settings)
    logs.write(folder / "b.log", logs.day_of_lines(DAY + dt.timedelta(days=1)))
    assert refresh(settings).lost_keys == ()


def test_a_clock_that_was_set_back_loses_no_day(
    state: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most lines then lie in the future: nothing is noted of them, and they are read later."""
    logs.write(folder / "access.log", logs.day_of_lines(DAY))
    settings = _settings(state, folder)

    class Early(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Early:
            return cls(2020, 1, 1, tzinfo=tz)

    monkeypatch.setattr("temporal_assets.landing.landing.dt.datetime", Early)
    (error,) = _errors(refresh(settings))
    assert "6 of 6 lines lie in the future: this machine's clock says 2020-01-01" in error
    monkeypatch.undo()
    _let_grace_pass(state)  # that is, the record was written under another clock
    report = refresh(settings)
    assert (_errors(report), _rows(settings)) == ([], 6)


@pytest.mark.parametrize("name", ["auto", "combined"])
def test_logs_without_addresses_are_read_by_agents_or_refused(
    state: Path, folder: Path, name: str
) -> None:
    """Else everybody would be one visitor, whose pages are never published."""
    lines = [
        f'- - - [02/Mar/2026:12:00:{n:02} +0000] "GET /a HTTP/1.1" 200 5 "-" "{agent}"'
        for n, agent in enumerate(("Mozilla/5.0 (X11)", "Mozilla/5.0 (Mac)", "Mozilla/5.0 (X11)"))
    ]
    log = folder / "access.log"
    log.write_text("\n".join(lines) + "\n")
    alone = _settings(state, folder, source={"format": name})
    (error,) = _errors(refresh(alone))
    assert 'Set `client = "address+agent"` in the section `privacy`' in error
    apart = _settings(state, folder, source={"format": name}, privacy={"client": "address+agent"})
    (file,) = refresh(apart).landed
    assert (file.format, file.days[DAY].rows) == ("combined", 3)
    segments = (state / "landing" / "segments").rglob("*.parquet")
    clients = [one for path in segments for one in pq.read_table(path)["client"].to_pylist()]
    assert len(set(clients)) == 2
    # One line that names somebody, and the file is as any other: the rest is one client.
    log.write_text(f"{lines[0]}\n192.0.2.7{lines[1][1:]}\n")
    assert _errors(refresh(_settings(state, folder, source={"format": "combined"}))) == []


def test_logs_without_addresses_and_agents_are_refused(state: Path, folder: Path) -> None:
    (folder / "a.log").write_text('- - - [02/Mar/2026:12:00:00 +0000] "GET /a HTTP/1.1" 200 5\n')
    settings = _settings(state, folder, privacy={"client": "address+agent"})
    (error,) = _errors(refresh(settings))
    assert "no user agents either that could tell them apart" in error
