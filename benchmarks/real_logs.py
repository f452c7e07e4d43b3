"""Lists and hubs out of time on the real logs there are, which are days long and not months.

    python -m benchmarks.real_logs [--data ../shared/data] [--only site]

A window needs some weeks, and the longest real log at hand has eight days. So time is stretched:
six hours of the news portal's clicks, or two of the web site's log, stand for a day, and n = 3 days
are 18 or 6 hours. Nothing else is changed, and every setting but the lengths of windows is the
default.

The portal's articles are numbers without sections, so it says something of hubs only; its transits
are those within a session. The site's log has sections, and 10,000 lines.
"""

from __future__ import annotations

import argparse
import datetime as dt
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.cli.landing import land
from temporal_assets.daily import build_derived, build_requests
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.inventory import Inventory
from temporal_assets.storage.store import Store
from temporal_assets.windows.asset import WindowAsset, build, learned_days
from temporal_assets.windows.hub_evaluation import HUB_EVALUATION
from temporal_assets.windows.registry import WINDOW_ASSETS
from temporal_assets.windows.seed_evaluation import SEED_EVALUATION

_CLICKS: Final = "globo_clicks/clicks_2017-10-01_to_08.parquet"
_CLICK_HOURS: Final = 6
_PORTAL_WINDOW: Final = {"days": 18, "min_days": 5}
_PORTAL_TRIALS: Final = {"horizons": (4, 8), "settle_days": 4}

_LOG: Final = "elastic_logs/apache_logs"
_LOG_HOURS: Final = 2
_SITE: Final = "www.semicomplete.com"
_SITE_WINDOW: Final = {"days": 30, "min_days": 7}
_SITE_TRIALS: Final = {"horizons": (6, 12), "settle_days": 6}
_SITE_LIST: Final = ("/blog/", "/presentations/")
"""What an editor would name: where the site has something new from time to time."""

_TIME: Final = re.compile(rb"\[([^]]+)\]")
_TIME_FORMAT: Final = "%d/%b/%Y:%H:%M:%S %z"


