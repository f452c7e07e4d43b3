"""What a policy says of many canonical URLs: the compiled loop.

Here: hosts, hubs and prefixes found in one pass over a URL, static files, and the walk to its
pattern. Not here: which of them decides (`matcher`), how URLs become canonical (`logs.urls`).

Hosts, hubs and prefixes are all beginnings of a URL without its scheme, so they share one hash
table, keyed by a running hash that is looked up wherever one of them may end.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit

from temporal_assets.core.pattern_forest import Desk, Forest, walk
from temporal_assets.core.texts import SEED, Bytes, Flags, Int32s, Int64s, equal_bytes, texts

NONE: Final = -1

_PRIME: Final = np.uint64(0x100000001B3)
_COLON: Final = 58
_SLASH: Final = 47
_DOT: Final = 46
_QUESTION: Final = 63
_SEMICOLON: Final = 59
_OPEN: Final = 91
_CLOSE: Final = 93

MAX_EXTENSION: Final = 15
"""Longer extensions are no static files."""


class Beginnings(NamedTuple):
    """Texts that URLs without scheme begin with, and what each of them is."""

    table: Int32s
    data: Bytes
    offsets: Int64s
    site: Int32s
    """Place of the site with this host, NONE if it is none; so below."""
    hub: Int32s
    prefix: Int32s
    seed: np.uint64


class Extensions(NamedTuple):
    """Names of static files' extensions, by the same hash."""

    table: Int32s
    data: Bytes
    offsets: Int64s


class Found(NamedTuple):
    """Places in the policy's lists, NONE where there is none; one row a URL."""

    site: Int32s
    hub: Int32s
    prefix: Int32s
    node: Int32s
    """Node of the forest."""
    is_static: Flags


def beginnings(strings: list[str], site: Int32s, hub: Int32s, prefix: Int32s) -> Beginnings:
    """The table of distinct texts."""
    flat = texts(strings)
    table = np.full(_size(len(strings)), -1, np.int32)
    _enter(table, flat.data, flat.offsets, SEED)
    return Beginnings(table, flat.data, flat.offsets, site, hub, prefix, SEED)


def extensions(names: list[str]) -> Extensions:
    """The table of distinct lower-case names."""
    flat = texts([name for name in names if len(name) <= MAX_EXTENSION])
    table = np.full(_size(len(flat)), -1, np.int32)
    _enter(table, flat.data, flat.offsets, SEED)
    return Extensions(table, flat.data, flat.offsets)


def _size(entries: int) -> int:
    return 1 << max(4, (4 * entries).bit_length())


@njit(nogil=True, cache=True, forceinline=True)
def _place(value: np.uint64, mask: int) -> int:
    return int(np.int64((value ^ (value >> np.uint64(29))) & np.uint64(mask)))


@njit(nogil=True, cache=True)
def _enter(table: Int32s, data: Bytes, offsets: Int64s, seed: np.uint64) -> None:
    mask = len(table) - 1
    for i in range(len(offsets) - 1):
        value = seed
        for at in range(offsets[i], offsets[i + 1]):
            value = (value ^ np.uint64(data[at])) * _PRIME
        place = _place(value, mask)
        while table[place] >= 0:
            place = (place + 1) & mask
        table[place] = i


@njit(nogil=True, cache=True, forceinline=True)
def _entry(
    table: Int32s,
    known: Bytes,
    offsets: Int64s,
    value: np.uint64,
    data: Bytes,
    start: int,
    stop: int,
) -> int:
    """The entry of the text with hash `value`, NONE if there is none."""
    mask = len(table) - 1
    place = _place(value, mask)
    while table[place] >= 0:
        entry = table[place]
        begin = offsets[entry]
        if offsets[entry + 1] - begin == stop - start and equal_bytes(
            known, begin, data, start, stop - start
        ):
            return int(entry)
        place = (place + 1) & mask
    return NONE


