"""Days as Dagster's partitions: the one place that says which days and windows there are.

A key is the date on which the day starts in the configured zone, like `2026-01-31`. Days end where
the logs end, so that what is finished looks finished. Dagster learns a span when it loads the code
location: its daemon does so every minute, the web server of `temporal-assets ui` when the span
changes (`guard`), others when somebody reloads it. So the span of logs that are kept up to date
stays open.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import dagster as dg

from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.source_files import pending_files
from temporal_assets.logs.clean.cleaning import EARLIEST
from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.policy.crawl_policy import CRAWL_POLICY
from temporal_assets.windows.report.evaluation_report import EVALUATION_REPORT

_ONE = dt.timedelta(days=1)

DAYS_PER_RUN = 30
"""Days one backfill run processes; a 60-day backfill is two runs instead of sixty."""


def first_day(settings: Settings) -> dt.date:
    """Return the first partition: as configured, else the first day of the logs that were read.

    Before any log was read it is the earliest day that a log can have: whatever the first log
    holds, its days are partitions. The UI shows the narrower span once the code location is loaded
    again.
    """
    if settings.orchestration.first_day:
        return settings.orchestration.first_day
    landed = Inventory.load(settings).days()
    # A published day stays a partition although its lines have moved to a later one, and although
    # it was published in another schema.
    published = Store.open(settings).folders("requests")
    return min([*landed[:1], *published[:1]], default=EARLIEST)


@dataclass(frozen=True, slots=True)
class End:
    """The end of the partitions."""

    day: dt.date
    """The last partition now."""
    is_open: bool
    """True if each new day becomes a partition by itself."""
    has_today: bool = False
    """True if an open span includes the day that is not over."""


def end_of_days(settings: Settings, now: dt.datetime) -> End:
    """Return the last partition: the last day of the logs, and never later than today.

    While log files wait to be read, and before any was read, it is today: nobody knows yet which
    days they hold. Logs that reach to yesterday are kept up to date, and the span moves with them.
    """
    current = today(settings, now)
    inventory = Inventory.load(settings)
    published = Store.open(settings).folders("requests")
    last = max([*inventory.days()[-1:], *published[-1:]], default=None)
    if last is None or last >= current or pending_files(inventory, settings):
        return End(current, is_open=True, has_today=True)
    return End(last, is_open=last == current - _ONE)


def first_window(settings: Settings, end: dt.date) -> dt.date:
    """Return the first partition of window assets: as configured, else the first day with a report.

    Days before it have no window, or parts of one that only serve to judge later lists. While the
    logs are too short for a report it is the first day with a policy, and before there is one the
    last day of all (`end`), whose window is made next.
    """
    if settings.orchestration.first_window:
        return settings.orchestration.first_window
    store = Store.open(settings)
    published = store.folders(EVALUATION_REPORT.name) or store.folders(CRAWL_POLICY.name)
    return min([*published[:1], end])


def daily_partitions(settings: Settings) -> dg.DailyPartitionsDefinition:
    """Return all days from the first of the logs to the last."""
    end = end_of_days(settings, dt.datetime.now(dt.UTC))
    return _partitions(settings, first_day(settings), end)


def window_partitions(settings: Settings) -> dg.DailyPartitionsDefinition:
    """Return the windows, by their last day, from the first to that of the last day."""
    end = end_of_days(settings, dt.datetime.now(dt.UTC))
    return _partitions(settings, first_window(settings, end.day), end)


def _partitions(settings: Settings, first: dt.date, end: End) -> dg.DailyPartitionsDefinition:
    return dg.DailyPartitionsDefinition(
        start_date=first.isoformat(),
        # Exclusive; a span has a day at least.
        end_date=None if end.is_open else (max(end.day, first) + _ONE).isoformat(),
        timezone=settings.orchestration.timezone,
        end_offset=int(end.has_today),
    )


def today(settings: Settings, now: dt.datetime) -> dt.date:
    """Return the day that is not over at `now` (an aware time)."""
    return now.astimezone(ZoneInfo(settings.orchestration.timezone)).date()


def days_of(keys: Iterable[str]) -> list[dt.date]:
    """Return days of partition keys, ascending."""
    return sorted(dt.date.fromisoformat(key) for key in keys)


def days_between(first: dt.date, last: dt.date) -> list[dt.date]:
    """Return all days from `first` to `last`, both included."""
    return [first + n * _ONE for n in range((last - first).days + 1)]


def ranges(days: Iterable[dt.date], longest: int) -> Iterator[list[dt.date]]:
    """Yield runs of consecutive days, each with at most `longest` days."""
    run: list[dt.date] = []
    for day in sorted(set(days)):
        if run and (day - run[-1] != _ONE or len(run) == longest):
            yield run
            run = []
        run.append(day)
    if run:
        yield run


def in_words(days: Sequence[dt.date], limit: int = 10) -> str:
    """Return days as text: the first `limit` of them, and how many more there are."""
    named = ", ".join(day.isoformat() for day in days[:limit])
    return named if len(days) <= limit else f"{named} and {len(days) - limit} more"
