"""The truth: Parquet partitions, one per asset and day, each seen whole or not at all.

    tables/page_views/day=2026-01-31/manifest.json            the pointer, replaced atomically
    tables/page_views/day=2026-01-31/part-<digest>.parquet    the data, never changed

A publish writes data under a name made from its content, then replaces the manifest; readers
go through the manifest. So a reader sees the old partition or the new one whatever is killed
when, publishing the same content twice is a no-op, and the last publisher of a day wins. The
generation before the current one stays until the next publish, for readers under way.

Not here: what a partition holds (`contracts`) and how it is computed (`engines`).
"""

from __future__ import annotations

import datetime as dt
import os
import posixpath
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3
from filelock import FileLock

from temporal_assets import contracts
from temporal_assets.settings import Settings
from temporal_assets.storage.durable import replace_text, sync
from temporal_assets.storage.manifest import DataFile, Input, Manifest
from temporal_assets.storage.scratch import scratch_folder

_MANIFEST = "manifest.json"
_PREFIX = "day="

_DIGITS: Final = 16
"""Of a digest in names and manifests: 64 bits tell the few generations of a day apart."""

_CHUNK: Final = 1 << 20
"""Bytes read at once where a whole file is read."""


class MissingPartition(LookupError):
    """A partition that was asked for does not exist; the message names it and says what to do."""


class ShortWindow(MissingPartition):
    """Too few days of a window exist."""


@dataclass(frozen=True, slots=True)
class Window:
    """The days of a trailing window: which are there and which files hold them."""

    present: tuple[dt.date, ...]
    missing: tuple[dt.date, ...]
    files: tuple[str, ...]
    manifests: tuple[Manifest, ...]
    """Of the days that are present; `files` are theirs, whatever is published meanwhile."""


