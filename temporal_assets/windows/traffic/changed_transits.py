"""Changes in the transits of a window since the window before it, for an incremental update.

Two successive windows share all but a few days. Here: which pages have changed, and all transits to
and from them, of entering and leaving days (`moved_days`) and of shared days (`shared_transits`).
Not here: the full count over all days (`page_traffic`).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
import pyarrow as pa

from temporal_assets.core.numerics.arrays import Int32s, Int64s
from temporal_assets.core.numerics.distinct import distinct_numbers
from temporal_assets.core.traffic.changed_traffic import ChangedPages, Transits, changed_traffic
from temporal_assets.core.traffic.moved_visits import Numbered, Visits, in_traffic_order
from temporal_assets.core.traffic.traffic import NOWHERE
from temporal_assets.engines.batches import in_order
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.storage.manifest import Manifest
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.frame.day_numbers import PageCountMismatch, are_numbered
from temporal_assets.windows.frame.incremental import Earlier, totals_before
from temporal_assets.windows.frame.page_rows import KnownLabels, first_rows
from temporal_assets.windows.traffic.moved_days import (
    EARLIER,
    LATER,
    MovedDay,
    PagesOfTexts,
    WindowPair,
    moved_days,
    pages_of_texts,
)
from temporal_assets.windows.traffic.page_traffic_changes import (
    COUNTED,
    Changes,
    Pages,
    changed_pages,
    changed_parts,
    counted,
    span,
)
from temporal_assets.windows.traffic.shared_transits import (
    SharedTransits,
    pages_with_few,
    shared_transits,
)

_BELOW_TEXTS: Final = -(2**62)
"""URLs that are no page of the window have negative numbers of 62 bits (hashes of their text).
Numbers below this one stand for referrers that are pages but have not changed."""


def changed_transits(
    job: Job, earlier: Earlier, least_clients: int, at_once: int
) -> Changes | None:
    """Return the changes between two windows, or None where their tables do not match.

    Args:
        job: The build of the later window.
        earlier: The earlier partition and the days that enter and leave.
        least_clients: Clients below which the pseudonyms of a page are kept (`few_clients`).
        at_once: Pages whose lists are in memory at a time.
    """
    then = totals_before(job, earlier)
    if then is None or not are_numbered(job, then, earlier.left):
        return None
    try:
        return _changes(job, earlier, then, least_clients, at_once)
    except PageCountMismatch:
        return None


def _changes(
    job: Job, earlier: Earlier, then: Manifest, least_clients: int, at_once: int
) -> Changes | None:
    """Return the changes since the window before, or None if labels are missing."""
    both = WindowPair.read(job, earlier, then)
    labels = KnownLabels(job.files("page_labels"))
    threads = job.settings.engine.used_threads
    moved = moved_days(job, both, earlier)
    with ThreadPoolExecutor(1) as ahead:
        first, first_before = (
            ahead.submit(first_rows, rows) for rows in (both.totals, both.before)
        )
        texts = pages_of_texts(both, labels, moved)
        if not labels.are_found:
            return None
        few = pages_with_few(both, moved, least_clients)
        shared = shared_transits(job, earlier, both, moved, texts, few)
        changed = _changed(both, moved, texts, few, shared)
        pages = Pages(
            both.of_before, both.renumbered, changed, first.result(), first_before.result()
        )
        # Putting transits in order keeps one thread busy.
        filter_of_known = ahead.submit(_rows_before, both.before, pages, at_once, threads)
        transits = _transits(both, moved, texts, shared, changed, threads)
    traffic = changed_traffic(transits, filter_of_known.result(), least_clients)
    return Changes(both.totals, both.before, pages, traffic, labels)


def _changed(
    both: WindowPair,
    moved: Sequence[MovedDay],
    texts: Sequence[PagesOfTexts],
    few: Int64s,
    shared: Sequence[SharedTransits],
) -> Int64s:
    """Return pages to count anew: those that transits of moved days touch, and affected others."""
    changed = both.is_new.copy()
    changed[few] = True
    for day in moved:
        page = day.page[day.visits.target]
        changed[page[page >= 0]] = True
    for day_texts in texts:
        changed[day_texts.page[day_texts.page >= 0]] = True
    for part in shared:
        changed[part.page] = True
    return np.flatnonzero(changed)


def _rows_before(before: ParquetRows, pages: Pages, at_once: int, threads: int) -> ChangedPages:
    """Return the earlier counts of the changed pages."""
    row = pages.before[pages.changed]
    parts = [row[low:high] for low, high in changed_parts(pages, at_once)]
    spans = [span(part) for part in parts]

    def of(part: tuple[Int64s, tuple[int, int], pa.Table]) -> pa.Table:
        rows, (first, _), then = part
        return counted(then, np.where(rows < 0, -1, rows - first))

    read = zip(parts, spans, before.in_ranges(spans, COUNTED), strict=True)
    counts = [*in_order(of, read, threads)]
    begin = np.array([*pages.first.values()])
    site = np.searchsorted(begin, pages.changed, "right").astype(np.int32)
    return changed_pages(counts, site, row < 0)


def _transits(
    both: WindowPair,
    moved: Sequence[MovedDay],
    texts: Sequence[PagesOfTexts],
    shared: Sequence[SharedTransits],
    changed: Int64s,
    threads: int,
) -> Transits:
    """Return all transits that matter, of moved and shared days, to or from changed pages."""
    index = np.full(len(both.seen) + 1, -1, np.int32)  # the last is the place of -1
    index[changed] = np.arange(len(changed), dtype=np.int32)
    # Pages that are gone come before those that are there.
    gone = distinct_numbers(
        np.concatenate([day.row[(day.row >= 0) & (day.page < 0)] for day in moved])
    )
    parts = [
        *(_of_moved(day, item, index, gone) for day, item in zip(moved, texts, strict=False)),
        *(_of_shared(item, index, len(gone)) for item in shared),
    ]
    ordered = in_traffic_order(parts, len(gone) + len(changed), threads)
    ordered.target[:] -= len(gone)
    return ordered


def _of_moved(day: MovedDay, texts: PagesOfTexts, index: Int32s, gone: Int64s) -> Numbered:
    to = len(gone) + index[day.page].astype(np.int64)
    is_gone = np.flatnonzero((day.row >= 0) & (day.page < 0))
    to[is_gone] = np.searchsorted(gone, day.row[is_gone])
    came_from = np.full(len(day.row) + 1, NOWHERE)
    came_from[day.source] = np.where(texts.page < 0, -texts.text, index[texts.page])
    return Numbered(day.visits, to, came_from, day.windows)


def _of_shared(shared: SharedTransits, index: Int32s, gone: int) -> Numbered:
    """Return selected shared transits, as one row each with its target and referrer."""
    to = gone + index[shared.page].astype(np.int64)
    came_from = shared.source.copy()
    is_page = np.flatnonzero((came_from >= 0) & (came_from < NOWHERE))
    page = came_from[is_page]
    came_from[is_page] = np.where(index[page] < 0, _BELOW_TEXTS - 1 - page, index[page])
    row = np.arange(len(to), dtype=np.int32)
    return Numbered(Visits(row, row, shared.client), to, came_from, LATER | EARLIER)
