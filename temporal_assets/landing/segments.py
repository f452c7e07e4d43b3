"""Writing the page requests of one log file as Parquet, one file (segment) per day.

Memory is bounded, in rows and in bytes: rows wait until a row group is worth writing, and only so
many days are open at once; a file that jumps between more days gets several segments a day.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets.core.numerics.distinct import distinct_numbers
from temporal_assets.logs.clean.cleaned import Cleaned
from temporal_assets.machine.durable import sync

_ROWS_PER_GROUP: Final = 250_000
"""Rows of a day gathered before they are written: enough for its dictionaries to pay."""

_ROWS_WAITING: Final = 2_000_000
"""Rows gathered over all days before the fullest day is written early (about 200 MB)."""

_BYTES_WAITING: Final = 200 << 20
"""Most bytes of rows that wait to be written: a visitor may ask for URLs of 60 KB."""

_OPEN_DAYS: Final = 64
"""Parquet files open at once, well under the usual limit of 1,024 open files."""

_DICTIONARY_BYTES: Final = 64 << 20
"""Bytes up to which a row group's URLs stay dictionary-encoded."""

_REPEATED: Final = ["day", "client", "url", "referrer", "site", "source"]
"""Columns with dictionaries. Times hardly repeat, but they ascend: the differences between them are
written. A quarter less to store than with dictionaries for everything."""

_ASKED: Final = ["day", "ts"]
"""Columns with minimum and maximum: nobody looks for a row by another one, and computing them for
URLs takes a quarter of writing."""

_STRINGS: Final = pa.dictionary(pa.int32(), pa.string())
SCHEMA: Final = pa.schema(
    [
        ("day", pa.date32()),
        ("ts", pa.timestamp("us")),
        ("client", pa.int64()),
        ("url", _STRINGS),
        ("referrer", _STRINGS),
        ("site", _STRINGS),
        ("source", _STRINGS),
    ]
)

COUNTS_SCHEMA: Final = pa.schema(
    [
        ("day", pa.date32()),
        ("ts", pa.timestamp("us")),
        ("url", _STRINGS),
        ("referrer", _STRINGS),
        ("site", _STRINGS),
        ("source", _STRINGS),
        ("views", pa.int64()),
        ("visitors", pa.int64()),
        ("transits", pa.int64()),
    ]
)
"""Rows of counts, which have no client; NULL is a number that the source does not state."""


def segment_name(day: int, number: int) -> str:
    """Return the name of a segment of a day, which is counted from 1970-01-01."""
    return f"{np.datetime64(day, 'D')}-{number}.parquet"


@dataclass(slots=True)
class DaySegments:
    """The part of one log file that belongs to one day, as segments."""

    files: list[str] = field(default_factory=list)
    rows: int = 0
    first: int = 2**62
    last: int = -(2**62)
    """Earliest and latest time, in microseconds since 1970-01-01T00:00:00Z."""


@dataclass(slots=True)
class _Waiting:
    tables: list[pa.Table] = field(default_factory=list)
    rows: int = 0
    bytes: int = 0


class SegmentWriter:
    """Writer of cleaned blocks of one file, in order, into segments by day in `folder`.

    All blocks of a file are of requests, or all are of counts.
    """

    def __init__(self, folder: Path, source: str) -> None:
        self.folder = folder
        self.source = source
        self.days: dict[int, DaySegments] = {}
        self._waiting: dict[int, _Waiting] = {}
        self._open: OrderedDict[int, pq.ParquetWriter] = OrderedDict()

    def add(self, cleaned: Cleaned) -> None:
        """Append the rows of a block."""
        for day in distinct_numbers(cleaned.day).tolist():
            rows = cleaned.day == day
            times = cleaned.time[rows]
            info = self.days.setdefault(day, DaySegments())
            info.rows += len(times)
            info.first = min(info.first, int(times.min()))
            info.last = max(info.last, int(times.max()))
            waiting = self._waiting.setdefault(day, _Waiting())
            table = _table(cleaned, rows, self.source)
            waiting.tables.append(table)
            waiting.rows += len(times)
            waiting.bytes += table.nbytes
            if waiting.rows >= _ROWS_PER_GROUP:
                self._write(day)
        while sum(waiting.rows for waiting in self._waiting.values()) > _ROWS_WAITING:
            self._write(max(self._waiting, key=lambda day: self._waiting[day].rows))
        while sum(waiting.bytes for waiting in self._waiting.values()) > _BYTES_WAITING:
            self._write(max(self._waiting, key=lambda day: self._waiting[day].bytes))

    def close(self, pool: Executor | None = None) -> None:
        """Write all remaining rows, several days at once if there is a pool; close the files."""
        each = pool.map if pool else map
        days = sorted(self._waiting)
        for at in range(0, len(days), _OPEN_DAYS):
            some = days[at : at + _OPEN_DAYS]
            tables = [self._waiting.pop(day).tables for day in some]
            writers = [
                self._writer(day, of_day[0].schema)
                for day, of_day in zip(some, tables, strict=True)
            ]
            list(each(_append, writers, tables))
        for writer in self._open.values():
            writer.close()
        self._open.clear()
        names = [name for info in self.days.values() for name in info.files]
        list(each(sync, [self.folder / name for name in names]))
        sync(self.folder)

    def _write(self, day: int) -> None:
        tables = self._waiting.pop(day).tables
        _append(self._writer(day, tables[0].schema), tables)

    def _writer(self, day: int, schema: pa.Schema) -> pq.ParquetWriter:
        """Return the open file of a day; the one that was used longest ago is closed for it."""
        if day not in self._open:
            if len(self._open) >= _OPEN_DAYS:
                _, oldest = self._open.popitem(last=False)
                oldest.close()
            files = self.days[day].files
            files.append(segment_name(day, len(files)))
            self._open[day] = pq.ParquetWriter(
                self.folder / files[-1],
                schema,
                compression="zstd",
                compression_level=1,
                use_dictionary=[name for name in _REPEATED if name in schema.names],
                dictionary_pagesize_limit=_DICTIONARY_BYTES,
                column_encoding={"ts": "DELTA_BINARY_PACKED"},
                write_statistics=_ASKED,
                store_schema=False,
            )
        self._open.move_to_end(day)
        return self._open[day]


def _append(writer: pq.ParquetWriter, tables: Sequence[pa.Table]) -> None:
    writer.write_table(pa.concat_tables(tables).unify_dictionaries())


def _table(cleaned: Cleaned, rows: np.ndarray, source: str) -> pa.Table:
    """Return the chosen records as a table with the columns of a segment file."""
    n = int(rows.sum())
    whole = n == len(rows)
    url, referrer, site = (
        strings if whole else strings.take(rows)
        for strings in (cleaned.url, cleaned.referrer, cleaned.site)
    )
    columns = {
        "day": pa.array(cleaned.day[rows], pa.date32()),
        "ts": pa.array(cleaned.time[rows], pa.timestamp("us")),
        "url": url.to_arrow(),
        "referrer": referrer.to_arrow(),
        "site": site.to_arrow(),
        "source": pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), pa.array([source])),
    }
    counts = cleaned.counts
    if counts is None:
        schema = SCHEMA
        columns["client"] = pa.array(cleaned.client[rows], pa.int64())
    else:
        schema = COUNTS_SCHEMA
        for name in ("views", "visitors", "transits"):
            numbers = getattr(counts, name)[rows]
            columns[name] = pa.array(numbers, pa.int64(), mask=numbers < 0)
    return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)
