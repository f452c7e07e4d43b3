"""Access logs that are Parquet files, one row per request.

Here: reading batches of the mapped columns. Not here: what values mean (`tokenize`). There are no
lines: a record's line is its row number from 1, its text is its target.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from temporal_assets.logs.assemble import assemble, column, known_times
from temporal_assets.logs.columns import mapped, slots_of
from temporal_assets.logs.layouts import Slot
from temporal_assets.logs.parquet_pages import PageError, leaf_of, leaves_of
from temporal_assets.logs.records import Records, Reject
from temporal_assets.logs.rewrite import with_query
from temporal_assets.logs.times import BAD, last_repeated
from temporal_assets.logs.tokenize import Fields, interpret_fields
from temporal_assets.settings import LogSource, Reading

_BATCH_ROWS: Final = 65_536
"""About as many as a block of text has lines."""

_BATCH_BYTES: Final = 32 << 20
"""Of a batch once it is written out: several blocks of text."""

_BUFFER_BYTES: Final = 1 << 20
"""Of a column that is in memory as it lies in the file."""

_SLACK_BYTES: Final = 64 << 20
"""Unpacked bytes that are never a bomb, as of text."""

_NUMBER_BYTES: Final = 16
"""Of a value that is no text, at most."""

_TEXT: Final = frozenset(("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"))

_BOMB: Final = "it unpacks to more than `reading.max_expansion` times its size: refused"


class DamagedParquetError(OSError):
    """The file is no readable Parquet file."""


def read(path: Path, source: LogSource, reading: Reading) -> Iterator[Records]:
    """Records of a Parquet file, batch by batch. Raises `DamagedParquetError`, `ColumnsError`.

    Memory is bounded as for lines of text: by a batch, whatever the file unpacks to, and values
    longer than a line may be are cut there.
    """
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            columns = mapped(source.columns, names)
            slots_of({field: _root(name, names) for field, name in columns.items()}, names)
            wanted = slots_of(columns, None)
        row, before = 1, BAD
        for batch in _batches(path, set(columns.values()), reading):
            records = _records(batch, wanted, row, source, before)
            before = last_repeated(known_times(records), ZoneInfo(source.timezone))
            yield records
            row += len(batch)
    except (pa.ArrowException, OSError, UnicodeDecodeError, PageError) as error:
        raise DamagedParquetError(f"{path}: {error}") from error


def _batches(path: Path, columns: Collection[str], reading: Reading) -> Iterator[pa.RecordBatch]:
    """Batches of some columns, each of so many bytes once its dictionaries are written out."""
    with pq.ParquetFile(path) as file:
        leaves = leaves_of(file, columns)
        found = {name: leaf_of(path, file, number) for name, number in leaves.items()}
        texts = {name for name in leaves if file.schema.column(leaves[name]).physical_type in _TEXT}
    most = reading.max_expansion * path.stat().st_size + _SLACK_BYTES
    if sum(leaf.unpacked for leaf in found.values()) > most:
        raise PageError(_BOMB)
    kept = {name for name in texts if found[name].dictionary and not found[name].has_deltas}
    widest = sum(
        max(leaf.bytes_per_value, 0 if name in kept else leaf.dictionary)
        for name, leaf in found.items()
    )
    rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(1, widest)))
    names = sorted(found)
    with pq.ParquetFile(path, read_dictionary=sorted(kept), buffer_size=_BUFFER_BYTES) as file:
        for batch in _joined(file.iter_batches(rows, columns=names)):
            for part in _written_out(batch, reading.max_line_bytes):
                most -= part.nbytes
                if most < 0:
                    raise PageError(_BOMB)
                yield part


def _joined(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Small batches together, as many as one may have rows and bytes."""
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


def _written_out(batch: pa.RecordBatch, most: int) -> Iterator[pa.RecordBatch]:
    """A batch without dictionaries, in parts; values are cut where they are too long for a line."""
    columns = [_cut(column, most) for column in batch.columns]
    sizes = np.zeros(len(batch), np.int64)
    for values in columns:
        sizes += _sizes(values)
    ends = np.cumsum(sizes)
    at = 0
    while at < len(batch):
        begun = ends[at - 1] if at else 0
        stop = max(at + 1, int(np.searchsorted(ends, begun + _BATCH_BYTES, "right")))
        parts = [_plain(column.slice(at, stop - at)) for column in columns]
        yield pa.RecordBatch.from_arrays(parts, schema=_plain_schema(batch.schema, parts))
        at = stop


def _cut(column: pa.Array, most: int) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        values = _cut(column.dictionary, most)
        return pa.DictionaryArray.from_arrays(column.indices, values)
    if pa.types.is_struct(column.type):
        fields = [_cut(field, most) for field in column.flatten()]
        return pa.StructArray.from_arrays(fields, [field.name for field in column.type])
    if not _is_text(column) or not len(column) or _longest(column) <= most:
        return column
    # One byte more than a line may have, so that it is rejected.
    return pc.binary_slice(pc.cast(column, pa.large_binary()), 0, most + 1)


