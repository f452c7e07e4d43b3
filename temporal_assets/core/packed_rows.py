"""Rows of three numbers as integers of 64 bits, which are sorted and told apart at once.

Not here: whose numbers these are (`daily_tables.transits`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from temporal_assets.core.compiled import leaf, readonly
from temporal_assets.core.texts import Int32s, Int64s


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
    keys.sort()
    found = Rows(*(np.empty(len(some), np.int32) for _ in Rows._fields))
    count = _unpack(keys, least, *bits, *found)
    return Rows(*(column[:count] for column in found))


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
