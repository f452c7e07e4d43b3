"""The same assets by DuckDB and by Spark on this machine, from a million requests on.

    python -m benchmarks.spark_or_duckdb [--requests 1000000] [--days 10] [--cores 2]

Requests are written as published days, so that reading logs takes no part. Each engine is a process
with its own copy; both have the same cores. Shown are seconds for all days of the daily assets and
for one window of the others, the bytes that Spark shuffles (its event log, compressed as they are
written) and rereads from disk because they did not fit, and the largest memory of the processes
(proportional set size, sampled). Numbers of rows of both engines are compared.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.daily import DERIVED, build_derived
from temporal_assets.engines.chosen import engine_of
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.asset import build
from temporal_assets.windows.calibration import CALIBRATION
from temporal_assets.windows.interest_curves import INTEREST_CURVES
from temporal_assets.windows.page_histories import PAGE_HISTORIES
from temporal_assets.windows.page_labels import PAGE_LABELS
from temporal_assets.windows.page_totals import PAGE_TOTALS
from temporal_assets.windows.page_traffic import PAGE_TRAFFIC

_FIRST = dt.date(2025, 3, 3)
_WINDOWS = (
    PAGE_TOTALS,
    PAGE_HISTORIES,
    INTEREST_CURVES,
    CALIBRATION,  # nothing without annotated pages; labels ask for it
    PAGE_LABELS,
    PAGE_TRAFFIC,
)
_ENGINES = ("duckdb", "spark")
_SITES = 200
_REQUESTS_A_PAGE = 25
_REQUESTS_A_CLIENT = 12
_SHARE_OF_NEW_PAGES = 0.5
"""Of the requests; they go to pages that opened in the last days, the others to old ones."""

_SAMPLED_SECONDS = 0.3
_SHUFFLED = "internal.metrics.shuffle.write.bytesWritten"
_SPILLED = "internal.metrics.diskBytesSpilled"


def main() -> None:
    """Print a table for one number of requests."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--days", type=int, default=10)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3600, help="an engine has, then it ends")
    parser.add_argument("--engines", nargs="*", default=_ENGINES, choices=_ENGINES)
    parser.add_argument("--of", type=Path, help=argparse.SUPPRESS)  # the work of one engine
    arguments = parser.parse_args()
    if arguments.of:
        work(arguments.of, arguments.engines[0], arguments.cores)
        return
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        state = Path(folder) / "requests"
        size = write_requests(state, arguments.requests, arguments.days)
        print(
            f"{arguments.requests:,} requests of {arguments.days} days, {size / 1e6:,.0f} MB;"
            f" {arguments.cores} cores"
        )
        found = {}
        for name in arguments.engines:
            own = shutil.copytree(state, Path(folder) / name, copy_function=os.link)
            found[name] = measured(own, name, arguments)
        report(found)


