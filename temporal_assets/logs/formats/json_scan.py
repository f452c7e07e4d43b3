"""A compiled pass that finds the fields of JSON lines without decoding them.

In: the lines of a block, and the tree of the keys to look for (`json_keys`). Out: `Scan`, a range
of bytes per field and line. Not here: single values (`json_values`), lines that this pass does not
understand and values with escapes, which orjson decodes (`structured`).

A line that is reported as read is an object that orjson would accept, with the same values. Rare
things are left to orjson: keys with escapes, surrogates, exponents, blanks other than spaces, deep
nesting, bytes that are not UTF-8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from temporal_assets.core.numerics.compiled import constant, inlined, loop
from temporal_assets.core.text.texts import find_either
from temporal_assets.logs.fields.field_arrays import Flags, Lines, Reasons
from temporal_assets.logs.fields.layouts import SLOTS
from temporal_assets.logs.formats.json_keys import Keys, key_hash
from temporal_assets.logs.formats.json_values import (
    ABSENT,
    NO_TEXT,
    NULL,
    PLAIN,
    Kinds,
    read_scalar,
)
from temporal_assets.logs.read.byte_values import (
    BACKSLASH,
    BRACE,
    CLOSE,
    COLON,
    COMMA,
    MINUS,
    OPEN,
    QUOTE,
    SPACE,
    UNBRACE,
)
from temporal_assets.logs.read.records import Bytes, Offsets, Reject

_OUTERMOST: Final = constant(0)
"""Depth of the object that is the line."""
_DEEPEST: Final = 16
"""Levels of nesting that are followed; logs have four."""
_NONE: Final = int(Reject.NONE)


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


class _FieldRanges(NamedTuple):
    """The arrays of `Scan`, for compiled code."""

    read: Flags
    start: Offsets
    stop: Offsets
    kind: Kinds


class _NodeValues(NamedTuple):
    """Range and kind of the value of each node of the tree of keys, in one line."""

    start: Offsets
    stop: Offsets
    kind: Kinds


def scan(data: Bytes, lines: Lines, reason: Reasons, keys: Keys, is_utf8: bool) -> Scan:
    """Find the fields of all lines that were not rejected before (`reason`).

    Unless all of `data` is UTF-8, lines with bytes beyond ASCII are not read.
    """
    fields = _FieldRanges(
        read=np.zeros(len(lines), np.bool_),
        start=np.full((SLOTS, len(lines)), -1, np.int64),
        stop=np.full((SLOTS, len(lines)), -1, np.int64),
        kind=np.zeros((SLOTS, len(lines)), np.uint8),
    )
    _scan(data, lines.start, lines.stop, reason, keys, is_utf8, fields)
    return Scan(*fields)


# Lines ---------------------------------------------------------------------------------------


@loop
def _scan(
    data: Bytes,
    line_start: Offsets,
    line_stop: Offsets,
    reason: Reasons,
    keys: Keys,
    is_utf8: bool,
    fields: _FieldRanges,
) -> None:
    """Find the fields of each line; fills `fields`."""
    size = keys.parent.size
    nodes = _NodeValues(
        np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.uint8)
    )
    levels = np.empty((_DEEPEST, 3), np.int64)
    firm = np.empty(SLOTS, np.bool_)
    for i in range(line_start.size):
        if reason[i] != _NONE or not _is_text(data, line_start[i], line_stop[i], is_utf8):
            continue
        nodes.kind[:] = ABSENT
        fields.read[i] = _object(data, line_start[i], line_stop[i], keys, nodes, levels)
        if fields.read[i]:
            _choose(data, i, keys, nodes, firm, fields)


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
    data: Bytes, line: int, keys: Keys, nodes: _NodeValues, firm: Flags, fields: _FieldRanges
) -> None:
    """Choose the first path to each field that leads to a value, or else to an empty one.

    `firm` is scratch space: True for fields that have a value already.
    """
    firm[:] = False
    for path in range(keys.slot.size):
        slot = keys.slot[path]
        is_nested = nodes.kind[keys.head[path]] != ABSENT
        node = keys.nested[path] if is_nested else keys.flat[path]
        kind = nodes.kind[node]
        # What has parts is no value: shippers put a `host` of theirs before the site's.
        if firm[slot] or kind in (ABSENT, NULL, NO_TEXT):
            continue
        start, stop = nodes.start[node], nodes.stop[node]
        size = stop - start
        is_empty = kind == PLAIN and (size == 0 or (size == 1 and data[start] == MINUS))
        if is_empty and fields.kind[slot, line] != ABSENT:
            continue
        firm[slot] = not is_empty
        fields.kind[slot, line] = kind
        fields.start[slot, line] = start
        fields.stop[slot, line] = stop


# Grammar -------------------------------------------------------------------------------------


@inlined
def _object(
    data: Bytes,
    at: int,
    stop: int,
    keys: Keys,
    nodes: _NodeValues,
    levels: Offsets,
) -> bool:
    """Note the values of all nodes; return True if the line is an object and was understood.

    `levels` has a row per enclosing object or list: its node, 1 for a list, and the number of its
    next element.
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
            child, at = _next_child(data, at, stop, keys, nodes.kind, levels, depth)
            if at < 0:
                return False
            if data[at] == BRACE or data[at] == OPEN:
                depth += 1
                if not _enter(child, data[at] == OPEN, keys, nodes.kind, levels, depth):
                    return False
                just_opened = True
                at += 1
                continue
            begin, end, at, kind = read_scalar(data, at, stop)
            if at < 0:
                return False
            if child >= 0:
                nodes.start[child], nodes.stop[child], nodes.kind[child] = begin, end, kind
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
    node = int(keys.bucket[key_hash(parent, length, first, last)])
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
