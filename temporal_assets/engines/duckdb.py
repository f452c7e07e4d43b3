"""The DuckDB engine: in this process, with a memory limit, spilling to the state folder.

In: names of statements, paths of Parquet files, kernels. Out: paths of new Parquet files, sorted
and typed by the contract of their table, or rows of small questions. Not here: the text of
statements (`sql`), kernels on groups of rows (`groups`), publishing (`storage`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa

from temporal_assets.contracts import Table, Type
from temporal_assets.engines.base import (
    GroupKernel,
    GroupLimits,
    Inputs,
    Kernel,
    Rows,
    Spread,
    Statement,
)
from temporal_assets.engines.batches import even, in_order, spill
from temporal_assets.engines.groups import in_groups, parcels
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.engines.sql import literal, sql_file
from temporal_assets.engines.sql_each import SET, for_each
from temporal_assets.machine.filesystems import filesystem
from temporal_assets.machine.object_cache import CachedObjects
from temporal_assets.machine.scratch import scratch_folder
from temporal_assets.settings import Settings

ROW_GROUP_ROWS = 122_880
"""Rows of a row group: DuckDB's own unit of work for one thread and step."""

_SMALL: Final = "COMPRESSION zstd, COMPRESSION_LEVEL 1"
_NUMBERED: Final = f"{_SMALL}, PARQUET_VERSION v2"
"""Options of Parquet for tables of numbers: ascending numbers are small, lists compress in half the
time."""
_FAST: Final = "COMPRESSION snappy, PARQUET_VERSION v2"
"""Options of Parquet for fast reading: lengths are apart from the strings, and there is less to
unpack. Reading takes two thirds of the time or less, and files are half as large again."""
_PASSING: Final = "COMPRESSION lz4_raw, PARQUET_VERSION v2"
"""Options of Parquet for passing tables: hardly compressed."""
_FEW_VALUES: Final = "DICTIONARY_SIZE_LIMIT 8192"
"""Option for tables in which no URL occurs twice: the database gives up sooner looking for a
dictionary. Sites with 15 pages on average, or more, still get one."""
_FEWER_ROWS: Final = ROW_GROUP_ROWS // 4
"""Rows of a row group of tables with wide rows: a group is one thread's work, and of few rows, too,
there should be some groups for each thread."""

_MOST_JOINED: Final = 1 << 31
"""Bytes of a column of strings that Arrow can hold in one chunk; longer ones make other row
groups."""

_ALL: Final = "1TB"
"""Bytes, more than are ever freed at once."""

_registering: Final = Lock()

_SPILLED: Final = "spilled"
"""Name of the view of a kernel's results before they are written to the final file."""


