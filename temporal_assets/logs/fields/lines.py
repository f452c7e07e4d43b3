"""Finding the lines of a block, and rejecting those that nothing should look into.

In: the bytes of a block. Out: ranges of its lines (`Lines`) without line ends. Not here: dividing
lines into fields (`tokenize`).
"""

from __future__ import annotations

import numpy as np

from temporal_assets.core.numerics.compiled import loop, readonly
from temporal_assets.core.text.texts import find_byte
from temporal_assets.logs.fields.field_arrays import Fields, Lines, Reasons
from temporal_assets.logs.fields.reasons import NONE, NUL_BYTES
from temporal_assets.logs.read.byte_values import HASH, NEWLINE, NUL, RETURN, SPACE, TAB
from temporal_assets.logs.read.records import Block, Bytes, Offsets, Reject


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
    """Return starts and stops of the lines that begin with `#`."""
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
        if reason[i] == NONE and find_byte(data, start[i], stop[i], NUL) < stop[i]:
            reason[i] = NUL_BYTES