@njit(nogil=True, cache=True)
def find(
    data: Bytes,
    starts: Int64s,
    stops: Int64s,
    known: Beginnings,
    static: Extensions,
    tree_of_site: Int32s,
    forest: Forest,
    desk: Desk,
    includes_subdomains: bool,
) -> Found:
    """What is known of each canonical URL; one with `starts[i] < 0` is of no site."""
    count = len(starts)
    site = np.full(count, NONE, np.int32)
    hub = np.full(count, NONE, np.int32)
    prefix = np.full(count, NONE, np.int32)
    node = np.full(count, NONE, np.int32)
    is_static = np.zeros(count, np.bool_)
    for i in range(count):
        if starts[i] < 0:
            continue
        start, stop = starts[i], stops[i]
        host = start
        while data[host] != _COLON:
            host += 1
        host += 3
        end, path = _host_ends(data, host, stop)
        site[i] = _site(data, host, end, known, includes_subdomains)
        if site[i] == NONE:
            continue
        query = _scan(data, host, path, stop, known, i, hub, prefix)
        is_static[i] = _is_static(data, path, query, static, known.seed)
        tree = tree_of_site[site[i]]
        if tree >= 0 and not is_static[i]:
            node[i] = walk(forest, tree, data, start, stop, desk)
    return Found(site, hub, prefix, node, is_static)


@njit(nogil=True, cache=True)
def _host_ends(data: Bytes, start: int, stop: int) -> tuple[int, int]:
    """Where the host ends, and where the path begins (they differ by a port)."""
    at = start
    if data[at] == _OPEN:
        while data[at] != _CLOSE:
            at += 1
    while at < stop and data[at] != _COLON and data[at] != _SLASH:
        at += 1
    path = at
    while path < stop and data[path] != _SLASH:
        path += 1
    return at, path


@njit(nogil=True, cache=True)
def _site(data: Bytes, start: int, end: int, known: Beginnings, includes_subdomains: bool) -> int:
    """The site of a host, or of the nearest domain above it where sites include these."""
    at = start
    while True:
        value = known.seed
        for i in range(at, end):
            value = (value ^ np.uint64(data[i])) * _PRIME
        entry = _entry(known.table, known.data, known.offsets, value, data, at, end)
        if entry >= 0 and known.site[entry] >= 0:
            return int(known.site[entry])
        if not includes_subdomains:
            return NONE
        while at < end and data[at] != _DOT:
            at += 1
        at += 1
        if at >= end:
            return NONE


@njit(nogil=True, cache=True)
def _scan(
    data: Bytes,
    host: int,
    path: int,
    stop: int,
    known: Beginnings,
    i: int,
    hub: Int32s,
    prefix: Int32s,
) -> int:
    """Note the hub that the URL is and the longest prefix it has; where its path ends."""
    value = known.seed
    query = stop
    for at in range(host, stop):
        byte = data[at]
        value = (value ^ np.uint64(byte)) * _PRIME
        if at >= path and (byte == _SLASH or (byte == _QUESTION and query == stop)):
            # Slashes of the query are none of a folder.
            if query == stop:
                entry = _entry(known.table, known.data, known.offsets, value, data, host, at + 1)
                if entry >= 0 and known.prefix[entry] >= 0:
                    prefix[i] = known.prefix[entry]
            if byte == _QUESTION and query == stop:
                query = at
    entry = _entry(known.table, known.data, known.offsets, value, data, host, stop)
    if entry >= 0:
        hub[i] = known.hub[entry]
    return query


@njit(nogil=True, cache=True)
def _is_static(data: Bytes, path: int, query: int, static: Extensions, seed: np.uint64) -> bool:
    """Whether the path up to its first `;` ends in the extension of a static file."""
    end = path
    dot = NONE
    while end < query and data[end] != _SEMICOLON:
        if data[end] == _DOT:
            dot = end
        elif data[end] == _SLASH:
            dot = NONE
        end += 1
    if dot < 0 or not 0 < end - dot - 1 <= MAX_EXTENSION:
        return False
    name = np.empty(MAX_EXTENSION, np.uint8)
    value = seed
    for i in range(dot + 1, end):
        byte = data[i]
        if 65 <= byte <= 90:
            byte += 32
        name[i - dot - 1] = byte
        value = (value ^ np.uint64(byte)) * _PRIME
    entry = _entry(static.table, static.data, static.offsets, value, name, 0, end - dot - 1)
    return entry >= 0
