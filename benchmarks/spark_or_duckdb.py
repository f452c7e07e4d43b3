"""All assets by DuckDB and by Spark on this machine, from the log files of a million requests on.

    python -m benchmarks.spark_or_duckdb [--requests 1000000] [--days 10] [--cores 2]
        [--one-task 0] [--only page_traffic hub_seeds]

Log files are made (`spark_traffic`), and each engine reads them in a process with its own copy and
makes every asset of the pipeline from them: reading and the daily assets for all days, window
assets in the order of the registry for one window. Both have the same cores. Shown are the stored
bytes that an asset is made from (the larger of both engines), seconds, seconds of processor time
(which other work on the machine changes less), the largest memory of the processes (proportional
set size, sampled), and the bytes that Spark shuffles (its event log,
compressed as they are written) and rereads from disk because they did not fit. Numbers of rows of
both engines are compared. Without Dagster and checks. Run it with few requests first: loops are
compiled when they are first called, and kept.
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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.spark_traffic import write_traffic
from temporal_assets import contracts
from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.engines.base import Engine
from temporal_assets.engines.engine_choice import engine_of
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.logs.privacy.pseudonyms import KeyRing
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import WindowAsset, build
from temporal_assets.windows.policy.crawl_policy import CRAWL_POLICY
from temporal_assets.windows.policy.released_policy import release_policy
from temporal_assets.windows.registry import WINDOW_ASSETS

_ENGINES = ("duckdb", "spark")
_ALL = "all"
_LEAST_KEPT = 0.99
"""Least share of lines kept, or cleaning takes readers for robots."""

_SAMPLED_SECONDS = 0.3
_SHUFFLED = "internal.metrics.shuffle.write.bytesWritten"
_SPILLED = "internal.metrics.diskBytesSpilled"
_COUNTED = (_SHUFFLED, _SPILLED)


def main() -> None:
    """Print a table for one number of requests."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--days", type=int, default=10)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=14_400, help="an engine has, then it ends")
    parser.add_argument(
        "--one-task", type=int, help="megabytes that are one task on Spark; 0: its own SQL"
    )
    parser.add_argument("--engines", nargs="*", default=_ENGINES, choices=_ENGINES)
    parser.add_argument("--only", nargs="*", default=(), help="assets; DuckDB makes the others")
    parser.add_argument("--of", type=Path, help=argparse.SUPPRESS)  # the work of one engine
    arguments = parser.parse_args()
    if arguments.of:
        work(arguments.of, arguments.engines[0], arguments)
        return
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        state = Path(folder) / "prepared"
        size = write_traffic(state, arguments.requests, arguments.days)
        KeyRing(state / "secrets", 0).key(0)  # for both
        print(
            f"{arguments.requests:,} requests of {arguments.days} days,"
            f" {size / 1e6:,.0f} MB of log files; {arguments.cores} cores",
            flush=True,
        )
        stages_by_engine = {}
        for name in arguments.engines:
            own = shutil.copytree(state, Path(folder) / name, copy_function=os.link)
            stages_by_engine[name] = measured(own, name, arguments)
        report(stages_by_engine)


@dataclass(frozen=True)
class Made:
    """Rows of a partition, and bytes of the files it was made from, as they are stored."""

    rows: int
    read: int


def work(state: Path, name: str, arguments: argparse.Namespace) -> None:
    """Make everything with one engine, or only some assets, and say on a line each when and how."""
    settings = settings_of(state, name, arguments.cores, arguments.one_task)
    store, engine = Store.open(settings), engine_of(settings)
    only = arguments.only
    other = engine_of(settings_of(state, "duckdb", arguments.cores, None)) if only else engine

    def engine_for(asset: str) -> Engine:
        return engine if not only or asset in only else other

    # What starts with the first need is no part of the first asset.
    tell("start", lambda: start(engine, state))
    lines = tell("reading logs", lambda: read(settings, engine_for("reading logs")))
    inventory = Inventory.load(settings)
    days = inventory.days()
    kept = tell(
        "requests, rejects",
        lambda: [
            requests_of(store, engine_for("requests"), settings, day, inventory) for day in days
        ],
    )
    if kept < _LEAST_KEPT * lines:
        raise SystemExit(f"of {lines:,} lines {kept:,} are kept")
    for daily in DERIVED:
        tell(
            daily,
            lambda daily=daily: [
                made(store, build_derived(store, engine_for(daily), daily, day).manifest)
                for day in days
            ],
        )
    for asset in WINDOW_ASSETS:
        used = engine_for(asset.name)
        tell(
            asset.name,
            lambda asset=asset, used=used: [window(store, used, settings, asset, days[-1])],
        )
    engine.close()


