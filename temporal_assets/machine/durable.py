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
"""No living process takes so long to write a small file, whatever the disk does."""


def replace_text(
    path: Path,
    text: str,
    scratch: Path | None = None,
    mode: int | None = None,
    *,
    is_flushed: bool = True,
) -> None:
    """Write a small local file; readers see the old text or the new, even after a crash.

    On return the new one is on the disk: what it makes superfluous may go. Where it is not to be
    flushed, a crash of the machine may leave the old one or a damaged one. It is written first
    into `scratch`, a folder on the same file system, else beside `path`, where what killed
    processes left goes an hour later. Without a `mode`, who may read it is for the umask to say.
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
    """Make a folder, and those above it, so that what is put there is not lost with it."""
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
