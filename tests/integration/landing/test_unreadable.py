"""Files that cannot be read, whole or in part."""

from __future__ import annotations

import datetime as dt
import errno
import gzip
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.landing.source_files import pending_files
from temporal_assets.logs.read import streams
from temporal_assets.logs.read.records import Block
from temporal_assets.logs.tables import parquet
from temporal_assets.settings import load_settings
from tests import logs
from tests.landing import DAY, errors_of, rows_of, settings_of


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
    settings = settings_of(state, folder)
    report = refresh(settings)
    assert [file.name for file in report.landed] == ["logs/good.log"]
    (error,) = errors_of(report)
    assert str(folder / name) in error
    assert says in error
    again = refresh(settings)
    assert errors_of(again) == [error], "reported as long as the file is there"
    (folder / name).unlink()
    assert refresh(settings).failed == ()


def test_a_stated_format_that_fits_no_line_is_named_with_the_likely_one(
    state: Path, folder: Path
) -> None:
    logs.write(folder / "access.log", logs.day_of_lines(DAY))
    (error,) = errors_of(refresh(settings_of(state, folder, source={"format": "squid"})))
    assert "none of 6 lines can be read as `squid`" in error
    assert "looks like `combined`" in error
    assert "line 1" in error


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
    (error,) = errors_of(refresh(settings_of(state, folder, source={"format": form})))
    assert str(folder / "access.log") in error
    assert says in error


def test_a_failure_is_forgotten_when_the_file_is_repaired(state: Path, folder: Path) -> None:
    (folder / "access.log").write_bytes(b"\x01\x02 not a log\n")
    settings = settings_of(state, folder)
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
    settings = settings_of(state, folder)
    refused["access.log"] = fault
    report = refresh(settings)
    assert [file.name for file in report.landed] == ["logs/other.log"]
    (error,) = errors_of(report)
    assert error.startswith(f"{path}: ")
    assert says in error
    del refused["access.log"]
    report = refresh(settings)
    assert ([file.name for file in report.landed], report.failed) == (["logs/access.log"], ())


def test_a_disk_that_fails_in_the_middle_is_asked_again(
    state: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.write(folder / "access.log", logs.day_of_lines(DAY))
    settings = settings_of(state, folder)

    def failing(stream: streams.LogStream) -> Iterator[Block]:
        yield from right(stream)
        raise OSError(errno.EIO, "Input/output error")

    right = streams.LogStream.__iter__
    monkeypatch.setattr(streams.LogStream, "__iter__", failing)
    assert "reading failed after line 6" in errors_of(refresh(settings))[0]
    monkeypatch.undo()
    report = refresh(settings)
    assert (len(report.landed), report.failed) == (1, ())


def test_who_may_not_read_a_file_does_not_try_all_the_time(
    state: Path, folder: Path, refused: dict[str, OSError], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = logs.write(folder / "access.log", logs.day_of_lines(DAY))
    settings = settings_of(state, folder)
    refused["access.log"] = PermissionError(errno.EACCES, "Permission denied")
    refresh(settings)
    monkeypatch.setattr(
        "temporal_assets.landing.source_files.os.access", lambda one, _: one != path
    )
    assert pending_files(Inventory.load(settings), settings) == []
    time.sleep(0.02)  # the clock of file systems is a coarse one
    path.chmod(0o644)
    assert len(pending_files(Inventory.load(settings), settings)) == 1


def test_a_file_that_is_replaced_in_the_same_size_and_time_is_tried_again(
    state: Path, folder: Path
) -> None:
    good = "".join(f"{line}\n" for line in logs.day_of_lines(DAY)).encode()
    path = folder / "access.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x01" * (len(good) - 1) + b"\n")
    os.utime(path, (1e9, 1e9))
    settings = settings_of(state, folder)
    assert len(refresh(settings).failed) == 1
    assert pending_files(Inventory.load(settings), settings) == []
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
    settings = settings_of(state, folder)
    assert refresh(settings).landed == ()
    assert len(refresh(settings).landed) == 1
    assert Inventory.load(settings).days() == [days[1]]


def test_a_failure_that_another_process_forgets_meanwhile_is_tried_again(
    state: Path, folder: Path
) -> None:
    (folder / "access.log").write_bytes(b"\x01\x02 not a log\n")
    settings = settings_of(state, folder)
    refresh(settings)
    inventory = Inventory.load(settings)
    assert pending_files(inventory, settings) == []
    for record in (state / "landing" / "files").iterdir():
        record.unlink()
    assert [item.path.name for item in pending_files(inventory, settings)] == ["access.log"]


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


def test_an_archive_that_breaks_within_its_first_line_says_so(state: Path, folder: Path) -> None:
    whole = gzip.compress(logs.day_of_lines(DAY)[0].encode())
    for end, why in ((len(whole) // 2, "no known format fits"), (-12, "none of 1 lines")):
        (folder / "access.log.gz").write_bytes(whole[:end])
        (file,) = refresh(settings_of(state, folder)).failed
        assert "access.log.gz: truncated gzip" in str(file.error)
        assert f"; of what precedes it, {why}" in str(file.error)


def test_a_truncated_archive_gives_what_is_readable_and_says_so(state: Path, folder: Path) -> None:
    lines = logs.day_of_lines(DAY, clients=120)
    packed = gzip.compress("".join(f"{line}\n" for line in lines).encode())
    (folder / "access.log.gz").write_bytes(packed[: len(packed) * 2 // 3])
    settings = settings_of(state, folder)
    (file,) = refresh(settings).landed
    assert file.problem is not None
    assert "truncated gzip" in file.problem
    assert 0 < rows_of(settings) < 240
    (folder / "access.log.gz").write_bytes(packed)
    refresh(settings)
    assert rows_of(settings) == 240, "the whole archive replaces its beginning"


@pytest.mark.parametrize("end", ["\n", ""])
def test_an_archive_that_was_read_without_its_last_bytes_is_whole_later(
    state: Path, folder: Path, end: str
) -> None:
    """Its text was there. Without a newline its last line may have been cut, and is still lost."""
    packed = gzip.compress(("\n".join(logs.day_of_lines(DAY)) + end).encode())
    settings = settings_of(state, folder)
    (folder / "access.log.gz").write_bytes(packed[:-8])
    (file,) = refresh(settings).landed
    assert "truncated gzip" in str(file.problem)
    (folder / "access.log.gz").write_bytes(packed)
    assert refresh(settings).landed == ()
    (again,) = Inventory.load(settings).active
    assert again.problem == (None if end else file.problem)
    assert rows_of(settings) == (6 if end else 5)


def test_copies_of_which_one_is_truncated_have_no_problem(state: Path, folder: Path) -> None:
    packed = gzip.compress("".join(f"{line}\n" for line in logs.day_of_lines(DAY)).encode())
    (folder / "a.log.gz").write_bytes(packed[:-8])
    (folder / "b.log.gz").write_bytes(packed)
    (folder / "c.log.gz").write_bytes(packed[:-8])
    settings = settings_of(state, folder)
    refresh(settings)
    (file,) = Inventory.load(settings).active
    assert (file.problem, file.lines) == (None, 6)
