"""Who came to pages of a window, by number, against the statement that compares URLs."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets.engines.base import Engine
from temporal_assets.storage.manifest import Input
from temporal_assets.windows.asset import Job, Sources
from temporal_assets.windows.days import recent_days
from temporal_assets.windows.hub_order import VisitFiles, count_visits
from temporal_assets.windows.hub_seeds import HUB_SEEDS
from temporal_assets.windows.visits_by_numbers import visits_by_numbers
from tests.engines.test_traffic_onward import LENGTH, URLS, Traffic, Visit, many_days
from tests.tables import write_table

LAST = LENGTH - 1
TWICE: list[list[Visit]] = [[(None, URLS[0], 1), (None, URLS[0], 2), (URLS[0], URLS[1], 1)]]


def _asked(job: Job, pages: list[int], urls: list[str]) -> list[dict[str, Any]]:
    """What the statement says of pages; a candidate is known by its place among them."""
    candidates = job.out / "candidates.parquet"
    numbers = pa.array(range(len(pages)), pa.int64())
    known = {
        "page": numbers,
        "url": pa.array((urls[page] for page in pages), pa.string()),
        "is_opened": pa.array([True] * len(pages), pa.bool_()),
    }
    write_table(pa.table(known), candidates)
    recent = [path for one in recent_days(job) for path in job.store.paths(one)]
    files = VisitFiles(job.window("transits").files, job.files("page_traffic"), recent)
    given = [str(candidates)]
    made = count_visits(job.engine, job.settings, files, given, job.day, job.out)
    return pq.read_table(made, partitioning=None).to_pylist()


@settings(max_examples=40)
@given(days=many_days, data=st.data())
def test_visits_are_those_of_the_statement(
    duckdb: Engine, days: list[list[Visit]], data: st.DataObject
) -> None:
    """Of any pages, in any order."""
    with TemporaryDirectory() as folder:
        here = Traffic(duckdb, Path(folder), days)
        job = here.hubs_job(LAST, Path(folder))
        urls = list(here.rows(LAST))
        chosen = st.lists(st.integers(0, len(urls) - 1), unique=True) if urls else st.just([])
        pages = data.draw(chosen)
        found = visits_by_numbers(job, np.array(pages, np.int64))
        assert found is not None
        asked = _asked(job, pages, urls)
        assert found.clients.tolist() == [row["clients"] for row in asked]
        assert found.visits.tolist() == [row["visits"] for row in asked]
        assert found.recent.tolist() == [row["recent_visits"] for row in asked]


def test_visits_by_hand(duckdb: Engine, tmp_path: Path) -> None:
    """Two clients on the first day and the last: four visits, of which two are recent."""
    here = Traffic(duckdb, tmp_path, [*TWICE, *[[]] * (LAST - 1), *TWICE])
    found = visits_by_numbers(here.hubs_job(LAST, tmp_path), np.array([1, 0]))
    assert found is not None
    assert found.clients.tolist() == [1, 2]
    assert found.visits.tolist() == [2, 4]
    assert found.recent.tolist() == [1, 2]


@pytest.mark.parametrize("name", ["page_views", "page_totals"])
def test_tables_of_other_pages_are_not_counted(duckdb: Engine, tmp_path: Path, name: str) -> None:
    """A day that was made anew, and totals with one page less than traffic."""
    here = Traffic(duckdb, tmp_path, [*TWICE] * LENGTH)
    job = here.hubs_job(LAST, tmp_path)
    assert visits_by_numbers(job, np.array([0])) is not None
    rows = here.store.read(name, job.day).to_pylist()[1:]
    made_from = list(job.sources.tables["page_totals"].inputs)
    here.publish(name, LAST, rows, made_from if name == "page_totals" else [])
    windows = dict(job.sources.windows) | {
        "page_views": here.store.window("page_views", job.day, LENGTH, 1)
    }
    tables = dict(job.sources.tables) | {"page_totals": here.store.require("page_totals", job.day)}
    other = Sources(windows, {}, tables, {}, ())
    changed = Job(HUB_SEEDS, job.store, job.engine, job.settings, job.day, other, tmp_path)
    assert visits_by_numbers(changed, np.array([0])) is None


def test_rows_in_another_order_are_not_counted(duckdb: Engine, tmp_path: Path) -> None:
    here = Traffic(duckdb, tmp_path, [*[[]] * LAST, *TWICE])
    day = here.day(LAST)
    rows = here.store.read("page_views", day).to_pylist()
    assert [row["views"] for row in rows] == [2, 1]
    here.publish("page_views", LAST, rows[::-1], [Input("requests", str(TWICE[0]))])
    assert visits_by_numbers(here.hubs_job(LAST, tmp_path), np.array([0])) is None
