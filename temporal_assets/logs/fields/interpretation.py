"""Interpretation of the fields of a line: its time, request, status and address.

In: fields as ranges of bytes (`Fields`). Out: the same arrays, with times as microseconds, the
request divided into method and target, the status as a number, the address without its port, and a
reason for each line that is rejected. Not here: dividing lines into fields (`tokenize`), the
notations of times (`times`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from temporal_assets.core.numerics.compiled import constant, inlined, loop
from temporal_assets.core.text.texts import find_byte
from temporal_assets.logs.fields.addresses import bare_address
from temporal_assets.logs.fields.field_arrays import FieldArrays, Fields, Flags, arrays_of
from temporal_assets.logs.fields.layouts import Slot
from temporal_assets.logs.fields.reasons import BAD_REQUEST, BAD_STATUS, BAD_TIME, NONE
from temporal_assets.logs.fields.times import BAD, DAY, NO_DAY, day_of, parse_clock, parse_time
from temporal_assets.logs.read.byte_values import DOT, MINUS, NINE, SLASH, SPACE, ZERO
from temporal_assets.logs.read.records import Bytes, Offsets

UNANSWERED: Final = -1
"""Status of requests whose client left before an answer (logged as 000, 0 or -1)."""
# Numba compiles enumeration members slowly and plain integers well.
_TIME, _ADDRESS, _METHOD, _TARGET = (
    constant(slot) for slot in (Slot.TIME, Slot.ADDRESS, Slot.METHOD, Slot.TARGET)
)
_STATUS, _DATE, _REQUEST = (constant(slot) for slot in (Slot.STATUS, Slot.DATE, Slot.REQUEST))


def interpret_fields(fields: Fields) -> None:
    """Interpret fields that were found without a layout."""
    _interpret_all(fields.data, NO_DAY, arrays_of(fields))


@inlined
def is_empty(data: Bytes, start: int, stop: int) -> bool:
    """Return True for a field without bytes, or with a `-` alone."""
    return stop <= start or (stop - start == 1 and data[start] == MINUS)


@loop
def _interpret_all(data: Bytes, day: int, columns: FieldArrays) -> None:
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
        elif used[_REQUEST] and (reason[i] != NONE or starts[_REQUEST, i] >= 0):
            starts[_METHOD, i] = starts[_TARGET, i] = -1
            stops[_METHOD, i] = stops[_TARGET, i] = -1
        if reason[i] == NONE:
            reason[i] = interpret_line(data, i, day, cache, used, columns)


@inlined
def interpret_line(
    data: Bytes, i: int, day: int, cache: Offsets, used: Flags, columns: FieldArrays
) -> int:
    """Read time, request, status and address of line `i`; return a reason if one is unreadable.

    `used` has the slots with values, of the block or of its layout.
    """
    starts, stops = columns.start, columns.stop
    time, naive, status = columns.time, columns.naive, columns.status
    if used[_TIME]:
        time[i], naive[i] = _moment(data, i, day, cache, used, starts, stops)
        if time[i] == BAD:
            return BAD_TIME
    if used[_REQUEST] and starts[_REQUEST, i] >= 0:
        if not _split_request(data, i, starts, stops):
            return BAD_REQUEST
    elif is_empty(data, starts[_TARGET, i], stops[_TARGET, i]) or (
        used[_METHOD]
        and starts[_METHOD, i] >= 0
        and not _is_method(data, starts[_METHOD, i], stops[_METHOD, i])
    ):
        return BAD_REQUEST
    if used[_STATUS]:
        status[i] = _status(data, starts[_STATUS, i], stops[_STATUS, i])
        if status[i] == 0:
            return BAD_STATUS
    if used[_ADDRESS] and starts[_ADDRESS, i] >= 0:
        starts[_ADDRESS, i], stops[_ADDRESS, i] = bare_address(
            data, starts[_ADDRESS, i], stops[_ADDRESS, i]
        )
    return NONE


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
