"""Requests of a day sorted out by number: what a client does in a second, mostly, is one request.

Rows lie in the order of time and client, and so they are sorted, as integers. Only where a client
has several records of one time are URLs compared: to put them in order, and to find those that
several logs have. Robots are found in one walk along this order, and URLs are text again on their
way into the file, which is that of sql/requests.sql, byte for byte.

Here: the records of one day, for one machine. Not here: reading and writing (`engines`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.contracts import REQUESTS
from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.traffic.daily_cleaning import RobotLimits, behaviour, in_order, once
from temporal_assets.engines import batches
from temporal_assets.engines.arrow_texts import encoded
from temporal_assets.engines.base import Engine
from temporal_assets.engines.numbering import NOWHERE, Pieces, numbered, order_of_integers
from temporal_assets.engines.parquet_rows import ParquetRows

_TEXTS: Final = ("url", "referrer", "site")
_COLUMNS: Final = ("ts", "client", *_TEXTS, "source")
"""Of segments."""

_MOST_BYTES: Final = 400 << 20
"""Of a day's columns as they are encoded. 6.6 million records have 334 MiB, and need 2.4 GB, less
than the database; a day that may need 3 GB is its business, for it spills."""

_PART_ROWS: Final = 1 << 17
_TEXT_BYTES: Final = 32 << 20
"""Of what is text again at once; a part has mostly less."""

_THREADS: Final = 2
"""Parts that are made while one is written: a part takes no longer to make than to write."""


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """A column of text."""

    values: pa.Array
    """Those of all files, in no order: equal ones may be there several times."""
    place: Int32s
    """Of each row's value; `NOWHERE` of NULL."""
    lengths: Int32s
    """Of each value, in bytes; the last is that of NULL."""

    @classmethod
    def of(cls, pieces: Pieces) -> _Column:
        firsts = np.cumsum([0, *(len(one.dictionary) for one in pieces)])[:-1]
        place = np.empty(sum(map(len, pieces)), np.int32)
        at = 0
        for first, one in zip(firsts.tolist(), pieces, strict=True):
            codes = one.indices.fill_null(NOWHERE).to_numpy()
            place[at : at + len(one)] = np.where(codes == NOWHERE, NOWHERE, codes + first)
            at += len(one)
        values = pa.concat_arrays([one.dictionary for one in pieces])
        return cls(values, place, np.append(pc.binary_length(values).to_numpy(), np.int32(0)))

    def text(self, place: Int32s) -> pa.Array:
        return self.values.take(pa.array(place, mask=place == NOWHERE))

    def order(self, rows: Int64s) -> Int32s:
        """Numbers of some rows' values, which ascend as these do; of NULL -1."""
        place, of_row = np.unique(self.place[rows], return_inverse=True)
        _, order = numbered([self.text(place).dictionary_encode()], pc.array_sort_indices)
        return order[of_row]


@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    """When records were logged, and whose they are; in the order of the files."""

    time: Int64s
    """Microseconds since 1970-01-01T00:00:00Z."""
    clients: pa.Array
    """Distinct ones, ascending."""
    client: Int32s
    """Place in `clients`."""
    order: Int64s
    """Records by time and client."""
    is_tied: Flags
    """Which of these are as the one before."""

    @classmethod
    def read(cls, rows: ParquetRows) -> _Moments:
        blocks = list(rows.blocks(("ts", "client"), _with_clients))
        time = [block["ts"].to_numpy().astype("M8[us]").astype(np.int64) for block in blocks]
        clients, client = numbered(_pieces(blocks, "client"), order_of_integers)
        times = np.concatenate(time)
        return cls(times, clients, client, *in_order(times, client))


