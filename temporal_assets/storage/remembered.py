"""Small files of a folder that this process has read before, and that are as they were then.

There may be a hundred thousand of them, and they are asked for again and again: by every step of a
night, by a sensor every minute. To see that one is the same takes an eighth of reading it.

Not here: what they say (`inventory`).
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
"""Times of change are no finer than a tick of the clock, two seconds on some disks: of a younger
file the next version might not look like another."""

MOST_KEPT: Final = 20_000
"""Most records of logs that are kept in memory, each of 6 kB: any more are read each time."""

_Version = tuple[int, int, int]
"""Inode, size, time of change."""


class Remembered(Generic[Said]):
    """A cache of small files in the folder that was asked for last. Threads may share it."""

    def __init__(self, read: Callable[[Path], Said | None]) -> None:
        """`read` returns None where a file says nothing, and is asked again the next time."""
        self._read = read
        self._last: tuple[Path, dict[str, tuple[_Version, Said]]] = (Path(), {})

    def all_of(self, folder: Path, ending: str) -> dict[Path, Said | None]:
        """Return the content by file, in the order of their names.

        A file that goes meanwhile is left out.
        """
        last, before = self._last
        known_records = before if last == folder else {}
        settled = time.time_ns() - _SETTLED_NS
        records: dict[Path, Said | None] = {}
        kept: dict[str, tuple[_Version, Said]] = {}
        for entry in _entries(folder, ending):
            with suppress(FileNotFoundError):
                version = _version(entry)
                then = known_records.get(entry.name)
                path = folder / entry.name
                record = then[1] if then and then[0] == version else self._read(path)
                records[path] = record
                if record is not None and version[-1] < settled and len(kept) < MOST_KEPT:
                    kept[entry.name] = (version, record)
        self._last = (folder, kept)
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
