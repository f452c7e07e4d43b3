"""A small corpus through every asset while parts of a Spark cluster die, and over Spark Connect.

Master, workers, server and driver are processes of their own. All of it takes minutes:
`pytest -m spark -n 0 tests/integration/test_spark.py`. That an undisturbed cluster makes what
DuckDB makes is shown by `python -m tests.spark_proof`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from tests.spark_cluster import Cluster, ConnectServer, end
from tests.spark_compare import compare, compare_landing
from tests.spark_run import SMALL, copy_of, installation, make, on_spark, started

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java")
    return installation(tmp_path_factory.mktemp("spark"), SMALL)


@pytest.fixture(scope="module")
def wanted(lines: Path) -> Store:
    """Store of what DuckDB makes."""
    settings = load_settings(copy_of(lines, "on-duckdb"))
    make(settings)
    return Store.open(settings)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path) as actual:
        yield actual


def test_every_asset_is_the_same_over_connect(lines: Path, wanted: Store, tmp_path: Path) -> None:
    state = copy_of(lines, "on-connect")
    with ConnectServer(tmp_path) as server:
        run = started(state, server.url)
        run.communicate()
        assert run.returncode == 0
    assert compare_landing(wanted.state, state) > 0
    compare(wanted, Store.open(on_spark(state, server.url)))


def test_a_worker_that_dies_changes_nothing(lines: Path, wanted: Store, cluster: Cluster) -> None:
    state = copy_of(lines, "worker-dies")
    run = started(state, cluster.url)
    wait_for(run, "published page_totals")
    end(cluster.workers.pop())
    run.communicate()
    assert run.returncode == 0
    compare(wanted, Store.open(on_spark(state, cluster.url)))


def test_a_driver_that_dies_leaves_nothing_half(
    lines: Path, wanted: Store, cluster: Cluster
) -> None:
    state = copy_of(lines, "driver-dies")
    run = started(state, cluster.url)
    wait_for(run, "published page_histories")
    end(run)
    store = Store.open(on_spark(state, cluster.url))
    assert store.damaged(contents=True) == []
    assert compare(wanted, store, partly=True) > 0
    again = started(state, cluster.url)
    again.communicate()
    assert again.returncode == 0
    compare(wanted, store)


def wait_for(run: subprocess.Popen[bytes], words: str) -> None:
    assert run.stdout is not None
    for line in run.stdout:
        if words in line.decode():
            return
    raise AssertionError(f"the run ended before it said {words!r}")
