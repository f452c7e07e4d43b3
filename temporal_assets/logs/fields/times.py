"""Times of logs, from the many notations in use to microseconds since 1970 in UTC.

In: the bytes of a time, and the zone of times that carry none. Out: a number, and True for a time
without a zone. Parsing is compiled. Not here: whether a time is plausible (`cleaning`).

Understood are `10/Feb/2012:16:42:07 -0500`, ISO 8601 with `T` or a space, with or without seconds,
fraction and zone, `2012/02/10 16:42:07`, `10.02.2012 16:42:07`, `20120210164207`, and numbers of
seconds, milliseconds, microseconds or nanoseconds, told apart by magnitude; each may stand in
brackets. A leap second counts as the second before it, so that it stays in its day.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import inlined, loop
from temporal_assets.logs.read.byte_values import (
    CLOSE,
    COLON,
    DOT,
    MINUS,
    NINE,
    OPEN,
    PLUS,
    SLASH,
    SPACE,
    ZERO,
)
from temporal_assets.logs.read.records import Bytes, Offsets

BAD: Final = -(1 << 62)
"""Number that stands for an unreadable time."""

NO_DAY: Final = -(1 << 40)
"""Number for no day: of a text that is no date, or of times with a date of their own."""

MICROSECONDS: Final = 1_000_000
DAY: Final = 86_400 * MICROSECONDS
"""Microseconds of a day."""

_MINUTE: Final = 60 * MICROSECONDS
"""A minute: zones change their offset at whole minutes, mostly at full hours, but Newfoundland and
Gaza did at 00:01 until 2011, and Casey in 2020."""

_LATIN_T: Final = 0x74
_LATIN_Z: Final = 0x7A
_UNDERSCORE: Final = 0x5F
_COMMA: Final = 0x2C
_LOWER: Final = 0x20
"""Bit by which lower case differs from upper case."""

_MILLIS_FROM: Final = 100_000_000_000
"""Smallest number that counts milliseconds rather than seconds."""
_MICROS_FROM: Final = _MILLIS_FROM * 1000
"""Smallest number that counts microseconds rather than milliseconds."""
_NANOS_FROM: Final = _MICROS_FROM * 1000
"""10^11 seconds is the year 5138 and 10^11 milliseconds is 1973: no log time is ambiguous."""


@inlined
def digit(data: Bytes, at: int) -> int:
    """Return the value of a decimal digit; a large negative number for anything else."""
    value = np.int64(data[at]) - ZERO
    return int(value) if 0 <= value <= 9 else -100_000


@inlined
def two(data: Bytes, at: int) -> int:
    """Return the value of two digits; negative for anything else."""
    return digit(data, at) * 10 + digit(data, at + 1)


@inlined
def month_of(data: Bytes, at: int) -> int:
    """Return 1 to 12 for an English month name of three letters, else 0."""
    word = (
        (np.int64(data[at]) | _LOWER) << 16
        | (np.int64(data[at + 1]) | _LOWER) << 8
        | (np.int64(data[at + 2]) | _LOWER)
    )
    for month in range(12):
        if _MONTHS[month] == word:
            return month + 1
    return 0


_MONTHS: Final = tuple(
    int.from_bytes(name, "big")
    for name in b"jan feb mar apr may jun jul aug sep oct nov dec".split()
)


@inlined
def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the Gregorian calendar, or NO_DAY if there is no such date."""
    if year < 1 or month < 1 or month > 12 or day < 1 or day > 31:
        return NO_DAY
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if day == 31 and (month in (4, 6, 9, 11)):
        return NO_DAY
    if month == 2 and day > (29 if leap else 28):
        return NO_DAY
    # Years begin in March, so that the leap day is the last (Hinnant, "chrono-compatible
    # low-level date algorithms").
    shifted = year - 1 if month <= 2 else year
    era = shifted // 400
    year_of_era = shifted - era * 400
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * 146_097 + day_of_era - 719_468


