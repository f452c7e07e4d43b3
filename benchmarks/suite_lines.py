"""The lines of the benchmark suite: the same job done by us and by what a user would pick.

    python -m benchmarks.suite_lines NAME WAY FOLDER SIZE REPEATS

Runs one way of one line and prints its seconds as JSON; `python -m benchmarks.suite` calls this for
every way, each in a process of its own, after NAME `prepare`. A way is set up first (imports,
compiled loops, input in memory where the job begins there), and only the job is timed. Where both
ways answer the same question their answers are compared. Not here: tables and medians (`suite`).
"""

from __future__ import annotations

import datetime as dt
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq

Done = tuple[int, Any] | tuple[int, Any, float]
"""Items that were worked on, an answer that all ways of the line share (or None), and the seconds
where not all of the job counts."""
Job = Callable[[], Done]
Setup = Callable[[Path, str], Job]

SIZES: Final = ("small", "medium")
_LOG_LINES: Final = {"small": 100_000, "medium": 2_000_000}
_PAGES: Final = {"small": 40_000, "medium": 400_000}
_CURVES: Final = {"small": 20_000, "medium": 200_000}
_CURVES_OF_OTHERS: Final = 10
"""They take a hundred milliseconds each; pages per second do not depend on how many there are."""
_GRAPH: Final = {"small": 20_000, "medium": 200_000}
_POLICY: Final = {"small": (100, 100_000), "medium": (1_000, 1_000_000)}
_PREFIXES: Final = {"small": 100_000, "medium": 975_151}
_FIRST: Final = dt.date(2025, 3, 3)


@dataclass(frozen=True, slots=True)
class Line:
    """One job; the first way is ours."""

    title: str
    items: str
    ways: dict[str, Setup]
    module: dict[str, str]
    """What a way needs: a module or, with `!`, a program."""


# Reading logs --------------------------------------------------------------------------------


def _read_ours(folder: Path, _: str) -> Job:
    """Clean, canonical, pseudonymous, published requests, and distinct clients by page."""
    from temporal_assets.daily import build_derived, build_requests
    from temporal_assets.engines.duckdb import DuckDBEngine
    from temporal_assets.settings import load_settings
    from temporal_assets.storage.inventory import Inventory
    from temporal_assets.storage.landing import refresh
    from temporal_assets.storage.store import Store

    def job() -> Done:
        with tempfile.TemporaryDirectory(dir=folder) as state:
            source = {"path": str(folder / "access.log"), "host": "example.com"}
            settings = load_settings(state, sources=[source])
            lines = sum(file.lines for file in refresh(settings).landed)
            store, engine = Store.open(settings), DuckDBEngine(settings)
            inventory = Inventory.load(settings)
            for day in inventory.days():
                build_requests(store, engine, settings, day, inventory)
                build_derived(store, engine, "page_views", day)
            return lines, None

    job()  # compiled loops are loaded
    return job


def _read_with_sort(folder: Path, _: str) -> Job:
    """Distinct addresses by target, as they stand: no cleaning, no days."""
    log = folder / "access.log"
    count = f"awk '{{print $7, $1}}' {log} | sort -u | awk '{{print $1}}' | uniq -c"
    plain = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}

    def job() -> Done:
        out = folder / "counts.txt"
        with out.open("wb") as counts:
            subprocess.run(["sh", "-c", count], stdout=counts, check=True, env=plain)
        return _lines_of(folder), None

    return job


def _read_goaccess(folder: Path, _: str) -> Job:
    def job() -> Done:
        log, report = str(folder / "access.log"), str(folder / "report.json")
        options = ["--log-format=COMBINED", "--no-global-config", "--no-progress", "-o", report]
        subprocess.run(["goaccess", log, *options], check=True, capture_output=True)
        return _lines_of(folder), None

    return job


def _lines_of(folder: Path) -> int:
    with (folder / "access.log").open("rb") as log:
        return sum(1 for _ in log)


# Distinct transits of a day, and totals of a window ------------------------------------------


def _queried(folder: Path, sql: str, inputs: dict[str, list[str]], parameters: Any) -> Job:
    from temporal_assets import contracts
    from temporal_assets.engines.duckdb import DuckDBEngine
    from temporal_assets.settings import load_settings

    engine = DuckDBEngine(load_settings(folder / "state"))
    rows = sum(pq.read_metadata(path).num_rows for files in inputs.values() for path in files)

    def job() -> Done:
        with tempfile.TemporaryDirectory(dir=folder) as out:
            table = contracts.table(sql.removesuffix("_onward"))
            (path,) = engine.query(sql, inputs, parameters, table, Path(out))
            return rows, pq.read_metadata(path).num_rows

    job()  # the database is open
    return job


def _requests(folder: Path) -> str:
    return str(next((folder / "read" / "tables" / "requests").glob("*/*.parquet")))


def _days(folder: Path) -> list[str]:
    return sorted(str(path) for path in (folder / "state/tables/page_views").glob("*/*.parquet"))


def _transits_ours(folder: Path, _: str) -> Job:
    return _queried(folder, "transits", {"requests": [_requests(folder)]}, {})


