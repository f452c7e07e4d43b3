"""What the report reads of tables that are larger than what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from temporal_assets import contracts
from temporal_assets.contracts.table import Table
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.reports.sections import prefixes
from temporal_assets.settings import load_settings
from temporal_assets.windows.report_rows import Reader
from tests.tables import write_table

Row = dict[str, Any]


class Tables:
    """As much of a job as the reader needs, with tables of a few columns."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = load_settings(folder / "state")
        self.engine = DuckDBEngine(self.settings)

    def files(self, name: str) -> list[str]:
        return [str(self.folder / f"{name}.parquet")]

    def write(self, contract: Table, rows: list[Row]) -> None:
        schema = contract.arrow_schema
        nullable = pa.schema([field.with_nullable(True) for field in schema])
        (file,) = self.files(contract.name)
        write_table(pa.Table.from_pylist(rows, nullable), file)


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[Tables]:
    made = Tables(tmp_path)
    yield made
    made.engine.close()


def reader(tables: Tables) -> Reader:
    return Reader(SimpleNamespace(**vars(tables), files=tables.files))  # type: ignore[arg-type]


def root(k: int, clients: int = 9) -> Row:
    site = f"site{k:03}.example"
    counts = {"pages": 10, "news_pages": k, "temporal_pages": 1, "clients": clients}
    return {"site": site, "prefix": f"{site}/", "parent": None, "depth": 0, **counts}


def test_sites_whose_trees_are_not_read_are_counted(tables: Tables) -> None:
    tables.write(contracts.PREFIX_TREES, [*map(root, range(130)), root(130, clients=1)])
    tables.write(contracts.NEWS_PREFIXES, [])
    section = prefixes.trees(*reader(tables).trees())
    assert section.says[0].startswith(
        "The 100 sites with the most news, of 130 sites, have 100 folders"
    )
    assert section.about == "100 of 130 sites are shown."


def test_all_trees_are_all(tables: Tables) -> None:
    tables.write(contracts.PREFIX_TREES, [*map(root, range(3))])
    tables.write(contracts.NEWS_PREFIXES, [])
    section = prefixes.trees(*reader(tables).trees())
    assert section.says[0].startswith("3 sites have 3 folders")
    assert section.about == ""
