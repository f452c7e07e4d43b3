"""Incremental update of `page_totals`: a merge of the earlier totals with the pages that changed.

Both inputs and the result are in the order of sites and URLs, so that only pages of days that enter
or leave are joined and sorted. The bits of `seen` are shifted: days that leave drop out, and the
lowest remaining bit is the day of birth. The file equals that of sql/pages/page_totals.sql, byte
for byte.

Here: assembling the rows, for one machine. Not here: the check that an earlier window can be used
(`incremental`), and the merge join (`core.text.sorted_texts`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from temporal_assets import contracts
from temporal_assets.contracts import passing
from temporal_assets.core.numerics.arrays import Int64s
from temporal_assets.core.text.sorted_texts import Keys, count_up_to, merged
from temporal_assets.engines.arrow_texts import (
    encoded,
    from_arrow,
    from_repeated,
    with_encoded,
)
from temporal_assets.engines.base import Engine
from temporal_assets.engines.batches import in_order
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.windows.frame.incremental import Earlier

PAGE_CHANGES: Final = passing(
    "page_changes", "site VARCHAR, url VARCHAR, views BIGINT, seen BIGINT"
)

_COLUMNS: Final = ("site", "url", "total", "seen")
"""Columns read from the earlier window."""

_SCHEMA: Final = with_encoded(contracts.PAGE_TOTALS.arrow_schema, "site")
"""Schema of the result; sites are dictionary-encoded, so that their names are not copied per
page."""

_UNNUMBERED: Final = pa.schema([field for field in _SCHEMA if field.name != "number"])


def go_on(
    engine: Engine, earlier: Earlier, first: dt.date, day: dt.date, out: Path, threads: int
) -> list[Path]:
    """Update the earlier totals and return the file of the window from `first` to `day`."""
    days = {"entering": earlier.entering, "leaving": earlier.leaving}
    changes = engine.query(PAGE_CHANGES.name, days, {"first": first}, PAGE_CHANGES, out)
    rows = _Rows(first, day, earlier.moved)
    parts = _parts(ParquetRows(earlier.files, ("site",)), ParquetRows(list(map(str, changes))))
    tables = _with_numbers(in_order(rows.table, parts, threads))
    reader = pa.RecordBatchReader.from_batches(
        _SCHEMA, (batch for table in tables for batch in table.to_batches())
    )
    return engine.write(reader, contracts.PAGE_TOTALS, out)


def _with_numbers(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield the tables with a column of row numbers, which continue from table to table."""
    first = 0
    for table in tables:
        stop = first + len(table)
        numbers = pa.array(np.arange(first, stop))
        yield table.append_column(_SCHEMA.field("number"), numbers)
        first = stop


def _parts(before: ParquetRows, changes: ParquetRows) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield the earlier rows in order, some at a time, together with the changes in their range."""
    ahead = _Ahead(changes)
    for rows in before.blocks(_COLUMNS, pa.Table.combine_chunks):
        if len(rows):
            yield rows, ahead.up_to(_keys(rows.slice(len(rows) - 1)))
    schema = pa.schema([_SCHEMA.field(name) for name in _COLUMNS])
    for rest in ahead.rest():
        yield schema.empty_table(), rest


class _Ahead:
    """Changes that the merge has not reached yet, in order; one row group is in memory."""

    def __init__(self, changes: ParquetRows) -> None:
        self._groups = changes.blocks(PAGE_CHANGES.column_names, pa.Table.combine_chunks)
        self._hold(PAGE_CHANGES.arrow_schema.empty_table())

    def _hold(self, rows: pa.Table) -> None:
        self._rows, self._keys, self._at = rows, _keys(rows), 0

    def up_to(self, last: Keys) -> pa.Table:
        """Return the changes up to and including a page."""
        changes = []
        while True:
            stop = count_up_to(self._keys, self._at, last)
            changes.append(self._rows.slice(self._at, stop - self._at))
            self._at = stop
            following = next(self._groups, None) if stop == len(self._rows) else None
            if following is None:
                return pa.concat_tables(changes).combine_chunks()
            self._hold(following)

    def rest(self) -> Iterator[pa.Table]:
        """Yield all remaining changes."""
        yield self._rows.slice(self._at)
        yield from self._groups


@dataclass(frozen=True, slots=True)
class _Rows:
    """Builder of the later window's rows from the rows of the earlier window and the changes."""

    first: dt.date
    day: dt.date
    moved: int

    def table(self, part: tuple[pa.Table, pa.Table]) -> pa.Table:
        """Return the rows of a part's pages that are still in the window."""
        before, changes = part
        old, new = merged(_keys(before), _keys(changes))
        total = _at_places(before["total"], old) + _at_places(changes["views"], new)
        there = total > 0
        old, new, total = old[there], new[there], total[there]
        seen = (_at_places(before["seen"], old) >> self.moved) | _at_places(changes["seen"], new)
        birth = np.bitwise_count((seen & -seen) - 1).astype(np.int32)
        birth += (self.first - dt.date(1970, 1, 1)).days
        place = pa.array(np.where(old < 0, len(before) + new, old))
        columns = {
            "day": pa.repeat(pa.scalar(self.day, pa.date32()), len(total)),
            "site": _after(before["site"], encoded(changes["site"])).take(place),
            "url": _after(before["url"], changes["url"]).take(place),
            "total": total,
            "birth": pa.array(birth).cast(pa.date32()),
            "seen": seen,
        }
        return pa.table(columns, _UNNUMBERED)


def _keys(rows: pa.Table) -> Keys:
    return Keys(*from_repeated(rows["site"]), from_arrow(rows["url"]))


def _after(first: pa.ChunkedArray, other: pa.ChunkedArray) -> pa.Array:
    return pa.chunked_array([*first.chunks, *other.chunks], first.type).combine_chunks()


def _at_places(column: pa.ChunkedArray, places: Int64s) -> Int64s:
    """Return the values at some positions, 0 for the position -1."""
    values = np.concatenate((column.to_numpy(), [0]))
    chosen: Int64s = values[places]
    return chosen
