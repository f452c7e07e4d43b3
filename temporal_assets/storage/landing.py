"""The landing zone: every log file parsed once, cleaned, split by day.

    landing/files/<id>.json                   what a file held: the pointer to its segments
    landing/segments/<id>/<day>-<k>.parquet   its page requests of one day

A file is known by the digest of its decompressed bytes together with the settings it was read
under. The same content under another name or compression is the same file; a file that has
grown supersedes its own beginning; changed settings supersede the older reading. Segments become
visible when their JSON file is written, so a reading that was killed leaves nothing but waste.

One process lands at a time (a lock that dies with its holder); reading itself is parallel.
"""

from __future__ import annotations

import datetime as dt
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from os import cpu_count
from pathlib import Path
from typing import Final, TypeVar

from filelock import FileLock

from temporal_assets.logs import formats, streams
from temporal_assets.logs.cleaning import Cleaned, Cleaner
from temporal_assets.logs.pseudonyms import KeyRing
from temporal_assets.logs.records import Block
from temporal_assets.logs.tally import UNKNOWN_DAY, Tally
from temporal_assets.settings import LogSource, Settings
from temporal_assets.storage.inventory import Inventory, LandedFile, Sighting, options_digest
from temporal_assets.storage.scratch import scratch_folder
from temporal_assets.storage.segments import SegmentWriter

_SMALL_FILE: Final = 4 << 20
"""Files below this many bytes are read whole by one thread each; larger ones block by block."""

Progress = Callable[[Path, int, int], None]
"""Called with a file, the bytes of it read so far and its size."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class LandingReport:
    """What one refresh found."""

    landed: tuple[LandedFile, ...]
    """Files that were read."""
    unchanged: int
    """Files that were known already."""
    failed: tuple[LandedFile, ...]
    """Files that cannot be read, each with an `error` that says why and what to do."""

    @property
    def days(self) -> list[dt.date]:
        """Days whose requests change."""
        return sorted({day for file in self.landed for day in file.days})


def refresh(settings: Settings, progress: Progress | None = None) -> LandingReport:
    """Read every new or changed log file of the sources. With nothing new it costs one scan."""
    folder = settings.state / "landing"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "landing.lock"):
        inventory = Inventory.load(settings)
        _remove_superseded(inventory)
        pending = inventory.pending(settings)
        reader = _Reader(settings, inventory, progress or (lambda *_: None))
        files = list(reader.land(pending))
    return LandingReport(
        landed=tuple(file for file in files if not file.error and file.serial in reader.serials),
        unchanged=len(inventory.files),
        failed=tuple(file for file in files if file.error),
    )


class _Reader:
    """One refresh: what the files it reads share."""

    def __init__(self, settings: Settings, inventory: Inventory, progress: Progress) -> None:
        self.settings = settings
        self.inventory = inventory
        self.progress = progress
        self.keys = KeyRing(settings.state / "secrets", settings.privacy.rotation_days)
        self.workers = settings.reading.workers or cpu_count() or 1
        self.now = dt.datetime.now(dt.UTC)
        self.cleaners: dict[str, Cleaner] = {}
        self.serials: set[int] = set()

    def land(self, pending: list[Pending]) -> Iterator[LandedFile]:
        """Read files and make each visible when it is done, in the order given."""
        with ThreadPoolExecutor(self.workers) as pool:
            small = [item for item in pending if item.sighting.size < _SMALL_FILE]
            large = [item for item in pending if item.sighting.size >= _SMALL_FILE]
            for item, draft in zip(small, _ordered(pool, self._read, small, self.workers), strict=True):
                yield self._keep(item, draft)
            for item in large:
                yield self._keep(item, self._read(item, pool))
