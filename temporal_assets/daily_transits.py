"""`transits` of a day by numbers: its URLs and clients are numbered in their order, once each.

A day names a URL many times. To sort its rows as text is to compare URLs that begin alike, each as
often as it is named; here each is put in its place once. A row then is one integer of 64 bits,
which says target, referrer and client in this order: rows are told apart and sorted as integers,
and become text again on their way into the file, which is that of sql/transits.sql, byte for byte.

A window of many days should not compare these URLs either. So beside the file lie two others: the
places of each row's URLs among all of the day, in the order of pages, and which of these were
opened. `windows.day_numbers` says how pages of a window are found by them.

Here: the rows of one day, for one machine. Not here: reading and writing (`engines`), which days
are made (`daily`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from temporal_assets.contracts import TRANSITS
from temporal_assets.core.page_order import page_order, site_runs, text_numbers
from temporal_assets.core.sorted_texts import Keys, merged
from temporal_assets.core.texts import Flags, Int32s, Int64s, take, texts
from temporal_assets.engines.arrow_texts import encoded, from_arrow, to_arrow
from temporal_assets.engines.base import Engine
from temporal_assets.engines.batches import in_order
from temporal_assets.engines.parquet_rows import ParquetRows

_TEXTS: Final = ("url", "referrer")
_COLUMNS: Final = (*_TEXTS, "client")
"""Of `requests`."""

_MOST_BYTES: Final = 800 << 20
"""Of a day's columns as they are encoded. 7.5 million requests have 457 MiB, and need 1.6 GB, less
than the database; a day that may need over 3 GB is its business, for it spills."""

_PART_ROWS: Final = 1 << 18
"""Two megabytes of integers, which stay in the cache while they are sorted."""

_THREADS: Final = 2
"""Parts that are made while one is written: a part takes no longer to make than to write."""

_FEW_ROWS: Final = 1 << 16
"""Are numbered sooner by one thread than others are started."""

_BITS: Final = 63
"""Of an integer that says a row. Places of referrers and clients are of 32 bits and of 31."""

_NOWHERE: Final = -1
"""Number of a referrer that is NULL, which comes first."""

_PLACES: Final = pa.schema([("target", pa.int32()), ("referrer", pa.int32())])
"""Of each transit, in the order of the file: the places of its URLs; -1 is nowhere."""

_URLS: Final = pa.schema([("stranger", pa.int64())])
"""Of each URL, in the order of pages: 0 of one that was opened, else the number of its text."""

_NO_URLS: Final = np.empty(0, np.int64)
_ENCODED: Final = {"target": "BYTE_STREAM_SPLIT", "referrer": "PLAIN"}
"""The upper bytes of targets, which ascend, hardly ever change."""

_PACKED: Final[dict[str, Any]] = {
    "compression": "lz4",  # read in half of the time of zstd
    "use_dictionary": False,
    "write_statistics": False,
}

_Pieces = Sequence[pa.DictionaryArray]
_Numbered = tuple[pa.Array, Int32s]
"""Distinct values, ascending, and the place among them of each row's."""


@dataclass(frozen=True, slots=True)
class DayTransits:
    """The files of a day."""

    rows: list[Path]
    beside: tuple[Path, ...] = ()
    """Places of the rows' URLs, and the URLs; none where the database has made the rows."""


def make_transits(engine: Engine, requests: Sequence[str], day: dt.date, out: Path) -> DayTransits:
    """A day's `transits`, in the folder `out`."""
    # A cluster shares the sorting of text out among its machines.
    if engine.spread is None:
        rows = ParquetRows(requests, repeated=_TEXTS)
        if not len(rows):
            # A window of days with numbers must not end at a day without visitors.
            return DayTransits(_asked(engine, requests, out), _written(out, _NO_URLS, []))
        if rows.unpacked_bytes(_COLUMNS) <= _MOST_BYTES:
            return _by_numbers(engine, rows, day, out)
    return DayTransits(_asked(engine, requests, out))


def _asked(engine: Engine, requests: Sequence[str], out: Path) -> list[Path]:
    return engine.query("transits", {"requests": requests}, {}, TRANSITS, out)


