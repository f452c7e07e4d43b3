"""Statements about little on Spark: one task each, which DuckDB runs on an executor."""

from __future__ import annotations

import datetime as dt
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets import contracts
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.engines.spark import spark
from temporal_assets.engines.spark.spark import SparkEngine
from temporal_assets.settings import load_settings
from temporal_assets.settings.operation import Spark


def requests(folder: Path) -> list[str]:
    """Write requests of a day, with equal ones and without referrers."""
    moment = dt.datetime(2026, 3, 2, 8)
    rows = [
        {
            "day": moment.date(),
            "ts": moment,
            "client": n % 4,
            "url": f"https://example.com/{n % 3}",
            "referrer": None,
            "site": "example.com",
        }
        for n in range(12)
    ]
    path = folder / "requests.parquet"
    pq.write_table(pa.Table.from_pylist(rows, contracts.REQUESTS.arrow_schema), path)
    return [str(path)]


def test_a_statement_about_little_is_one_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named: list[str] = []

    def here(_: SparkEngine, name: str, function: Any, items: Any) -> Iterator[Any]:
        named.append(name)
        function, items = pickle.loads(pickle.dumps((function, items)))  # noqa: S301 - our own
        yield from map(function, items)

    monkeypatch.setattr(SparkEngine, "on_executors", here)
    settings = load_settings(tmp_path, engine={"name": "spark"})
    inputs, table = {"requests": requests(tmp_path)}, contracts.table("page_views")
    files = []
    for name, engine in (("spark", SparkEngine(settings)), ("duckdb", DuckDBEngine(settings))):
        out = tmp_path / name
        out.mkdir()
        files.append(engine.query("page_views", inputs, {}, table, out))
        engine.close()
    assert named == ["page_views.sql in one task"]
    assert files[0] == [tmp_path / "spark" / "page_views.parquet"]
    assert files[0][0].read_bytes() == files[1][0].read_bytes()
    assert [path.name for path in (tmp_path / "spark").iterdir() if path.is_file()] == [
        "page_views.parquet"
    ]


def test_other_statements_are_left_to_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = requests(tmp_path)
    cluster = {"master": "spark://host:7077"}
    small = SparkEngine(load_settings(tmp_path, engine={"name": "spark"}, spark=cluster))
    assert not small._is_small({"requests": [*paths, "s3://bucket/requests.parquet"]})
    assert small._is_small({"requests": paths})
    monkeypatch.setattr(spark, "bytes_of", lambda _: 257_000_000)
    assert not small._is_small({"requests": paths})


def test_on_one_machine_every_statement_about_files_is_one_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cores are those of the one executor, on which Spark's own statement takes longer."""
    paths = requests(tmp_path)
    local = SparkEngine(load_settings(tmp_path, engine={"name": "spark"}))
    monkeypatch.setattr(spark, "bytes_of", lambda _: 10**12)
    assert local._is_small({"requests": paths})
    assert not local._is_small({"requests": [*paths, "s3://bucket/requests.parquet"]})
    monkeypatch.setattr(Spark, "one_task_megabytes", 0)
    assert not local._is_small({"requests": paths})


@pytest.mark.parametrize(
    ("master", "config", "threads"),
    [
        ("local[3]", {}, 3),
        ("local", {}, 1),
        ("spark://host:7077", {}, 1),
        ("yarn", {"spark.executor.cores": "4"}, 4),
    ],
)
def test_a_task_has_the_threads_of_its_executor(
    master: str, config: dict[str, str], threads: int
) -> None:
    assert Spark.model_construct(master=master, config=config).task_threads == threads
