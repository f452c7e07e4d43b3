"""Where the files of partitions are: folders by asset and day, on a disk or in a bucket.

In: the root of a store, a local folder or any fsspec URL. Out: paths, listings and sizes. Not here:
what manifests say (`reader`), how files come there (`store`).
"""

from __future__ import annotations

import datetime as dt
import os
import posixpath
from pathlib import Path
from typing import Any, Final

from temporal_assets.machine.filesystems import filesystem_of
from temporal_assets.machine.object_cache import DiskCache, use
from temporal_assets.storage.bucket import bucket_of

CACHE: Final = "cache"
"""Name of the state folder's folder for local copies of a bucket's files."""
_PREFIX: Final = "day="
"""Beginning of the name of a day's folder, as Hive and Spark write it."""


class PartitionFolders:
    """Folders of partitions under one root, which is a local folder or any fsspec URL."""

    def __init__(self, root: str | os.PathLike[str], state: Path) -> None:
        self.fs, self.root = filesystem_of(str(root))
        self.state = state
        self.is_local = "file" in _protocols(self.fs)
        self._bucket = bucket_of(self.fs, self.root)
        """The bucket, for a store that is not local."""
        self._cache = use(state / CACHE) if not self.is_local else DiskCache(state / CACHE)

    def assets(self) -> list[str]:
        """Return names of the assets that have any partition."""
        return sorted(posixpath.basename(path) for path in self._ls(self.root))

    def folders(self, asset: str) -> list[dt.date]:
        """Return days that take up space, ascending: published ones and leftovers."""
        names = (posixpath.basename(path) for path in self._ls(self._join(asset)))
        return sorted(day for name in names if (day := _day_of(name)))

    def size(self, asset: str, day: dt.date) -> int:
        """Return the bytes of a day's folder, including files no longer in use.

        A file that several partitions link counts as an equal part in each.
        """
        share = _disk_share if self.is_local else self._size
        return sum(share(path) or 0 for path in self._ls(self._join(asset, day)))

    def _size(self, path: str) -> int | None:
        """Return the bytes of a file, or None if it is missing."""
        if not self.is_local:
            seen = self._bucket.seen(path)
            return seen and seen.size
        try:
            return int(self.fs.size(path) or 0)
        except FileNotFoundError:
            return None

    def _join(self, asset: str, day: dt.date | None = None, name: str | None = None) -> str:
        """Return the path of an asset, of one of its days, or of a file of that day."""
        parts = [self.root, asset]
        if day is not None:
            parts.append(f"{_PREFIX}{day.isoformat()}")
        if name is not None:
            parts.append(name)
        return str(posixpath.join(*parts))

    def _ls(self, path: str) -> list[str]:
        """Return paths of what a folder holds; none if there is no such folder."""
        if not self.is_local:
            return self._bucket.names(path)
        try:
            return sorted(self.fs.ls(path, detail=False, refresh=True))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _url(self, path: str) -> str:
        """Return a path with the protocol of its file system; a local path stays as it is."""
        return path if self.is_local else str(self.fs.unstrip_protocol(path))

    def _remove(self, path: str) -> None:
        if self.is_local:
            self.fs.rm_file(path)
        else:
            self._bucket.remove(path)


def _day_of(name: str) -> dt.date | None:
    """Return the day in the name of a folder, or None for others, like a copy somebody made."""
    try:
        day = dt.date.fromisoformat(name.removeprefix(_PREFIX))
    except ValueError:
        return None
    # ISO 8601 has more forms of a date, like 20260131; we write one.
    return day if name == f"{_PREFIX}{day.isoformat()}" else None


def _disk_share(path: str) -> int | None:
    """Return the bytes of a file divided by its hard links; None if it is gone."""
    try:
        stat = Path(path).stat()
    except FileNotFoundError:
        return None
    return stat.st_size // stat.st_nlink


def _protocols(fs: Any) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)
