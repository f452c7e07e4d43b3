"""The hot path: compiled single passes from the bytes of a block to the fields of its lines.

Here: finding lines, dividing them by a `Layout`, reading time, request and status. Fields are byte
ranges of the block, nothing is copied. Not here: which layout a format has (`formats`), values that
must be rewritten (`rewrite`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import constant, inlined, loop, readonly
from temporal_assets.core.text.texts import find_byte, find_either
from temporal_assets.logs.fields.layouts import SKIP, SLOTS, Kind, Layout, Slot
from temporal_assets.logs.fields.times import (
    BAD,
    DAY,
    NO_DAY,
    day_of,
    parse_clock,
    parse_time,
)
from temporal_assets.logs.read.kernels import (
    BACKSLASH,
    CLOSE,
    COLON,
    COMMA,
    DOT,
    HASH,
    MINUS,
    NEWLINE,
    NINE,
    NUL,
    OPEN,
    QUOTE,
    RETURN,
    SLASH,
    SPACE,
    TAB,
    ZERO,
)
from temporal_assets.logs.read.records import Block, Bytes, Offsets, Reject

Flags = NDArray[np.bool_]
Reasons = NDArray[np.uint8]
Statuses = NDArray[np.int16]

UNANSWERED: Final = -1
"""Status of requests whose client left before an answer (logged as 000, 0 or -1)."""

# Numba compiles enumeration members slowly and plain integers well.
_WORD, _USER, _BRACKETED, _QUOTED, _TO_QUOTE, _CSV = (int(kind) for kind in Kind)
_TIME, _ADDRESS, _METHOD, _TARGET = (
    constant(slot) for slot in (Slot.TIME, Slot.ADDRESS, Slot.METHOD, Slot.TARGET)
)
_STATUS, _DATE, _REQUEST = (constant(slot) for slot in (Slot.STATUS, Slot.DATE, Slot.REQUEST))
_NONE, _NOT_THE_FORMAT, _BAD_TIME, _BAD_REQUEST, _BAD_STATUS, _TOO_LONG, _NUL_BYTES = (
    int(reason)
    for reason in (
        Reject.NONE,
        Reject.NOT_THE_FORMAT,
        Reject.BAD_TIME,
        Reject.BAD_REQUEST,
        Reject.BAD_STATUS,
        Reject.TOO_LONG,
        Reject.NUL_BYTES,
    )
)


@dataclass(frozen=True, slots=True)
class Lines:
    """The non-empty lines of a block as ranges without line ends."""

    number: Offsets
    start: Offsets
    stop: Offsets

    def __len__(self) -> int:
        return len(self.number)


@dataclass(slots=True)
class Fields:
    """Fields of a block's lines, filled in place by the kernels.

    `start` and `stop` have a row per `Slot` and a column per line; rows of slots that are not
    `used` are undefined.
    """

    data: Bytes
    start: Offsets
    stop: Offsets
    used: Flags
    reason: Reasons
    time: Offsets
    naive: Flags
    status: Statuses

    @classmethod
    def empty(cls, data: Bytes, lines: int, slots: set[int]) -> Fields:
        """Return empty fields for a number of lines."""
        return cls(
            data=readonly(data),
            start=np.empty((SLOTS, lines), np.int64),
            stop=np.empty((SLOTS, lines), np.int64),
            used=_flags(slots),
            reason=np.zeros(lines, np.uint8),
            time=np.zeros(lines, np.int64),
            naive=np.zeros(lines, np.bool_),
            status=np.zeros(lines, np.int16),
        )


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


class _Columns(NamedTuple):
    """The arrays of `Fields`, for compiled code."""

    used: Flags
    start: Offsets
    stop: Offsets
    reason: Reasons
    time: Offsets
    naive: Flags
    status: Statuses


def _columns(fields: Fields) -> _Columns:
    return _Columns(
        *(fields.used, fields.start, fields.stop, fields.reason),
        *(fields.time, fields.naive, fields.status),
    )


def _flags(slots: set[int]) -> Flags:
    """Return flags of the slots, including those that are parts of one of them."""
    used = np.zeros(SLOTS, np.bool_)
    used[sorted(slots - {SKIP})] = True
    if used[Slot.REQUEST]:
        used[[Slot.METHOD, Slot.TARGET]] = True
    return used


def find_lines(block: Block, skip_directives: bool = False) -> Lines:
    """Return the block's non-empty lines, on request without those that begin with `#`."""
    data = readonly(block.data)
    number, start, stop = _find_lines(data, block.first_line, skip_directives)
    return Lines(number, start, stop)


