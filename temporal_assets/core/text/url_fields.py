"""Keys and values of the URLs of one site as integers, stored where they change.

Here: numbering keys and values (BB 3.1, "key-value pairs") in one pass over the URLs. Not here: how
a URL is split (`url_split`), and which keys are kept as columns (`url_keys`).

URLs are sorted, and most fields of a URL equal those of the URL before it. So the pass stores only
the changes of the value under each key (run-length encoding): one or two integers per URL, which
has seven fields on average. A *slot* is the number of a key: the first slots are keys that every
site may have (host labels, path segments, ...), query keys follow in the order in which they occur.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.arrays import Bytes, Int32s, Int64s
from temporal_assets.core.numerics.compiled import inlined, leaf
from temporal_assets.core.text import url_split
from temporal_assets.core.text.texts import SEED, Texts, equal_bytes, hash_bytes

Entries = NDArray[np.uint64]
Values = TypeVar("Values", bound=np.generic)

_SCHEME_SLOT: Final = 0
_PORT_SLOT: Final = 1
_HOST_SLOT: Final = 2
_PATH_SLOT: Final = _HOST_SLOT + url_split.MAX_LABELS
_EXTENSION_SLOT: Final = _PATH_SLOT + url_split.MAX_SEGMENTS
QUERY_SLOT: Final = _EXTENSION_SLOT + 1
"""First slot of query keys."""

SLOT: Final = 0
CODE: Final = 1
URL: Final = 2
"""Columns of the changes: from this URL on, the key in a slot has the value with that code; 0 is
none. Codes number the values of a key by first occurrence, from 1."""

START: Final = 2
STOP: Final = 3
"""Columns of the values, beside SLOT and CODE: begin and end of the text."""

_NAMES: Final = -url_split.MAX_REPEATS
"""First slot of the names of query keys, one for each repetition: slots below 0. Names are stored
as values as well, whose code leads to the slot of the key."""

_DISTINCT: Final = 0
_PRESENT: Final = 1
_LAST: Final = 2
_SINCE: Final = 3
_SEEN: Final = 4
_NAME: Final = 5
"""Columns of the slots: how many values it has; how many URLs have it, without those since
`_SINCE`; its last value; since when all URLs have it; the last of them; and the value that is its
name. -1 is none."""

_URLS: Final = 0
_FIELDS: Final = 1
_CHANGES: Final = 2
_VALUES: Final = 3
_SLOTS: Final = 4
"""Indices into `_Books.done`: URLs done, fields of the last URL, and numbers of rows in use."""

_ROOM: Final = 2 * url_split.CAPACITY
"""Most rows of any table that one URL adds."""

_TAG: Final = np.uint64(0xFFFFFFFF)
_HALF: Final = np.uint64(32)
"""Bits of an entry's lower half. An entry of the hash table has 32 bits of the hash above the
number of the value, from 1: a lookup reads one place of memory, or two."""


@dataclass(frozen=True, slots=True)
class UrlFields:
    """The fields of all URLs of a site, run-length encoded."""

    changes: Int32s
    """Shape (changes, 3), sorted by URL."""
    values: Int64s
    """Shape (values, 4), without names."""
    present: Int64s
    """Number of URLs with each slot."""
    distinct: Int64s
    """Number of values of each slot."""
    names: Int64s
    """Shape (query keys, 3): begin and end of the key's name, and its repetition."""


class _Books(NamedTuple):
    """Tables that grow with every URL. Allocated memory costs nothing until it is written."""

    done: Int64s
    changes: Int32s
    values: Int64s
    """Values, including the names of query keys."""
    table: Entries
    """Hash table of the values."""
    slots: Int64s
    fields: Int64s
    """Fields of the last URL, see `url_split`."""
    slot: Int64s
    """Slots of the last URL's fields."""
    before: Int64s
    """Slots of the fields of the URL before."""


