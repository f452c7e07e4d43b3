"""Dates within one value of a URL.

Here: recognising a date in a value, and the regular expression of each form. Not here: dates that
lie across several segments (`date_roles`), and other shapes of values (`value_shapes`).

Digits alone say less than digits with separators: `20250322` is a date, `250322` may be a number.
This module only decides whether a value has a form; `value_shapes` and `date_roles` decide what
follows from it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Bytes
from temporal_assets.core.numerics.compiled import constant, inlined, leaf

_YEAR: Final = "(?:19|20)[0-9]{2}"
_MONTH: Final = "(?:0[1-9]|1[0-2])"
_DAY: Final = "(?:0[1-9]|[12][0-9]|3[01])"
_ANY_MONTH: Final = "(?:0?[1-9]|1[0-2])"
_ANY_DAY: Final = "(?:0?[1-9]|[12][0-9]|3[01])"
_TIME: Final = "(?:[01][0-9]|2[0-3])[0-5][0-9](?:[0-5][0-9])?"
_NAME: Final = (
    "(?:[Jj]an(?:uary)?|[Ff]eb(?:ruary)?|[Mm]ar(?:ch)?|[Aa]pr(?:il)?|[Mm]ay|[Jj]une?"
    "|[Jj]uly?|[Aa]ug(?:ust)?|[Ss]ep(?:tember)?|[Oo]ct(?:ober)?|[Nn]ov(?:ember)?"
    "|[Dd]ec(?:ember)?)"
)
_NAME_BEYOND_HEX: Final = _NAME.replace("[Ff]eb(?:ruary)?", "[Ff]ebruary").replace(
    "[Dd]ec(?:ember)?", "[Dd]ecember"
)
"""Expression for month names except `feb` and `dec`: `20dec2025` is a hexadecimal number as
well."""
_DASH: Final = "[-_]"

YEAR_EXPRESSION: Final = _YEAR
NAME_EXPRESSION: Final = _NAME
DAY_EXPRESSION: Final = _ANY_DAY
MONTH_EXPRESSION: Final = _ANY_MONTH
YEAR_MONTH_EXPRESSION: Final = f"{_YEAR}{_MONTH}"
MONTH_DAY_EXPRESSION: Final = f"{_MONTH}{_DAY}"
DASHED_DAY_EXPRESSION: Final = f"{_ANY_MONTH}{_DASH}{_ANY_DAY}"
MONTHLY_EXPRESSION: Final = f"{_YEAR}{_DASH}{_MONTH}"
DATE_EXPRESSION: Final = f"{_YEAR}{_DASH}{_MONTH}(?:{_DASH}{_DAY})?"
SIX_EXPRESSION: Final = (
    f"(?:{_YEAR}{_MONTH}|[0-3][0-9]{_MONTH}{_DAY}|(?:{_DAY}{_MONTH}|{_MONTH}{_DAY})[0-3][0-9])"
)
COMPACT_EXPRESSION: Final = (
    f"(?:{_YEAR}{_MONTH}{_DAY}(?:{_TIME})?|(?:{_DAY}{_MONTH}|{_MONTH}{_DAY}){_YEAR})"
)
_ANY_ORDER: Final = (
    f"{_ANY_DAY}{_DASH}{_ANY_MONTH}{_DASH}{_YEAR}",
    f"{_ANY_MONTH}{_DASH}{_ANY_DAY}{_DASH}{_YEAR}",
    f"{_YEAR}{_DASH}[1-9](?:{_DASH}{_ANY_DAY})?",
    f"{_YEAR}{_DASH}{_MONTH}{_DASH}[1-9]",
    f"{_ANY_MONTH}{_DASH}{_YEAR}",
    f"{_YEAR}{_DASH}{_MONTH}{_DAY}",
    f"{_YEAR}{_MONTH}{_DASH}{_DAY}",
)
_SHORT_YEAR: Final = (
    f"[0-9]{{2}}{_DASH}{_MONTH}{_DASH}{_DAY}",
    f"{_DAY}{_DASH}{_MONTH}{_DASH}[0-9]{{2}}",
    f"{_MONTH}{_DASH}{_DAY}{_DASH}[0-9]{{2}}",
)
_NAMED: Final = (
    f"{_ANY_DAY}{_DASH}{_NAME}(?:{_DASH}{_YEAR})?",
    f"{_NAME}{_DASH}{_ANY_DAY}(?:{_DASH}{_YEAR})?",
    f"{_NAME}{_DASH}{_YEAR}",
    f"{_YEAR}{_DASH}{_NAME}(?:{_DASH}{_ANY_DAY})?",
    f"(?:{_ANY_DAY}|{_YEAR}){_NAME}",
    f"{_NAME}(?:{_ANY_DAY}|{_YEAR})",
    f"{_ANY_DAY}{_NAME_BEYOND_HEX}{_YEAR}",
    f"{_YEAR}{_NAME_BEYOND_HEX}{_ANY_DAY}",
    f"{_YEAR}{_DASH}?[Ww](?:0[1-9]|[1-4][0-9]|5[0-3])",
)
WRITTEN_EXPRESSION: Final = f"(?:{'|'.join((*_ANY_ORDER, *_SHORT_YEAR, *_NAMED))})"

_MONTHS: Final = np.frombuffer(
    b"january  february march    april    may      june     july     august   "
    b"september october  november december ".ljust(120),
    np.uint8,
)
_MONTH_STARTS: Final = np.array([0, 9, 18, 27, 36, 45, 54, 63, 72, 82, 91, 100], np.int64)
_MONTH_LENGTHS: Final = np.array([7, 8, 5, 5, 3, 4, 4, 6, 9, 7, 8, 8], np.int64)

_THREE: Final = constant(51)

_WEEK: Final = -50
_HEX_NAME: Final = -100
"""Tokens: a number is 10 times its value and its digits, a month minus its number, lower by 100 if
its name is hexadecimal."""
_LONGEST_NUMBER: Final = 6


@inlined
def number(data: Bytes, start: int, stop: int) -> int:
    """Return the value of a few digits, or -1 if other characters are among them."""
    value = 0
    for i in range(start, stop):
        if not 48 <= data[i] <= 57:
            return -1
        value = value * 10 + (data[i] - 48)
    return value


@inlined
def is_year(data: Bytes, start: int) -> bool:
    """Return True if four bytes are a year from 1900 to 2099."""
    return 1900 <= number(data, start, start + 4) <= 2099


@inlined
def is_dash(byte: int) -> bool:
    """Return whether a byte separates the parts of a date."""
    return byte == 45 or byte == 95


@inlined
def is_month_day(data: Bytes, start: int) -> bool:
    """Return True if four bytes are a month and a day: `0322`."""
    month, day = number(data, start, start + 2), number(data, start + 2, start + 4)
    return 1 <= month <= 12 and 1 <= day <= 31


@inlined
def _is_day_month(data: Bytes, start: int) -> bool:
    day, month = number(data, start, start + 2), number(data, start + 2, start + 4)
    return 1 <= month <= 12 and 1 <= day <= 31


@inlined
def is_dashed(data: Bytes, start: int, stop: int) -> bool:
    """Return True for `2024-01` or `2024-01-31`, with `-` or `_`."""
    length = stop - start
    if (length != 7 and length != 10) or not is_year(data, start):
        return False
    if not is_dash(data[start + 4]) or not 1 <= number(data, start + 5, start + 7) <= 12:
        return False
    if length == 7:
        return True
    return is_dash(data[start + 7]) and 1 <= number(data, start + 8, stop) <= 31


@leaf
def is_compact(data: Bytes, start: int, stop: int) -> bool:
    """Return True for digits like `20240131` (perhaps with a time), `31012024` or `01312024`."""
    length = stop - start
    if length != 8 and length != 12 and length != 14:
        return False
    if is_year(data, start) and is_month_day(data, start + 4):
        if length > 8 and number(data, start + 8, start + 10) > 23:
            return False
        if length > 10 and number(data, start + 10, start + 12) > 59:
            return False
        return length < 14 or number(data, start + 12, stop) <= 59
    if length != 8 or not is_year(data, start + 4):
        return False
    return is_month_day(data, start) or _is_day_month(data, start)


@inlined
def is_year_month(data: Bytes, start: int) -> bool:
    """Return True if six digits are a year and a month: `202401`."""
    return is_year(data, start) and 1 <= number(data, start + 4, start + 6) <= 12


@leaf
def is_six(data: Bytes, start: int) -> bool:
    """Return True if six digits may be a date: `202401`, `240131`, `310124` or `013124`.

    Years end in 2039: of a hundred numbers of a count, forty at most look like dates.
    """
    if is_year_month(data, start):
        return True
    if data[start] <= _THREE and is_month_day(data, start + 2):
        return True
    is_day = is_month_day(data, start) or _is_day_month(data, start)
    return is_day and data[start + 4] <= _THREE


@leaf
def month_of(data: Bytes, start: int, stop: int) -> int:
    """Return the number of the month that an English name stands for, 0 if it is none.

    Names are whole or their first three letters. Only the first letter may be a capital.
    """
    length = stop - start
    for month in range(12):
        if length != 3 and length != _MONTH_LENGTHS[month]:
            continue
        at = _MONTH_STARTS[month]
        same = data[start] | 32 == _MONTHS[at]
        for i in range(1, length):
            same = same and data[start + i] == _MONTHS[at + i]
        if same:
            return month + 1
    return 0


@leaf
def is_dashed_day(data: Bytes, start: int, stop: int) -> bool:
    """Return True for `03-22`, which is a date only after a year."""
    at = start
    while at < stop and not is_dash(data[at]):
        at += 1
    if not 1 <= at - start <= 2 or not 1 <= stop - at - 1 <= 2:
        return False
    return 1 <= number(data, start, at) <= 12 and 1 <= number(data, at + 1, stop) <= 31


@leaf
def is_written(data: Bytes, start: int, stop: int) -> bool:
    """Return True for a date of two or three parts in another order than year, month, day."""
    first, second, third = 0, 0, 0
    count, dashes = 0, 0
    at = start
    while at < stop:
        end = _end_of_part(data, at, stop)
        part = _part(data, at, end)
        if count == 3 or part == 0:
            return False
        if count == 0:
            first = part
        elif count == 1:
            second = part
        else:
            third = part
        count += 1
        at = end
        if at < stop and is_dash(data[at]):
            dashes |= 1 << (count - 1)
            at += 1
            if at == stop:
                return False
    if count == 2:
        return _is_pair(first, second, dashes == 1)
    if count != 3:
        return False
    if second == _WEEK:
        return _year(first) and dashes <= 1 and third % 10 == 2 and 1 <= third // 10 <= 53
    if dashes == 3:
        return _is_triple(first, second, third)
    # Glued together; hexadecimal numbers look like some of these.
    return dashes == 0 and _HEX_NAME < second < 0 and _is_triple(first, second, third) and first > 0


@inlined
def _end_of_part(data: Bytes, start: int, stop: int) -> int:
    """Return where a run of digits, or of letters, ends."""
    at = start
    if 48 <= data[at] <= 57:
        while at < stop and 48 <= data[at] <= 57:
            at += 1
    else:
        while at < stop and 97 <= (data[at] | 32) <= 122:
            at += 1
    return at


@leaf
def _part(data: Bytes, start: int, stop: int) -> int:
    """Return the token of a run of digits or letters, or 0 if it is no part of a date."""
    length = stop - start
    if length == 0:
        return 0
    if 48 <= data[start] <= 57:
        return 10 * number(data, start, stop) + length if length <= _LONGEST_NUMBER else 0
    if length == 1:
        return _WEEK if data[start] | 32 == 119 else 0
    month = month_of(data, start, stop) if length >= 3 else 0
    if month == 0:
        return 0
    return -month + _HEX_NAME if length == 3 and (month == 2 or month == 12) else -month


@inlined
def _year(part: int) -> bool:
    return part % 10 == 4 and 1900 <= part // 10 <= 2099


@inlined
def _day(part: int) -> bool:
    return 0 < part % 10 <= 2 and 1 <= part // 10 <= 31


@inlined
def _month(part: int) -> bool:
    return 0 < part % 10 <= 2 and 1 <= part // 10 <= 12


@inlined
def _named(part: int) -> bool:
    return part < 0 and part != _WEEK


@leaf
def _is_pair(first: int, second: int, dashed: bool) -> bool:
    """Return True if two parts can be a year and a month, or a month and a day."""
    if _named(first):
        return second > 0 and (_year(second) or _day(second))
    if _named(second):
        return first > 0 and (_year(first) or _day(first))
    if not dashed or first < 0 or second < 0:
        return False
    if _year(first):
        four = second // 10
        has_day = second % 10 == 4 and 1 <= four // 100 <= 12 and 1 <= four % 100 <= 31
        return has_day or (second % 10 == 1 and _month(second))
    if _year(second):
        return _month(first)
    six = first // 10
    is_six_digits = first % 10 == 6 and 1900 <= six // 100 <= 2099 and 1 <= six % 100 <= 12
    return is_six_digits and second % 10 == 2 and _day(second)


@leaf
def _is_triple(first: int, second: int, third: int) -> bool:
    """Return True if three parts can be year, month and day in a usual order."""
    if _named(second):
        return (
            first > 0
            and third > 0
            and ((_day(first) and _year(third)) or (_year(first) and _day(third)))
        )
    if _named(first):
        return second > 0 and third > 0 and _day(second) and _year(third)
    if first <= 0 or second <= 0 or third <= 0:
        return False
    if _year(third):
        return (_day(first) and _month(second)) or (_month(first) and _day(second))
    if _year(first):
        padded = second % 10 == 2 and third % 10 == 2
        return _month(second) and _day(third) and not padded
    if first % 10 != 2 or second % 10 != 2 or third % 10 != 2:
        return False
    return (_month(second) and (_day(third) or _day(first))) or (_month(first) and _day(second))


@leaf
def holds_date(data: Bytes, start: int, stop: int) -> bool:
    """Return True if a value contains a date: `story-20250322-name`, `news-22.03.2025`."""
    before, between = 0, 0  # the two parts before, as far as one byte separates them
    at = start
    while at < stop:
        if not _is_alphanumeric(data[at]):
            at += 1
            continue
        end = _end_of_part(data, at, stop)
        part = _part(data, at, end)
        if 48 <= data[at] <= 57:
            if is_compact(data, at, end):
                return True
            apart = (at == start or not _is_alphanumeric(data[at - 1])) and (
                end == stop or not _is_alphanumeric(data[end])
            )
            if apart and end - at == _LONGEST_NUMBER and is_six(data, at):
                return True
        if before != 0 and between != 0 and part != 0 and _is_whole(before, between, part):
            return True
        has_name = between != 0 and part != 0 and (_named(between) or _named(part))
        if has_name and _is_pair(between, part, dashed=True):
            return True
        following = end + 1 if end < stop and not _is_alphanumeric(data[end]) else end
        # What is more than one byte away does not belong to the same date.
        is_near = following < stop and _is_alphanumeric(data[following])
        before = between if is_near else 0
        between = part if is_near else 0
        at = following
    return False


@inlined
def _is_alphanumeric(byte: int) -> bool:
    return 48 <= byte <= 57 or 97 <= (byte | 32) <= 122


@inlined
def _is_whole(first: int, second: int, third: int) -> bool:
    """Return True for a date with a year of four digits, or of two with both others padded."""
    if first > 0 and second > 0 and third > 0 and _year(first):
        return _month(second) and _day(third)
    return _is_triple(first, second, third)
