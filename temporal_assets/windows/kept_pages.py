"""Which pages of an earlier window are still in a later one, told by the days they were seen on.

Rows of both windows lie in the order of pages. Those of before that a shared day has seen are, one
after the other, those of now that were born by the last shared day: no URL is compared, or read.

Not here: windows of which that is not known (`page_traffic_changes` walks along both of them).
"""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa

from temporal_assets import contracts
from temporal_assets.contracts.page_totals import SEEN_BITS
from temporal_assets.core.texts import Flags
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.storage.manifest import Input
from temporal_assets.windows.asset import Job
from temporal_assets.windows.onward import Earlier


def kept_pages(job: Job, earlier: Earlier) -> Flags | None:
    """For each page of the earlier window, whether a day has seen it that the later one has too.

    None where the `page_totals` that the earlier rows were made from are gone or do not tell.
    """
    name = contracts.PAGE_TOTALS.name
    manifest = job.store.intact(name, job.day - dt.timedelta(days=earlier.moved))
    if (
        manifest is None
        or job.settings.window.days > SEEN_BITS
        or manifest.schema_version != contracts.PAGE_TOTALS.version
        or Input(name, manifest.digest) not in earlier.inputs
    ):
        return None
    job.store.verify(manifest, building=True)

    def flags(block: pa.Table) -> Flags:
        return np.asarray((block.column("seen").to_numpy() >> earlier.moved) != 0)

    pages = ParquetRows(job.store.paths(manifest))
    return pages.array(("seen",), flags, np.bool_)
