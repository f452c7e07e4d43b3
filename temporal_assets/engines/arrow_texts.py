"""Conversion between Arrow strings and the flat bytes of `core`, without Python objects.

Kernels take strings as bytes and offsets (`core.text.texts`), engines pass Arrow columns.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from temporal_assets.core.numerics.arrays import Int32s
from temporal_assets.core.text.texts import Texts


def from_arrow(column: pa.Array | pa.ChunkedArray) -> Texts:
    """Return texts of a column without NULLs; bytes are copied only if it has several chunks."""
    # Offsets of 64 bits: the URLs of a site may have more than 2 GB.
    strings = column.cast(pa.large_string())
    if isinstance(strings, pa.ChunkedArray):
        is_single = strings.num_chunks == 1
        strings = strings.chunk(0) if is_single else strings.combine_chunks()
    if not len(strings):
        return Texts(np.empty(0, np.uint8), np.zeros(1, np.int64))
    _, offsets, data = strings.buffers()
    # Of the strings that were cast: casting begins a slice anew, or leaves it where it is.
    bounds = np.frombuffer(offsets, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    first, last = bounds[0], bounds[-1]
    # Without the bytes around a slice, which would be sent to other processes with it.
    return Texts(
        np.frombuffer(data or b"", np.uint8)[first:last], bounds - first if first else bounds
    )


def from_repeated(column: pa.Array | pa.ChunkedArray) -> tuple[Texts, Int32s]:
    """Return the distinct texts of a column without NULLs, and the index of each row's text.

    For a dictionary in one chunk, the strings of the rows are never made.
    """
    pieces = encoded(column)
    whole = pieces.combine_chunks() if isinstance(pieces, pa.ChunkedArray) else pieces
    return from_arrow(whole.dictionary), whole.indices.to_numpy()


def encoded(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return a column of strings dictionary-encoded, unchanged if it is already."""
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def with_encoded(schema: pa.Schema, name: str) -> pa.Schema:
    """Return a schema with one column of strings dictionary-encoded."""
    field = schema.field(name)
    kind = pa.dictionary(pa.int32(), field.type)
    return schema.set(schema.get_field_index(name), field.with_type(kind))


def to_arrow(texts: Texts) -> pa.Array:
    """Return texts as an Arrow string column."""
    buffers = [None, pa.py_buffer(texts.offsets), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers).cast(pa.string())
