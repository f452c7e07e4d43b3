"""How a file is known as ours, of a kind that an export does not always write.

What an earlier export wrote and this one does not must go: an old filter keeps rejecting. Names do
not tell our files from those that other programs read under the same name; a comment does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

MARK: Final = "written by temporal-assets export"
"""In a comment at the beginning of a file, which may go when it is not written any more."""

_HEAD: Final = 200
"""Bytes that are looked at."""


def is_marked(path: Path) -> bool:
    """Whether we wrote a file."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return MARK.encode() in file.read(_HEAD)
