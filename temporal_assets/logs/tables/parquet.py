"""Access logs that are Parquet files, one row per request.

Here: reading batches of the mapped columns. Not here: what values mean (`tokenize`). There are no
lines: a record's line is its row number from 1, its text is its target.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.logs.counts.row_counts import with_counts
from temporal_assets.logs.fields.assemble import assemble, column, count_columns, known_times
from temporal_assets.logs.fields.field_arrays import Fields
from temporal_assets.logs.fields.interpretation import interpret_fields
from temporal_assets.logs.fields.layouts import Slot
from temporal_assets.logs.fields.rewrite import with_hosts, with_query, with_url_prefix
from temporal_assets.logs.fields.times import BAD, last_repeated
from temporal_assets.logs.formats.columns import (
    ColumnsError,
    is_counted,
    mapped,
    parts_of,
    pieces_of,
    slots_of,
    suggested_by_names,
    with_dates_apart,
)
from temporal_assets.logs.read.records import Records, Reject
from temporal_assets.logs.tables.event_rows import WANTED, are_events, event_batches
from temporal_assets.logs.tables.parquet_batches import FAULTS, batches, is_text, plain
from temporal_assets.settings import DEFAULT_SCHEME, LogSource, Reading


class DamagedParquetError(OSError):
    """Error: the file is no readable Parquet file."""


class Groups(NamedTuple):
    """The row groups of a file that one of several tasks reads."""

    part: int = 0
    parts: int = 1

    def of(self, file: pq.ParquetFile) -> tuple[list[int], int]:
        """Return the numbers of the groups, and of the rows before them."""
        count = file.num_row_groups
        first, stop = (n * count // self.parts for n in (self.part, self.part + 1))
        before = sum(file.metadata.row_group(n).num_rows for n in range(first))
        return list(range(first, stop)), before


ALL_GROUPS: Final = Groups()


def read(
    path: Path,
    source: LogSource,
    reading: Reading,
    moment: int | None = None,
    groups: Groups = ALL_GROUPS,
) -> Iterator[Records]:
    """Yield the records of a Parquet file, batch by batch.

    Raises `DamagedParquetError` and `ColumnsError`. Of several parts that read a file, the first
    has all groups where a row depends on those before it (clocks show an hour twice), and for
    nested events. Memory is bounded as for lines of text: by a batch, whatever the file unpacks to,
    and values longer than a line may be are cut there.
    """
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            is_nested = are_events(names) and not source.columns
            if is_nested or source.timezone != "UTC":
                if groups.part:
                    return
                groups = ALL_GROUPS
            numbers, before_them = groups.of(file)
        if is_nested:
            yield from _events(path, source, reading)
            return
        columns = mapped(source.columns, names)
        is_dated = moment is not None
        rooted = {field: _rooted(name, names) for field, name in columns.items()}
        try:
            slots_of(rooted, names, is_dated=is_dated)
        except ColumnsError as error:
            has_prefix = bool(source.url_prefix)
            options = suggested_by_names(source.columns, names, {}, has_prefix=has_prefix)
            hint = f". By their names: {options} (--dry-run shows what comes of it)"
            raise ColumnsError(f"{error}{hint if options else ''}") from None
        wanted = slots_of(columns, None, is_dated=is_dated)
        needed = {part for name in columns.values() for part in parts_of(name) or (name,)}
        row, before = 1 + before_them, BAD
        for batch in batches(path, needed, reading.max_line_bytes, numbers):
            records = _records(batch, wanted, row, source, before, moment)
            before = last_repeated(known_times(records), ZoneInfo(source.timezone))
            yield records
            row += len(batch)
    except FAULTS as error:
        raise DamagedParquetError(f"{path}: {error}") from error


def _events(path: Path, source: LogSource, reading: Reading) -> Iterator[Records]:
    row = 1
    for batch in event_batches(path, reading.max_line_bytes):
        yield _records(batch, dict(WANTED), row, source, BAD)
        row += len(batch)


def _rooted(name: str, names: list[str]) -> str:
    """Return a column or a template, with paths into structs cut to their top-level columns."""
    if not parts_of(name):
        return _root(name, names)
    return "".join(
        f"{{{_root(text, names)}}}" if is_column else text for is_column, text in pieces_of(name)
    )


def _root(name: str, names: list[str]) -> str:
    """Return the top-level column of a name that may be a path into a struct."""
    return name if name in names else name.split(".", 1)[0]


def _records(
    batch: pa.RecordBatch,
    wanted: dict[Slot, str],
    row: int,
    source: LogSource,
    before: int,
    moment: int | None = None,
) -> Records:
    """Return records of one batch; its first row is number `row`."""
    wanted = with_dates_apart(wanted)
    rows = len(batch)
    values = {
        slot: _joined(batch, name) if parts_of(name) else _values(batch, name)
        for slot, name in wanted.items()
    }
    moments = values.get(Slot.TIME)
    timestamps = moments is not None and pa.types.is_timestamp(moments.type)
    texts = {
        slot: pc.cast(value, pa.large_binary() if is_text(value) else pa.large_string())
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
    if is_counted(wanted):
        zone = ZoneInfo(source.timezone)
        records = with_counts(records, count_columns(fields), zone, moment)
        records = with_hosts(records, DEFAULT_SCHEME)
    if fields.used[Slot.QUERY]:
        target = with_query(records.target, column(fields, Slot.QUERY))
        records = replace(records, target=target)
    return with_url_prefix(records, source.url_prefix) if source.url_prefix else records


def _joined(batch: pa.RecordBatch, template: str) -> pa.Array:
    """Return texts of several columns, one behind the other; NULL where none of them has any."""
    texts = {
        name: pc.cast(_values(batch, name), pa.large_string())
        for is_column, name in pieces_of(template)
        if is_column
    }
    pieces = [
        pc.fill_null(texts[text], "") if is_column else pa.scalar(text, pa.large_string())
        for is_column, text in pieces_of(template)
    ]
    whole = pc.binary_join_element_wise(*pieces, pa.scalar("", pa.large_string()))
    empty = [pc.equal(pc.fill_null(text, ""), "") for text in texts.values()]
    is_missing = empty[0]
    for other in empty[1:]:
        is_missing = pc.and_(is_missing, other)
    return pc.if_else(is_missing, pa.scalar(None, pa.large_string()), whole)


def _values(batch: pa.RecordBatch, name: str) -> pa.Array:
    """Return a column, or a field of a struct by dotted path."""
    if name in batch.schema.names:
        return plain(batch.column(name))
    root, *path = name.split(".")
    return plain(pc.struct_field(batch.column(root), path))


def _fields(texts: dict[Slot, Any], rows: int) -> Fields:
    """Return fields over one buffer of all columns."""
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
    """Set the times from a timestamp column; they are naive if it has no zone."""
    micros = pc.cast(moments, pa.timestamp("us", tz=moments.type.tz), safe=False)
    fields.time[:] = pc.cast(micros, pa.int64()).fill_null(BAD).to_numpy()
    fields.naive[:] = moments.type.tz is None
    bad = (fields.time == BAD) & (fields.reason == Reject.NONE)
    fields.reason[bad] = Reject.BAD_TIME
