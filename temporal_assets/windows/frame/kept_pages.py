"""Which pages of an earlier window are still in a later one, told by the days they were seen on.

Rows of both windows lie in the order of pages. Those of before that a shared day has seen are, one
after the other, those of now that were born by the last shared day: no URL is compared, or read.

Not here: windows of which that is not known (`changes_by_statements` walks along both of them).
"""

from __future__ import annotations

import datetime as dt

import numpy as np

from temporal_assets import contracts
from temporal_assets.contracts.pages.page_totals import SEEN_BITS
from temporal_assets.core.numerics.arrays import Flags, Int64s
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.storage.manifest import Input, Manifest
from temporal_assets.storage.store import DamagedPartition
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.frame.onward import Earlier, days_of


def totals_before(job: Job, earlier: Earlier) -> Manifest | None:
    """The `page_totals` that the earlier rows were made from.

    None where they are gone, do not tell the days of all pages, or were made of other pages of the
    days that both windows have: transits may be the same where visits were not.
    """
    name = contracts.PAGE_TOTALS.name
    manifest = job.store.intact(name, job.day - dt.timedelta(days=earlier.moved))
    if (
        manifest is None
        or job.settings.window.days > SEEN_BITS
        or manifest.schema_version != contracts.PAGE_TOTALS.version
        or Input(name, manifest.digest) not in earlier.inputs
        or _shared_days(job, manifest) != _shared_days(job, job.sources.tables[name], manifest.day)
    ):
        return None
    try:
        return job.store.verified(manifest)
    except DamagedPartition:
        return None  # the window can do without it, and it is set aside


def _shared_days(job: Job, totals: Manifest, last: dt.date = dt.date.max) -> dict[dt.date, str]:
    """Digests of the `page_views` of both windows that totals were made from."""
    days = days_of(totals, "page_views")
    return {day: digest for day, digest in days.items() if job.first <= day <= last}


def days_seen(pages: ParquetRows) -> Int64s:
    """For each page of some `page_totals`, the days it was seen on, as bits."""
    return pages.numbers("seen", np.int64)


def kept_pages(job: Job, earlier: Earlier) -> Flags | None:
    """For each page of the earlier window, whether a day has seen it that the later one has too.

    None where that is not known.
    """
    manifest = totals_before(job, earlier)
    if manifest is None:
        return None
    seen = days_seen(ParquetRows(job.store.paths(manifest)))
    kept: Flags = (seen >> earlier.moved) != 0
    return kept
