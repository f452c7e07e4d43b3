"""Errors about partitions that are missing or damaged; each message says what to do."""

from __future__ import annotations

import datetime as dt
from typing import Final

from temporal_assets.storage.integrity import DamagedFile


class MissingPartition(LookupError):
    """Error: a partition does not exist; the message names it and the remedy."""


class DamagedPartition(DamagedFile):
    """Error: a published day cannot be read; the message says how to make it again."""


class ShortWindow(MissingPartition):
    """Error: too few days of a window exist."""


DAMAGED: Final = "cannot be used: make it again"
"""Last words of every message on a damaged partition, also through a view."""


def damaged_partition(path: str, fault: str, asset: str, day: dt.date) -> DamagedPartition:
    """Return the error about a file of a partition; `fault` says what is wrong with it."""
    return DamagedPartition(
        f"{path} {fault}, so {asset} of {day} {DAMAGED} "
        f"(temporal-assets materialize {asset} --day {day})"
    )
