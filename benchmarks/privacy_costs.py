"""What protecting visitors costs: keys that rotate, and addresses without their last bits.

    python -m benchmarks.privacy_costs CLICKS.parquet ACCESS.log...

Rotation is measured on clicks of real readers over days (columns `ts`, `client`, `article`,
`previous_article`): a window in which the key changes once, in the middle, beside one with one key.
Masking is measured on real access logs, read as `ingest` reads them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import duckdb

from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.notebook import Artifacts
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store

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


if __name__ == "__main__":
    rotation(Path(sys.argv[1]))
    for name in sys.argv[2:]:
        masking(Path(name).absolute())
