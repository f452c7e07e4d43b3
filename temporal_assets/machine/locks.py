"""File locks for short waits, and for long ones that are logged with their reason.

Not here: plain `FileLock`s, where a waiting process may notice late that the lock is free.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

log = logging.getLogger(__name__)

_SOON: Final = 0.002
"""Seconds between two attempts, about as long as such a lock is held (default 0.05)."""

_PATIENCE: Final = 2.0
"""Seconds of waiting after which it is logged."""


def brief(path: Path) -> FileLock:
    """Return a lock for short use, such as renaming a file; waiting processes retry soon."""
    return FileLock(path, poll_interval=_SOON)


@contextmanager
def held(path: Path, doing: str) -> Iterator[None]:
    """Hold a lock; a process that waits long for it logs what the holder is `doing`."""
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
