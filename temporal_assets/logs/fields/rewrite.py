"""Columns that must be copied because their values are joined, decoded or unquoted.

In: columns as ranges of a block's bytes. Out: columns in a fresh buffer, such as a path with its
query, or a referrer without percent escapes; compiled, row by row. Not here: which format needs
which (`directives`, `tables`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import inlined, loop, readonly
from temporal_assets.core.text.texts import find_byte
from temporal_assets.logs.read.byte_values import (
    COLON,
    DOT,
    MINUS,
    PERCENT,
    PLUS,
    QUESTION,
    QUOTE,
    SLASH,
    SPACE,
    ZERO,
)
from temporal_assets.logs.read.encode import concatenate, from_values
from temporal_assets.logs.read.records import Bytes, Column, Offsets, Records

Decode = Callable[[Column], Column]


def with_query(path: Column, query: Column) -> Column:
    """Return paths with `?query` appended where there is a query and the path has none.

    A query of `-` or nothing is none.
    """
    return Column(
        *_with_query(path.data, path.start, path.stop, query.data, query.start, query.stop)
    )


def with_scheme(column: Column) -> Column:
    """Return values with `http://` before those that begin with a host."""
    return Column(*_with_scheme(column.data, column.start, column.stop))


def join(pieces: Sequence[Column | bytes | None], rows: int) -> Column:
    """Return the concatenation of several columns and texts; empty where no column has a value.

    A column that no row has is None.
    """
    every = np.arange(rows, dtype=np.int32)
    whole = from_values([b""] * rows)
    is_there = np.zeros(rows, np.bool_)
    for piece in pieces:
        if piece is None:
            continue
        if isinstance(piece, bytes):
            text = from_values([piece])
            rest = Column(text.data, np.repeat(text.start, rows), np.repeat(text.stop, rows))
        else:
            is_there |= piece.start >= 0
            rest = Column(piece.data, np.maximum(piece.start, 0), np.maximum(piece.stop, 0))
        whole = concatenate(whole, every, rest)
    missing = ~is_there
    return Column(whole.data, np.where(missing, -1, whole.start), np.where(missing, -1, whole.stop))


def with_url_prefix(records: Records, prefix: str) -> Records:
    """Return records with `prefix` before pages and referrers that are bare ids or names.

    A referrer with a dot may be a host and is left alone.
    """
    referrer = records.referrer
    return replace(
        records,
        target=_prefixed(records.target, prefix, dotted=True),
        referrer=None if referrer is None else _prefixed(referrer, prefix, dotted=False),
    )


def with_hosts(records: Records, scheme: str) -> Records:
    """Put the scheme before pages that begin with their host, as in reports about many sites."""
    target = records.target
    hosted = _begin_with_host(target.data, target.start, target.stop)
    return replace(records, target=_with_prefix(f"{scheme}://", target, hosted))


@loop
def _begin_with_host(data: Bytes, start: Offsets, stop: Offsets) -> NDArray[np.int32]:
    """Return 1 for each value that ends in a dot and two letters or more before its first slash."""
    hosted = np.zeros(start.size, np.int32)
    for i in range(start.size):
        if start[i] < 0:
            continue
        slash = find_byte(data, start[i], stop[i], SLASH)
        at = slash - 1
        while at > start[i] and 97 <= (data[at] | 0x20) <= 122:
            at -= 1
        hosted[i] = slash < stop[i] and at > start[i] and data[at] == DOT and slash - at > 2
    return hosted


def _prefixed(column: Column, prefix: str, *, dotted: bool) -> Column:
    return _with_prefix(prefix, column, _bare(column.data, column.start, column.stop, dotted))


def _with_prefix(prefix: str, column: Column, bare: NDArray[np.int32]) -> Column:
    """Return the values of a column, with the prefix before those that are marked."""
    rest = Column(column.data, np.maximum(column.start, 0), np.maximum(column.stop, 0))
    joined = concatenate(from_values([b"", prefix.encode()]), bare, rest)
    missing = column.start < 0
    return Column(
        joined.data, np.where(missing, -1, joined.start), np.where(missing, -1, joined.stop)
    )


@loop
def _bare(data: Bytes, start: Offsets, stop: Offsets, dotted: bool) -> NDArray[np.int32]:
    """Return 1 for each value that is an id or a name: no path, no URL, not empty."""
    bare = np.zeros(start.size, np.int32)
    for i in range(start.size):
        length = stop[i] - start[i]
        if start[i] < 0 or length <= 0 or (length == 1 and data[start[i]] == MINUS):
            continue
        colon = find_byte(data, start[i], stop[i], COLON)
        is_url = colon + 2 < stop[i] and data[colon + 1] == SLASH and data[colon + 2] == SLASH
        has_dot = not dotted and find_byte(data, start[i], stop[i], DOT) < stop[i]
        bare[i] = not (data[start[i]] == SLASH or is_url or has_dot)
    return bare


def plus_to_space(column: Column) -> Column:
    """Return values with `+` replaced by blanks, as IIS writes them.

    Values with blanks of their own were quoted instead, and stay.
    """
    return Column(*_plus_to_space(column.data, column.start, column.stop))


def undo_percent_of_percent(column: Column) -> Column:
    """Return values with `%25XX` replaced by `%XX`: CloudFront escapes the escapes of URLs."""
    return Column(*_decode_percent(column.data, column.start, column.stop, True))


def decode_percent(column: Column) -> Column:
    """Return values with all `%XX` decoded once."""
    return Column(*_decode_percent(column.data, column.start, column.stop, False))


def _decode_twice(column: Column) -> Column:
    return decode_percent(decode_percent(column))


CLOUDFRONT_ENCODED: Final[Mapping[str, Decode]] = {
    "target": undo_percent_of_percent,
    "referrer": undo_percent_of_percent,
    # Agents are encoded once or twice, depending on the age of the log.
    "agent": _decode_twice,
}


def decoded(records: Records, encoded: Mapping[str, Decode]) -> Records:
    """Return records with the server's own encoding undone in the given columns."""
    for name, decode in encoded.items():
        column: Column | None = getattr(records, name)
        if column is not None:
            records = replace(records, **{name: decode(column)})  # type: ignore[arg-type]
    return records


