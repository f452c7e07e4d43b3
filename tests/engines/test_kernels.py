"""Kernels on every engine: order, batches, types, errors; the same bytes whatever the threads."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from temporal_assets.contracts import ColumnSpec, Table, Type, passing
from temporal_assets.engines.base import Engine
from temporal_assets.engines.batches import in_order, spill
from temporal_assets.engines.duckdb import ROW_GROUP_ROWS, DuckDBEngine
from temporal_assets.settings import load_settings

RESULT = Table(
    name="result",
    version=1,
    description="Doubled.",
    grain="number",
    columns=(
        ColumnSpec("day", Type.DATE, "Day."),
        ColumnSpec("url", Type.VARCHAR, "Text."),
        ColumnSpec("twice", Type.DOUBLE, "Twice the number; NULL where it is odd.", nullable=True),
        ColumnSpec("views", Type.INTEGERS, "As they came."),
    ),
)
DAY = dt.date(2026, 3, 29)


def numbers(path: Path, first: int, count: int) -> str:
    n = np.arange(first, first + count)
    table = pa.table(
        {
            "n": n,
            "url": pa.array([f"ü{'x' * (i % 7)}{i}" for i in n], pa.string()),
            "views": pa.array([[i, -i] for i in n.tolist()], pa.list_(pa.int32())),
        }
    )
    pq.write_table(table, path)
    return str(path)


def double(batch: pa.RecordBatch) -> pa.RecordBatch:
    n = batch.column("n").to_numpy()
    return pa.RecordBatch.from_arrays(
        [
            pa.repeat(pa.scalar(DAY), len(batch)),
            batch.column("url"),
            pa.array(2.0 * n, mask=n % 2 == 1),
            batch.column("views"),
        ],
        schema=RESULT.arrow_schema,
    )


def test_results_are_in_the_order_of_the_files(engine: Engine, out: Path, tmp_path: Path) -> None:
    files = [numbers(tmp_path / "b.parquet", 0, 5), numbers(tmp_path / "a.parquet", 5, 4)]
    results = engine.apply(double, {"numbers": files}, RESULT, out, 2)
    assert sorted(out.iterdir()) == sorted(results)
    assert pq.read_table(results).to_pylist() == [
        {
            "day": DAY,
            "url": f"ü{'x' * (n % 7)}{n}",
            "twice": None if n % 2 else 2.0 * n,
            "views": [n, -n],
        }
        for n in range(9)
    ]


def test_what_passes_is_the_same_and_every_engine_reads_it(
    engine: Engine, out: Path, tmp_path: Path
) -> None:
    files = [numbers(tmp_path / "a.parquet", 0, 300)]
    kept = engine.apply(double, {"numbers": files}, RESULT, out, 100)
    table = passing("passing", *RESULT.columns)
    duckdb = DuckDBEngine(load_settings(tmp_path / "state"))
    actual = {"apply": duckdb.apply(double, {"numbers": files}, table, tmp_path, 100)}
    asked = passing("asked", *RESULT.columns)
    actual["write"] = duckdb.write(pq.read_table(actual["apply"]), asked, tmp_path)
    assert not list(tmp_path.glob("*.spilled"))
    for way, paths in actual.items():
        column = pq.read_metadata(paths[0]).row_group(0).column(1)
        assert column.compression == "LZ4", way
        query = "SELECT * FROM t ORDER BY twice, url"
        files_of = [str(path) for path in paths]
        assert engine.rows(query, {"t": files_of}) == engine.rows(
            query, {"t": [str(path) for path in kept]}
        ), way


def test_an_empty_table_gives_an_empty_table(engine: Engine, out: Path, tmp_path: Path) -> None:
    files = engine.apply(
        double, {"numbers": [numbers(tmp_path / "a.parquet", 0, 0)]}, RESULT, out, 10
    )
    table = pq.read_table(files)
    assert (len(table), table.schema.names) == (0, RESULT.arrow_schema.names)


def test_a_few_batches_are_in_memory_whatever_the_rows(tmp_path: Path) -> None:
    """Forty batches of 0.8 MB go through kernel and spilled file; six are there at most."""
    rows, batches, threads = 100_000, 40, 2
    schema = pa.schema([("n", pa.int64())])
    before, most = pa.total_allocated_bytes(), 0

    def source() -> Iterator[pa.RecordBatch]:
        nonlocal most
        for n in range(batches):
            most = max(most, pa.total_allocated_bytes() - before)
            yield pa.RecordBatch.from_arrays([pa.repeat(n, rows)], schema=schema)

    path = tmp_path / "spilled"
    spill(in_order(lambda batch: batch, source(), threads), schema, path, 2 * rows)
    # Two in threads, one handed on, two that wait for a group to be whole, one being made.
    assert 0 < most <= 6 * 8 * rows
    groups = pq.ParquetFile(path).metadata
    assert [groups.row_group(n).num_rows for n in range(20)] == [2 * rows] * 20


def test_bytes_depend_on_neither_threads_nor_batches(tmp_path: Path) -> None:
    rows = 2 * ROW_GROUP_ROWS + 17
    files = [numbers(tmp_path / "a.parquet", 0, rows)]
    contents = set()
    for threads, batch in ((1, 4096), (3, 4096), (3, 100_000), (2, rows)):
        folder = tmp_path / f"{threads}-{batch}"
        folder.mkdir()
        engine = DuckDBEngine(load_settings(folder, engine={"threads": threads}))
        (path,) = engine.apply(double, {"numbers": files}, RESULT, folder, batch)
        contents.add(path.read_bytes())
        assert pc.sum(pq.read_table(path)["twice"]).as_py() == float(
            sum(2 * n for n in range(0, rows, 2))
        )
        engine.close()
    assert len(contents) == 1


def test_rows_that_a_query_writes_alike_are_the_same_file(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from temporal_assets.engines import duckdb
    from temporal_assets.engines.sql import SqlFile

    text = (
        "SELECT DATE '2026-03-29' AS day, url,"
        " CASE WHEN n % 2 = 0 THEN 2.0 * n END AS twice, views FROM numbers ORDER BY n"
    )
    file = SqlFile("double", text, frozenset({"numbers"}), frozenset())
    monkeypatch.setattr(duckdb, "sql_file", lambda _: file)
    engine = DuckDBEngine(load_settings(tmp_path))
    inputs = {"numbers": [numbers(tmp_path / "a.parquet", 0, 5000)]}
    (applied,) = engine.apply(double, inputs, RESULT, out, 1000)
    first = applied.read_bytes()
    (queried,) = engine.query("double", inputs, {}, RESULT, out)
    assert queried.read_bytes() == first
    rows = pq.read_table(queried)
    (written,) = engine.write(rows, RESULT, out)
    assert written.read_bytes() == first


@pytest.mark.parametrize("count", [0, 9])
def test_rows_of_this_process_are_written_as_they_lie(
    engine: Engine, out: Path, tmp_path: Path, count: int
) -> None:
    source = pq.read_table(numbers(tmp_path / "a.parquet", 0, count)).combine_chunks()
    parts = [double(batch) for batch in source.to_batches(max_chunksize=4)]
    rows = pa.Table.from_batches(parts, RESULT.arrow_schema)
    actual = engine.write(rows, RESULT, out)
    assert sorted(out.iterdir()) == sorted(actual)
    assert pq.read_table(actual).to_pylist() == rows.to_pylist()


@pytest.mark.parametrize("batch_rows", [1000, ROW_GROUP_ROWS - 1, 3 * ROW_GROUP_ROWS])
def test_rows_that_are_put_together_meanwhile_are_the_same_file(
    out: Path, tmp_path: Path, batch_rows: int
) -> None:
    source = pq.read_table(numbers(tmp_path / "a.parquet", 0, 2 * ROW_GROUP_ROWS + 17))
    rows = pa.Table.from_batches(
        [double(batch) for batch in source.to_batches()], RESULT.arrow_schema
    )
    engine = DuckDBEngine(load_settings(tmp_path))
    (written,) = engine.write(rows.combine_chunks(), RESULT, out)
    whole = written.read_bytes()
    batches = rows.combine_chunks().to_batches(max_chunksize=batch_rows)
    reader = pa.RecordBatchReader.from_batches(rows.schema, iter(batches))
    (written,) = engine.write(reader, RESULT, out)
    assert written.read_bytes() == whole
    engine.close()


def test_an_error_while_rows_are_put_together_is_no_file(
    engine: Engine, out: Path, tmp_path: Path
) -> None:
    source = pq.read_table(numbers(tmp_path / "a.parquet", 0, 9))

    def failing() -> Iterator[pa.RecordBatch]:
        yield from (double(batch) for batch in source.to_batches())
        raise ArithmeticError("this is too much")

    reader = pa.RecordBatchReader.from_batches(RESULT.arrow_schema, failing())
    with pytest.raises(ArithmeticError, match="this is too much"):
        engine.write(reader, RESULT, out)


def test_an_error_in_a_kernel_is_the_callers(engine: Engine, out: Path, tmp_path: Path) -> None:
    def fail(batch: pa.RecordBatch) -> pa.RecordBatch:
        raise ArithmeticError(f"{len(batch)} rows are too many")

    files = [numbers(tmp_path / "a.parquet", 0, 3)]
    with pytest.raises(Exception, match="3 rows are too many"):
        engine.apply(fail, {"numbers": files}, RESULT, out, 10)
