"""Compiled loops that recognise URLs which are canonical already, as nearly all logged ones are.

In: many URLs or request targets, as ranges of bytes. Out: flags; a True lets the caller skip the
parser (`canonical`), a False says nothing. Not here: the rule of canonical URLs (`canonical`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import loop, readonly
from temporal_assets.logs.read.byte_values import DOT, MINUS, NINE, PERCENT, QUESTION, SLASH, ZERO
from temporal_assets.logs.read.records import Bytes, Offsets
from temporal_assets.logs.urls.canonical import MAX_HOST, canonical_query
from temporal_assets.logs.urls.characters import (
    AND,
    EQUALS,
    LOWER_A,
    LOWER_Z,
    UPPER_A,
    UPPER_Z,
    hex_digit,
)
from temporal_assets.logs.urls.escapes import UNRESERVED
from temporal_assets.logs.urls.url_rules import (
    BEGINNING,
    DEFAULT,
    FNV_BASIS,
    FNV_PRIME,
    NAME,
    TABLE_SIZE,
    UrlRules,
)

_PLAIN: Final = np.zeros(256, np.bool_)
"""Bytes that neither the WHATWG parser nor the rule of canonical URLs ever changes in a path."""
_PLAIN[np.frombuffer(b"".join(sorted(c.encode() for c in UNRESERVED)), np.uint8)] = True
_PLAIN[np.frombuffer(b"!$&'()*+,:=@/", np.uint8)] = True

NOT_PLAIN: Final = 0
PLAIN_HTTP: Final = 1
PLAIN_HTTPS: Final = 2
"""Results of `plain_pages`: canonical under the one scheme or the other, or left to the parser."""

_HTTP: Final = np.frombuffer(b"http://", np.uint8)
_HTTPS: Final = np.frombuffer(b"https://", np.uint8)
_PUNYCODE: Final = np.frombuffer(b"xn--", np.uint8)
_MAX_LABEL: Final = 63
"""Most characters between two dots of a host name (RFC 1035)."""


def plain_targets(
    data: Bytes, start: Offsets, stop: Offsets, rules: UrlRules = DEFAULT
) -> NDArray[np.bool_]:
    """Return flags of request targets that are canonical paths, with or without a query.

    True for i means `canonical_url(origin + target, rules) == origin + target` for every canonical
    origin. False says nothing. Values are `data[start[i]:stop[i]]`; `start[i] < 0` is no value.
    """
    return _plain_targets(data, start, stop, _PLAIN, _PLAIN_QUERY, rules._suspects)


def plainly_spelled(data: Bytes, start: Offsets, stop: Offsets) -> NDArray[np.bool_]:
    """Return flags of request targets that need no parser, at most a change of their fields.

    True for i means `canonical_url(origin + target, rules) == origin + tidied(target, rules)` for
    every canonical origin. False says nothing. Values as in `plain_targets`.
    """
    return _plainly_spelled(data, start, stop, _PLAIN, _PLAIN_QUERY)


def tidied(target: bytes, rules: UrlRules = DEFAULT) -> bytes:
    """Return a plainly spelled target with only the fields that belong to the page, sorted."""
    path, _, query = target.decode("ascii").partition("?")
    query = canonical_query(query, rules) if query else ""
    return (f"{path}?{query}" if query else path).encode()


def plain_pages(data: Bytes, start: Offsets, stop: Offsets, rules: UrlRules) -> NDArray[np.uint8]:
    """Return which absolute URLs are canonical, except perhaps for their scheme.

    PLAIN_HTTP or PLAIN_HTTPS: `canonical_url(url, rules)` is `url` under the scheme of the rules.
    NOT_PLAIN says nothing. A query must be sorted, plain, and without keys to be dropped; a key
    that only resembles one of `rules.dropped_keys` makes a URL NOT_PLAIN, and most keys do not.
    """
    return _plain_pages(
        data, readonly(start), readonly(stop), _PLAIN, _PLAIN_QUERY, rules._suspects
    )


_PLAIN_QUERY: Final = _PLAIN.copy()
"""Bytes that are never changed in a query: the apostrophe is escaped there, a question mark is
not."""
_PLAIN_QUERY[ord("'")] = False
_PLAIN_QUERY[ord("?")] = True


@loop
def _mix(state: np.uint64, byte: int) -> np.uint64:
    """Return the FNV-1a hash after one more byte; `_suspects` computes the same in Python."""
    return (state ^ np.uint64(byte)) * FNV_PRIME


@loop
def _begins(data: Bytes, at: int, stop: int, word: Bytes) -> bool:
    if stop - at < word.size:
        return False
    same = True
    for i in range(word.size):
        same &= data[at + i] == word[i]
    return same


@loop
def _plain_path(data: Bytes, at: int, stop: int, plain: NDArray[np.bool_]) -> bool:
    """Return whether `data[at:stop]` is `/`, then plain bytes and escapes, without dot segments."""
    if at >= stop or data[at] != SLASH:
        return False
    dots = 0  # length of the segment so far if it has nothing but dots, else -1
    for i in range(at + 1, stop):
        byte = data[i]
        if byte == PERCENT:
            if not _plain_escape(data, i, stop, plain):
                return False
        elif not plain[byte]:
            return False
        if byte == SLASH:
            if dots == 1 or dots == 2:
                return False
            dots = 0
        elif byte == DOT and dots >= 0:
            dots += 1
        else:
            dots = -1
    return dots != 1 and dots != 2


@loop
def _plain_escape(data: Bytes, at: int, stop: int, plain: NDArray[np.bool_]) -> bool:
    """Return True for `%XX` in upper case at `at`, of a byte that must be escaped."""
    if at + 2 >= stop:
        return False
    high, low = hex_digit(data[at + 1]), hex_digit(data[at + 2])
    # Some plain bytes, such as `/`, may stay escaped as well; those are left to the parser.
    return high >= 0 and low >= 0 and not plain[16 * high + low]


@loop
def _plain_host(data: Bytes, at: int, stop: int) -> int:
    """Return where the host that begins at `at` ends; -1 unless it is surely canonical.

    Labels of lower-case letters, digits and inner hyphens; the last one begins with a letter
    (else it may be an IPv4 address); none is punycode, which the parser validates.
    """
    label = at
    for i in range(at, min(stop, at + MAX_HOST + 1)):
        byte = data[i]
        if byte in (DOT, SLASH):
            if not _plain_label(data, label, i):
                return -1
            if byte == SLASH:
                return i if LOWER_A <= data[label] <= LOWER_Z else -1
            label = i + 1
        elif not (LOWER_A <= byte <= LOWER_Z or ZERO <= byte <= NINE or byte == MINUS):
            return -1
    return -1


@loop
def _plain_label(data: Bytes, at: int, stop: int) -> bool:
    if at == stop or stop - at > _MAX_LABEL or data[at] == MINUS or data[stop - 1] == MINUS:
        return False
    return not _begins(data, at, stop, _PUNYCODE)


@loop
def _plain_targets(
    data: Bytes,
    start: Offsets,
    stop: Offsets,
    plain: NDArray[np.bool_],
    plain_query: NDArray[np.bool_],
    suspects: NDArray[np.uint8],
) -> NDArray[np.bool_]:
    """Return True for each target that is a plain page (`_plain_page`)."""
    out = np.zeros(start.size, np.bool_)
    for i in range(start.size):
        out[i] = start[i] >= 0 and _plain_page(
            data, start[i], stop[i], plain, plain_query, suspects
        )
    return out


@loop
def _plain_page(
    data: Bytes,
    path: int,
    stop: int,
    plain: NDArray[np.bool_],
    plain_query: NDArray[np.bool_],
    suspects: NDArray[np.uint8],
) -> bool:
    """Return whether `data[path:stop]` is a plain path, and a plain query if it has one."""
    query = path
    while query < stop and data[query] != QUESTION:
        query += 1
    if not _plain_path(data, path, query, plain):
        return False
    return query == stop or _plain_query(data, query + 1, stop, plain_query, suspects)


@loop
def _plainly_spelled(
    data: Bytes,
    start: Offsets,
    stop: Offsets,
    plain: NDArray[np.bool_],
    plain_query: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Return True for each target whose path and query have plain characters only."""
    out = np.zeros(start.size, np.bool_)
    for i in range(start.size):
        query = start[i]
        while 0 <= query < stop[i] and data[query] != QUESTION:
            query += 1
        out[i] = (
            query >= 0
            and _plain_path(data, start[i], query, plain)
            and _plain_text(data, query + 1, stop[i], plain_query)
        )
    return out


