"""An engine that asks two, and fails where their answers differ.

DuckDB makes everything; its queries and questions are asked of Spark as well. So whatever works
with an engine can be run with this one to see that Spark would have told it the same. Not here:
kernels, which are the same code on both.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import sqlglot

from temporal_assets.contracts import Table
from temporal_assets.engines.base import Engine, Inputs
from tests.spark_compare import RELATIVE

Row = dict[str, Any]

_ALL = 1_000_000

_UNORDERED = frozenset({"crawl_triples"})
"""Queries whose rows are in no order, or in that of hashes: others take them together."""


class BothEngines:
    """DuckDB, whose questions Spark is asked, too."""

    spread = None

    def __init__(self, duckdb: Engine, spark: Engine) -> None:
        self.name = duckdb.name
        self.duckdb, self.spark = duckdb, spark
        self.asked: list[str] = []
        """Every question that both have answered alike."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.duckdb, name)

    def query(
        self, sql: str, inputs: Inputs, parameters: Mapping[str, Any], table: Table, out: Path
    ) -> list[Path]:
        files = self.duckdb.query(sql, inputs, parameters, table, out)
        with TemporaryDirectory(dir=out) as folder:
            given = _without_lz4(inputs, Path(folder))
            rows = self.spark.query(sql, given, parameters, table, Path(folder) / "made")
            ours, theirs = (pq.read_table(paths, memory_map=False) for paths in (files, rows))
        assert ours.schema.equals(theirs.schema), sql
        both = ours.to_pylist(), theirs.to_pylist()
        if sql in _UNORDERED:
            both = sorted(both[0], key=repr), sorted(both[1], key=repr)
        assert alike(*both), difference(sql, *both)
        return files

    def rows(self, query: str, inputs: Inputs, limit: int = 1000) -> list[Row]:
        ours = self.duckdb.rows(query, inputs, limit)
        tree = sqlglot.parse_one(query, read="duckdb")
        if tree.args.get("order") is not None:
            theirs = self.spark.rows(query, inputs, limit)
            assert alike(ours, theirs), difference(query, ours, theirs)
        else:
            # Which rows are the first is not said: all are compared.
            every = self.duckdb.rows(query, inputs, _ALL) if len(ours) == limit else ours
            theirs = self.spark.rows(query, inputs, _ALL)
            some = sorted(every, key=repr), sorted(theirs, key=repr)
            assert alike(*some), difference(query, *some)
        self.asked.append(query)
        return ours


def _without_lz4(inputs: Inputs, folder: Path) -> dict[str, list[str]]:
    """Copies of files that one machine makes for itself: Spark fails where it looks for a value
    among those of a dictionary that is packed with LZ4."""
    (folder / "made").mkdir()
    given = {}
    for name, paths in inputs.items():
        given[name] = [str(path) for path in paths]
        for at, path in enumerate(given[name]):
            if _is_lz4(path):
                given[name][at] = str(folder / f"{name}-{at}.parquet")
                pq.write_table(pq.read_table(path, memory_map=False), given[name][at])
    return given


def _is_lz4(path: str) -> bool:
    metadata = pq.read_metadata(path)
    groups = (metadata.row_group(at) for at in range(metadata.num_row_groups))
    return any("LZ4" in group.column(0).compression for group in groups)


def alike(one: Any, other: Any) -> bool:
    """Equal, types and all; floats but for their last digits."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        both_nan = math.isnan(one) and math.isnan(other)
        return both_nan or math.isclose(one, other, rel_tol=RELATIVE)
    if isinstance(one, dict):
        return list(one) == list(other) and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dt.datetime) and one.tzinfo is not None:
        return False
    return bool(one == other)


def difference(query: str, ours: list[Row], theirs: list[Row]) -> str:
    """The first rows that differ."""
    pairs = zip(ours, theirs, strict=False)
    first = next((pair for pair in pairs if not alike(*pair)), "none of the first rows")
    return f"{query}\n{len(ours)} rows on DuckDB, {len(theirs)} on Spark; first: {first}"
