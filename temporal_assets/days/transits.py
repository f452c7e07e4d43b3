"""`transits` of a day by numbers: its URLs and clients are numbered in their order, once each.

A day names a URL many times. To sort its rows as text is to compare URLs that begin alike, each as
often as it is named; here each is put in its place once. A row then is one integer of 64 bits,
which says target, referrer and client in this order: rows are told apart and sorted as integers,
and become text again on their way into the file, which is that of
sql/days/transits.sql, byte for byte.

A window of many days should not compare these URLs either: beside the file lie others, with the
places of its URLs in place of them (`places`).

Here: the rows of one day, for one machine. Not here: reading and writing (`engines`), which days
are made (`daily`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.contracts import TRANSITS
from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.numerics.distinct import distinct_numbers
from temporal_assets.days.places import Pairs, no_places, write_places
from temporal_assets.engines.arrow_texts import encoded
from temporal_assets.engines.base import Engine
from temporal_assets.engines.batches import in_bytes, in_order
from temporal_assets.engines.numbering import (
    NOWHERE,
    Numbered,
    numbered,
    order_of_integers,
)
from temporal_assets.engines.parquet_rows import ParquetRows

_TEXTS: Final = ("url", "referrer")
_COLUMNS: Final = (*_TEXTS, "client")
"""Columns of `requests` that are read."""

_MOST_BYTES: Final = 800 << 20
"""Of a day's columns as they are encoded. 7.5 million requests have 457 MiB, and need 1.6 GB, less
than the database; a day that may need over 3 GB is its business, for it spills."""

_PART_ROWS: Final = 1 << 18
"""Two megabytes of integers, which stay in the cache while they are sorted. All transits to one
page are in one part, however many they are."""

_TEXT_BYTES: Final = 32 << 20
"""Most bytes of URLs that are rows again at once; a part has mostly less."""

_THREADS: Final = 2
"""Parts that are made while one is written: a part takes no longer to make than to write."""

_BITS: Final = 63
"""Bits of an integer that stands for a row: 32 of its referrer's place, 31 of its client's."""


class Rows(NamedTuple):
    """Rows in the order of these columns, by the places of their values."""

    target: Int32s
    referrer: Int32s
    """-1, which is before all others, is nowhere."""
    client: Int32s


@dataclass(frozen=True, slots=True)
class DayTransits:
    """The files of a day."""

    rows: list[Path]
    beside: tuple[Path, ...] = ()
    """Files of `places`; none if the database has made the rows."""


def make_transits(engine: Engine, requests: Sequence[str], day: dt.date, out: Path) -> DayTransits:
    """A day's `transits`, in the folder `out`."""
    # A cluster shares the sorting of text out among its machines.
    if engine.spread is None:
        rows = ParquetRows(requests, repeated=_TEXTS)
        if not len(rows):
            # A window of days with numbers must not end at a day without visitors.
            return DayTransits(_asked(engine, requests, out), no_places(out))
        if rows.unpacked_bytes(_COLUMNS) <= _MOST_BYTES:
            return _by_numbers(engine, rows, day, out)
    return DayTransits(_asked(engine, requests, out))


def _asked(engine: Engine, requests: Sequence[str], out: Path) -> list[Path]:
    return engine.query("transits", {"requests": requests}, {}, TRANSITS, out)


def _by_numbers(engine: Engine, requests: ParquetRows, day: dt.date, out: Path) -> DayTransits:
    rows = _numbered(requests)
    pairs: list[Pairs] = []

    def batches() -> Iterator[pa.RecordBatch]:
        for some in in_order(rows.distinct, rows.parts(), _THREADS):
            for text in rows.as_text(some):
                yield from _of_day(day, text).to_batches()
            pairs.append((some.target, some.referrer))

    reader = pa.RecordBatchReader.from_batches(TRANSITS.arrow_schema, batches())
    written = engine.write(reader, TRANSITS, out)
    return DayTransits(written, write_places(out, rows.urls, rows.is_page, pairs))


