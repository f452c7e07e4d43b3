"""The compiled loop that decides on many canonical URLs.

The loop finds the site of each URL. Then, site by site, it finds hubs and prefixes in one pass over
a URL, static files and the URL's pattern, and decides by the first that applies. Not here: how URLs
become canonical (`logs.urls.urls`), decisions as objects (`matcher`).

Hosts, hubs and prefixes are all beginnings of a URL without its scheme, so they share one hash
table, keyed by a running hash that is looked up wherever one of them may end.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from temporal_assets.core.numerics.arrays import Bytes, Flags, Int8s, Int32s, Int64s
from temporal_assets.core.numerics.compiled import inlined, leaf, loop
from temporal_assets.core.patterns.pattern_forest import Desk, Forest, desk_for, walk
from temporal_assets.core.text.texts import SEED, equal_bytes, texts
from temporal_assets.policy.document import SKIP_TIER

NONE: Final = -1

REASONS: Final = ("no_page", "static", "hub", "prefix", "pattern", "site", "unknown_site")
"""Names of the reasons of a decision, by code."""

NO_PAGE: Final = 0
STATIC: Final = 1
HUB: Final = 2
PREFIX: Final = 3
PATTERN: Final = 4
SITE: Final = 5
UNKNOWN_SITE: Final = 6

_PRIME: Final = np.uint64(0x100000001B3)
_COLON: Final = 58
_SLASH: Final = 47
_DOT: Final = 46
_QUESTION: Final = 63
_SEMICOLON: Final = 59
_OPEN: Final = 91
_CLOSE: Final = 93
_S: Final = 115

_SCHEME_ENDS: Final = 4
"""Number of bytes from the last letter of the scheme (included) to the host."""

MAX_EXTENSION: Final = 15
"""Longest extension of a static file in bytes."""


class Beginnings(NamedTuple):
    """Hash table of the beginnings of URLs (hosts, hubs, prefixes) with their entries."""

    table: Int32s
    data: Bytes
    offsets: Int64s
    site: Int32s
    """Index of the site with this host, or NONE; likewise below."""
    hub: Int32s
    hub_of_http: Int32s
    """Index of the hub for scheme `http`, which differs only where schemes make other pages."""
    prefix: Int32s
    seed: np.uint64


class Extensions(NamedTuple):
    """Hash table of the extensions of static files."""

    table: Int32s
    data: Bytes
    offsets: Int64s


class Tiers(NamedTuple):
    """The tier of every entry of the policy's lists, and the pattern of every tree node."""

    site: Int8s
    hub: Int8s
    prefix: Int8s
    pattern: Int8s
    overrules: Flags
    """True for patterns that decide over prefixes."""
    pattern_of_node: Int32s


class Found(NamedTuple):
    """Tier, reason and indices of the entries that decide, or NONE; one row per URL."""

    tier: Int8s
    reason: Int8s
    site: Int32s
    hub: Int32s
    prefix: Int32s
    pattern: Int32s


def beginnings(
    strings: list[str], site: Int32s, hub: Int32s, hub_of_http: Int32s, prefix: Int32s
) -> Beginnings:
    """Return the hash table of distinct texts."""
    flat = texts(strings)
    table = np.full(_size(len(strings)), -1, np.int32)
    _enter(table, flat.data, flat.offsets, SEED)
    return Beginnings(table, flat.data, flat.offsets, site, hub, hub_of_http, prefix, SEED)


def extensions(names: list[str]) -> Extensions:
    """Return the hash table of distinct lower-case names."""
    flat = texts([name for name in names if len(name) <= MAX_EXTENSION])
    table = np.full(_size(len(flat)), -1, np.int32)
    _enter(table, flat.data, flat.offsets, SEED)
    return Extensions(table, flat.data, flat.offsets)


def _size(entries: int) -> int:
    return 1 << max(4, (4 * entries).bit_length())


