"""`page_histories`: views by day of the pages with enough of them to be relied on."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import ceil
from pathlib import Path
from typing import Any, Final

from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.onward import find_earlier
from temporal_assets.windows.page_totals import PAGE_TOTALS


def least_views(per_day: float, days: int) -> int:
    """Views that a page needs in `days` days to have `per_day` of them a day on average."""
    # Exactly what is written: 0.1 a day are 3 views in 30 days, and not a little more than 3.
    return ceil(Decimal(repr(per_day)) * days)


def _make(job: Job) -> Sequence[Path]:
    window = job.window("page_views")
    inputs = {"page_totals": job.files("page_totals"), "page_views": list(window.files)}
    parameters: dict[str, Any] = {
        "day": job.day,
        "first": job.first,
        "observed_from": window.present[0],
        "days": job.settings.window.days,
        # A missing day is no day without readers.
        "least": least_views(job.settings.window.min_views_per_day, len(window.present)),
    }
    table = job.asset.table
    earlier = find_earlier(job, "page_views")
    if earlier is None:
        return job.engine.query("page_histories", inputs, parameters, table, job.out)
    inputs |= {"earlier": earlier.files, "entering": earlier.entering}
    parameters |= {"moved": earlier.moved}
    return job.engine.query("page_histories_onward", inputs, parameters, table, job.out)


PAGE_HISTORIES: Final = WindowAsset(
    "page_histories",
    _make,
    windows=("page_views",),
    tables=(PAGE_TOTALS,),
    sql=("page_histories", "page_histories_onward"),
    settings=lambda settings: [settings.window.days, settings.window.min_views_per_day],
)
