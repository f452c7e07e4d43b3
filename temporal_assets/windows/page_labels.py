"""`page_labels`: temporal by the curve, news by concentration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from temporal_assets import contracts
from temporal_assets.core.page_section import SECTION
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.calibration import CALIBRATION
from temporal_assets.windows.days import window_days
from temporal_assets.windows.interest_curves import INTEREST_CURVES
from temporal_assets.windows.page_histories import PAGE_HISTORIES
from temporal_assets.windows.page_labels_in_step import labels_in_step


def write_labels(
    engine: Engine, inputs: Inputs, parameters: Mapping[str, Any], out: Path
) -> list[Path]:
    """Files of `page_labels`; inputs and parameters are those of sql/page_labels.sql."""
    # A cluster has the rows of a table in parts, of which none knows those of another table.
    if engine.spread is None:
        return engine.write(labels_in_step(inputs, parameters), contracts.PAGE_LABELS, out)
    return engine.query("page_labels", inputs, parameters, contracts.PAGE_LABELS, out)


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
    return write_labels(job.engine, inputs, parameters, job.out)


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
