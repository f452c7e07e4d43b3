"""Costs of protecting visitors: keys that rotate, and addresses without their last bits.

    python -m benchmarks.privacy_costs CLICKS.parquet ACCESS.log...
    python -m benchmarks.privacy_costs --transits 3000000

Rotation is measured on clicks of real readers over days (columns `ts`, `client`, `article`,
`previous_article`): a window in which the key changes once, in the middle, beside one with one key.
Masking is measured on real access logs, read as `ingest` reads them. With `--transits`, so many of
a made-up window are counted by hub as windows with one key and with two keys are.
"""

from __future__ import annotations

import datetime as dt
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.transits import requests_of
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.days.transits import make_transits
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.engines.statements import run
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.notebook import Artifacts
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.hubs.hub_candidates import VisitFiles, count_clients

_ROTATED = """
WITH clicks AS (
    SELECT client, article, previous_article AS previous, ts::DATE AS day FROM read_parquet(?)
    WHERE article IS NOT NULL
), keyed AS (
    SELECT *, concat(client, ':', day >= (SELECT min(day) + 4 FROM clicks)) AS renamed FROM clicks
), pages AS (
    SELECT article, count(DISTINCT client) AS people, count(DISTINCT renamed) AS counted
    FROM keyed GROUP BY article
)
SELECT (SELECT count(DISTINCT (client, day, article)) FROM keyed) AS views,
    (SELECT count(DISTINCT (renamed, day, article)) FROM keyed) AS views_rotated,
    (SELECT count(DISTINCT (client, previous, article)) FROM keyed) AS transits,
    (SELECT count(DISTINCT (renamed, previous, article)) FROM keyed) AS transits_rotated,
    (SELECT count(DISTINCT client) FROM keyed) AS clients,
    (SELECT count(DISTINCT renamed) FROM keyed) AS clients_rotated,
    count(*) FILTER (counted >= 5) AS public, count(*) FILTER (counted >= 5 AND people < 5) AS rare,
    min(people) FILTER (counted >= 5) AS fewest
FROM pages
"""


_MASKED = """
SELECT (SELECT count(DISTINCT client) FROM requests) AS clients,
    (SELECT sum(views) FROM page_views) AS views,
    (SELECT count(*) FROM requests) AS requests,
    (SELECT count(*) FROM (SELECT url FROM requests GROUP BY url
        HAVING count(DISTINCT client) >= 5)) AS public
"""


def rotation(clicks: Path) -> None:
    """Print what a change of the key within a window changes."""
    print(duckdb.execute(_ROTATED, [str(clicks)]).df().T.to_string(header=False))


def masking(log: Path) -> None:
    """Print clients and views of a log, as its addresses are and without their last bits."""
    for bits in (0, 8, 16):
        with tempfile.TemporaryDirectory() as folder:
            state = Path(folder) / "state"
            state.mkdir(mode=0o700)
            (state / "settings.toml").write_text(
                f'[privacy]\nmask_ipv4_bits = {bits}\n[[sources]]\npath = "{log}"\n'
                'host = "example.com"\n'
            )
            settings = load_settings(state)
            refresh(settings)
            store, engine = Store.open(settings), DuckDBEngine(settings)
            inventory = Inventory.load(settings)
            for day in inventory.days():
                build_requests(store, engine, settings, day, inventory)
                build_derived(store, engine, "page_views", day)
            print(log.name, bits, *Artifacts(state).query(_MASKED).to_pylist())


_PAGES_OF_TRANSITS: Final = 15
"""Transits for each page of a window, as at the papers' size; a third of the pages have links."""


def counting(transits: int) -> None:
    """Print what it takes to count who knows the hubs, where a window has one key and two."""
    with tempfile.TemporaryDirectory() as place:
        folder, last = Path(place), dt.date(2027, 2, 20)
        days = [last - dt.timedelta(days=n) for n in range(60)]
        files, candidates = _made_up(folder, transits, days)
        for rotation in (0, 150):
            settings = load_settings(folder / "state", privacy={"rotation_days": rotation})
            out = folder / str(rotation)
            out.mkdir()
            engine, begun, spent = DuckDBEngine(settings), time.perf_counter(), time.process_time()
            counts = count_clients(engine, settings, files, candidates, out)
            took = time.perf_counter() - begun, time.process_time() - spent
            keys = len(set(files.keys(settings)))
            print(
                keys,
                "key(s):",
                *(f"{seconds:.2f} s" for seconds in took),
                "wall, processor;",
                end=" ",
            )
            print(sum(pq.read_metadata(path).num_rows for path in counts), "hubs")


def _made_up(folder: Path, transits: int, days: list[dt.date]) -> tuple[VisitFiles, list[str]]:
    dice, pages = np.random.default_rng(1), transits // _PAGES_OF_TRANSITS
    urls = pa.array(
        [f"https://news{n % 97}.example/section-{n % 13}/article-{n}.html" for n in range(pages)]
    )
    target = np.minimum(pages * dice.random(transits) ** 3, pages - 1).astype(np.int64)
    referrer = np.minimum(pages * dice.random(transits) ** 3, pages - 1).astype(np.int64)
    client = dice.integers(0, 1 << 62, transits // 8)[dice.integers(0, transits // 8, transits)]
    of_day = np.sort(dice.integers(0, len(days), transits))
    paths: dict[str, list[str]] = {"transits": [], "urls": []}
    engine = DuckDBEngine(load_settings(folder / "state"))
    for n, day in enumerate(days):
        rows = np.flatnonzero(of_day == n)
        (out := folder / str(day)).mkdir()
        requests = requests_of(
            day, urls.take(target[rows]), urls.take(referrer[rows]), pa.array(client[rows])
        )
        pq.write_table(requests, out / "requests.parquet")
        made = run(engine, make_transits([str(out / "requests.parquet")], out))
        paths["transits"] += map(str, made.rows)
        paths["urls"] += map(str, made.urls)
    opened = np.bincount(target, minlength=pages)
    numbers = pa.array(np.arange(pages))
    traffic, totals = folder / "traffic.parquet", folder / "totals.parquet"
    pq.write_table(pa.table({"url": numbers, "clients": opened}), traffic)
    pq.write_table(pa.table({"number": numbers, "url": urls}), totals)
    hubs = np.flatnonzero(opened > 0)[::3]
    table = pa.table(
        {"page": hubs, "url": urls.take(hubs), "is_opened": np.ones(len(hubs), np.bool_)}
    )
    pq.write_table(table, folder / "candidates.parquet")
    files = VisitFiles(paths, [str(traffic)], [str(totals)], days)
    return files, [str(folder / "candidates.parquet")]


if __name__ == "__main__":
    if sys.argv[1] == "--transits":
        counting(int(sys.argv[2]))
        raise SystemExit
    rotation(Path(sys.argv[1]))
    for name in sys.argv[2:]:
        masking(Path(name).absolute())
