"""`page_labels`: temporal by the rule of the settings, by the curve, and by concentration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from temporal_assets import contracts
from temporal_assets.core.labels.labels import CUT_PART, LEAST_DAYS
from temporal_assets.core.text.page_section import SECTION
from temporal_assets.settings import Labels
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.frame.days import window_parameters
from temporal_assets.windows.labels.calibration import CALIBRATION
from temporal_assets.windows.labels.interest_curves import INTEREST_CURVES
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES


def rule_parameters(labels: Labels) -> dict[str, Any]:
    """Return the parameters of sql/labels/page_labels.sql that follow from the settings."""
    return {
        "calibrated": labels.thresholds == "calibrated",
        "section": SECTION,
        "rule": labels.rule,
        "n": labels.n,
        "n_days": math.ceil(labels.n),
        "least_days": LEAST_DAYS,
        "cut_part": CUT_PART,
        "q": labels.q,
        "m": labels.m,
        "p": labels.p,
    }


def _make(job: Job) -> Sequence[Path]:
    parameters = {"day": job.day, **window_parameters(job), **rule_parameters(job.settings.labels)}
    inputs = {
        name: job.files(name) for name in ("calibration", "interest_curves", "page_histories")
    }
    return job.engine.query("page_labels", inputs, parameters, contracts.PAGE_LABELS, job.out)


PAGE_LABELS: Final = WindowAsset(
    "page_labels",
    _make,
    days=("page_views",),
    tables=(PAGE_HISTORIES, INTEREST_CURVES, CALIBRATION),
    sql=("page_labels",),
    settings=lambda settings: [
        settings.window.days,
        settings.labels.rule,
        settings.labels.n,
        settings.labels.q,
        settings.labels.m,
        settings.labels.p,
        settings.labels.thresholds,
    ],
)