def _transits_pandas(folder: Path, _: str) -> Job:
    import pandas as pd

    columns = ["day", "referrer", "url", "client"]

    def job() -> Done:
        read = pd.read_parquet(_requests(folder))
        kept = read.loc[read.referrer.isna() | (read.referrer != read.url), columns]
        out = kept.drop_duplicates().sort_values(["client", "url", "referrer"])
        out.to_parquet(folder / "pandas.parquet", compression="zstd")
        return len(read), len(out)

    return job


def _transits_polars(folder: Path, _: str) -> Job:
    import polars as pl

    def job() -> Done:
        read = pl.read_parquet(_requests(folder))
        kept = read.filter(pl.col("referrer").is_null() | (pl.col("referrer") != pl.col("url")))
        out = kept.select("day", "referrer", "url", "client").unique()
        out.sort("client", "url", "referrer").write_parquet(folder / "polars.parquet")
        return len(read), len(out)

    return job


def _totals_ours(folder: Path, _: str) -> Job:
    from temporal_assets.windows.page_totals import whole_window

    days = _days(folder)[1:]
    parameters = whole_window(_FIRST + dt.timedelta(days=1), _FIRST + dt.timedelta(days=60))
    return _queried(folder, "page_totals", {"page_views": days}, parameters)


def _totals_onward(folder: Path, _: str) -> Job:
    from temporal_assets.windows.page_totals import whole_window

    days = _days(folder)
    first = {"page_views": days[:60]}
    last = _FIRST + dt.timedelta(days=59)
    before = folder / "before"
    if not before.exists():
        from temporal_assets import contracts
        from temporal_assets.engines.duckdb import DuckDBEngine
        from temporal_assets.settings import load_settings

        before.mkdir()
        engine = DuckDBEngine(load_settings(folder / "state"))
        table = contracts.table("page_totals")
        engine.query("page_totals", first, whole_window(_FIRST, last), table, before)
    inputs = {
        "earlier": [str(before / "page_totals.parquet")],
        "entering": days[60:],
        "leaving": days[:1],
    }
    one = dt.timedelta(days=1)
    job = _queried(
        folder, "page_totals_onward", inputs, {"day": last + one, "first": _FIRST + one, "moved": 1}
    )
    rows = sum(pq.read_metadata(path).num_rows for path in days[1:])
    return lambda: (rows, job()[1])  # the window's rows, which it need not read


def _totals_pandas(folder: Path, _: str) -> Job:
    import pandas as pd

    def job() -> Done:
        read = pd.concat([pd.read_parquet(path) for path in _days(folder)[1:]])
        found = read.groupby(["site", "url"], sort=True)
        out = found.agg(total=("views", "sum"), birth=("day", "min")).reset_index()
        out.to_parquet(folder / "pandas.parquet", compression="zstd")
        return len(read), len(out)

    return job


def _totals_polars(folder: Path, _: str) -> Job:
    import polars as pl

    def job() -> Done:
        read = pl.read_parquet(_days(folder)[1:])
        out = read.group_by("site", "url").agg(
            pl.col("views").sum().alias("total"), pl.col("day").min().alias("birth")
        )
        out.sort("site", "url").write_parquet(folder / "polars.parquet")
        return len(read), len(out)

    return job


# Curves, graphs, prefixes, decisions ---------------------------------------------------------


def _curves_ours(_: Path, size: str) -> Job:
    from temporal_assets.core import synthetic
    from temporal_assets.core.curves import fit

    views = synthetic.draw(_CURVES[size], 60, seed=1).views
    fit(views[:10])
    return lambda: (len(fit(views).objective), None)


def _curves_scipy(_: Path, size: str) -> Job:
    from benchmarks.curve_fit import scipy_speed
    from temporal_assets.core import synthetic

    drawn = synthetic.draw(_CURVES[size], 60, seed=1).views
    views = drawn[(drawn > 0).sum(axis=1) > 5][:_CURVES_OF_OTHERS].astype(np.float64)

    def job() -> Done:
        scipy_speed(views)
        return len(views), None

    return job


def _curves_lmfit(_: Path, size: str) -> Job:
    """One start: `LognormalModel`, as its documentation uses it."""
    from lmfit.models import LognormalModel

    from temporal_assets.core import synthetic

    drawn = synthetic.draw(_CURVES[size], 60, seed=1).views
    views = drawn[(drawn > 0).sum(axis=1) > 5][:_CURVES_OF_OTHERS].astype(np.float64)
    model = LognormalModel()

    def job() -> Done:
        for row in views:
            alive = row[int(np.argmax(row > 0)) :]
            x = np.arange(1.0, len(alive) + 1)
            model.fit(alive, model.make_params(amplitude=row.sum(), center=0.5, sigma=1.0), x=x)
        return len(views), None

    return job


def _rank(way: str) -> Setup:
    def setup(_: Path, size: str) -> Job:
        from benchmarks import mirror_scale
        from temporal_assets.core.page_rank import page_rank

        graph = mirror_scale.site_graph(_GRAPH[size], 10 * _GRAPH[size])
        if way == "ours":
            page_rank(graph)
            return lambda: (graph.links, float(page_rank(graph).max()))
        other = mirror_scale.OTHERS[way]

        def job() -> Done:
            seconds, scores = other(graph)  # making their graph does not count
            return graph.links, float(scores.max()), seconds

        return job

    return setup


