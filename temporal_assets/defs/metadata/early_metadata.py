"""Metadata of `early_labels`: how reliable the probabilities are.

Not here: the trial on known pages (`windows.labels.early_trial`). No URL is shown.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import dagster as dg

from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata.metadata import grid
from temporal_assets.reports.plots import drawn
from temporal_assets.reports.sections.trust import reliability
from temporal_assets.windows.labels.early_trial import early_trial

_YOUNG: Final = (
    "SELECT count(*) AS young_pages, coalesce(max(learned_from), 0) AS learned_from,"
    " avg(probability) AS mean_probability_share,"
    " sum(CASE WHEN probability > 0.5 THEN 1 ELSE 0 END) / nullif(CAST(count(*) AS DOUBLE), 0)"
    " AS probably_temporal_share FROM early_labels"
)

_Metadata = dict[str, Any]


def details(installation: Installation, day: dt.date, plots: bool) -> _Metadata:
    """Return how many pages are young, and how good their labels are out of time."""
    (row,) = installation.engine.rows(
        _YOUNG, {"early_labels": installation.store.files("early_labels", day)}
    )
    shown: _Metadata = {name: value for name, value in row.items() if value is not None}
    if not plots or not row["learned_from"]:
        return shown
    with installation.store.scratch() as scratch:
        scores = early_trial(
            installation.store, installation.engine, installation.settings, day, scratch
        )
    if not scores:
        return shown
    table = [
        {
            "days_seen": age_score.age,
            "answer": age_score.answer,
            "accuracy": age_score.accuracy,
            "brier": age_score.brier,
            "log_loss": age_score.log_loss,
        }
        for age_score in scores
    ]
    kinds = {"days_seen": "int", "answer": "string", "accuracy": "float"}
    return shown | {
        "out_of_time": grid(table, kinds | {"brier": "float", "log_loss": "float"}),
        "reliability": dg.MetadataValue.md(drawn(reliability(scores, scores[0].pages))),
    }
