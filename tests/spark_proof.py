"""The proof that a real cluster makes what DuckDB makes, small enough for every change:

    python -m tests.spark_proof [--whole]

A master and two workers, each a process, read the logs of a very small corpus and make every asset;
DuckDB does the same beside them; the artifacts are compared one by one. Not here: workers and
drivers that die (`tests/integration/test_spark.py`), which takes minutes more.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory
from threading import Thread

from temporal_assets import contracts
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from tests.spark_cluster import Cluster, end
from tests.spark_compare import compare, compare_landing
from tests.spark_run import SMALL, WHOLE, Corpus, copy_of, installation, on_spark, started


def prove(root: Path, corpus: Corpus) -> None:
    """Raises `AssertionError` where the engines differ."""
    begun = time.monotonic()
    prepared = installation(root, corpus)
    ours, theirs = copy_of(prepared, "on-duckdb"), copy_of(prepared, "on-spark")
    with Cluster(root) as cluster:
        follow({"duckdb": started(ours), "spark": started(theirs, cluster.url)})
        wanted = Store.open(load_settings(ours))
        files = compare_landing(ours, theirs)
        partitions = compare(wanted, Store.open(on_spark(theirs, cluster.url)))
    empty = [table.name for table in contracts.TABLES if not rows(wanted, table.name)]
    assert corpus is not SMALL or not empty, f"{empty} are empty, so nothing was compared"
    print(
        f"{files} files of the landing zone and {partitions} partitions of"
        f" {len(contracts.TABLES)} tables are the same on both engines;"
        f" {time.monotonic() - begun:.0f} s. Without rows: {', '.join(empty) or 'none'}"
    )


def follow(runs: dict[str, Popen[bytes]]) -> None:
    """Show what both say, and fail with either."""
    threads = [Thread(target=show, args=(name, run)) for name, run in runs.items()]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        failed = [name for name, run in runs.items() if run.wait()]
    finally:
        for run in runs.values():
            end(run)
    assert not failed, f"{failed} did not end well"


def show(name: str, run: Popen[bytes]) -> None:
    assert run.stdout is not None
    for line in run.stdout:
        print(f"{name:>7} {line.decode().rstrip()}", flush=True)


def rows(store: Store, table: str) -> int:
    manifests = (store.manifest(table, day) for day in store.days(table))
    return sum(manifest.rows for manifest in manifests if manifest is not None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--whole", action="store_true", help="a larger corpus, for minutes more")
    corpus = WHOLE if parser.parse_args().whole else SMALL
    # Whoever ends this ends the cluster with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    with TemporaryDirectory(prefix="temporal-assets-spark-") as folder:
        prove(Path(folder), corpus)


if __name__ == "__main__":
    main()