class DuckDBEngine:
    """The default engine. One database, so that one limit holds for all its calls.

    Opening a database takes as long as a small day; every call has a session of its own in it, so
    nothing leaks between calls. `close` is optional: what a process leaves behind is removed by the
    next one.
    """

    name = "duckdb"
    spread: Spread | None = None

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._opening = Lock()
        self._database: duckdb.DuckDBPyConnection | None = None
        self._resources = ExitStack()

    def query(
        self, sql: str, inputs: Inputs, parameters: Mapping[str, Any], table: Table, out: Path
    ) -> list[Path]:
        """Run `Engine.query` and write one file, in the order of the query."""
        text = sql_file(sql).render(inputs, parameters)
        with self._session(inputs) as session:
            return [_write(session, text, table, out)]

    def query_each(self, statements: Sequence[Statement]) -> list[list[Path]]:
        """Run `Engine.query_each` as one statement, whose rows are then written file by file."""
        sql, first_inputs, parameters, table, _ = statements[0]
        text = sql_file(sql).render(first_inputs, parameters)
        inputs = {
            name: [[str(path) for path in statement.inputs[name]] for statement in statements]
            for name in first_inputs
        }
        with self._session({}) as session:
            rows = session.sql(for_each(text, inputs, table)).to_arrow_table()
            parts = _parts(rows, len(statements))
            return [
                [_write_small(session, part, table, statement.out)]
                for part, statement in zip(parts, statements, strict=True)
            ]

    def apply(
        self, kernel: Kernel, inputs: Inputs, table: Table, out: Path, batch_rows: int
    ) -> list[Path]:
        """Run `Engine.apply`; results are spilled, and then written as those of a query are.

        Results of a passing table stay as they were spilled.
        """
        ((_, paths),) = inputs.items()
        threads = self.settings.engine.used_threads
        batches = ParquetRows([str(path) for path in paths]).batches(batch_rows)
        with self._session({}) as session:
            return [_write_results(session, in_order(kernel, batches, threads), table, out)]

    def apply_groups(
        self,
        kernel: GroupKernel,
        inputs: Inputs,
        by: str,
        table: Table,
        out: Path,
        limits: GroupLimits | None,
    ) -> list[Path]:
        """Run `Engine.apply_groups`; groups go to processes in files, the rest is as in `apply`."""
        paths, *named = inputs.values()
        # To a process go the names of few groups at a time, once.
        rows = ParquetRows([str(path) for path in paths], repeated=(by,) if limits else ())
        batches = rows.batches_with_urls(ParquetRows(named[0])) if named else rows.batches()
        with self._session({}) as session, TemporaryDirectory(dir=out) as folder:
            filled = parcels(batches, by, Path(folder), limits)
            results = in_groups(kernel, filled, len(rows), limits)
            return [_write_results(session, results, table, out)]

    def write(self, rows: Rows, table: Table, out: Path) -> list[Path]:
        """Run `Engine.write`; the database reads Arrow's rows where they are."""
        failed: list[Exception] = []
        if isinstance(rows, pa.RecordBatchReader):
            rows = _in_row_groups(rows, failed)
        with self._session({}) as session:
            try:
                return [_write_made(session, rows, table, out)]
            except duckdb.Error as error:
                # The database says only that it could not read them.
                raise (failed[0] if failed else error) from None

    def rows(self, query: str, inputs: Inputs, limit: int = 1000) -> list[dict[str, Any]]:
        """Run `Engine.rows`."""
        with self._session(inputs) as session:
            relation = session.sql(query).limit(limit)
            names = relation.columns
            return [dict(zip(names, row, strict=True)) for row in relation.fetchall()]

    def close(self) -> None:
        """Free the memory and the spill folder; a later call opens them again."""
        with self._opening:
            self._database = None
            self._resources.close()

    @contextmanager
    def _session(self, inputs: Inputs) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a cursor of the database with the inputs as views."""
        with self._opening:
            if self._database is None:
                self._database = self._resources.enter_context(connect(self.settings))
                # Parquet columns are written as required where the planner proves that they have
                # no NULL. Equal rows must be equal files, whichever query made them.
                self._database.execute("SET disabled_optimizers = 'statistics_propagation'")
            session = self._database.cursor()
        with session:
            for name, paths in inputs.items():
                create_view(session, name, paths, temporary=True)
            yield session


def _in_row_groups(rows: pa.RecordBatchReader, failed: list[Exception]) -> Rows:
    """Return the same rows in batches of a row group's size: other batches would make other groups.

    A few rows come as a table, which the database reads without asking Python. An error that ends
    the batches early is added to `failed`.
    """
    groups = map(_joined, even(rows, rows.schema, ROW_GROUP_ROWS))
    first = next(groups)
    if len(first) < ROW_GROUP_ROWS:
        return first
    waiting = [first]
    del first

    def batches() -> Iterator[pa.RecordBatch]:
        """Yield the batches of each row group, and note an error of the reader."""
        try:
            while waiting:  # nothing holds the group once it is written
                yield from waiting.pop().to_batches()
            for group in groups:
                yield from group.to_batches()
        except Exception as error:
            failed.append(error)
            raise

    return pa.RecordBatchReader.from_batches(rows.schema, batches())


def _parts(rows: pa.Table, sets: int) -> list[pa.Table]:
    """Return the rows of each set, which are consecutive and in the order of the sets."""
    bounds = np.searchsorted(rows[SET].to_numpy(), np.arange(sets + 1))
    of_sets = rows.drop_columns([SET])
    return [of_sets.slice(first, last - first) for first, last in pairwise(bounds.tolist())]


def _joined(group: pa.Table) -> pa.Table:
    return group.combine_chunks() if group.nbytes < _MOST_JOINED else group


def _write_results(
    session: duckdb.DuckDBPyConnection, results: Iterator[pa.RecordBatch], table: Table, out: Path
) -> Path:
    """Write a kernel's results as rows of a query are written, unless the table is passing."""
    if table.is_passing:
        passing = out / f"{table.name}.parquet"
        spill(results, table.arrow_schema, passing, _FEWER_ROWS)
        return passing
    spilled = out / f"{table.name}.spilled"
    spill(results, table.arrow_schema, spilled, ROW_GROUP_ROWS)
    create_view(session, _SPILLED, [spilled], temporary=True)
    with _single_thread(session):
        written = _write(session, f"SELECT * FROM {_SPILLED}", table, out)  # noqa: S608 - ours
    spilled.unlink()
    return written