def find_directives(data: Bytes) -> list[tuple[int, int]]:
    """Return ranges of the lines that begin with `#`."""
    starts, stops = _find_directives(readonly(data))
    return list(zip(starts.tolist(), stops.tolist(), strict=True))


def check_lines(fields: Fields, lines: Lines, max_line: int) -> None:
    """Reject overlong lines and lines with NUL bytes before anything else looks at them."""
    fields.reason[lines.stop - lines.start > max_line] = Reject.TOO_LONG
    if fields.data.size and not fields.data.min():
        _reject_nuls(fields.data, lines.start, lines.stop, fields.reason)


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
        _flags(set(layout.slots)),
    )
    bounds = (lines.start[first:stop], lines.stop[first:stop])
    _split_lines(fields.data, *bounds, first, division, day, _columns(fields))


def drop_ports(fields: Fields) -> None:
    """Remove the ports behind IPv6 addresses without brackets.

    Nothing distinguishes such a port from a part of the address: only for formats that always write
    one.
    """
    _drop_ports(fields.data, fields.start[Slot.ADDRESS], fields.stop[Slot.ADDRESS])


def interpret_fields(fields: Fields) -> None:
    """Interpret fields that were found without a layout."""
    _interpret_all(fields.data, NO_DAY, _columns(fields))


# Lines ---------------------------------------------------------------------------------------


@loop
def _find_lines(
    data: Bytes, first_line: int, skip_directives: bool
) -> tuple[Offsets, Offsets, Offsets]:
    """Return number, start and stop of each line with content."""
    count = 1
    for byte in data:
        count += byte == NEWLINE
    number = np.empty(count, np.int64)
    starts = np.empty(count, np.int64)
    stops = np.empty(count, np.int64)
    line_count = 0
    line = first_line
    at = 0
    size = data.size
    while at < size:
        newline = find_byte(data, at, size, NEWLINE)
        stop = newline
        while stop > at and data[stop - 1] == RETURN:
            stop -= 1
        first = at
        while first < stop and (data[first] == SPACE or data[first] == TAB):
            first += 1
        if first < stop and not (skip_directives and data[first] == HASH):
            number[line_count], starts[line_count], stops[line_count] = line, at, stop
            line_count += 1
        line += 1
        at = newline + 1
    return number[:line_count].copy(), starts[:line_count].copy(), stops[:line_count].copy()


@loop
def _find_directives(data: Bytes) -> tuple[Offsets, Offsets]:
    starts, stops = np.empty(16, np.int64), np.empty(16, np.int64)
    count = 0
    at = find_byte(data, 0, data.size, HASH)
    while at < data.size:
        stop = at + 1
        if at == 0 or data[at - 1] == NEWLINE:
            stop = find_byte(data, at, data.size, NEWLINE)
            if count == starts.size:
                starts, stops = np.append(starts, starts), np.append(stops, stops)
            starts[count], stops[count] = at, stop
            count += 1
        at = find_byte(data, stop, data.size, HASH)
    return starts[:count].copy(), stops[:count].copy()


@loop
def _reject_nuls(data: Bytes, start: Offsets, stop: Offsets, reason: Reasons) -> None:
    for i in range(start.size):
        if reason[i] == _NONE and find_byte(data, start[i], stop[i], NUL) < stop[i]:
            reason[i] = _NUL_BYTES


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
def _is_empty(data: Bytes, start: int, stop: int) -> bool:
    return stop <= start or (stop - start == 1 and data[start] == MINUS)


