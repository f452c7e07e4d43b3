"""What a value looks like: a number, a date, a slug, a token.

Here: the shapes, how a value is recognised, how a wildcard of that shape is written in a template
and in a regular expression. Not here: which values become wildcards (`salience`).

A shape is a bit. The bits that all values of a wildcard share are what the wildcard requires; a
wildcard whose values share nothing takes anything. The class of most values only names the
wildcard for the reader.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from temporal_assets.core.compiled import constant, inlined, leaf
from temporal_assets.core.texts import Bytes, Int32s, Int64s, after_digits, after_hex, find_byte

NONEMPTY: Final = 1
DOTLESS: Final = 2
DIGITS: Final = 4
YEAR: Final = 8
DAY: Final = 16
MONTH_NAME: Final = 32
DATE: Final = 64
HEX: Final = 128
UUID: Final = 256

ALL_BITS: Final = 511

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
)
"""Names of wildcards. Numbers are months and days only by their position after a year."""

ANY_CLASS: Final = 0
DIGITS_CLASS: Final = 3
MONTH_CLASS: Final = 6
DAY_CLASS: Final = 11
_YEAR_CLASS: Final = 1
_DATE_CLASS: Final = 2
_UUID_CLASS: Final = 4
_HEX_CLASS: Final = 5
_SLUG_ID_CLASS: Final = 7
_SLUG_CLASS: Final = 8
_WORD_CLASS: Final = 9
_TOKEN_CLASS: Final = 10

_CLASS_SHIFT: Final = 16
"""A value's code of shape: its bits, and its class above them."""

_HEX_LENGTH: Final = 8
"""Shorter words may consist of a to f by chance (`face`, `decade`)."""

_TOKEN_LENGTH: Final = 6

_DOT: Final = constant(46)

_LONG: Final = 64
"""Longer values are no dates, names of months or UUIDs."""

EXPRESSIONS: Final = {
    UUID: "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    YEAR: "(?:19|20)[0-9]{2}",
    DATE: "(?:19|20)[0-9]{2}[-_](?:0[1-9]|1[0-2])(?:[-_](?:0[1-9]|[12][0-9]|3[01]))?",
    MONTH_NAME: "(?:[Jj]an(?:uary)?|[Ff]eb(?:ruary)?|[Mm]ar(?:ch)?|[Aa]pr(?:il)?|[Mm]ay|[Jj]une?"
    "|[Jj]uly?|[Aa]ug(?:ust)?|[Ss]ep(?:tember)?|[Oo]ct(?:ober)?|[Nn]ov(?:ember)?"
    "|[Dd]ec(?:ember)?)",
    DAY: "(?:0?[1-9]|[12][0-9]|3[01])",
    DIGITS: "[0-9]+",
    HEX: "(?=[0-9]*[A-Fa-f])[0-9A-Fa-f]{8,}",
}
"""The exact meaning of each bit; the most specific first. Tests hold `shape_of` to them.

Any two of the shapes exclude each other or one contains the other, and all of them are non-empty
and without dots: so what several requirements have in common is the most specific of them."""

_MONTHS: Final = np.frombuffer(
    b"january  february march    april    may      june     july     august   "
    b"september october  november december ".ljust(120),
    np.uint8,
)
_MONTH_STARTS: Final = np.array([0, 9, 18, 27, 36, 45, 54, 63, 72, 82, 91, 100], np.int64)
_MONTH_LENGTHS: Final = np.array([7, 8, 5, 5, 3, 4, 4, 6, 9, 7, 8, 8], np.int64)


def shapes(data: Bytes, starts: Int64s, stops: Int64s) -> Int32s:
    """Code of shape of each value `data[starts[i]:stops[i]]`; see `bits_of` and `class_of`."""
    codes: Int32s = _shapes(data, starts, stops)
    return codes


def tightest(bits: int) -> int:
    """The bits of the most specific shape among `bits`: what a wildcard then requires."""
    for bit in EXPRESSIONS:
        if bits & bit:
            return bit
    return bits & (NONEMPTY | DOTLESS)


def required_expression(required: int, excluded: str) -> str:
    """Regular expression of the values that have all bits of `required`.

    `excluded` are the characters no value can hold, as in a character class (`/?`).
    """
    shape = tightest(required)
    if shape in EXPRESSIONS:
        return EXPRESSIONS[shape]
    dot = "." if shape & DOTLESS and "." not in excluded else ""
    return f"[^{excluded}{dot}]{'+' if shape & NONEMPTY else '*'}"


@inlined
def bits_of(code: int) -> int:
    """The shape bits of a code."""
    return code & ALL_BITS


@inlined
def class_of(code: int) -> int:
    """The class of a code, an index into CLASSES."""
    return code >> _CLASS_SHIFT


