"""Temporary folders for files not published yet, and their removal after a crash.

Every process holds a lock on its folder as long as it lives; the operating system releases the lock
when the process dies, however it dies, so a folder whose lock can be taken is waste.

Folders are made under a second lock, of their parent, so that no clean-up meets one before it is
locked. They are removed without it: the garbage collector ends what was forgotten wherever a thread
happens to be, which may be where it holds that lock, and it would wait for itself.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from temporal_assets.machine.locks import brief

_LOCK = "in-use.lock"
_SWEEP_LOCK = "sweep.lock"


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Yield a new folder under `parent`, removed on exit like those of dead processes."""
    parent.mkdir(parents=True, exist_ok=True)
    with brief(parent / _SWEEP_LOCK):
        _sweep(parent)
        folder = Path(tempfile.mkdtemp(dir=parent))
        # Whichever thread is the last to need the folder lets it go.
        lock = FileLock(folder / _LOCK, thread_local=False)
        lock.acquire()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def _sweep(parent: Path) -> None:
    """Remove the folders of processes that are gone."""
    for folder in parent.iterdir():
        if not folder.is_dir():
            continue
        lock = FileLock(folder / _LOCK)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            continue
        except OSError:
            if folder.exists():
                raise
            continue  # it was left meanwhile
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()
