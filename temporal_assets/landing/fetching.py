"""Downloading log files from object stores, some of them ahead of the one being read.

Here: when objects are downloaded, and how much space they take. Not here: requests to stores
(`logs.read.objects`), reading (`reading`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final
from uuid import uuid4

from temporal_assets.landing.source_files import Pending
from temporal_assets.logs.read.objects import ObjectFile

_AT_ONCE: Final = 16
"""Most parallel downloads: small ones only wait."""

_MOST_BYTES: Final = 256 << 20
"""Most bytes that are downloaded ahead, besides a single object that is larger."""


@contextmanager
def with_local_copy(item: Pending, scratch: Path) -> Iterator[Pending]:
    """Yield a file with a local copy, which is removed at the end of the block.

    Raises what `ObjectFile.fetch` raises.
    """
    here = _fetched(item, scratch)
    try:
        yield here
    finally:
        if here.copy is not None:
            here.copy.unlink(missing_ok=True)


def downloaded_ahead(
    items: Sequence[Pending], scratch: Path, is_known: Callable[[Pending], bool]
) -> Iterator[Pending]:
    """Yield the same files in order, each downloaded while others are read.

    Files whose content is known already (`is_known`) are not downloaded.
    """
    if not any(isinstance(item.path, ObjectFile) for item in items):
        yield from items
        return
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        waiting: deque[tuple[int, Future[Pending]]] = deque()
        held = 0
        for item in items:
            size = item.sighting.size
            while waiting and (len(waiting) >= _AT_ONCE or held + size > _MOST_BYTES):
                held -= waiting[0][0]
                yield waiting.popleft()[1].result()
            waiting.append((size, pool.submit(_fetched_unless_known, item, scratch, is_known)))
            held += size
        while waiting:
            yield waiting.popleft()[1].result()


def _fetched_unless_known(
    item: Pending, scratch: Path, is_known: Callable[[Pending], bool]
) -> Pending:
    """Return the downloaded file, or the file unchanged if that fails: reading it fails again."""
    try:
        return item if is_known(item) else _fetched(item, scratch)
    except OSError:
        return item


def _fetched(item: Pending, scratch: Path) -> Pending:
    """Return a pending file with a local copy, if it is an object."""
    if item.copy is not None or not isinstance(item.path, ObjectFile):
        return item
    copy = scratch / f"{uuid4().hex}.object"
    try:
        item.path.fetch(copy)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    return replace(item, copy=copy)
