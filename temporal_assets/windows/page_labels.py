"""`page_labels`: temporal by the curve, news by concentration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from temporal_assets.core.page_section import SECTION
from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.calibration import CALIBRATION
from temporal_assets.windows.days import window_days
from temporal_assets.windows.interest_curves import INTEREST_CURVES
from temporal_assets.windows.page_histories import PAGE_HISTORIES


def _make(job: Job) -> Sequence[Path]:
    labels = job.settings.labels
    parameters = {
        "day": job.day,
        **window_days(job),
        "calibrated": labels.thresholds == "calibrated",
        "section": SECTION,
        "n": labels.n,
        "q": labels.q,
        "m": labels.m,
        "p": labels.p,
    }
    inputs = {
        name: job.files(name) for name in ("calibration", "interest_curves", "page_histories")
    }
    return job.engine.query("page_labels", inputs, parameters, job.asset.table, job.out)


PAGE_LABELS: Final = WindowAsset(
    "page_labels",
    _make,
    days=("page_views",),
    tables=(PAGE_HISTORIES, INTEREST_CURVES, CALIBRATION),
    sql=("page_labels",),
    settings=lambda settings: [
        settings.window.days,
        settings.labels.n,
        settings.labels.q,
        settings.labels.m,
        settings.labels.p,
        settings.labels.thresholds,
    ],
)
