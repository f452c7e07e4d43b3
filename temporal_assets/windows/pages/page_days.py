"""Daily views of the pages of a window, read without comparing a URL.

Rows of `page_totals` and of every day of `page_views` are in the order of sites and URLs, and a bit
for each day says on which days a page was seen. The row of a page on a day follows by counting
these bits, so that only the column of views is read, in one pass over all days at once.

Here: this pass ("walk"), for one machine. Not here: counting bits (`core.traffic.seen_days`), and
the tables made of the views (`page_histories`, `early_labels`), which use an SQL statement where
rows have no order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from temporal_assets.contracts.pages.page_totals import SEEN_BITS
from temporal_assets.core.numerics.arrays import Flags, Int32s
from temporal_assets.core.traffic.seen_days import places_by_day, values_at
from temporal_assets.engines.parquet_rows import ParquetNumbers, ParquetRows
from temporal_assets.storage.manifest import Manifest
from temporal_assets.windows.frame.asset import Job

_COLUMNS = ("site", "url", "total", "birth", "seen")

Choice = Callable[[pa.Table], Flags]
"""Function that chooses rows of `page_totals`."""


@dataclass(frozen=True, slots=True)
class PageDays:
    """A range of pages of a window, in its order, with their daily views."""

    pages: pa.Table
    """Their rows of `page_totals`; sites come as a dictionary."""
    views: Int32s
    """Shape (pages, days read)."""


@dataclass(slots=True)
class Walk:
    """A pass over the pages of a window and some of its days; it can be iterated once."""

    totals: Sequence[str]
    days: Sequence[tuple[int, Sequence[str]]]
    """Bit in `seen` and files of each day."""
    choose: Choice
    """Function that chooses pages; it must not choose pages that were seen on days not read."""
    threads: int
    agrees: bool = field(default=True, init=False)
    """True if totals and days have agreed so far. Otherwise the walk has ended and its result is
    invalid, because rows are in another order."""

    def __iter__(self) -> Iterator[PageDays]:
        bits = np.array([bit for bit, _ in self.days], np.int64)
        columns = [ParquetNumbers(paths, "views") for _, paths in self.days]
        rows = ParquetRows(self.totals, repeated=("site",))
        with ThreadPoolExecutor(self.threads) as pool:
            for block in rows.blocks(_COLUMNS, lambda block: block.combine_chunks()):
                wanted = self.choose(block)
                places, counts = places_by_day(block["seen"].to_numpy(), bits, wanted)
                numbers = list(pool.map(ParquetNumbers.take, columns, counts))
                self.agrees = list(map(len, numbers)) == counts.tolist()
                if not self.agrees:
                    return
                pages = block.filter(pa.array(wanted))
                views = values_at(places, np.concatenate(numbers), np.cumsum(counts) - counts)
                self.agrees = bool(np.array_equal(views.sum(axis=1), pages["total"].to_numpy()))
                if not self.agrees:
                    return
                if len(pages):
                    yield PageDays(pages, views)
        self.agrees = not any(len(column.take(1)) for column in columns)


def walk(job: Job, days: Sequence[Manifest], choose: Choice) -> Walk | None:
    """Return a walk over pages that were seen on no other days; None where rows have no order."""
    # A cluster has no order of rows that one machine could walk, and not every day of a longer
    # window has a bit.
    if job.engine.spread is not None or job.settings.window.days > SEEN_BITS:
        return None
    day_files = [((manifest.day - job.first).days, job.store.paths(manifest)) for manifest in days]
    return Walk(job.files("page_totals"), day_files, choose, job.settings.engine.used_threads)


def with_views(least: int) -> Choice:
    """Return a choice of the pages with at least `least` views."""
    return lambda rows: rows["total"].to_numpy() >= least


def lists(views: Int32s) -> pa.ListArray:
    """Return the rows of an array as a column of lists."""
    count, days = views.shape
    bounds = pa.array(np.arange(count + 1, dtype=np.int32) * days)
    return pa.ListArray.from_arrays(bounds, pa.array(views.ravel()))
