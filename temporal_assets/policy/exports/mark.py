"""The mark of a file that only some exports write, by which it is known as ours.

What an earlier export wrote and this one does not must go: an old filter keeps rejecting. Names do
not tell our files from those that other programs read under the same name; a comment does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

MARK: Final = "written by temporal-assets"
"""Words of a comment at the beginning of a file, which may go when it is not written any more."""

_HEAD: Final = 200
"""Bytes that are looked at."""


def is_marked(path: Path) -> bool:
    """Return whether we wrote a file."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return MARK.encode() in file.read(_HEAD)