def start(engine: Engine, state: Path) -> Sequence[Made]:
    """A query of nothing, whose result nobody wants."""
    out = state / "start"
    out.mkdir()
    pq.write_table(contracts.REQUESTS.arrow_schema.empty_table(), out / "none.parquet")
    inputs = {"requests": [str(out / "none.parquet")]}
    engine.query("page_views", inputs, {}, contracts.table("page_views"), out)
    return []


def read(settings: Settings, engine: Engine) -> Sequence[Made]:
    """The log files, each with its lines."""
    report = refresh(settings, spread=engine.spread)
    if report.failed:
        raise SystemExit(f"{report.failed[0].name}: {report.failed[0].error}")
    return [Made(file.lines, file.sightings[0].size) for file in report.landed]


def requests_of(
    store: Store, engine: Engine, settings: Settings, day: dt.date, inventory: Inventory
) -> Made:
    """Requests, and the lines that are none, of what was read."""
    rows = build_requests(store, engine, settings, day, inventory).requests.manifest.rows
    segments = [path for file in inventory.of_day(day) for path in inventory.segments(file, day)]
    return Made(rows, sum(Path(path).stat().st_size for path in segments))


def window(
    store: Store, engine: Engine, settings: Settings, asset: WindowAsset, day: dt.date
) -> Made:
    """A window asset, as if it had passed its checks."""
    manifest = build(store, engine, settings, asset, day).manifest
    if asset is CRAWL_POLICY:
        release_policy(store, settings, manifest)
    return made(store, manifest)


def made(store: Store, manifest: Manifest) -> Made:
    """A partition, with the bytes of what it was made from."""
    size = 0
    for source in manifest.inputs:
        asset, _, day = source.name.partition("/day=")
        size += store.require(asset, dt.date.fromisoformat(day) if day else manifest.day).size
    return Made(manifest.rows, size)


def tell(asset: str, make: Callable[[], Sequence[Made]]) -> int:
    """Make an asset, print how it went and return its rows."""
    began, clock = time.time(), time.monotonic()
    parts = make()
    row = {
        "asset": asset,
        "rows": sum(part.rows for part in parts),
        "read": sum(part.read for part in parts),
        "seconds": time.monotonic() - clock,
        "began": began,
        "ended": time.time(),
    }
    print(json.dumps(row), flush=True)
    return row["rows"]


def settings_of(state: Path, name: str, cores: int, one_task: int | None) -> Settings:
    """Both engines with the same cores; Spark within this machine."""
    both: dict[str, Any] = {"engine": {"name": name, "threads": cores}}
    if name == "duckdb":
        return load_settings(state, **both)
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
    spark = {"master": f"local[{cores}]", "config": config | {"spark.driver.memory": "4g"}}
    settings = load_settings(state, spark=spark, **both)
    if one_task is None:
        return settings
    own = settings.spark.model_copy(update={"one_task_megabytes": one_task})
    return settings.model_copy(update={"spark": own})


