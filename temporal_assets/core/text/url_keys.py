"""The URLs of one site as a table: one column per key, one small integer (code) per value.

`url_fields` numbers every possible key as a *slot* and lists, for each key, the URLs at which its
value *changes*. Here slots become columns, and changes are written out as one code per URL. Not
here: how keys and values are numbered (`url_fields`), what is built on the table (`tree_builder`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Int8s, Int32s, Int64s
from temporal_assets.core.numerics.compiled import inlined, leaf, loop
from temporal_assets.core.text import url_split
from temporal_assets.core.text.texts import Texts
from temporal_assets.core.text.url_fields import (
    CODE,
    QUERY_SLOT,
    SLOT,
    START,
    STOP,
    URL,
    UrlFields,
    place,
    url_fields,
)
from temporal_assets.core.text.value_shapes import shapes

ABSENT: Final = 0
"""Code of ∅: the URL does not have the key."""

MAX_QUERY_KEYS: Final = 64
"""Most query keys with a column, the most frequent ones: a column costs memory for every URL of the
site, and scanners invent thousands of keys."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a site in the order that decides ties: host, path by index, query by name."""

    kind: Int8s
    """`url_split.HOST`, `PATH` ..."""
    index: Int32s
    """Index within the kind: of labels from the right, of segments from the left, of repeated query
    keys."""
    name: tuple[bytes, ...]
    """Name as written in the URL, of query keys only."""

    def __len__(self) -> int:
        return len(self.kind)

    def label(self, key: int) -> str:
        """Return the name for people: `path[0]`, `query[id]`, `query[id][1]` for a second `id`."""
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
    """Keys and values of the URLs of one site."""

    urls: Texts
    keys: Keys
    codes: Int32s
    """Shape (keys, urls): 0 is ∅, others number the values of their key by first occurrence."""
    first: Int64s
    """Shape (keys + 1): value `code` of key k has the row `first[k] + code - 1` below."""
    start: Int64s
    stop: Int64s
    """Positions of the values' texts in `urls.data`, from `start` to `stop`."""
    shape: Int32s
    """Shape of each value (`value_shapes`)."""
    count: Int32s
    """Number of URLs with each value."""
    ignored: int
    """Number of distinct query keys without a column: too rare, or too many."""

    def value(self, key: int, code: int) -> bytes:
        """Return the text of a value."""
        row = int(self.first[key]) + code - 1
        return self.urls.data[self.start[row] : self.stop[row]].tobytes()


def decompose(urls: Texts, min_urls: int = 1) -> UrlKeys:
    """Return the keys and values of distinct canonical URLs.

    Query keys that fewer than `min_urls` URLs have get no column.
    """
    fields = url_fields(urls)
    keys, column = _columns_of(urls, fields, min_urls)
    kept = column >= 0
    first = np.zeros(len(keys) + 1, np.int64)
    first[1 + column[kept]] = fields.distinct[kept]
    np.cumsum(first, out=first)
    start, stop = np.empty(first[-1], np.int64), np.empty(first[-1], np.int64)
    _locate_values(fields.values, column, first, start, stop)
    codes = np.zeros((len(keys), len(urls)), np.int32)
    count = _fill(fields.changes, column, first, len(keys), len(urls), codes)
    ignored = int(np.count_nonzero(~kept[QUERY_SLOT:]))
    shape = shapes(urls.data, start, stop)
    return UrlKeys(urls, keys, codes, first, start, stop, shape, count, ignored)


def _columns_of(urls: Texts, fields: UrlFields, min_urls: int) -> tuple[Keys, Int32s]:
    """Return the keys that get a column, and the column of every slot, or -1."""
    present = fields.present
    column = np.full(len(present), -1, np.int32)
    fixed = np.flatnonzero(present[:QUERY_SLOT]).tolist()
    query_keys = _frequent_query_keys(urls, fields, min_urls)
    column[fixed] = np.arange(len(fixed))
    query_slots = [slot for _, _, slot in query_keys]
    column[query_slots] = len(fixed) + np.arange(len(query_slots))
    placed = [place(slot) for slot in fixed]
    placed += [(url_split.QUERY, repetition) for _, repetition, _ in query_keys]
    return (
        Keys(
            np.array([kind for kind, _ in placed], np.int8),
            np.array([index for _, index in placed], np.int32),
            (b"",) * len(fixed) + tuple(query_name for query_name, _, _ in query_keys),
        ),
        column,
    )


def _frequent_query_keys(
    urls: Texts, fields: UrlFields, min_urls: int
) -> list[tuple[bytes, int, int]]:
    """Return (name, repetition, slot) of the query keys that get a column, by name."""
    url_counts = fields.present[QUERY_SLOT:]
    frequent = np.flatnonzero(url_counts >= min_urls).tolist()
    query_keys = []
    for i in frequent:
        begin, end, repetition = fields.names[i].tolist()
        query_keys.append((urls.data[begin:end].tobytes(), repetition, QUERY_SLOT + i))
    query_keys.sort(key=lambda key: (-url_counts[key[2] - QUERY_SLOT], *key[:2]))
    return sorted(query_keys[:MAX_QUERY_KEYS], key=lambda key: key[:2])


@leaf
def _locate_values(
    values: Int64s, column: Int32s, first: Int64s, start: Int64s, stop: Int64s
) -> None:
    """Write where each value's text starts and stops, in the order of keys and codes."""
    for i in range(len(values)):
        key = column[values[i, SLOT]]
        if key >= 0:
            row = first[key] + values[i, CODE] - 1
            start[row], stop[row] = values[i, START], values[i, STOP]


@loop
def _fill(
    changes: Int32s, column: Int32s, first: Int64s, keys: int, urls: int, codes: Int32s
) -> Int32s:
    """Fill the codes of all URLs, given as zeros; return the number of URLs of each value."""
    count = np.zeros(first[keys], np.int32)
    code, since = np.zeros(keys, np.int64), np.zeros(keys, np.int64)
    for i in range(len(changes)):
        key = column[changes[i, SLOT]]
        if key >= 0:
            url = changes[i, URL]
            _fill_run(codes, key, code[key], since[key], url, first, count)
            code[key], since[key] = changes[i, CODE], url
    for key in range(keys):
        _fill_run(codes, key, code[key], since[key], urls, first, count)
    return count


@inlined
def _fill_run(
    codes: Int32s, key: int, code: int, since: int, stop: int, first: Int64s, count: Int32s
) -> None:
    if code != ABSENT:
        for url in range(since, stop):
            codes[key, url] = code
        count[first[key] + code - 1] += stop - since
