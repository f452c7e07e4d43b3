"""Sums of trees, and pages of sections that few clients know."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.engines.base import Engine
from temporal_assets.windows.lists.tree_sums import TreeRule, write_tree_sums
from tests.sites import host_of
from tests.tables import write_table

FIRST = dt.date(2026, 3, 1)
DAYS = 6
URLS = sorted(
    (
        f"{scheme}://{host}{path}"
        for scheme in ("http", "https")
        for host in ("a.example", "a.example.org", "a.example:8080", "b.example")
        for path in ("/", "/x", "/news/1", "/news/2", "/news/old/1", "/news.php?id=1", "/ü/?q=/a/")
    ),
    key=lambda url: (host_of(url), url),
)

LIFE = {
    "is_temporal": True,
    "is_news": False,
    "phi_n": None,
    "m": 3,
    "p": 1.91,
    "has_label": True,
    "flow": 0.5,
}
Lives = dict[str, dict[str, Any]]


def tables(lives: Lives, folder: Path) -> dict[str, list[str]]:
    rows: dict[str, list[dict[str, Any]]] = {
        "page_histories": [],
        "page_labels": [],
        "page_flow": [],
    }
    for url in URLS:
        if url not in lives:
            continue
        page, life = {"site": host_of(url), "url": url}, lives[url]
        birth = FIRST + dt.timedelta(days=next(n for n, seen in enumerate(life["views"]) if seen))
        rows["page_histories"].append(page | life | {"birth": birth, "total": sum(life["views"])})
        if life["has_label"]:
            rows["page_labels"].append(page | life)
        if life["flow"] is not None:
            rows["page_flow"].append(page | {"temporal": life["flow"]})
    for name, own_rows in rows.items():
        schema = contracts.table(name).arrow_schema
        full_rows = [{column: row.get(column) for column in schema.names} for row in own_rows]
        write_table(pa.Table.from_pylist(full_rows, schema), folder / f"{name}.parquet")
    counted = pa.table({"site": pa.array([], pa.string())})
    write_table(counted, folder / "counted_sites.parquet")
    return {name: [str(folder / f"{name}.parquet")] for name in (*rows, "counted_sites")}


def test_of_few_clients_all_pages_beneath_are_known(engine: Engine, tmp_path: Path) -> None:
    """News have at most 2 views a day; the root has a page with 9, the program one with 5."""
    most = {"/": 9, "/news/1": 2, "/news/old/1": 1, "/news.php?id=1": 5}
    lives = {
        f"https://b.example{path}": LIFE | {"views": [views] * DAYS} for path, views in most.items()
    }
    inputs = tables(lives, tmp_path)
    parameters = {"recent": 2, "days": DAYS, "views_per_client": 10}
    rule = TreeRule(np.datetime64(FIRST), np.arange(DAYS + 1), enough=3)
    files = write_tree_sums(engine, inputs, parameters, rule, tmp_path)
    sums = {row["prefix"]: row for row in pq.read_table(files).to_pylist()}
    few = {prefix: sorted(row["few_pages"]) for prefix, row in sums.items() if row["few_pages"]}
    assert few == {
        "b.example/news/": ["https://b.example/news/1", "https://b.example/news/old/1"],
        "b.example/news/old/": ["https://b.example/news/old/1"],
    }
    news = sums["b.example/news/"]
    assert (news["own_pages"], news["pages"], news["clients"], news["views"]) == (1, 2, 2, 18)
    assert (news["view_squares"], news["recent_views"]) == (12**2 + 6**2, 6)