def _longest(column: pa.Array) -> int:
    return int(pc.max(pc.binary_length(column)).as_py() or 0)


def _sizes(column: pa.Array) -> NDArray[np.int64]:
    """Bytes of each value, written out."""
    if pa.types.is_dictionary(column.type) and _is_text(column.dictionary):
        lengths = _sizes(column.dictionary)
        places = column.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return lengths[places] if len(lengths) else np.zeros(len(column), np.int64)
    if pa.types.is_struct(column.type):
        return sum((_sizes(one) for one in column.flatten()), np.zeros(len(column), np.int64))
    if _is_text(column):
        return np.asarray(pc.binary_length(column).fill_null(0), np.int64)
    return np.full(len(column), _NUMBER_BYTES, np.int64)


def _plain_schema(schema: pa.Schema, columns: Sequence[pa.Array]) -> pa.Schema:
    return pa.schema(
        [pa.field(name, column.type) for name, column in zip(schema.names, columns, strict=True)]
    )


def _root(name: str, names: list[str]) -> str:
    """The top-level column of a name that may be a path into a struct."""
    return name if name in names else name.split(".", 1)[0]


def _records(
    batch: pa.RecordBatch, wanted: dict[Slot, str], row: int, source: LogSource, before: int
) -> Records:
    """Records of one batch; its first row is number `row`."""
    rows = len(batch)
    values = {slot: _values(batch, name) for slot, name in wanted.items()}
    moments = values[Slot.TIME]
    timestamps = pa.types.is_timestamp(moments.type)
    texts = {
        slot: pc.cast(value, pa.large_binary() if _is_text(value) else pa.large_string())
        for slot, value in values.items()
        if not (timestamps and slot == Slot.TIME)
    }
    fields = _fields(texts, rows)
    interpret_fields(fields)
    if timestamps:
        _set_times(fields, moments)
    number = np.arange(row, row + rows, dtype=np.int64)
    text = column(fields, Slot.TARGET)
    records = assemble(fields, number, text, source, escaped=False, before=before)
    if not fields.used[Slot.QUERY]:
        return records
    return replace(records, target=with_query(records.target, column(fields, Slot.QUERY)))


def _values(batch: pa.RecordBatch, name: str) -> pa.Array:
    """A column, or a field of a struct by dotted path."""
    if name in batch.schema.names:
        return _plain(batch.column(name))
    root, *path = name.split(".")
    return _plain(pc.struct_field(batch.column(root), path))


def _plain(values: pa.Array) -> pa.Array:
    if pa.types.is_struct(values.type):
        fields = [_plain(field) for field in values.flatten()]
        return pa.StructArray.from_arrays(fields, [field.name for field in values.type])
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def _is_text(values: pa.Array) -> bool:
    kind = values.type
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def _fields(texts: dict[Slot, Any], rows: int) -> Fields:
    """Fields over one buffer of all columns."""
    slots = {int(slot) for slot in texts}
    buffers: list[bytes] = []
    base = 0
    spans = {}
    for slot, text in texts.items():
        # A slice's offsets begin anywhere; concatenating copies it to the front of a buffer.
        whole = pa.concat_arrays([text.slice(0)])
        offsets = np.frombuffer(whole.buffers()[1], np.int64)[
            whole.offset : whole.offset + rows + 1
        ]
        buffer = whole.buffers()[2]
        data = buffer.to_pybytes() if buffer else b""
        missing = np.asarray(whole.is_null())
        spans[slot] = (
            np.where(missing, -1, offsets[:-1] + base),
            np.where(missing, -1, offsets[1:] + base),
        )
        buffers.append(data)
        base += len(data)
    fields = Fields.empty(np.frombuffer(b"".join(buffers), np.uint8), rows, slots)
    # Methods and targets are found in requests, and a row may have none.
    fields.start[:] = fields.stop[:] = -1
    for slot, (start, stop) in spans.items():
        fields.start[slot], fields.stop[slot] = start, stop
    if not fields.data.all():
        for slot in spans:
            holds = pc.match_substring(pc.cast(texts[slot], pa.large_binary()), b"\0")
            fields.reason[np.asarray(holds.fill_null(False))] = Reject.NUL_BYTES
    return fields


def _set_times(fields: Fields, moments: pa.Array) -> None:
    """Times of a timestamp column, naive if it has no zone."""
    micros = pc.cast(moments, pa.timestamp("us", tz=moments.type.tz), safe=False)
    fields.time[:] = pc.cast(micros, pa.int64()).fill_null(BAD).to_numpy()
    fields.naive[:] = moments.type.tz is None
    bad = (fields.time == BAD) & (fields.reason == Reject.NONE)
    fields.reason[bad] = Reject.BAD_TIME