def url_fields(urls: Texts) -> UrlFields:
    """Number the fields of URLs."""
    books = _Books(
        np.array([0, 0, 0, 0, QUERY_SLOT]),
        np.empty((2 * len(urls) + _ROOM, 3), np.int32),
        np.empty((2 * len(urls) + _ROOM, 4), np.int64),
        np.zeros(1024, np.uint64),
        _no_slots(QUERY_SLOT + _ROOM),
        np.zeros(url_split.TABLE_SHAPE, np.int64),
        np.zeros(url_split.CAPACITY, np.int64),
        np.zeros(url_split.CAPACITY, np.int64),
    )
    while not _go_on(urls.data, urls.offsets, SEED, books):
        books = _with_room(books)
    _, _, changes, value_count, slots = books.done.tolist()
    values, used_slots = books.values[:value_count], books.slots[:slots]
    named = values[books.slots[QUERY_SLOT:slots, _NAME]]
    if len(named):
        values = values[values[:, SLOT] >= 0]
    return UrlFields(
        books.changes[:changes],
        values,
        used_slots[:, _PRESENT]
        + np.where(used_slots[:, _SINCE] < 0, 0, len(urls) - used_slots[:, _SINCE]),
        used_slots[:, _DISTINCT],
        np.stack((named[:, START], named[:, STOP], named[:, SLOT] - _NAMES), axis=1),
    )


def _no_slots(count: int) -> Int64s:
    slots = np.zeros((count, 6), np.int64)
    slots[:, [_LAST, _SINCE, _NAME]] = -1
    return slots


def _with_room(books: _Books) -> _Books:
    """Return the tables, enlarged where they are nearly full."""
    _, _, changes, values, slots = books.done.tolist()
    if changes + _ROOM > len(books.changes):
        books = books._replace(changes=_twice(books.changes))
    if values + _ROOM > len(books.values):
        books = books._replace(values=_twice(books.values))
    if slots + _ROOM > len(books.slots):
        books = books._replace(slots=np.concatenate((books.slots, _no_slots(len(books.slots)))))
    if 2 * (values + _ROOM) > len(books.table):
        larger = np.zeros(4 * len(books.table), np.uint64)
        _enter_all(books.table, larger)
        books = books._replace(table=larger)
    return books


def _twice(rows: NDArray[Values]) -> NDArray[Values]:
    return np.concatenate((rows, np.empty_like(rows)))


def place(slot: int) -> tuple[int, int]:
    """Return the kind and index of a slot below the query slots."""
    if slot >= _EXTENSION_SLOT:
        return url_split.EXTENSION, 0
    if slot >= _PATH_SLOT:
        return url_split.PATH, slot - _PATH_SLOT
    if slot >= _HOST_SLOT:
        return url_split.HOST, slot - _HOST_SLOT
    return (url_split.SCHEME if slot == _SCHEME_SLOT else url_split.PORT), 0


def slot_of(kind: int, index: int) -> int:
    """Return the slot of a field; for any query field, the first query slot."""
    if kind == url_split.PATH:
        return _PATH_SLOT + index
    if kind == url_split.HOST:
        return _HOST_SLOT + index
    if kind == url_split.EXTENSION:
        return _EXTENSION_SLOT
    if kind == url_split.QUERY:
        return QUERY_SLOT
    return _PORT_SLOT if kind == url_split.PORT else _SCHEME_SLOT


slot_in_loops: Final = inlined(slot_of)
"""`slot_of` for compiled callers."""


@inlined
def _is_value(data: Bytes, start: int, stop: int, values: Int64s, number: int) -> bool:
    """Return True if a text equals the text of a value."""
    begin = values[number, START]
    length = stop - start
    return bool(
        values[number, STOP] - begin == length and equal_bytes(data, start, data, begin, length)
    )


@inlined
def _number_of(
    data: Bytes, start: int, stop: int, slot: int, seed: np.uint64, books: _Books
) -> int:
    """Return the number of a value, which is added if it is new, without a code yet."""
    values = books.values
    tag = hash_bytes(data, start, stop, slot, seed) & _TAG
    mask = np.uint64(len(books.table) - 1)
    at = tag & mask
    while books.table[at]:
        if books.table[at] >> _HALF == tag:
            number = int(np.int64(books.table[at] & _TAG)) - 1
            if values[number, SLOT] == slot and _is_value(data, start, stop, values, number):
                return number
        at = (at + np.uint64(1)) & mask
    number = books.done[_VALUES]
    books.done[_VALUES] += 1
    books.table[at] = tag << _HALF | np.uint64(number + 1)
    values[number, SLOT] = slot
    values[number, CODE] = 0
    values[number, START] = start
    values[number, STOP] = stop
    return int(number)


