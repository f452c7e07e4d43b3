"""The comment that marks an exported file as ours, so that a later export may remove it.

A file that an earlier export wrote and this one does not must go: an old filter keeps rejecting.
Other programs may use the same names, so a comment in the file decides.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

MARK: Final = "written by temporal-assets"
"""Words of a comment at the beginning of a file that may be removed when no longer written."""

_HEAD: Final = 200
"""Number of bytes that are searched for the comment."""


def is_marked(path: Path) -> bool:
    """Return True if the file at a path has the comment."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return MARK.encode() in file.read(_HEAD)
