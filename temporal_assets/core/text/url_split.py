"""Division of a canonical URL into its fields: scheme, port, host labels, path, extension, query.

Here: the compiled loops that both learning (`url_fields`) and matching (`pattern_match`) run over a
URL, so that they cannot disagree. Not here: numbering of keys and values.

The division loses nothing:

* host labels count from the right (0 is the top-level domain), so that `www.a.com` and `a.com`
  agree where they can; an address is one label;
* path segments count from the left; `/a/` has the segments `a` and the empty one, which is not
  the same as having no second segment;
* an extension is 1 to 5 letters or digits after the last dot of the last segment, the first a
  letter, and something before the dot: `v1.10` and `.profile` have none;
* a query field without `=` is a value of the nameless key; the n-th field of one name is a key of
  its own; empty fields vanish.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Bytes, Int64s
from temporal_assets.core.numerics.compiled import constant, inlined, leaf
from temporal_assets.core.text.texts import alike, equal_bytes, find_byte, find_either, hash_bytes

SCHEME: Final = 0
PORT: Final = 1
HOST: Final = 2
PATH: Final = 3
EXTENSION: Final = 4
QUERY: Final = 5
"""Kinds of keys, in the order in which ties are decided: host, path, query."""

MAX_LABELS: Final = 8
MAX_SEGMENTS: Final = 24
"""Most labels or segments; the last takes the rest. Real paths are shorter; crawler traps are
not."""

MAX_FIELDS: Final = 32
"""Most query fields; further ones are ignored, because no page depends on so many."""

MAX_REPEATS: Final = 4
"""Most query fields of one name; further ones are ignored."""

CAPACITY: Final = 2 + MAX_LABELS + MAX_SEGMENTS + 1 + MAX_FIELDS

_BUCKETS: Final = 128
"""Hash chains of field names: each name is compared with few others however many there are."""

KIND: Final = 0
INDEX: Final = 1
START: Final = 2
STOP: Final = 3
NAME_START: Final = 4
NAME_STOP: Final = 5
NAME_HASH: Final = 6
_BEFORE: Final = 7
"""Columns of the field table. The index is that of the label, the segment, or the repetition of the
name; the hash is `texts.hash_bytes` with salt 0."""

TABLE_SHAPE: Final = (CAPACITY + _BUCKETS, 8)
"""Shape of the field table; its last rows hold the last field of each hash chain in the first
column."""

MAX_EXTENSION: Final = 5

_FIRST: Final = constant(0)
_COLON: Final = constant(58)
_SLASH: Final = constant(47)
_DOT: Final = constant(46)
_QUESTION: Final = constant(63)
_AND: Final = constant(38)
_EQUALS: Final = constant(61)
_OPEN: Final = constant(91)
_CLOSE: Final = constant(93)


@leaf
def split_url(data: Bytes, start: int, stop: int, fields: Int64s, seed: np.uint64) -> int:
    """Fill `fields` with the fields of one URL and return how many there are.

    `fields` has the TABLE_SHAPE and may hold those of another URL.
    """
    count = 0
    host = _after_scheme(data, start, stop)
    path = host
    if host > start:
        count = _put(fields, count, SCHEME, 0, start, host - 3)
        while path < stop and data[path] != _SLASH and data[path] != _QUESTION:
            path += 1
        count = _split_host(data, host, path, fields, count)
    query = path
    if path < stop and data[path] != _QUESTION:
        count, query = _split_path(data, path + 1, stop, _FIRST, fields, count)
    if query < stop:
        count = _split_query(data, query + 1, stop, fields, count, seed)
    return count


@leaf
def split_next(
    data: Bytes, before: int, start: int, stop: int, fields: Int64s, count: int, seed: np.uint64
) -> tuple[int, int]:
    """Split a URL as `split_url` does, reusing the `count` fields of the URL before it.

    Neighbours are alike up to their last segment or two. Returns how many of those fields stay as
    they were, being in the same place of both, and how many there are now.
    """
    end = before + alike(data, before, start, min(start - before, stop - start))
    kept = count
    while kept > 0 and fields[kept - 1, KIND] == QUERY:
        kept -= 1
    ends_alike = kept > 0 and fields[kept - 1, KIND] >= PATH and fields[kept - 1, STOP] < end
    if not ends_alike:
        # To be cut anew from the last segment that begins where both are still alike.
        while kept > 0 and (fields[kept - 1, KIND] != PATH or fields[kept - 1, START] > end):
            kept -= 1
    # What looks like a path may be the scheme of the next.
    if kept == 0 or fields[0, KIND] != SCHEME:
        return 0, split_url(data, start, stop, fields, seed)
    for i in range(kept):
        fields[i, START] += start - before
        fields[i, STOP] += start - before
    query = fields[kept - 1, STOP]
    count = kept
    if not ends_alike:
        kept -= 1
        segment = fields[kept, INDEX]
        count, query = _split_path(data, fields[kept, START], stop, segment, fields, kept)
    if query < stop:
        count = _split_query(data, query + 1, stop, fields, count, seed)
    return kept, count


@inlined
def _put(fields: Int64s, count: int, kind: int, index: int, start: int, stop: int) -> int:
    fields[count, KIND] = kind
    fields[count, INDEX] = index
    fields[count, START] = start
    fields[count, STOP] = stop
    fields[count, NAME_START] = 0
    fields[count, NAME_STOP] = 0
    return count + 1


@inlined
def _after_scheme(data: Bytes, start: int, stop: int) -> int:
    """Return where the host begins; `start` if the URL names none."""
    at = start
    while at + 2 < stop:
        if data[at] == _COLON and data[at + 1] == _SLASH and data[at + 2] == _SLASH:
            return at + 3 if at > start else start
        if data[at] == _SLASH or data[at] == _QUESTION:
            return start
        at += 1
    return start


@inlined
def _split_host(data: Bytes, start: int, stop: int, fields: Int64s, count: int) -> int:
    """Add the port and the labels of a host, the last label first, or an address whole."""
    end = stop
    at = stop - 1
    while at >= start and data[at] != _CLOSE:
        if data[at] == _COLON:
            count = _put(fields, count, PORT, 0, at + 1, stop)
            end = at
            break
        at -= 1
    if _is_address(data, start, end):
        return _put(fields, count, HOST, 0, start, end)
    label = 0
    right = end
    at = end - 1
    while at >= start and label < MAX_LABELS - 1:
        if data[at] == _DOT:
            count = _put(fields, count, HOST, label, at + 1, right)
            label += 1
            right = at
        at -= 1
    return _put(fields, count, HOST, label, start, right)


@inlined
def _is_address(data: Bytes, start: int, stop: int) -> bool:
    """Return True for IPv6 in brackets, and for IPv4: the last label is a number."""
    if start < stop and data[start] == _OPEN:
        return True
    at = stop - 1
    while at >= start and 48 <= data[at] <= 57:
        at -= 1
    return at < stop - 1 and (at < start or data[at] == _DOT)


@inlined
def _split_path(
    data: Bytes, begin: int, stop: int, segment: int, fields: Int64s, count: int
) -> tuple[int, int]:
    """Split a path from its segment at `begin` on; return the number of fields and the path's end.

    The end is at the question mark, or at `stop`.
    """
    end = find_either(data, begin, stop, _SLASH, _QUESTION)
    while end < stop and data[end] == _SLASH:
        if segment == MAX_SEGMENTS - 1:
            end = find_byte(data, end, stop, _QUESTION)
            break
        count = _put(fields, count, PATH, segment, begin, end)
        segment += 1
        begin = end + 1
        end = find_either(data, begin, stop, _SLASH, _QUESTION)
    dot = _extension_dot(data, begin, end)
    if dot < 0:
        return _put(fields, count, PATH, segment, begin, end), end
    count = _put(fields, count, PATH, segment, begin, dot)
    return _put(fields, count, EXTENSION, 0, dot + 1, end), end


@inlined
def _extension_dot(data: Bytes, start: int, stop: int) -> int:
    """Return the position of the dot before a path's extension, or -1 without one."""
    at = stop - 1
    while at > start and _is_alphanumeric(data[at]) and stop - at <= MAX_EXTENSION + 1:
        at -= 1
    length = stop - at - 1
    if at <= start or data[at] != _DOT or data[at - 1] == _SLASH:
        return -1
    if not 1 <= length <= MAX_EXTENSION or 48 <= data[at + 1] <= 57:
        return -1
    return at


