"""The pattern assets at scale: from transits of a window to published patterns, graphs and ranks.

    python -m benchmarks.pattern_assets                    # one site of 1.7 million URLs, one core
    python -m benchmarks.pattern_assets --sites 10000      # many small sites, two cores
    python -m benchmarks.pattern_assets --sites 370000 --pages 2    # what a proxy sees
    python -m benchmarks.pattern_assets --scale 10         # a tenth of any

All run through the assets, without Dagster and checks: SQL over Parquet, processes for groups of
sites, published partitions. Every size runs in a process of its own, bound to its cores; peak
memory is that of this process and its children together, looked at twenty times a second. Making
the logs is not timed; compilation, once on a machine, is done before. Beside the elapsed time
stands the processor's, of all processes together: on a busy machine only that says what the program
costs.

The named alternative is os-urlpattern (https://github.com/cfhamlet/os-urlpattern), the only other
public program that makes patterns of URLs, where the command `pattern-make` is found or named by
`--pattern-make`. It knows nothing of users: no traffic, no cuts, no graph, no ranks. It gets the
URLs of the smallest size as a file.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.pattern_tree import LARGEST, SEED, SMALL_PAGES, page_urls
from benchmarks.transits import publish_transits
from benchmarks.window_builds import build
from temporal_assets import contracts
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.patterns.behaviour_graph import BEHAVIOUR_GRAPH
from temporal_assets.windows.patterns.pattern_ranks import PATTERN_RANKS
from temporal_assets.windows.patterns.url_patterns import URL_PATTERNS
from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC

REQUESTS_A_URL: Final = 8_282_845 / 1_699_434
"""Requests for each URL of www.fotocommunity.de, whose log has the most URLs of BB Table 2."""

_DAY: Final = dt.date(2026, 3, 30)
_DAYS: Final = 30
_FILES: Final = 6
_ASSETS: Final = (PAGE_TRAFFIC, URL_PATTERNS, BEHAVIOUR_GRAPH, PATTERN_RANKS)
_CLIENT_SHARE: Final = 0.05
"""Clients, as a share of the requests."""


def main() -> None:
    """Print what every size takes, and what the alternative takes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, default=LARGEST)
    parser.add_argument("--sites", type=int, default=0, help="so many small sites instead")
    parser.add_argument("--pages", type=int, default=SMALL_PAGES, help="median of a small site")
    parser.add_argument("--scale", type=int, default=1, help="divides the sizes")
    parser.add_argument("--pattern-make", help="the command of os-urlpattern")
    parser.add_argument("--one", action="store_true", help="measure here, and say it as JSON")
    given = parser.parse_args()
    cores = 2 if given.sites else 1
    urls, many = given.urls // given.scale, given.sites // given.scale
    if given.one:
        sizes = sizes_of(many, given.pages) if many else [urls]
        print(json.dumps(measure(sizes, cores)))
        return
    steps = (many // 4, many) if many else (urls // 16, urls // 4, urls)
    print(f"{cores} of {os.cpu_count()} cores")
    _apart(["--urls", "3000"] + (["--sites", "4"] if many else []))  # compiles
    measurements = []
    for step in steps:
        name = f"{step:,} sites" if many else "one site"
        size = ["--sites", str(step), "--pages", str(given.pages)]
        measurements.append(_apart(size if many else ["--urls", str(step)]))
        _show(name, measurements[-1])
    growth, work, pages = (
        measurements[-1][name] / measurements[0][name] for name in ("seconds", "processor", "urls")
    )
    print(
        f"{pages:.1f} times the URLs take {growth:.1f} times as long and {work:.1f} times the work"
    )
    command = given.pattern_make or shutil.which("pattern-make")
    if many:
        return
    if command is None:
        print("os-urlpattern is not here (pattern-make)")
        return
    took = _alternative(command, steps[0])
    print(f"os-urlpattern, {steps[0]:,} URLs from a file to patterns: {took:.1f} s, that is "
          f"{took / measurements[0]['seconds']:.1f} times as long")  # fmt: skip


def measure(sizes: list[int], cores: int) -> dict[str, Any]:
    """Make the assets of a window of sites with so many pages, in this process, on some cores."""
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:cores]))
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(folder, engine={"threads": cores})
        store, engine = Store.open(settings), DuckDBEngine(settings)
        count = write(store, sizes)
        seconds = {}
        before = _processor_seconds()
        with Memory() as memory:
            for asset in _ASSETS:
                started = time.perf_counter()
                build(store, engine, settings, asset, _DAY)
                seconds[asset.name] = time.perf_counter() - started
                print(f"{asset.name} {seconds[asset.name]:.1f} s", file=sys.stderr, flush=True)
        patterns = store.read("url_patterns", _DAY)
        lost = sum(status != "learned" for status in patterns["status"].to_pylist())
        children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        return {
            "urls": count,
            "assets": seconds,
            "seconds": sum(seconds.values()),
            "processor": _processor_seconds() - before,
            "peak_mb": memory.peak_mb,
            "child_mb": children,
            "patterns": sum(patterns["is_pattern"].to_pylist()),
            "lost": lost,
        }


