"""The store of published tables: Parquet partitions per asset and day, replaced atomically.

    tables/page_views/day=2026-01-31/manifest.json            the pointer, replaced atomically
    tables/page_views/day=2026-01-31/part-<digest>.parquet    the data, never changed

Publishing writes data under a name made from its content, then replaces the manifest; readers go
through the manifest. So a reader sees the old partition or the new one whatever is killed when,
publishing the same content twice is a no-op, and the last publisher of a day wins. In a bucket the
manifest is replaced only if nobody has replaced it meanwhile (`bucket`). The generation before the
current one stays until the next one of other content, for readers under way.

Not here: what a partition holds (`contracts`) and how it is computed (`engines`).
"""

from __future__ import annotations

import datetime as dt
import os
import posixpath
import shutil
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock

from temporal_assets import contracts
from temporal_assets.machine.durable import link, make_folder, replace_text, sync
from temporal_assets.machine.filesystems import filesystem_of
from temporal_assets.machine.locks import brief
from temporal_assets.machine.object_cache import DiskCache, expect, opened, use
from temporal_assets.machine.scratch import scratch_folder
from temporal_assets.settings import Settings
from temporal_assets.storage.bucket import ReplacedMeanwhileError, bucket_of
from temporal_assets.storage.integrity import (
    SET_ASIDE,
    DamagedFile,
    digest_of_file,
    fault_of,
    set_aside,
)
from temporal_assets.storage.manifest import DataFile, Input, Manifest, ManifestError

MANIFEST: Final = "manifest.json"
"""Name of a partition's manifest file."""
CACHE: Final = "cache"
"""Name of the state folder's folder for local copies of a bucket's files."""
_PREFIX = "day="

Parts = Sequence[tuple[Path, DataFile]]
"""Local files to be published, with their descriptions."""

_VERIFIED_AT_ONCE: Final = 4
"""Number of partitions whose files are read at once: enough for a disk to be the limit."""


_SETTLED_NS: Final = 2_000_000_000
_MOST_MANIFESTS: Final = 20_000
"""Largest number of manifests kept in memory, each of a few kB; beyond it they are cleared."""

_manifests: dict[str, tuple[tuple[float | str, ...], Manifest]] = {}
"""Manifest by path, with its inode, size and time of change (or etag) when it was read."""

_YOUNG_SECONDS: Final = 3600
"""Age in seconds below which an unreferenced object may belong to a running publication."""

_COPIED_AT_ONCE: Final = 1 << 20

_TRIES: Final = 5
"""Number of attempts to publish when others publish the same day meanwhile."""


class MissingPartition(LookupError):
    """Error: a partition does not exist; the message names it and the remedy."""


class DamagedPartition(DamagedFile):
    """Error: a published day cannot be read; the message says how to make it again."""


class ShortWindow(MissingPartition):
    """Error: too few days of a window exist."""


@dataclass(frozen=True, slots=True)
class Window:
    """The days of a trailing window: which are present, and their files."""

    present: tuple[dt.date, ...]
    missing: tuple[dt.date, ...]
    files: tuple[str, ...]
    manifests: tuple[Manifest, ...]
    """Manifests of the days present. Their files stay readable, whatever is published meanwhile."""


