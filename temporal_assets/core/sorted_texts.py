"""Where strings stand among others, both in ascending order: one walk, and no table of either.

Here: the walk, over as many blocks of strings as there are. Not here: where blocks come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from temporal_assets.core.compiled import kernel
from temporal_assets.core.texts import Bytes, Int64s, Texts, equal_bytes

_WORD: Final = 8


class Seeker:
    """Ascending, distinct strings in blocks, each looked for among others that are shown to it."""

    def __init__(self, blocks: Iterable[Texts], count: int) -> None:
        """`count` is the number of all strings of the blocks together."""
        self.places: Int64s = np.full(count, -1, np.int64)
        """For each string, its place among those shown; -1 where it is none of them."""
        self._blocks: Iterator[Texts] = iter(blocks)
        self._block: Texts | None = next(self._blocks, None)
        self._at = 0
        self._before = 0

    def look(self, shown: Texts, first: int) -> None:
        """Look among the next strings, of which the first has the place `first`."""
        place = 0
        while self._block is not None:
            found = self.places[self._before : self._before + len(self._block)]
            place, self._at = _walk(
                shown.data,
                shown.offsets,
                place,
                first,
                self._block.data,
                self._block.offsets,
                self._at,
                found,
            )
            if self._at < len(self._block):
                return
            self._before += len(self._block)
            self._block, self._at = next(self._blocks, None), 0


@kernel
def _walk(
    shown: Bytes,
    shown_offsets: Int64s,
    place: int,
    first: int,
    wanted: Bytes,
    wanted_offsets: Int64s,
    at: int,
    found: Int64s,
) -> tuple[int, int]:
    """Go on in both until one has ended; how far each was gone."""
    while place < len(shown_offsets) - 1 and at < len(wanted_offsets) - 1:
        order = _compare(
            shown,
            shown_offsets[place],
            shown_offsets[place + 1],
            wanted,
            wanted_offsets[at],
            wanted_offsets[at + 1],
        )
        if order == 0:
            found[at] = first + place
        if order <= 0:
            place += 1
        if order >= 0:
            at += 1
    return place, at


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