@inlined
def _place(value: np.uint64, mask: int) -> int:
    return int(np.int64((value ^ (value >> np.uint64(29))) & np.uint64(mask)))


@loop
def _enter(table: Int32s, data: Bytes, offsets: Int64s, seed: np.uint64) -> None:
    """Enter texts into a hash table (FNV-1a, linear probing) of their row numbers."""
    mask = len(table) - 1
    for i in range(len(offsets) - 1):
        value = seed
        for at in range(offsets[i], offsets[i + 1]):
            value = (value ^ np.uint64(data[at])) * _PRIME
        place = _place(value, mask)
        while table[place] >= 0:
            place = (place + 1) & mask
        table[place] = i


@inlined
def _entry(
    table: Int32s,
    words: Bytes,
    offsets: Int64s,
    value: np.uint64,
    data: Bytes,
    start: int,
    stop: int,
) -> int:
    """Return the entry of the text with hash `value`, NONE if there is none."""
    mask = len(table) - 1
    place = _place(value, mask)
    while table[place] >= 0:
        entry = table[place]
        begin = offsets[entry]
        if offsets[entry + 1] - begin == stop - start and equal_bytes(
            words, begin, data, start, stop - start
        ):
            return int(entry)
        place = (place + 1) & mask
    return NONE


def find(
    data: Bytes,
    starts: Int64s,
    stops: Int64s,
    *,
    beginnings: Beginnings,
    static: Extensions,
    tree_of_site: Int64s,
    forest: Forest,
    tiers: Tiers,
    includes_subdomains: bool,
) -> Found:
    """Return what decides on each canonical URL; one with `starts[i] < 0` is no page.

    URL i is the bytes `data[starts[i]:stops[i]]`.
    """
    count = len(starts)
    answer = Found(
        np.full(count, SKIP_TIER, np.int8),
        np.full(count, NO_PAGE, np.int8),
        *(np.full(count, NONE, np.int32) for _ in range(4)),
    )
    _find_sites(data, starts, stops, beginnings, includes_subdomains, answer)
    # Site by site: what is known of one site fits the processor's cache, all sites do not.
    order = np.argsort(answer.site, kind="stable")
    order = order[np.searchsorted(answer.site[order], 0) :]
    # The desk belongs to the call, hence to the thread.
    desk = desk_for(forest)
    name = np.empty(MAX_EXTENSION, np.uint8)
    _find(
        data, starts, stops, order, beginnings, static, tree_of_site, forest, tiers, desk, name,
        answer,
    )  # fmt: skip
    return answer


@leaf
def _find_sites(
    data: Bytes,
    starts: Int64s,
    stops: Int64s,
    beginnings: Beginnings,
    includes_subdomains: bool,
    answer: Found,
) -> None:
    """Find the policy's site of each URL; URLs of other sites get their reason here."""
    for i in range(len(starts)):
        if starts[i] < 0:
            continue
        host = _after_scheme(data, starts[i])
        end, _ = _host_ends(data, host, stops[i])
        answer.site[i] = _site(data, host, end, beginnings, includes_subdomains)
        if answer.site[i] == NONE:
            answer.reason[i] = UNKNOWN_SITE


@leaf
def _find(
    data: Bytes,
    starts: Int64s,
    stops: Int64s,
    order: Int64s,
    beginnings: Beginnings,
    static: Extensions,
    tree_of_site: Int64s,
    forest: Forest,
    tiers: Tiers,
    desk: Desk,
    name: Bytes,
    answer: Found,
) -> None:
    """Decide on the URLs with indices `order`, whose sites are known; fills `answer`."""
    for place in range(len(order)):
        i = order[place]
        start, stop = starts[i], stops[i]
        host = _after_scheme(data, start)
        _, path = _host_ends(data, host, stop)
        query = _scan(data, host, path, stop, beginnings, i, answer.hub, answer.prefix)
        if _is_static(data, path, query, static, beginnings.seed, name):
            answer.reason[i] = STATIC
            continue
        tree = tree_of_site[answer.site[i]]
        if tree >= 0:
            node = walk(forest, tree, data, start, stop, desk)
            if node >= 0:
                answer.pattern[i] = tiers.pattern_of_node[node]
        _decide(answer, i, tiers)


