"""Division of lines into fields by a `Layout`, in one compiled pass over the bytes of a block.

In: ranges of lines, and the layout of their format. Out: ranges of fields, written into `Fields`;
nothing is copied. Each line is interpreted as soon as it is divided, while it is in the processor's
cache. Not here: finding lines (`lines`), what the fields say (`interpretation`), which layout a
format has (`known_formats`), values that must be rewritten (`rewrite`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from temporal_assets.core.numerics.compiled import inlined, loop
from temporal_assets.core.text.texts import find_byte, find_either
from temporal_assets.logs.fields.field_arrays import (
    FieldArrays,
    Fields,
    Flags,
    Lines,
    arrays_of,
    slot_flags,
)
from temporal_assets.logs.fields.interpretation import interpret_line, is_empty
from temporal_assets.logs.fields.layouts import Kind, Layout
from temporal_assets.logs.fields.reasons import NONE, NOT_THE_FORMAT
from temporal_assets.logs.fields.times import (
    NO_DAY,
)
from temporal_assets.logs.read.byte_values import BACKSLASH, CLOSE, MINUS, OPEN, QUOTE, SPACE, TAB
from temporal_assets.logs.read.records import Bytes, Offsets

# Numba compiles enumeration members slowly and plain integers well.
_WORD, _USER, _BRACKETED, _QUOTED, _TO_QUOTE, _CSV = (int(kind) for kind in Kind)


class _Division(NamedTuple):
    """A `Layout` as numbers, for compiled code."""

    kinds: Offsets
    slots: Offsets
    required: int
    separator: int
    collapse: bool
    exact: bool
    escaped: bool
    present: Flags
    """Slots that the layout fills."""


def split_lines(
    fields: Fields, lines: Lines, layout: Layout, first: int, stop: int, day: int = NO_DAY
) -> None:
    """Divide lines `first:stop` by `layout` and interpret their fields.

    `day` (days since 1970) is that of times that have no date.
    """
    division = _Division(
        *layout.arrays(),
        layout.required,
        layout.separator[0],
        layout.collapse,
        layout.exact,
        layout.escaped,
        slot_flags(set(layout.slots)),
    )
    bounds = (lines.start[first:stop], lines.stop[first:stop])
    _split_lines(fields.data, *bounds, first, division, day, arrays_of(fields))


# Fields --------------------------------------------------------------------------------------


@inlined
def _is_separator(byte: int, separator: int, collapse: bool) -> bool:
    return byte == separator or (collapse and byte in (SPACE, TAB))


@inlined
def _word_end(data: Bytes, at: int, stop: int, separator: int, collapse: bool) -> int:
    if collapse:
        return find_either(data, at, stop, SPACE, TAB)
    return find_byte(data, at, stop, separator)


@inlined
def _quote_end(
    data: Bytes, at: int, stop: int, separator: int, collapse: bool, escaped: bool
) -> int:
    """Return the position of the quote that closes a field, -1 if none does.

    Servers disagree on escaping and some do none: a quote closes only before a separator or at the
    end of the line.
    """
    begin = at
    while True:
        at = (
            find_either(data, at, stop, QUOTE, BACKSLASH)
            if escaped
            else find_byte(data, at, stop, QUOTE)
        )
        if at >= stop:
            # `\\"` may also be a bare backslash at the end of the last field.
            bare = stop - 2 >= begin and data[stop - 1] == QUOTE and data[stop - 2] == BACKSLASH
            return stop - 1 if bare else -1
        if data[at] == BACKSLASH:
            at += 2
        elif at + 1 == stop or _is_separator(data[at + 1], separator, collapse):
            return at
        else:
            at += 1


@inlined
def _csv_end(data: Bytes, at: int, stop: int) -> int:
    """Return the position of the quote that closes an RFC 4180 field, -1 if none does."""
    while True:
        at = find_byte(data, at, stop, QUOTE)
        if at >= stop:
            return -1
        if at + 1 < stop and data[at + 1] == QUOTE:
            at += 2
        else:
            return at


@inlined
def _field(
    data: Bytes,
    at: int,
    stop: int,
    kind: int,
    separator: int,
    collapse: bool,
    escaped: bool,
) -> tuple[int, int, int]:
    """Return start and stop of the field at a position, and the position of its separator.

    The last is -1 if there is no such field here.
    """
    begin = at
    if kind == _WORD:
        end = _word_end(data, at, stop, separator, collapse)
        return begin, end, (end if end > begin else -1)
    if kind == _USER:
        end = find_byte(data, at, stop, OPEN)
        while end < stop and end > begin and data[end - 1] != SPACE:
            end = find_byte(data, end + 1, stop, OPEN)
        return begin, end - 1, (end - 1 if begin < end < stop else -1)
    if kind == _BRACKETED:
        if at >= stop or data[at] != OPEN:
            return begin, begin, -1
        end = find_byte(data, at, stop, CLOSE)
        return begin + 1, end, (end + 1 if end < stop else -1)
    if kind == _TO_QUOTE:
        end = find_byte(data, at, stop, QUOTE)
        # What precedes the quote must be a separator, here or before this field.
        return begin, end, (end - 1 if end < stop else -1)
    if at < stop and data[at] == QUOTE:
        if kind == _CSV:
            end = _csv_end(data, at + 1, stop)
        else:
            end = _quote_end(data, at + 1, stop, separator, collapse, escaped)
        return begin + 1, end, (end + 1 if end >= 0 else -1)
    end = _word_end(data, at, stop, separator, collapse)
    if kind == _QUOTED:
        # Some servers leave the quotes away where there is nothing to quote.
        bare = end == begin + 1 and data[begin] == MINUS
        return begin, end, (end if bare else -1)
    return begin, end, (end if end > begin or kind == _CSV else -1)


@inlined
def _split_line(
    data: Bytes, at: int, stop: int, line: int, division: _Division, columns: FieldArrays
) -> bool:
    """Fill one line's columns of `start` and `stop`; return True if the line has the layout."""
    kinds, slots, required, separator, collapse, exact, escaped, _ = division
    starts, stops = columns.start, columns.stop
    _leave_empty(line, slots, columns)
    while collapse and at < stop and (data[at] == SPACE or data[at] == TAB):
        at += 1
    if at < stop and data[at] == QUOTE and kinds[0] == _WORD:
        # OpenLiteSpeed puts all of a line between quotes.
        at += 1
    count = kinds.size
    for i in range(count):
        begin, end, after = _field(data, at, stop, kinds[i], separator, collapse, escaped)
        if after < 0 or (after < stop and not _is_separator(data[after], separator, collapse)):
            return i >= required and not exact
        slot = slots[i]
        if slot >= 0 and (starts[slot, line] < 0 or not is_empty(data, begin, end)):
            starts[slot, line] = begin
            stops[slot, line] = end
        if after >= stop:
            return i + 1 >= required
        at = after + 1
        while collapse and at < stop and (data[at] == SPACE or data[at] == TAB):
            at += 1
        if at >= stop and (collapse or kinds[i] != _CSV):
            # A blank at the end of the line separates nothing.
            return i + 1 >= required
    return not exact


@inlined
def _leave_empty(line: int, slots: Offsets, columns: FieldArrays) -> None:
    """Mark these slots of a line as without value."""
    for slot in slots:
        if slot >= 0:
            columns.start[slot, line] = -1
            columns.stop[slot, line] = -1


@loop
def _split_lines(
    data: Bytes,
    line_start: Offsets,
    line_stop: Offsets,
    first: int,
    division: _Division,
    day: int,
    columns: FieldArrays,
) -> None:
    """Divide and interpret lines of the block, of which the first has the number `first`."""
    cache = np.zeros(3, np.int64)
    slots, last = division.slots, first + line_start.size
    for slot in range(columns.used.size):
        if columns.used[slot] and not np.any(slots == slot):
            columns.start[slot, first:last] = -1
            columns.stop[slot, first:last] = -1
    for k in range(line_start.size):
        i = first + k
        if columns.reason[i] != NONE:
            _leave_empty(i, slots, columns)
            continue
        if not _split_line(data, line_start[k], line_stop[k], i, division, columns):
            columns.reason[i] = NOT_THE_FORMAT
            continue
        columns.reason[i] = interpret_line(data, i, day, cache, division.present, columns)