def main() -> None:
    """Print a table of lists and one of hubs for each log."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", choices=("portal", "site"), help="one of the two logs")
    given = parser.parse_args()
    data: Path = given.data
    logs = {"portal": ("news portal, clicks", portal), "site": ("web site, log", site)}
    for name, prepare in [logs[given.only]] if given.only else logs.values():
        with tempfile.TemporaryDirectory() as folder:
            judged = Judged(prepare(data, Path(folder)))
            print(f"\n## {name}: {judged.said}\n")
            judged.show_lists()
            judged.show_hubs()


def stretched(moment: dt.datetime, first: dt.datetime, hours: int) -> dt.datetime:
    """The moment at which it happens when `hours` hours take a day; whole seconds."""
    passed = (moment - first).total_seconds() * (24 / hours)
    return first + dt.timedelta(seconds=int(passed))


def portal(data: Path, folder: Path) -> Settings:
    """Clicks of eight days, as a table with URLs; the tail behind them is left out."""
    clicks = pq.read_table(data / _CLICKS)
    passed = clicks["ts"].to_numpy() - clicks["ts"].to_numpy().min()
    kept = passed < np.timedelta64(8, "D")
    moment = np.datetime64("2017-10-01", "us") + passed * (24 // _CLICK_HOURS)
    rows = pa.table(
        {
            "time": pa.array(moment, pa.timestamp("us", "UTC")),
            "address": clicks["client"].cast(pa.string()),
            "url": _urls(clicks["article"]),
            "referrer": _urls(clicks["previous_article"]),
        }
    )
    file = folder / "clicks.parquet"
    pq.write_table(rows.filter(pa.array(kept)), file)
    return load_settings(
        folder / "state",
        sources=[{"path": str(file), "format": "parquet"}],
        window=_PORTAL_WINDOW,
        evaluation=_PORTAL_TRIALS,
    )


def _urls(articles: pa.ChunkedArray) -> pa.ChunkedArray:
    name = articles.cast(pa.string())
    return pc.binary_join_element_wise("https://globo.example/a/", name, "")


def site(data: Path, folder: Path) -> Settings:
    """The log with other times, and a list that somebody could have made."""
    lines = (data / _LOG).read_bytes().splitlines(keepends=True)
    first: dt.datetime | None = None
    written = []
    for line in lines:
        found = _TIME.search(line)
        if found:
            moment = dt.datetime.strptime(found[1].decode(), _TIME_FORMAT)
            first = first or moment.replace(hour=0, minute=0, second=0)
            text = stretched(moment, first, _LOG_HOURS).strftime(_TIME_FORMAT).encode()
            written.append(line[: found.start(1)] + text + line[found.end(1) :])
    file, listed = folder / "access.log", folder / "list.txt"
    file.write_bytes(b"".join(written))
    listed.write_text("".join(f"https://{_SITE}{path}\n" for path in _SITE_LIST), "utf-8")
    return load_settings(
        folder / "state",
        sources=[{"path": str(file), "format": "combined", "host": _SITE}],
        window=_SITE_WINDOW,
        evaluation=_SITE_TRIALS,
        baseline={"path": str(listed)},
    )


class Judged:
    """A log with its last window and those to learn from."""

    def __init__(self, settings: Settings) -> None:
        settings.state.mkdir(parents=True)
        land(settings)
        self.store, engine = Store.open(settings), DuckDBEngine(settings)
        inventory = Inventory.load(settings)
        days = inventory.days()
        for day in days:
            build_requests(self.store, engine, settings, day, inventory)
            for asset in ("page_views", "transits"):
                build_derived(self.store, engine, asset, day)
        self.day = days[-1]
        wanted = _beneath((SEED_EVALUATION, HUB_EVALUATION))
        for day in (*learned_days(settings, self.day).values(), self.day):
            for one in WINDOW_ASSETS:
                if one.name in wanted:
                    build(self.store, engine, settings, one, day)
        for one in (SEED_EVALUATION, HUB_EVALUATION):
            build(self.store, engine, settings, one, self.day)
        labels = self.store.read("page_labels", self.day)
        temporal, news = (pc.sum(labels[f"is_{name}"]).as_py() for name in ("temporal", "news"))
        self.said = (
            f"{len(days)} stretched days, {len(labels):,} pages with a history in the last"
            f" {settings.window.days}, {temporal:,} temporal, {news:,} news"
        )

    def show_lists(self) -> None:
        """F of every list."""
        rows = self.store.read("seed_evaluation", self.day).to_pylist()
        used = [row for row in rows if row["is_used"]]
        print("| label | judged by | wanted | list | F | gain over the list in use |")
        print("|---|---|---:|---|---:|---:|")
        for row in used:
            print(f"| {row['label']} | {_judged_by(row)} | {row['wanted']} ", end="")
            gain = f"{row['f_gain']:+.3f}" if row["f_gain"] is not None else ""
            if gain:
                gain += f" [{row['f_gain_low']:+.2f}, {row['f_gain_high']:+.2f}]"
            print(f"| {row['method']}, {row['rule']} | {row['f']:.3f} | {gain} |")

    def show_hubs(self) -> None:
        """What the first K seeds reach, and at how many K either order is ahead."""
        print("\n| judged by | wanted | K | paper's order | greedy | more |")
        print("|---|---:|---:|---:|---:|---:|")
        rows = self.store.read("hub_evaluation", self.day).to_pylist()
        both = [row for row in rows if row["paper_one_hop"] is not None]
        for row in both:
            if row["k"] in (1, 5, 10, 20, 50, 100, 200, 500, 1000):
                paper, greedy = row["paper_one_hop"], row["greedy_one_hop"]
                print(f"| {_judged_by(row)} | {row['wanted']} | {row['k']} ", end="")
                print(f"| {paper} | {greedy} | {greedy - paper:+} |")
        for name in dict.fromkeys(map(_judged_by, both)):
            own = [row for row in both if _judged_by(row) == name]
            more = [row["greedy_one_hop"] - row["paper_one_hop"] for row in own]
            ahead, behind = sum(one > 0 for one in more), sum(one < 0 for one in more)
            print(f"\n{name}: of {len(own)} lengths greedy is ahead at {ahead}, behind at {behind}")


def _judged_by(row: dict[str, Any]) -> str:
    return "in sample" if row["trial"] == "in_sample" else f"{row['horizon_days']} days after"


def _beneath(assets: Iterable[WindowAsset]) -> set[str]:
    return set().union(*({one.name for one in a.tables} | _beneath(a.tables) for a in assets))


if __name__ == "__main__":
    main()
