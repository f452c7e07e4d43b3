"""Values that pass with time: numbers that grow, and names of things that are over.

Here: whether the values of a key last, by the days on which their pages were born, and by the
numbers themselves where no days are known; and page numbers of lists. Not here: dates, which are
recognised by their shape (`value_shapes`).

An article number may have as many pages as a section, with its comments and pictures, but it is of
no use in a pattern: tomorrow's articles have other numbers. Sections are recognised by new pages:
pages that are born late in the window belong to values that were there before. Where most of them
belong to values that are new themselves, none of these values is named.

Issues and volumes (`issue-108`, `vol41`) come too seldom for that. They follow one another: pages
of the next one are born when those of the last one have been.

The fourth page of a list is a page like the third, and the list grows: page numbers never divide.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Int8s, Int32s, Int64s
from temporal_assets.core.numerics.compiled import leaf, loop
from temporal_assets.core.text.value_shapes import (
    DIGITS,
    MONTH_CLASS,
    SLUG_CLASS,
    WORD_CLASS,
    bits_of,
    class_of,
)

UNBORN: Final = -1
"""Day of a page whose birth is not known."""

NAMES: Final = 0
NUMBERS: Final = 1
CODES: Final = 2
"""Kinds of values that are judged apart: words (NAMES), numbers, and identifiers of letters and
digits (CODES)."""
_KINDS: Final = 3

_LEAST_SPAN: Final = 14
"""Days of births that are needed for a decision: two weeks see every weekday twice."""

_LATE: Final = 1 / 3
"""Fraction of these days, at the end, whose births are compared with those before."""

_NEW_VALUES: Final = (8, 2, 2)
"""Values of a kind that must be new in the late part: new sections are rare, new numbers are
not."""

_LAST: Final = 0.5
"""Share of late pages under older values from which on values last and may be named."""

_COUNTED_FROM: Final = 10_000
_SPREAD: Final = 0.2
_LEAST_NUMBERS: Final = 3
"""Without days: this many numbers with support, all at least ten thousand and within a fifth of the
largest, count something. The numbers of categories differ more, or are smaller."""

_IN_TURN: Final = 0.8
"""Share of the numbered values whose pages must be born after those of the value before."""
_LEAST_TURNS: Final = 2
"""Times that a value must follow another: of two sections one may happen to be read earlier."""
_NUMBERED: Final = re.compile(rb"(.*?)([0-9]{1,15})")
"""Expression for a value that ends with a number that fits into 64 bits."""

Family = list[int]
"""Indices of the values that differ only by the number at their end, in the order of the
numbers."""

_PAGE: Final = rb"(?:page|paged|pg|pag|pagina|seite|strona|sida)"
_PAGE_KEY: Final = re.compile(
    _PAGE + rb"(?:_?(?:no|num|number|index|nr))?|current_?page|offset|start|start_?at",
    re.IGNORECASE,
)
"""Expression for names of query keys whose numbers are pages of a list, or offsets in it."""
_PAGE_WORD: Final = re.compile(_PAGE, re.IGNORECASE)
_PAGE_VALUE: Final = re.compile(rb"(?:comment-)?" + _PAGE + rb"[-_.]?[0-9]{1,6}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Births:
    """The day on which each URL was born, and the day from which on births are late."""

    day: Int32s
    """Day of each URL's birth, as a number of days since any day; UNBORN where it is not known."""
    first: int
    last: int

    @property
    def late(self) -> int:
        """The first of the late days."""
        return self.last - int((self.last - self.first + 1) * _LATE) + 1

    def is_passing(self, rows: Int32s) -> bool:
        """Return True if all URLs with a known birth were born in one quarter of the days."""
        days = self.day[rows]
        days = days[days >= 0]
        if not len(days):
            return False
        quarter = (self.last - self.first) // 4
        begin, end = int(days.min()), int(days.max())
        inside = begin > self.first + quarter or end < self.last - quarter
        return inside and end - begin <= quarter

    def in_turn(self, families: Sequence[Family], place: Int64s, rows: Int32s) -> list[int]:
        """Return the indices of the values in families whose pages are born one after the other.

        Args:
            families: Values with the same text before their numbers.
            place: For each URL, the index of its value.
            rows: Numbers of the URLs.
        """
        day = self.day[rows]
        order = np.lexsort((day, place))
        order = order[day[order] >= 0]
        sorted_place, sorted_day = place[order], day[order]
        follow: list[int] = []
        for family in families:
            begin = np.searchsorted(sorted_place, family)
            end = np.searchsorted(sorted_place, family, side="right")
            spans = [self._span(sorted_day[i:j]) for i, j in zip(begin, end, strict=True)]
            turns = [
                before[1] < after[0]
                for before, after in pairwise(spans)
                # The order of pages born before the first known day is not known.
                if before[1] > self.first + 1 and after[1] > self.first + 1
            ]
            if len(turns) >= _LEAST_TURNS and sum(turns) >= _IN_TURN * len(turns):
                follow += family
        return follow

    def _span(self, days: Int32s) -> tuple[int, int]:
        """Return the days between which the middle half of the births lies."""
        if not len(days):
            return self.first, self.first
        return int(days[len(days) // 4]), int(days[(3 * len(days)) // 4])


def births(days: Int32s | Int64s | None) -> Births | None:
    """Return births that allow a decision; None where they are unknown or too close together."""
    if days is None:
        return None
    known_days = days[days >= 0]
    if not len(known_days) or int(known_days.max()) - int(known_days.min()) < _LEAST_SPAN:
        return None
    return Births(days.astype(np.int32), int(known_days.min()), int(known_days.max()))


def numbered_families(values: Sequence[bytes]) -> list[Family]:
    """Return the families with more than two members among some values."""
    families: defaultdict[bytes, list[tuple[int, int]]] = defaultdict(list)
    for place, value in enumerate(values):
        # Most values are words; the expression would look at each of their letters.
        if value[-1:].isdigit() and (match := _NUMBERED.fullmatch(value)):
            families[match[1]].append((int(match[2]), place))
    return [
        [place for _, place in sorted(family)]
        for family in families.values()
        if len(family) > _LEAST_TURNS
    ]


def counts_pages(name: bytes) -> bool:
    """Return True if numbers under a query key of this name are pages of a list."""
    return _PAGE_KEY.fullmatch(name) is not None


def is_page_word(value: bytes) -> bool:
    """Return True if numbers in the segment after this one are pages of a list."""
    return _PAGE_WORD.fullmatch(value) is not None


def is_page_value(value: bytes) -> bool:
    """Return True if a segment alone denotes a page of a list, such as `page-4`."""
    return _PAGE_VALUE.fullmatch(value) is not None


@leaf
def kind_of(shape: int) -> int:
    """Return the kind of a value (NAMES, NUMBERS or CODES) from its shape."""
    if bits_of(shape) & DIGITS:
        return NUMBERS
    return NAMES if class_of(shape) in (WORD_CLASS, SLUG_CLASS, MONTH_CLASS) else CODES


@loop
def kinds_of(shapes: Int32s) -> Int8s:
    """Return the kind of each value."""
    kinds = np.empty(len(shapes), np.int8)
    for i in range(len(shapes)):
        kinds[i] = kind_of(shapes[i])
    return kinds


@loop
def passing_kinds(
    column: Int32s,
    rows: Int32s,
    place: Int32s,
    kinds: Int8s,
    has_support: Flags,
    born: Int32s,
    late: int,
    least: int,
) -> Int8s:
    """Return, for each kind, 1 if its values pass, 0 if they last, -1 if births do not say.

    `place` maps the code of a value to 1 + its index in `kinds` and `has_support`.
    """
    first = np.full(len(kinds), np.iinfo(np.int32).max, np.int32)
    for row in rows:
        value = place[column[row]] - 1
        if value >= 0 and 0 <= born[row] < first[value]:
            first[value] = born[row]
    pages, older = np.zeros(_KINDS, np.int64), np.zeros(_KINDS, np.int64)
    for row in rows:
        value = place[column[row]] - 1
        if value >= 0 and has_support[value] and born[row] >= late:
            pages[kinds[value]] += 1
            older[kinds[value]] += first[value] < late
    values = np.zeros(_KINDS, np.int64)
    for value in range(len(kinds)):
        values[kinds[value]] += has_support[value] and late <= first[value] < np.iinfo(np.int32).max
    verdicts = np.full(_KINDS, -1, np.int8)
    for kind in range(_KINDS):
        if pages[kind] >= least:
            is_new = values[kind] >= _NEW_VALUES[kind] and older[kind] < _LAST * pages[kind]
            verdicts[kind] = 1 if is_new else 0
    return verdicts


def is_counter(numbers: list[int]) -> bool:
    """Return True if numbers look like a stretch of a counter; used where no births are known."""
    if len(numbers) < _LEAST_NUMBERS or min(numbers) < _COUNTED_FROM:
        return False
    return max(numbers) - min(numbers) <= _SPREAD * max(numbers)