def halve_quotes(column: Column, field: Offsets) -> Column:
    """Return values with `""` replaced by `"` in quoted fields (RFC 4180).

    `field` is the position where each value's field begins, behind its quote.
    """
    return Column(*_halve_quotes(column.data, column.start, column.stop, field))


def has_doubled_quotes(data: Bytes) -> bool:
    """Return True if `halve_quotes` would change anything."""
    return _has_doubled_quotes(readonly(data))


@loop
def _has_doubled_quotes(data: Bytes) -> bool:
    at = find_byte(data, 0, data.size, QUOTE)
    while at + 1 < data.size:
        if data[at + 1] == QUOTE:
            return True
        at = find_byte(data, at + 1, data.size, QUOTE)
    return False


@inlined
def _copy(data: Bytes, start: int, stop: int, out: Bytes, to: int) -> int:
    """Copy a range of bytes and return the position after it."""
    for at in range(start, stop):
        out[to] = data[at]
        to += 1
    return to


@loop
def _room(start: Offsets, stop: Offsets) -> int:
    total = 0
    for i in range(start.size):
        total += max(stop[i] - start[i], 0)
    return total


@loop
def _with_query(
    data: Bytes, start: Offsets, stop: Offsets, other: Bytes, begin: Offsets, end: Offsets
) -> tuple[Bytes, Offsets, Offsets]:
    """Return the values of a column, each followed by `?` and the value of another."""
    out = np.empty(_room(start, stop) + _room(begin, end) + start.size, np.uint8)
    starts, stops = np.full(start.size, -1, np.int64), np.full(start.size, -1, np.int64)
    to = 0
    for i in range(start.size):
        if start[i] < 0:
            continue
        starts[i] = to
        to = _copy(data, start[i], stop[i], out, to)
        length = end[i] - begin[i]
        missing = begin[i] < 0 or length <= 0 or (length == 1 and other[begin[i]] == MINUS)
        if not missing and find_byte(data, start[i], stop[i], QUESTION) == stop[i]:
            if other[begin[i]] != QUESTION:
                out[to] = QUESTION
                to += 1
            to = _copy(other, begin[i], end[i], out, to)
        stops[i] = to
    return out[:to].copy(), starts, stops


