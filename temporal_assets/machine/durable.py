"""Local files that survive a crash, of the process or of the machine."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from pathlib import Path
from typing import Final

_ABANDONED_SECONDS: Final = 3600
"""Age in seconds of leftovers to be removed: no living process takes so long for a small file."""


def replace_text(
    path: Path,
    text: str,
    scratch: Path | None = None,
    mode: int | None = None,
    *,
    is_flushed: bool = True,
) -> None:
    """Write a small local file; readers see the old text or the new, even after a crash.

    The text is written to a file in `scratch`, a folder on the same file system (by default beside
    `path`, where leftovers of killed processes are removed an hour later), and renamed. On return
    it is on the disk, unless `is_flushed` is False: then a crash of the machine may leave the old
    or a damaged file. Without a `mode` the umask decides on permissions.
    """
    if scratch is None:
        _sweep(path)
    # The name is unique to the process: two writers must not share a temporary file.
    temporary = (scratch or path.parent) / f".{path.name}.{os.getpid()}.tmp"
    try:
        if mode is not None:
            temporary.touch(0o600)  # nobody else looks in before it has its mode
        with temporary.open("w", encoding="utf-8") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(text)
            if is_flushed:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
        if is_flushed:
            sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)  # still there where the disk was full


def _sweep(path: Path) -> None:
    # By age: whether a process lives cannot be asked from another container or machine.
    ours = re.compile(rf"\.{re.escape(path.name)}\.[0-9]+\.tmp")
    limit = time.time() - _ABANDONED_SECONDS
    for left in path.parent.iterdir():
        if ours.fullmatch(left.name):
            with contextlib.suppress(FileNotFoundError):  # another was first
                if left.stat().st_mtime < limit:
                    left.unlink()


def make_folder(path: Path) -> None:
    """Make a folder and its parents durably, so that files put there are not lost with it."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(exist_ok=True)
        sync(path.parent)


def link(source: str, target: str | Path) -> None:
    """Make a hard link to a file that is never changed; copy it where links are impossible."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # a file of another user, or a file system without links
        shutil.copy2(source, target, follow_symlinks=False)


def sync(path: Path) -> None:
    """Flush a file or folder to the disk, so that a rename cannot outrun the data."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
