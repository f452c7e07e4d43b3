"""Sites of a window whose views are counted without visitors, as in Wikipedia's dumps."""

from __future__ import annotations

import pyarrow as pa

from temporal_assets.days.asset_names import COUNTED
from temporal_assets.engines.batches import handed_on
from temporal_assets.windows.frame.asset import Job


def uncounted_visitors(job: Job) -> list[str]:
    """Return the names of these sites, sorted."""
    days = job.sources.daily["page_views"].manifests
    return sorted({site for day in days for site in day.extra.get(COUNTED, ())})


def counted_sites(job: Job) -> dict[str, list[str]]:
    """Return the input files of the table `counted_sites`.

    A site that is counted without visitors on one day is so for the whole window.
    """
    rows = pa.table({"site": pa.array(uncounted_visitors(job), pa.string())})
    return {"counted_sites": handed_on(rows, job.out / "counted_sites.parquet")}
