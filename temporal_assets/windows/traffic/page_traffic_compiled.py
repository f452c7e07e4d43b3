"""`page_traffic` of all days of a window, counted in this process.

Pages lie in the order of sites and URLs, so that they are numbered as they are read, and labels are
found in the same walk. The engine tells transits by these numbers, in their order; what they add up
to is found in one pass over them (`core.traffic.traffic`), some whole pages at a time, and waits in
a file until it is known how often every page led to another. The files are those of
sql/traffic/page_traffic.sql, which a cluster runs, byte for byte.

Not here: a window that goes on from an earlier one (`page_traffic_incremental`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from temporal_assets import contracts
from temporal_assets.contracts import ColumnSpec, Type, passing
from temporal_assets.core.numerics.arrays import Int64s
from temporal_assets.core.traffic.traffic import NOWHERE, Traffic, Transits, count_traffic
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.engines.batches import even, in_order, spill
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.windows.frame.page_rows import (
    PAGE,
    SITES,
    KnownLabels,
    first_rows,
    keys_of,
    ranges,
)
from temporal_assets.windows.traffic.traffic_rows import (
    ROWS,
    came_new,
    day_column,
    few_column,
    in_rows,
    links_column,
)

COUNTED_SQL: Final = ("numbered_transits",)
"""The statement of this way."""

_MOST_PARTS: Final = 6
"""Parts in which transits are sorted, which an engine does in memory or spills. In every part
referrers are looked for among all pages."""

_GROUP_ROWS: Final = 30_720
"""Numbers of pages that one thread of an engine reads at a time."""

_THREADS: Final = 2
"""Parts that are made while one is written."""

_NUMBERS: Final = pa.schema([("page", pa.int64()), ("url", pa.string())])
"""Schema of the numbered pages that engines see."""

_COUNTED: Final = pa.schema(
    [ROWS.field(name) for name in ("visits", "referred", "clients", "few_clients", "links")]
)
"""Schema of the counts that wait in a file, a row for each page."""

_PACKED: Final = pa.ipc.IpcWriteOptions(compression="lz4")

_KNOWN: Final = ("site", "url", "total", "birth")
"""Columns of `page_totals` that are read."""

_NUMBERED_TRANSITS: Final = passing(
    name="numbered_transits",
    description="Transits of the window between numbered pages, of each day that has them.",
    grain="none",
    columns=(
        ColumnSpec("referrer", Type.BIGINT, "The page, or a hash below 0.", nullable=True),
        ColumnSpec("target", Type.BIGINT, "The page that was opened."),
        ColumnSpec("client", Type.BIGINT, "Pseudonym of the visitor."),
    ),
)


def write_counted(
    engine: Engine, inputs: Inputs, parameters: Mapping[str, Any], out: Path, at_once: int
) -> list[Path]:
    """Files of `page_traffic`: see `page_traffic.write_traffic`."""
    pages = ParquetRows(inputs["page_totals"], SITES)
    labels = KnownLabels(inputs["page_labels"])
    numbers = out / "page_numbers.parquet"
    _number(pages, labels, numbers)
    numbered = {"transits": inputs["transits"], "page_numbers": [str(numbers)]}
    transits = _transits(engine, numbered, len(pages), at_once, out)
    counts = out / "counts.arrow"
    referrals = _count(pages, transits, parameters["least_clients"], counts)

    def write(part: _Rows) -> list[Path]:
        folder = out / f"pages-{part.first}"
        folder.mkdir()
        rows = part.table(labels, referrals, parameters)
        return engine.write(rows, contracts.PAGE_TRAFFIC, folder)

    # The next rows are read while others are put together and written.
    written = in_order(write, _read(pages, counts, at_once), _THREADS)
    return [path for paths in written for path in paths]


# Numbers -------------------------------------------------------------------------------------


def _number(pages: ParquetRows, labels: KnownLabels, path: Path) -> None:
    """Write what engines know of pages; look for those that have a label on the way."""

    def numbered() -> Iterator[pa.RecordBatch]:
        first = 0
        for block in pages.blocks(PAGE, pa.Table.combine_chunks):
            labels.seeker.look(keys_of(block), first)
            numbers = pa.array(np.arange(first, first + len(block)))
            yield from pa.table([numbers, block["url"]], _NUMBERS).to_batches()
            first += len(block)

    spill(numbered(), _NUMBERS, path, _GROUP_ROWS)


def _transits(engine: Engine, inputs: Inputs, pages: int, at_once: int, out: Path) -> ParquetRows:
    """Transits with numbers, of the pages of one part after the other."""
    made: list[Path] = []
    for first, stop in ranges(pages, max(at_once, -(-pages // _MOST_PARTS))):
        folder = out / f"transits-{first}"
        folder.mkdir()
        part = {"first_page": first, "last_page": stop - 1}
        made += engine.query("numbered_transits", inputs, part, _NUMBERED_TRANSITS, folder)
    return ParquetRows([str(path) for path in made])


# Counting ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """Some pages with all transits to them."""

    first: int
    stop: int
    """The page behind the last."""
    moved: Transits

    def traffic(self, sites: Int64s, least_clients: int) -> Traffic:
        return count_traffic(self.moved, self.first, self.stop, sites, least_clients)


def _count(pages: ParquetRows, transits: ParquetRows, least_clients: int, counts: Path) -> Int64s:
    """F_out of every page; everything else that is counted is written to `counts`."""
    sites = np.array([*first_rows(pages).values(), len(pages)])
    referrals = np.zeros(len(pages), np.int64)
    count = partial(_Part.traffic, sites=sites, least_clients=least_clients)
    with counts.open("wb") as file, pa.ipc.new_stream(file, _COUNTED, options=_PACKED) as rows:
        for traffic in in_order(count, _parts(transits, len(pages)), _THREADS):
            np.add.at(referrals, traffic.referrers, 1)
            rows.write_batch(_batch(traffic))
    return referrals


def _parts(transits: ParquetRows, pages: int) -> Iterator[_Part]:
    """All pages, some at a time: those whose transits end in one group of rows."""
    first = 0
    waiting: list[Transits] = []
    for block in transits.blocks(Transits._fields, _of_block):
        if not len(block.target):
            continue
        # Of the last page there may be more.
        last = int(block.target[-1])
        cut = int(np.searchsorted(block.target, last))
        if first < last:
            yield _Part(first, last, _joined([*waiting, _sliced(block, slice(cut))]))
            first, waiting, block = last, [], _sliced(block, slice(cut, None))
        waiting.append(block)
    yield _Part(first, pages, _joined(waiting))


def _of_block(block: pa.Table) -> Transits:
    return Transits(
        block["target"].to_numpy(),
        block["client"].to_numpy(),
        block["referrer"].fill_null(NOWHERE).to_numpy(),
    )


def _sliced(moved: Transits, rows: slice) -> Transits:
    return Transits(*(column[rows] for column in moved))


def _joined(parts: Sequence[Transits]) -> Transits:
    nothing = np.empty(0, np.int64)
    return Transits(*map(np.concatenate, zip((nothing,) * 3, *parts, strict=True)))


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
    """Columns read for some pages."""

    first: int
    pages: pa.Table
    counts: pa.Table

    def table(
        self, labels: KnownLabels, referrals: Int64s, parameters: Mapping[str, Any]
    ) -> pa.Table:
        """Their rows."""
        pages, stop = self.pages, self.first + len(self.pages)
        return in_rows(
            {
                "day": day_column(parameters, len(pages)),
                "site": pages["site"],
                "url": pages["url"],
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
    known = pages.in_ranges(of_pages, _KNOWN)
    with counts.open("rb") as file, pa.ipc.open_stream(file) as rows:
        # Behind the last whole number of them comes a table of none.
        for (first, _), of_page, counted in zip(
            of_pages, known, even(rows, _COUNTED, at_once), strict=False
        ):
            yield _Rows(first, of_page, counted.combine_chunks())