@njit(nogil=True, cache=True)
def _shapes(data: Bytes, starts: Int64s, stops: Int64s) -> Int32s:
    codes = np.empty(len(starts), np.int32)
    for i in range(len(starts)):
        codes[i] = shape_of(data, starts[i], stops[i])
    return codes


@leaf
def shape_of(data: Bytes, start: int, stop: int) -> int:
    """Bits and class of one value."""
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
    if digits >= 6 and digits + separators == length and _is_date(data, start, stop):
        bits |= DATE
    if letters == length and _is_month(data, start, stop):
        bits |= MONTH_NAME
    if length == 36 and separators == 4 and _is_uuid(data, start):
        bits |= UUID
    return bits | _class(bits, data, start, stop, digits, letters, separators) << _CLASS_SHIFT


@leaf
def value_bits(data: Bytes, start: int, stop: int) -> int:
    """The bits of one value, whose class nobody asks for: a long one is not counted through."""
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
    """Digits, letters, letters that are hexadecimal digits, separators of words, dots."""
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
    if stop - start == 4 and _is_year(data, start):
        return DIGITS | YEAR
    if stop - start <= 2 and 1 <= _number(data, start, stop) <= 31:
        return DIGITS | DAY
    return DIGITS


@inlined
def _class(
    bits: int, data: Bytes, start: int, stop: int, digits: int, letters: int, separators: int
) -> int:
    length = stop - start
    kind = ANY_CLASS
    if bits & UUID:
        kind = _UUID_CLASS
    elif bits & YEAR:
        kind = _YEAR_CLASS
    elif bits & DATE:
        kind = _DATE_CLASS
    elif bits & DIGITS:
        kind = _DATE_CLASS if _is_compact_date(data, start, stop) else DIGITS_CLASS
    elif bits & MONTH_NAME:
        kind = MONTH_CLASS
    elif bits & HEX and digits:
        kind = _HEX_CLASS
    elif letters and separators:
        kind = _SLUG_ID_CLASS if _ends_in_number(data, start, stop) else _SLUG_CLASS
    elif letters == length:
        kind = _WORD_CLASS
    elif letters and digits and letters + digits == length and length >= _TOKEN_LENGTH:
        kind = _TOKEN_CLASS
    return kind


@inlined
def _number(data: Bytes, start: int, stop: int) -> int:
    """Value of a few digits, -1 if there are others between them."""
    number = 0
    for i in range(start, stop):
        if not 48 <= data[i] <= 57:
            return -1
        number = number * 10 + (data[i] - 48)
    return number


@inlined
def _is_year(data: Bytes, start: int) -> bool:
    return 1900 <= _number(data, start, start + 4) <= 2099


@inlined
def _is_date(data: Bytes, start: int, stop: int) -> bool:
    """`2024-01` or `2024-01-31`, with `-` or `_`."""
    length = stop - start
    if (length != 7 and length != 10) or not _is_year(data, start):
        return False
    if not _is_dash(data[start + 4]) or not 1 <= _number(data, start + 5, start + 7) <= 12:
        return False
    if length == 7:
        return True
    return _is_dash(data[start + 7]) and 1 <= _number(data, start + 8, stop) <= 31


@inlined
def _is_compact_date(data: Bytes, start: int, stop: int) -> bool:
    """`20240131`. Only a name: a number may look like it by chance."""
    return (
        stop - start == 8
        and _is_year(data, start)
        and 1 <= _number(data, start + 4, start + 6) <= 12
        and 1 <= _number(data, start + 6, stop) <= 31
    )


@inlined
def _is_dash(byte: int) -> bool:
    return byte == 45 or byte == 95


@leaf
def _is_month(data: Bytes, start: int, stop: int) -> bool:
    """The English name or its first three letters; only the first may be a capital."""
    length = stop - start
    for month in range(12):
        if length != 3 and length != _MONTH_LENGTHS[month]:
            continue
        at = _MONTH_STARTS[month]
        same = data[start] | 32 == _MONTHS[at]
        for i in range(1, length):
            same = same and data[start + i] == _MONTHS[at + i]
        if same:
            return True
    return False


@leaf
def _is_uuid(data: Bytes, start: int) -> bool:
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
    """Ends in a dash, up to five letters and at least four digits: `-97058163`, `-rcna5392`."""
    at = stop - 1
    while at >= start and 48 <= data[at] <= 57:
        at -= 1
    digits = stop - 1 - at
    letters = 0
    while at >= start and letters <= 5 and 97 <= (data[at] | 32) <= 122:
        at -= 1
        letters += 1
    return digits >= 4 and letters <= 5 and at > start and (data[at] == 45 or data[at] == 95)
