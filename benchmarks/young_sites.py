"""What young pages do to the list of sites: how soon an event is in it, and what the list is worth.

    python -m benchmarks.young_sites [--seeds 11 12 13]

On demo corpora, each with a site that opens in the second week or later and closes: the day on
which it enters the list, under both values of `sites.young`; and the list of every fifth day, cut
to five sites, judged by the news that was really published in the seven days after it.
"""

from __future__ import annotations

import argparse
import datetime as dt
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.core.numerics.metrics import f_measure, precision, recall
from temporal_assets.demo import DemoOptions, generate
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import WindowAsset, build
from temporal_assets.windows.lists.site_scores import SITE_SCORES

_ONE: Final = dt.timedelta(days=1)
_LENGTH: Final = 5
_AHEAD: Final = 7
_VALUES: Final = ("ignore", "expect")


class Corpus:
    """Days of a demo corpus, and what is true of it."""

    def __init__(self, seed: int, root: Path) -> None:
        made = generate(DemoOptions(mirror=False, seed=seed), root / "demo")
        self.root, self.days = root, made.days
        settings = load_settings(root)
        self.store, self.engine = Store.open(settings), DuckDBEngine(settings)
        for name in ("page_views", "transits"):
            self._publish(name, pq.read_table(made.truth[name.removeprefix("page_")]))
        self.pages = pq.read_table(made.truth["pages"])
        sites = pq.read_table(made.truth["sites"]).to_pylist()
        self.event = next(one for one in sites if one["site"].startswith("games."))

    def _publish(self, name: str, rows: pa.Table) -> None:
        schema = contracts.table(name).arrow_schema
        for day in self.days:
            part = rows.filter(pc.equal(rows["day"], day)).select(schema.names).cast(schema)
            with self.store.scratch() as scratch:
                path = scratch / f"{name}.parquet"
                pq.write_table(part, path)
                self.store.publish(name, day, [path], inputs=[], settings_digest="")

    def ranked(self, day: dt.date) -> dict[str, list[str]]:
        """Sites of the list, the best first, under each value."""
        found = {}
        for value in _VALUES:
            settings = load_settings(self.root, sites={"young": value})
            for asset in _beneath((SITE_SCORES,)) if value == _VALUES[0] else (SITE_SCORES,):
                build(self.store, self.engine, settings, asset, day)
            rows = self.store.read("site_scores", day).to_pylist()
            found[value] = [row["site"] for row in rows if row["rank"] is not None]
        return found

    def f(self, listed: Iterable[str], day: dt.date) -> float:
        """Of a list, judged by all pages born in the days after it."""
        after = (day - self.days[0]).days + 1  # births are days since the first
        birth = self.pages["birth"]
        new = self.pages.filter(
            pc.and_(pc.greater_equal(birth, after), pc.less(birth, after + _AHEAD))
        )
        is_covered = pc.is_in(new["site"], pa.array(list(listed)))
        found = pc.sum(pc.and_(is_covered, new["is_news"])).as_py() or 0
        covered, wanted = (pc.sum(flags).as_py() or 0 for flags in (is_covered, new["is_news"]))
        return float(f_measure(precision(found, covered), recall(found, wanted)))


def _beneath(assets: Iterable[WindowAsset]) -> list[WindowAsset]:
    found: dict[str, WindowAsset] = {}
    for asset in assets:
        found |= {one.name: one for one in _beneath(asset.tables)}
        found[asset.name] = asset
    return list(found.values())


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13])
    print("| seed | " + " | ".join(f"listed after, {one}" for one in _VALUES), end=" | ")
    print(" | ".join(f"mean F, {one}" for one in _VALUES) + " |\n|---|---|---|---|---|")
    for seed in parser.parse_args().seeds:
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {seed} | " + " | ".join(_row(Corpus(seed, Path(folder)))) + " |", flush=True)


def _row(corpus: Corpus) -> list[str]:
    after: dict[str, Any] = dict.fromkeys(_VALUES, "never")
    for n in reversed(range(8)):
        listed = corpus.ranked(corpus.event["opens"] + n * _ONE)
        for value in _VALUES:
            if corpus.event["site"] in listed[value]:
                after[value] = f"{n} days"
    measured: dict[str, list[float]] = {value: [] for value in _VALUES}
    for day in corpus.days[12:-_AHEAD:5]:
        listed = corpus.ranked(day)
        for value in _VALUES:
            measured[value].append(corpus.f(listed[value][:_LENGTH], day))
    means = (f"{sum(found) / len(found):.3f}" for found in measured.values())
    return [*map(str, after.values()), *means]


if __name__ == "__main__":
    main()