def _by_numbers(engine: Engine, requests: ParquetRows, day: dt.date, out: Path) -> DayTransits:
    rows = _numbered(requests)
    places: SimpleQueue[pa.Table | None] = SimpleQueue()

    def batches() -> Iterator[pa.RecordBatch]:
        for text, numbers in in_order(rows.distinct, rows.parts(), _THREADS):
            places.put(numbers)
            yield from _of_day(day, text).to_batches()

    # Files beside the rows are written while the database plans how to write these, and does.
    with ThreadPoolExecutor(1) as aside:
        beside = aside.submit(_written, out, rows.strangers, iter(places.get, None))
        try:
            reader = pa.RecordBatchReader.from_batches(TRANSITS.arrow_schema, batches())
            written = engine.write(reader, TRANSITS, out)
        finally:
            places.put(None)
        return DayTransits(written, beside.result())


def _written(out: Path, strangers: Int64s, rows: Iterable[pa.Table]) -> tuple[Path, Path]:
    """The files beside a day's rows."""
    places, urls = out / "places.parquet", out / "urls.parquet"
    pq.write_table(pa.table([strangers], _URLS), urls, **_PACKED)
    with pq.ParquetWriter(places, _PLACES, column_encoding=_ENCODED, **_PACKED) as writer:
        for numbers in rows:
            writer.write_table(numbers)
    return places, urls


