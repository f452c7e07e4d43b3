"""Rows of the report from tables that are larger than what it shows."""

from __future__ import annotations

import datetime as dt
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
from temporal_assets.windows.report.report_rows import ReportRows
from tests.tables import write_table
from tests.traffic import numbered_traffic

Row = dict[str, Any]


class Tables:
    """Job as the reader needs it, with tables of a few columns."""

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


def reader(tables: Tables) -> ReportRows:
    return ReportRows(SimpleNamespace(**vars(tables), files=tables.files))  # type: ignore[arg-type]


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
    """Return the curve of a site whose pages have so many visits."""
    pages = [
        {"site": "a.example", "url": f"https://a.example/{k:03}", "visits": n}
        for k, n in enumerate(visits)
    ]
    tables.write(contracts.PAGE_TRAFFIC.stored, numbered_traffic(pages)[0].to_pylist())
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


def life(site: str, k: int, is_news: bool, total: int, concentration: float) -> dict[str, Row]:
    page = {"site": site, "url": f"https://{site}/{'news' if is_news else 'old'}/{k:03}"}
    label = {"is_temporal": is_news, "is_temporal_by_curve": is_news, "is_news": is_news}
    label |= {"has_concentration": True, "concentration": concentration}
    views = {"day": dt.date(2026, 1, 31), "views": [total], "total": total}
    return {"labels": page | label, "lives": page | views, "traffic": page | {"clients": 9}}


def test_typical_pages_are_of_sites_that_stand_for_their_kind(tables: Tables) -> None:
    """A dealer has a few news pages, too, and those may be the most read of all."""
    pages = [
        *(life("news.example", k, True, 100 + k, 5.0 + k) for k in range(12)),
        *(life("news.example", k, False, 10, 1.0) for k in range(3)),
        *(life("dealer.example", k, True, 9_000, 9.0) for k in range(9)),
        *(life("dealer.example", k, False, 5_000, 1.0) for k in range(40)),
        *(life("wiki.example", k, False, 50 + k, 1.0) for k in range(60)),
    ]
    tables.write(contracts.PAGE_LABELS, [page["labels"] for page in pages])
    tables.write(contracts.PAGE_HISTORIES, [page["lives"] for page in pages])
    stored, totals = numbered_traffic(page["traffic"] for page in pages)
    tables.write(contracts.PAGE_TRAFFIC.stored, stored.to_pylist())
    tables.write(contracts.PAGE_TOTALS, totals.to_pylist())
    missing = {"page_histories": SimpleNamespace(extra={"missing_days": []})}
    job = SimpleNamespace(
        **vars(tables), files=tables.files, sources=SimpleNamespace(tables=missing)
    )
    found = {kind: url for kind, (url, _) in ReportRows(job).typical().items()}  # type: ignore[arg-type]
    # Of its quarter with the most views, the one of median concentration.
    assert found[True] == "https://news.example/news/009"
    assert found[False].startswith("https://wiki.example/")
