"""Order of day and month in dates such as `5/1/2026 7:33 AM`, which spreadsheets write.

Here: finding the order from many dates, and rewriting dates as ISO 8601 in blocks of CSV and TSV.
Not here: times that need no rewriting (`fields.times`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from temporal_assets.logs.read.records import Block

DAY_FIRST: Final = "day-first"
MONTH_FIRST: Final = "month-first"

_BEFORE: Final = rb'(^|[",;\t|])'
_BEHIND: Final = rb'(?=[",;\t|]|\r?$)'
_CLOCK: Final = rb"(\d{1,2}):(\d\d)(?::(\d\d))?(?:\.\d+)?(?: ?([AaPp])\.?[Mm]\.?)?"
"""Expression for a time of day, of twelve hours or of twenty-four."""
_DATE: Final = re.compile(
    _BEFORE + rb"(\d{1,2})/(\d{1,2})/(\d{4})(?:,? +" + _CLOCK + rb")?" + _BEHIND, re.MULTILINE
)
"""Expression for a field that is a date with the year at its end, perhaps with a time."""
_TIME: Final = re.compile(_BEFORE + _CLOCK + _BEHIND, re.MULTILINE)
"""Expression for a field that is a time of day, beside a column of dates."""

_MONTHS: Final = 12


def order_of(text: bytes) -> tuple[str | None, bool]:
    """Return the order of the dates in a text, None if unknown, and whether it has such dates.

    A single number above twelve decides for all dates. Where both places have one, nothing does.
    """
    first, second = 0, 0  # the largest numbers in both places
    for match in _DATE.finditer(text):
        first, second = max(first, int(match[2])), max(second, int(match[3]))
    if first > _MONTHS >= second:
        return DAY_FIRST, True
    if second > _MONTHS >= first:
        return MONTH_FIRST, True
    return None, bool(first)


def in_iso(block: Block, order: str) -> Block:
    """Return a block with its dates as `2026-05-01 07:33:00`, and lone times as `07:33:00`."""
    text = _DATE.sub(partial(_date, order), block.data.tobytes())
    return replace(block, data=np.frombuffer(_TIME.sub(_time, text), np.uint8))


def _date(order: str, match: re.Match[bytes]) -> bytes:
    before, first, second, year, *clock = match.groups()
    day, month = (first, second) if order == DAY_FIRST else (second, first)
    date = b"%b%b-%02d-%02d" % (before, year, int(month), int(day))
    return date + b" " + _clock(*clock) if clock[0] else date


def _time(match: re.Match[bytes]) -> bytes:
    before, *clock = match.groups()
    return before + _clock(*clock)


def _clock(hour: bytes, minute: bytes, second: bytes | None, half: bytes | None) -> bytes:
    """Write a time of day with seconds, of 24 hours: 12 AM is midnight, 12 PM is noon."""
    hours = int(hour)
    if half:
        hours = hours % 12 + (12 if half in b"Pp" else 0)
    return b"%02d:%b:%b" % (hours, minute, second or b"00")