@leaf
def _enter_all(table: Entries, larger: Entries) -> None:
    """Insert the entries of a table into an empty one."""
    mask = np.uint64(len(larger) - 1)
    for entry in table:
        if entry:
            at = (entry >> _HALF) & mask
            while larger[at]:
                at = (at + np.uint64(1)) & mask
            larger[at] = entry


@inlined
def _has_room(books: _Books) -> bool:
    done = books.done
    return bool(
        done[_CHANGES] + _ROOM <= len(books.changes)
        and done[_VALUES] + _ROOM <= len(books.values)
        and done[_SLOTS] + _ROOM <= len(books.slots)
        and 2 * (done[_VALUES] + _ROOM) <= len(books.table)
    )


@leaf
def _go_on(data: Bytes, offsets: Int64s, seed: np.uint64, books: _Books) -> bool:
    """Number the fields of the next URLs; return False if a table became full before the end."""
    done = books.done
    first = done[_URLS]
    for url in range(first, len(offsets) - 1):
        if not _has_room(books):
            return False
        start, had = offsets[url], done[_FIELDS]
        before = offsets[url - 1] if url > 0 else start
        kept, now = url_split.split_next(
            data, before, start, offsets[url + 1], books.fields, had, seed
        )
        for i in range(kept, had):
            books.before[i] = books.slot[i]
        for i in range(kept, now):
            books.slot[i] = _number_field(data, i, i < had, url, seed, books)
        for i in range(kept, had):
            _leave(books.before[i], url, books)
        done[_FIELDS] = now
        done[_URLS] = url + 1
    return True


@inlined
def _number_field(
    data: Bytes, i: int, has_place: bool, url: int, seed: np.uint64, books: _Books
) -> int:
    """Store the change that a field of a URL makes, and return its slot.

    `has_place` says that the URL before it had a slot in this position.
    """
    fields, values, slots = books.fields, books.values, books.slots
    kind = fields[i, url_split.KIND]
    slot = slot_in_loops(kind, fields[i, url_split.INDEX])
    if kind == url_split.QUERY:
        likely = books.before[i] if has_place else _SCHEME_SLOT
        slot = _query_slot(data, i, likely, seed, books)
    start, stop = fields[i, url_split.START], fields[i, url_split.STOP]
    last = slots[slot, _LAST]
    number = last
    if last < 0 or not _is_value(data, start, stop, values, last):
        number = _number_of(data, start, stop, slot, seed, books)
        if values[number, CODE] == 0:
            slots[slot, _DISTINCT] += 1
            values[number, CODE] = slots[slot, _DISTINCT]
        slots[slot, _LAST] = number
    if slots[slot, _SINCE] < 0:
        slots[slot, _SINCE] = url
        _note(slot, values[number, CODE], url, books)
    elif number != last:
        _note(slot, values[number, CODE], url, books)
    slots[slot, _SEEN] = url
    return int(slot)


@inlined
def _query_slot(data: Bytes, i: int, likely: int, seed: np.uint64, books: _Books) -> int:
    """Return the slot of a query field; `likely` is the slot in its position one URL before."""
    fields, values = books.fields, books.values
    start, stop = fields[i, url_split.NAME_START], fields[i, url_split.NAME_STOP]
    names = _NAMES + fields[i, url_split.INDEX]
    name = books.slots[likely, _NAME]
    if name >= 0 and values[name, SLOT] == names and _is_value(data, start, stop, values, name):
        return likely
    name = _number_of(data, start, stop, names, seed, books)
    if values[name, CODE] == 0:
        slot = books.done[_SLOTS]
        books.done[_SLOTS] += 1
        values[name, CODE] = slot
        books.slots[slot, _NAME] = name
    return int(values[name, CODE])


@inlined
def _leave(slot: int, url: int, books: _Books) -> None:
    """Store that this URL lacks a slot that the URL before it had."""
    slots = books.slots
    if slots[slot, _SEEN] < url:
        slots[slot, _PRESENT] += url - slots[slot, _SINCE]
        slots[slot, _SINCE] = -1
        _note(slot, 0, url, books)


@inlined
def _note(slot: int, code: int, url: int, books: _Books) -> None:
    at = books.done[_CHANGES]
    books.changes[at, SLOT] = slot
    books.changes[at, CODE] = code
    books.changes[at, URL] = url
    books.done[_CHANGES] += 1
