"""Reading published partitions: manifests, verification of files, windows of days, and rows.

In: an asset and days. Out: manifests, paths of verified files for an engine, or Arrow tables. Files
are found through manifests only, so that a reader sees whole generations. Not here: publishing
(`store`), paths (`folders`).
"""

from __future__ import annotations

import datetime as dt
import posixpath
import shutil
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.machine.object_cache import expect, opened
from temporal_assets.storage.folders import PartitionFolders
from temporal_assets.storage.integrity import fault_of, set_aside
from temporal_assets.storage.manifest import DataFile, Manifest, ManifestError
from temporal_assets.storage.manifest_cache import SETTLED_NS, remember, remembered
from temporal_assets.storage.partition_errors import (
    DamagedPartition,
    MissingPartition,
    ShortWindow,
    damaged_partition,
)

MANIFEST: Final = "manifest.json"
"""Name of a partition's manifest file."""

_VERIFIED_AT_ONCE: Final = 4
"""Number of partitions whose files are read at once: enough for a disk to be the limit."""

_COPIED_AT_ONCE: Final = 1 << 20
"""Bytes in memory while a file is copied."""


@dataclass(frozen=True, slots=True)
class Window:
    """The days of a trailing window: which are present, and their files."""

    present: tuple[dt.date, ...]
    missing: tuple[dt.date, ...]
    files: tuple[str, ...]
    manifests: tuple[Manifest, ...]
    """Manifests of the days present. Their files stay readable, whatever is published meanwhile."""


class PartitionReader(PartitionFolders):
    """Published partitions, read and verified through their manifests."""

    def days(self, asset: str) -> list[dt.date]:
        """Return days that are published, ascending."""
        return [day for day in self.folders(asset) if self._is_there(asset, day)]

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
            raise damaged_partition(path, str(error), asset, day) from None
        if (manifest.asset, manifest.day) != (asset, day):
            what = f"speaks of {manifest.asset} of {manifest.day}"
            raise damaged_partition(path, what, asset, day)
        return manifest

    def _read_manifest(self, path: str) -> Manifest:
        """Return a manifest from its file or from memory: every step asks for all of them."""
        if not self.is_local:
            return self._read_object(path)
        stat = Path(path).stat()
        version = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        manifest = remembered(path, version)
        if manifest is None:
            manifest = Manifest.from_json(Path(path).read_bytes())
            if stat.st_mtime_ns < time.time_ns() - SETTLED_NS:
                remember(path, version, manifest)
        return manifest

    def _read_object(self, path: str) -> Manifest:
        """Return a manifest from a bucket, or from memory if the listed version was read."""
        seen = self._bucket.seen(path)
        if seen is None:
            raise FileNotFoundError(path)
        url = self._url(path)
        manifest = remembered(url, seen.version)
        if manifest is None:
            manifest = Manifest.from_json(self._bucket.read(path, seen, self._cache))
            if seen.etag:
                remember(url, seen.version, manifest)
        return manifest

    def _readable(self, asset: str, day: dt.date) -> Manifest | None:
        """Return the manifest of a day, or None if it is damaged: replacing it is the remedy."""
        try:
            return self.stored(asset, day)
        except DamagedPartition:
            return None

    def _is_there(self, asset: str, day: dt.date) -> bool:
        try:
            return self.manifest(asset, day) is not None
        except DamagedPartition:
            return True  # to be met where it is read, not to be overlooked

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
            raise damaged_partition(path, fault, manifest.asset, manifest.day)

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
            raise damaged_partition(path, fault, manifest.asset, manifest.day)
        return manifest

    def verify_sizes(self, manifest: Manifest) -> None:
        """Raise `DamagedPartition` unless the files exist and have their sizes."""
        for path, fault in self._faults(manifest, contents=False):
            raise damaged_partition(path, fault, manifest.asset, manifest.day)

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

    def _misses(self, manifest: Manifest, file: DataFile) -> str | None:
        """Return what is wrong with a file, judged by its name and size."""
        path = self._join(manifest.asset, manifest.day, file.name)
        size = self._size(path)
        if size is None:
            return "is missing"
        return None if size == file.bytes else f"has {size:,} bytes instead of {file.bytes:,}"

    def _set_aside(self, path: str) -> None:
        if self.is_local:
            set_aside(Path(path))

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
        """Yield the paths of one day that are missing, of another size, or damaged."""
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
        """Return the rows of some manifests, after verification of their files."""
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

    def _copy(self, url: str, target: Path) -> None:
        with opened(url) as file, target.open("wb") as copy:
            shutil.copyfileobj(file, copy, _COPIED_AT_ONCE)


def _is_current(manifest: Manifest) -> bool:
    try:
        return manifest.schema_version == contracts.table(manifest.asset).version
    except KeyError:
        return True  # an asset of another release: no contract of ours disagrees


def _numbered(manifest: Manifest) -> tuple[str, ...]:
    return contracts.table(manifest.asset).numbered if manifest.beside else ()


def _opens(path: str) -> bool:
    try:
        pq.read_metadata(path)
    except (OSError, pa.ArrowException):
        return False
    return True
