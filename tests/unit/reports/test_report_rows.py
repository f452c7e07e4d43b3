"""What the report reads of tables that are larger than what it shows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from temporal_assets import contracts
from temporal_assets.contracts.table import Table
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.reports.sections import prefixes
from temporal_assets.settings import load_settings
from temporal_assets.windows.report.report_rows import Reader
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


def curve(tables: Tables, visits: list[int]) -> list[float]:
    """Of a site whose pages have so many visits."""
    pages = [
        {"site": "a.example", "url": f"https://a.example/{k:03}", "visits": n}
        for k, n in enumerate(visits)
    ]
    tables.write(contracts.PAGE_TRAFFIC, pages)
    site = {"site": "a.example", "pages": len(visits)}
    curves, counts = reader(tables).traffic([site])
    assert counts == {"a.example": len(visits)}
    return curves.get("a.example", [])


@pytest.mark.parametrize("pages", [10, 11, 49, 50, 51, 99, 1000])
def test_equal_pages_have_as_much_of_the_visits_as_they_are_of_the_pages(
    tables: Tables, pages: int
) -> None:
    assert curve(tables, [3] * pages) == pytest.approx([k / 50 for k in range(51)])


@pytest.mark.parametrize("pages", [10, 13, 50, 127])
def test_the_curve_of_a_site_is_that_of_all_its_pages(tables: Tables, pages: int) -> None:
    visits = [7 * k * k % 101 for k in range(pages)]
    shares = [0.0, *itertools.accumulate(sorted(visits, reverse=True))]
    expected = np.interp(np.linspace(0, pages, 51), range(pages + 1), shares) / sum(visits)
    assert curve(tables, visits) == pytest.approx(expected.tolist())


def test_a_site_without_visits_has_no_curve(tables: Tables) -> None:
    assert curve(tables, [0] * 12) == []
