"""The division of stale days into runs, as a pure function."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from temporal_assets.days.asset_names import DAILY_ASSETS
from temporal_assets.defs.partitions import ranges

_MADE_WITH: Final = {"rejects": "requests"}
"""Assets that are built by the step of another."""

Stale = Mapping[str, Collection[dt.date]]
"""Days on which each asset is missing or stale, as `days.staleness.stale` returns them."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Contiguous days that need the same assets, for one run."""

    days: tuple[dt.date, ...]
    assets: tuple[str, ...]


def batches(stale: Stale, longest: int, leave_out: Collection[dt.date] = ()) -> list[Batch]:
    """Return runs of at most `longest` days, earliest first, without the days to leave out."""
    by_assets: dict[tuple[str, ...], list[dt.date]] = {}
    for day in sorted({day for days in stale.values() for day in days} - set(leave_out)):
        by_assets.setdefault(_needed(stale, day), []).append(day)
    day_batches = [
        Batch(tuple(run), assets)
        for assets, days in by_assets.items()
        for run in ranges(days, longest)
    ]
    return sorted(day_batches, key=lambda batch: batch.days)


def _needed(stale: Stale, day: dt.date) -> tuple[str, ...]:
    # New requests make everything after them stale, but for what was removed for its age.
    return tuple(asset for asset in DAILY_ASSETS if day in stale[_MADE_WITH.get(asset, asset)])
