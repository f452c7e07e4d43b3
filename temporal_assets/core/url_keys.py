"""The URLs of one site as a table: a column per key, a small integer per value.

Here: numbering keys and values (BB 3.1, "key-value pairs"), in time linear in the bytes. Not
here: how one URL is cut (`url_split`), what is built on the table (`pattern_tree`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from temporal_assets.core import url_split
from temporal_assets.core.compiled import inlined, leaf
from temporal_assets.core.texts import (
    SEED,
    Bytes,
    Int8s,
    Int32s,
    Int64s,
    Texts,
    equal_bytes,
    hash_bytes,
)
from temporal_assets.core.value_shapes import shapes

Hashes = NDArray[np.uint64]

ABSENT: Final = 0
"""The code of ∅: the URL has no such key."""

MAX_QUERY_KEYS: Final = 64
"""The most frequent query keys are kept: a column costs memory for every URL of the site, and
scanners invent thousands of keys."""

_SCHEME_SLOT: Final = 0
_PORT_SLOT: Final = 1
_HOST_SLOT: Final = 2
_PATH_SLOT: Final = _HOST_SLOT + url_split.MAX_LABELS
_EXTENSION_SLOT: Final = _PATH_SLOT + url_split.MAX_SEGMENTS
_QUERY_SLOT: Final = _EXTENSION_SLOT + 1
"""Numbers of the keys that every site may have; query keys follow as they are met."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a site in the order that decides ties: host, path by index, query by name."""

    kind: Int8s
    """`url_split.HOST`, `PATH` ..."""
    index: Int32s
    """Label from the right, segment from the left, repetition of a query key."""
    name: tuple[bytes, ...]
    """Query keys only; as written in the URL."""

    def __len__(self) -> int:
        return len(self.kind)

    def label(self, key: int) -> str:
        """How people see a key: `path[0]`, `query[id]`, `query[id][1]` for a second `id`."""
        kind, index = int(self.kind[key]), int(self.index[key])
        if kind == url_split.QUERY:
            name = self.name[key].decode("utf-8", "replace")
            return f"query[{name}]" + (f"[{index}]" if index else "")
        if kind == url_split.HOST:
            return f"host[{index}]"
        if kind == url_split.PATH:
            return f"path[{index}]"
        return {url_split.SCHEME: "scheme", url_split.PORT: "port"}.get(kind, "extension")


@dataclass(frozen=True, slots=True)
class UrlKeys:
    """Key-values of the URLs of one site."""

    urls: Texts
    keys: Keys
    codes: Int32s
    """Shape (keys, urls): 0 is ∅, others number the values of their key by first occurrence."""
    first: Int64s
    """Shape (keys + 1): value `code` of key k has the row `first[k] + code - 1` below."""
    start: Int64s
    stop: Int64s
    """Where a value lies in `urls.data`."""
    shape: Int32s
    """Its shape (`value_shapes`)."""
    ignored: int
    """Distinct query keys that got no column: too rare, or too many."""

    def value(self, key: int, code: int) -> bytes:
        """The text of a value."""
        row = int(self.first[key]) + code - 1
        return self.urls.data[self.start[row] : self.stop[row]].tobytes()


def decompose(urls: Texts, min_urls: int = 1) -> UrlKeys:
    """Key-values of distinct canonical URLs, without query keys that fewer than `min_urls` have."""
    pointers, slots, values, value_slot, start, stop, names = _fields(urls.data, urls.offsets, SEED)
    present = np.bincount(slots, minlength=_QUERY_SLOT + len(names))
    keys, column = _columns_of(urls, present, names, min_urls)
    codes, first, rows = _table(pointers, slots, values, value_slot, column, len(keys), len(urls))
    start, stop = start[rows], stop[rows]
    ignored = len(names) - int(np.count_nonzero(column[_QUERY_SLOT:] >= 0))
    shape = shapes(urls.data, start, stop)
    return UrlKeys(urls, keys, codes, first, start, stop, shape, ignored)


