"""Retention: finding what is older than `retention` allows, and removing it.

Days are counted back from the latest that is published, never from the clock: a clock that runs
ahead removes nothing, and a corpus of last year is as safe as a log of today. What windows and
their evaluation still read is refused rather than removed.

Not here: Dagster's records of runs (`operate`).
"""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.staleness import stale
from temporal_assets.landing.inventory import Inventory
from temporal_assets.policy.bundle import latest_of
from temporal_assets.quality import verdicts
from temporal_assets.settings import Settings, SettingsError
from temporal_assets.storage.retained_days import keep
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import learned_days
from temporal_assets.windows.registry import WINDOW_NAMES
from temporal_assets.windows.report.evaluation_report import FOLDER as REPORTS
from temporal_assets.windows.report.evaluation_report import day_of, page_of_day, remove_page

REQUESTS: Final = ("requests", "rejects")
"""Tables that are kept as long as log lines."""


_ONE: Final = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Old:
    """Days of one kind that may be removed."""

    name: str
    """An asset, or `landing` (lines of log files), `policy` or `report` (pages)."""
    days: tuple[dt.date, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan of a removal: first days that stay; None where all stay."""

    requests: dt.date | None
    daily: dt.date | None
    windows: dt.date | None
    old: tuple[Old, ...]
    unmade: tuple[dt.date, ...] = ()
    """Days whose views or transits stay but are missing or out of date; without their lines they
    cannot be made again."""

    @property
    def bytes(self) -> int:
        """Number of bytes that would be freed."""
        return sum(asset_days.bytes for asset_days in self.old)


def plan(store: Store, inventory: Inventory, settings: Settings) -> Plan:
    """Return what `doctor clean` removes. Raises `SettingsError` where windows still need it."""
    wanted = settings.retention
    _refuse_too_short(settings)
    requests = _first_kept(store, REQUESTS, wanted.requests_days)
    daily = _first_kept(store, DERIVED, wanted.daily_days)
    windows = _first_kept(store, WINDOW_NAMES, wanted.windows_days)
    old_days = [
        *(_old(store, name, requests) for name in REQUESTS),
        _old_lines(inventory, requests),
        *(_old(store, name, daily) for name in DERIVED),
        *(_old(store, name, windows) for name in WINDOW_NAMES),
        _old_policies(settings.state, windows),
        _old_pages(settings, windows),
    ]
    unmade = _unmade(store, inventory, settings, requests, daily)
    return Plan(
        requests,
        daily,
        windows,
        tuple(asset_days for asset_days in old_days if asset_days.days),
        unmade,
    )


def carry_out(plan: Plan, store: Store, inventory: Inventory, settings: Settings) -> None:
    """Remove what a plan says.

    If killed half-way, the same call goes on; readers see a day whole or not at all.
    """
    keep(settings.state, plan.requests, plan.daily)
    for asset_days in plan.old:
        for day in asset_days.days:
            if asset_days.name == "landing":
                inventory.drop_lines(day)
            elif asset_days.name == "policy":
                for folder in _policies(settings.state, day):
                    shutil.rmtree(folder)
            elif asset_days.name == "report":
                remove_page(settings, day)
            else:
                store.remove(asset_days.name, day)
                verdicts.forget(settings.state, asset_days.name, day)


def _refuse_too_short(settings: Settings) -> None:
    """Raise an error for settings that would remove what windows or their evaluation read."""
    today = dt.date.max
    back = max(((today - day).days for day in learned_days(settings, today).values()), default=0)
    needs = {"daily_days": settings.window.days + back, "windows_days": 1 + back}
    for name, least in needs.items():
        days = getattr(settings.retention, name)
        if days is not None and days < least:
            raise SettingsError(
                f"retention.{name} is {days}, but the latest window and its evaluation read"
                f" {least} days: set it to {least} or more"
            )


def _first_kept(store: Store, assets: Iterable[str], days: int | None) -> dt.date | None:
    if days is None:
        return None
    latest = max((day for asset in assets for day in store.days(asset)[-1:]), default=None)
    return latest and latest - (days - 1) * _ONE


def _unmade(
    store: Store,
    inventory: Inventory,
    settings: Settings,
    requests: dt.date | None,
    daily: dt.date | None,
) -> tuple[dt.date, ...]:
    if requests is None:
        return ()
    late = stale(store, inventory, settings)
    days = {day for asset in DERIVED for day in late[asset] if day < requests}
    return tuple(sorted(day for day in days if daily is None or day >= daily))


def _old(store: Store, asset: str, first_kept: dt.date | None) -> Old:
    days = [day for day in store.folders(asset) if first_kept and day < first_kept]
    return Old(asset, tuple(days), sum(store.size(asset, day) for day in days))


def _old_lines(inventory: Inventory, first_kept: dt.date | None) -> Old:
    by_day = {
        day: inventory.bytes_of(day) for day in inventory.days() if first_kept and day < first_kept
    }
    held = {day: size for day, size in by_day.items() if size}
    return Old("landing", tuple(held), sum(held.values()))


def _old_policies(state: Path, first_kept: dt.date | None) -> Old:
    """Return the policies of days before the first kept one, with their size."""
    days = sorted({dt.date.fromisoformat(path.name[:10]) for path in _policies(state)})
    old = [day for day in days if first_kept and day < first_kept and _policies(state, day)]
    sizes = (
        file.stat().st_size
        for day in old
        for folder in _policies(state, day)
        for file in folder.iterdir()
    )
    return Old("policy", tuple(old), sum(sizes))


def _old_pages(settings: Settings, first_kept: dt.date | None) -> Old:
    """Return the days of old pages of reports with their size in bytes.

    Such a page has a day in its name; the page of the latest day has a second name without one.
    """
    folder = settings.state / REPORTS
    old = sorted(
        day
        for path in folder.glob("*")
        if (day := day_of(path)) and first_kept and day < first_kept
    )
    return Old("report", tuple(old), sum(page_of_day(settings, day).stat().st_size for day in old))


def _policies(state: Path, day: dt.date | None = None) -> Sequence[Path]:
    """Return folders of policies, of a day or all, without the one that `latest` names."""
    root = state / "policy"
    loaded = latest_of(root)
    folders = sorted(root.glob(f"{day or '????-??-??'}-*"))
    return [folder for folder in folders if loaded is None or folder.name != loaded.name]
