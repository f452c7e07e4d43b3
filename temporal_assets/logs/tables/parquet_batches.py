"""Batches of a Parquet file in bounded memory, whatever its pages and dictionaries unpack to.

Here: how many rows are read at once, and writing dictionaries out part by part. Not here: what
pages say of themselves (`parquet_pages`), what a column means (`parquet`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from temporal_assets.logs.read.packed import MAX_EXPANSION
from temporal_assets.logs.tables.parquet_pages import Leaf, PageError, leaf_of, leaves_of

_BATCH_ROWS: Final = 65_536
"""Most rows of a batch: about as many as a block of text has lines."""

_BATCH_BYTES: Final = 32 << 20
"""Bytes of a batch once it is written out: several blocks of text."""

_BUFFER_BYTES: Final = 1 << 20
"""Bytes of a column that are in memory as stored in the file."""

_SLACK_BYTES: Final = 64 << 20
"""Bytes that a file may always unpack to, however small it is."""

_NUMBER_BYTES: Final = 16
"""Most bytes of a value that is no text."""

_TEXT: Final = frozenset(("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"))

_BOMB: Final = f"it unpacks to more than {MAX_EXPANSION} times its size: refused"
"""Reason to refuse a file."""

FAULTS: Final = (pa.ArrowException, OSError, UnicodeDecodeError, PageError)
"""Errors of reading a file that is damaged, or holds what may not be unpacked."""


def batches(
    path: Path, columns: Collection[str], longest: int, groups: Sequence[int] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield batches of some columns, given by dotted paths, without dictionaries.

    Only the given row groups are read. Values longer than `longest` bytes are cut to `longest` + 1,
    so that the line reader still rejects them. Raises one of `FAULTS`: among them `PageError` for
    lists and for a file that unpacks to more than its limit (`_most_bytes`).
    """
    with pq.ParquetFile(path) as file:
        physical = [file.schema.column(n).physical_type for n in range(len(file.schema))]
        leaves = leaves_of(file, columns)
    texts = {name for name, number in leaves.items() if physical[number] in _TEXT}
    leaf_of_column = require_bounded(path, columns)
    bytes_left = _most_bytes(path)
    kept_as_dictionary = {
        name
        for name in texts
        if leaf_of_column[name].dictionary and not leaf_of_column[name].has_deltas
    }
    # A text may be as long as its dictionary; a number has its size whatever the dictionary has.
    dictionary_bytes = {
        name: leaf_of_column[name].dictionary for name in texts - kept_as_dictionary
    }
    widest = sum(
        max(leaf.bytes_per_value, dictionary_bytes.get(name, _NUMBER_BYTES))
        for name, leaf in leaf_of_column.items()
    )
    rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(1, widest)))
    names = sorted(leaf_of_column)
    with pq.ParquetFile(
        path, read_dictionary=sorted(kept_as_dictionary), buffer_size=_BUFFER_BYTES
    ) as file:
        for batch in _joined(file.iter_batches(rows, groups, names)):
            for part in _written_out(batch, longest):
                bytes_left -= part.nbytes
                if bytes_left < 0:
                    raise PageError(_BOMB)
                yield part


def require_bounded(path: Path, columns: Collection[str]) -> dict[str, Leaf]:
    """Return what the pages of some columns hold. Raises `PageError` where that is too much."""
    with pq.ParquetFile(path) as file:
        leaves = {name: leaf_of(path, file, n) for name, n in leaves_of(file, columns).items()}
    if sum(leaf.unpacked for leaf in leaves.values()) > _most_bytes(path):
        raise PageError(_BOMB)
    return leaves


def _most_bytes(path: Path) -> int:
    """Return the most bytes that a file may unpack to."""
    return MAX_EXPANSION * path.stat().st_size + _SLACK_BYTES


def _joined(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches in which small ones are joined, up to the limits of rows and bytes."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if waiting and (rows + len(batch) > _BATCH_ROWS or size + batch.nbytes > _BATCH_BYTES):
            yield pa.concat_batches(waiting)
            waiting, rows, size = [], 0, 0
        waiting.append(batch)
        rows, size = rows + len(batch), size + batch.nbytes
    if waiting:
        yield pa.concat_batches(waiting)


def _written_out(batch: pa.RecordBatch, longest: int) -> Iterator[pa.RecordBatch]:
    """Yield a batch without dictionaries, in parts; overlong values are cut."""
    columns = [_cut(column, longest) for column in batch.columns]
    sizes = np.zeros(len(batch), np.int64)
    for values in columns:
        sizes += _sizes(values)
    ends = np.cumsum(sizes)
    at = 0
    while at < len(batch):
        begun = ends[at - 1] if at else 0
        stop = max(at + 1, int(np.searchsorted(ends, begun + _BATCH_BYTES, "right")))
        parts = [plain(column.slice(at, stop - at)) for column in columns]
        yield pa.RecordBatch.from_arrays(parts, schema=_plain_schema(batch.schema, parts))
        at = stop


def _cut(column: pa.Array, longest: int) -> pa.Array:
    """Return a column with its texts cut to one byte more than `longest`, if they are longer."""
    if pa.types.is_dictionary(column.type):
        values = _cut(column.dictionary, longest)
        return pa.DictionaryArray.from_arrays(column.indices, values)
    if pa.types.is_struct(column.type):
        fields = [_cut(field, longest) for field in column.flatten()]
        return pa.StructArray.from_arrays(fields, [field.name for field in column.type])
    if not is_text(column) or not len(column) or _longest(column) <= longest:
        return column
    # The line reader rejects a value with one byte more than a line may have.
    return pc.binary_slice(pc.cast(column, pa.large_binary()), 0, longest + 1)


def _longest(column: pa.Array) -> int:
    return int(pc.max(pc.binary_length(column)).as_py() or 0)


def _sizes(column: pa.Array) -> NDArray[np.int64]:
    """Return bytes of each value, written out."""
    if pa.types.is_dictionary(column.type) and is_text(column.dictionary):
        lengths = _sizes(column.dictionary)
        places = column.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return lengths[places] if len(lengths) else np.zeros(len(column), np.int64)
    if pa.types.is_struct(column.type):
        return sum((_sizes(chunk) for chunk in column.flatten()), np.zeros(len(column), np.int64))
    if is_text(column):
        return np.asarray(pc.binary_length(column).fill_null(0), np.int64)
    return np.full(len(column), _NUMBER_BYTES, np.int64)


def _plain_schema(schema: pa.Schema, columns: Sequence[pa.Array]) -> pa.Schema:
    return pa.schema(
        [pa.field(name, column.type) for name, column in zip(schema.names, columns, strict=True)]
    )


def plain(values: pa.Array) -> pa.Array:
    """Return values without dictionaries, also within structs."""
    if pa.types.is_struct(values.type):
        fields = [plain(field) for field in values.flatten()]
        return pa.StructArray.from_arrays(fields, [field.name for field in values.type])
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def is_text(values: pa.Array) -> bool:
    """Return whether values are texts or bytes."""
    kind = values.type
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )
