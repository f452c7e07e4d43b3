"""Files that settings name: where they are, and whether they are still the same.

Here: the list in use and the annotated pages alike. Not here: what they say
(`logs.tables.site_lists`, `logs.tables.annotations`).
"""

from __future__ import annotations

from pathlib import Path

from temporal_assets.storage.sealed import digest_of


def file_in(state: Path, path: Path | None) -> Path | None:
    """A file as settings name it, relative to the state folder, or None. It is not looked at."""
    return None if path is None else state / path


def content_of_file(path: Path | None) -> str | None:
    """Return identity of a file: with another one, what was made of it is stale."""
    if path is None:
        return None
    try:
        return digest_of(path.read_bytes().hex())
    except OSError:
        return "cannot be read"  # making it says why
