"""Making every asset of a small demo corpus, with the engine that the settings choose.

In a process of its own, so that a test can kill it:

    python -m tests.spark_run STATE [SPARK_MASTER]
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from temporal_assets.daily import DERIVED, build_derived, build_requests
from temporal_assets.demo.corpus import generate
from temporal_assets.demo.options import DemoOptions
from temporal_assets.engines.chosen import engine_of
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.inventory import Inventory
from temporal_assets.storage.landing import refresh
from temporal_assets.storage.store import Store
from temporal_assets.windows.asset import build, is_fresh
from temporal_assets.windows.registry import WINDOW_ASSETS, accept

DAYS = 8
BEFORE = ("page_totals", "page_histories")
"""Made for the day before the last, too: the last day's go on from them."""


def landed(root: Path) -> Path:
    """A state folder with the lines of a small corpus, read and not yet made into anything."""
    options = DemoOptions(days=DAYS, sites=3, pages=300, requests=12_000, clients=400)
    made = generate(options, root / "demo")
    state = root / "landed"
    state.mkdir()
    lines = [f"[window]\ndays = {DAYS}\nmin_days = 7\n"]
    for source in made.sources:
        told = source.model_dump(mode="json", exclude_defaults=True)
        columns = told.pop("columns", {})
        lines.append("[[sources]]")
        lines += [f"{name} = {_quoted(value)}" for name, value in told.items()]
        if columns:
            lines.append("[sources.columns]")
            lines += [f"{_quoted(name)} = {_quoted(value)}" for name, value in columns.items()]
    (state / "settings.toml").write_text("\n".join(lines), "utf-8")
    refresh(load_settings(state))
    return state


def copy_of(state: Path, name: str) -> Path:
    """Another installation with the same lines and the same key of the pseudonyms."""
    return Path(shutil.copytree(state, state.parent / name))


def make(settings: Settings) -> None:
    """Every asset that is not up to date: daily ones for each day, windows for the last."""
    store, engine = Store.open(settings), engine_of(settings)
    inventory = Inventory.load(settings)
    days = inventory.days()
    for day in days:
        if store.manifest("requests", day) is None:
            build_requests(store, engine, settings, day, inventory)
        for daily in DERIVED:
            if store.manifest(daily, day) is None:
                build_derived(store, engine, daily, day)
                print("published", daily, day, flush=True)
    for day in days[-2:]:
        for window in WINDOW_ASSETS:
            wanted = day == days[-1] or window.name in BEFORE
            if wanted and not is_fresh(store, settings, window, day):
                made = build(store, engine, settings, window, day)
                accept(store, settings, made.manifest)
                print("published", window.name, day, flush=True)
    engine.close()


def on_spark(state: Path, master: str) -> Settings:
    """The same installation on a cluster."""
    config = {
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    spark: dict[str, Any] = {"master": master, "executor_memory": "900m", "config": config}
    return load_settings(state, engine={"name": "spark"}, spark=spark)


def _quoted(value: object) -> str:
    return "'" + str(value) + "'"


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    make(on_spark(folder, sys.argv[2]) if len(sys.argv) > 2 else load_settings(folder))
