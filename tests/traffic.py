"""Rows of `page_traffic` as they are stored, from rows that name URLs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from temporal_assets import contracts
from tests.tables import write_table

Row = Mapping[str, Any]


def numbered_traffic(rows: Iterable[Row]) -> tuple[pa.Table, pa.Table]:
    """The rows with numbers of pages, and the rows of `page_totals` that number them."""
    pages = sorted(rows, key=lambda row: (row["site"].encode(), row["url"].encode()))
    totals = [
        {**row, "total": row.get("views"), "number": number} for number, row in enumerate(pages)
    ]
    stored = [{**row, "url": number} for number, row in enumerate(pages)]
    return (
        pa.Table.from_pylist(stored, contracts.PAGE_TRAFFIC.stored.arrow_schema),
        pa.Table.from_pylist(totals, contracts.PAGE_TOTALS.arrow_schema),
    )


def write_traffic_files(rows: Iterable[Row], out: Path) -> tuple[Path, Path]:
    """Files of both."""
    files = out / "page_traffic.parquet", out / "page_totals.parquet"
    for path, table in zip(files, numbered_traffic(rows), strict=True):
        write_table(table, path)
    return files
