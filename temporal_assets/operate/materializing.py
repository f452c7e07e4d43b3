"""Building assets for some days through Dagster, in this process.

In: the settings, days and names of assets. Out: an `Outcome`. Runs, metadata and checks are in the
UI afterwards as if they had been started there. Not here: a single run (`operation`), the
definitions of assets, checks and jobs (`defs`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from temporal_assets.days.asset_names import DAILY_ASSETS
from temporal_assets.days.staleness import landed_rows
from temporal_assets.defs.events import Event
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.partitions import DAYS_PER_RUN, ranges
from temporal_assets.defs.runs import lost_runs
from temporal_assets.landing.inventory import Inventory
from temporal_assets.operate.home import instance_of
from temporal_assets.operate.leftovers import unfinished
from temporal_assets.operate.operation import Operation
from temporal_assets.operate.outcome import Outcome
from temporal_assets.settings import Settings
from temporal_assets.windows.registry import STEP_NAMES

_SMALL_RUNS: Final = 24
"""Number of runs whose days are made in one run if they are small."""

_FEW_ROWS: Final = 20_000
"""Largest number of rows of a small day, which takes less time to make than a run to start."""

_PUBLISHED_TOGETHER: Final = frozenset({"requests", "rejects"})
"""Assets of which none can be made without the other."""


def materialize(
    settings: Settings,
    days: Sequence[dt.date],
    assets: Sequence[str] = (),
    on_event: Callable[[Event], None] | None = None,
    latest_windows: Collection[str] = (),
    late: Mapping[str, Collection[dt.date]] | None = None,
) -> Outcome:
    """Build assets for some days, and check them.

    Args:
        settings: Settings of the state folder.
        days: Days to build; a window asset is built for the windows that end with them.
        assets: Names of assets. If empty, all daily assets and the latest windows are built. With
            `log_files` among them, new log files are read first.
        on_event: Function to call with events of progress, from several threads while log files
            are read.
        latest_windows: Names of window assets to bring up to date afterwards, for the latest day
            that has views.
        late: Days that are late, by daily asset. An asset in it is built for its late days only.

    Runs have `DAYS_PER_RUN` days, or more if the days are small. A day that fails, or that breaks
    an invariant, stops what depends on it and no other day.
    """
    wanted = _names_to_build(assets)
    operation = Operation(settings, on_event)
    with instance_of(settings) as instance:
        lost_runs.settle(instance, Installation.of(settings))
        if "log_files" in wanted:
            operation.run(instance, "ingest", ["log_files"], ())
        chosen = [asset for asset in DAILY_ASSETS if asset in wanted]
        windows = [asset for asset in STEP_NAMES if asset in wanted]
        wanted_days = operation.partitions(days)
        for run in _runs(settings, wanted_days) if chosen else ():
            for names, some in operation.without_removed(chosen, run):
                for own, part in _with_equal_assets(names, some, late):
                    operation.make(instance, own, part)
        for run in ranges(wanted_days, DAYS_PER_RUN) if windows else ():
            operation.make_windows(instance, windows, run)
        operation.make_latest(instance, latest_windows if assets else STEP_NAMES)
        operation.finish(instance)
    return operation.outcome()


def finish(settings: Settings, on_event: Callable[[Event], None] | None = None) -> Outcome | None:
    """End runs whose process is gone and finish what they began; return None if there is nothing.

    `materialize` does this as well.
    """
    if not unfinished(settings):
        return None
    operation = Operation(settings, on_event)
    with instance_of(settings) as instance:
        lost_runs.settle(instance, Installation.of(settings))
        operation.finish(instance)
    return operation.outcome()


def _runs(settings: Settings, days: Sequence[dt.date]) -> Iterator[list[dt.date]]:
    """Yield the days of each run, contiguous; a run takes up to two years of small days.

    Starting a run costs as much as making some dozens of small days.
    """
    inventory = Inventory.load(settings)
    for longest in ranges(days, DAYS_PER_RUN * _SMALL_RUNS):
        rows = sum(landed_rows(inventory, day) for day in longest)
        is_small = rows <= DAYS_PER_RUN * _FEW_ROWS
        yield from [longest] if is_small else ranges(longest, DAYS_PER_RUN)


def _with_equal_assets(
    assets: Sequence[str],
    days: Sequence[dt.date],
    late: Mapping[str, Collection[dt.date]] | None,
) -> Iterator[tuple[Sequence[str], Sequence[dt.date]]]:
    """Yield groups of assets, each with the contiguous days that need exactly these."""
    if late is None:
        yield assets, days
        return

    def wanted(day: dt.date) -> tuple[str, ...]:
        return tuple(
            asset
            for asset in assets
            if day in late["requests" if asset in _PUBLISHED_TOGETHER else asset]
        )

    for own, part in groupby(days, wanted):
        if own:
            yield own, list(part)


def _names_to_build(assets: Sequence[str]) -> Collection[str]:
    """Return the assets that a call asks for. Raises `ValueError` for unknown names."""
    known_names = {"log_files", *DAILY_ASSETS, *STEP_NAMES}
    unknown = sorted(set(assets) - known_names)
    if unknown:
        raise ValueError(
            f"there is no asset named {', '.join(unknown)};"
            f" there are: {', '.join(sorted(known_names))}"
        )
    wanted = set(assets) or set(DAILY_ASSETS)
    return wanted | _PUBLISHED_TOGETHER if wanted & _PUBLISHED_TOGETHER else wanted