@loop
def _plain_text(data: Bytes, at: int, stop: int, plain: NDArray[np.bool_]) -> bool:
    """Return whether all of it is plain, or escaped because it must be."""
    good = True
    for i in range(at, stop):
        byte = data[i]
        good &= _plain_escape(data, i, stop, plain) if byte == PERCENT else plain[byte]
    return good


@loop
def _plain_pages(
    data: Bytes,
    start: Offsets,
    stop: Offsets,
    plain: NDArray[np.bool_],
    plain_query: NDArray[np.bool_],
    suspects: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Return PLAIN_HTTP or PLAIN_HTTPS for each URL that is canonical as it is, else 0."""
    out = np.zeros(start.size, np.uint8)
    for i in range(start.size):
        if start[i] < 0:
            continue
        if _begins(data, start[i], stop[i], _HTTP):
            kind, host = PLAIN_HTTP, start[i] + _HTTP.size
        elif _begins(data, start[i], stop[i], _HTTPS):
            kind, host = PLAIN_HTTPS, start[i] + _HTTPS.size
        else:
            continue
        path = _plain_host(data, host, stop[i])
        if path >= 0 and _plain_page(data, path, stop[i], plain, plain_query, suspects):
            out[i] = kind
    return out


@loop
def _plain_query(
    data: Bytes, at: int, stop: int, plain: NDArray[np.bool_], suspects: NDArray[np.uint8]
) -> bool:
    """Return True if `data[at:stop]` is plain fields sorted by name, none to be dropped."""
    if suspects[np.int64(FNV_BASIS & np.uint64(TABLE_SIZE - 1))] & BEGINNING:
        return False  # all keys are dropped
    before = name_stop = at  # the name of the field before; empty at first
    while True:
        name_end, end = _plain_field(data, at, stop, plain, suspects)
        if end <= at or not _in_order(data, before, name_stop, at, name_end):
            return False
        if end == stop:
            return True
        before, name_stop = at, name_end
        at = end + 1


@loop
def _plain_field(
    data: Bytes, start: int, stop: int, plain: NDArray[np.bool_], suspects: NDArray[np.uint8]
) -> tuple[int, int]:
    """Return the ends of the name and of the field that begin at `start`; -1 if it is not plain."""
    state = FNV_BASIS
    name_end = -1
    at = start
    while at < stop and data[at] != AND:
        byte = data[at]
        if not (_plain_escape(data, at, stop, plain) if byte == PERCENT else plain[byte]):
            return -1, -1
        if byte == EQUALS and name_end < 0:
            name_end = at
        elif name_end < 0:
            upper = UPPER_A <= byte <= UPPER_Z
            state = _mix(state, byte + (LOWER_A - UPPER_A if upper else 0))
            if suspects[np.int64(state & np.uint64(TABLE_SIZE - 1))] & BEGINNING:
                return -1, -1
        at += 1
    if suspects[np.int64(state & np.uint64(TABLE_SIZE - 1))] & NAME:
        return -1, -1
    return (at if name_end < 0 else name_end), at


@loop
def _in_order(data: Bytes, first: int, first_stop: int, second: int, second_stop: int) -> bool:
    """Return True if the first text does not come after the second."""
    shared = min(first_stop - first, second_stop - second)
    for i in range(shared):
        if data[first + i] != data[second + i]:
            return bool(data[first + i] < data[second + i])
    return first_stop - first <= second_stop - second
