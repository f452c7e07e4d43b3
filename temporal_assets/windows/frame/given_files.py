"""Files that the settings name: the list in use and the annotated pages.

Here: where such a file is, and a digest that shows whether it has changed. Not here: reading it
(`logs.tables.site_lists`, `logs.tables.annotations`).
"""

from __future__ import annotations

from pathlib import Path

from temporal_assets.storage.sealed import digest_of


def file_in(state: Path, path: Path | None) -> Path | None:
    """Return the path of a configured file, which is relative to the state folder; None if unset.

    The file is not opened.
    """
    return None if path is None else state / path


def content_of_file(path: Path | None) -> str | None:
    """Return a digest of a file's content; when it changes, tables made from the file are stale."""
    if path is None:
        return None
    try:
        return digest_of(path.read_bytes().hex())
    except OSError:
        return "cannot be read"  # making it says why