@contextmanager
def _single_thread(session: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Copy from file to file in order, with one thread.

    Several threads would read far ahead of the one that writes, and memory grows with the rows: 2
    million took 439 MB instead of 156, and 9 s instead of 14. The number is the database's: another
    session may see it for a while.
    """
    (threads,) = session.execute("SELECT current_setting('threads')").fetchall()[0]
    session.execute("SET threads = 1")
    try:
        yield
    finally:
        session.execute(f"SET threads = {int(threads)}")


def _write(session: duckdb.DuckDBPyConnection, text: str, table: Table, out: Path) -> Path:
    """Write a query's rows in its order, as the contract wants them."""
    target = out / f"{table.name}.parquet"
    session.execute(_copy(_as_agreed(text, table), table, target))
    return target


def _write_made(
    session: duckdb.DuckDBPyConnection,
    python_rows: Rows,  # the statement names it, which takes less than to register it
    table: Table,
    out: Path,
) -> Path:
    """Write rows of this process, as those of a query."""
    target = out / f"{table.name}.parquet"
    is_agreed = python_rows.schema.equals(table.arrow_schema)
    text = "FROM python_rows" if is_agreed else _as_agreed("FROM python_rows", table)
    session.execute(_copy(text, table, target))
    return target


def _write_small(
    session: duckdb.DuckDBPyConnection, rows: pa.Table, table: Table, out: Path
) -> Path:
    """Write few rows of this process, those of a passing table without the database."""
    if not table.is_passing:
        return _write_made(session, rows, table, out)
    target = out / f"{table.name}.parquet"
    spill(rows.to_batches(), rows.schema, target, _FEWER_ROWS)
    return target


def _as_agreed(text: str, table: Table) -> str:
    """Return a query with the columns and types of a contract."""
    columns = ", ".join(f"CAST({c.name} AS {c.sql_type}) AS {c.name}" for c in table.columns)
    return f"SELECT {columns} FROM ({text})"  # noqa: S608 - names are ours


def _copy(text: str, table: Table, target: Path) -> str:
    return (
        f"COPY ({text}) TO {literal(str(target))} "  # SQL: a statement of ours, numbers
        # Nobody sees the file before it is whole: no other name is needed while it is written.
        f"(FORMAT parquet, {_packing(table)}, ROW_GROUP_SIZE {_group_rows(table)},"
        " USE_TMP_FILE false)"
    )


def _group_rows(table: Table) -> int:
    """Return the rows of a row group; fewer for wide rows, which have a number for every day."""
    is_long = any(column.type is Type.INTEGERS for column in table.columns)
    return _FEWER_ROWS if is_long else ROW_GROUP_ROWS


def _packing(table: Table) -> str:
    if table.is_passing:
        return _PASSING
    small = _NUMBERED if table.numbered else _SMALL
    packing = _FAST if table.is_read_often else small
    return f"{packing}, {_FEW_VALUES}" if "url" in table.key else packing


@contextmanager
def connect(settings: Settings) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield an in-memory database within the limits of the settings, in UTC."""
    engine = settings.engine
    with spill_folder(settings.state) as spill:
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": engine.memory_limit,
            "threads": str(engine.used_threads),
            "temp_directory": str(spill),
            # The network is never used: no extension is fetched behind the user's back.
            "autoinstall_known_extensions": "false",
            # What a statement has freed is for the next one (`memory`).
            "allocator_flush_threshold": _ALL,
            "allocator_bulk_deallocation_flush_threshold": _ALL,
        }
        with opened(":memory:", config) as session:
            yield session


@contextmanager
def opened(
    database: str, config: Mapping[str, str | bool | int | float | list[str]] | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a session of a database, in UTC.

    The first session draws a progress bar between the lines of a result in an interactive Python;
    later sessions do not.
    """
    with duckdb.connect(database, config=dict(config or {})) as first, first.cursor() as session:
        session.execute("SET GLOBAL TimeZone = 'UTC'")
        yield session


def spill_folder(state: Path) -> AbstractContextManager[Path | str]:
    """Return a folder for spilled data: in the state folder, or temporary if that is read-only."""
    if os.access(state, os.W_OK):
        return scratch_folder(state / "tmp")
    return TemporaryDirectory(prefix="temporal-assets-")


def create_view(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    paths: Sequence[str | Path],
    *,
    temporary: bool = False,
) -> None:
    """Create a view over a list of Parquet files, local or behind fsspec."""
    if not paths:
        raise ValueError(f"no files for input {name}: publish an empty partition instead")
    kind = "TEMP VIEW" if temporary else "VIEW"
    rows = scan(connection, paths)
    connection.execute(f'CREATE {kind} "{name}" AS SELECT * FROM {rows}')  # noqa: S608 - an asset's name, and paths as literals


def scan(connection: duckdb.DuckDBPyConnection, paths: Sequence[str | Path]) -> str:
    """Return the SQL that reads some Parquet files."""
    urls = [str(path) for path in paths]
    for protocol in {url.split("://", 1)[0] for url in urls if "://" in url}:
        with _registering:  # they are the database's, whose sessions several threads have
            if not connection.filesystem_is_registered(protocol):
                connection.register_filesystem(CachedObjects(filesystem(protocol)))
    listed = ", ".join(map(literal, urls))
    return f"read_parquet([{listed}], hive_partitioning = false)"
