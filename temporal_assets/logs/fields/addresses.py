"""Ranges of visitors' addresses, without ports, brackets and the prefix of mapped IPv4 addresses.

In: the bytes of a field that holds an address, or several (X-Forwarded-For). Out: the range of the
visitor's address in it. Not here: what an address is worth (`privacy.pseudonyms`).
"""

from __future__ import annotations

from temporal_assets.core.numerics.compiled import inlined, loop
from temporal_assets.core.text.texts import find_byte, find_either
from temporal_assets.logs.fields.field_arrays import Fields
from temporal_assets.logs.fields.layouts import Slot
from temporal_assets.logs.read.byte_values import (
    CLOSE,
    COLON,
    COMMA,
    DOT,
    MINUS,
    NINE,
    OPEN,
    SPACE,
    ZERO,
)
from temporal_assets.logs.read.records import Bytes, Offsets


def drop_ports(fields: Fields) -> None:
    """Remove the ports behind IPv6 addresses without brackets.

    Nothing distinguishes such a port from a part of the address: only for formats that always write
    one.
    """
    _drop_ports(fields.data, fields.start[Slot.ADDRESS], fields.stop[Slot.ADDRESS])


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
    """Shorten each address of several colons by the digits after the last one."""
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
