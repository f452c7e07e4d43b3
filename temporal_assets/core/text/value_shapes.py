"""The shape of a value: a number, a date, a slug, a token.

Here: the shapes, how a value is recognised, how a wildcard of that shape is written in a template
and in a regular expression. Not here: which values become wildcards (`salience`).

A value has several shapes at once, each a bit: `2025` is NONEMPTY, DOTLESS, DIGITS and YEAR. The
bits that all values of a wildcard share are what the wildcard requires; a wildcard whose values
share nothing takes anything. Beside its bits, a value has one class (year, slug, word, ...); the
class of most values only names the wildcard for the reader. The code of a shape is one integer with
the bits in its lower part and the class above them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Bytes, Int32s, Int64s
from temporal_assets.core.numerics.compiled import constant, inlined, leaf, loop, readonly
from temporal_assets.core.text import date_shapes
from temporal_assets.core.text.texts import after_digits, after_hex, find_byte

NONEMPTY: Final = 1
DOTLESS: Final = 2
DIGITS: Final = 4
YEAR: Final = 8
DAY: Final = 16
MONTH_NAME: Final = 32
DATE: Final = 64
HEX: Final = 128
UUID: Final = 256
COMPACT: Final = 512
"""Bit of a date in eight digits or more: `20250322`."""
SIX: Final = 1024
"""Bit of a date in six digits, `250322`; one number in twenty looks like that by chance."""
YEAR_MONTH: Final = 2048
"""Bit of a year and month in six digits, `202503`; such a value is SIX as well."""
MONTH_DAY: Final = 4096
"""Bit of a month and day in four digits, `0322`: a date after a year."""
EPOCH: Final = 8192
"""Bit of seconds or milliseconds since 1970."""
SMALL: Final = 16384
"""Bit of numbers with one digit or two."""
WRITTEN: Final = 32768
"""Bit of other written dates, `22-03-2025`, `22-mar`, `2025-w12` (`date_shapes`)."""
MONTHLY: Final = 65536
"""Bit of a year and month, `2025-03`: a DATE after which a day may follow."""
MONTH: Final = 131072
"""Bit of a number up to 12; such a value is DAY as well."""
DASHED_DAY: Final = 262144
"""Bit of a month and day with a dash, `03-22`: a date after a year."""
DATED: Final = 524288
"""Bit of a value that contains a date somewhere. No wildcard requires it, so it has no
expression."""

ALL_BITS: Final = 1048575

ALWAYS_DATES: Final = YEAR | DATE | COMPACT | YEAR_MONTH | EPOCH | WRITTEN | DATED
"""Values that are dates wherever they stand."""

CLASSES: Final = (
    "*",
    "year",
    "date",
    "digits",
    "uuid",
    "hex",
    "month",
    "slug-id",
    "slug",
    "word",
    "token",
    "day",
    "time",
    "slug-date",
    "digits",
)
"""Names of wildcards, by class. Numbers are months and days only by their place beside others. The
last class is that of two-digit numbers, which such a place may make years."""

ANY_CLASS: Final = 0
YEAR_CLASS: Final = 1
DATE_CLASS: Final = 2
DIGITS_CLASS: Final = 3
MONTH_CLASS: Final = 6
SLUG_ID_CLASS: Final = 7
SLUG_CLASS: Final = 8
WORD_CLASS: Final = 9
DAY_CLASS: Final = 11
SLUG_DATE_CLASS: Final = 13
TWO_DIGITS_CLASS: Final = 14
_UUID_CLASS: Final = 4
_HEX_CLASS: Final = 5
_TOKEN_CLASS: Final = 10
_TIME_CLASS: Final = 12

_CLASS_SHIFT: Final = 20
"""Position of the class in the code of a shape, above the bits."""

_HEX_LENGTH: Final = 8
"""Shorter words may consist of a to f by chance (`face`, `decade`)."""

_TOKEN_LENGTH: Final = 6

_DOT: Final = constant(46)

_ONE: Final = constant(49)

_LONGEST_DATE: Final = 17
"""`20-september-2025`."""
_MONTHLY_LENGTH: Final = 7
_TWO: Final = 2

_LONG: Final = 64
"""Length above which a value is no date, name of a month or UUID."""

EXPRESSIONS: Final = {
    UUID: "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    YEAR: date_shapes.YEAR_EXPRESSION,
    MONTHLY: date_shapes.MONTHLY_EXPRESSION,
    DATE: date_shapes.DATE_EXPRESSION,
    WRITTEN: date_shapes.WRITTEN_EXPRESSION,
    DASHED_DAY: date_shapes.DASHED_DAY_EXPRESSION,
    MONTH_NAME: date_shapes.NAME_EXPRESSION,
    MONTH: date_shapes.MONTH_EXPRESSION,
    DAY: date_shapes.DAY_EXPRESSION,
    SMALL: "[0-9]{1,2}",
    YEAR_MONTH: date_shapes.YEAR_MONTH_EXPRESSION,
    SIX: date_shapes.SIX_EXPRESSION,
    COMPACT: date_shapes.COMPACT_EXPRESSION,
    MONTH_DAY: date_shapes.MONTH_DAY_EXPRESSION,
    EPOCH: "1[0-9]{9}(?:[0-9]{3})?",
    DIGITS: "[0-9]+",
    HEX: "(?:"
    + "".join(f"[0-9]{{{n}}}[A-Fa-f][0-9A-Fa-f]{{{7 - n},}}|" for n in range(8))
    + "[0-9]{8,}[A-Fa-f][0-9A-Fa-f]*)",
}
"""Expressions that define each bit; the most specific first. Tests hold `shape_of` to them.

