"""The sites of a window of which views are counted and visitors are not (docs/counts.md)."""

from __future__ import annotations

import pyarrow as pa

from temporal_assets.days.daily import COUNTED
from temporal_assets.engines.batches import handed_on
from temporal_assets.windows.frame.asset import Job


def uncounted_visitors(job: Job) -> list[str]:
    """Return the sites, in the order of their names."""
    days = job.sources.daily["page_views"].manifests
    return sorted({site for day in days for site in day.extra.get(COUNTED, ())})


def counted_sites(job: Job) -> dict[str, list[str]]:
    """Return the table `counted_sites`; what the days of one say holds for the whole window."""
    rows = pa.table({"site": pa.array(uncounted_visitors(job), pa.string())})
    return {"counted_sites": handed_on(rows, job.out / "counted_sites.parquet")}
