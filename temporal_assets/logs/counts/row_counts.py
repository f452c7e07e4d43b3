"""Counts of views, visitors and transits in the columns of a table, with their days or hours.

In: records whose rows stand for many requests, and the columns with the numbers and the date. Out:
the records with their counts and times; rows without a readable number are rejected. Not here:
which columns they are (`formats.columns`), what is made of them (`days.counts`).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.logs.read.encode import encode, to_list
from temporal_assets.logs.read.records import Column, Counts, Offsets, Records, Reject

UNKNOWN: Final = -1
"""Number that stands for one that a row does not state."""

NOON: Final = dt.time(12)
"""Time of day for counts of a day: in no zone near that of the source is it another day."""

_DATE: Final = re.compile(
    r"(\d{4})[-/]?(\d\d)[-/]?(\d\d)(?:[T _]?(\d\d)(?::?(\d\d)(?::?(\d\d))?)?)?"
)
"""Expression for a day, with or without an hour, in the notations of exports."""
_ZONE: Final = re.compile(r"(?:\.\d+)?\s*(Z|UTC|[+-]\d\d:?\d\d)?", re.IGNORECASE)
"""Expression for what may follow a time: a fraction and a zone."""
_NUMBER: Final = re.compile(r"\d{1,3}(?:[,\u202f\u00a0 ]\d{3})+|\d{1,18}(?:\.0+)?")
"""Expression for a whole number, with or without separators of thousands."""


@dataclass(frozen=True, slots=True)
class CountColumns:
    """Columns of rows that stand for many requests; those that a table lacks have no value."""

    date: Column
    views: Column
    visitors: Column
    transits: Column

    @property
    def numbers(self) -> tuple[Column, Column, Column]:
        """All columns but the date."""
        return self.views, self.visitors, self.transits


def with_counts(
    records: Records, columns: CountColumns, zone: dt.tzinfo, moment: int | None
) -> Records:
    """Return records with their counts and times.

    `moment` is the time of the whole file, for rows without one.
    """
    time = _numbers_of(columns.date, lambda text: _moment(text, zone))
    if moment is not None:
        time[columns.date.start < 0] = moment
    views, visitors, transits = (_numbers_of(column, _number) for column in columns.numbers)
    wrong = np.zeros(len(records), np.bool_)
    for column, values in zip(columns.numbers, (views, visitors, transits), strict=True):
        wrong |= (values == UNKNOWN) & _is_given(column)
    reason = records.reason.copy()
    is_read = reason == Reject.NONE
    reason[is_read & (time == UNKNOWN)] = Reject.BAD_TIME
    reason[is_read & wrong] = Reject.NOT_THE_FORMAT
    if records.referrer is not None:  # then a view without one came from nowhere
        counted = np.where(visitors != UNKNOWN, visitors, views)
        transits = np.where(transits != UNKNOWN, transits, counted)
    counts = Counts(views, visitors, transits)
    return replace(records, time=time, reason=reason, counts=counts)


def moment_of(day: dt.date, zone: dt.tzinfo, clock: dt.time = NOON) -> int:
    """Return the time of a day, or of an hour of it, in microseconds since 1970 (UTC)."""
    return _microseconds(dt.datetime.combine(day, clock, zone))


def _is_given(column: Column) -> NDArray[np.bool_]:
    return np.asarray(column.stop > column.start) & (column.start >= 0)


def _numbers_of(column: Column, read: Callable[[bytes], int]) -> Offsets:
    """Return the numbers of a column, each distinct text read once; UNKNOWN for empty rows."""
    encoded = encode(column, np.arange(len(column)))
    values = [UNKNOWN, *map(read, to_list(encoded.distinct))]
    return np.array(values, np.int64)[encoded.codes + 1]


def _number(text: bytes) -> int:
    """Return a whole number, with or without separators of thousands."""
    shown = text.decode("utf-8", "replace").strip()
    if not _NUMBER.fullmatch(shown):
        return UNKNOWN
    return int(re.sub(r"\D", "", shown.partition(".")[0]))


def _moment(text: bytes, zone: dt.tzinfo) -> int:
    """Return the hour that a text names, or the noon of the day that it names."""
    shown = text.decode("utf-8", "replace").strip().strip('"')
    match = _DATE.match(shown)
    rest = _ZONE.fullmatch(shown, match.end()) if match else None
    if not match or not rest:
        return UNKNOWN
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
    try:
        date = dt.date(year, month, day)
        if match[4] is None:
            return moment_of(date, zone)
        clock = dt.time(hour, minute, min(second, 59))
    except ValueError:
        return UNKNOWN
    return moment_of(date, _zone(rest[1], zone), clock)


def _zone(named: str | None, zone: dt.tzinfo) -> dt.tzinfo:
    if named is None:
        return zone
    if named.upper() in ("Z", "UTC"):
        return dt.UTC
    sign = -1 if named[0] == "-" else 1
    digits = named[1:].replace(":", "")
    return dt.timezone(sign * dt.timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))


def _microseconds(moment: dt.datetime) -> int:
    return round(moment.timestamp()) * 1_000_000
