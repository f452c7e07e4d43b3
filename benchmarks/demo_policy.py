"""A policy learned from the first days of a demo corpus; for benchmarks and tests.

The days are the true views and transits of the corpus: that its logs lead to exactly these is
what `tests/integration/test_demo_truth.py` shows. Nothing after the last day is read.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.transits import publish_truth
from temporal_assets.demo import DemoOptions, generate
from temporal_assets.demo.options import DemoSummary
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.policy import Policy
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import WindowAsset, build
from temporal_assets.windows.hubs.hub_seeds import HUB_SEEDS
from temporal_assets.windows.policy.crawl_policy import CRAWL_POLICY, files_of


@dataclass(frozen=True)
class Learned:
    """A state folder with everything that a policy is made from."""

    made: DemoSummary
    root: Path
    settings: Settings
    store: Store
    day: dt.date
    """The last that is known."""

    @property
    def folder(self) -> Path:
        """The files of the policy."""
        manifest = self.store.require("crawl_policy", self.day)
        folder = files_of(self.store, self.settings, manifest)
        if folder is None:
            raise RuntimeError("the policy names no files")
        return folder

    @property
    def policy(self) -> Policy:
        """Ready to decide."""
        return Policy.load(self.folder)

    def with_hubs(self, **hubs: Any) -> Learned:
        """The policy of other settings of its hubs."""
        changed = self.settings.hubs.model_copy(update=hubs)
        settings = self.settings.model_copy(update={"hubs": changed})
        for asset in (HUB_SEEDS, CRAWL_POLICY):
            build(self.store, DuckDBEngine(settings), settings, asset, self.day)
        return Learned(self.made, self.root, settings, self.store, self.day)


def learn(options: DemoOptions, root: Path, days: int, window: int, **settings: Any) -> Learned:
    """Everything up to the policy, from the first `days` days of a corpus, by one window."""
    demo = generate(options, root / "demo")
    chosen = load_settings(
        root / "state", window={"days": window, "min_days": window // 2}, **settings
    )
    store, engine, day = Store.open(chosen), DuckDBEngine(chosen), demo.days[days - 1]
    publish_truth(store, engine, demo.truth, [entry for entry in demo.days if entry <= day])
    for entry in _beneath([CRAWL_POLICY]).values():
        build(store, engine, chosen, entry, day)
    return Learned(demo, root, chosen, store, day)


def _beneath(assets: Iterable[WindowAsset]) -> dict[str, WindowAsset]:
    """Assets and what they are made from, in the order to make them."""
    found: dict[str, WindowAsset] = {}
    for asset in assets:
        found |= _beneath(asset.tables) | {asset.name: asset}
    return found
