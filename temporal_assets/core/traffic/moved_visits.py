"""Selection of the transits on shared days that an incremental update of traffic has to read.

A transit on a day that two windows share matters only if the same client opened the same page on a
day that enters or leaves the window; few did. Each page has a Bloom filter of its clients on such
days, and every transit is checked against the filter of its page. Filters and transits are in the
order of pages, so that successive lookups touch neighbouring memory.

Here: the filter, pages looked up by the hash of their URL, and the order of transits. Not here: the
source of the integers (`windows.traffic.changed_transits`), and sums of transits
(`changed_traffic`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.numerics.compiled import inlined, leaf, readonly
from temporal_assets.core.text.texts import MULTIPLIER, SEED
from temporal_assets.core.traffic.changed_traffic import Transits

Words = NDArray[np.uint64]

_VISITS_OF_A_WORD: Final = 4
"""Each visit sets two bits of 64, so that one in sixty other clients passes the filter by chance.
Such false positives cost time, but change no result."""

_ALL: Final = np.uint64(2**64 - 1)


@dataclass(frozen=True, slots=True)
class VisitFilter:
    """A Bloom filter of the clients of each page: no false negatives, few false positives."""

    first: Int32s
    """Words of page i in the filter: `first[i]` to `first[i + 1]`."""
    words: Words


def visit_filter(pages: int, moved: Iterable[tuple[Int32s, Int64s]], all_of: Int64s) -> VisitFilter:
    """Return a filter of the visits (page, client) of some days; negative pages are ignored."""
    first = np.zeros(pages + 1, np.int32)
    given = [(readonly(page), readonly(client)) for page, client in moved]
    for page, _ in given:
        _count(page, first)
    _fill(first, readonly(all_of))
    words = np.zeros(int(first[-1]), np.uint64)
    for page, client in given:
        _note(page, client, first, words)
    words[first[all_of]] = _ALL
    return VisitFilter(first, words)


class Visits(NamedTuple):
    """Transits of a day; URLs are numbered within the day."""

    target: Int32s
    referrer: Int32s
    """Number of the referrer; -1 if there is none."""
    client: Int64s


def _same(visits: Visits) -> Visits:
    """Return the arrays with the types for which loops are compiled."""
    return Visits(readonly(visits.target), readonly(visits.referrer), readonly(visits.client))


def chosen(visits: Visits, page: Int32s, traced: Flags, earlier: VisitFilter) -> Int64s:
    """Return the rows of visits that may be in the filter `earlier`, or come from traced URLs.

    `page` is the page of each URL of the day.
    """
    rows = np.empty(len(visits.target), np.int64)
    count = _choose(
        *_same(visits),
        readonly(page),
        readonly(traced),
        bool(traced.any()),
        readonly(earlier.first),
        readonly(earlier.words),
        rows,
    )
    return rows[:count]


class TextPages:
    """Pages by the hashes of their URLs (`text_numbers`).

    The hashes are the same on all days, so that URLs with similar hashes can be prepared: a seed of
    this process spreads them in the table.
    """

    def __init__(self, numbers: Int64s, pages: Int32s) -> None:
        size = 1 << max(int(2 * len(numbers)).bit_length(), 1)
        self._numbers, self._pages = np.zeros(size, np.int64), np.zeros(size, np.int32)
        self._count = len(numbers)
        _put(readonly(numbers), readonly(pages), self._numbers, self._pages, SEED)

    def __len__(self) -> int:
        return self._count

    def find(self, numbers: Int64s) -> Int32s:
        """Return the page of each hash, or -1."""
        pages = np.empty(len(numbers), np.int32)
        _find(readonly(numbers), self._numbers, self._pages, SEED, pages)
        return pages


class Numbered(NamedTuple):
    """Transits of one day, and what the number of each target and referrer stands for."""

    visits: Visits
    target: Int64s
    """Index of each target number, from 0."""
    referrer: Int64s
    """Index of each referrer number; the last is that of -1."""
    windows: int
    """Bits of the windows that they belong to (`changed_traffic.Transits`)."""


def in_traffic_order(parts: Sequence[Numbered], targets: int, threads: int) -> Transits:
    """Return transits sorted by target, client and referrer; targets are below `targets`."""
    # Rows are put where they belong at once: numbers of 64 bits are made of each once.
    given = [part._replace(visits=_same(part.visits)) for part in parts]
    bounds = np.zeros(targets + 1, np.int64)
    for part in given:
        _count_targets(part.visits.target, part.target, bounds)
    np.cumsum(bounds, out=bounds)
    rows = int(bounds[-1])
    ordered = Transits(*(np.empty(rows, np.int64) for _ in Transits._fields))
    ends = bounds[:-1].copy()
    for part in given:
        _place(*part, ends, ordered)
    cuts = np.searchsorted(bounds, rows * np.arange(threads + 1) // threads)
    cuts[0], cuts[-1] = 0, targets

    def sort(at: int) -> None:
        _sort(readonly(bounds), cuts[at], cuts[at + 1], ordered)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(sort, range(threads)))
    return ordered


# Filter --------------------------------------------------------------------------------------


@leaf
def _count(page: Int32s, counts: Int32s) -> None:
    for row in range(len(page)):
        if page[row] >= 0:
            counts[page[row]] += 1


@leaf
def _fill(first: Int32s, all_of: Int64s) -> None:
    """Turn numbers of visits per page into the first word of each page."""
    for i in range(len(all_of)):
        first[all_of[i]] = 1
    words = 0
    for page in range(len(first)):
        count = (first[page] + _VISITS_OF_A_WORD - 1) // _VISITS_OF_A_WORD
        first[page] = words
        words += count


@inlined
def _hash(number: int) -> np.uint64:
    value = np.uint64(number) * MULTIPLIER
    return (value ^ (value >> np.uint64(32))) * MULTIPLIER


@inlined
def _word(hashed: np.uint64, words: int) -> int:
    """Return the index of a client's word among a page's words."""
    return int(np.int64(((hashed >> np.uint64(32)) * np.uint64(words)) >> np.uint64(32)))


@inlined
def _bits(hashed: np.uint64) -> np.uint64:
    """Return a word with the client's two bits set (or one, if both are the same)."""
    lowest_bit = np.uint64(1)
    return (lowest_bit << ((hashed >> np.uint64(20)) & np.uint64(63))) | (
        lowest_bit << ((hashed >> np.uint64(26)) & np.uint64(63))
    )


