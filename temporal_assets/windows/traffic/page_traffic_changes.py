"""Changes since an earlier window of `page_traffic`, and the row of each page there.

Pages lie in the same order in both windows, so that nothing is joined with all pages. Here: what is
told. Not here: finding it by numbers of days (`changed_transits`), and the rows of the later
window (`page_traffic_incremental`).
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
    """The pages of both windows by number, and which is which."""

    before: Int64s
    """Earlier row of each page; -1 if nothing that was counted there holds."""
    renumbered: Int64s
    """Page of each earlier row; -1 if nothing of it holds."""
    changed: Int64s
    """Changed pages, ascending."""
    first: Mapping[str, int]
    """The first page of each site now."""
    first_before: Mapping[str, int]
    """Its first row of before."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Two windows, and what moved between them."""

    totals: ParquetRows
    """Pages of the later window."""
    before: ParquetRows
    """Rows of the earlier one."""
    pages: Pages
    traffic: ChangedTraffic
    """Traffic of the changed pages."""
    labels: KnownLabels
    """Labels of the later window's pages."""


def last_shared(job: Job, earlier: Earlier) -> dt.date:
    """The last day of the earlier window, which both have."""
    return job.day - dt.timedelta(days=earlier.moved)


def changed_parts(pages: Pages, at_once: int) -> list[tuple[int, int]]:
    """First and last, the latter not included, of the changed pages among some pages at a time."""
    bounds = np.searchsorted(pages.changed, ranges(len(pages.before), at_once))
    return [(int(low), int(high)) for low, high in bounds]


def counted(before: pa.Table, row: Int64s) -> pa.Table:
    """Return what rows of before say; nothing was in those that are -1."""
    nothing = pa.Table.from_pylist([_NOTHING], before.schema)
    place = np.where(row < 0, len(before), row)
    return pa.concat_tables([before, nothing]).combine_chunks().take(pa.array(place))


def changed_pages(counts: Sequence[pa.Table], site: Int32s, is_new: Flags) -> ChangedPages:
    """Changed pages as they were, from what `counted` says of some after others."""
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
    """First and last of ascending rows, but for those that are -1; the latter not included."""
    there = rows[rows >= 0]
    return (int(there[0]), int(there[-1]) + 1) if len(there) else (0, 0)