@inlined
def parse_date(data: Bytes, start: int, stop: int) -> int:
    """Return the day of `10/Feb/2012`, `2012-02-10`, `2012/02/10` or `10.02.2012`, else NO_DAY."""
    length = stop - start
    if length == 11 and data[start + 2] == SLASH and data[start + 6] == SLASH:
        year = two(data, start + 7) * 100 + two(data, start + 9)
        return days_from_civil(year, month_of(data, start + 3), two(data, start))
    if length == 10 and data[start + 4] in (MINUS, SLASH) and data[start + 4] == data[start + 7]:
        year = two(data, start) * 100 + two(data, start + 2)
        return days_from_civil(year, two(data, start + 5), two(data, start + 8))
    if length == 10 and data[start + 2] == DOT and data[start + 5] == DOT:
        year = two(data, start + 6) * 100 + two(data, start + 8)
        return days_from_civil(year, two(data, start + 3), two(data, start))
    return NO_DAY


@inlined
def day_of(data: Bytes, start: int, stop: int, cache: Offsets) -> int:
    """Return `parse_date` of a text, with a cache of the last date: neighbouring lines share it.

    `cache` holds the position and length of that date, and its day.
    """
    if cache[1] == stop - start:
        same = True
        for i in range(stop - start):
            same &= data[cache[0] + i] == data[start + i]
        if same:
            return int(cache[2])
    day = parse_date(data, start, stop)
    cache[0], cache[1], cache[2] = start, stop - start, day
    return day


@inlined
def parse_clock(data: Bytes, start: int, stop: int, needs_seconds: bool) -> tuple[int, int, bool]:
    """Parse `16:42[:07[.123]][ -0500]` into (microseconds of the day, zone offset, naive).

    The first is BAD if this is no time of day, or has no seconds where it needs them.
    """
    if stop - start < 5 or data[start + 2] != COLON:
        return BAD, 0, False
    has_seconds = stop - start >= 8 and data[start + 5] == COLON
    if needs_seconds and not has_seconds:
        return BAD, 0, False
    hour, minute = two(data, start), two(data, start + 3)
    second = two(data, start + 6) if has_seconds else 0
    if hour < 0 or hour > 23 or minute < 0 or minute > 59 or second < 0 or second > 60:
        return BAD, 0, False
    micros = (hour * 3600 + minute * 60 + min(second, 59)) * MICROSECONDS
    at = start + (8 if has_seconds else 5)
    if has_seconds and at < stop and (data[at] == DOT or data[at] == _COMMA):
        at += 1
        unit = 100_000
        while at < stop and ZERO <= data[at] <= NINE:
            micros += unit * (data[at] - ZERO)
            unit //= 10
            at += 1
    offset, naive = parse_zone(data, at, stop)
    return (BAD if offset == BAD else micros), offset, naive


@inlined
def parse_zone(data: Bytes, start: int, stop: int) -> tuple[int, bool]:
    """Return the offset in microseconds that a zone stands for, and whether there is none (naive).

    Zones are ` -0500`, `+02:00`, `+02`, `Z`, `UTC`, `GMT` or nothing; the offset is BAD for others.
    """
    while start < stop and data[start] == SPACE:
        start += 1
    length = stop - start
    if length == 0:
        return 0, True
    if length == 1 and (data[start] | _LOWER) == _LATIN_Z:
        return 0, False
    signed = data[start] in (PLUS, MINUS)
    if length == 3 and not signed:
        zulu = np.int64(data[start]) << 16 | np.int64(data[start + 1]) << 8 | data[start + 2]
        return (0 if zulu in (_UTC, _GMT) else BAD), False
    colon = 1 if length == 6 and data[start + 3] == COLON else 0
    if not signed or (length not in (3, 5 + colon)):
        return BAD, False
    hours = two(data, start + 1)
    minutes = 0 if length == 3 else two(data, start + 3 + colon)
    if hours < 0 or hours > 23 or minutes < 0 or minutes > 59:
        return BAD, False
    offset = (hours * 3600 + minutes * 60) * MICROSECONDS
    return (-offset if data[start] == MINUS else offset), False


