"""The day or hour of a whole file of counts, from its name or its beginning.

Not here: the dates of rows (`row_counts`).
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from typing import Final
from zoneinfo import ZoneInfo

from temporal_assets.logs.counts.row_counts import moment_of

_HOUR: Final = re.compile(r"page(?:views|counts)-(\d{4})(\d\d)(\d\d)-(\d\d)\d{4}(?!\d)")
"""Name of an hour of Wikipedia's dumps: the end of the hour, not its beginning."""

_CLICKSTREAM: Final = re.compile(r"clickstream-([a-z_]+?)wiki-(\d{4})-(\d\d)(?!\d)")
"""Expression for the wiki and the month in the name of a clickstream."""

_DAY: Final = re.compile(r"(?<!\d)(\d{4})([-_.]?)(\d\d)\2(\d\d)(?!\d)")
"""Expression for a day in the name of a file."""

_MONTHS: Final = tuple(calendar.month_name)
_NAMED_DAY: Final = re.compile(rf"\b({'|'.join(_MONTHS[1:])}) (\d{{1,2}}),? (\d{{4}})\b")
"""Expression for a day as Matomo writes it into the name of an export."""

_PREAMBLE: Final = re.compile(rb"^# (?:Start|End) date: *(\d{8})\s*$", re.MULTILINE)
"""Expression for the days that Google Analytics names before its table."""


def moment_of_file(name: str, head: bytes, zone: ZoneInfo) -> int | None:
    """Return the time of a file's counts in microseconds, or None if it names no single day."""
    if hour := _HOUR.search(name):
        year, month, day, until = map(int, hour.groups())
        end = dt.datetime(year, month, day, until, tzinfo=dt.UTC)
        return round((end - dt.timedelta(hours=1)).timestamp()) * 1_000_000
    days = {match.decode() for match in _PREAMBLE.findall(head[:4096])}
    days = days or {"".join(match.group(1, 3, 4)) for match in _DAY.finditer(name)}
    days = days or {
        f"{year}{_MONTHS.index(month):02}{int(day):02}"
        for month, day, year in _NAMED_DAY.findall(name)
    }
    if len(days) != 1:
        return None
    try:
        only = dt.datetime.strptime(days.pop(), "%Y%m%d").date()
    except ValueError:
        return None
    return moment_of(only, zone)


def clickstream_of(name: str) -> tuple[str, int] | None:
    """Return host and time of a month of Wikipedia's clickstream: the noon of its last day.

    The counts of a month are complete on its last day; their own days are not known.
    """
    match = _CLICKSTREAM.search(name)
    if match is None:
        return None
    language, year, month = match[1].replace("_", "-"), int(match[2]), int(match[3])
    after = dt.date(year + month // 12, month % 12 + 1, 1)
    moment = moment_of(after - dt.timedelta(days=1), ZoneInfo("UTC"))
    return f"{language}.wikipedia.org", moment
