"""The state of days and windows that are out of date: a digest of their inputs and results.

Equal states of a day or window mean that neither its inputs nor its existing results changed, so
building it again would end as it did before. Not here: what is out of date (`days.staleness`,
`windows.registry`), and in which states it was requested (`sensor_cursor`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from temporal_assets.days import asset_names, staleness
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.partitions import days_between, first_day, today
from temporal_assets.defs.runs.batches import Stale
from temporal_assets.landing.inventory import Inventory
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.partition_errors import DamagedPartition
from temporal_assets.storage.sealed import digest_of
from temporal_assets.windows.frame.asset import first_of
from temporal_assets.windows.registry import WINDOW_ASSETS, due


@dataclass(frozen=True, slots=True)
class LatestWindow:
    """Window of the latest complete day, if something of it has to be built."""

    day: dt.date
    assets: tuple[str, ...]
    days: Sequence[dt.date]
    """Days of the window, published or not."""
    state: str
    """Digest of its inputs and existing results."""


def states_of(
    installation: Installation, inventory: Inventory, stale: Stale, lost_runs: str
) -> dict[dt.date, str]:
    """Return the state of each stale day; `lost_runs` changes with every run that was lost."""
    store, cleaning_digest = installation.store, staleness.requests_digest(installation.settings)
    states = {}
    for day in sorted({day for days in stale.values() for day in days}):
        # Lines that were damaged and read again are equal; the time of the reading tells.
        saved_files = [(file.id, inventory.saved_at(file)) for file in inventory.of_day(day)]
        # Without `rejects`: a day that fails may already have published them, and must still
        # count as unchanged.
        digests = [
            _digest(store.intact(asset, day)) for asset in ("requests", *asset_names.DERIVED)
        ]
        states[day] = digest_of([saved_files, cleaning_digest, digests, lost_runs])
    return states


def latest_window(
    installation: Installation, lost_runs: str, now: dt.datetime
) -> LatestWindow | None:
    """Return the latest window if it has to be built.

    None if it is up to date, too short, or waits for a damaged day to be rebuilt.
    """
    store, settings = installation.store, installation.settings
    try:
        due_window = due(store, settings, before=today(settings, now))
        if due_window is None or due_window.day < first_day(settings):
            return None
        days = days_between(first_of(settings, due_window.day), due_window.day)
        input_digests = [
            _digest(store.manifest(asset, day)) for asset in asset_names.DERIVED for day in days
        ]
    except DamagedPartition:
        return None
    digests = [
        (
            window_asset.name,
            window_asset.settings_digest(settings),
            _digest(store.intact(window_asset.name, due_window.day)),
        )
        for window_asset in WINDOW_ASSETS
        if window_asset.name in due_window.assets
    ]
    state = digest_of([due_window.day, str(settings.window), input_digests, digests, lost_runs])
    return LatestWindow(due_window.day, due_window.assets, days, state)


def _digest(manifest: Manifest | None) -> str | None:
    return manifest.digest if manifest else None
