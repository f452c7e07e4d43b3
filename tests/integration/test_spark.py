"""Every asset of a small corpus on DuckDB and on a real Spark cluster, artifact by artifact.

A master and two workers are processes of their own; workers and drivers are killed. All of it
takes minutes: `pytest -m spark -n 0 tests/integration/test_spark.py`.
"""

from __future__ import annotations

import datetime as dt
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from temporal_assets import contracts
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from tests.spark_cluster import Cluster, end
from tests.spark_run import copy_of, landed, make, on_spark

pytestmark = pytest.mark.spark

RELATIVE = 1e-9
"""Sums of doubles depend on their order in the last digits; everything else is equal."""


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java")
    return landed(tmp_path_factory.mktemp("spark"))


@pytest.fixture(scope="module")
def wanted(lines: Path) -> Store:
    """What DuckDB makes."""
    settings = load_settings(copy_of(lines, "on-duckdb"))
    make(settings)
    return Store.open(settings)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path) as found:
        yield found


def test_every_asset_is_the_same_on_a_cluster(lines: Path, wanted: Store, cluster: Cluster) -> None:
    state = copy_of(lines, "on-spark")
    started(state, cluster.url).communicate()
    compare(wanted, Store.open(on_spark(state, cluster.url)))


def test_a_worker_that_dies_changes_nothing(lines: Path, wanted: Store, cluster: Cluster) -> None:
    state = copy_of(lines, "worker-dies")
    run = started(state, cluster.url)
    wait_for(run, "published page_totals")
    end(cluster.workers.pop())
    run.communicate()
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


def started(state: Path, master: str) -> subprocess.Popen[bytes]:
    """A run of all assets in a process of its own."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.spark_run", str(state), master],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths},
        start_new_session=True,
    )


def wait_for(run: subprocess.Popen[bytes], words: str) -> None:
    assert run.stdout is not None
    for line in run.stdout:
        if words in line.decode():
            return
    raise AssertionError(f"the run ended before it said {words!r}")


def compare(wanted: Store, found: Store, *, partly: bool = False) -> int:
    """Every partition of one store with that of the other; returns how many there are."""
    compared = 0
    for table in contracts.TABLES:
        days = wanted.days(table.name)
        assert days, table.name
        if not partly:
            assert found.days(table.name) == days, table.name
        for day in set(days) & set(found.days(table.name)):
            compare_tables(table.name, day, wanted, found)
            compared += 1
    return compared


def compare_tables(name: str, day: dt.date, wanted: Store, found: Store) -> None:
    ours, theirs = wanted.read(name, day), found.read(name, day)
    where = f"{name} of {day}"
    assert theirs.schema.names == ours.schema.names, where
    assert theirs.schema.types == ours.schema.types, where
    assert [field.nullable for field in theirs.schema] == [field.nullable for field in ours.schema]
    assert len(theirs) == len(ours), where
    for column in ours.schema.names:
        for one, other in zip(values(ours, column), values(theirs, column), strict=True):
            assert same(one, other), f"{where}, {column}: {one!r} and {other!r}"


def values(table: pa.Table, column: str) -> list[Any]:
    found = table.column(column).to_pylist()
    return [neutral(one) if isinstance(one, str) else one for one in found]


def neutral(text: str) -> str:
    """Without what says which engine it was."""
    return re.sub(r"(duckdb|spark) \d+\.\d+\.\d+", "(engine)", text)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=RELATIVE) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)
