"""The transits of days that two successive windows share, as far as an update has to read them.

Such a transit matters if the same client opened the same page on a day that enters or leaves, if
the clients of its page may have become few, or if it comes from a new page.

Not here: the days that enter or leave (`moved_days`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.traffic.moved_visits import TextPages, VisitFilter, chosen, visit_filter
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.frame.day_numbers import DayNumbers, map_days
from temporal_assets.windows.frame.incremental import Earlier
from temporal_assets.windows.traffic.moved_days import EARLIER, MovedDay, PagesOfTexts, WindowPair
from temporal_assets.windows.traffic.page_traffic_changes import last_shared


class SharedTransits(NamedTuple):
    """Transits of shared days that matter for the update; targets are pages of now."""

    page: Int32s
    client: Int64s
    source: Int64s
    """Page that the visitor came from, `NOWHERE`, or a negative number made from the URL's hash."""


def pages_with_few(both: WindowPair, moved: Sequence[MovedDay], least_clients: int) -> Int64s:
    """Return the pages that may have few clients left after the leaving days are subtracted.

    The estimate is an upper bound: a few pages too many do no harm.
    """
    nothing = np.empty(0, np.int64)
    rows, visits = [nothing], [nothing]
    for day in moved:
        if day.windows == EARLIER:
            count = np.bincount(day.visits.target, minlength=len(day.row))
            opened = np.flatnonzero(count)
            rows.append(day.row[opened].astype(np.int64))
            visits.append(count[opened])
    row, at = np.unique(np.concatenate(rows), return_inverse=True)
    gone = np.zeros(len(row), np.int64)
    np.add.at(gone, at, np.concatenate(visits))
    clients = _of_rows(both.before, "clients", row)
    may_be = (clients >= least_clients) & (clients - gone < least_clients)
    page: Int64s = both.renumbered[row[may_be]]
    return page[page >= 0]


def _of_rows(table: ParquetRows, column: str, rows: Int64s) -> Int64s:
    """Return the values of a column in some rows; row numbers ascend."""
    blocks: list[Int64s] = [np.empty(0, np.int64)]
    first = 0
    for block in table.blocks((column,), lambda block: block[column].to_numpy()):
        low, high = np.searchsorted(rows, (first, first + len(block)))
        blocks.append(block[rows[low:high] - first])
        first += len(block)
    return np.concatenate(blocks)


def shared_transits(
    job: Job,
    earlier: Earlier,
    both: WindowPair,
    moved: Sequence[MovedDay],
    texts: Sequence[PagesOfTexts],
    few: Int64s,
) -> list[SharedTransits]:
    """Return the transits of shared days that may repeat a transit of a moved day.

    Included are also transits to pages whose clients may be few, and those from new pages.
    """
    known_visits = visit_filter(
        len(both.seen), [(day.page[day.visits.target], day.visits.client) for day in moved], few
    )
    are_pages = [
        (day_texts.text[day_texts.page >= 0], day_texts.page[day_texts.page >= 0])
        for day_texts in texts
    ]
    text, page = map(np.concatenate, zip(*are_pages, strict=True))
    by_text = TextPages(text, page.astype(np.int32))
    last = last_shared(job, earlier)
    days = [manifest for manifest in job.window("transits").manifests if manifest.day <= last]
    look = partial(_of_day, is_new=both.is_new, known_visits=known_visits, by_text=by_text)
    return list(map_days(job, days, both.seen, look))


def _of_day(
    numbers: DayNumbers, pages: Int32s, is_new: Flags, known_visits: VisitFilter, by_text: TextPages
) -> SharedTransits:
    strangers = by_text.find(numbers.strangers)
    page = np.concatenate((pages, strangers))
    traced = np.zeros(len(page), np.bool_)
    traced[len(pages) :] = (strangers >= 0) & is_new[strangers]
    visits = numbers.visits()
    rows = chosen(visits, page, traced, known_visits)
    source = numbers.referrer_pages(pages, strangers)[visits.referrer[rows]]
    return SharedTransits(page[visits.target[rows]], visits.client[rows], source)