def _of_day(day: dt.date, table: pa.Table) -> pa.Table:
    days = pa.repeat(pa.scalar(day, pa.date32()), len(table))
    return table.append_column("day", days).select(TRANSITS.column_names)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Requests that are transits, as numbers."""

    urls: pa.Array
    """Distinct targets and referrers, ascending."""
    clients: pa.Array
    """Distinct clients, ascending."""
    target: Int32s
    referrer: Int32s
    client: Int32s
    """Of each row, places in `urls` and `clients`."""
    place: Int32s
    """Of each URL in the order of pages."""
    strangers: Int64s
    """Of each URL, in that order, as in `_URLS`."""

    @property
    def bits(self) -> tuple[int, int]:
        """What referrers, with one for nowhere, and clients take of an integer."""
        return len(self.urls).bit_length(), (len(self.clients) - 1).bit_length()

    def parts(self) -> list[Int64s]:
        """Which rows to sort together: those of neighbouring targets, in the order of targets."""
        counts = np.bincount(self.target, minlength=len(self.urls))
        # Within a part, the place of a target takes what the others leave of an integer.
        most = 1 << (_BITS - sum(self.bits))
        places = np.arange(len(self.urls))
        part = (np.cumsum(counts) - counts) // _PART_ROWS + places // most
        # Of 16 bits, mostly, which are sorted by their digits.
        of_row = part.astype(np.min_scalar_type(part[-1]))[self.target]
        order = np.argsort(of_row, kind="stable")
        bounds = np.flatnonzero(np.diff(of_row[order])) + 1
        return [rows for rows in np.split(order, bounds) if len(rows)]

    def distinct(self, rows: Int64s) -> tuple[pa.Table, pa.Table]:
        """Those that differ among some, in order: as text, and the places of their URLs."""
        for_referrer, for_client = (np.uint64(bits) for bits in self.bits)
        first = self.target[rows].min()
        key = (self.target[rows] - first).astype(np.uint64)
        key = key << for_referrer | (self.referrer[rows] - _NOWHERE).astype(np.uint64)
        key = key << for_client | self.client[rows].astype(np.uint64)
        key.sort()
        key = key[np.append(True, key[1:] != key[:-1])]
        client = _lowest(key, for_client)
        key >>= for_client
        referrer = _lowest(key, for_referrer) + _NOWHERE
        target = (key >> for_referrer).astype(np.int64) + first
        nowhere = referrer == _NOWHERE
        text = {
            "referrer": self.urls.take(pa.array(referrer, mask=nowhere)),
            "target": self.urls.take(pa.array(target)),
            "client": self.clients.take(pa.array(client)),
        }
        came_from = np.where(nowhere, np.int32(_NOWHERE), self.place[referrer])
        return pa.table(text), pa.table([self.place[target], came_from], _PLACES)


def _numbered(requests: ParquetRows) -> _Rows:
    blocks = list(requests.blocks(_COLUMNS, _with_encoded_clients))
    url, referrer, client = (
        [chunk for block in blocks for chunk in block[name].chunks] for name in _COLUMNS
    )
    number = _one_by_one if len(requests) <= _FEW_ROWS else _side_by_side
    (urls, numbers), (clients, client_numbers) = number(url + referrer, client)
    target, referrer_numbers = np.split(numbers, 2)
    kept = target != referrer_numbers
    is_page = np.zeros(len(urls), np.bool_)
    is_page[target] = True
    return _Rows(
        urls, clients, target[kept], referrer_numbers[kept], client_numbers[kept],
        *_in_page_order(urls, is_page),
    )  # fmt: skip


def _in_page_order(urls: pa.Array, is_page: Flags) -> tuple[Int32s, Int64s]:
    """The place of each of ascending URLs, and by place what is said of it in `_URLS`."""
    text = from_arrow(urls)
    runs = site_runs(text)
    sites = to_arrow(take(text.data, runs.start, runs.stop))
    place = page_order(runs, pc.array_sort_indices(sites).to_numpy().astype(np.int64), len(urls))
    strangers = np.zeros(len(urls), np.int64)
    others = pa.array(~is_page)
    strangers[place[~is_page]] = text_numbers(from_arrow(urls.filter(others)))
    return place, strangers


def _with_encoded_clients(block: pa.Table) -> pa.Table:
    place = block.column_names.index("client")
    return block.set_column(place, "client", encoded(block["client"]))


def _one_by_one(urls: _Pieces, clients: _Pieces) -> tuple[_Numbered, _Numbered]:
    return _numbers(urls, pc.array_sort_indices), _numbers(clients, _order_of_integers)


def _side_by_side(urls: _Pieces, clients: _Pieces) -> tuple[_Numbered, _Numbered]:
    with ThreadPoolExecutor(_THREADS) as pool:
        of_clients = pool.submit(_numbers, clients, _order_of_integers)
        return _numbers(urls, partial(_order_of_texts, pool)), of_clients.result()


def _numbers(pieces: _Pieces, order_of: Callable[[pa.Array], pa.Array]) -> _Numbered:
    """Distinct values of all pieces, ascending, and the place among them of each row's.

    That of a row that is NULL is `_NOWHERE`.
    """
    alike = pa.chunked_array(pieces).unify_dictionaries().chunks
    values = alike[0].dictionary
    order = order_of(values)
    places = np.full(len(values) + 1, _NOWHERE, np.int32)
    places[order.to_numpy()] = np.arange(len(values), dtype=np.int32)
    # -1 looks up the last, which is no value.
    codes = (one.indices.fill_null(-1).to_numpy() for one in alike)
    return values.take(order), np.concatenate([places[one] for one in codes])


def _order_of_integers(values: pa.Array) -> pa.Array:
    """As `array_sort_indices` of distinct values, in less than a quarter of its time."""
    return pa.array(np.argsort(values.to_numpy()))


def _order_of_texts(pool: Executor, values: pa.Array) -> pa.Array:
    """As `array_sort_indices`, of distinct values: two halves side by side, which are merged."""
    half = len(values) // 2
    (one, ascending), (other, others) = pool.map(
        _sorted_texts, (values.slice(0, half), values.slice(half))
    )
    place, other_place = merged(ascending, others)
    order = np.concatenate([one, half + other])
    return pa.array(order[np.where(place >= 0, place, half + other_place)])


def _sorted_texts(values: pa.Array) -> tuple[Int64s, Keys]:
    order = pc.array_sort_indices(values)
    alike = np.zeros(len(values), np.int32)
    return order.to_numpy().astype(np.int64), Keys(
        texts([""]), alike, from_arrow(values.take(order))
    )


def _lowest(values: NDArray[np.uint64], bits: np.uint64) -> Int64s:
    one = np.uint64(1)
    return (values & ((one << bits) - one)).astype(np.int64)
