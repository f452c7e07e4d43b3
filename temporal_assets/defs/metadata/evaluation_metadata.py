"""Metadata of the evaluations: judged lists and seeds, as pictures.

No URL is in these tables.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import dagster as dg

from temporal_assets.defs.installation import Installation
from temporal_assets.reports.charts.picture import Drawn
from temporal_assets.reports.plots import drawn
from temporal_assets.reports.sections import lists
from temporal_assets.reports.sections.seeds import seed_chart
from temporal_assets.reports.sections.wording import grouped

_GROUP_COLUMNS: Final = ("trial", "horizon_days", "label")

_Metadata = dict[str, Any]


def of_lists(installation: Installation, day: dt.date, plots: bool) -> _Metadata:
    """Return metadata of `seed_evaluation`: F and curves of every list, out of time if judged."""
    if not plots:
        return {}
    rows = installation.store.read("seed_evaluation", day).to_pylist()
    groups = grouped([row for row in rows if row["label"] == "temporal"], _GROUP_COLUMNS)
    if not groups:
        return {}
    own = groups[max(groups, key=lambda key: key[1])]
    used = [row for row in own if row["is_used"]]
    pictures: dict[str, Drawn] = {
        "f": lists.forest(used),
        "curves": lists.precision_recall_chart(own),
    }
    return {name: dg.MetadataValue.md(drawn(block)) for name, block in pictures.items()}


def of_hubs(installation: Installation, day: dt.date, plots: bool) -> _Metadata:
    """Return the metadata of `hub_evaluation`: pages that the first seeds lead to."""
    if not plots:
        return {}
    rows = installation.store.read("hub_evaluation", day).to_pylist()
    groups = grouped(rows, _GROUP_COLUMNS[:2])
    if not groups:
        return {}
    own = groups[max(groups, key=lambda key: key[1])]
    return {"reached": dg.MetadataValue.md(drawn(seed_chart(own)))}
