"""Days of the daily assets that are missing or older than what they are made from.

In: the store, the inventory of log files and the settings. Out: days to build, per asset. Not here:
building them (`daily`), windows (`windows.registry`).
"""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from typing import Final

from temporal_assets.days.asset_names import DERIVED
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landed_files import content_of
from temporal_assets.settings import ROBOT_PAGES_PER_MINUTE, ROBOT_PAGES_WITHOUT_REFERRER, Settings
from temporal_assets.storage.manifest import Input, Manifest
from temporal_assets.storage.retained_days import RetainedDays
from temporal_assets.storage.sealed import digest_of
from temporal_assets.storage.store import Store

LONGEST_SILENCE: Final = 14
"""Longest gap, in days without a log line, that counts as days without visitors."""


def requests_digest(settings: Settings) -> str:
    """Return a digest of the settings of `requests` that are not part of the landing records."""
    bots = settings.cleaning.bots
    return digest_of([bots, ROBOT_PAGES_PER_MINUTE, ROBOT_PAGES_WITHOUT_REFERRER])


def stale(store: Store, inventory: Inventory, settings: Settings) -> dict[str, list[dt.date]]:
    """Return the days of each daily asset that are missing or older than their inputs."""
    digest, retained = requests_digest(settings), RetainedDays.load(settings.state)
    late: dict[str, list[dt.date]] = {asset: [] for asset in ("requests", *DERIVED)}
    days = {*inventory.days(), *silent_days(inventory), *emptied_days(store, inventory)}
    for day in filter(retained.has_requests, sorted(days)):
        inputs = inventory.inputs(day)
        source = store.intact("requests", day)
        fresh = _is_made_of(source, inputs, digest)
        # Where two processes make a day at once, each may be the last to publish one of the two.
        if not fresh or not _is_made_of(store.intact("rejects", day), inputs, digest):
            late["requests"].append(day)
        for asset in DERIVED if retained.has_daily(day) else ():
            manifest = store.intact(asset, day)
            wanted = (Input("requests", source.digest),) if fresh and source else None
            if manifest is None or manifest.inputs != wanted:
                late[asset].append(day)
    return late


def silent_days(inventory: Inventory) -> list[dt.date]:
    """Return days without log lines between days that have some; they are built as empty days.

    A longer silence than `LONGEST_SILENCE` separates two periods, and its days are not built.
    """
    days = inventory.days()
    return [
        day + dt.timedelta(days=n)
        for day, following in pairwise(days)
        if (following - day).days - 1 <= LONGEST_SILENCE
        for n in range(1, (following - day).days)
    ]


def _is_made_of(manifest: Manifest | None, inputs: tuple[Input, ...], digest: str) -> bool:
    return manifest is not None and manifest.inputs == inputs and manifest.settings_digest == digest


def emptied_days(store: Store, inventory: Inventory) -> set[dt.date]:
    """Return published days that have no log line any more.

    After a correction, perhaps of the time zone, the same logs were read again and all lines of the
    day belong to others. Logs that are merely gone from the landing zone empty no day.
    """
    contents = {file.digest for file in inventory.active}
    return {
        day
        for day in set(store.days("requests")).difference(inventory.days())
        if (manifest := store.intact("requests", day)) is not None
        and contents.issuperset(content_of(source.digest) for source in manifest.inputs)
    }


def landed_rows(inventory: Inventory, day: dt.date) -> int:
    """Return the number of landed records of a day, the input of `build_requests`."""
    return sum(file.days[day].rows for file in inventory.of_day(day))


def published_rows(store: Store, day: dt.date) -> int:
    """Return the number of published requests of a day, the input of `build_derived`."""
    source = store.intact("requests", day)
    return source.rows if source else 0
