"""Dictionary encoding of ragged bytes, and selection and concatenation of values, all compiled.

An access log repeats itself: everything costly (parsing URLs, matching agents, keyed hashes) is
done once per distinct value, and rows carry small integer codes. In: a column of byte ranges. Out:
`Encoded`, codes into distinct values. It works on flat arrays without the interpreter lock. Not
here: what the values mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import loop
from temporal_assets.core.text import texts
from temporal_assets.core.text.texts import SEED, equal_bytes, hash_bytes
from temporal_assets.logs.read.records import Bytes, Column, Offsets

Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Encoded:
    """Rows as codes into the distinct values, numbered by first occurrence."""

    codes: Codes
    """Codes, one per row; -1 where the row has no value."""
    distinct: Column
    """The distinct values."""

    def where(self, rows: NDArray[np.bool_]) -> Encoded:
        """Return the chosen rows; distinct values stay, used or not."""
        return Encoded(self.codes[rows], self.distinct)


def encode(column: Column, rows: Offsets) -> Encoded:
    """Encode the values of `column` in `rows` as codes into the distinct values."""
    codes, first = _encode(column.data, column.start, column.stop, rows, SEED)
    return Encoded(codes, Column(column.data, column.start[first], column.stop[first]))


def encode_keys(keys: Offsets) -> tuple[Codes, Offsets]:
    """Return the code of each row, and the distinct integers by first occurrence."""
    encoded = pa.array(keys).dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary.to_numpy()


def take(column: Column, index: Offsets) -> Column:
    """Return a column of the values with these indices; a negative index is no value."""
    has_value = index >= 0
    if not has_value.any():
        nothing = np.full(len(index), -1, np.int64)
        return Column(column.data, nothing, nothing)
    safe = np.where(has_value, index, 0)
    return Column(
        column.data,
        np.where(has_value, column.start[safe], -1),
        np.where(has_value, column.stop[safe], -1),
    )


def to_list(column: Column) -> list[bytes]:
    """Return the values as Python bytes, empty where there is none."""
    flat = texts.take(column.data, column.start, column.stop)
    blob, ends = flat.data.tobytes(), flat.offsets.tolist()
    return [blob[start:stop] for start, stop in pairwise(ends)]


def concatenate(prefix: Column, prefix_of: Codes, rest: Column) -> Column:
    """Return a column whose value i is `prefix[prefix_of[i]]` followed by `rest[i]`."""
    data, start, stop = _concatenate(
        prefix.data, prefix.start, prefix.stop, prefix_of, rest.data, rest.start, rest.stop
    )
    return Column(data, start, stop)


def from_values(values: list[bytes]) -> Column:
    """Return a column from Python bytes."""
    lengths = np.fromiter((len(value) for value in values), np.int64, len(values))
    stop = np.cumsum(lengths)
    data = np.frombuffer(b"".join(values), np.uint8)
    return Column(data, stop - lengths, stop)


def to_arrow(column: Column) -> pa.Array:
    """Return an Arrow string array; the caller vouches for UTF-8."""
    flat = texts.take(column.data, column.start, column.stop)
    buffers = (pa.py_buffer(flat.offsets.astype(np.int32)), pa.py_buffer(flat.data))
    return pa.StringArray.from_buffers(len(column), *buffers)


@loop
def _encode(
    data: Bytes, start: Offsets, stop: Offsets, rows: Offsets, seed: np.uint64
) -> tuple[Codes, Offsets]:
    """Open addressing with linear probing; the table doubles at half load."""
    codes = np.empty(rows.size, np.int32)
    first = np.empty(rows.size, np.int64)
    hashes = np.empty(rows.size, np.uint64)
    size = 1 << 12
    table = np.full(size, -1, np.int32)
    count = 0
    for i in range(rows.size):
        row = rows[i]
        begin, end = start[row], stop[row]
        if begin < 0:
            codes[i] = -1
            continue
        value = hash_bytes(data, begin, end, 0, seed)
        slot = np.int64(value & np.uint64(size - 1))
        while True:
            code = table[slot]
            if code < 0:
                code = count
                table[slot] = code
                first[code] = row
                hashes[code] = value
                count += 1
                break
            other = first[code]
            if (
                hashes[code] == value
                and stop[other] - start[other] == end - begin
                and equal_bytes(data, start[other], data, begin, end - begin)
            ):
                break
            slot = (slot + 1) & (size - 1)
        codes[i] = code
        if 2 * count >= size:
            size *= 2
            table = np.full(size, -1, np.int32)
            for code_ in range(count):
                slot = np.int64(hashes[code_] & np.uint64(size - 1))
                while table[slot] >= 0:
                    slot = (slot + 1) & (size - 1)
                table[slot] = code_
    return codes, first[:count].copy()


@loop
def _concatenate(
    prefix: Bytes,
    prefix_start: Offsets,
    prefix_stop: Offsets,
    prefix_of: Codes,
    rest: Bytes,
    rest_start: Offsets,
    rest_stop: Offsets,
) -> tuple[Bytes, Offsets, Offsets]:
    """Return prefix and rest of each row as one text: bytes, starts and stops."""
    n = rest_start.size
    start = np.empty(n, np.int64)
    stop = np.empty(n, np.int64)
    at = 0
    for i in range(n):
        p = prefix_of[i]
        start[i] = at
        at += prefix_stop[p] - prefix_start[p] + rest_stop[i] - rest_start[i]
        stop[i] = at
    data = np.empty(at, np.uint8)
    for i in range(n):
        to = start[i]
        p = prefix_of[i]
        for j in range(prefix_start[p], prefix_stop[p]):
            data[to] = prefix[j]
            to += 1
        for j in range(rest_start[i], rest_stop[i]):
            data[to] = rest[j]
            to += 1
    return data, start, stop
