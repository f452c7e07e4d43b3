"""Where pairs of strings stand among others, both in ascending order: one walk, and no table.

Here: the walk, over as many blocks of them as there are. Not here: where blocks come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from temporal_assets.core.compiled import kernel
from temporal_assets.core.texts import Bytes, Int64s, Texts, equal_bytes

_WORD: Final = 8


@dataclass(frozen=True, slots=True)
class Keys:
    """Pairs of strings, ascending by the first and then by the second; no pair twice."""

    first: Texts
    second: Texts

    def __len__(self) -> int:
        return len(self.first)


def merged(one: Keys, other: Keys) -> tuple[Int64s, Int64s]:
    """For each pair that either has, in order, its place in one and in the other; -1 where none."""
    size = len(one) + len(other)
    places, others = np.empty(size, np.int64), np.empty(size, np.int64)
    count = _merge(*_arrays(one), *_arrays(other), places, others)
    return places[:count], others[:count]


def count_up_to(keys: Keys, start: int, last: Keys) -> int:
    """How many pairs are not beyond the one of `last`, of which the first `start` are not."""
    return int(_count(*_arrays(keys), start, *_arrays(last)))


def _arrays(keys: Keys) -> tuple[Bytes, Int64s, Bytes, Int64s]:
    return keys.first.data, keys.first.offsets, keys.second.data, keys.second.offsets


class Seeker:
    """Ascending, distinct pairs in blocks, each looked for among others that are shown to it."""

    def __init__(self, blocks: Iterable[Keys], count: int) -> None:
        """`count` is the number of all pairs of the blocks together."""
        self.places: Int64s = np.full(count, -1, np.int64)
        """For each pair, its place among those shown; -1 where it is none of them."""
        self._blocks: Iterator[Keys] = iter(blocks)
        self._block: Keys | None = next(self._blocks, None)
        self._at = 0
        self._before = 0

    def look(self, shown: Keys, first: int) -> None:
        """Look among the next pairs, of which the first has the place `first`."""
        place = 0
        while self._block is not None:
            found = self.places[self._before : self._before + len(self._block)]
            place, self._at = _walk(
                *_arrays(shown), place, first, *_arrays(self._block), self._at, found
            )
            if self._at < len(self._block):
                return
            self._before += len(self._block)
            self._block, self._at = next(self._blocks, None), 0


def turned(places: Int64s, count: int) -> Int64s:
    """For each of `count` places, which of those whose `places` are given stands there, or -1."""
    standing = np.full(count, -1, np.int64)
    _stand(places, standing)
    return standing


@kernel
def _stand(places: Int64s, standing: Int64s) -> None:
    for i in range(len(places)):
        if places[i] >= 0:
            standing[places[i]] = i


@kernel
def _walk(
    a: Bytes,
    a_at: Int64s,
    b: Bytes,
    b_at: Int64s,
    place: int,
    first: int,
    c: Bytes,
    c_at: Int64s,
    d: Bytes,
    d_at: Int64s,
    at: int,
    found: Int64s,
) -> tuple[int, int]:
    """Go on in both until one has ended; how far each was gone."""
    while place < len(a_at) - 1 and at < len(c_at) - 1:
        order = _compare(a, a_at[place], a_at[place + 1], c, c_at[at], c_at[at + 1])
        if order == 0:
            order = _compare(b, b_at[place], b_at[place + 1], d, d_at[at], d_at[at + 1])
        if order == 0:
            found[at] = first + place
        if order <= 0:
            place += 1
        if order >= 0:
            at += 1
    return place, at


@kernel
def _merge(
    a: Bytes,
    a_at: Int64s,
    b: Bytes,
    b_at: Int64s,
    c: Bytes,
    c_at: Int64s,
    d: Bytes,
    d_at: Int64s,
    places: Int64s,
    others: Int64s,
) -> int:
    """Pairs of `a` and `b` with those of `c` and `d`; how many there are of both together."""
    i, j, count = 0, 0, 0
    while i < len(a_at) - 1 or j < len(c_at) - 1:
        if i == len(a_at) - 1:
            order = 1
        elif j == len(c_at) - 1:
            order = -1
        else:
            order = _compare(a, a_at[i], a_at[i + 1], c, c_at[j], c_at[j + 1])
            if order == 0:
                order = _compare(b, b_at[i], b_at[i + 1], d, d_at[j], d_at[j + 1])
        places[count] = i if order <= 0 else -1
        others[count] = j if order >= 0 else -1
        i += order <= 0
        j += order >= 0
        count += 1
    return count


@kernel
def _count(
    a: Bytes,
    a_at: Int64s,
    b: Bytes,
    b_at: Int64s,
    start: int,
    c: Bytes,
    c_at: Int64s,
    d: Bytes,
    d_at: Int64s,
) -> int:
    """Halving what is left between those that are not beyond and those that are."""
    low, high = start, len(a_at) - 1
    while low < high:
        middle = (low + high) // 2
        order = _compare(a, a_at[middle], a_at[middle + 1], c, c_at[0], c_at[1])
        if order == 0:
            order = _compare(b, b_at[middle], b_at[middle + 1], d, d_at[0], d_at[1])
        if order <= 0:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _compare(
    one: Bytes, one_start: int, one_stop: int, other: Bytes, other_start: int, other_stop: int
) -> int:
    """Negative, 0 or positive, as the first is less than, equal to or greater than the second."""
    length = min(one_stop - one_start, other_stop - other_start)
    i = 0
    # URLs of a site begin alike.
    while i + _WORD <= length and equal_bytes(one, one_start + i, other, other_start + i, _WORD):
        i += _WORD
    while i < length:
        difference = np.int64(one[one_start + i]) - np.int64(other[other_start + i])
        if difference != 0:
            return int(difference)
        i += 1
    return (one_stop - one_start) - (other_stop - other_start)
