"""Where the row of a page is among the rows of single days, told by the days it was seen on.

Here: counting bits, and looking where they say. Pages of a window and those of each of its days lie
in one order, so that the row of a page in a day is the number of pages before it that were seen on
that day as well. No name is looked at. Not here: where pages and days come from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from temporal_assets.core.compiled import leaf, low_zeros, readonly
from temporal_assets.core.texts import Flags, Int32s, Int64s

_BITS = 64


def places_by_day(seen: Int64s, bits: Int64s, wanted: Flags) -> tuple[Int64s, Int64s]:
    """Wanted pages x days: the row of the page among those of the day, -1 where it has none.

    Args:
        seen: For each page, the days it was seen on, as bits.
        bits: The bit of each day.
        wanted: Which pages are asked for.

    Also returns how many rows each day has of all the pages.
    """
    places = np.empty((np.count_nonzero(wanted), len(bits)), np.int64)
    rows = np.zeros(len(bits), np.int64)
    _walk(readonly(seen), bits, wanted, places, rows)
    return places, rows


def pages_by_day(seen: Int64s, bits: Sequence[int]) -> list[Int32s]:
    """The pages of each day, in order; a page is its place in `seen`."""
    mask = sum(1 << bit for bit in bits)
    ends = np.zeros(_BITS, np.int64)
    given = readonly(seen)
    _count(given, mask, ends)
    bounds = [0, *np.cumsum(ends[list(bits)]).tolist()]
    pages = np.empty(bounds[-1], np.int32)
    ends[list(bits)] = bounds[:-1]
    _list(given, mask, ends, pages)
    return [pages[bounds[at] : bounds[at + 1]] for at in range(len(bits))]


def values_at(places: Int64s, values: Int64s, first: Int64s) -> Int32s:
    """Wanted pages x days: the value at the place of the page, 0 where it has none.

    Values of the days are one behind the other; `first` is where those of each day begin.
    """
    found = np.empty(places.shape, np.int32)
    _look(places, values, first, found)
    return found


@leaf
def _count(seen: Int64s, mask: int, counts: Int64s) -> None:
    for page in range(len(seen)):
        days = np.uint64(seen[page] & mask)
        while days:
            counts[low_zeros(days)] += 1
            days &= days - np.uint64(1)


@leaf
def _list(seen: Int64s, mask: int, ends: Int64s, pages: Int32s) -> None:
    """Write each page at the end of the list of each of its days."""
    for page in range(len(seen)):
        days = np.uint64(seen[page] & mask)
        while days:
            bit = low_zeros(days)
            pages[ends[bit]] = page
            ends[bit] += 1
            days &= days - np.uint64(1)


@leaf
def _look(places: Int64s, values: Int64s, first: Int64s, found: Int32s) -> None:
    for page in range(places.shape[0]):
        for day in range(places.shape[1]):
            place = places[page, day]
            found[page, day] = values[first[day] + place] if place >= 0 else 0


@leaf
def _walk(seen: Int64s, bits: Int64s, wanted: Flags, places: Int64s, rows: Int64s) -> None:
    at = 0
    for page in range(len(seen)):
        days = seen[page]
        if wanted[page]:
            for day in range(len(bits)):
                places[at, day] = rows[day] if days >> bits[day] & 1 else -1
            at += 1
        for day in range(len(bits)):
            rows[day] += days >> bits[day] & 1
