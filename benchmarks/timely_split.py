"""Sharing a budget by one price or by the pages that are expected, in the timely simulation.

    python -m benchmarks.timely_split [--seeds 2 3] [--only SET ...] [--data FOLDER] [--keep FOLDER]

`split` (Lefortier et al. 2013) spends fetches on visits of hubs and on new pages up to the price at
which a further one gains the same everywhere; `ours` visits hubs with what the expected new pages
leave of the budget. Both crawl the same world out of time: hubs are learned from an earlier window.
Shown is the share of the interest still to come at the first fetch, and the difference with a 95 %
interval of a bootstrap over pages, which are the same ones in both crawls.
"""

from __future__ import annotations

import argparse
import datetime as dt
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.real_sets import DATA, SETS, Built
from benchmarks.transits import publish_truth
from temporal_assets.core.crawls.timely_simulation import TimelyWorld, left_at, simulate_timely
from temporal_assets.core.crawls.timely_strategies import Knowledge, strategies
from temporal_assets.core.numerics.arrays import Floats
from temporal_assets.demo import DemoOptions, generate
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.crawls.timely_simulation import (
    BUDGETS,
    TIMELY_SIMULATION,
    Period,
    worlds,
)
from temporal_assets.windows.frame.asset import job_of, learned_days

_DRAWS: Final = 1000


def main() -> None:
    """Print a row for every set, length of crawl and budget."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="*", default=[2, 3], help="of the demo")
    parser.add_argument("--only", nargs="*", choices=SETS, default=["globo_6h"])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--keep", type=Path, help="a folder for daily tables, made once")
    given = parser.parse_args()
    print("| set | days | pages born | fetches an hour | ours | split | split less ours [95 %] |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for seed in given.seeds:
        with demo(seed) as built:
            show(f"demo, seed {seed}", built, built.days[-1])
    for name in given.only:
        with SETS[name].built(given.data, given.keep) as built:
            show(name, built, built.days[-1])


@contextmanager
def demo(seed: int) -> Iterator[Built]:
    """Publish the true daily views and transits of a corpus, which are what the logs lead to."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = generate(DemoOptions(seed=seed, mirror=False), Path(folder) / "demo")
        settings = load_settings(Path(folder) / "state")
        store = Store.open(settings)
        engine = DuckDBEngine(settings)
        publish_truth(store, engine, corpus.truth, corpus.days)
        yield Built(f"demo {seed}", settings, store, engine, tuple(corpus.days), ())


def show(name: str, built: Built, day: dt.date) -> None:
    """Crawl what was born before a day, by hubs that were known earlier."""
    names = ["hub_seeds", "page_histories", "interest_curves"]
    for last_day in (*learned_days(built.settings, day).values(), day):
        built.make(names, last_day)
    with built.store.scratch() as scratch:
        job = job_of(built.store, built.engine, built.settings, TIMELY_SIMULATION, day, scratch)
        for period, world, knowledge in worlds(job):
            if period.trial == "out_of_time":
                for row in compared(period, world, knowledge):
                    print(f"| {name} | {row} |", flush=True)


def compared(period: Period, world: TimelyWorld, knowledge: Knowledge) -> Iterable[str]:
    """Yield the cells of a row for every budget."""
    born = np.flatnonzero((world.birth >= 0) & (world.birth < period.hours))
    for share in BUDGETS:
        budget = share * len(world.birth) / 1_000
        chosen = strategies(world, knowledge, budget)
        left = {
            name: left_at(
                world, simulate_timely(world, chosen[name], budget, period.hours).first_fetch
            )[born]
            for name in ("ours", "split")
        }
        interest = world.interest[born]
        ours, split = (float(interest @ left[name] / interest.sum()) for name in left)
        low, high = interval(interest, left["split"] - left["ours"])
        yield (
            f"{period.horizon} | {len(born):,} | {budget:.1f} | {ours:.3f} | {split:.3f} |"
            f" {split - ours:+.3f} [{low:+.3f}, {high:+.3f}]"
        )


def interval(interest: Floats, difference: Floats) -> tuple[float, float]:
    """Return the 95 % interval of a mean difference weighed by interest, over pages drawn again."""
    dice = np.random.default_rng(1)
    drawn = dice.multinomial(len(interest), np.full(len(interest), 1 / len(interest)), _DRAWS)
    ratios = drawn @ (interest * difference) / np.maximum(drawn @ interest, 1e-300)
    low, high = np.quantile(ratios, (0.025, 0.975))
    return float(low), float(high)


if __name__ == "__main__":
    main()
