"""A lock between processes that may be held for minutes: whoever waits for it is told so.

Not here: locks that are held for a moment, which are plain `FileLock`s.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

log = logging.getLogger(__name__)

_PATIENCE: Final = 2.0
"""Seconds after which a wait is longer than the moment in which nobody wonders."""


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