def _columns_of(urls: Texts, present: Int64s, names: Int64s, min_urls: int) -> tuple[Keys, Int32s]:
    """The keys that get a column, and the column of every slot (-1: none)."""
    column = np.full(len(present), -1, np.int32)
    fixed = np.flatnonzero(present[:_QUERY_SLOT]).tolist()
    often = np.flatnonzero(present[_QUERY_SLOT:] >= min_urls)
    text = [urls.data[begin:end].tobytes() for begin, end, _ in names[often].tolist()]
    repeat = names[often, 2].tolist() if len(often) else []
    count = present[_QUERY_SLOT:][often].tolist()
    kept = sorted(range(len(often)), key=lambda i: (-count[i], text[i], repeat[i]))
    kept = sorted(kept[:MAX_QUERY_KEYS], key=lambda i: (text[i], repeat[i]))
    column[fixed] = np.arange(len(fixed))
    column[_QUERY_SLOT + often[kept]] = len(fixed) + np.arange(len(kept))
    placed = [_place(slot) for slot in fixed] + [(url_split.QUERY, repeat[i]) for i in kept]
    return (
        Keys(
            np.array([kind for kind, _ in placed], np.int8),
            np.array([index for _, index in placed], np.int32),
            (b"",) * len(fixed) + tuple(text[i] for i in kept),
        ),
        column,
    )


def _place(slot: int) -> tuple[int, int]:
    """Kind and index of a slot before the query keys."""
    if slot >= _EXTENSION_SLOT:
        return url_split.EXTENSION, 0
    if slot >= _PATH_SLOT:
        return url_split.PATH, slot - _PATH_SLOT
    if slot >= _HOST_SLOT:
        return url_split.HOST, slot - _HOST_SLOT
    return (url_split.SCHEME if slot == _SCHEME_SLOT else url_split.PORT), 0


def _table(
    pointers: Int64s,
    slots: Int32s,
    values: Int32s,
    value_slot: Int32s,
    column: Int32s,
    keys: int,
    urls: int,
) -> tuple[Int32s, Int64s, Int64s]:
    """Codes (keys, urls); first row of each key; and the interned value of each row."""
    value_column = column[value_slot]
    rows = np.argsort(value_column, kind="stable")
    rows = rows[np.count_nonzero(value_column < 0) :]
    first = np.searchsorted(value_column[rows], np.arange(keys + 1)).astype(np.int64)
    local = np.zeros(len(value_slot), np.int32)
    local[rows] = np.arange(len(rows)) - first[value_column[rows]] + 1
    codes = np.zeros((keys, urls), np.int32)
    _fill(pointers, slots, values, column, local, codes)
    return codes, first, rows


@leaf
def _fill(
    pointers: Int64s, slots: Int32s, values: Int32s, column: Int32s, local: Int32s, codes: Int32s
) -> None:
    for url in range(len(pointers) - 1):
        for field in range(pointers[url], pointers[url + 1]):
            key = column[slots[field]]
            if key >= 0:
                codes[key, url] = local[values[field]]


@inlined
def slot_of(kind: int, index: int) -> int:
    """Slot of a field; of a query field, the first that query keys may take."""
    if kind == url_split.PATH:
        return _PATH_SLOT + index
    if kind == url_split.HOST:
        return _HOST_SLOT + index
    if kind == url_split.EXTENSION:
        return _EXTENSION_SLOT
    if kind == url_split.QUERY:
        return _QUERY_SLOT
    return _PORT_SLOT if kind == url_split.PORT else _SCHEME_SLOT


@leaf
def _bound(data: Bytes, urls: int) -> int:
    """At least the number of fields: each begins at a separator, or is one of four per URL."""
    separators = 0
    for byte in data:
        separators += byte == 47 or byte == 46 or byte == 63 or byte == 38 or byte == 58
    return separators + 4 * urls


@inlined
def _is_value(data: Bytes, start: int, stop: int, known_start: int, known_stop: int) -> bool:
    """Whether a value is one that lies elsewhere."""
    length = stop - start
    return known_stop - known_start == length and equal_bytes(
        data, start, data, known_start, length
    )


