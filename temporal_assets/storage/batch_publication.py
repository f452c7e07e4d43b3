"""Publishing many small days together: each atomically, with one wait for the disk.

Flushing the files of a small day to the disk takes several times as long as making them. Here the
files of all days are flushed side by side, then renamed, and their folders are flushed once. Not
here: which days are published together (`defs.days`), a single publication (`store`).
"""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from temporal_assets.machine.durable import make_folder, sync
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.reader import MANIFEST
from temporal_assets.storage.store import Parts, Store

_FLUSHED_AT_ONCE: Final = 16
"""Number of files flushed in parallel: 16 took a twelfth of the time of one by one, since a file
system writes its journal once for all that wait."""


class _Waiting(NamedTuple):
    """A publication that is not visible yet."""

    manifest: Manifest
    parts: Parts
    text: Path
    """Path of the manifest in the scratch folder."""


class BatchStore(Store):
    """A store that holds publications back until `flush`. Threads may share it."""

    def __init__(self, store: Store, scratch: Path) -> None:
        super().__init__(store.root, store.state)
        self._scratch = scratch
        self._waiting: dict[str, dict[dt.date, _Waiting]] = {}

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Yield a folder for a day; its files are needed until `flush`."""
        yield Path(tempfile.mkdtemp(dir=self._scratch))

    def stored(self, asset: str, day: dt.date) -> Manifest | None:
        """Return the manifest that will be published, or the published one."""
        waiting = self._waiting.get(asset, {}).get(day)
        return waiting.manifest if waiting else super().stored(asset, day)

    def _show(self, manifest: Manifest, parts: Parts) -> None:
        text = self._scratch / f"{manifest.asset}-{manifest.day}.json"
        text.write_text(manifest.to_json(), "utf-8")
        waiting = self._waiting.setdefault(manifest.asset, {})
        waiting[manifest.day] = _Waiting(manifest, parts, text)

    def flush(self) -> None:
        """Publish everything held back, asset by asset in the order of their first day."""
        waiting, self._waiting = self._waiting, {}
        every = [partition for days in waiting.values() for partition in days.values()]
        _each_in_parallel(
            sync,
            [
                path
                for partition in every
                for path in (partition.text, *(path for path, _ in partition.parts))
            ],
        )
        for asset, days in waiting.items():
            with self._publish_lock(asset):
                self._flush_asset(asset, list(days.values()))

    def _flush_asset(self, asset: str, waiting: Sequence[_Waiting]) -> None:
        """Publish the waiting days of an asset: data first, then manifests, flushed together."""
        before = [self._readable(asset, partition.manifest.day) for partition in waiting]
        folders = [Path(self._join(asset, partition.manifest.day)) for partition in waiting]
        make_folder(parent := Path(self._join(asset)))
        for folder in folders:
            folder.mkdir(exist_ok=True)
        sync(parent)
        for partition, folder in zip(waiting, folders, strict=True):
            for path, part in partition.parts:
                path.replace(folder / part.name)
        _each_in_parallel(sync, folders)  # no pointer may outlive what it points to
        for partition, folder in zip(waiting, folders, strict=True):
            partition.text.replace(folder / MANIFEST)
        _each_in_parallel(sync, folders)
        for partition, old in zip(waiting, before, strict=True):
            self._drop_replaced(partition.manifest, old)


@contextmanager
def together(store: Store) -> Iterator[Store]:
    """Yield a store for small days whose publications all become visible at the end.

    If the body raises, none does. A store that is not local publishes one after the other: it has
    nothing to flush.
    """
    if not store.is_local:
        yield store
        return
    with store.scratch() as scratch:
        yield (batch := BatchStore(store, scratch))
        batch.flush()


def _each_in_parallel(act: Callable[[Path], None], paths: Sequence[Path]) -> None:
    def act_on(share: Sequence[Path]) -> None:
        for path in share:
            act(path)

    with ThreadPoolExecutor(_FLUSHED_AT_ONCE) as pool:
        list(pool.map(act_on, (paths[n::_FLUSHED_AT_ONCE] for n in range(_FLUSHED_AT_ONCE))))