_UTC: Final = int.from_bytes(b"UTC", "big")
_GMT: Final = int.from_bytes(b"GMT", "big")


@inlined
def parse_number(data: Bytes, start: int, stop: int) -> int:
    """Return the microseconds of a number that counts from 1970; BAD for other texts.

    The number may count seconds, milliseconds, microseconds or nanoseconds, and have a fraction.
    """
    value = 0
    at = start
    while at < stop and ZERO <= data[at] <= NINE:
        value = value * 10 + (data[at] - ZERO)
        at += 1
    if at == start or at - start > 19 or value < 0:
        return BAD
    unit = 1
    if value < _MILLIS_FROM:
        unit = MICROSECONDS
    elif value < _MICROS_FROM:
        unit = 1000
    elif value >= _NANOS_FROM:
        return value // 1000 if at == stop else BAD
    micros = value * unit
    if at < stop:
        if data[at] != DOT:
            return BAD
        for i in range(at + 1, stop):
            unit //= 10
            if data[i] < ZERO or data[i] > NINE:
                return BAD
            micros += unit * (data[i] - ZERO)
    return micros


@inlined
def parse_digits(data: Bytes, start: int) -> tuple[int, bool]:
    """Parse `20120210164207` into (microseconds, naive); BAD for other digits.

    As a number of milliseconds it would be a time after the year 2500.
    """
    year = two(data, start) * 100 + two(data, start + 2)
    day = days_from_civil(year, two(data, start + 4), two(data, start + 6))
    hour, minute, second = two(data, start + 8), two(data, start + 10), two(data, start + 12)
    if day == NO_DAY or not (0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 60):
        return BAD, False
    return day * DAY + (hour * 3600 + minute * 60 + min(second, 59)) * MICROSECONDS, True


@inlined
def parse_time(data: Bytes, start: int, stop: int, cache: Offsets) -> tuple[int, bool]:
    """Parse any of the module's notations into (microseconds, naive); BAD for other texts.

    A naive time is returned as if it were UTC.
    """
    if start < stop and data[start] == OPEN:
        # Tables made from logs keep the bracket before a time, or both.
        start += 1
        stop -= data[stop - 1] == CLOSE
    length = stop - start
    date = 0
    if length >= 20 and data[start + 11] == COLON:
        date = 11
    elif length >= 16 and data[start + 13] == COLON:
        separator = data[start + 10]
        if separator in (SPACE, _UNDERSCORE) or (separator | _LOWER) == _LATIN_T:
            date = 10
    if date == 0 and length == 14:
        time, naive = parse_digits(data, start)
        if time != BAD:
            return time, naive
    if date == 0:
        return parse_number(data, start, stop), False
    day = day_of(data, start, start + date, cache)
    clock, offset, naive = parse_clock(data, start + date + 1, stop, date != 10)
    if day == NO_DAY or clock == BAD:
        return BAD, False
    return day * DAY + clock - offset, naive


def localise(times: Offsets, naive: NDArray[np.bool_], zone: ZoneInfo, before: int = BAD) -> None:
    """Turn naive local times into UTC, in place.

    The hour that autumn repeats is taken as its first occurrence, until the log steps back within
    it (by more than half the change of the clock, which no delayed line does): what follows is
    the second. Times that spring leaps over are read with the offset before the change. `before`
    is what `last_repeated` says of the lines before these.
    """
    rows = np.flatnonzero(naive & (times != BAD))
    if zone.key == "UTC" or not rows.size:
        return
    first, second = _offsets_of_times(times[rows], partial(_offsets, zone=zone))
    chosen = first.copy()
    repeated = np.flatnonzero(first > second)
    if repeated.size:
        change = (first - second)[repeated]
        local = times[rows[repeated]]
        last, later = (int(local[0]), False) if before == BAD else _local(before, zone)
        is_later = _second_pass(local, change, last, later)
        chosen[repeated[is_later]] = second[repeated[is_later]]
    times[rows] -= chosen