def measured(state: Path, name: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the report of `work`, with the largest memory and facts of Spark's event log."""
    command = [sys.executable, "-m", "benchmarks.spark_or_duckdb", "--of", str(state)]
    small = [] if arguments.one_task is None else ["--one-task", str(arguments.one_task)]
    only = ["--only", *arguments.only] if arguments.only else []
    run = subprocess.Popen(
        [*command, "--engines", name, "--cores", str(arguments.cores), *small, *only],
        stdout=(state / "said").open("wb"),
        stderr=(state / "log").open("wb"),
    )
    samples: list[tuple[float, int, float]] = []
    end = time.monotonic() + arguments.seconds
    while run.poll() is None and time.monotonic() < end:
        samples.append((time.time(), *used_by(run.pid)))
        time.sleep(_SAMPLED_SECONDS)
    if run.poll() is None:
        print(f"{name} is ended after {arguments.seconds:.0f} s")
        run.terminate()
        run.wait()
    elif run.returncode:
        raise SystemExit((state / "log").read_text("utf-8", "replace")[-3000:])
    rows = [json.loads(line) for line in (state / "said").read_text().splitlines()]
    stages = list(stages_of(state / "spark-events")) if name == "spark" else []
    for row in rows:
        began, ended = row["began"] - _SAMPLED_SECONDS, row["ended"] + _SAMPLED_SECONDS
        at_that_time = [sample for sample in samples if began <= sample[0] <= ended]
        row["memory"] = max((memory for _, memory, _ in at_that_time), default=0)
        used = [seconds for _, _, seconds in at_that_time]
        row["processor"] = max(used) - min(used) if used else 0.0
        for metric in _COUNTED:
            row[metric] = sum(
                stage.get(metric, 0)
                for at, stage in stages
                if row["began"] - 0.001 <= at <= row["ended"] + 0.001
            )
    return rows


def used_by(root: int) -> tuple[int, float]:
    """Bytes and processor seconds of a process and all that it started.

    Shared pages are counted once. The seconds of a process that has ended are its parent's.
    """
    memory, ticks, waiting = 0, 0, [root]
    while waiting:
        process = Path(f"/proc/{waiting.pop()}")
        try:
            lines = (process / "smaps_rollup").read_text().splitlines()
            memory += next(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
            # Behind the name, which may hold blanks: user, system, and both of ended children.
            ticks += sum(map(int, (process / "stat").read_text().rpartition(")")[2].split()[11:15]))
            for task in (process / "task").iterdir():
                children = (task / "children").read_text().split()
                waiting += [int(child) for child in children if not is_twice(process, child)]
        except (OSError, StopIteration):
            continue  # it has ended meanwhile
    return memory, ticks / os.sysconf("SC_CLK_TCK")


def is_twice(process: Path, child: str) -> bool:
    """Return whether a child is Java that starts a program: the same memory again, for a moment."""
    program = (process / "exe").readlink()
    return program.name == "java" and (process.parent / child / "exe").readlink() == program


def stages_of(folder: Path) -> Iterator[tuple[float, dict[str, int]]]:
    """(time of its end, its sums) of every stage in Spark's event log."""
    for path in folder.rglob("*"):
        for line in path.open() if path.is_file() else ():
            if '"SparkListenerStageCompleted"' not in line:
                continue
            stage = json.loads(line)["Stage Info"]
            sums = {
                sum_of_tasks["Name"]: int(sum_of_tasks["Value"])
                for sum_of_tasks in stage.get("Accumulables", ())
                if sum_of_tasks.get("Name") in _COUNTED
            }
            yield stage["Completion Time"] / 1000, sums


def report(rows_by_engine: dict[str, list[dict[str, Any]]]) -> None:
    """A row for each asset and one for all, as a table for docs/spark.md."""
    engine = "{0} s | processor s | MB"
    print(
        f"| asset | rows | of MB | {engine.format('DuckDB')} | {engine.format('Spark')}"
        " | shuffled MB | spilled MB |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    by_asset: dict[str, dict[str, dict[str, Any]]] = {}
    for name, said in rows_by_engine.items():
        for one in [*said, all_of(said)]:
            by_asset.setdefault(one["asset"], {})[name] = one
    for asset, engines in by_asset.items():
        rows = {engine["rows"] for engine in engines.values()}
        if len(rows) > 1 and asset != _ALL:  # an engine may have been ended before its last asset
            raise SystemExit(f"the engines make different numbers of rows of {asset}: {rows}")
        read = max(engine["read"] for engine in engines.values())
        cells = [_ALL, "", ""] if asset == _ALL else [asset, f"{rows.pop():,}", megabytes(read)]
        for name in _ENGINES:
            one = engines.get(name)
            cells += (
                [
                    f"{one['seconds']:.1f}",
                    f"{one['processor']:.1f}",
                    megabytes(one["memory"], 0),
                ]
                if one
                else ["", "", ""]
            )
        spark = engines.get("spark")
        cells += [megabytes(spark[metric]) if spark else "" for metric in _COUNTED]
        print("| " + " | ".join(cells) + " |")


def megabytes(size: int, digits: int = 1) -> str:
    """Return bytes as megabytes."""
    return f"{size / 1e6:,.{digits}f}"


def all_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Sums, and the largest memory."""
    summed = ("rows", "read", "seconds", "processor", *_COUNTED)
    sums = {name: sum(row[name] for row in rows) for name in summed}
    return {"asset": _ALL, "memory": max((row["memory"] for row in rows), default=0), **sums}


if __name__ == "__main__":
    main()
