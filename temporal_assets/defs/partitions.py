"""Days as Dagster's partitions: the one place that says which days there are.

A key is the date on which the day starts in the configured zone, like `2026-01-31`. Today is
among the days, so that a log can be tried at once; the schedule and the sensor leave it alone
until it is over.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from zoneinfo import ZoneInfo

import dagster as dg

from temporal_assets.landing.inventory import Inventory
from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store

_ONE = dt.timedelta(days=1)


def first_day(settings: Settings) -> dt.date:
    """The first partition: as configured, else the first day of the logs that were read.

    Before any log was read it is `reading.earliest`: whatever the first log holds, its days are
    partitions. The UI shows the narrower span once the code location is loaded again.
    """
    if settings.orchestration.first_day:
        return settings.orchestration.first_day
    landed = Inventory.load(settings).days()
    # A published day stays a partition although its lines have moved to a later one, and although
    # it was published in another schema.
    published = Store.open(settings).folders("requests")
    return min([*landed[:1], *published[:1]], default=settings.reading.earliest)


def daily_partitions(settings: Settings) -> dg.DailyPartitionsDefinition:
    """All days from the first up to and including today."""
    return dg.DailyPartitionsDefinition(
        start_date=first_day(settings).isoformat(),
        timezone=settings.orchestration.timezone,
        end_offset=1,
    )


def today(settings: Settings, now: dt.datetime) -> dt.date:
    """The day that is not over at `now` (an aware time)."""
    return now.astimezone(ZoneInfo(settings.orchestration.timezone)).date()


def days_of(keys: Iterable[str]) -> list[dt.date]:
    """Days of partition keys, ascending."""
    return sorted(dt.date.fromisoformat(key) for key in keys)


def days_between(first: dt.date, last: dt.date) -> list[dt.date]:
    """All days from `first` to `last`, both included."""
    return [first + n * _ONE for n in range((last - first).days + 1)]


def ranges(days: Iterable[dt.date], longest: int) -> Iterator[list[dt.date]]:
    """Ascending days cut where a day is missing, and after every `longest` days."""
    run: list[dt.date] = []
    for day in sorted(set(days)):
        if run and (day - run[-1] != _ONE or len(run) == longest):
            yield run
            run = []
        run.append(day)
    if run:
        yield run


def in_words(days: Sequence[dt.date], limit: int = 10) -> str:
    """Ascending days for people: the first few of them and how many more there are."""
    named = ", ".join(day.isoformat() for day in days[:limit])
    return named if len(days) <= limit else f"{named} and {len(days) - limit} more"
