"""Incremental update of lists of links between two windows with different pages.

Here: lists of (page, transits), with pages as integers. Not here: the meaning of these integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.arrays import Int32s, Int64s
from temporal_assets.core.numerics.compiled import kernel, readonly

_NONE: Final = 2**62
"""No page has this number."""


@dataclass(frozen=True, slots=True)
class LinkLists:
    """Lists of links: row i has the links from `bounds[i]` to `bounds[i + 1]`, sorted by page."""

    bounds: Int64s
    page: NDArray[np.integer[Any]]
    transits: Int64s


def moved_links(
    before: LinkLists,
    row: Int64s,
    origin: Int64s,
    renumbered: Int64s,
    change: LinkLists,
    first: Int64s,
) -> LinkLists:
    """Return the links of each row: those of row `row[i]` of `before`, with the changes applied.

    No earlier row is used twice; -1 stands for none. Page p of its links has the new number
    `renumbered[origin[i] + p]`, or -1 if it was removed; new numbers ascend as the old ones did.
    Changes refer to pages by number, the result by their distance from `first[i]`. Links without
    transits are left out.
    """
    most = len(before.page) + len(change.page)
    page, transits = np.empty(most, np.int32), np.empty(most, np.int64)
    bounds = np.zeros(len(row) + 1, np.int64)
    _merge(
        *_columns(before),
        _same(row),
        _same(origin),
        _same(renumbered),
        *_columns(change),
        _same(first),
        bounds,
        page,
        transits,
    )
    return LinkLists(bounds, page[: bounds[-1]], transits[: bounds[-1]])


def _columns(links: LinkLists) -> tuple[Int64s, Int64s, Int64s]:
    return _same(links.bounds), _same(links.page), _same(links.transits)


def _same(numbers: NDArray[np.integer[Any]]) -> Int64s:
    """Return the array with the type for which the loop is compiled."""
    return readonly(np.asarray(numbers, np.int64))


@kernel
def _merge(
    old_bounds: Int64s,
    old_page: Int64s,
    old_transits: Int64s,
    row: Int64s,
    origin: Int64s,
    renumbered: Int64s,
    change_bounds: Int64s,
    change_page: Int64s,
    change_transits: Int64s,
    first: Int64s,
    bounds: Int64s,
    page: Int32s,
    transits: Int64s,
) -> None:
    """Merge two ascending lists into one, row by row."""
    written = 0
    for i in range(len(row)):
        old = old_bounds[row[i]] if row[i] >= 0 else 0
        old_stop = old_bounds[row[i] + 1] if row[i] >= 0 else 0
        change, change_stop = change_bounds[i], change_bounds[i + 1]
        while True:
            while old < old_stop and renumbered[origin[i] + old_page[old]] < 0:
                old += 1
            of_old = renumbered[origin[i] + old_page[old]] if old < old_stop else _NONE
            of_change = change_page[change] if change < change_stop else _NONE
            number = min(of_old, of_change)
            if number == _NONE:
                break
            count = 0
            if of_old == number:
                count += old_transits[old]
                old += 1
            if of_change == number:
                count += change_transits[change]
                change += 1
            if count != 0:
                page[written], transits[written] = number - first[i], count
                written += 1
        bounds[i + 1] = written
