"""The pipeline against a corpus whose truth is known: every view and every transit, exactly."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.demo import DemoOptions, DemoSummary, generate
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import LandingReport, refresh
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store

pytestmark = pytest.mark.slow

OPTIONS = DemoOptions(days=9, sites=8, pages=800, requests=40_000, clients=4_000, mirror=False)


class Built:
    """A corpus and what the pipeline made of it."""

    def __init__(self, root: Path) -> None:
        self.summary: DemoSummary = generate(OPTIONS, root / "demo")
        settings = load_settings(
            root / "state", sources=[source.model_dump() for source in self.summary.sources]
        )
        self.report: LandingReport = refresh(settings)
        self.store, engine = Store.open(settings), DuckDBEngine(settings)
        inventory = Inventory.load(settings)
        self.losses: Counter[tuple[str, str]] = Counter()
        for day in inventory.days():
            result = build_requests(self.store, engine, settings, day, inventory)
            for kind, reason, lines in result.losses:
                self.losses[kind, reason] += lines
            for asset in DERIVED:
                build_derived(self.store, engine, asset, day)
        self.days = inventory.days()

    def read(self, asset: str, columns: list[str]) -> list[tuple[object, ...]]:
        table = self.store.read(asset, self.store.days(asset))
        return _rows(table, columns)

    def truth(self, name: str, columns: list[str]) -> list[tuple[object, ...]]:
        return _rows(pq.read_table(self.summary.truth[name]), columns)


def _rows(table: pa.Table, columns: list[str]) -> list[tuple[object, ...]]:
    return list(zip(*(table[name].to_pylist() for name in columns), strict=True))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("corpus"))


def test_every_file_of_every_format_is_read(built: Built) -> None:
    assert (built.report.failed, built.report.missing) == ((), ())
    formats = {file.format for file in built.report.landed}
    assert formats >= {"combined", "combined_vhost", "nginx_json", "w3c", "cloudfront"}
    assert tuple(built.days) == built.summary.days


def test_every_line_is_kept_or_counted(built: Built) -> None:
    read = sum(file.lines for file in built.report.landed)
    kept = len(built.read("requests", ["day"]))
    assert read == built.summary.lines
    assert read == kept + sum(built.losses.values())


def test_losses_are_the_true_ones(built: Built) -> None:
    true = built.summary.counts
    assert built.losses["dropped", "static"] == true["static"]
    assert built.losses["dropped", "method"] == true["method"]
    assert built.losses["dropped", "status"] == true["status"]
    assert built.losses["dropped", "bot_agent"] == true["bot"]
    scripts = built.losses["dropped", "bot_rate"] + built.losses["dropped", "bot_no_referrer"]
    assert scripts == true["script"]
    rejected = sum(lines for (kind, _), lines in built.losses.items() if kind == "rejected")
    assert rejected == true["malformed"]


def test_views_are_exactly_the_true_views(built: Built) -> None:
    columns = ["day", "site", "url", "views"]
    table = built.read("page_views", columns)
    assert len(table) > 1_000
    assert sorted(table) == sorted(built.truth("views", columns))


def test_transits_are_exactly_the_true_transits(built: Built) -> None:
    # Clients have other names in the truth: compare how many went each way, and how many ways
    # each client went.
    edge = ["day", "referrer", "target"]
    assert Counter(built.read("transits", edge)) == Counter(built.truth("transits", edge))
    counts = Counter(client for (client,) in built.read("transits", ["client"]))
    true = Counter(client for (client,) in built.truth("transits", ["client"]))
    assert sorted(counts.values()) == sorted(true.values())