def _processor_seconds() -> float:
    """Return processor seconds of this process and of those that it started and that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def sizes_of(sites: int, pages: int) -> list[int]:
    """Pages of small sites: log-normal about `pages`, up to forty times as many."""
    random = np.random.default_rng(SEED)
    sizes = random.lognormal(np.log(pages), 1.0, sites)
    return [int(size) for size in np.maximum(sizes, 1)]


def write(store: Store, sizes: list[int]) -> int:
    """Transits, totals and labels of sites with so many pages; how many URLs there are."""
    random = np.random.default_rng(SEED)
    urls: list[str] = []
    hosts: list[str] = []
    starts = [0]
    for number, pages in enumerate(sizes):
        host = f"portal{number:06}.example"
        # The section pages come first; a site has no more of them than of other pages.
        own = sorted(set(page_urls(pages, host, random)[-2 * pages :]))
        urls += own
        hosts += [host] * len(own)
        starts.append(len(urls))
    bounds = np.array(starts)
    site = np.repeat(np.arange(len(sizes)), np.diff(bounds))
    requests = int(len(urls) * (REQUESTS_A_URL - 1))
    popularity = np.cumsum(random.pareto(1.1, len(urls)) + 0.5)
    target = np.searchsorted(popularity, random.random(requests) * popularity[-1])
    target = np.concatenate((np.arange(len(urls)), target))  # every page was opened
    referrer = _referrers(target, site, bounds, random)
    client = random.integers(0, max(5, int(_CLIENT_SHARE * len(target))), len(target))
    birth = random.integers(0, _DAYS, len(target))
    names, column = pa.array(urls), pa.array(hosts)
    _write_transits(store, names, referrer, target, client)
    first = np.full(len(urls), _DAYS)
    np.minimum.at(first, target, birth)
    begin = np.datetime64(_DAY - dt.timedelta(days=_DAYS - 1))
    totals = {
        "day": pa.array(np.full(len(urls), np.datetime64(_DAY))),
        "site": column,
        "url": names,
        "total": pa.array(np.bincount(target, minlength=len(urls))),
        "birth": pa.array(begin + first),
        "seen": pa.array(np.left_shift(1, first)),
        "number": pa.array(np.arange(len(urls))),
    }
    _publish(store, "page_totals", _DAY, pa.table(totals))
    for name in ("page_labels", "page_flow", "prefix_trees"):  # nothing is known of pages
        _publish(store, name, _DAY, contracts.table(name).arrow_schema.empty_table())
    return len(urls)


def _referrers(
    target: np.ndarray, site: np.ndarray, bounds: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Half come from one of the first pages of the site, a quarter from a page near by."""
    way = random.random(len(target))
    first = bounds[site[target]]
    last = bounds[site[target] + 1] - 1
    front = np.minimum(first + random.integers(0, 8, len(target)), last)
    near = np.minimum(target + random.integers(1, 5, len(target)), last)
    return np.where(way < 0.5, front, np.where(way < 0.75, near, -1))


def _write_transits(
    store: Store, urls: pa.Array, referrer: np.ndarray, target: np.ndarray, client: np.ndarray
) -> None:
    engine = DuckDBEngine(load_settings(store.state))
    order = np.random.default_rng(SEED).permutation(len(target))
    for number, part in enumerate(np.array_split(order, _FILES)):
        day = _DAY - dt.timedelta(days=_FILES - 1 - number)
        source = referrer[part]
        rows = {
            "referrer": urls.take(pa.array(np.maximum(source, 0), mask=source < 0)),
            "target": urls.take(pa.array(target[part])),
            "client": pa.array(client[part]),
        }
        extra = {"missing_days": [], "has_referrers": True}
        publish_transits(store, engine, day, pa.table(rows), extra=extra)


def _publish(store: Store, name: str, day: dt.date, rows: pa.Table) -> None:
    schema = contracts.table(name).arrow_schema
    with store.scratch() as scratch:
        path = scratch / f"{name}.parquet"
        pq.write_table(rows.select(schema.names).cast(schema), path, compression="zstd")
        extra = {"missing_days": [], "has_referrers": True}
        store.publish(name, day, [path], inputs=[], settings_digest="", extra=extra)


class Memory:
    """Peak memory of this process and its children together."""

    def __init__(self) -> None:
        self.peak_mb = 0.0
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch)

    def __enter__(self) -> Memory:
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            resident = sum(map(_resident_mb, _family(os.getpid())))
            self.peak_mb = max(self.peak_mb, resident)


def _family(process: int) -> list[int]:
    """A process and all that it started."""
    processes = [process]
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:  # the thread has ended meanwhile
            continue
        for child in children:
            processes += _family(int(child))
    return processes


def _resident_mb(process: int) -> float:
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except OSError:
        return 0.0
    return int(pages) * resource.getpagesize() / 2**20


def _apart(arguments: list[str]) -> dict[str, Any]:
    """Measure in a new process."""
    command = [sys.executable, "-m", "benchmarks.pattern_assets", "--one", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    measurement: dict[str, Any] = json.loads(done.stdout)
    return measurement


def _show(name: str, measurement: dict[str, Any]) -> None:
    assets = ", ".join(f"{asset} {seconds:.1f}" for asset, seconds in measurement["assets"].items())
    print(
        f"{name:<14}{measurement['urls']:>10,} URLs {measurement['seconds']:7.1f} s ({assets}),"
        f" {measurement['processor']:.1f} s of the processor,"
        f" {measurement['peak_mb']:6,.0f} MB, largest child {measurement['child_mb']:,.0f} MB,"
        f" {measurement['patterns']:,} patterns, {measurement['lost']} sites lost"
    )


def _alternative(command: str, pages: int) -> float:
    """Seconds of os-urlpattern for the URLs of one site."""
    urls = page_urls(pages, "portal00000.example", np.random.default_rng(SEED))
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:1]))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "urls.txt"
        file.write_text("\n".join(sorted(set(urls))) + "\n", "utf-8")
        started = time.perf_counter()
        subprocess.run([*command.split(), "-i", str(file)], stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - started


if __name__ == "__main__":
    main()
