"""A compiled pass that finds the fields of JSON lines without decoding them.

Here: the loop over the bytes of a line, and the keys it looks for. Not here: lines that it does not
understand and values with escapes, which orjson decodes (`structured`).

A line that is reported as read is an object that orjson would accept, with the same values. Rare
things are left to orjson: keys with escapes, surrogates, exponents, blanks other than spaces, deep
nesting, bytes that are not UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import constant, inlined, loop
from temporal_assets.core.text.texts import find_either
from temporal_assets.logs.fields.field_arrays import Flags, Lines, Reasons
from temporal_assets.logs.fields.layouts import SLOTS, Slot
from temporal_assets.logs.read.kernels import (
    BACKSLASH,
    BRACE,
    CLOSE,
    COLON,
    COMMA,
    DOT,
    MINUS,
    NINE,
    OPEN,
    QUOTE,
    SPACE,
    UNBRACE,
    ZERO,
)
from temporal_assets.logs.read.records import Bytes, Offsets, Reject

Path = tuple[str, ...]
Paths = Mapping[Slot, Sequence[Path]]
"""Paths of a field, the most likely first."""

Kinds = NDArray[np.uint8]

ABSENT: Final = 0
NULL: Final = 1
PLAIN: Final = 2
"""Kind of a value that equals its bytes (between quotes, for a text)."""
ESCAPED: Final = 3
"""Kind of a text with escapes."""
NUMBER: Final = 4
"""Kind of a number that Python may write differently."""
NO_TEXT: Final = 5
"""Kind of true, false and objects: values that are no field."""

_BUCKETS: Final = 256
_OUTERMOST: Final = constant(0)
_DEEPEST: Final = 16
"""Levels of nesting that are followed; logs have four."""
_MOST_DIGITS: Final = 30
"""Before or behind the point: beyond, a number may be too large for orjson."""
_EXACT_DIGITS: Final = 15
"""A decimal of so many digits is the shortest that means its double (DBL_DIG)."""
_ESCAPE: Final = 6
"""Bytes of `\\u002d`, which is how a text could hide that it is a `-`."""

_NULL: Final = np.frombuffer(b"null", np.uint8)
_TRUE: Final = np.frombuffer(b"true", np.uint8)
_FALSE: Final = np.frombuffer(b"false", np.uint8)
_E: Final = np.int64(ord("e"))
_U: Final = np.int64(ord("u"))
_D: Final = 13
_NONE: Final = int(Reject.NONE)

_AFTER_BACKSLASH: Final = np.zeros(256, np.bool_)
_AFTER_BACKSLASH[np.frombuffer(b'"\\/bfnrt', np.uint8)] = True


class Keys(NamedTuple):
    """Tree of the keys that lead to fields, and the ways to each field. Node 0 is the line."""

    text: Bytes
    """Bytes of all keys, concatenated."""
    start: Offsets
    stop: Offsets
    parent: Offsets
    place: Offsets
    """Position of the list element that the key names, -1 if none."""
    has_places: Flags
    is_inner: Flags
    is_value: Flags
    """True if a field may stand there."""
    bucket: Offsets
    """The first node of each hash, -1 if there is none."""
    following: Offsets
    """The next node with the same hash."""
    slot: Offsets
    """Field of each way; the ways to one field are in their order."""
    head: Offsets
    """First node of each way."""
    nested: Offsets
    """Last node of each way, used if its `head` exists in the line."""
    flat: Offsets
    """Node used if the `head` does not exist: some log shippers flatten objects into keys with
    dots."""


@dataclass(frozen=True, slots=True)
class Scan:
    """Fields found in the lines of a block."""

    read: Flags
    """True for lines that were understood; fields of others are unknown."""
    start: Offsets
    """A row per `Slot`, a column per line; -1 for no value."""
    stop: Offsets
    kind: Kinds
    """PLAIN, ESCAPED or NUMBER where there is a value."""


def keys_of(paths: Paths) -> Keys:
    """Return the tree of all keys on the way to a field."""
    nodes: dict[Path, int] = {(): 0}
    ways = [(int(slot), path) for slot, options in paths.items() for path in options]
    for _, path in ways:
        for length in range(1, len(path) + 1):
            nodes.setdefault(path[:length], len(nodes))
        nodes.setdefault((".".join(path),), len(nodes))
    names = [path[-1].encode() if path else b"" for path in nodes]
    parent = [nodes[path[:-1]] if path else -1 for path in nodes]
    place = [int(path[-1]) if path and path[-1].isdecimal() else -1 for path in nodes]
    lengths = np.array([len(name) for name in names], np.int64)
    nested = [nodes[path] for _, path in ways]
    flat = [nodes[(".".join(path),)] for _, path in ways]
    bucket, following = _buckets(parent, names)
    return Keys(
        text=np.frombuffer(b"".join(names) or b"\0", np.uint8),
        start=np.cumsum(lengths) - lengths,
        stop=np.cumsum(lengths),
        parent=np.array(parent, np.int64),
        place=np.array(place, np.int64),
        has_places=_among(
            len(nodes), [up for up, at in zip(parent, place, strict=True) if at >= 0]
        ),
        is_inner=_among(len(nodes), parent[1:]),
        is_value=_among(len(nodes), [*nested, *flat]),
        bucket=bucket,
        following=following,
        slot=np.array([slot for slot, _ in ways], np.int64),
        head=np.array([nodes[path[:1]] for _, path in ways], np.int64),
        nested=np.array(nested, np.int64),
        flat=np.array(flat, np.int64),
    )


def scan(data: Bytes, lines: Lines, reason: Reasons, keys: Keys, is_utf8: bool) -> Scan:
    """Find the fields of all lines that were not rejected before (`reason`).

    Unless all of `data` is UTF-8, lines with bytes beyond ASCII are not read.
    """
    read = np.zeros(len(lines), np.bool_)
    start = np.full((SLOTS, len(lines)), -1, np.int64)
    stop = np.full((SLOTS, len(lines)), -1, np.int64)
    kind = np.zeros((SLOTS, len(lines)), np.uint8)
    _scan(data, lines.start, lines.stop, reason, keys, is_utf8, read, start, stop, kind)
    return Scan(read, start, stop, kind)


def _among(count: int, members: Iterable[int]) -> Flags:
    flags = np.zeros(count, np.bool_)
    flags[list(members)] = True
    return flags


def _buckets(parents: Sequence[int], names: Sequence[bytes]) -> tuple[Offsets, Offsets]:
    bucket = np.full(_BUCKETS, -1, np.int64)
    following = np.full(len(names), -1, np.int64)
    for node in range(1, len(names)):
        name = names[node] or b"\0"
        at = _mixed(parents[node], len(names[node]), name[0], name[-1])
        following[node], bucket[at] = bucket[at], node
    return bucket, following


def _mixed(parent: int, length: int, first: int, last: int) -> int:
    """Return a hash of a key from its length and two of its bytes."""
    return (parent * 37 + length * 11 + first * 5 + last) & (_BUCKETS - 1)


_hash: Final = inlined(_mixed)


# Lines ---------------------------------------------------------------------------------------


@loop
def _scan(
    data: Bytes,
    line_start: Offsets,
    line_stop: Offsets,
    reason: Reasons,
    keys: Keys,
    is_utf8: bool,
    read: Flags,
    start: Offsets,
    stop: Offsets,
    kind: Kinds,
) -> None:
    """Find the fields of each line; fills `read`, `start`, `stop` and `kind`."""
    nodes = keys.parent.size
    at, end = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    what = np.empty(nodes, np.uint8)
    levels = np.empty((_DEEPEST, 3), np.int64)
    firm = np.empty(SLOTS, np.bool_)
    for i in range(line_start.size):
        if reason[i] != _NONE or not _is_text(data, line_start[i], line_stop[i], is_utf8):
            continue
        what[:] = ABSENT
        read[i] = _object(data, line_start[i], line_stop[i], keys, at, end, what, levels)
        if read[i]:
            _choose(data, i, keys, at, end, what, firm, start, stop, kind)


@inlined
def _is_text(data: Bytes, at: int, stop: int, is_utf8: bool) -> bool:
    """Return True if a line has no control characters, and no bytes that may not be UTF-8."""
    low = False
    high = np.uint8(0)
    for i in range(at, stop):
        low |= data[i] < SPACE
        high |= data[i]
    return not low and bool(is_utf8 or high < 128)


@inlined
def _choose(
    data: Bytes,
    line: int,
    keys: Keys,
    at: Offsets,
    end: Offsets,
    what: Kinds,
    firm: Flags,
    start: Offsets,
    stop: Offsets,
    kind: Kinds,
) -> None:
    """Choose the first way to each field that leads to a value, or else to an empty one."""
    firm[:] = False
    for way in range(keys.slot.size):
        slot = keys.slot[way]
        node = keys.nested[way] if what[keys.head[way]] != ABSENT else keys.flat[way]
        value_kind = what[node]
        # What has parts is no value: shippers put a `host` of theirs before the site's.
        if firm[slot] or value_kind in (ABSENT, NULL, NO_TEXT):
            continue
        size = end[node] - at[node]
        is_empty = value_kind == PLAIN and (size == 0 or (size == 1 and data[at[node]] == MINUS))
        if is_empty and kind[slot, line] != ABSENT:
            continue
        firm[slot] = not is_empty
        kind[slot, line] = value_kind
        start[slot, line] = at[node]
        stop[slot, line] = end[node]


# Grammar -------------------------------------------------------------------------------------


@inlined
def _object(
    data: Bytes,
    at: int,
    stop: int,
    keys: Keys,
    value_at: Offsets,
    value_end: Offsets,
    what: Kinds,
    levels: Offsets,
) -> bool:
    """Note the values of all nodes; return True if the line is an object and was understood.

    `levels` are the enclosing objects and lists: (node, whether it is a list, number of its next
    element).
    """
    at = _skip(data, at, stop)
    if at >= stop or data[at] != BRACE:
        return False
    at += 1
    depth = _OUTERMOST
    levels[0, 0] = levels[0, 1] = levels[0, 2] = 0
    just_opened = True
    while True:
        at = _skip(data, at, stop)
        if not just_opened or at >= stop or data[at] != _closer(levels, depth):
            child, at = _next_child(data, at, stop, keys, what, levels, depth)
            if at < 0:
                return False
            if data[at] == BRACE or data[at] == OPEN:
                depth += 1
                if not _enter(child, data[at] == OPEN, keys, what, levels, depth):
                    return False
                just_opened = True
                at += 1
                continue
            begin, end, at, kind = _scalar(data, at, stop)
            if at < 0:
                return False
            if child >= 0:
                value_at[child], value_end[child], what[child] = begin, end, kind
        just_opened = False
        at, depth = _after_value(data, at, stop, levels, depth)
        if at < 0 or depth < 0:
            return at == stop


@inlined
def _closer(levels: Offsets, depth: int) -> int:
    return CLOSE if levels[depth, 1] else UNBRACE


@inlined
def _next_child(
    data: Bytes, at: int, stop: int, keys: Keys, what: Kinds, levels: Offsets, depth: int
) -> tuple[int, int]:
    """Return the node of the element or key that begins here (or -1), and where its value begins.

    The latter is -1 for what is not understood.
    """
    parent = levels[depth, 0]
    child = -1
    if levels[depth, 1]:
        if parent >= 0 and keys.has_places[parent]:
            child = _element(keys, parent, levels[depth, 2])
        levels[depth, 2] += 1
        return child, (at if at < stop else -1)
    if at >= stop or data[at] != QUOTE:
        return -1, -1
    end = find_either(data, at + 1, stop, QUOTE, BACKSLASH)
    if end >= stop or data[end] != QUOTE:
        return -1, -1
    if parent >= 0:
        child = _child(data, at + 1, end, keys, parent)
    if child >= 0 and what[child] != ABSENT and keys.is_inner[child]:
        return -1, -1  # a key twice: what was found under the first one would stay
    at = _skip(data, end + 1, stop)
    if at >= stop or data[at] != COLON:
        return -1, -1
    at = _skip(data, at + 1, stop)
    return child, (at if at < stop else -1)


@inlined
def _enter(node: int, is_list: bool, keys: Keys, what: Kinds, levels: Offsets, depth: int) -> bool:
    """Enter an object or list; return False if it is nested too deeply, or has to be a value."""
    if depth == _DEEPEST or (node >= 0 and is_list and keys.is_value[node]):
        return False
    if node >= 0:
        what[node] = NO_TEXT
    levels[depth, 0], levels[depth, 1], levels[depth, 2] = node, is_list, 0
    return True


@inlined
def _after_value(data: Bytes, at: int, stop: int, levels: Offsets, depth: int) -> tuple[int, int]:
    """Return where the line goes on after a comma, and the depth; -1 if not understood.

    At the end of the outermost object the depth is -1.
    """
    while True:
        at = _skip(data, at, stop)
        if at >= stop:
            return -1, depth
        if data[at] == COMMA:
            return at + 1, depth
        if data[at] != _closer(levels, depth):
            return -1, depth
        at += 1
        depth -= 1
        if depth < 0:
            return _skip(data, at, stop), depth


@inlined
def _skip(data: Bytes, at: int, stop: int) -> int:
    while at < stop and data[at] == SPACE:
        at += 1
    return at


@inlined
def _child(data: Bytes, start: int, stop: int, keys: Keys, parent: int) -> int:
    """Return the node of a key under another, -1 if it leads to no field."""
    length = stop - start
    first, last = (int(data[start]), int(data[stop - 1])) if length else (0, 0)
    node = int(keys.bucket[_hash(parent, length, first, last)])
    while node >= 0:
        if keys.parent[node] == parent and keys.stop[node] - keys.start[node] == length:
            same = True
            for i in range(length):
                same &= data[start + i] == keys.text[keys.start[node] + i]
            if same:
                return node
        node = int(keys.following[node])
    return -1


@inlined
def _element(keys: Keys, parent: int, place: int) -> int:
    for node in range(keys.parent.size):
        if keys.parent[node] == parent and keys.place[node] == place:
            return node
    return -1


@inlined
def _scalar(data: Bytes, at: int, stop: int) -> tuple[int, int, int, int]:
    """Return begin, end, continuation (or -1) and kind of a value without parts."""
    if data[at] == QUOTE:
        end, kind = _text_end(data, at + 1, stop)
        return at + 1, end, (end + 1 if end >= 0 else -1), kind
    if data[at] == MINUS or ZERO <= data[at] <= NINE:
        end, after, kind = _number(data, at, stop)
        return at, end, after, kind
    for word, kind in ((_NULL, NULL), (_TRUE, NO_TEXT), (_FALSE, NO_TEXT)):
        same = at + word.size <= stop
        for i in range(word.size):
            same = same and data[at + i] == word[i]
        if same:
            return -1, -1, at + word.size, kind
    return -1, -1, -1, ABSENT


@inlined
def _text_end(data: Bytes, at: int, stop: int) -> tuple[int, int]:
    """Return the position of a text's closing quote (-1: left to orjson), and its kind."""
    begin = at
    kind = PLAIN
    while True:
        at = find_either(data, at, stop, QUOTE, BACKSLASH)
        if at >= stop:
            return -1, kind
        if data[at] == QUOTE:
            break
        kind = ESCAPED
        if at + 1 < stop and _AFTER_BACKSLASH[data[at + 1]]:
            at += 2
        elif at + _ESCAPE <= stop and data[at + 1] == _U and _is_character(data, at + 2):
            at += _ESCAPE
        else:
            return -1, kind
    if kind == ESCAPED and at - begin == _ESCAPE:
        return -1, kind
    return at, kind


