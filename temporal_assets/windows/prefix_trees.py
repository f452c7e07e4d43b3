"""`prefix_trees`: every folder and program with the counts of what is beneath it (NP 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.days import window_days
from temporal_assets.windows.page_histories import PAGE_HISTORIES
from temporal_assets.windows.page_labels import PAGE_LABELS
from temporal_assets.windows.page_traffic import PAGE_TRAFFIC
from temporal_assets.windows.tree_sums import SUMS_SQL, by_cluster
from temporal_assets.windows.tree_sums_counted import counted


def _make(job: Job) -> Sequence[Path]:
    parameters = {
        "recent": min(job.settings.sites.quiet_days, job.settings.window.days),
        "enough": job.settings.privacy.min_clients,
        **window_days(job),
    }
    inputs = {name: job.files(name) for name in ("page_labels", "page_histories")}
    if job.engine.spread is None:
        sums = counted(inputs, parameters, job.out)
    else:
        sums = by_cluster(job.engine, inputs, parameters, job.out)
    inputs = sums | {"page_traffic": job.files("page_traffic")}
    return job.engine.query("prefix_trees", inputs, {"day": job.day}, job.asset.table, job.out)


PREFIX_TREES: Final = WindowAsset(
    "prefix_trees",
    _make,
    days=("page_views",),
    tables=(PAGE_HISTORIES, PAGE_LABELS, PAGE_TRAFFIC),
    sql=(*SUMS_SQL, "prefix_trees"),
    settings=lambda settings: [
        settings.window.days,
        settings.privacy.min_clients,
        settings.sites.quiet_days,
    ],
)
