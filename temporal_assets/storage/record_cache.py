"""A cache of the small files of a folder, read again only after they change.

There may be a hundred thousand of them, and they are asked for again and again: by every step of a
night, by a sensor every minute. To see that one is the same takes an eighth of reading it. Not
here: their content (`inventory`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Generic, TypeVar

Said = TypeVar("Said")

_SETTLED_NS: Final = 2_000_000_000
"""Age in nanoseconds below which a file is read again: times of change are as coarse as two seconds
on some disks, so a new version might look the same."""

MOST_KEPT: Final = 20_000
"""Largest number of records kept in memory, each of 6 kB; beyond it they are read each time."""

_Version = tuple[int, int, int]
"""Inode, size and time of change of a file."""


class RecordCache(Generic[Said]):
    """A cache of the small files of one folder, the last one asked for. Threads may share it."""

    def __init__(self, read: Callable[[Path], Said | None]) -> None:
        """Take `read`; a file for which it returns None is read again the next time."""
        self._read = read
        self._last: tuple[Path, dict[str, tuple[_Version, Said]]] = (Path(), {})

    def all_of(self, folder: Path, ending: str) -> dict[Path, Said | None]:
        """Return the content of each file of a folder with an ending, in the order of names.

        A file that is removed meanwhile is left out.
        """
        last, before = self._last
        known_records = before if last == folder else {}
        settled = time.time_ns() - _SETTLED_NS
        records: dict[Path, Said | None] = {}
        current: dict[str, tuple[_Version, Said]] = {}
        for entry in _entries(folder, ending):
            with suppress(FileNotFoundError):
                version = _version(entry)
                then = known_records.get(entry.name)
                path = folder / entry.name
                record = then[1] if then and then[0] == version else self._read(path)
                records[path] = record
                if record is not None and version[-1] < settled and len(current) < MOST_KEPT:
                    current[entry.name] = (version, record)
        self._last = (folder, current)
        return records


def _entries(folder: Path, ending: str) -> list[os.DirEntry[str]]:
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        return sorted(
            (entry for entry in entries if entry.name.endswith(ending)),
            key=lambda entry: entry.name,
        )


def _version(entry: os.DirEntry[str]) -> _Version:
    stat = entry.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
