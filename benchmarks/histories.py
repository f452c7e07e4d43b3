"""Making the window of a day from that of the day before, beside making it from all its days.

    python benchmarks/histories.py [--pages 400000] [--days 3]

Both ways run here, one after the other, over the same page views: temporal pages that are read
for days after their birth, and pages that are read for as long as the window. The results are
compared byte for byte. What is measured is building and publishing, without Dagster and checks.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.storage.manifest import Input
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import build
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS

_FIRST = dt.date(2025, 3, 3)
_ASSETS = (PAGE_TOTALS, PAGE_HISTORIES)
_SITES = 40
_TEMPORAL_SHARE = 0.7
_READ_FOR_DAYS = 2.0
"""Mean age of the views of a temporal page."""


def main() -> None:
    """Print seconds a day of both ways, by asset, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=400_000)
    parser.add_argument("--days", type=int, default=3, help="windows to make")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(folder)
        store, engine = Store.open(settings), DuckDBEngine(settings)
        length = settings.window.days
        page_days = write_page_views(store, arguments.pages, length + arguments.days)
        print(f"{os.cpu_count()} cores; {page_days:,} page-days in {length + arguments.days} days")
        last = [_FIRST + dt.timedelta(days=length + n) for n in range(arguments.days)]
        before = last[0] - dt.timedelta(days=1)
        seconds: dict[tuple[str, str], float] = {}
        rows: dict[str, int] = {}
        for asset in _ASSETS:
            build(store, engine, settings, asset, before)
        for day in last:
            made: dict[str, list[str]] = {}
            for way in ("incremental", "anew"):
                for asset in _ASSETS:
                    if way == "anew":
                        forget(store, asset.name, before)
                    result = build(store, engine, settings, asset, day)
                    key = (asset.name, way)
                    seconds[key] = seconds.get(key, 0) + result.seconds
                    rows[asset.name] = result.manifest.rows
                    made.setdefault(asset.name, []).append(result.manifest.to_json())
            if any(one != other for one, other in made.values()):
                raise SystemExit(f"{day}: the two ways give different results")
            before = day
        report(seconds, rows, len(last))


def report(seconds: dict[tuple[str, str], float], rows: dict[str, int], days: int) -> None:
    """A row for each asset and the sum."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'':16}{'rows':>12}{'anew':>10}{'incremental':>13}{'ratio':>8}")
    sums = {"anew": 0.0, "incremental": 0.0}
    for name, count in rows.items():
        anew, later = seconds[name, "anew"] / days, seconds[name, "incremental"] / days
        sums["anew"] += anew
        sums["incremental"] += later
        print(f"{name:16}{count:>12,}{anew:>8.2f} s{later:>11.2f} s{anew / later:>8.1f}")
    ratio = sums["anew"] / sums["incremental"]
    print(f"{'both':16}{'':12}{sums['anew']:>8.2f} s{sums['incremental']:>8.2f} s{ratio:>8.1f}")
    print(f"equal byte for byte; peak memory {peak:,.0f} MB")


def forget(store: Store, asset: str, day: dt.date) -> None:
    """Leave nothing to go on from."""
    manifest = Path(store.root) / asset / f"day={day}" / "manifest.json"
    manifest.unlink()


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


if __name__ == "__main__":
    main()