@inlined
def _is_character(data: Bytes, at: int) -> bool:
    """Return whether four hexadecimal digits name a character, and no half of a surrogate pair."""
    digits = 0
    for i in range(at, at + 4):
        digits += _hex(data[i]) >= 0
    return digits == 4 and not (_hex(data[at]) == _D and _hex(data[at + 1]) >= 8)


@inlined
def _hex(byte: int) -> int:
    if ZERO <= byte <= NINE:
        return int(byte) - ZERO
    lower = int(byte) | 32
    return lower - 87 if 97 <= lower <= 102 else -1


@inlined
def _number(data: Bytes, at: int, stop: int) -> tuple[int, int, int]:
    """Return end, continuation (or -1) and kind of a number.

    Python writes no zeros at the end of a fraction, so they are excluded.
    """
    is_negative = data[at] == MINUS
    whole = at + is_negative
    at = _digits_end(data, whole, stop)
    digits = at - whole
    if digits == 0 or digits > _MOST_DIGITS or (digits > 1 and data[whole] == ZERO):
        return -1, -1, ABSENT
    end = at
    has_point = at < stop and data[at] == DOT
    if has_point:
        first = at + 1
        at = end = _digits_end(data, first, stop)
        if at == first or at - first > _MOST_DIGITS:
            return -1, -1, ABSENT
        while end > first + 1 and data[end - 1] == ZERO:
            end -= 1
        digits += end - first
    if at < stop and (data[at] | 32) == _E:
        return -1, -1, ABSENT
    # A leading zero may become an exponent, and loses its sign.
    is_plain = data[whole] != ZERO or not (has_point or is_negative)
    return end, at, (PLAIN if is_plain and digits <= _EXACT_DIGITS else NUMBER)


@inlined
def _digits_end(data: Bytes, at: int, stop: int) -> int:
    while at < stop and ZERO <= data[at] <= NINE:
        at += 1
    return at
