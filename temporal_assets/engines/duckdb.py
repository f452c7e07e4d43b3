"""DuckDB in the memory of the process, with a limit, spilling to the state folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import fsspec

from temporal_assets.contracts import Table
from temporal_assets.engines.base import Inputs
from temporal_assets.engines.sql import literal, sql_file
from temporal_assets.settings import Settings
from temporal_assets.storage.scratch import scratch_folder

ROW_GROUP_ROWS = 122_880
"""DuckDB's own unit of work; one row group per thread and step."""


class DuckDBEngine:
    """The default engine. Every call has a fresh connection, so nothing leaks between calls."""

    name = "duckdb"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def query(
        self, sql: str, inputs: Inputs, parameters: Mapping[str, Any], table: Table, out: Path
    ) -> list[Path]:
        """See `Engine.query`: one file, written in the order of the query."""
        text = sql_file(sql).render(inputs, parameters)
        columns = ", ".join(f"CAST({c.name} AS {c.sql_type}) AS {c.name}" for c in table.columns)
        target = out / f"{table.name}.parquet"
        with self._connect(inputs) as connection:
            connection.execute(
                f"COPY (SELECT {columns} FROM ({text})) TO {literal(str(target))} "  # noqa: S608
                f"(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, "
                f"ROW_GROUP_SIZE {ROW_GROUP_ROWS})"
            )
        return [target]

    def rows(self, query: str, inputs: Inputs, limit: int = 1000) -> list[dict[str, Any]]:
        """See `Engine.rows`."""
        with self._connect(inputs) as connection:
            relation = connection.sql(query).limit(limit)
            names = relation.columns
            return [dict(zip(names, row, strict=True)) for row in relation.fetchall()]

    @contextmanager
    def _connect(self, inputs: Inputs) -> Iterator[duckdb.DuckDBPyConnection]:
        with connect(self.settings) as connection:
            for name, paths in inputs.items():
                create_view(connection, name, paths)
            yield connection


@contextmanager
def connect(settings: Settings) -> Iterator[duckdb.DuckDBPyConnection]:
    """An in-memory connection within the limits of the settings, in UTC."""
    engine = settings.engine
    with scratch_folder(settings.state / "tmp") as spill:
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": engine.memory_limit,
            "threads": str(engine.threads or os.cpu_count() or 1),
            "temp_directory": str(spill),
            # The network is never used: no extension is fetched behind the user's back.
            "autoinstall_known_extensions": "false",
        }
        connection = duckdb.connect(":memory:", config=config)
        try:
            connection.execute("SET TimeZone = 'UTC'")
            yield connection
        finally:
            connection.close()


def create_view(
    connection: duckdb.DuckDBPyConnection, name: str, paths: Sequence[str | Path]
) -> None:
    """A view over an explicit list of Parquet files, local or behind fsspec."""
    urls = [str(path) for path in paths]
    if not urls:
        raise ValueError(f"no files for input {name}: publish an empty partition instead")
    for protocol in {url.split("://", 1)[0] for url in urls if "://" in url}:
        connection.register_filesystem(fsspec.filesystem(protocol))
    listed = ", ".join(literal(url) for url in urls)
    connection.execute(
        f'CREATE VIEW "{name}" AS SELECT * FROM '  # noqa: S608
        f"read_parquet([{listed}], hive_partitioning = false)"
    )
