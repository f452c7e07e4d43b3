"""What a materialisation of `early_labels` says: how far the probabilities can be believed.

Complete pages of the same window are judged as if they were young, by what those born before them
teach: out of time, and without waiting four weeks for today's young pages. No URL is shown here.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import dagster as dg
import numpy as np

from temporal_assets.core.early import Score
from temporal_assets.core.early_comparison import EARLY, compare
from temporal_assets.core.labels import Thresholds
from temporal_assets.defs.metadata import grid
from temporal_assets.defs.resources import Installation
from temporal_assets.reports.plots import as_markdown
from temporal_assets.reports.reliability import as_png
from temporal_assets.windows.asset import first_of
from temporal_assets.windows.complete_pages import complete_pages
from temporal_assets.windows.early_labels import learn_from

_YOUNG: Final = (
    "SELECT count(*) AS young_pages, coalesce(max(learned_from), 0) AS learned_from,"
    " avg(probability) AS mean_probability,"
    " sum(CASE WHEN probability > 0.5 THEN 1 ELSE 0 END) / nullif(CAST(count(*) AS DOUBLE), 0)"
    " AS probably_temporal_share FROM early_labels"
)

_EARLIER: Final = 2 / 3
"""Share of the complete pages, the first born, that the others are judged by."""

_PLOTTED_AGES: Final = (1, 3, 7)

_Said = dict[str, Any]


def details(installation: Installation, day: dt.date, plots: bool) -> _Said:
    """How many pages are young, and how good their labels are out of time."""
    (row,) = installation.engine.rows(
        _YOUNG, {"early_labels": installation.store.files("early_labels", day)}
    )
    said: _Said = {name: value for name, value in row.items() if value is not None}
    if not plots or not row["learned_from"]:
        return said
    scores = _tried(installation, day)
    if not scores:
        return said
    table = [
        {
            "days_seen": one.age,
            "answer": one.answer,
            "accuracy": one.accuracy,
            "brier": one.brier,
            "log_loss": one.log_loss,
        }
        for one in scores
    ]
    kinds = {"days_seen": "int", "answer": "string", "accuracy": "float"}
    lines = {
        f"{one.age} days seen" if one.age > 1 else "1 day seen": one.reliability
        for one in scores
        if one.answer == EARLY and one.age in _PLOTTED_AGES and one.reliability
    }
    title = f"early labels, {scores[0].pages:,} later pages judged by earlier ones, {day}"
    return said | {
        "out_of_time": grid(table, kinds | {"brier": "float", "log_loss": "float"}),
        "reliability": dg.MetadataValue.md(as_markdown(as_png(lines, title), title)),
    }


def _tried(installation: Installation, day: dt.date) -> list[Score]:
    """Complete pages born later, judged as if they were young by what earlier ones teach."""
    store, settings = installation.store, installation.settings
    inputs = {name: store.files(name, day) for name in ("page_histories", "page_labels")}
    missing = set(store.require("page_histories", day).extra["missing_days"])
    first = first_of(settings, day)
    window = [first + dt.timedelta(days=n) for n in range(settings.window.days)]
    observed = np.array([one.isoformat() not in missing for one in window])
    with store.scratch() as scratch:
        pages = complete_pages(
            installation.engine, inputs, observed, first, settings.early.complete_days, scratch
        )
    earlier = round(_EARLIER * len(pages))
    known, later = pages.take(slice(0, earlier)), pages.take(slice(earlier, None))
    model = learn_from(known)
    if not model.knows_views or not len(later):
        return []
    labels = settings.labels
    thresholds = Thresholds(labels.n, labels.q, labels.m, labels.p)
    return compare(
        model,
        later.first_views,
        later.is_temporal,
        later.sites,
        later.sections,
        thresholds=thresholds,
    )