_HTTP: Final = np.frombuffer(b"http://", np.uint8)


@loop
def _with_scheme(data: Bytes, start: Offsets, stop: Offsets) -> tuple[Bytes, Offsets, Offsets]:
    """Return the values of a column, with `http://` before those that begin with a host."""
    out = np.empty(_room(start, stop) + start.size * _HTTP.size, np.uint8)
    starts, stops = np.full(start.size, -1, np.int64), np.full(start.size, -1, np.int64)
    to = 0
    for i in range(start.size):
        if start[i] < 0:
            continue
        starts[i] = to
        slash = find_byte(data, start[i], stop[i], SLASH)
        # `host/path`; but neither `/path` nor `http://host/path`, and not `*` or `host:443`.
        if start[i] < slash < stop[i] and data[slash - 1] != COLON:
            to = _copy(_HTTP, 0, _HTTP.size, out, to)
        to = _copy(data, start[i], stop[i], out, to)
        stops[i] = to
    return out[:to].copy(), starts, stops


@loop
def _plus_to_space(data: Bytes, start: Offsets, stop: Offsets) -> tuple[Bytes, Offsets, Offsets]:
    """Return the values of a column with `+` as a space, unless a value has spaces already."""
    out = np.empty(_room(start, stop), np.uint8)
    starts, stops = np.full(start.size, -1, np.int64), np.full(start.size, -1, np.int64)
    to = 0
    for i in range(start.size):
        if start[i] < 0:
            continue
        starts[i] = to
        has_blank = find_byte(data, start[i], stop[i], SPACE) < stop[i]
        for at in range(start[i], stop[i]):
            out[to] = SPACE if data[at] == PLUS and not has_blank else data[at]
            to += 1
        stops[i] = to
    return out, starts, stops


@inlined
def _at(data: Bytes, at: int) -> int:
    """Return one byte as a signed integer, for subtractions that may become negative."""
    return int(np.int64(data[at]))


@inlined
def _hex(byte: int) -> int:
    """Return the value of a hexadecimal digit, -1 for anything else."""
    if ZERO <= byte <= ZERO + 9:
        return byte - ZERO
    letter = byte | 0x20
    return letter - 87 if 97 <= letter <= 102 else -1


@loop
def _decode_percent(
    data: Bytes, start: Offsets, stop: Offsets, only_percent: bool
) -> tuple[Bytes, Offsets, Offsets]:
    """Return fields with percent escapes decoded; with `only_percent`, double escapes only."""
    out = np.empty(_room(start, stop), np.uint8)
    starts, stops = np.full(start.size, -1, np.int64), np.full(start.size, -1, np.int64)
    to = 0
    for i in range(start.size):
        if start[i] < 0:
            continue
        starts[i] = to
        at = start[i]
        while at < stop[i]:
            byte = _at(data, at)
            at += 1
            if byte == PERCENT and at + 1 < stop[i]:
                high, low = _hex(_at(data, at)), _hex(_at(data, at + 1))
                value = high * 16 + low
                escape = at + 3 < stop[i] and _hex(_at(data, at + 2)) >= 0
                escape = escape and _hex(_at(data, at + 3)) >= 0
                if high >= 0 and low >= 0 and (not only_percent or (value == PERCENT and escape)):
                    byte = value
                    at += 2
            out[to] = byte
            to += 1
        stops[i] = to
    return out[:to].copy(), starts, stops


@loop
def _halve_quotes(
    data: Bytes, start: Offsets, stop: Offsets, field: Offsets
) -> tuple[Bytes, Offsets, Offsets]:
    """Return the values of a column with each pair of quotes as one, in quoted fields."""
    out = np.empty(_room(start, stop), np.uint8)
    starts, stops = np.full(start.size, -1, np.int64), np.full(start.size, -1, np.int64)
    to = 0
    for i in range(start.size):
        if start[i] < 0:
            continue
        starts[i] = to
        at = start[i]
        quoted = field[i] > 0 and data[field[i] - 1] == QUOTE
        while at < stop[i]:
            out[to] = data[at]
            to += 1
            doubled = data[at] == QUOTE and at + 1 < stop[i] and data[at + 1] == QUOTE
            at += 2 if quoted and doubled else 1
        stops[i] = to
    return out[:to].copy(), starts, stops