def _prefixes(way: str) -> Setup:
    def setup(_: Path, size: str) -> Job:
        from benchmarks import sites_and_prefixes as both

        pages = both.make_pages(_PREFIXES[size], 200)
        find = both.functions_of_core if way == "ours" else both.plain_python
        both.functions_of_core(pages.slice(0, 1000))
        return lambda: (len(pages), len(find(pages)[0]))

    return setup


def _decide(way: str) -> Setup:
    def setup(folder: Path, size: str) -> Job:
        from benchmarks import policy_match
        from temporal_assets.policy import Policy
        from temporal_assets.policy.document import as_text

        sites, count = _POLICY[size]
        document = policy_match.made(sites)
        file = folder / "policy.json"
        file.write_text(as_text(document), "utf-8")
        policy = Policy.load(file)
        urls = policy_match.asked(sites, count)
        if way == "ours":
            policy.match(urls[0])
            return lambda: (len(urls), int(policy.match_many(urls).tier[:5_000].sum()))
        plain = policy_match.Expressions(document)
        some = [policy.canonical(url) or "" for url in urls[:5_000]]
        return lambda: (len(some), sum(plain.tier(url) for url in some))

    return setup


LINES: Final[dict[str, Line]] = {
    "read": Line(
        "logs to distinct visitors by page and day",
        "lines",
        {"ours": _read_ours, "awk and sort": _read_with_sort, "GoAccess": _read_goaccess},
        {"GoAccess": "!goaccess", "awk and sort": "!awk"},
    ),
    "transits": Line(
        "distinct transits of a day",
        "requests",
        {"ours": _transits_ours, "pandas": _transits_pandas, "Polars": _transits_polars},
        {"Polars": "polars"},
    ),
    "totals": Line(
        "totals and births of 60 days",
        "page-days",
        {"ours": _totals_ours, "pandas": _totals_pandas, "Polars": _totals_polars},
        {"Polars": "polars"},
    ),
    "onward": Line(
        "the same, a day later",
        "page-days",
        {"ours": _totals_onward, "ours, anew": _totals_ours},
        {},
    ),
    "curves": Line(
        "interest curves",
        "pages",
        {"ours": _curves_ours, "curve_fit, 5 starts": _curves_scipy, "lmfit": _curves_lmfit},
        {"lmfit": "lmfit"},
    ),
    "ranks": Line(
        "PageRank",
        "links",
        {
            "ours": _rank("ours"),
            "networkx": _rank("networkx"),
            "igraph": _rank("igraph"),
            "scikit-network": _rank("sknetwork"),
        },
        {"networkx": "networkx", "igraph": "igraph", "scikit-network": "sknetwork"},
    ),
    "prefixes": Line(
        "site scores and news prefixes",
        "pages",
        {"ours": _prefixes("ours"), "plain Python": _prefixes("plain")},
        {},
    ),
    "policy": Line(
        "decisions of a crawl policy",
        "URLs",
        {"ours": _decide("ours"), "regular expressions by site": _decide("plain")},
        {},
    ),
}


def prepare(folder: Path, size: str) -> None:
    """Write the log and the page views; both stay, so that a second call costs nothing."""
    from benchmarks.histories import write_page_views
    from benchmarks.ingest import write_log
    from temporal_assets.daily import build_requests
    from temporal_assets.engines.duckdb import DuckDBEngine
    from temporal_assets.settings import load_settings
    from temporal_assets.storage.inventory import Inventory
    from temporal_assets.storage.landing import refresh
    from temporal_assets.storage.store import Store

    if (folder / "prepared").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_log(folder, _LOG_LINES[size], folder / "access.log")
    source = {"path": str(folder / "access.log"), "host": "example.com"}
    settings = load_settings(folder / "read", sources=[source])
    refresh(settings)
    inventory = Inventory.load(settings)
    day = inventory.days()[0]
    build_requests(Store.open(settings), DuckDBEngine(settings), settings, day, inventory)
    write_page_views(Store.open(load_settings(folder / "state")), _PAGES[size], 61)
    (folder / "prepared").touch()


def main() -> None:
    """Time one way."""
    name, way, folder, size = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4]
    if name == "prepare":
        prepare(folder, size)
        return
    job = LINES[name].ways[way](folder, size)
    seconds, processor = [], []
    for _ in range(int(sys.argv[5])):
        worked, started = _processor_seconds(), time.perf_counter()
        items, answer, *counted = job()
        seconds.append(counted[0] if counted else time.perf_counter() - started)
        if not counted:
            processor.append(_processor_seconds() - worked)
    peak = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    found = {"seconds": seconds, "processor_seconds": processor, "items": items, "answer": answer}
    print(json.dumps({**found, "peak_mib": peak / 1024}))


def _processor_seconds() -> float:
    """Of this process and of those it has called and waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    main()
