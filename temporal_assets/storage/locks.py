"""Locks between processes and threads: for a moment, or for minutes, and then who waits is told so.

Not here: locks that nobody waits for, which are plain `FileLock`s.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

log = logging.getLogger(__name__)

_SOON: Final = 0.001
"""Seconds between two looks: renaming takes a few of them."""

_PATIENCE: Final = 2.0
"""Seconds after which a wait is longer than the moment in which nobody wonders."""


def brief(path: Path) -> FileLock:
    """A lock that is held while files are renamed: who waits for it looks again soon."""
    return FileLock(path, poll_interval=_SOON)


@contextmanager
def held(path: Path, doing: str) -> Iterator[None]:
    """Hold the lock; `doing` is what the process does that has it, if it has to be waited for."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=_PATIENCE)
    except Timeout:
        log.warning("waiting for another process that is %s (it holds %s)", doing, path)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
