"""Comparison of two installations, one made by DuckDB and one by Spark.

Here: the comparison. Not here: making anything (`spark_run`).
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.storage.store import Store

RELATIVE = 1e-9
"""Sums of doubles depend on their order in the last digits; everything else is equal."""


def compare_landing(wanted: Path, actual: Path) -> int:
    """Rows of the segments, and records, of two state folders; returns how many files.

    Their bytes may differ, on one engine, too: threads share what they have learned of URLs, and
    the order in which they learn it is that of the dictionaries in the files.
    """
    ours, theirs = (files_of(state / "landing") for state in (wanted, actual))
    assert ours, wanted
    assert sorted(theirs) == sorted(ours)
    for name, path in ours.items():
        assert content_of(theirs[name]) == content_of(path), name
    return len(ours)


def files_of(folder: Path) -> dict[str, Path]:
    """Return files by their place in the folder, but for locks."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]
    return {str(path.relative_to(folder)): path for path in paths}


def content_of(path: Path) -> Any:
    """The rows of a segment; a record without the digests of bytes."""
    if path.suffix == ".parquet":
        return pq.read_table(path)
    record = json.loads(path.read_text("utf-8"))
    del record["record_digest"]
    for share in record["days"].values():
        assert len(share.pop("digests")) == len(share["segments"])
    return record


def compare(wanted: Store, actual: Store, *, partly: bool = False) -> int:
    """Every partition of one store with that of the other; returns how many there are."""
    compared = 0
    for table in contracts.TABLES:
        days = wanted.days(table.name)
        assert days, table.name
        if not partly:
            assert actual.days(table.name) == days, table.name
        for day in set(days) & set(actual.days(table.name)):
            compare_tables(table.name, day, wanted, actual)
            compared += 1
    return compared


def compare_tables(name: str, day: dt.date, wanted: Store, actual: Store) -> None:
    ours, theirs = wanted.read(name, day), actual.read(name, day)
    where = f"{name} of {day}"
    assert theirs.schema.names == ours.schema.names, where
    assert theirs.schema.types == ours.schema.types, where
    assert [field.nullable for field in theirs.schema] == [field.nullable for field in ours.schema]
    assert len(theirs) == len(ours), where
    for column in ours.schema.names:
        for one, other in zip(values(ours, column), values(theirs, column), strict=True):
            assert same(one, other), f"{where}, {column}: {one!r} and {other!r}"


def values(table: pa.Table, column: str) -> list[Any]:
    rows = table.column(column).to_pylist()
    return [neutral(row) if isinstance(row, str) else row for row in rows]


def neutral(text: str) -> str:
    """Without what says which engine it was."""
    return re.sub(r"(duckdb|spark) \d+\.\d+\.\d+", "(engine)", text)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=RELATIVE) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)
