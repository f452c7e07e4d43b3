"""Local disk cache of files in object stores that never change.

A published file has the digest of its content in its name: whoever has it once need not ask for it
again. Small ones are kept whole; of large ones only the needed parts are read. The least recently
used are removed when there is too much; a process that has one open reads on. Each has a
digest beside it: a damaged file is removed, and fetched again.

Here: the disk, and a file system that looks there first. Not here: which files there are
(`storage`).
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import re
import tempfile
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from threading import Lock
from typing import IO, Any, Final

from fsspec import AbstractFileSystem

from temporal_assets.machine.filesystems import filesystem_of

_UNCHANGING: Final = re.compile(r"part-[0-9a-f]{16}\.parquet")

_LARGEST: Final = 64 << 20
"""Bytes of the largest file that is kept whole: of larger ones most columns are not needed."""

_MOST_BYTES: Final = 4 << 30
"""Bytes of the whole cache; beyond it a tenth is removed."""

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class DiskCache:
    """A folder of copies that can be fetched again. Threads and processes may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = Lock()
        self._bytes: int | None = None
        self._compared: set[str] = set()
        """Names of files whose digest this process has compared."""

    def open(self, key: str) -> IO[bytes] | None:
        """Return the cached file of a key, open for reading; None if it is missing or damaged."""
        path = self._path(key)
        try:
            file = path.open("rb")
        except FileNotFoundError:
            return None
        if path.name not in self._compared:
            if not _is_as_kept(file, _sum_beside(path)):
                file.close()
                with suppress(PermissionError):  # who only looks may not write to the state folder
                    path.unlink(missing_ok=True)
                return None
            self._compared.add(path.name)
        with suppress(OSError):
            os.utime(path)  # it was used
        return file

    def add(self, key: str, content: bytes | Path) -> None:
        """Store bytes, or move a local file, under a key."""
        target = self._path(key)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if isinstance(content, bytes):
            content = self._scratch(content)
        size = content.stat().st_size
        with content.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self._scratch(digest.encode()).replace(_sum_beside(target))
        content.replace(target)
        with self._lock:
            self._bytes = size + (self._total() if self._bytes is None else self._bytes)
            if self._bytes > _MOST_BYTES:
                self._make_room()

    def _scratch(self, content: bytes) -> Path:
        number, name = tempfile.mkstemp(dir=self.folder, prefix=".")
        with os.fdopen(number, "wb") as file:
            file.write(content)
        return Path(name)

    def _path(self, key: str) -> Path:
        return self.folder / hashlib.sha256(key.encode()).hexdigest()

    def _files(self) -> list[tuple[float, int, Path]]:
        files = []
        for path in self.folder.iterdir():
            with suppress(FileNotFoundError):
                stat = path.stat()
                files.append((stat.st_mtime, stat.st_size, path))
        return sorted(files)

    def _total(self) -> int:
        return sum(size for _, size, _ in self._files())

    def _make_room(self) -> None:
        """Remove the least recently used files until nine tenths of the limit are left."""
        files = self._files()
        total = sum(size for _, size, _ in files)
        for _, size, path in files:
            if total <= _MOST_BYTES * 9 // 10:
                break
            path.unlink(missing_ok=True)
            total -= size
        self._bytes = total


def _sum_beside(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _is_as_kept(file: BufferedReader, beside: Path) -> bool:
    """Return True if an open file has its digest; rewinds it."""
    try:
        expected = beside.read_text("ascii")
    except (OSError, ValueError):
        return False
    is_same = hashlib.file_digest(file, "sha256").hexdigest() == expected
    file.seek(0)
    return is_same


_sizes: dict[str, int] = {}
"""Bytes of published files by path, from their manifests."""

_caches: list[DiskCache] = []
"""The cache of the last opened state folder, if any."""


def use(folder: Path) -> DiskCache:
    """Cache files of object stores in a folder from now on."""
    if not _caches or _caches[0].folder != folder:
        _caches[:] = [DiskCache(folder)]
    return _caches[0]


def expect(path: str, size: int) -> None:
    """Note the size of a published file, so that no request is needed for it."""
    _sizes[path] = size


def is_kept(path: str, size: int) -> bool:
    """Return True if a file is small enough to be kept whole."""
    return size <= _LARGEST and _UNCHANGING.fullmatch(path.rpartition("/")[2]) is not None


def opened(url: str) -> Any:
    """Open a published file by its URL for reading."""
    fs, path = filesystem_of(url)
    return CachedObjects(fs).open(path)


class CachedObjects(AbstractFileSystem):  # type: ignore[misc] # fsspec has no types
    """A file system for reading published files, which asks its store for each of them once."""

    cachable = False

    def __init__(self, fs: Any) -> None:
        super().__init__()
        self.protocol = fs.protocol
        self._fs = fs

    def open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        """Open a file, from the cache if it is kept whole."""
        path = str(self._fs._strip_protocol(path))
        size = _sizes.get(path)
        if mode != "rb" or size is None or not _caches or not is_kept(path, size):
            return self._fs.open(path, mode, **options)
        try:
            return self._cached(path, _caches[0])
        except PermissionError:  # who only looks may not write to the state folder
            return self._fs.open(path, mode, **options)

    def _cached(self, path: str, cache: DiskCache) -> IO[bytes]:
        """Return an open file from the cache, fetching it first if it is not there."""
        while (file := cache.open(path)) is None:
            cache.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            number, name = tempfile.mkstemp(dir=cache.folder, prefix=".")
            os.close(number)
            copy = Path(name)
            try:
                self._fs.get_file(path, name)
                cache.add(path, copy)
            finally:
                copy.unlink(missing_ok=True)
        return file

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        """Return the description of a file, without a request if its size is known."""
        path = str(self._fs._strip_protocol(path))
        size = _sizes.get(path)
        if size is None:
            details: dict[str, Any] = self._fs.info(path, **options)
            return details
        return {"name": path, "size": size, "type": "file"}

    def modified(self, path: str) -> dt.datetime:  # noqa: ARG002
        """Return a constant time: the files never change."""
        return _EPOCH

    def exists(self, path: str, **options: Any) -> bool:
        """Return True if a file exists."""
        path = str(self._fs._strip_protocol(path))
        return path in _sizes or bool(self._fs.exists(path, **options))

    def glob(self, path: str, **options: Any) -> Any:
        """Return the files of a pattern; for a published file the path itself."""
        plain = str(self._fs._strip_protocol(path))
        return [plain] if plain in _sizes else self._fs.glob(path, **options)
