"""The store of published tables: Parquet partitions per asset and day, replaced atomically.

    tables/page_views/day=2026-01-31/manifest.json            the pointer, replaced atomically
    tables/page_views/day=2026-01-31/part-<digest>.parquet    the data, never changed

Publishing writes data under a name made from its content, then replaces the manifest; readers go
through the manifest. So a reader sees the old partition or the new one whatever is killed when,
publishing the same content twice is a no-op, and the last publisher of a day wins. In a bucket the
manifest is replaced only if nobody has replaced it meanwhile (`bucket`). The generation before the
current one stays until the next one of other content, for readers under way.

In: Parquet files in a scratch folder, and what they were made from. Out: a published partition, and
its manifest. Not here: reading partitions (`reader`), what a partition holds (`contracts`), and how
it is computed (`engines`).
"""

from __future__ import annotations

import datetime as dt
import os
import posixpath
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

import pyarrow.parquet as pq
from filelock import FileLock

from temporal_assets import contracts
from temporal_assets.machine.durable import link, make_folder, replace_text, sync
from temporal_assets.machine.locks import brief
from temporal_assets.machine.scratch import scratch_folder
from temporal_assets.settings import Settings
from temporal_assets.storage.bucket import ReplacedMeanwhileError
from temporal_assets.storage.integrity import (
    SET_ASIDE,
    digest_of_file,
)
from temporal_assets.storage.manifest import DataFile, Input, Manifest
from temporal_assets.storage.partition_errors import DamagedPartition
from temporal_assets.storage.reader import MANIFEST, PartitionReader

Parts = Sequence[tuple[Path, DataFile]]
"""Local files to be published, with their descriptions."""

_YOUNG_SECONDS: Final = 3600
"""Age in seconds below which an unreferenced object may belong to a running publication."""

_TRIES: Final = 5
"""Number of attempts to publish when others publish the same day meanwhile."""


class Store(PartitionReader):
    """Partitions under one root, to read, to publish and to remove."""

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Return the store of some settings; nothing is created before the first publication."""
        return cls(settings.storage or settings.state / "tables", settings.state)

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

    def _move(self, path: Path, target: str) -> None:
        sync(path)
        path.replace(target)
        sync(Path(target).parent)

    def _drop_old(
        self, asset: str, day: dt.date, keep: Sequence[Manifest | None], ending: str = ""
    ) -> None:
        in_use = {file.name for manifest in keep if manifest for file in manifest.stored}
        for path in self._ls(self._join(asset, day)):
            name = posixpath.basename(path)
            if name.startswith("part-") and name.endswith(ending) and name not in in_use:
                seen = None if self.is_local else self._bucket.seen(path)
                if seen is None or time.time() - seen.mtime > _YOUNG_SECONDS:
                    self._remove(path)


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


def _describe(path: Path) -> DataFile:
    digest = digest_of_file(path)
    rows = pq.read_metadata(path).num_rows
    return DataFile(f"part-{digest}.parquet", rows, path.stat().st_size, digest)