@leaf
def _note(page: Int32s, client: Int64s, first: Int32s, words: Words) -> None:
    for row in range(len(page)):
        at = page[row]
        if at >= 0:
            hashed = _hash(client[row])
            words[first[at] + _word(hashed, first[at + 1] - first[at])] |= _bits(hashed)


@leaf
def _choose(
    target: Int32s,
    referrer: Int32s,
    client: Int64s,
    page: Int32s,
    traced: Flags,
    any_traced: bool,
    first: Int32s,
    words: Words,
    rows: Int64s,
) -> int:
    """Fill `rows` with transits that may be in the filter or are traced; return their number."""
    count, of = 0, -1
    begin, size = 0, 0
    for row in range(len(target)):
        if target[row] != of:  # transits to one page lie together
            of = target[row]
            begin = first[page[of]]
            size = first[page[of] + 1] - begin
        is_chosen = any_traced and referrer[row] >= 0 and traced[referrer[row]]
        if size > 0 and not is_chosen:
            hashed = _hash(client[row])
            bits = _bits(hashed)
            is_chosen = words[begin + _word(hashed, size)] & bits == bits
        if is_chosen:
            rows[count] = row
            count += 1
    return count


# Texts ---------------------------------------------------------------------------------------


@inlined
def _slot(number: int, size: int, seed: np.uint64) -> int:
    return int(np.int64(_hash(int(np.uint64(number) ^ seed)) >> np.uint64(32))) & (size - 1)


@leaf
def _put(numbers: Int64s, pages: Int32s, table: Int64s, values: Int32s, seed: np.uint64) -> None:
    for i in range(len(numbers)):
        at = _slot(numbers[i], len(table), seed)
        while table[at] not in (0, numbers[i]):
            at = (at + 1) & (len(table) - 1)
        table[at], values[at] = numbers[i], pages[i]


@leaf
def _find(numbers: Int64s, table: Int64s, values: Int32s, seed: np.uint64, pages: Int32s) -> None:
    for i in range(len(numbers)):
        at = _slot(numbers[i], len(table), seed)
        while table[at] not in (0, numbers[i]):
            at = (at + 1) & (len(table) - 1)
        pages[i] = values[at] if table[at] != 0 else -1


# Order ---------------------------------------------------------------------------------------


@leaf
def _count_targets(target: Int32s, which: Int64s, bounds: Int64s) -> None:
    for row in range(len(target)):
        bounds[which[target[row]] + 1] += 1


@leaf
def _place(
    visits: Visits,
    targets: Int64s,
    referrers: Int64s,
    windows: int,
    ends: Int64s,
    ordered: Transits,
) -> None:
    for row in range(len(visits.target)):
        target = targets[visits.target[row]]
        at = ends[target]
        ends[target] += 1
        ordered.target[at] = target
        ordered.client[at] = visits.client[row]
        ordered.referrer[at] = referrers[visits.referrer[row]]
        ordered.windows[at] = windows


@leaf
def _sort(bounds: Int64s, first: int, stop: int, moved: Transits) -> None:
    """Sort the transits to each target by client and referrer, by Shell sort.

    Most pages have few; of a page with very many, steps of a third spare most moves.
    """
    client, referrer, windows = moved.client, moved.referrer, moved.windows
    for target in range(first, stop):
        begin, end = bounds[target], bounds[target + 1]
        step = 1
        while step < (end - begin) // 9:
            step = 3 * step + 1
        while step > 0:
            for row in range(begin + step, end):
                client_of_row, source, bits = client[row], referrer[row], windows[row]
                at = row
                while at >= begin + step and (
                    client[at - step] > client_of_row
                    or (client[at - step] == client_of_row and referrer[at - step] > source)
                ):
                    client[at] = client[at - step]
                    referrer[at] = referrer[at - step]
                    windows[at] = windows[at - step]
                    at -= step
                client[at], referrer[at], windows[at] = client_of_row, source, bits
            step //= 3
