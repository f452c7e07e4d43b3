"""Types of the incremental update of `page_traffic`: changes, and each page's earlier row.

Pages are in the same order in both windows, so that no join over all pages is needed. Not here: how
changes are found (`changed_transits`), and the rows of the later window
(`page_traffic_incremental`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.traffic.changed_traffic import ChangedPages, ChangedTraffic
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.frame.incremental import Earlier
from temporal_assets.windows.frame.page_rows import KnownLabels, ranges

COUNTED: Final = ("visits", "referred", "referrals", "clients", "few_clients")
"""Columns that are copied from an earlier row, or taken from a changed one."""

_NOTHING: Final[dict[str, object]] = dict.fromkeys(COUNTED, 0) | {"few_clients": []}


@dataclass(frozen=True, slots=True)
class Pages:
    """Mapping between pages of the later window ("now") and rows of the earlier one ("before")."""

    before: Int64s
    """Earlier row of each page; -1 if none of its counts can be reused."""
    renumbered: Int64s
    """Page of each earlier row; -1 if none of its counts can be reused."""
    changed: Int64s
    """Pages that are counted anew, ascending."""
    first: Mapping[str, int]
    """Row of the first page of each site."""
    first_before: Mapping[str, int]
    """First earlier row of each site."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Two windows and the difference between them."""

    totals: ParquetRows
    """Pages of the later window."""
    before: ParquetRows
    """Rows of the earlier window."""
    pages: Pages
    traffic: ChangedTraffic
    """Counts of the changed pages."""
    labels: KnownLabels
    """Labels of the later window's pages."""


def last_shared(job: Job, earlier: Earlier) -> dt.date:
    """Return the last day of the earlier window, the last that both windows share."""
    return job.day - dt.timedelta(days=earlier.moved)


def changed_parts(pages: Pages, at_once: int) -> list[tuple[int, int]]:
    """Return the ranges of changed pages for chunks of `at_once` pages; ends are exclusive."""
    bounds = np.searchsorted(pages.changed, ranges(len(pages.before), at_once))
    return [(int(low), int(high)) for low, high in bounds]


def counted(before: pa.Table, row: Int64s) -> pa.Table:
    """Return the values of some earlier rows; the value of row -1 is zero."""
    nothing = pa.Table.from_pylist([_NOTHING], before.schema)
    place = np.where(row < 0, len(before), row)
    return pa.concat_tables([before, nothing]).combine_chunks().take(pa.array(place))


def changed_pages(counts: Sequence[pa.Table], site: Int32s, is_new: Flags) -> ChangedPages:
    """Return the earlier counts of the changed pages, joined from the results of `counted`."""
    counted = pa.concat_tables(counts)
    few = pa.concat_arrays(counted["few_clients"].chunks)
    return ChangedPages(
        site,
        is_new,
        counted["visits"].to_numpy(),
        counted["referred"].to_numpy(),
        counted["referrals"].to_numpy(),
        counted["clients"].to_numpy(),
        np.concatenate(([0], np.cumsum(pc.list_value_length(few).to_numpy()))),
        few.flatten().to_numpy(),
    )


def span(rows: Int64s) -> tuple[int, int]:
    """Return the range of ascending row numbers, ignoring -1; the end is exclusive."""
    there = rows[rows >= 0]
    return (int(there[0]), int(there[-1]) + 1) if len(there) else (0, 0)
