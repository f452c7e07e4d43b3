"""`page_traffic`: what people did on every page of the window (BB 2)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.page_labels import PAGE_LABELS
from temporal_assets.windows.page_totals import PAGE_TOTALS


def later_half(present: Sequence[dt.date]) -> Sequence[dt.date]:
    """The days on which a page that is first seen counts as new.

    On the first days of a window nearly every page is seen for the first time, new or not. Half of
    the window is long enough to meet the old ones.
    """
    return present[(len(present) + 1) // 2 :]


def _make(job: Job) -> Sequence[Path]:
    days = later_half(job.window("transits").present)
    parameters = {
        "day": job.day,
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
