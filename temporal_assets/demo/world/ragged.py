"""Tables of byte strings as flat arrays, and one kernel that writes lines from their pieces.

What belongs here: making, stacking and composing byte strings in bulk. What does not: what the
bytes mean (`urls`, `people`, `formats`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import loop

Bytes = NDArray[np.uint8]
Int8s = NDArray[np.int8]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ragged:
    """Byte strings; row i is `data[start[i]:start[i] + size[i]]`."""

    data: Bytes
    start: Int64s
    size: Int32s

    def __len__(self) -> int:
        return len(self.start)

    def row(self, i: int) -> bytes:
        """Return one row; for headers and tests, not for loops."""
        return self.data[self.start[i] : self.start[i] + self.size[i]].tobytes()

    def take(self, rows: NDArray[np.integer]) -> Ragged:
        """Return the given rows, sharing the bytes."""
        return Ragged(self.data, self.start[rows], self.size[rows])

    def skip(self, count: int) -> Ragged:
        """Return every row without its first `count` bytes, sharing the bytes."""
        return Ragged(self.data, self.start + count, self.size - np.int32(count))

    def to_arrow(self) -> pa.Array:
        """Return an Arrow array of strings (UTF-8); copies."""
        packed = compose(self.data, [self], [b"", b""])
        offsets = np.append(packed.start, packed.data.size)
        large = pa.LargeStringArray.from_buffers(
            len(packed), pa.py_buffer(offsets), pa.py_buffer(packed.data)
        )
        return large.cast(pa.string())


def pack(values: Sequence[bytes]) -> Ragged:
    """Return a table of the given rows."""
    size = np.array([len(value) for value in values], np.int32)
    return Ragged(np.frombuffer(b"".join(values), np.uint8), _starts(size)[:-1], size)


def integers(values: NDArray[np.integer]) -> Ragged:
    """Return non-negative integers in decimal."""
    wide = values.astype(np.int64)
    size = np.ones(len(wide), np.int32)
    for power in range(1, 19):
        size += wide >= 10**power
    start = _starts(size)
    data = np.empty(int(start[-1]), np.uint8)
    _write_integers(wide, start, data)
    return Ragged(data, start[:-1], size)


def stack(*tables: Ragged) -> list[Ragged]:
    """Return the tables over one shared byte array, so that one kernel can copy from all."""
    data = np.concatenate([table.data for table in tables])
    shift = np.cumsum([0, *(table.data.size for table in tables)])
    return [
        Ragged(data, table.start + at, table.size)
        for table, at in zip(tables, shift[:-1], strict=True)
    ]


def join(*tables: Ragged) -> Ragged:
    """Return one table with the rows of all tables, in order."""
    stacked = stack(*tables)
    return Ragged(
        stacked[0].data,
        np.concatenate([table.start for table in stacked]),
        np.concatenate([table.size for table in stacked]),
    )


def compose(
    data: Bytes,
    columns: Sequence[Ragged],
    glue: Sequence[bytes],
    last: Int8s | None = None,
) -> Ragged:
    """Return rows joined from columns: row i is glue[0] + columns[0][i] + glue[1] + ... + glue[-1].

    Every column must lie over `data` (`stack`). `last[i]` is the last column that row i has
    (default: all). A row that ends early ends in a newline instead of the remaining glue and
    columns; if it ends after the first of several columns, it also lacks `glue[0]`.
    """
    rows = len(columns[0])
    start = np.empty((rows, len(columns)), np.int64)
    size = np.empty((rows, len(columns)), np.int32)
    for c, column in enumerate(columns):
        start[:, c] = column.start
        size[:, c] = column.size
    if last is None:
        last = np.full(rows, len(columns) - 1, np.int8)
    glued = pack(glue)
    glue_at = np.append(glued.start, glued.data.size)
    lengths = np.empty(rows, np.int32)
    _measure(size, last, glue_at, lengths)
    offsets = _starts(lengths)
    out = np.empty(int(offsets[-1]), np.uint8)
    _fill(data, start, size, last, glued.data, glue_at, offsets, out)
    return Ragged(out, offsets[:-1], lengths)


def find(table: Ragged, byte: bytes) -> Int32s:
    """Return the position of the first such byte in each row, or the row's size without one."""
    places = np.empty(len(table), np.int32)
    _find(table.data, table.start, table.size, ord(byte), places)
    return places


def _starts(size: NDArray[np.integer]) -> Int64s:
    """Return the offsets of consecutive rows; one more than there are rows."""
    starts = np.zeros(len(size) + 1, np.int64)
    np.cumsum(size, out=starts[1:])
    return starts


@loop
def _write_integers(values: Int64s, start: Int64s, data: Bytes) -> None:
    for i in range(values.size):
        rest = values[i]
        for at in range(start[i + 1] - 1, start[i] - 1, -1):
            data[at] = 48 + rest % 10
            rest //= 10


@loop
def _find(data: Bytes, start: Int64s, size: Int32s, byte: int, places: Int32s) -> None:
    for i in range(start.size):
        at = 0
        while at < size[i] and data[start[i] + at] != byte:
            at += 1
        places[i] = at


@loop
def _measure(size: NDArray[np.int32], last: Int8s, glue_at: Int64s, lengths: Int32s) -> None:
    """Write the number of bytes of each composed row to `lengths`."""
    rows, columns = size.shape
    for i in range(rows):
        end = last[i]
        total = 0
        for c in range(end + 1):
            total += size[i, c]
        if end == columns - 1:
            total += glue_at[columns + 1]
        elif end == 0:
            total += 1
        else:
            total += glue_at[end + 1] + 1
        lengths[i] = total


@loop
def _copy(source: Bytes, start: int, size: int, out: Bytes, at: int) -> int:
    # Unsigned indices: numba need not ask whether they count from the end, 2.7 times as fast.
    read, write = np.uint64(start), np.uint64(at)
    for k in range(np.uint64(size)):
        out[write + k] = source[read + k]
    return at + size


@loop
def _fill(
    data: Bytes,
    start: NDArray[np.int64],
    size: NDArray[np.int32],
    last: Int8s,
    glue: Bytes,
    glue_at: Int64s,
    offsets: Int64s,
    out: Bytes,
) -> None:
    """Write the bytes of all rows to `out`, row i from `offsets[i]` on."""
    rows, columns = start.shape
    for i in range(rows):
        at = offsets[i]
        end = last[i]
        if end > 0 or columns == 1:
            at = _copy(glue, glue_at[0], glue_at[1] - glue_at[0], out, at)
        for c in range(end):
            at = _copy(data, start[i, c], size[i, c], out, at)
            at = _copy(glue, glue_at[c + 1], glue_at[c + 2] - glue_at[c + 1], out, at)
        at = _copy(data, start[i, end], size[i, end], out, at)
        if end == columns - 1:
            _copy(glue, glue_at[end + 1], glue_at[end + 2] - glue_at[end + 1], out, at)
        else:
            out[at] = 10