@inlined
def _split_line(
    data: Bytes, at: int, stop: int, line: int, division: _Division, columns: _Columns
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
        if slot >= 0 and (starts[slot, line] < 0 or not _is_empty(data, begin, end)):
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
def _leave_empty(line: int, slots: Offsets, columns: _Columns) -> None:
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
    columns: _Columns,
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
        if columns.reason[i] != _NONE:
            _leave_empty(i, slots, columns)
            continue
        if not _split_line(data, line_start[k], line_stop[k], i, division, columns):
            columns.reason[i] = _NOT_THE_FORMAT
            continue
        columns.reason[i] = _interpret(data, i, day, cache, division.present, columns)


# Meaning -------------------------------------------------------------------------------------


@loop
def _interpret_all(data: Bytes, day: int, columns: _Columns) -> None:
    """Interpret every line of the block that is not rejected."""
    cache = np.zeros(3, np.int64)
    used, starts, stops, reason = columns.used, columns.start, columns.stop, columns.reason
    for i in range(reason.size):
        if used[_REQUEST] and _is_path(data, starts[_REQUEST, i], stops[_REQUEST, i]):
            starts[_TARGET, i], stops[_TARGET, i] = starts[_REQUEST, i], stops[_REQUEST, i]
            starts[_REQUEST, i] = stops[_REQUEST, i] = -1
        elif used[_REQUEST] and _is_bare_method(data, i, starts, stops):
            starts[_METHOD, i], stops[_METHOD, i] = starts[_REQUEST, i], stops[_REQUEST, i]
            starts[_REQUEST, i] = stops[_REQUEST, i] = -1
        elif used[_REQUEST] and (reason[i] != _NONE or starts[_REQUEST, i] >= 0):
            starts[_METHOD, i] = starts[_TARGET, i] = -1
            stops[_METHOD, i] = stops[_TARGET, i] = -1
        if reason[i] == _NONE:
            reason[i] = _interpret(data, i, day, cache, used, columns)


@inlined
def _interpret(
    data: Bytes, i: int, day: int, cache: Offsets, used: Flags, columns: _Columns
) -> int:
    """Read time, request, status and address of line `i`; return a reason if one is unreadable.

    `used` has the slots with values, of the block or of its layout.
    """
    starts, stops = columns.start, columns.stop
    time, naive, status = columns.time, columns.naive, columns.status
    if used[_TIME]:
        time[i], naive[i] = _moment(data, i, day, cache, used, starts, stops)
        if time[i] == BAD:
            return _BAD_TIME
    if used[_REQUEST] and starts[_REQUEST, i] >= 0:
        if not _split_request(data, i, starts, stops):
            return _BAD_REQUEST
    elif _is_empty(data, starts[_TARGET, i], stops[_TARGET, i]) or (
        used[_METHOD]
        and starts[_METHOD, i] >= 0
        and not _is_method(data, starts[_METHOD, i], stops[_METHOD, i])
    ):
        return _BAD_REQUEST
    if used[_STATUS]:
        status[i] = _status(data, starts[_STATUS, i], stops[_STATUS, i])
        if status[i] == 0:
            return _BAD_STATUS
    if used[_ADDRESS] and starts[_ADDRESS, i] >= 0:
        starts[_ADDRESS, i], stops[_ADDRESS, i] = bare_address(
            data, starts[_ADDRESS, i], stops[_ADDRESS, i]
        )
    return _NONE


@inlined
def _moment(
    data: Bytes, i: int, day: int, cache: Offsets, used: Flags, starts: Offsets, stops: Offsets
) -> tuple[int, bool]:
    """Return a line's time, from one field, from date and time, or with the header's date."""
    start, stop = starts[_TIME, i], stops[_TIME, i]
    if start < 0:
        return BAD, False
    if used[_DATE] and starts[_DATE, i] >= 0:
        day = day_of(data, starts[_DATE, i], stops[_DATE, i], cache)
    elif day == NO_DAY:
        return parse_time(data, start, stop, cache)
    clock, offset, naive = parse_clock(data, start, stop, True)
    if day == NO_DAY or clock == BAD:
        return BAD, False
    return day * DAY + clock - offset, naive


@inlined
def _is_path(data: Bytes, start: int, stop: int) -> bool:
    """Return True if a request is a target alone, as in Logstash and some nginx formats."""
    return (
        0 <= start < stop
        and bool(data[start] == SLASH)
        and find_byte(data, start, stop, SPACE) == stop
    )


@inlined
def _is_bare_method(data: Bytes, i: int, starts: Offsets, stops: Offsets) -> bool:
    """Return True if a request is a method alone, beside a target, as Fastly calls it."""
    has_target = bool(starts[_TARGET, i] >= 0)
    return has_target and _is_method(data, starts[_REQUEST, i], stops[_REQUEST, i])


@inlined
def _is_method(data: Bytes, start: int, stop: int) -> bool:
    """Return True for a letter followed by letters, digits, `-` and `_`, at most 32 bytes."""
    if stop <= start or stop - start > 32 or not 65 <= (data[start] & 0xDF) <= 90:
        return False
    for i in range(start + 1, stop):
        byte = data[i]
        letter = 65 <= (byte & 0xDF) <= 90
        if not (letter or ZERO <= byte <= NINE or byte == MINUS or byte == 0x5F):
            return False
    return True


@inlined
def _is_protocol(data: Bytes, start: int, stop: int) -> bool:
    """Return True for `HTTP/…`."""
    return (
        stop - start >= 6
        and data[start] == 72
        and data[start + 1] == 84
        and data[start + 2] == 84
        and data[start + 3] == 80
        and data[start + 4] == SLASH
    )


@inlined
def _split_request(data: Bytes, i: int, starts: Offsets, stops: Offsets) -> bool:
    """Split `METHOD target [HTTP/x]`; return False if it is none.

    Targets may have blanks if a protocol follows.
    """
    start, stop = starts[_REQUEST, i], stops[_REQUEST, i]
    while stop > start and data[stop - 1] == SPACE:
        stop -= 1
    method_end = start
    while method_end < stop and data[method_end] != SPACE:
        method_end += 1
    if method_end == stop or not _is_method(data, start, method_end):
        return False
    last = stop
    while data[last - 1] != SPACE:
        last -= 1
    target = method_end + 1
    while target < stop and data[target] == SPACE:
        target += 1
    end = stop
    if _is_protocol(data, last, stop):
        end = last
        while end > target and data[end - 1] == SPACE:
            end -= 1
    elif last != target or data[target] != SLASH:
        # HTTP/0.9 has no protocol; without one only `GET /path` is a request.
        return False
    starts[_METHOD, i], stops[_METHOD, i] = start, method_end
    starts[_TARGET, i], stops[_TARGET, i] = target, end
    return bool(end > target)


@inlined
def _status(data: Bytes, start: int, stop: int) -> int:
    """Return the three digits, also after a slash (Squid's `TCP_MISS/200`); 0 if there are none."""
    if stop - start > 3:
        slash = find_byte(data, start, stop, SLASH)
        start = slash + 1 if slash < stop else start
        # Tables with gaps write `200.0`, IIS may write `404.0` (status and substatus).
        stop = start + 3 if start + 3 < stop and data[start + 3] == DOT else stop
    if start < 0:
        return 0
    if stop - start != 3:
        return UNANSWERED if _is_no_answer(data, start, stop) else 0
    value = 0
    for i in range(start, stop):
        if data[i] < ZERO or data[i] > NINE:
            return 0
        value = value * 10 + (data[i] - ZERO)
    if value == 0:
        return UNANSWERED
    return value if value >= 100 else 0


@inlined
def _is_no_answer(data: Bytes, start: int, stop: int) -> bool:
    """Return True for `0` (Envoy, Caddy, Cloudflare) or `-1` (HAProxy)."""
    if stop - start == 1:
        return bool(data[start] == ZERO)
    return stop - start == 2 and bool(data[start] == MINUS and data[start + 1] == ZERO + 1)


@inlined
def _is_mapped(data: Bytes, start: int) -> bool:
    """Return True if an address begins with `::ffff`, in any case."""
    mapped = data[start] == COLON and data[start + 1] == COLON
    for at in range(start + 2, start + 6):
        mapped = mapped and (data[at] | 0x20) == 0x66
    return bool(mapped)


@inlined
def _first_of_several(data: Bytes, start: int, stop: int) -> int:
    """Return where the first of several addresses ends; a comma elsewhere is part of a name."""
    comma = find_byte(data, start, stop, COMMA)
    separated = False
    for at in range(start, comma if comma < stop else start):
        byte = data[at]
        letter = byte | 0x20
        if byte in (DOT, COLON):
            separated = True
        elif not (ZERO <= byte <= NINE or 97 <= letter <= 102 or byte in (OPEN, CLOSE)):
            return stop
    return comma if separated else stop


@inlined
def _has_port(data: Bytes, start: int, colon: int, stop: int) -> bool:
    """Return True if a port follows an IPv4 address or a name with a dot.

    Anything may name a visitor: `anon:17` and `anon:18` are two.
    """
    if not 1 <= stop - colon - 1 <= 5:
        return False
    for at in range(colon + 1, stop):
        if data[at] < ZERO or data[at] > NINE:
            return False
    dots = 0
    label = start
    for at in range(start, colon):
        byte = data[at]
        letter = 65 <= (byte & 0xDF) <= 90
        if byte == DOT:
            dots += 1
            label = at + 1
        elif not (letter or ZERO <= byte <= NINE or byte == MINUS or byte == 0x5F):
            return False
    # No domain of the first level begins with a digit. `1.2.3.x` is an address that was masked.
    named = dots > 0 and label < colon and 65 <= (data[label] & 0xDF) <= 90
    return named or (dots == 3 and label < colon and ZERO <= data[start] <= NINE)


@inlined
def bare_address(data: Bytes, start: int, stop: int) -> tuple[int, int]:
    """Return the range of an address without blanks, brackets, port and IPv4-mapped prefix.

    Of all of X-Forwarded-For it is the first.
    """
    stop = _first_of_several(data, start, stop)
    if find_either(data, start, stop, COLON, SPACE) == stop:
        return start, stop
    while start < stop and data[start] == SPACE:
        start += 1
    while stop > start and data[stop - 1] == SPACE:
        stop -= 1
    if start < stop and data[start] == OPEN:
        start += 1
        stop = find_byte(data, start, stop, CLOSE)
    colons = 0
    dots = 0
    last_colon = stop
    for at in range(start, stop):
        if data[at] == COLON:
            colons += 1
            last_colon = at
        elif data[at] == DOT:
            dots += 1
    if colons == 1:
        if _has_port(data, start, last_colon, stop):
            stop = last_colon
    elif colons == 3 and dots == 3 and last_colon == start + 6 and _is_mapped(data, start):
        # `::ffff:1.2.3.4` is the same client as `1.2.3.4`.
        start = last_colon + 1
    return start, stop


@loop
def _drop_ports(data: Bytes, start: Offsets, stop: Offsets) -> None:
    for i in range(start.size):
        if start[i] < 0 or (stop[i] < data.size and data[stop[i]] == CLOSE):
            continue
        first = find_byte(data, start[i], stop[i], COLON)
        last = stop[i] - 1
        while last > first and ZERO <= data[last] <= NINE:
            last -= 1
        # With one colon alone `bare_address` has decided.
        if first < last < stop[i] - 1 and data[last] == COLON:
            stop[i] = last
