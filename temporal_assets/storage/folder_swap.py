"""Replacing a folder as a whole: readers find the old files or the new ones, never a mixture.

The changed folder is made beside the old one and takes its place in one step of the file system.
Files that nobody changes are the same files, by hard links. Not here: single files (`durable`),
tables (`store`).
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from temporal_assets.machine.durable import link, make_folder, sync

_ENDING: Final = ".switch"
_ABANDONED_SECONDS: Final = 3600
"""Age in seconds of leftovers to be removed: no living process takes so long."""

_HERE: Final = -100
"""`AT_FDCWD` of Linux: paths are relative to the working folder."""
_EXCHANGE: Final = 2
"""`RENAME_EXCHANGE` of Linux: exchange two names."""
_UNKNOWN: Final = frozenset((errno.ENOSYS, errno.EINVAL, errno.ENOTSUP))
"""Error numbers of systems that cannot exchange two names."""


@contextmanager
def switched(folder: Path) -> Iterator[Path]:
    """Yield a copy of a folder to change; at the end it takes the folder's place.

    If the body raises, nothing is changed. Raises `OSError` for a folder that cannot be replaced,
    such as the working folder.
    """
    folder = folder.resolve()
    if Path.cwd().is_relative_to(folder):
        raise OSError(
            errno.EBUSY, "this is the folder you are in: name one of its own, which is switched"
        )
    make_folder(folder.parent)
    _sweep(folder)
    beside = folder.with_name(f".{folder.name}.{os.getpid()}{_ENDING}")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        if folder.is_dir():
            shutil.copytree(folder, beside, symlinks=True, copy_function=link)
        else:
            beside.mkdir()
        yield beside
        for path in [beside, *beside.rglob("*")]:
            if path.is_dir() and not path.is_symlink():
                sync(path)
        _replace_folder(beside, folder)
        sync(folder.parent)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _replace_folder(beside: Path, folder: Path) -> None:
    """Rename the changed folder to the name of the old one."""
    if not folder.is_dir():
        beside.rename(folder)
    elif not _exchange(beside, folder):
        # For a moment there is none: a reader fails, and finds no mixture.
        old = beside.with_name(f"{beside.name}.old{_ENDING}")
        folder.rename(old)
        beside.rename(folder)
        shutil.rmtree(old, ignore_errors=True)


def _exchange(first: Path, other: Path) -> bool:
    """Exchange two names in one step; return False where the system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_HERE, os.fsencode(first), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), str(other))


def _sweep(folder: Path) -> None:
    """Remove leftovers of killed processes, by age: other machines' processes cannot be checked."""
    limit = time.time() - _ABANDONED_SECONDS
    for left in folder.parent.glob(f".{folder.name}.*{_ENDING}"):
        with suppress(FileNotFoundError):
            if left.stat().st_mtime < limit:
                shutil.rmtree(left, ignore_errors=True)
