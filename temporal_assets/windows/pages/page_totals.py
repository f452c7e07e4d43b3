"""`page_totals`: views and birth of every page in the window."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from temporal_assets.contracts.pages.page_totals import SEEN_BITS
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.frame.incremental import Earlier, find_earlier
from temporal_assets.windows.pages.page_totals_incremental import PAGE_CHANGES, go_on


def _make(job: Job) -> Sequence[Path]:
    table = job.asset.table
    earlier = _earlier(job)
    if earlier is not None:
        threads = job.settings.engine.used_threads
        return go_on(job.engine, earlier, job.first, job.day, job.out, threads)
    days = {"page_views": job.window("page_views").files}
    return job.engine.query("page_totals", days, whole_window(job.first, job.day), table, job.out)


def whole_window(first: dt.date, last: dt.date) -> dict[str, Any]:
    """Return the parameters of `sql/pages/page_totals.sql` for a full count of the window."""
    return {"day": last, "first": first, "bits": SEEN_BITS}


def _earlier(job: Job) -> Earlier | None:
    """Return the earlier partition to update from, on one machine, or None.

    A cluster has no order of rows to walk. Of longer windows, not every day that a page was seen on
    is known.
    """
    fits = job.engine.spread is None and job.settings.window.days <= SEEN_BITS
    return find_earlier(job, "page_views") if fits else None


PAGE_TOTALS: Final = WindowAsset(
    "page_totals",
    _make,
    windows=("page_views",),
    sql=("page_totals", PAGE_CHANGES.name),
    settings=lambda settings: [settings.window.days],
)
