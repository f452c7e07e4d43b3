"""Full count of `page_traffic` over all days of a window, by a compiled kernel in this process.

URLs are integers on every day, and the days on which a page was seen map these integers to pages
(`day_numbers`). The transits to a range of neighbouring pages are therefore a range of rows of each
day. They are sorted as integers and counted in one pass (`core.traffic.traffic`). The counts are
kept in a file until F_out is known for every page. The result equals that of
sql/traffic/page_traffic.sql, which a cluster runs, byte for byte.

Not here: the incremental update (`page_traffic_incremental`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from temporal_assets import contracts
from temporal_assets.core.numerics.arrays import Int32s, Int64s
from temporal_assets.core.numerics.distinct import distinct_numbers
from temporal_assets.core.text.text_numbers import text_numbers
from temporal_assets.core.traffic.moved_visits import Numbered, TextPages, in_traffic_order
from temporal_assets.core.traffic.seen_days import pages_by_day
from temporal_assets.core.traffic.traffic import Traffic, Transits, count_traffic
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.engines.batches import even, in_bytes, in_order
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.windows.frame.day_numbers import VISITS, DayFiles, DayNumbers, visits_of
from temporal_assets.windows.frame.incremental import days_seen
from temporal_assets.windows.frame.page_rows import SITES, KnownLabels, first_rows, keys, ranges
from temporal_assets.windows.traffic.traffic_rows import (
    ROWS,
    came_new,
    day_column,
    few_column,
    in_rows,
    links_column,
    page_numbers,
)

_PART_VIEWS: Final = 1 << 23
"""Views of the pages whose transits are in memory at once, 32 bytes each; all transits to one page
are, however many they are."""

_THREADS: Final = 2
"""Number of parts that are counted while one is written."""

_COUNTED: Final = pa.schema(
    [ROWS.field(name) for name in ("visits", "referred", "clients", "few_clients", "links")]
)
"""Schema of the file of counts that wait for F_out, one row per page."""

_PACKED: Final = pa.ipc.IpcWriteOptions(compression="lz4")

_KNOWN: Final = ("site", "total", "birth")
"""Columns of `page_totals` that are read."""


def write_counted(
    engine: Engine,
    days: Sequence[DayFiles],
    first: dt.date,
    tables: Inputs,
    parameters: Mapping[str, Any],
    out: Path,
    at_once: int,
) -> list[Path]:
    """Return files of `page_traffic`; see `page_traffic.write_traffic`.

    Raises `PageCountMismatch` where days and `page_totals` were made from different pages.
    """
    pages = ParquetRows(tables["page_totals"], SITES)
    labels = KnownLabels(tables["page_labels"])
    numbered = _numbered(pages, labels, days, first)
    counts = out / "counts.arrow"
    referrals = _count(pages, numbered, parameters["least_clients"], counts)

    def write(part: _Rows) -> list[Path]:
        folder = out / f"pages-{part.first}"
        folder.mkdir()
        rows = part.table(labels, referrals, parameters)
        return engine.write(rows, contracts.PAGE_TRAFFIC.stored, folder)

    # The next rows are read while others are put together and written.
    written = in_order(write, _read(pages, counts, at_once), _THREADS)
    return [path for paths in written for path in paths]


# Numbers -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Day:
    """A day, with the page of the window for each of its URLs."""

    rows: ParquetRows
    page: Int32s
    """Page of each opened URL, ascending."""
    source: Int64s
    """Page of each URL as a referrer (`DayNumbers.sources`)."""

    def parts(self, bounds: Int64s) -> Iterator[Numbered]:
        """Yield the transits to the pages between successive bounds."""
        urls = np.searchsorted(self.page, bounds)
        target = self.rows.numbers("target", np.int32)
        read = self.rows.in_ranges([*pairwise(np.searchsorted(target, urls))], VISITS)
        for (low, high), first, rows in zip(pairwise(urls), bounds, read, strict=False):
            visits = visits_of(rows)
            moved = visits._replace(target=visits.target - np.int32(low))
            yield Numbered(moved, self.page[low:high] - first, self.source, 0)


def _numbered(
    pages: ParquetRows, labels: KnownLabels, days: Sequence[DayFiles], first: dt.date
) -> list[_Day]:
    """Map the URLs of each day to pages, and note in the same pass which pages have a label."""
    opened = pages_by_day(days_seen(pages), [(files.day - first).days for files in days])
    opened_by_day = [*zip(days, opened, strict=True)]
    day_numbers = list(in_order(lambda day: DayNumbers.of(*day), opened_by_day, _THREADS))
    texts = distinct_numbers(np.concatenate([numbers.strangers for numbers in day_numbers]))
    by_text = TextPages(texts, np.arange(len(texts), dtype=np.int32))
    page_of_text = np.full(len(texts) + 1, -1, np.int32)
    shown = 0
    for block in keys(pages):
        labels.seeker.look(block, shown)
        text = by_text.find(text_numbers(block.second))
        at = np.flatnonzero(text >= 0)
        page_of_text[text[at]] = shown + at
        shown += len(block)
    return [
        _Day(
            numbers.rows,
            page,
            numbers.referrer_pages(page, page_of_text[by_text.find(numbers.strangers)]),
        )
        for numbers, page in zip(day_numbers, opened, strict=True)
    ]


# Counting ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """A range of pages with all transits to them."""

    first: int
    stop: int
    """Page after the last."""
    moved: Transits

    def traffic(self, sites: Int64s, least_clients: int) -> Traffic:
        return count_traffic(self.moved, self.first, self.stop, sites, least_clients)


def _count(pages: ParquetRows, days: Sequence[_Day], least_clients: int, counts: Path) -> Int64s:
    """Write all counts but F_out to the file `counts`, and return F_out of every page."""
    sites = np.array([*first_rows(pages).values(), len(pages)])
    referrals = np.zeros(len(pages), np.int64)
    count = partial(_Part.traffic, sites=sites, least_clients=least_clients)
    with counts.open("wb") as file, pa.ipc.new_stream(file, _COUNTED, options=_PACKED) as rows:
        for traffic in in_order(count, _parts(pages, days), _THREADS):
            np.add.at(referrals, traffic.referrers, 1)
            rows.write_batch(_batch(traffic))
    return referrals


def _parts(pages: ParquetRows, days: Sequence[_Day]) -> Iterator[_Part]:
    """Yield all pages in ranges, each with the sorted transits of all days to its pages."""
    parts = list(in_bytes(pages.numbers("total", np.int64), _PART_VIEWS))
    bounds = np.array([0, *(stop for _, stop in parts)])
    read = [day.parts(bounds) for day in days]
    with ThreadPoolExecutor(_THREADS) as pool:
        for first, stop in parts:
            moved = in_traffic_order(list(pool.map(next, read)), stop - first, _THREADS)
            moved.target[:] += first
            yield _Part(first, stop, Transits(moved.target, moved.client, moved.referrer))


def _batch(traffic: Traffic) -> pa.RecordBatch:
    columns = (
        traffic.visits,
        traffic.referred,
        traffic.clients,
        few_column(traffic.few_bounds, traffic.few),
        links_column(traffic.link_bounds, traffic.page, traffic.transits),
    )
    return pa.RecordBatch.from_arrays([*map(pa.array, columns)], schema=_COUNTED)


# Putting together ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rows:
    """Builder of the rows of some pages."""

    first: int
    pages: pa.Table
    counts: pa.Table

    def table(
        self, labels: KnownLabels, referrals: Int64s, parameters: Mapping[str, Any]
    ) -> pa.Table:
        """Return the rows of `page_traffic` of these pages."""
        pages, stop = self.pages, self.first + len(self.pages)
        return in_rows(
            {
                "day": day_column(parameters, len(pages)),
                "site": pages["site"],
                "url": page_numbers(self.first, stop),
                **{name: self.counts[name] for name in _COUNTED.names},
                "referrals": pa.array(referrals[self.first : stop]),
                "views": pages["total"],
                "birth": pages["birth"],
                "is_new": came_new(pages["birth"], pages["total"], parameters),
                "is_temporal": labels.column(self.first, stop),
            }
        )


def _read(pages: ParquetRows, counts: Path, at_once: int) -> Iterator[_Rows]:
    of_pages = ranges(len(pages), at_once)
    known_blocks = pages.in_ranges(of_pages, _KNOWN)
    with counts.open("rb") as file, pa.ipc.open_stream(file) as rows:
        # Behind the last whole number of them comes a table of none.
        for (first, _), of_page, counted in zip(
            of_pages, known_blocks, even(rows, _COUNTED, at_once), strict=False
        ):
            yield _Rows(first, of_page, counted.combine_chunks())
