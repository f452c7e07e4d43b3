"""Files of a folder that were read before, by the same process."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from temporal_assets.storage import record_cache
from temporal_assets.storage.record_cache import RecordCache

LONG_AGO = time.time_ns() - 60_000_000_000


class Reader:
    """Reads texts and notes which; None of an empty one."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, path: Path) -> str | None:
        self.read.append(path.name)
        return path.read_text() or None


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def files(reader: Reader) -> RecordCache[str]:
    return RecordCache(reader)


def write(path: Path, text: str, changed_ns: int = LONG_AGO) -> None:
    """Write a file beside, and move it to its place."""
    beside = path.with_name("beside")
    beside.write_text(text)
    os.utime(beside, ns=(changed_ns, changed_ns))
    beside.replace(path)


def test_a_file_that_stays_is_read_once(
    tmp_path: Path, reader: Reader, files: RecordCache[str]
) -> None:
    write(tmp_path / "b.json", "two")
    write(tmp_path / "a.json", "one")
    write(tmp_path / "c.json.damaged", "none of them")
    for _ in range(3):
        message = files.all_of(tmp_path, ".json")
        assert list(message.items()) == [(tmp_path / "a.json", "one"), (tmp_path / "b.json", "two")]
    assert reader.read == ["a.json", "b.json"]


def test_what_changes_comes_or_goes_is_seen(tmp_path: Path, files: RecordCache[str]) -> None:
    for name in ("stays", "changes", "goes"):
        write(tmp_path / f"{name}.json", "old")
    files.all_of(tmp_path, ".json")
    write(tmp_path / "changes.json", "new")  # of the same size and time: another inode
    write(tmp_path / "comes.json", "new")
    (tmp_path / "goes.json").unlink()
    message = files.all_of(tmp_path, ".json")
    assert {path.stem: text for path, text in message.items()} == {
        "changes": "new",
        "comes": "new",
        "stays": "old",
    }


def test_a_file_written_over_where_it_lies_is_seen(tmp_path: Path, files: RecordCache[str]) -> None:
    """Within one tick of the clock, in which neither size nor time tell."""
    now = time.time_ns()
    path = tmp_path / "a.json"
    write(path, "old", now)
    files.all_of(tmp_path, ".json")
    path.write_text("new")
    os.utime(path, ns=(now, now))
    assert files.all_of(tmp_path, ".json") == {path: "new"}


def test_what_said_nothing_is_asked_again(
    tmp_path: Path, reader: Reader, files: RecordCache[str]
) -> None:
    write(tmp_path / "a.json", "")
    assert files.all_of(tmp_path, ".json") == {tmp_path / "a.json": None}
    assert files.all_of(tmp_path, ".json") == {tmp_path / "a.json": None}
    assert reader.read == ["a.json"] * 2


def test_no_more_are_kept_than_memory_should_hold(
    tmp_path: Path, reader: Reader, files: RecordCache[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_cache, "MOST_KEPT", 2)
    for name in "abc":
        write(tmp_path / f"{name}.json", name)
    for _ in range(2):
        message = files.all_of(tmp_path, ".json")
        assert [*message.values()] == ["a", "b", "c"]
    assert reader.read == ["a.json", "b.json", "c.json", "c.json"]


def test_folders_are_not_taken_for_each_other(tmp_path: Path, files: RecordCache[str]) -> None:
    """Also where one is a copy whose files have the same inodes."""
    first, other = tmp_path / "one", tmp_path / "other"
    first.mkdir(), other.mkdir()
    write(first / "a.json", "of one")
    (other / "a.json").hardlink_to(first / "a.json")
    assert files.all_of(first, ".json") == {first / "a.json": "of one"}
    assert files.all_of(other, ".json") == {other / "a.json": "of one"}
    assert files.all_of(tmp_path / "none", ".json") == {}


def test_a_file_that_goes_while_it_is_looked_at_is_left_out(tmp_path: Path) -> None:
    write(tmp_path / "a.json", "a")
    write(tmp_path / "b.json", "b")

    def read(path: Path) -> str:
        (tmp_path / "b.json").unlink(missing_ok=True)
        return path.read_text()

    assert RecordCache(read).all_of(tmp_path, ".json") == {tmp_path / "a.json": "a"}


def test_threads_may_share_it(tmp_path: Path, files: RecordCache[str]) -> None:
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
        for number in range(50):
            write(folder / f"{number:02}.json", f"{folder.name} {number}")
    wrong: list[object] = []

    def look(folder: Path) -> None:
        wanted = {folder / f"{number:02}.json": f"{folder.name} {number}" for number in range(50)}
        wrong.extend(1 for _ in range(20) if files.all_of(folder, ".json") != wanted)

    threads = [threading.Thread(target=look, args=(folder,)) for folder in folders * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
