"""Local files that survive a crash, of the process or of the machine."""

from __future__ import annotations

import os
from pathlib import Path


def replace_text(path: Path, text: str, scratch: Path | None = None) -> None:
    """Write a small local file; readers see the old text or the new, even after a crash.

    It is written first into `scratch`, a folder on the same file system, else beside `path`.
    """
    # The name is unique to the process: two writers must not share a temporary file.
    temporary = (scratch or path.parent) / f".{path.name}.{os.getpid()}.tmp"
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def sync(path: Path) -> None:
    """Flush a file or folder to the disk, so that a rename cannot outrun the data."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
