"""`prefix_trees`: each folder and program of a site with counts of the pages below it.

These are the prefix trees of section 5.2 of the paper NP.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from temporal_assets.contracts import passing
from temporal_assets.core.labels.concentration import days_before
from temporal_assets.settings import VIEWS_PER_CLIENT
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.frame.counted_sites import counted_sites
from temporal_assets.windows.frame.days import observed_days
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.lists.flow_shares import COUNTED_TREES, write_flow_shares
from temporal_assets.windows.lists.page_flow import PAGE_FLOW
from temporal_assets.windows.lists.sections import QUIET_DAYS
from temporal_assets.windows.lists.tree_sums import TreeRule, write_tree_sums
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES
from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC

_SECTION_CLIENTS: Final = passing("section_clients", "prefix VARCHAR, clients BIGINT")


def _make(job: Job) -> Sequence[Path]:
    """Write the table in three steps.

    1. Sum the pages below each folder and program.
    2. Count the clients of those that may have few.
    3. Add each one's share of the flow.
    """
    tables = {name: job.files(name) for name in ("page_labels", "page_histories", "page_flow")}
    days = job.settings.window.days
    parameters = {
        "recent": min(QUIET_DAYS, days),
        "days": days,
        "views_per_client": VIEWS_PER_CLIENT,
    }
    rule = TreeRule(
        np.datetime64(job.first, "D"),
        days_before(observed_days(job)),
        job.settings.privacy.min_clients,
    )
    sums = write_tree_sums(job.engine, tables | counted_sites(job), parameters, rule, job.out)
    counted = {"tree_sums": sums, "section_clients": _clients(job, sums)}
    trees = job.engine.query("counted_trees", counted, {"day": job.day}, COUNTED_TREES, job.out)
    return write_flow_shares(job, [str(path) for path in trees], job.asset.table)


def _clients(job: Job, sums: list[str]) -> list[str]:
    """Return files with the clients of each section that may have few, given those of TREE_SUMS."""
    inputs = {
        "tree_sums": sums,
        "page_totals": job.urls("page_traffic"),
        "page_traffic": job.files("page_traffic"),
    }
    written = job.engine.query("section_clients", inputs, {}, _SECTION_CLIENTS, job.out)
    return [str(path) for path in written]


PREFIX_TREES: Final = WindowAsset(
    "prefix_trees",
    _make,
    days=("page_views",),
    tables=(PAGE_HISTORIES, PAGE_LABELS, PAGE_FLOW, PAGE_TRAFFIC),
    sql=("tree_pages", "section_clients", "counted_trees", "flow_evidence"),
    settings=lambda settings: [
        settings.window.days,
        settings.privacy.min_clients,
        VIEWS_PER_CLIENT,
        QUIET_DAYS,
    ],
)
