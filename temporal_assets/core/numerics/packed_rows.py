"""Rows of three numbers as integers of 64 bits, which are sorted and told apart at once.

Not here: whose numbers these are (`days.transits`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from temporal_assets.core.numerics.arrays import Int32s, Int64s
from temporal_assets.core.numerics.compiled import leaf, readonly

_DIGIT: Final = 11
"""Bits that are sorted at once: the places of as many values stay in the nearest cache."""


class Rows(NamedTuple):
    """Rows in the order of these columns."""

    target: Int32s
    referrer: Int32s
    """-1, which is before all others, is nowhere."""
    client: Int32s


class Bits(NamedTuple):
    """What numbers take of an integer; the rest is for those of targets, from the least on."""

    referrer: int
    """Of the greatest and 1 more, for nowhere is 0."""
    client: int


def distinct(rows: Rows, some: Int64s, bits: Bits) -> Rows:
    """Those that differ among `some` of the rows, in order."""
    given = Rows(*map(readonly, rows))
    keys = np.empty(len(some), np.int64)
    least = _pack(*given, readonly(some), *bits, keys)
    keys = _sorted(keys)
    found = Rows(*(np.empty(len(some), np.int32) for _ in Rows._fields))
    count = _unpack(keys, least, *bits, *found)
    return Rows(*(column[:count] for column in found))


def _sorted(keys: Int64s) -> Int64s:
    """Ascending, by one digit after the other from the last on; what was given is overwritten."""
    spare, places = np.empty_like(keys), np.empty(1 << _DIGIT, np.int64)
    for shift in range(0, int(keys.max()).bit_length(), _DIGIT):
        _sort_by_digit(keys, shift, places, spare)
        keys, spare = spare, keys
    return keys


@leaf
def _sort_by_digit(keys: Int64s, shift: int, places: Int64s, to: Int64s) -> None:
    places[:] = 0
    last = len(places) - 1
    for key in keys:
        places[key >> shift & last] += 1
    before = 0
    for digit in range(len(places)):
        count = places[digit]
        places[digit] = before
        before += count
    for key in keys:
        digit = key >> shift & last
        to[places[digit]] = key
        places[digit] += 1


@leaf
def _pack(
    target: Int32s,
    referrer: Int32s,
    client: Int32s,
    some: Int64s,
    referrer_bits: int,
    client_bits: int,
    keys: Int64s,
) -> int:
    """Also the least target."""
    least = target[some[0]]
    for row in some:
        least = min(least, target[row])
    for i in range(len(some)):
        row = some[i]
        pair = (target[row] - least) << referrer_bits | (referrer[row] + 1)
        keys[i] = pair << client_bits | client[row]
    return int(least)


@leaf
def _unpack(
    keys: Int64s,
    least: int,
    referrer_bits: int,
    client_bits: int,
    target: Int32s,
    referrer: Int32s,
    client: Int32s,
) -> int:
    """How many keys differ."""
    count = 0
    for i in range(len(keys)):
        if i > 0 and keys[i] == keys[i - 1]:
            continue
        pair = keys[i] >> client_bits
        target[count] = (pair >> referrer_bits) + least
        referrer[count] = (pair & ((1 << referrer_bits) - 1)) - 1
        client[count] = keys[i] & ((1 << client_bits) - 1)
        count += 1
    return count