def write_requests(state: Path, requests: int, days: int) -> int:
    """Publish the requests and return their bytes."""
    state.mkdir()
    (state / "settings.toml").write_text(f"[window]\ndays = {days}\nmin_days = {days}\n", "utf-8")
    store, table = Store.open(load_settings(state)), contracts.table("requests")
    dice, size = np.random.default_rng(1), 0
    for n in range(days):
        day = _FIRST + dt.timedelta(days=n)
        rows = requests_of_a_day(dice, day, n, requests // days, requests)
        with store.scratch() as scratch:
            path = scratch / "requests.parquet"
            pq.write_table(rows.cast(table.arrow_schema), path, compression="zstd")
            made = store.publish(
                "requests",
                day,
                [path],
                inputs=[],
                settings_digest="",
                extra={"lines": len(rows), "has_referrers": True, "losses": []},
            )
        size += made.size
    return size


def requests_of_a_day(
    dice: np.random.Generator, day: dt.date, number: int, rows: int, requests: int
) -> pa.Table:
    """Clients that open old and new pages, coming from a page of the same site or from nowhere."""
    old = max(_SITES * 5, requests // _REQUESTS_A_PAGE // 2)
    new_a_day = max(_SITES, old // 10)
    # Popularity falls as 1 / rank among old pages; new ones are read for some days.
    page = (old ** dice.random(rows)).astype(np.int64) - 1
    is_new = dice.random(rows) < _SHARE_OF_NEW_PAGES
    age = np.minimum(dice.geometric(0.6, rows) - 1, number)
    born = old + (number - age) * new_a_day + (new_a_day * dice.random(rows) ** 2).astype(np.int64)
    page = np.where(is_new, born, page)
    # Front pages of a site are its first five.
    source = page % _SITES + _SITES * dice.integers(0, 5, rows)
    known, place = np.unique(np.concatenate([page, source]), return_inverse=True)
    urls = pa.array(
        f"https://site{n % _SITES}.example/news/section-{n % 97}/{n:08d}-a-title-of-a-page.html"
        for n in known.tolist()
    )
    sites = pa.array(f"site{n}.example" for n in range(_SITES))
    nowhere = dice.random(rows) < 0.3
    time_of_day = np.sort(dice.integers(0, 86_400_000_000, rows))
    midnight = int(np.datetime64(day, "us").astype(np.int64))
    return pa.table(
        {
            "day": pa.array(np.full(rows, np.datetime64(day, "D"))),
            "ts": pa.array(midnight + time_of_day, pa.timestamp("us")),
            "client": pa.array(dice.integers(0, requests // _REQUESTS_A_CLIENT, rows) * 2**20),
            "url": pa.DictionaryArray.from_arrays(place[:rows], urls).cast(pa.string()),
            "referrer": pa.DictionaryArray.from_arrays(
                pa.array(place[rows:], mask=nowhere), urls
            ).cast(pa.string()),
            "site": pa.DictionaryArray.from_arrays(page % _SITES, sites).cast(pa.string()),
        }
    )


def work(state: Path, name: str, cores: int) -> None:
    """Make everything with one engine, and say on a line each when and how."""
    settings = settings_of(state, name, cores)
    store, engine = Store.open(settings), engine_of(settings)
    days = store.days("requests")
    # What starts with the first need is no part of the first asset.
    tell("start", [], lambda: engine.query(*first_need(store, days[0], state)))
    for daily in DERIVED:
        tell(daily, days, lambda daily=daily: [made(store, engine, daily, day) for day in days])
    for asset in _WINDOWS:
        tell(
            asset.name,
            days[-1:],
            lambda asset=asset: [build(store, engine, settings, asset, days[-1]).manifest.rows],
        )
    engine.close()


def first_need(store: Store, day: dt.date, state: Path) -> tuple[Any, ...]:
    """Arguments of a query whose result nobody wants."""
    out = state / "start"
    out.mkdir()
    files = store.paths(store.require("requests", day))
    return "page_views", {"requests": files}, {}, contracts.table("page_views"), out


def made(store: Store, engine: Any, daily: str, day: dt.date) -> int:
    """Rows of a day that has just been made."""
    return build_derived(store, engine, daily, day).manifest.rows


def tell(asset: str, days: list[dt.date], make: Any) -> None:
    """Make an asset and print how it went."""
    began, clock = time.time(), time.monotonic()
    rows = make()
    print(
        json.dumps(
            {
                "asset": asset,
                "rows": sum(rows) if days else 0,
                "seconds": time.monotonic() - clock,
                "began": began,
                "ended": time.time(),
            }
        ),
        flush=True,
    )


def settings_of(state: Path, name: str, cores: int) -> Settings:
    """Both engines with the same cores; Spark within this machine."""
    if name == "duckdb":
        return load_settings(state, engine={"name": name, "threads": cores})
    log = state / "spark-events"
    log.mkdir()
    config = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(cores * 8),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{log}",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.local.dir": str(state / "spark-local"),
    }
    spark = {"master": f"local[{cores}]", "driver_memory": "4g", "config": config}
    return load_settings(state, engine={"name": name}, spark=spark)


def measured(state: Path, name: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """What `work` says, with the largest memory and, of Spark, what its event log says."""
    command = [sys.executable, "-m", "benchmarks.spark_or_duckdb", "--of", str(state)]
    run = subprocess.Popen(
        [*command, "--engines", name, "--cores", str(arguments.cores)],
        stdout=(state / "said").open("wb"),
        stderr=(state / "log").open("wb"),
    )
    samples: list[tuple[float, int]] = []
    end = time.monotonic() + arguments.seconds
    while run.poll() is None and time.monotonic() < end:
        samples.append((time.time(), memory_of(run.pid)))
        time.sleep(_SAMPLED_SECONDS)
    if run.poll() is None:
        print(f"{name} is ended after {arguments.seconds:.0f} s")
        run.terminate()
        run.wait()
    elif run.returncode:
        raise SystemExit((state / "log").read_text("utf-8", "replace")[-3000:])
    said = [json.loads(line) for line in (state / "said").read_text().splitlines()]
    stages = list(stages_of(state / "spark-events")) if name == "spark" else []
    for one in said:
        began, ended = one["began"] - _SAMPLED_SECONDS, one["ended"] + _SAMPLED_SECONDS
        at_that_time = [size for at, size in samples if began <= at <= ended]
        one["memory"] = max(at_that_time, default=0)
        for metric in (_SHUFFLED, _SPILLED):
            one[metric] = sum(
                found.get(metric, 0)
                for at, found in stages
                if one["began"] - 0.001 <= at <= one["ended"] + 0.001
            )
    return said


def memory_of(root: int) -> int:
    """Bytes of a process and all that it started; shared pages are counted once."""
    total, waiting = 0, [root]
    while waiting:
        process = Path(f"/proc/{waiting.pop()}")
        try:
            lines = (process / "smaps_rollup").read_text().splitlines()
            total += next(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
            for task in (process / "task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text().split()]
        except (OSError, StopIteration):
            continue  # it has ended meanwhile
    return total


def stages_of(folder: Path) -> Iterator[tuple[float, dict[str, int]]]:
    """(time of its end, its sums) of every stage in Spark's event log."""
    for path in folder.rglob("*"):
        for line in path.open() if path.is_file() else ():
            if '"SparkListenerStageCompleted"' not in line:
                continue
            stage = json.loads(line)["Stage Info"]
            sums = {
                one["Name"]: int(one["Value"])
                for one in stage.get("Accumulables", ())
                if one.get("Name") in (_SHUFFLED, _SPILLED)
            }
            yield stage["Completion Time"] / 1000, sums


def report(found: dict[str, list[dict[str, Any]]]) -> None:
    """A row for each asset, as a table for docs/spark.md."""
    print("| asset | rows | DuckDB s | MB | Spark s | MB | shuffled MB | spilled MB |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    by_asset: dict[str, dict[str, dict[str, Any]]] = {}
    for name, said in found.items():
        for one in said:
            by_asset.setdefault(one["asset"], {})[name] = one
    for asset, engines in by_asset.items():
        rows = {one["rows"] for one in engines.values()}
        if len(rows) > 1:
            raise SystemExit(f"the engines make different numbers of rows of {asset}: {rows}")
        cells = [asset, f"{rows.pop():,}"]
        for name in _ENGINES:
            one = engines.get(name)
            cells += [f"{one['seconds']:.1f}", f"{one['memory'] / 1e6:,.0f}"] if one else ["", ""]
        spark = engines.get("spark")
        cells += [f"{spark[m] / 1e6:,.1f}" if spark else "" for m in (_SHUFFLED, _SPILLED)]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
