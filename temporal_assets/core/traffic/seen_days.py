"""Rows of a page in the tables of single days, found by the days on which the page was seen.

The pages of a window and the pages of each of its days are in the same order. The row of a page in
a day is therefore the number of pages before it that were seen on that day as well: a rank query on
a bit vector, which compares no URL. Here: counting these bits. Not here: the source of pages and
days.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.numerics.compiled import leaf, readonly

_AT_ONCE: Final = 4
"""Days whose pages are listed in one walk: as many lists as a processor can write to
efficiently."""

_NEVER: Final = 63
"""Bit that stands for no day: the sign bit."""


def places_by_day(seen: Int64s, bits: Int64s, wanted: Flags) -> tuple[Int64s, Int64s]:
    """Return the row of each wanted page in each day's table, shape (pages, days); -1: not there.

    Args:
        seen: For each page, the days it was seen on, as bits.
        bits: The bit of each day.
        wanted: Flags of the pages that are asked for.

    The second result is the number of rows of each day.
    """
    places = np.empty((np.count_nonzero(wanted), len(bits)), np.int64)
    rows = np.zeros(len(bits), np.int64)
    _walk(readonly(seen), bits, wanted, places, rows)
    return places, rows


def pages_by_day(seen: Int64s, bits: Sequence[int]) -> list[Int32s]:
    """Return the pages of each day in order; a page is its index in `seen`."""
    given, pages = readonly(seen), []
    for at in range(0, len(bits), _AT_ONCE):
        some = bits[at : at + _AT_ONCE]
        days = (*some, *[_NEVER] * (_AT_ONCE - len(some)))
        counts = _count(given, days)
        # One more than there are: what is no page of the day is overwritten by the next.
        lists = tuple(np.empty(count + 1, np.int32) for count in counts)
        _list(given, days, lists)
        pages += [day_pages[:-1] for day_pages in lists[: len(some)]]
    return pages


def values_at(places: Int64s, values: Int64s, first: Int64s) -> Int32s:
    """Return the values at the rows `places`, shape (pages, days); 0 where there is no row.

    The values of all days lie in one array; `first` is where the values of each day begin.
    """
    at = np.maximum(places, 0) + first
    # Behind them all stands a 0: of the last day, nothing may be asked for.
    day_values = np.append(values, 0)[np.minimum(at, len(values))]
    return np.where(places < 0, 0, day_values).astype(np.int32)


@leaf
def _count(seen: Int64s, days: tuple[int, ...]) -> tuple[int, ...]:
    count_0, count_1, count_2, count_3 = 0, 0, 0, 0
    for page in range(len(seen)):
        count_0 += seen[page] >> days[0] & 1
        count_1 += seen[page] >> days[1] & 1
        count_2 += seen[page] >> days[2] & 1
        count_3 += seen[page] >> days[3] & 1
    return count_0, count_1, count_2, count_3


@leaf
def _list(seen: Int64s, days: tuple[int, ...], lists: tuple[Int32s, ...]) -> None:
    """Write each page to the list of each of its days, without branches in the loop."""
    first, second, third, fourth = lists
    count_0, count_1, count_2, count_3 = 0, 0, 0, 0
    for page in range(len(seen)):
        days_of_page = seen[page]
        first[count_0] = second[count_1] = third[count_2] = fourth[count_3] = page
        count_0 += days_of_page >> days[0] & 1
        count_1 += days_of_page >> days[1] & 1
        count_2 += days_of_page >> days[2] & 1
        count_3 += days_of_page >> days[3] & 1


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
