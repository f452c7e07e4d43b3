"""Sums of trees counted in this process against the statements of a cluster."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from temporal_assets import contracts
from temporal_assets.engines.base import Engine
from temporal_assets.windows.frame.days import counted_days
from temporal_assets.windows.lists.tree_sums import by_statements
from temporal_assets.windows.lists.tree_sums_counted import counted
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

a_life = st.fixed_dictionaries(
    {
        "views": st.lists(st.integers(0, 9), min_size=DAYS, max_size=DAYS).filter(any),
        "is_temporal": st.booleans(),
        "is_news": st.booleans(),
        "phi_n": st.sampled_from([None, 0.5]),
        "m": st.integers(1, 3),
        "p": st.sampled_from([1.0, 1.91]),
        "has_label": st.booleans(),
        "flow": st.sampled_from([None, 0.0, 0.125, 1.0]),
    }
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
    for name, found in rows.items():
        schema = contracts.table(name).arrow_schema
        known = [{column: row.get(column) for column in schema.names} for row in found]
        write_table(pa.Table.from_pylist(known, schema), folder / f"{name}.parquet")
    return {name: [str(folder / f"{name}.parquet")] for name in rows}


@given(
    lives=st.dictionaries(st.sampled_from(URLS), a_life, max_size=20),
    observed=st.lists(st.booleans(), min_size=DAYS, max_size=DAYS),
    recent=st.integers(1, DAYS),
    enough=st.sampled_from([1, 4, 50]),
    at_once=st.sampled_from([1, 3, 100]),
)
@example(
    # Sections of the second scheme stand before those of the first.
    lives={
        "http://b.example/ü/?q=/a/": LIFE | {"views": [9] * DAYS},
        "https://b.example/news/1": LIFE | {"views": [1] * DAYS},
    },
    observed=[True] * DAYS,
    recent=2,
    enough=4,
    at_once=100,
)
@example(lives={}, observed=[True] * DAYS, recent=1, enough=1, at_once=1)
@settings(max_examples=40)
def test_sums_are_those_of_the_statements(
    engine: Engine, lives: Lives, observed: list[bool], recent: int, enough: int, at_once: int
) -> None:
    parameters = {"recent": recent, "enough": enough, **counted_days(FIRST, observed)}
    with TemporaryDirectory() as folder:
        inputs = tables(lives, Path(folder))
        ours, theirs = (Path(folder) / name for name in ("counted", "cluster"))
        ours.mkdir()
        theirs.mkdir()
        sums, few = counted(inputs, parameters, ours, at_once)
        files = by_statements(engine, inputs, parameters, theirs)
        assert sums.to_pylist() == pq.read_table(files[0]).to_pylist()
        assert pairs(few) == pairs(files[1])


def pairs(files: list[str]) -> list[tuple[str, str]]:
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    return sorted((row["prefix"], row["url"]) for row in rows)


def test_of_few_clients_all_pages_beneath_are_known(engine: Engine, tmp_path: Path) -> None:
    """In the news at most 2 a day; the root has a page with 9, the program one with 5."""
    most = {"/": 9, "/news/1": 2, "/news/old/1": 1, "/news.php?id=1": 5}
    lives = {
        f"https://b.example{path}": LIFE | {"views": [views] * DAYS} for path, views in most.items()
    }
    inputs = tables(lives, tmp_path)
    parameters = {"recent": 2, "enough": 3, **counted_days(FIRST, [True] * DAYS)}
    rows, few = counted(inputs, parameters, tmp_path)
    assert pairs(few) == [
        ("b.example/news/", "https://b.example/news/1"),
        ("b.example/news/", "https://b.example/news/old/1"),
        ("b.example/news/old/", "https://b.example/news/old/1"),
    ]
    assert pairs(by_statements(engine, inputs, parameters, tmp_path)[1]) == pairs(few)
    news = {row["prefix"]: row for row in rows.to_pylist()}["b.example/news/"]
    assert (news["own_pages"], news["pages"], news["clients"], news["views"]) == (1, 2, 2, 18)
    assert (news["view_squares"], news["recent_views"]) == (12**2 + 6**2, 6)


def test_views_that_cannot_be_squared_are_said(tmp_path: Path) -> None:
    many = {"https://b.example/x": LIFE | {"views": [2**31 - 1] * DAYS}}
    inputs = tables(many, tmp_path)
    parameters = {"recent": 2, "enough": 3, **counted_days(FIRST, np.ones(DAYS, np.bool_))}
    with pytest.raises(OverflowError, match="more views than can be squared"):
        counted(inputs, parameters, tmp_path)