@inlined
def _is_alphanumeric(byte: int) -> bool:
    return 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122


@inlined
def _split_query(
    data: Bytes, start: int, stop: int, fields: Int64s, count: int, seed: np.uint64
) -> int:
    """Append the fields of `data[start:stop]`, a query, to `fields`; return their new number."""
    first = count
    at = start
    seen = 0
    while at < stop and seen < MAX_FIELDS:
        if data[at] == _AND:
            at += 1
            continue
        end = find_either(data, at, stop, _AND, _EQUALS)
        equals = -1
        if end < stop and data[end] == _EQUALS:
            equals = end
            end = find_byte(data, end, stop, _AND)
        seen += 1
        name_stop = equals if equals >= 0 else at
        value = equals + 1 if equals >= 0 else at
        # A bare field has no name; `=x` has the empty name as well, but is told apart by
        # its value, which keeps the sign.
        if equals == at:
            value = at
        name = int(np.int64(hash_bytes(data, at, name_stop, 0, seed)))
        repeat = _repeats(data, at, name_stop, name, fields, first, count)
        if repeat < MAX_REPEATS:
            _chain(fields, count, name)
            count = _put(fields, count, QUERY, repeat, value, end)
            fields[count - 1, NAME_START] = at
            fields[count - 1, NAME_STOP] = name_stop
        at = end + 1
    return count


@inlined
def _repeats(
    data: Bytes, start: int, stop: int, name: int, fields: Int64s, first: int, count: int
) -> int:
    """Return how many of the fields from `first` to `count` have the name `data[start:stop]`."""
    bucket = name & (_BUCKETS - 1)
    at = fields[CAPACITY + bucket, 0]
    # The table is not emptied between URLs: what is no earlier field of this chain ends it. Without
    # `before`, a link left by the last URL could lead forward again, and the loop would not end.
    before = count
    while first <= at < before and fields[at, NAME_HASH] & (_BUCKETS - 1) == bucket:
        begin = fields[at, NAME_START]
        if (
            fields[at, NAME_HASH] == name
            and fields[at, NAME_STOP] - begin == stop - start
            and equal_bytes(data, start, data, begin, stop - start)
        ):
            return int(fields[at, INDEX]) + 1
        before = at
        at = fields[at, _BEFORE]
    return 0


@inlined
def _chain(fields: Int64s, field: int, name: int) -> None:
    """Append a field to the hash chain of its name."""
    bucket = name & (_BUCKETS - 1)
    fields[field, NAME_HASH] = name
    fields[field, _BEFORE] = fields[CAPACITY + bucket, 0]
    fields[CAPACITY + bucket, 0] = field
