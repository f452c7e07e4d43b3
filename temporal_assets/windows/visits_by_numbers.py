"""Who came to pages of a window, by their places in it: no URL is compared, or read.

What all of the window says of a page, `page_traffic` has counted; the views of its last days are
found by the days that pages were seen on. The numbers are those of `sql/opened_visits.sql`.

Not here: windows whose pseudonyms have several keys, which ask their transits (`hub_order`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from temporal_assets.contracts.page_totals import SEEN_BITS
from temporal_assets.core.seen_days import pages_by_day
from temporal_assets.core.texts import Int64s
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.storage.manifest import Input, Manifest
from temporal_assets.windows.asset import Job
from temporal_assets.windows.days import recent_days
from temporal_assets.windows.kept_pages import days_seen


@dataclass(frozen=True, slots=True)
class Visits:
    """Of some pages, one number each."""

    clients: Int64s
    visits: Int64s
    """Clients who came, once a day."""
    recent: Int64s
    """Those of the last days."""


def visits_by_numbers(job: Job, pages: Int64s) -> Visits | None:
    """Visits of pages, given by their places; None where tables were made of other pages."""
    totals, recent = job.sources.tables["page_totals"], recent_days(job)
    made_from = {Input(f"page_views/day={one.day}", one.digest) for one in recent}
    if job.settings.window.days > SEEN_BITS or not made_from.issubset(totals.inputs):
        return None
    lately = _views(job, recent)
    traffic = ParquetRows(job.files("page_traffic"))
    if lately is None or len(lately) != len(traffic):
        return None
    clients, views = (traffic.numbers(name, np.int64) for name in ("clients", "views"))
    if (lately > views).any():  # rows of a day lie in another order
        return None
    return Visits(clients[pages], views[pages], lately[pages])


def _views(job: Job, days: Sequence[Manifest]) -> Int64s | None:
    """Views of every page of the window on some of its days."""
    seen = days_seen(ParquetRows(job.files("page_totals")))
    views = np.zeros(len(seen), np.int64)
    # One at a time: of a day's pages at the papers' size there are four million.
    for one in days:
        (pages,) = pages_by_day(seen, [(one.day - job.first).days])
        of_day = ParquetRows(job.store.paths(one)).numbers("views", np.int64)
        if len(of_day) != len(pages):
            return None
        views[pages] += of_day
    return views
