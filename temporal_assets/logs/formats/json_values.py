"""Compiled reading of a single JSON value without parts: a text, a number, true, false or null.

In: the bytes of a line and the position of a value. Out: its range, and a kind that says whether
the bytes are the value. What orjson would read differently is left to it. Not here: objects and
lists (`json_scan`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import inlined
from temporal_assets.core.text.texts import find_either
from temporal_assets.logs.read.byte_values import BACKSLASH, DOT, MINUS, NINE, QUOTE, ZERO
from temporal_assets.logs.read.records import Bytes

Kinds = NDArray[np.uint8]
"""Kinds of values, as the constants that follow."""

ABSENT: Final = 0
"""Kind of a key that a line does not have, and of what is left to orjson."""
NULL: Final = 1
PLAIN: Final = 2
"""Kind of a value that equals its bytes (between quotes, for a text)."""
ESCAPED: Final = 3
"""Kind of a text with escapes."""
NUMBER: Final = 4
"""Kind of a number that Python may write differently."""
NO_TEXT: Final = 5
"""Kind of true, false and objects: values that are no field."""
_MOST_DIGITS: Final = 30
"""Before or behind the point: beyond, a number may be too large for orjson."""
_EXACT_DIGITS: Final = 15
"""A decimal of so many digits is the shortest that means its double (DBL_DIG)."""
_ESCAPE_BYTES: Final = 6
"""Bytes of `\\u002d`, which is how a text could hide that it is a `-`."""

_NULL_WORD: Final = np.frombuffer(b"null", np.uint8)
_TRUE_WORD: Final = np.frombuffer(b"true", np.uint8)
_FALSE_WORD: Final = np.frombuffer(b"false", np.uint8)
_E: Final = np.int64(ord("e"))
_U: Final = np.int64(ord("u"))
_D: Final = 13

_AFTER_BACKSLASH: Final = np.zeros(256, np.bool_)
"""Flags of the bytes that may follow a backslash in JSON, apart from `u`."""
_AFTER_BACKSLASH[np.frombuffer(b'"\\/bfnrt', np.uint8)] = True


@inlined
def read_scalar(data: Bytes, at: int, stop: int) -> tuple[int, int, int, int]:
    """Return begin, end, continuation (or -1) and kind of a value without parts."""
    if data[at] == QUOTE:
        end, kind = _text_end(data, at + 1, stop)
        return at + 1, end, (end + 1 if end >= 0 else -1), kind
    if data[at] == MINUS or ZERO <= data[at] <= NINE:
        end, after, kind = _number(data, at, stop)
        return at, end, after, kind
    for word, kind in ((_NULL_WORD, NULL), (_TRUE_WORD, NO_TEXT), (_FALSE_WORD, NO_TEXT)):
        same = at + word.size <= stop
        for i in range(word.size):
            same = same and data[at + i] == word[i]
        if same:
            return -1, -1, at + word.size, kind
    return -1, -1, -1, ABSENT


@inlined
def _text_end(data: Bytes, at: int, stop: int) -> tuple[int, int]:
    """Return the position of a text's closing quote (-1: left to orjson), and its kind."""
    begin = at
    kind = PLAIN
    while True:
        at = find_either(data, at, stop, QUOTE, BACKSLASH)
        if at >= stop:
            return -1, kind
        if data[at] == QUOTE:
            break
        kind = ESCAPED
        if at + 1 < stop and _AFTER_BACKSLASH[data[at + 1]]:
            at += 2
        elif at + _ESCAPE_BYTES <= stop and data[at + 1] == _U and _is_character(data, at + 2):
            at += _ESCAPE_BYTES
        else:
            return -1, kind
    if kind == ESCAPED and at - begin == _ESCAPE_BYTES:
        return -1, kind
    return at, kind


@inlined
def _is_character(data: Bytes, at: int) -> bool:
    """Return whether four hexadecimal digits name a character, and no half of a surrogate pair."""
    digits = 0
    for i in range(at, at + 4):
        digits += _hex(data[i]) >= 0
    return digits == 4 and not (_hex(data[at]) == _D and _hex(data[at + 1]) >= 8)


@inlined
def _hex(byte: int) -> int:
    if ZERO <= byte <= NINE:
        return int(byte) - ZERO
    lower = int(byte) | 32
    return lower - 87 if 97 <= lower <= 102 else -1


@inlined
def _number(data: Bytes, at: int, stop: int) -> tuple[int, int, int]:
    """Return end, continuation (or -1) and kind of a number.

    Python writes no zeros at the end of a fraction, so they are excluded.
    """
    is_negative = data[at] == MINUS
    whole = at + is_negative
    at = _digits_end(data, whole, stop)
    digits = at - whole
    if digits == 0 or digits > _MOST_DIGITS or (digits > 1 and data[whole] == ZERO):
        return -1, -1, ABSENT
    end = at
    has_point = at < stop and data[at] == DOT
    if has_point:
        first = at + 1
        at = end = _digits_end(data, first, stop)
        if at == first or at - first > _MOST_DIGITS:
            return -1, -1, ABSENT
        while end > first + 1 and data[end - 1] == ZERO:
            end -= 1
        digits += end - first
    if at < stop and (data[at] | 32) == _E:
        return -1, -1, ABSENT
    # A leading zero may become an exponent, and loses its sign.
    is_plain = data[whole] != ZERO or not (has_point or is_negative)
    return end, at, (PLAIN if is_plain and digits <= _EXACT_DIGITS else NUMBER)


@inlined
def _digits_end(data: Bytes, at: int, stop: int) -> int:
    while at < stop and ZERO <= data[at] <= NINE:
        at += 1
    return at
