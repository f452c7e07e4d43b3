"""Days of page views for lines of the benchmark suite about windows of sixty days.

Temporal pages that are read for days after their birth, and pages that are read for as long as the
window.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.storage.manifest import Input
from temporal_assets.storage.store import Store

_FIRST = dt.date(2025, 3, 3)
_SITES = 40
_TEMPORAL_SHARE = 0.7
_READ_FOR_DAYS = 2.0
"""Mean age of the views of a temporal page."""


def write_page_views(store: Store, pages: int, days: int) -> int:
    """Publish `days` days of page views and return how many rows they have."""
    dice = np.random.default_rng(1)
    table = contracts.table("page_views")
    count = 0
    for day, number, views in daily_views(dice, pages, days):
        site = number % _SITES
        sites = [f"site{n}.example" for n in site]
        urls = [
            f"https://site{s}.example/news/section-{n % 97}/{n:07d}-a-title-of-a-page.html"
            for s, n in zip(site, number, strict=True)
        ]
        data = pa.Table.from_arrays(
            [pa.array([day] * len(urls)), pa.array(sites), pa.array(urls), pa.array(views)],
            schema=table.arrow_schema,
        ).sort_by([("site", "ascending"), ("url", "ascending")])
        with store.scratch() as scratch:
            path = scratch / "page_views.parquet"
            pq.write_table(data, path, compression="zstd", compression_level=1)
            store.publish(
                "page_views", day, [path], inputs=[Input("requests", "x")], settings_digest=""
            )
        count += len(urls)
    return count


def daily_views(
    dice: np.random.Generator, pages: int, days: int
) -> Iterator[tuple[dt.date, np.ndarray, np.ndarray]]:
    """(day, numbers of the pages viewed, their views)."""
    birth = dice.integers(-days, days, pages)
    is_temporal = dice.random(pages) < _TEMPORAL_SHARE
    # Interest is heavy-tailed: most pages are hardly read, a few by very many.
    interest = dice.lognormal(0.0, 1.8, pages)
    for n in range(days):
        age = n - birth
        decay = np.exp(-age / _READ_FOR_DAYS) * 10
        rate = np.where(age < 0, 0, interest * np.where(is_temporal, decay, 0.3))
        views = dice.poisson(rate)
        viewed = np.flatnonzero(views)
        yield _FIRST + dt.timedelta(days=n), viewed, views[viewed]