def _of_day(day: dt.date, table: pa.Table) -> pa.Table:
    days = pa.repeat(pa.scalar(day, pa.date32()), len(table))
    return table.append_column("day", days).select(TRANSITS.column_names)


@dataclass(frozen=True, slots=True)
class _DayRows:
    """Requests of a day, as numbers."""

    urls: pa.Array
    """Distinct targets and referrers, ascending."""
    clients: pa.Array
    """Distinct clients, ascending."""
    rows: Rows
    """Places in `urls` and `clients`."""
    kept: Int64s
    """Flags of rows that are transits: a page that is loaded again is none."""
    is_page: Flags
    """True if each URL was opened."""
    lengths: Int32s
    """Length of each URL in bytes; the last is that of nowhere."""

    @property
    def bits(self) -> tuple[int, int]:
        """Return what a referrer, 0 being nowhere, and a client take of an integer."""
        return len(self.urls).bit_length(), (len(self.clients) - 1).bit_length()

    def parts(self) -> list[Int64s]:
        """Return which rows to sort together.

        Those of neighbouring targets, in the order of targets.
        """
        # Within a part, the place of a target takes what the others leave of an integer.
        most = 1 << (_BITS - sum(self.bits))
        target = self.rows.target[self.kept]
        counts = np.bincount(target, minlength=len(self.urls))
        part = (np.cumsum(counts) - counts) // _PART_ROWS + np.arange(len(self.urls)) // most
        # Of 16 bits, mostly, which are sorted by their digits.
        of_row = part.astype(np.min_scalar_type(part[-1]))[target]
        order = np.argsort(of_row, kind="stable")
        bounds = np.flatnonzero(np.diff(of_row[order])) + 1
        return [rows for rows in np.split(self.kept[order], bounds) if len(rows)]

    def distinct(self, some: Int64s) -> Rows:
        """Return those that differ among some, in order."""
        target, referrer, client = (column[some].astype(np.int64) for column in self.rows)
        of_referrer, of_client = self.bits
        least = target.min()
        pair = (target - least) << of_referrer | (referrer + 1)
        keys = distinct_numbers(pair << of_client | client)
        pair, client = keys >> of_client, keys & ((1 << of_client) - 1)
        columns = (pair >> of_referrer) + least, (pair & ((1 << of_referrer) - 1)) - 1, client
        return Rows(*(column.astype(np.int32) for column in columns))

    def as_text(self, rows: Rows) -> Iterator[pa.Table]:
        """Such rows, not all at once: a front page may have millions, from long URLs."""
        size = self.lengths[rows.target] + self.lengths[rows.referrer]
        for first, stop in in_bytes(size, _TEXT_BYTES):
            target, referrer, client = (column[first:stop] for column in rows)
            yield pa.table({
                "referrer": self.urls.take(pa.array(referrer, mask=referrer == NOWHERE)),
                "target": self.urls.take(pa.array(target)),
                "client": self.clients.take(pa.array(client)),
            })  # fmt: skip


def _numbered(requests: ParquetRows) -> _DayRows:
    clients, client_numbers = _numbered_clients(requests)
    urls, numbers = _numbered_texts(requests)
    target, referrer = np.split(numbers, 2)
    is_page = np.zeros(len(urls), np.bool_)
    is_page[target] = True
    kept = np.flatnonzero(target != referrer)
    lengths = np.append(pc.binary_length(urls).to_numpy(), np.int32(0))
    return _DayRows(urls, clients, Rows(target, referrer, client_numbers), kept, is_page, lengths)


def _numbered_texts(requests: ParquetRows) -> Numbered:
    """Targets of all rows, and behind them referrers."""
    blocks = list(requests.blocks(_TEXTS, lambda block: block))
    pieces = [chunk for name in _TEXTS for block in blocks for chunk in block[name].chunks]
    return numbered(pieces, pc.array_sort_indices)


def _numbered_clients(requests: ParquetRows) -> Numbered:
    blocks = requests.blocks(("client",), lambda block: encoded(block["client"]))
    return numbered([chunk for block in blocks for chunk in block.chunks], order_of_integers)
