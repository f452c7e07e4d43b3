"""Reading published tables without Dagster, from notebooks and programs.

`temporal_assets.open(state).read("page_views", day)` returns an Arrow table.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa

from temporal_assets import contracts
from temporal_assets.engines.duckdb import connect, spill_folder
from temporal_assets.engines.sql import literal
from temporal_assets.ops import catalogue
from temporal_assets.settings import SETTINGS_FILE, Settings, load_settings
from temporal_assets.storage.partition_errors import MissingPartition
from temporal_assets.storage.store import Store

Day = dt.date | str

_ROWS_AT_ONCE: Final = 20_480
"""Number of rows of a large result in memory at once."""


class NoSelect(ValueError):
    """Error: a statement does more than read; the message names it."""


class Artifacts:
    """The published tables of one state folder. Reading never changes anything."""

    def __init__(self, state: str | os.PathLike[str] | None = None, *, verify: bool = True) -> None:
        self.settings = load_settings(state)
        self.verify = verify
        """True if queries compare the files that they name with the published digests."""
        if not self.settings.state.is_dir():
            raise FileNotFoundError(
                f"there is no state folder {self.settings.state}; `temporal-assets ingest PATH` or "
                "`temporal-assets demo` makes one"
            )
        if not _is_state(self.settings):
            raise FileNotFoundError(
                f"{self.settings.state} is no state folder: it has neither settings nor tables; "
                "`temporal-assets ingest PATH --state FOLDER` makes one"
            )
        self.store = Store.open(self.settings)

    def __repr__(self) -> str:
        """Return the folder, and the days of every asset."""
        days_of_asset = {name: self.store.folders(name) for name in self.store.assets()}
        lines = [f"{name}: {_span(days)}" for name, days in days_of_asset.items() if days]
        return "\n  ".join([f"artifacts of {self.settings.state}", *(lines or ["none yet"])])

    def assets(self) -> list[str]:
        """Return the names that `read` takes."""
        return sorted(table.name for table in contracts.TABLES)

    def days(self, asset: str) -> list[dt.date]:
        """Return days published for an asset, ascending."""
        return self.store.days(asset)

    def read(
        self,
        asset: str,
        day: Day | Sequence[Day] | None = None,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """Return an asset as an Arrow table: one day, several, or all that are published.

        `.to_pandas()` on the result gives a data frame.
        """
        if day is None:
            return self._read_all(asset, columns)
        if isinstance(day, str | dt.date):
            return self.store.read(asset, [_day(day)], columns)
        return self.store.read(asset, [_day(wanted_day) for wanted_day in day], columns)

    def _read_all(self, asset: str, columns: Sequence[str] | None) -> pa.Table:
        while True:
            days = self.store.days(asset)
            try:
                return self.store.read(asset, days, columns)
            except MissingPartition:
                if self.store.days(asset) == days:  # else one was removed meanwhile
                    raise

    def query(self, sql: str) -> pa.Table:
        """Return the result of a SELECT over all assets; whole sums are integers, decimals floats.

        The statement cannot change anything: other statements raise `NoSelect`, and DuckDB is kept
        from files outside of the tables where those are local.

        Files of the assets that it names are compared with the digests they were published under,
        once a process, at the speed of the disk, unless the state folder was opened with
        `verify=False`. Raises `DamagedPartition` where one is damaged.
        """
        return self._asked(sql, lambda relation: _with_numbers(relation.to_arrow_table()))

    @contextmanager
    def large_query(self, sql: str) -> Iterator[pa.Table]:
        """Yield the result of a SELECT as a table in a file: it may be larger than memory.

        Sums stay the decimals that they are in SQL.
        """
        with spill_folder(self.settings.state) as folder:
            yield self._asked(
                sql, lambda relation: _in_file(relation, Path(folder) / "result.arrow")
            )

    def _asked(self, sql: str, as_table: Callable[[duckdb.DuckDBPyRelation], pa.Table]) -> pa.Table:
        """Return the answer to a question as a table."""
        refuse_changes(sql)

        def ask(connection: duckdb.DuckDBPyConnection) -> pa.Table:
            self._lock(connection)
            return _interruptible(connection, lambda: as_table(connection.sql(sql)))

        return catalogue.asked(
            self.store,
            lambda: connect(self.settings),
            ask,
            catalogue.named(sql) if self.verify else (),
        )

    def _lock(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Restrict queries to the files of the tables, and forbid changes of settings."""
        if self.store.is_local:
            tables = literal(str(Path(self.store.root).absolute()) + os.sep)
            connection.execute(f"SET allowed_directories = [{tables}]")  # SQL: a literal
            connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")


def refuse_changes(sql: str) -> None:
    """Raise `NoSelect` unless a text is one statement that only reads."""
    statements = duckdb.extract_statements(sql)
    if len(statements) != 1:
        raise NoSelect(f"one SQL statement is wanted, these are {len(statements)}")
    kind = statements[0].type
    # Not EXPLAIN either: EXPLAIN ANALYZE runs what it explains, a COPY to a file for instance.
    if kind != duckdb.StatementType.SELECT:
        # MULTI: DuckDB itself makes several statements of it, a PIVOT without IN for instance.
        words = {"MULTI": "a statement that is run in several steps", "LOAD": "INSTALL or LOAD"}
        what = words.get(kind.name, kind.name)
        raise NoSelect(f"only SELECT (also DESCRIBE, SUMMARIZE, SHOW) is allowed here, not {what}")


def _is_state(settings: Settings) -> bool:
    """Return True if a folder holds files of ours, or the tables are elsewhere by settings."""
    parts = (SETTINGS_FILE, "landing", "tables", "dagster")
    return settings.storage is not None or any((settings.state / part).exists() for part in parts)


def _span(days: Sequence[dt.date]) -> str:
    if len(days) == 1:
        return f"1 day, {days[0]}"
    return f"{len(days):,} days, {days[0]} to {days[-1]}"


def _with_numbers(table: pa.Table) -> pa.Table:
    """Convert decimals, which SQL makes of sums of integers, to integers or floats."""
    for index, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            numbers = _as_numbers(table.column(index), field.type.scale)
            table = table.set_column(index, field.with_type(numbers.type), numbers)
    return table


def _as_numbers(column: pa.ChunkedArray, scale: int) -> pa.ChunkedArray:
    try:
        return column.cast(pa.float64() if scale else pa.int64())
    except pa.ArrowInvalid:  # more than 64 bits have
        return column.cast(pa.float64())


def _in_file(relation: duckdb.DuckDBPyRelation, path: Path) -> pa.Table:
    with (
        relation.to_arrow_reader(_ROWS_AT_ONCE) as reader,
        pa.ipc.new_file(str(path), reader.schema) as file,
    ):
        for batch in reader:
            file.write_batch(batch)
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def _interruptible(connection: duckdb.DuckDBPyConnection, ask: Callable[[], pa.Table]) -> pa.Table:
    """Return the result of `ask`, interrupting the database on Ctrl-C, which it does not notice."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask)
        try:
            return answer.result()
        except KeyboardInterrupt:
            connection.interrupt()
            raise


def _day(value: Day) -> dt.date:
    """Return a day that was given as a date, a time or a text."""
    if isinstance(value, dt.datetime):  # as pandas has days
        return value.date()
    if isinstance(value, dt.date):
        return value
    try:
        return dt.date.fromisoformat(value)
    except ValueError:
        raise ValueError(f"{value!r} is no day; write it like 2026-01-31") from None