class Store:
    """Partitions under one root, which is a local folder or any fsspec URL."""

    def __init__(self, root: str | os.PathLike[str], state: Path) -> None:
        self.fs, self.root = fsspec.url_to_fs(str(root))
        self.state = state
        self.is_local = "file" in _protocols(self.fs)

    @classmethod
    def open(cls, settings: Settings) -> Store:
        """The store of an installation; nothing is created before the first publish."""
        return cls(settings.storage or settings.state / "tables", settings.state)

    # Reading ---------------------------------------------------------------------------------

    def assets(self) -> list[str]:
        """Names of the assets that have any partition."""
        return sorted(posixpath.basename(path) for path in self._ls(self.root))

    def days(self, asset: str) -> list[dt.date]:
        """Days that are published, ascending."""
        return [day for day in self.folders(asset) if self.manifest(asset, day) is not None]

    def folders(self, asset: str) -> list[dt.date]:
        """Days that take up space, ascending: published ones, and remains of removed ones."""
        names = (posixpath.basename(path) for path in self._ls(self._join(asset)))
        return sorted(
            dt.date.fromisoformat(n[len(_PREFIX) :]) for n in names if n.startswith(_PREFIX)
        )

    def size(self, asset: str, day: dt.date) -> int:
        """Bytes that a day takes up, with what is no longer part of it."""
        return sum(int(self.fs.size(path) or 0) for path in self._ls(self._join(asset, day)))

    def manifest(self, asset: str, day: dt.date) -> Manifest | None:
        """What is published for a day, or None."""
        try:
            return Manifest.from_json(self.fs.cat_file(self._join(asset, day, _MANIFEST)))
        except FileNotFoundError:
            return None

    def files(self, asset: str, day: dt.date) -> list[str]:
        """Paths of the Parquet files of a partition, for an engine to read."""
        return self.paths(self.require(asset, day))

    def paths(self, manifest: Manifest) -> list[str]:
        """Paths of the Parquet files that a manifest names."""
        folder = self._join(manifest.asset, manifest.day)
        return [self._url(posixpath.join(folder, file.name)) for file in manifest.files]

    def require(self, asset: str, day: dt.date) -> Manifest:
        """What is published for a day; `MissingPartition` if nothing is."""
        manifest = self.manifest(asset, day)
        if manifest is None:
            raise MissingPartition(
                f"{asset} has no partition for {day}: materialise it first "
                f"(temporal-assets materialize {asset} --day {day})"
            )
        return manifest

    def damaged(self, *, contents: bool = False) -> list[str]:
        """Published files that are missing or not of the size their manifest says.

        With `contents` every byte is read and compared with the digest it was published under.
        """
        return [
            path
            for asset in self.assets()
            for day in self.days(asset)
            for file in self.require(asset, day).files
            if not self._is_whole(path := self._join(asset, day, file.name), file, contents)
        ]

    def _is_whole(self, path: str, file: DataFile, contents: bool) -> bool:
        if not self.fs.exists(path) or self.fs.size(path) != file.bytes:
            return False
        if not contents:
            return True
        digest = blake3()
        with self.fs.open(path, "rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
        return digest.hexdigest()[:_DIGITS] == file.digest

    def window(self, asset: str, day: dt.date, days: int, min_days: int) -> Window:
        """The `days` days that end with `day`; too few present is an error, never silence."""
        wanted = [day - dt.timedelta(days=back) for back in reversed(range(days))]
        found = [manifest for d in wanted if (manifest := self.manifest(asset, d)) is not None]
        present = tuple(manifest.day for manifest in found)
        missing = tuple(sorted(set(wanted) - set(present)))
        if len(present) < min_days:
            raise ShortWindow(
                f"{asset} has {len(present)} of the {days} days up to {day}, fewer than the "
                f"{min_days} that `window.min_days` asks for; backfill it first"
            )
        files = [path for manifest in found for path in self.paths(manifest)]
        return Window(present, missing, tuple(files), tuple(found))

    def read(
        self,
        asset: str,
        days: dt.date | Sequence[dt.date],
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """One or more partitions as an Arrow table, in the order of `days`."""
        chosen = [days] if isinstance(days, dt.date) else list(days)
        schema = contracts.table(asset).arrow_schema
        tables = [
            pq.read_table(path, columns=columns, filesystem=self.fs, partitioning=None)
            for day in chosen
            for path in (self._strip(url) for url in self.files(asset, day))
        ]
        if not tables:
            empty = schema.empty_table()
            return empty.select(list(columns)) if columns else empty
        return pa.concat_tables(tables)

    # Writing ---------------------------------------------------------------------------------

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A private local folder on the state's file system, for data not published yet."""
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
    ) -> Manifest:
        """Make local Parquet `files` the partition of `asset` for `day`, atomically.

        The files are moved (or uploaded) and must lie in a `scratch` folder of this store.
        """
        parts = [(path, _describe(path)) for path in files]
        manifest = Manifest(
            asset=asset,
            day=day,
            files=tuple(part for _, part in parts),
            schema_version=contracts.table(asset).version,
            inputs=tuple(inputs),
            settings_digest=settings_digest,
            extra=extra or {},
        )
        with self._publish_lock(asset):
            before = self.manifest(asset, day)
            self.fs.makedirs(self._join(asset, day), exist_ok=True)
            for path, part in parts:
                self._move(path, self._join(asset, day, part.name))
            # Written where the data was, so that a killed process leaves its waste there.
            scratch = files[0].parent
            self._replace_text(self._join(asset, day, _MANIFEST), manifest.to_json(), scratch)
            self._drop_old(asset, day, keep=[manifest, before])
        return manifest

    def remove(self, asset: str, day: dt.date) -> None:
        """Remove a partition: its pointer first, so that no reader meets half of it."""
        with self._publish_lock(asset):
            paths = self._ls(self._join(asset, day))
            for path in sorted(paths, key=lambda path: posixpath.basename(path) != _MANIFEST):
                self.fs.rm_file(path)
            if self.fs.exists(folder := self._join(asset, day)):
                self.fs.rmdir(folder)

    def _publish_lock(self, asset: str) -> FileLock:
        # Held only while files are renamed, so one lock for all days of an asset is enough.
        folder = self.state / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        return FileLock(folder / f"publish-{asset}.lock")

    def _move(self, path: Path, target: str) -> None:
        if not self.is_local:
            self.fs.put_file(str(path), target)
            return
        sync(path)
        path.replace(target)
        sync(Path(target).parent)

    def _replace_text(self, target: str, text: str, scratch: Path) -> None:
        if not self.is_local:
            # Object stores show a written object whole or not at all.
            self.fs.pipe_file(target, text.encode())
            return
        replace_text(Path(target), text, scratch)

    def _drop_old(self, asset: str, day: dt.date, keep: Sequence[Manifest | None]) -> None:
        kept = {file.name for manifest in keep if manifest for file in manifest.files}
        for path in self._ls(self._join(asset, day)):
            name = posixpath.basename(path)
            if name.startswith("part-") and name not in kept:
                self.fs.rm_file(path)

    # Paths -----------------------------------------------------------------------------------

    def _join(self, asset: str, day: dt.date | None = None, name: str | None = None) -> str:
        parts = [self.root, asset]
        if day is not None:
            parts.append(f"{_PREFIX}{day.isoformat()}")
        if name is not None:
            parts.append(name)
        return str(posixpath.join(*parts))

    def _ls(self, path: str) -> list[str]:
        try:
            return sorted(self.fs.ls(path, detail=False, refresh=True))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _url(self, path: str) -> str:
        return path if self.is_local else str(self.fs.unstrip_protocol(path))

    def _strip(self, url: str) -> str:
        return str(self.fs._strip_protocol(url))


def _protocols(fs: Any) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


def _describe(path: Path) -> DataFile:
    digest = blake3(max_threads=1).update_mmap(path).hexdigest()[:_DIGITS]
    rows = pq.read_metadata(path).num_rows
    return DataFile(f"part-{digest}.parquet", rows, path.stat().st_size, digest)