def last_repeated(times: Offsets, zone: ZoneInfo) -> int:
    """Return the last UTC time that lies in an hour that the zone's clocks repeat, or BAD."""
    if zone.key == "UTC":
        return BAD
    first, second = _offsets_of_times(times, lambda time: _offsets(_local(time, zone)[0], zone))
    rows = np.flatnonzero(first > second)
    return int(times[rows[-1]]) if rows.size else BAD


def clocks(times: Offsets, zone: ZoneInfo) -> Offsets:
    """Return what a zone's clocks show at UTC times, in microseconds since they showed 1970."""
    if zone.key == "UTC":
        return times
    offset, _ = _offsets_of_times(times, lambda time: (_local(time, zone)[0] - time, 0))
    return times + offset


def _offsets_of_times(
    times: Offsets, offsets: Callable[[int], tuple[int, int]]
) -> tuple[Offsets, Offsets]:
    """Return both results of `offsets` for every time.

    Offsets change at whole minutes, and not twice within a day, so that the function is called once
    a day, and once a minute only on days that end with other offsets than they began with.
    """
    # Lines may be dated so that another zone's clocks would show no year that calendars have.
    times = np.clip(times, _FIRST, _LAST)
    days, day_of = np.unique(times // DAY, return_inverse=True)
    offsets_of_day = {day: offsets(day * DAY) for day in {*days.tolist(), *(days + 1).tolist()}}
    offset_of_row = np.array([offsets_of_day[day] for day in days.tolist()], np.int64).reshape(
        -1, 2
    )[day_of]
    change = np.array(
        [offsets_of_day[day] != offsets_of_day[day + 1] for day in days.tolist()], np.bool_
    )
    rows = np.flatnonzero(change[day_of])
    if rows.size:
        minutes, minute_of = np.unique(times[rows] // _MINUTE, return_inverse=True)
        asked = [offsets(minute * _MINUTE) for minute in minutes.tolist()]
        offset_of_row[rows] = np.array(asked, np.int64)[minute_of]
    return offset_of_row[:, 0], offset_of_row[:, 1]


@loop
def _second_pass(local: Offsets, change: Offsets, last: int, later: bool) -> NDArray[np.bool_]:
    """Return True for times in repeated hours, in file order, that come after a step back."""
    is_second = np.zeros(local.size, np.bool_)
    for i in range(local.size):
        step = local[i] - last
        if abs(step) > change[i]:
            later = False
        elif step < -change[i] // 2:
            later = True
        is_second[i] = later
        last = local[i]
    return is_second


def _offsets(time: int, zone: ZoneInfo) -> tuple[int, int]:
    """Return the offset in microseconds of a local time, at its first and second occurrence."""
    local = _EPOCH + dt.timedelta(microseconds=time)
    utc_offsets = [local.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1)]
    first, second = (round(o.total_seconds() * MICROSECONDS) if o else 0 for o in utc_offsets)
    return first, second


def _local(time: int, zone: ZoneInfo) -> tuple[int, bool]:
    """Return the local time of a UTC time, and True if clocks show it for the second time."""
    moment = (_EPOCH + dt.timedelta(microseconds=time)).replace(tzinfo=dt.UTC).astimezone(zone)
    offset = moment.utcoffset() or dt.timedelta()
    return time + round(offset.total_seconds() * MICROSECONDS), moment.fold == 1


_EPOCH: Final = dt.datetime(1970, 1, 1)
_FIRST, _LAST = (
    (moment - _EPOCH) // dt.timedelta(microseconds=1)
    for moment in (dt.datetime(2, 1, 1), dt.datetime(9998, 12, 31))
)