class Store:
    """Partitions under one root, which is a local folder or any fsspec URL."""

    def __init__(self, root: str | os.PathLike[str], state: Path) -> None:
        self.fs, self.root = filesystem_of(str(root))
        self.state = state
        self.is_local = "file" in _protocols(self.fs)
        self._bucket = bucket_of(self.fs, self.root)
        """The bucket, for a store that is not local."""
        self._cache = use(state / CACHE) if not self.is_local else DiskCache(state / CACHE)

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Return the store of some settings; nothing is created before the first publication."""
        return cls(settings.storage or settings.state / "tables", settings.state)

    # Reading ---------------------------------------------------------------------------------

    def assets(self) -> list[str]:
        """Return names of the assets that have any partition."""
        return sorted(posixpath.basename(path) for path in self._ls(self.root))

    def days(self, asset: str) -> list[dt.date]:
        """Return days that are published, ascending."""
        return [day for day in self.folders(asset) if self._is_there(asset, day)]

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

    def manifest(self, asset: str, day: dt.date) -> Manifest | None:
        """Return the manifest of a day, or None. Raises `DamagedPartition`.

        A partition of another schema version counts as missing: its columns are not those of the
        contract. `outdated` has it.
        """
        stored = self.stored(asset, day)
        return stored if stored and _is_current(stored) else None

    def outdated(self) -> list[Manifest]:
        """Return partitions of another schema version than their contract's, in its order."""
        return [
            manifest
            for table in contracts.TABLES
            for day in self.folders(table.name)
            if (manifest := self._readable(table.name, day)) and not _is_current(manifest)
        ]

    def stored(self, asset: str, day: dt.date) -> Manifest | None:
        """Return the manifest of a day whatever its schema version, unlike `manifest`."""
        path = self._join(asset, day, MANIFEST)
        try:
            manifest = self._read_manifest(path)
        except FileNotFoundError:
            return None
        except ManifestError as error:
            raise _damaged(path, str(error), asset, day) from None
        if (manifest.asset, manifest.day) != (asset, day):
            what = f"speaks of {manifest.asset} of {manifest.day}"
            raise _damaged(path, what, asset, day)
        return manifest

    def _read_manifest(self, path: str) -> Manifest:
        """Return a manifest from its file or from memory: every step asks for all of them."""
        if not self.is_local:
            return self._read_object(path)
        stat = Path(path).stat()
        version = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        seen = _manifests.get(path)
        if seen is not None and seen[0] == version:
            return seen[1]
        manifest = Manifest.from_json(Path(path).read_bytes())
        # One that was replaced within a tick of the clock might not look like another.
        if stat.st_mtime_ns < time.time_ns() - _SETTLED_NS:
            _remember(path, version, manifest)
        return manifest

    def _read_object(self, path: str) -> Manifest:
        """Return a manifest from a bucket, or from memory if the listed version was read."""
        seen = self._bucket.seen(path)
        if seen is None:
            raise FileNotFoundError(path)
        url = self._url(path)
        remembered = _manifests.get(url)
        if remembered is not None and remembered[0] == seen.version:
            return remembered[1]
        manifest = Manifest.from_json(self._bucket.read(path, seen, self._cache))
        if seen.etag:
            _remember(url, seen.version, manifest)
        return manifest

    def intact(self, asset: str, day: dt.date) -> Manifest | None:
        """Return the manifest of a day if its files exist and have their sizes; reads no data.

        For deciding what is to be made again: what is damaged counts as missing.
        """
        try:
            manifest = self.manifest(asset, day)
        except DamagedPartition:
            return None
        if manifest is None or any(self._misses(manifest, file) for file in manifest.stored):
            return None
        return manifest

    def verify(self, manifest: Manifest) -> None:
        """Raise `DamagedPartition` unless the files hold the bytes that were published.

        In buckets only the size is compared: object stores keep digests of their own.
        """
        for path, fault in self._faults(manifest):
            raise _damaged(path, fault, manifest.asset, manifest.day)

    def verify_all(self, manifests: Sequence[Manifest]) -> None:
        """Verify several partitions in parallel."""
        with ThreadPoolExecutor(_VERIFIED_AT_ONCE) as pool:
            deque(pool.map(self.verify, manifests), maxlen=0)

    def verified(self, manifest: Manifest) -> Manifest:
        """Verify a partition for use as an input, renaming damaged files.

        So the next run makes the day again.
        """
        for path, fault in self._faults(manifest):
            self._set_aside(path)
            raise _damaged(path, fault, manifest.asset, manifest.day)
        return manifest

    def _faults(self, manifest: Manifest, *, contents: bool = True) -> Iterator[tuple[str, str]]:
        """Yield each path that is not as it was published, with what is wrong."""
        for file in manifest.stored:
            path = self._join(manifest.asset, manifest.day, file.name)
            if contents and self.is_local:
                fault = fault_of(Path(path), file.bytes, file.digest)
            else:
                fault = self._misses(manifest, file)
            if fault is not None:
                yield path, fault

    def _set_aside(self, path: str) -> None:
        if self.is_local:
            set_aside(Path(path))

    def files(self, asset: str, day: dt.date) -> list[str]:
        """Return paths of the Parquet files of a partition, verified, for an engine to read."""
        manifest = self.require(asset, day)
        self.verify(manifest)
        return self.paths(manifest)

    def paths(self, manifest: Manifest) -> list[str]:
        """Return paths of the Parquet files that a manifest names."""
        return self._paths(manifest, manifest.files)

    def paths_beside(self, manifest: Manifest) -> list[str]:
        """Return paths of the files of URLs, if rows refer to them by number."""
        return self._paths(manifest, manifest.beside)

    def paths_of_counts(self, manifest: Manifest) -> list[str]:
        """Return paths of the files of views without clients."""
        return self._paths(manifest, manifest.counts)

    def _paths(self, manifest: Manifest, files: Sequence[DataFile]) -> list[str]:
        folder = self._join(manifest.asset, manifest.day)
        paths = [posixpath.join(folder, file.name) for file in files]
        if not self.is_local:
            for path, file in zip(paths, files, strict=True):
                expect(path, file.bytes)
        return [self._url(path) for path in paths]

    def require(self, asset: str, day: dt.date) -> Manifest:
        """Return the manifest of a day. Raises `MissingPartition`."""
        manifest = self.stored(asset, day)
        if manifest is None:
            raise MissingPartition(
                f"{asset} has no partition for {day}: materialise it first "
                f"(temporal-assets materialize {asset} --day {day})"
            )
        if not _is_current(manifest):
            raise MissingPartition(
                f"{asset} of {day} was written in schema {manifest.schema_version} and this release"
                f" reads {contracts.table(asset).version}: temporal-assets doctor upgrade says what"
                " to do"
            )
        return manifest

    def verify_sizes(self, manifest: Manifest) -> None:
        """Raise `DamagedPartition` unless the files exist and have their sizes."""
        for path, fault in self._faults(manifest, contents=False):
            raise _damaged(path, fault, manifest.asset, manifest.day)

    def damaged(self, *, contents: bool = False) -> list[str]:
        """Return published files that are missing, of another size, or no Parquet.

        With `contents` every byte is read and compared with the published digest, except in
        buckets, as in `verify`.
        """
        self._bucket.forget()
        return [
            path
            for asset in self.assets()
            for day in self.folders(asset)
            for path in self._damaged_of(asset, day, contents)
        ]

    def _damaged_of(self, asset: str, day: dt.date, contents: bool) -> Iterator[str]:
        try:
            manifest = self.stored(asset, day)
        except DamagedPartition:
            yield self._join(asset, day, MANIFEST)
            return
        if manifest is None:
            return  # remains of a day that was removed
        wrong = [path for path, _ in self._faults(manifest, contents=contents)]
        yield from wrong
        if self.is_local and not contents:
            paths = (self._join(asset, day, file.name) for file in manifest.stored)
            yield from (path for path in paths if path not in wrong and not _opens(path))

    def _misses(self, manifest: Manifest, file: DataFile) -> str | None:
        """Return what is wrong with a file, judged by its name and size."""
        path = self._join(manifest.asset, manifest.day, file.name)
        size = self._size(path)
        if size is None:
            return "is missing"
        return None if size == file.bytes else f"has {size:,} bytes instead of {file.bytes:,}"

    def _size(self, path: str) -> int | None:
        if not self.is_local:
            seen = self._bucket.seen(path)
            return seen and seen.size
        try:
            return int(self.fs.size(path) or 0)
        except FileNotFoundError:
            return None

    def window(self, asset: str, day: dt.date, days: int, min_days: int) -> Window:
        """Return the window of `days` days up to `day`. Raises `ShortWindow` below `min_days`."""
        wanted = [day - dt.timedelta(days=back) for back in reversed(range(days))]
        manifests = [manifest for d in wanted if (manifest := self.manifest(asset, d)) is not None]
        present = tuple(manifest.day for manifest in manifests)
        missing = tuple(sorted(set(wanted) - set(present)))
        if len(present) < min_days:
            raise ShortWindow(
                f"{asset} has {len(present)} of the {days} days up to {day}, fewer than the "
                f"{min_days} that `window.min_days` asks for; backfill it first"
            )
        files = [path for manifest in manifests for path in self.paths(manifest)]
        return Window(present, missing, tuple(files), tuple(manifests))

    def read(
        self,
        asset: str,
        days: dt.date | Sequence[dt.date],
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """Return partitions as an Arrow table, in the order of `days`, verified."""
        chosen = [days] if isinstance(days, dt.date) else list(days)
        while True:
            manifests = [self.require(asset, day) for day in chosen]
            try:
                return self._read(asset, manifests, columns)
            except (FileNotFoundError, DamagedPartition):
                self._bucket.forget()
                # Files of the publication before stay; those replaced twice meanwhile are gone.
                if [self.stored(asset, day) for day in chosen] == manifests:
                    raise

    def _read(
        self, asset: str, manifests: Sequence[Manifest], columns: Sequence[str] | None
    ) -> pa.Table:
        for manifest in manifests:
            self.verify(manifest)
        tables = [
            self._with_urls(self._table(path, columns), manifest)
            for manifest in manifests
            for path in self.paths(manifest)
        ]
        if not tables:
            empty = contracts.table(asset).arrow_schema.empty_table()
            return empty.select(list(columns)) if columns else empty
        return pa.concat_tables(tables)

    def _with_urls(self, rows: pa.Table, manifest: Manifest) -> pa.Table:
        """Return rows with URLs in place of their numbers."""
        named = [name for name in rows.column_names if name in _numbered(manifest)]
        if named:
            parts = [self._table(path, ["url"]) for path in self.paths_beside(manifest)]
            urls = pa.concat_tables(parts)["url"].combine_chunks()
            for name in named:
                at = rows.column_names.index(name)
                rows = rows.set_column(at, name, urls.take(rows[name].combine_chunks()))
        return rows

    def _table(self, path: str, columns: Sequence[str] | None) -> pa.Table:
        """Return some columns of a file.

        Data sets are avoided: PyArrow imports pandas for them, which takes seconds.
        """
        source, fs = (path, self.fs) if self.is_local else (opened(path), None)
        with pq.ParquetFile(source, filesystem=fs, pre_buffer=True) as file:
            rows: pa.Table = file.read(None if columns is None else list(columns))
        return rows if columns is None else rows.select(list(columns))

    def fetch(self, asset: str, day: dt.date, folder: Path) -> None:
        """Copy a partition into a new local folder, laid out as in a local store."""
        manifest = self.require(asset, day)
        folder.mkdir(parents=True)
        for url in self._paths(manifest, manifest.stored):
            self._copy(url, folder / posixpath.basename(url))
        (folder / MANIFEST).write_text(manifest.to_json(), "utf-8")

    def linked(self, manifest: Manifest, folder: Path) -> list[Path]:
        """Return hard links to a partition's files in a folder, to be published beside other rows.

        Links take up no space. On a file system without hard links the files are copied.
        """
        files = [(url, folder / posixpath.basename(url)) for url in self.paths(manifest)]
        for url, file in files:
            if self.is_local:
                link(url, file)
            else:
                self._copy(url, file)
        return [file for _, file in files]

    def _copy(self, url: str, target: Path) -> None:
        with opened(url) as file, target.open("wb") as copy:
            shutil.copyfileobj(file, copy, _COPIED_AT_ONCE)

    # Writing ---------------------------------------------------------------------------------

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Yield a private local folder on the state's file system, for data not published yet."""
        with scratch_folder(self.state / "tmp") as folder:
            yield folder

    def publish(
        self,
        asset: str,
        day: dt.date,
        files: Sequence[Path],
        *,
        inputs: Sequence[Input],
        settings_digest: str,
        extra: dict[str, Any] | None = None,
        beside: Sequence[Path] = (),
        counts: Sequence[Path] = (),
    ) -> Manifest:
        """Make local Parquet `files` the partition of `asset` for `day`, atomically.

        The files are moved (or uploaded) and must be in a `scratch` folder of this store; so must
        `beside`, the files of URLs that rows refer to by number, and `counts`, the files of views
        without clients.
        """
        parts = [(path, _describe(path)) for path in (*files, *beside, *counts)]
        described = tuple(part for _, part in parts)
        others = len(files) + len(beside)
        manifest = Manifest(
            asset=asset,
            day=day,
            files=described[: len(files)],
            schema_version=contracts.table(asset).version,
            inputs=tuple(inputs),
            settings_digest=settings_digest,
            extra=extra or {},
            beside=described[len(files) : others],
            counts=described[others:],
        )
        self._show(manifest, parts)
        return manifest

    def _show(self, manifest: Manifest, parts: Parts) -> None:
        """Move the files into place, then replace the manifest."""
        asset, day = manifest.asset, manifest.day
        if not self.is_local:
            self._upload(manifest, parts)
            return
        with self._publish_lock(asset):
            before = self._readable(asset, day)
            make_folder(Path(self._join(asset, day)))
            for path, part in parts:
                self._move(path, self._join(asset, day, part.name))
            # Written where the data was, so that a killed process leaves its waste there.
            scratch = parts[0][0].parent
            self._replace_text(self._join(asset, day, MANIFEST), manifest.to_json(), scratch)
            self._drop_replaced(manifest, before)

    def _upload(self, manifest: Manifest, parts: Parts) -> None:
        """Publish in a bucket, where other machines that do not see our locks may publish too.

        What they have made visible meanwhile is replaced, as the last publisher wins. Their files
        that are not visible yet are too young to be removed.
        """
        asset, day = manifest.asset, manifest.day
        pointer = self._join(asset, day, MANIFEST)
        with self._publish_lock(asset):
            for _ in range(_TRIES):
                seen = self._bucket.seen(pointer)
                before = self._readable(asset, day)
                for path, part in parts:
                    self._bucket.put(path, self._join(asset, day, part.name), self._cache)
                try:
                    text = manifest.to_json().encode()
                    self._bucket.replace(pointer, text, seen, self._cache)
                except ReplacedMeanwhileError:
                    continue
                self._drop_replaced(manifest, before)
                return
        raise TimeoutError(f"{pointer} is replaced by others again and again: run it again")

    def _drop_replaced(self, manifest: Manifest, before: Manifest | None) -> None:
        """Remove files of generations that no reader may still use."""
        if before is None or before.stored != manifest.stored:
            self._drop_old(manifest.asset, manifest.day, [manifest, before])
        else:  # of no generation that readers may have
            self._drop_old(manifest.asset, manifest.day, [manifest], ending=SET_ASIDE)

    def _is_there(self, asset: str, day: dt.date) -> bool:
        try:
            return self.manifest(asset, day) is not None
        except DamagedPartition:
            return True  # to be met where it is read, not to be overlooked

    def _readable(self, asset: str, day: dt.date) -> Manifest | None:
        """Return the manifest of a day, or None if it is damaged: replacing it is the remedy."""
        try:
            return self.stored(asset, day)
        except DamagedPartition:
            return None

    def remove(self, asset: str, day: dt.date) -> None:
        """Remove a partition: its manifest first, so that no reader finds half of it."""
        with self._publish_lock(asset):
            paths = self._ls(self._join(asset, day))
            for path in sorted(paths, key=lambda path: posixpath.basename(path) != MANIFEST):
                self._remove(path)
            if (self.is_local or self._bucket.has_folders) and paths:
                self.fs.rmdir(self._join(asset, day))

    def _publish_lock(self, asset: str) -> FileLock:
        # Held only while files are renamed, so one lock for all days of an asset is enough.
        folder = self.state / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        return brief(folder / f"publish-{asset}.lock")

    def _replace_text(self, target: str, text: str, scratch: Path) -> None:
        replace_text(Path(target), text, scratch)

    def _remove(self, path: str) -> None:
        if self.is_local:
            self.fs.rm_file(path)
        else:
            self._bucket.remove(path)

    def _move(self, path: Path, target: str) -> None:
        sync(path)
        path.replace(target)
        sync(Path(target).parent)

    def _drop_old(
        self, asset: str, day: dt.date, keep: Sequence[Manifest | None], ending: str = ""
    ) -> None:
        kept = {file.name for manifest in keep if manifest for file in manifest.stored}
        for path in self._ls(self._join(asset, day)):
            name = posixpath.basename(path)
            if name.startswith("part-") and name.endswith(ending) and name not in kept:
                seen = None if self.is_local else self._bucket.seen(path)
                if seen is None or time.time() - seen.mtime > _YOUNG_SECONDS:
                    self._remove(path)

    # Paths -----------------------------------------------------------------------------------

    def _join(self, asset: str, day: dt.date | None = None, name: str | None = None) -> str:
        parts = [self.root, asset]
        if day is not None:
            parts.append(f"{_PREFIX}{day.isoformat()}")
        if name is not None:
            parts.append(name)
        return str(posixpath.join(*parts))

    def _ls(self, path: str) -> list[str]:
        if not self.is_local:
            return self._bucket.names(path)
        try:
            return sorted(self.fs.ls(path, detail=False, refresh=True))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _url(self, path: str) -> str:
        return path if self.is_local else str(self.fs.unstrip_protocol(path))


class LookingStore(Store):
    """A store for display: damage is recorded and counts as missing instead of raising."""

    def __init__(self, root: str | os.PathLike[str], state: Path) -> None:
        super().__init__(root, state)
        self.damages: dict[tuple[str, dt.date], str] = {}
        """Damaged days that were asked for, and what to do about each."""

    def stored(self, asset: str, day: dt.date) -> Manifest | None:
        """Return the manifest, or None if it is missing or damaged."""
        try:
            return super().stored(asset, day)
        except DamagedPartition as error:
            self.damages[asset, day] = str(error)
            return None

    def _is_there(self, asset: str, day: dt.date) -> bool:
        return super()._is_there(asset, day) or (asset, day) in self.damages


def _day_of(name: str) -> dt.date | None:
    """Return the day in the name of a folder, or None for others, like a copy somebody made."""
    try:
        day = dt.date.fromisoformat(name.removeprefix(_PREFIX))
    except ValueError:
        return None
    # ISO 8601 has more forms of a date, like 20260131; we write one.
    return day if name == f"{_PREFIX}{day.isoformat()}" else None


def _remember(path: str, version: tuple[float | str, ...], manifest: Manifest) -> None:
    if len(_manifests) >= _MOST_MANIFESTS:
        _manifests.clear()
    _manifests[path] = (version, manifest)


def _is_current(manifest: Manifest) -> bool:
    try:
        return manifest.schema_version == contracts.table(manifest.asset).version
    except KeyError:
        return True  # an asset of another release: no contract of ours disagrees


def _disk_share(path: str) -> int | None:
    """Return the bytes of a file divided by its hard links; None if it is gone."""
    try:
        stat = Path(path).stat()
    except FileNotFoundError:
        return None
    return stat.st_size // stat.st_nlink


def _numbered(manifest: Manifest) -> tuple[str, ...]:
    return contracts.table(manifest.asset).numbered if manifest.beside else ()


def _protocols(fs: Any) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


DAMAGED: Final = "cannot be used: make it again"
"""Last words of every message on a damaged partition, also through a view."""


def _damaged(path: str, fault: str, asset: str, day: dt.date) -> DamagedPartition:
    return DamagedPartition(
        f"{path} {fault}, so {asset} of {day} {DAMAGED} "
        f"(temporal-assets materialize {asset} --day {day})"
    )


def _opens(path: str) -> bool:
    try:
        pq.read_metadata(path)
    except (OSError, pa.ArrowException):
        return False
    return True


def _describe(path: Path) -> DataFile:
    digest = digest_of_file(path)
    rows = pq.read_metadata(path).num_rows
    return DataFile(f"part-{digest}.parquet", rows, path.stat().st_size, digest)
