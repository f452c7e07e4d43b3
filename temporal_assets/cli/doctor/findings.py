"""The outcome of a check of `temporal-assets doctor`, and what checks share.

A check is a function that returns a status and a sentence; a check that raises is a finding, too.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from temporal_assets.cli.shared.exits import explained

OK: Final = "ok"
WARNING: Final = "warning"
BROKEN: Final = "broken"
"""Statuses of a check; after a broken one the command fails."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check."""

    check: str
    status: str
    detail: str


def guarded(name: str, check: Callable[[], tuple[str, str]]) -> Finding:
    """Return the finding of a check; an error of the check itself is a broken one."""
    try:
        return Finding(name, *check())
    except Exception as error:
        why = explained(error) or f"{type(error).__name__}: {error}"
        return Finding(name, BROKEN, why)


def is_open(path: Path) -> bool:
    """Return whether others than the owner have any right."""
    rights = stat.S_IMODE(path.stat().st_mode)
    return os.name == "posix" and bool(rights & (stat.S_IRWXG | stat.S_IRWXO))


def existing(path: Path) -> Path:
    """Return the path, or the nearest folder above it that exists."""
    return next(place for place in (path, *path.parents) if place.exists())
