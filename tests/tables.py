"""Files of tables as engines write them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def write_table(table: pa.Table, path: Path | str) -> None:
    """Write a table as DuckDB does: without rows there is no group of rows."""
    with pq.ParquetWriter(path, table.schema) as file:
        if len(table):
            file.write_table(table)
