"""Making every asset of a small demo corpus, with the engine that the settings choose.

In a process of its own, so that a test can kill it:

    python -m tests.spark_run STATE [SPARK_MASTER]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.demo.corpus import generate
from temporal_assets.demo.options import DemoOptions
from temporal_assets.engines.engine_choice import engine_of
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.logs.privacy.pseudonyms import KeyRing
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import build, is_fresh
from temporal_assets.windows.policy.crawl_policy import CRAWL_POLICY
from temporal_assets.windows.policy.released_policy import release_policy
from temporal_assets.windows.registry import WINDOW_ASSETS
from tests.spark_cluster import BRIEF_JAVA
from tests.spark_corpus import write_corpus

BEFORE = ("page_totals", "page_histories")
"""Made for the day before the last, too: the last day's go on from them."""


@dataclass(frozen=True)
class Corpus:
    """Size of the logs and windows to make."""

    days: int
    window: int
    """Days of the window, all of which must be there."""
    requests: int | None = None
    """Log lines of a demo; None for the corpus that is written by hand (`spark_corpus`)."""

    @property
    def options(self) -> DemoOptions:
        return DemoOptions(
            days=self.days, sites=3, pages=300, requests=self.requests or 1, clients=400, workers=1
        )


WHOLE = Corpus(days=8, window=7, requests=12_000)
SMALL = Corpus(days=4, window=3)
"""The least with which every table has rows."""


def installation(root: Path, corpus: Corpus) -> Path:
    """A state folder that knows its logs and has a key of pseudonyms, and has read nothing."""
    state = root / "prepared"
    state.mkdir()
    window = f"[window]\ndays = {corpus.window}\nmin_days = {corpus.window}\n"
    (state / "settings.toml").write_text(window, "utf-8")
    if corpus.requests is None:
        write_corpus(state, root, corpus.days)
    else:
        _write_demo(state, root, corpus)
    KeyRing(state / "secrets", 0).key(0)
    return state


def _write_demo(state: Path, root: Path, corpus: Corpus) -> None:
    lines = [(state / "settings.toml").read_text("utf-8")]
    for source in generate(corpus.options, root / "demo").sources:
        answer = source.model_dump(mode="json", exclude_defaults=True)
        columns = answer.pop("columns", {})
        lines.append("[[sources]]")
        lines += [f"{name} = {_quoted(value)}" for name, value in answer.items()]
        if columns:
            lines.append("[sources.columns]")
            lines += [f"{_quoted(name)} = {_quoted(value)}" for name, value in columns.items()]
    (state / "settings.toml").write_text("\n".join(lines), "utf-8")


def copy_of(state: Path, name: str) -> Path:
    """Another installation with the same logs and the same key of the pseudonyms."""
    return Path(shutil.copytree(state, state.parent / name))


def make(settings: Settings) -> None:
    """Read the logs, then make every asset that is not up to date.

    Daily ones for each day, windows for the last.
    """
    store, engine = Store.open(settings), engine_of(settings)
    started_at = time.monotonic()

    def published(what: str) -> None:
        print(f"[{time.monotonic() - started_at:6.1f} s] published {what}", flush=True)

    report = refresh(settings, spread=engine.spread)
    assert not report.failed, report.failed
    published(f"{len(report.landed)} log files")
    inventory = Inventory.load(settings)
    days = inventory.days()
    for day in days:
        if store.manifest("requests", day) is None:
            build_requests(store, engine, settings, day, inventory)
            published(f"requests {day}")
        for daily in DERIVED:
            if store.manifest(daily, day) is None:
                build_derived(store, engine, daily, day)
                published(f"{daily} {day}")
    for day in days[-2:]:
        for window in WINDOW_ASSETS:
            wanted = day == days[-1] or window.name in BEFORE
            if wanted and not is_fresh(store, settings, window, day):
                actual = build(store, engine, settings, window, day)
                if window is CRAWL_POLICY:
                    release_policy(store, settings, actual.manifest)
                published(f"{window.name} {day}")
    engine.close()


def started(state: Path, master: str = "") -> subprocess.Popen[bytes]:
    """`make` in a process of its own: on a cluster, or on DuckDB where none is named."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.spark_run", str(state), *([master] if master else [])],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths},
        start_new_session=True,
    )


def on_spark(state: Path, master: str) -> Settings:
    """The same installation on a cluster."""
    config = {
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.executor.memory": "900m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": BRIEF_JAVA,
        "spark.executor.extraJavaOptions": BRIEF_JAVA,
    }
    spark: dict[str, Any] = {"master": master, "config": config}
    settings = load_settings(state, engine={"name": "spark"}, spark=spark)
    # Every statement is Spark's, however small its files are.
    whole = settings.spark.model_copy(update={"one_task_megabytes": 0})
    return settings.model_copy(update={"spark": whole})


def _quoted(value: object) -> str:
    return "'" + str(value) + "'"


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    make(on_spark(folder, sys.argv[2]) if len(sys.argv) > 2 else load_settings(folder))