@inlined
def _after_scheme(data: Bytes, start: int) -> int:
    """Return the position of the host of a canonical URL."""
    at = start
    while data[at] != _COLON:
        at += 1
    return at + 3


@inlined
def _decide(answer: Found, i: int, tiers: Tiers) -> None:
    """Set the decision of URL i by the first list that knows it."""
    pattern, prefix = answer.pattern[i], answer.prefix[i]
    if answer.hub[i] >= 0:
        answer.reason[i], answer.tier[i] = HUB, tiers.hub[answer.hub[i]]
    elif pattern >= 0 and (prefix < 0 or tiers.overrules[pattern]):
        answer.reason[i], answer.tier[i] = PATTERN, tiers.pattern[pattern]
    elif prefix >= 0:
        answer.reason[i], answer.tier[i] = PREFIX, tiers.prefix[prefix]
    else:
        answer.reason[i], answer.tier[i] = SITE, tiers.site[answer.site[i]]


@inlined
def _host_ends(data: Bytes, start: int, stop: int) -> tuple[int, int]:
    """Return the positions where the host ends and where the path begins, after a port."""
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


@inlined
def _site(
    data: Bytes, start: int, end: int, beginnings: Beginnings, includes_subdomains: bool
) -> int:
    """Return the site of a host, or of the nearest domain above it if sites include subdomains."""
    at = start
    while True:
        value = beginnings.seed
        for i in range(at, end):
            value = (value ^ np.uint64(data[i])) * _PRIME
        entry = _entry(beginnings.table, beginnings.data, beginnings.offsets, value, data, at, end)
        if entry >= 0 and beginnings.site[entry] >= 0:
            return int(beginnings.site[entry])
        if not includes_subdomains:
            return NONE
        while at < end and data[at] != _DOT:
            at += 1
        at += 1
        if at >= end:
            return NONE


@inlined
def _scan(
    data: Bytes,
    host: int,
    path: int,
    stop: int,
    beginnings: Beginnings,
    i: int,
    hub: Int32s,
    prefix: Int32s,
) -> int:
    """Store the hub that equals the URL and its longest prefix; return where its path ends."""
    value = beginnings.seed
    query = stop
    for at in range(host, stop):
        byte = data[at]
        value = (value ^ np.uint64(byte)) * _PRIME
        if at >= path and (byte == _SLASH or (byte == _QUESTION and query == stop)):
            # Slashes of the query are none of a folder.
            if query == stop:
                entry = _entry(
                    beginnings.table, beginnings.data, beginnings.offsets, value, data, host, at + 1
                )
                if entry >= 0 and beginnings.prefix[entry] >= 0:
                    prefix[i] = beginnings.prefix[entry]
            if byte == _QUESTION and query == stop:
                query = at
    entry = _entry(beginnings.table, beginnings.data, beginnings.offsets, value, data, host, stop)
    if entry >= 0:
        is_https = data[host - _SCHEME_ENDS] == _S
        hub[i] = beginnings.hub[entry] if is_https else beginnings.hub_of_http[entry]
    return query


@inlined
def _is_static(
    data: Bytes, path: int, query: int, static: Extensions, seed: np.uint64, name: Bytes
) -> bool:
    """Return whether the path up to its first `;` ends in the extension of a static file."""
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
    value = seed
    for i in range(dot + 1, end):
        byte = data[i]
        if 65 <= byte <= 90:
            byte += 32
        name[i - dot - 1] = byte
        value = (value ^ np.uint64(byte)) * _PRIME
    entry = _entry(static.table, static.data, static.offsets, value, name, 0, end - dot - 1)
    return entry >= 0
