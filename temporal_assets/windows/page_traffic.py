"""`page_traffic`: what people did on every page of the window (BB 2)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.page_labels import PAGE_LABELS
from temporal_assets.windows.page_totals import PAGE_TOTALS

CHANCE: Final = 0.1
"""A page is new if the silence before its first view has a smaller chance than this for a page
that was there and is opened at a steady rate (docs/url-patterns.md says how well that works)."""


def later_half(present: Sequence[dt.date]) -> Sequence[dt.date]:
    """The days on which a page that is first seen counts as new.

    On the first days of a window nearly every page is seen for the first time, new or not. Half of
    the window is long enough to meet the old ones.
    """
    return present[(len(present) + 1) // 2 :]


def _make(job: Job) -> Sequence[Path]:
    present = job.window("transits").present
    days = later_half(present)
    parameters = {
        "day": job.day,
        "observed_days": (job.day - present[0]).days + 1,
        "chance": CHANCE,
        # With a single day there is none that is later.
        "new_from": days[0] if days else job.day + dt.timedelta(days=1),
        "least_clients": job.settings.privacy.min_clients,
    }
    inputs = {
        "transits": list(job.window("transits").files),
        "page_totals": job.files("page_totals"),
        "page_labels": job.files("page_labels"),
    }
    return job.engine.query("page_traffic", inputs, parameters, job.asset.table, job.out)


PAGE_TRAFFIC: Final = WindowAsset(
    "page_traffic",
    _make,
    windows=("transits",),
    tables=(PAGE_TOTALS, PAGE_LABELS),
    sql=("page_traffic",),
    settings=lambda settings: [settings.window.days, settings.privacy.min_clients],
)