@inlined
def _find(
    data: Bytes,
    start: int,
    stop: int,
    salt: int,
    value: np.uint64,
    table: Int32s,
    hashes: Hashes,
    salts: Int32s,
    starts: Int64s,
    stops: Int64s,
) -> int:
    """Place in `table` of a value: where its number is, or where it may be put."""
    mask = len(table) - 1
    at = int(np.int64(value) & mask)
    while table[at] >= 0:
        other = table[at]
        if (
            hashes[other] == value
            and salts[other] == salt
            and _is_value(data, start, stop, starts[other], stops[other])
        ):
            break
        at = (at + 1) & mask
    return at


@njit(nogil=True, cache=True)
def _grown(table: Int32s, hashes: Hashes, count: int) -> Int32s:
    """A table four times as large with the same numbers."""
    larger = np.full(4 * len(table), -1, np.int32)
    mask = len(larger) - 1
    for number in range(count):
        at = np.int64(hashes[number]) & mask
        while larger[at] >= 0:
            at = (at + 1) & mask
        larger[at] = number
    return larger


@njit(nogil=True, cache=True)
def _fields(
    data: Bytes, offsets: Int64s, seed: np.uint64
) -> tuple[Int64s, Int32s, Int32s, Int32s, Int64s, Int64s, Int64s]:
    """All fields of all URLs, with slots and values numbered by first occurrence."""
    urls = len(offsets) - 1
    bound = _bound(data, urls)
    pointers = np.zeros(urls + 1, np.int64)
    slots = np.empty(bound, np.int32)
    values = np.empty(bound, np.int32)
    # Memory that is never written is never taken, so the arrays are as long as they could be.
    hashes, salts = np.empty(bound, np.uint64), np.empty(bound, np.int32)
    starts, stops = np.empty(bound, np.int64), np.empty(bound, np.int64)
    name_hashes, name_salts = np.empty(bound, np.uint64), np.empty(bound, np.int32)
    name_starts, name_stops = np.empty(bound, np.int64), np.empty(bound, np.int64)
    table = np.full(1024, -1, np.int32)
    name_table = np.full(256, -1, np.int32)
    fields = np.zeros(url_split.TABLE_SHAPE, np.int64)
    last = np.full(_QUERY_SLOT, -1, np.int32)
    count = known = names = 0
    for url in range(urls):
        for i in range(url_split.split_url(data, offsets[url], offsets[url + 1], fields, seed)):
            kind, index = fields[i, url_split.KIND], fields[i, url_split.INDEX]
            slot = slot_of(kind, index)
            if kind == url_split.QUERY:
                start, stop = fields[i, url_split.NAME_START], fields[i, url_split.NAME_STOP]
                value = hash_bytes(data, start, stop, index, seed)
                at = _find(
                    data, start, stop, index, value,
                    name_table, name_hashes, name_salts, name_starts, name_stops,
                )  # fmt: skip
                if name_table[at] < 0:
                    name_table[at] = names
                    name_hashes[names], name_salts[names] = value, index
                    name_starts[names], name_stops[names] = start, stop
                    names += 1
                slot += name_table[at]
                if 2 * names > len(name_table):
                    name_table = _grown(name_table, name_hashes, names)
            start, stop = fields[i, url_split.START], fields[i, url_split.STOP]
            # URLs come in order: five fields of six are those of the URL before.
            number = last[slot] if kind != url_split.QUERY else -1
            if number < 0 or not _is_value(data, start, stop, starts[number], stops[number]):
                value = hash_bytes(data, start, stop, slot, seed)
                at = _find(data, start, stop, slot, value, table, hashes, salts, starts, stops)
                if table[at] < 0:
                    table[at] = known
                    hashes[known], salts[known] = value, slot
                    starts[known], stops[known] = start, stop
                    known += 1
                number = table[at]
                if kind != url_split.QUERY:
                    last[slot] = number
                if 2 * known > len(table):
                    table = _grown(table, hashes, known)
            slots[count], values[count] = slot, number
            count += 1
        pointers[url + 1] = count
    named = np.empty((names, 3), np.int64)
    for i in range(names):
        named[i, 0], named[i, 1], named[i, 2] = name_starts[i], name_stops[i], name_salts[i]
    return (
        pointers,
        slots[:count].copy(),
        values[:count].copy(),
        salts[:known].copy(),
        starts[:known].copy(),
        stops[:known].copy(),
        named,
    )