@dataclass(frozen=True, slots=True, eq=False)
class _Records:
    """All of a day, in the order of its files."""

    moments: _Moments
    source: Int32s
    texts: dict[str, _Column]

    @classmethod
    def read(cls, rows: ParquetRows) -> _Records:
        # Sorted as numbers by one thread while texts are read.
        with ThreadPoolExecutor(1) as aside:
            moments = aside.submit(_Moments.read, rows)
            blocks = list(rows.blocks((*_TEXTS, "source"), lambda block: block))
            texts = {name: _Column.of(_pieces(blocks, name)) for name in _TEXTS}
            _, source = numbered(_pieces(blocks, "source"), pc.array_sort_indices)
            return cls(moments.result(), source, texts)

    def sorted(self) -> tuple[Int64s, int]:
        """Records as requests are sorted, each once, and how many were in several files."""
        order, is_tied = self.moments.order, self.moments.is_tied
        # With those that they are tied to.
        at = np.flatnonzero(is_tied | np.append(is_tied[1:], False))
        if not len(at):
            return order, 0
        moment = np.cumsum(~is_tied, dtype=np.int64)[at]
        order[at], counts = self._told_apart(order[at], moment)
        repeated = at[~counts]
        return np.delete(order, repeated), len(repeated)

    def _told_apart(self, rows: Int64s, moment: Int64s) -> tuple[Int64s, Flags]:
        """Records that are equal where `moment` is, by their texts; and which of them count."""
        url, referrer = (self.texts[name].order(rows) for name in ("url", "referrer"))
        source = self.source[rows]
        by = np.lexsort((source, referrer, url, moment))
        same = np.ones(len(by) - 1, np.bool_)
        for column in (moment, url, referrer):
            same &= column[by][1:] == column[by][:-1]
        return rows[by], once(np.cumsum(np.append(True, ~same)), source[by])

    def parts(self, rows: Int64s) -> Iterator[Int64s]:
        """Some rows, none of which are too much text."""
        for first in range(0, len(rows), _PART_ROWS):
            some = rows[first : first + _PART_ROWS]
            sizes = [column.lengths[column.place[some]] for column in self.texts.values()]
            for start, stop in batches.in_bytes(np.sum(sizes, axis=0), _TEXT_BYTES):
                yield some[start:stop]

    def table(self, day: dt.date, rows: Int64s) -> pa.Table:
        moments = self.moments
        return pa.table({
            "day": pa.repeat(pa.scalar(day, pa.date32()), len(rows)),
            "ts": pa.array(moments.time[rows], pa.timestamp("us")),
            "client": moments.clients.take(pa.array(moments.client[rows])),
            **{name: column.text(column.place[rows]) for name, column in self.texts.items()},
        }).select(REQUESTS.column_names)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class _NumberedRequests:
    """See `requests.DayRequests`."""

    engine: Engine
    day: dt.date
    records: _Records
    rows: Int64s
    repeated: int
    robots: Mapping[str, int]

    def write(self, out: Path) -> list[Path]:
        make = partial(self.records.table, self.day)
        tables = batches.in_order(make, self.records.parts(self.rows), _THREADS)
        given = (batch for table in tables for batch in table.to_batches())
        reader = pa.RecordBatchReader.from_batches(REQUESTS.arrow_schema, given)
        return self.engine.write(reader, REQUESTS, out)


def requests_by_numbers(
    engine: Engine, day: dt.date, segments: Sequence[str], limits: RobotLimits
) -> _NumberedRequests | None:
    """See `requests.sort_out`; None of records that are too many."""
    rows = ParquetRows(segments, repeated=(*_TEXTS, "source"))
    if not len(rows) or rows.unpacked_bytes(_COLUMNS) > _MOST_BYTES:
        return None
    records = _Records.read(rows)
    order, repeated = records.sorted()
    is_person, robots = _people(records, order, limits)
    return _NumberedRequests(engine, day, records, order[is_person], repeated, robots)


def _people(records: _Records, order: Int64s, limits: RobotLimits) -> tuple[Flags, dict[str, int]]:
    """Which records are not of robots, and how many are, by reason."""
    is_referred = records.texts["referrer"].place != NOWHERE
    time, clients, client = records.moments.time, records.moments.clients, records.moments.client
    found = behaviour(order, time, client, is_referred, len(clients))
    robots = found.robots(limits)
    is_person = ~np.logical_or.reduce(list(robots.values()))
    pages = {reason: int(found.pages[of].sum()) for reason, of in sorted(robots.items())}
    return is_person[client[order]], {why: many for why, many in pages.items() if many}


def _pieces(blocks: Sequence[pa.Table], name: str) -> list[pa.DictionaryArray]:
    return [chunk for block in blocks for chunk in block[name].chunks]


def _with_clients(block: pa.Table) -> pa.Table:
    at = block.column_names.index("client")
    return block.set_column(at, "client", encoded(block["client"]))
