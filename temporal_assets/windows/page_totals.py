"""`page_totals`: views and birth of every page in the window."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Final

from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.onward import find_earlier

_EARLY: Final = 8
"""An eighth of a window shows most pages that are read throughout it, and costs an eighth."""


def _make(job: Job) -> Sequence[Path]:
    days = job.window("page_views").files
    table = job.asset.table
    earlier = find_earlier(job, "page_views")
    if earlier is None:
        parameters = {"day": job.day}
        return job.engine.query("page_totals", {"page_views": days}, parameters, table, job.out)
    some = ceil(len(days) / _EARLY)
    return job.engine.query(
        "page_totals_onward",
        {
            "earlier": earlier.files,
            "entering": earlier.entering,
            "leaving": earlier.leaving,
            "early": days[:some],
            # A window of one day has no other: what was found early is not looked up there.
            "late": days[some:] or days,
        },
        {"day": job.day, "first": job.first},
        table,
        job.out,
    )


PAGE_TOTALS: Final = WindowAsset(
    "page_totals",
    _make,
    windows=("page_views",),
    sql=("page_totals", "page_totals_onward"),
    settings=lambda settings: [settings.window.days],
)
