"""Merge join of two ascending lists of string pairs, in one pass and without a hash table.

Here: the pass, over lists in any number of blocks. Not here: the source of the blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Bytes, Flags, Int32s, Int64s
from temporal_assets.core.numerics.compiled import inlined, kernel, readonly
from temporal_assets.core.text.texts import Texts, equal_bytes

_WORD: Final = 8

Pairs = tuple[Bytes, Int64s, Int32s, Bytes, Int64s]
"""Pairs of strings as arrays: bytes and offsets of the distinct first strings, the index of each
pair's first string, and bytes and offsets of the second strings."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Distinct pairs of strings, ascending by the first and then by the second."""

    firsts: Texts
    """Distinct first strings in any order: many pairs share one."""
    first: Int32s
    """Index of the first string of each pair."""
    second: Texts

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", readonly(self.first))

    def __len__(self) -> int:
        return len(self.second)


def merged(first: Keys, other: Keys) -> tuple[Int64s, Int64s]:
    """Return the positions of each distinct pair in both lists, in order; -1 where it is absent."""
    size = len(first) + len(other)
    places, others = np.empty(size, np.int64), np.empty(size, np.int64)
    count = _merge(_arrays(first), _arrays(other), places, others)
    return places[:count], others[:count]


def count_up_to(keys: Keys, start: int, last: Keys) -> int:
    """Return how many pairs are not above the pair `last`; of the first `start` that is known."""
    return int(_count(_arrays(keys), start, _arrays(last)))


def _arrays(keys: Keys) -> Pairs:
    firsts, second = keys.firsts, keys.second
    return firsts.data, firsts.offsets, keys.first, second.data, second.offsets


class Seeker:
    """Lookup of sorted pairs, given in blocks, among pairs that are shown to it in order."""

    def __init__(self, blocks: Iterable[Keys], count: int) -> None:
        """Prepare the lookup of `count` pairs, the total of all blocks."""
        self.places: Int64s = np.full(count, -1, np.int64)
        """Position of each pair among the pairs shown; -1 while it was not found."""
        self._blocks: Iterator[Keys] = iter(blocks)
        self._block: Keys | None = next(self._blocks, None)
        self._at = 0
        self._before = 0

    def look(self, shown: Keys, first: int) -> None:
        """Look up the next pairs shown; the first of them has the position `first`."""
        place = 0
        while self._block is not None:
            block_places = self.places[self._before : self._before + len(self._block)]
            place, self._at = _walk(
                _arrays(shown), place, first, _arrays(self._block), self._at, block_places
            )
            if self._at < len(self._block):
                return
            self._before += len(self._block)
            self._block, self._at = next(self._blocks, None), 0


def in_step(kept: Flags, stays: Flags) -> tuple[Int64s, Int64s] | None:
    """Return the positions of marked rows in each other's table; marked rows are equal, in order.

    For each row of the first table its position in the second, and vice versa; -1 for rows that are
    not marked. Returns None where the tables have different numbers of marked rows.
    """
    if np.count_nonzero(kept) != np.count_nonzero(stays):
        return None
    places, standing = np.full(len(kept), -1, np.int64), np.full(len(stays), -1, np.int64)
    first, second = np.flatnonzero(kept), np.flatnonzero(stays)
    places[first], standing[second] = second, first
    return places, standing


@kernel
def _walk(
    shown: Pairs, place: int, first: int, wanted: Pairs, at: int, places: Int64s
) -> tuple[int, int]:
    """Advance in both lists until one ends; return how far each was read."""
    count = len(shown[2])
    # Many pairs have the same first string: two of them are compared once.
    k, m, firsts = -1, -1, 0
    while place < count and at < len(wanted[2]):
        if shown[2][place] != k or wanted[2][at] != m:
            k, m = shown[2][place], wanted[2][at]
            firsts = _order_of_firsts(shown, k, wanted, m)
        order = firsts if firsts != 0 else _order_of_seconds(shown, place, wanted, at)
        if order < 0:
            place += 1
            continue
        if order == 0:
            places[at] = first + place
            place += 1
        at += 1
    return place, at


@kernel
def _merge(first: Pairs, other: Pairs, places: Int64s, others: Int64s) -> int:
    """Merge the pairs of both lists into one order; return how many there are."""
    i, j, count = 0, 0, 0
    k, m, firsts = -1, -1, 0
    while i < len(first[2]) and j < len(other[2]):
        if first[2][i] != k or other[2][j] != m:
            k, m = first[2][i], other[2][j]
            firsts = _order_of_firsts(first, k, other, m)
        order = firsts if firsts != 0 else _order_of_seconds(first, i, other, j)
        places[count] = i if order <= 0 else -1
        others[count] = j if order >= 0 else -1
        i += order <= 0
        j += order >= 0
        count += 1
    while i < len(first[2]):
        places[count], others[count] = i, -1
        i += 1
        count += 1
    while j < len(other[2]):
        places[count], others[count] = -1, j
        j += 1
        count += 1
    return count


@kernel
def _count(pairs: Pairs, start: int, last: Pairs) -> int:
    """Return the number of pairs not above the only pair of `last`, by bisection."""
    low, high = start, len(pairs[2])
    while low < high:
        middle = (low + high) // 2
        order = _order_of_firsts(pairs, pairs[2][middle], last, last[2][0])
        if order < 0 or (order == 0 and _order_of_seconds(pairs, middle, last, 0) <= 0):
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _order_of_firsts(first: Pairs, k: int, other: Pairs, m: int) -> int:
    a, a_at, _, _, _ = first
    b, b_at, _, _, _ = other
    return _compare(a, a_at[k], a_at[k + 1], b, b_at[m], b_at[m + 1])


@inlined
def _order_of_seconds(second_of_one: Pairs, i: int, other: Pairs, j: int) -> int:
    _, _, _, a, a_at = second_of_one
    _, _, _, b, b_at = other
    return _compare(a, a_at[i], a_at[i + 1], b, b_at[j], b_at[j + 1])


@kernel
def _compare(
    left_text: Bytes,
    left_start: int,
    left_stop: int,
    right_text: Bytes,
    right_start: int,
    right_stop: int,
) -> int:
    """Return a negative number, 0 or a positive one as the left text is less, equal or greater."""
    length = min(left_stop - left_start, right_stop - right_start)
    i = 0
    # URLs of a site begin alike.
    while i + _WORD <= length and equal_bytes(
        left_text, left_start + i, right_text, right_start + i, _WORD
    ):
        i += _WORD
    while i < length:
        difference = np.int64(left_text[left_start + i]) - np.int64(right_text[right_start + i])
        if difference != 0:
            return int(difference)
        i += 1
    return (left_stop - left_start) - (right_stop - right_start)
