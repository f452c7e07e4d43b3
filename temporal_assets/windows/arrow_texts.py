"""Strings of Arrow as the flat bytes that `core` takes, and back, without a Python object each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from temporal_assets.core.texts import Texts


def from_arrow(column: pa.Array) -> Texts:
    """A string column without NULLs."""
    _, offsets, data = column.cast(pa.large_string()).buffers()
    places = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    if data is None:  # no string has any byte
        return Texts(np.empty(0, np.uint8), np.zeros(len(column) + 1, np.int64))
    return Texts(np.frombuffer(data, np.uint8), places)


def to_arrow(texts: Texts) -> pa.Array:
    """A string column."""
    buffers = [None, pa.py_buffer(texts.offsets), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers).cast(pa.string())