Any two of the shapes exclude each other or one contains the other, and all of them are non-empty
and without dots: so the intersection of several shapes is the most specific of them."""


def shapes(data: Bytes, starts: Int64s, stops: Int64s) -> Int32s:
    """Return the code of the shape of each value `data[starts[i]:stops[i]]`."""
    codes: Int32s = _shapes(data, readonly(starts), readonly(stops))
    return codes


def tightest(bits: int) -> int:
    """Return the most specific of some shape bits, which a wildcard then requires."""
    for bit in EXPRESSIONS:
        if bits & bit:
            return bit
    return bits & (NONEMPTY | DOTLESS)


@inlined
def bits_of(code: int) -> int:
    """Return the shape bits of a code."""
    return code & ALL_BITS


@inlined
def class_of(code: int) -> int:
    """Return the class of a code, as an index into CLASSES."""
    return code >> _CLASS_SHIFT


@loop
def _shapes(data: Bytes, starts: Int64s, stops: Int64s) -> Int32s:
    codes = np.empty(len(starts), np.int32)
    for i in range(len(starts)):
        codes[i] = shape_of(data, starts[i], stops[i])
        is_other = not codes[i] & (ALWAYS_DATES | DIGITS | UUID)
        if is_other and date_shapes.holds_date(data, starts[i], stops[i]):
            codes[i] = codes[i] & ALL_BITS | DATED | SLUG_DATE_CLASS << _CLASS_SHIFT
    return codes


@leaf
def shape_of(data: Bytes, start: int, stop: int) -> int:
    """Return the code (bits and class) of the shape of one value."""
    length = stop - start
    if length == 0:
        return DOTLESS
    digits, letters, hexadecimal, separators, dots = _census(data, start, stop)
    bits = NONEMPTY
    if dots == 0:
        bits |= DOTLESS
    if digits == length:
        bits |= _number_bits(data, start, stop)
    elif length >= _HEX_LENGTH and digits + hexadecimal == length:
        bits |= HEX
    if separators and digits and length <= _LONGEST_DATE:
        bits |= _dashed_bits(data, start, stop)
    elif letters and digits and digits + letters == length <= _LONGEST_DATE:
        bits |= WRITTEN if date_shapes.is_written(data, start, stop) else 0
    elif letters == length <= _LONGEST_DATE:
        bits |= MONTH_NAME if date_shapes.month_of(data, start, stop) else 0
    if length == 36 and separators == 4 and _is_uuid(data, start):
        bits |= UUID
    return bits | _class(bits, data, start, stop, digits, letters, separators) << _CLASS_SHIFT


@leaf
def value_bits(data: Bytes, start: int, stop: int) -> int:
    """Return the shape bits of a value, not its class: faster than `shape_of` for long values."""
    if stop - start <= _LONG:
        return bits_of(shape_of(data, start, stop))
    bits = NONEMPTY
    if find_byte(data, start, stop, _DOT) == stop:
        bits |= DOTLESS
    at = after_digits(data, start, stop)
    if at == stop:
        return bits | DIGITS
    return bits | HEX if after_hex(data, at, stop) == stop else bits


@inlined
def _census(data: Bytes, start: int, stop: int) -> tuple[int, int, int, int, int]:
    """Return the numbers of digits, letters, hexadecimal letters, word separators and dots."""
    digits = letters = hexadecimal = separators = dots = 0
    for i in range(start, stop):
        byte = data[i]
        lower = byte | 32
        if 48 <= byte <= 57:
            digits += 1
        elif 97 <= lower <= 122:
            letters += 1
            hexadecimal += lower <= 102
        elif byte == _DOT:
            dots += 1
        elif byte == 45 or byte == 95 or byte == 43 or byte == 126 or byte == 44 or byte == 37:
            separators += 1
    return digits, letters, hexadecimal, separators, dots


@inlined
def _number_bits(data: Bytes, start: int, stop: int) -> int:
    """Return what a value of digits may be: day, month, year, date, epoch."""
    length = stop - start
    if length <= 2:
        value = date_shapes.number(data, start, stop)
        if not 1 <= value <= 31:
            return DIGITS | SMALL
        return DIGITS | SMALL | DAY | (MONTH if value <= 12 else 0)
    if length == 4:
        if date_shapes.is_year(data, start):
            return DIGITS | YEAR
        return DIGITS | (MONTH_DAY if date_shapes.is_month_day(data, start) else 0)
    if length == 6 and date_shapes.is_six(data, start):
        return DIGITS | SIX | (YEAR_MONTH if date_shapes.is_year_month(data, start) else 0)
    if (length == 10 or length == 13) and data[start] == _ONE:
        return DIGITS | EPOCH
    return DIGITS | (COMPACT if date_shapes.is_compact(data, start, stop) else 0)


@inlined
def _dashed_bits(data: Bytes, start: int, stop: int) -> int:
    """Return the shape bits of a value with digits and separators."""
    if date_shapes.is_dashed(data, start, stop):
        return DATE | (MONTHLY if stop - start == _MONTHLY_LENGTH else 0)
    if date_shapes.is_dashed_day(data, start, stop):
        return DASHED_DAY
    return WRITTEN if date_shapes.is_written(data, start, stop) else 0


@inlined
def _class(
    bits: int, data: Bytes, start: int, stop: int, digits: int, letters: int, separators: int
) -> int:
    """Return the class of a value: the most specific one that its bits allow."""
    length = stop - start
    kind = ANY_CLASS
    if bits & UUID:
        kind = _UUID_CLASS
    elif bits & YEAR:
        kind = YEAR_CLASS
    elif bits & (DATE | WRITTEN | COMPACT | YEAR_MONTH):
        kind = DATE_CLASS
    elif bits & EPOCH:
        kind = _TIME_CLASS
    elif bits & DIGITS:
        kind = TWO_DIGITS_CLASS if length == _TWO else DIGITS_CLASS
    elif bits & MONTH_NAME:
        kind = MONTH_CLASS
    elif bits & HEX and digits:
        kind = _HEX_CLASS
    elif letters and separators:
        kind = SLUG_ID_CLASS if _ends_in_number(data, start, stop) else SLUG_CLASS
    elif letters == length:
        kind = WORD_CLASS
    elif letters and digits and letters + digits == length and length >= _TOKEN_LENGTH:
        kind = _TOKEN_CLASS
    return kind


@leaf
def _is_uuid(data: Bytes, start: int) -> bool:
    """Return True if 36 bytes are hexadecimal digits with dashes where a UUID has them."""
    for i in range(36):
        byte = data[start + i]
        if i == 8 or i == 13 or i == 18 or i == 23:
            if byte != 45:
                return False
        elif not (48 <= byte <= 57 or 97 <= (byte | 32) <= 102):
            return False
    return True


@inlined
def _ends_in_number(data: Bytes, start: int, stop: int) -> bool:
    """Return True if a value ends like an article id: `-97058163`, `-rcna5392`.

    That is a dash or an underscore, up to five letters, and at least four digits.
    """
    at = stop - 1
    while at >= start and 48 <= data[at] <= 57:
        at -= 1
    digits = stop - 1 - at
    letters = 0
    while at >= start and letters <= 5 and 97 <= (data[at] | 32) <= 122:
        at -= 1
        letters += 1
    return digits >= 4 and letters <= 5 and at > start and (data[at] == 45 or data[at] == 95)
