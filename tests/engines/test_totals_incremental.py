"""`page_totals` by a walk along both windows, against the statement over all days."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets import contracts
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.windows.frame.incremental import Earlier
from temporal_assets.windows.pages.page_totals import whole_window
from temporal_assets.windows.pages.page_totals_incremental import go_on

DAYS = 4
FIRST = dt.date(2026, 3, 2)
"""First day of the later window, which has moved by a day."""

a_page = st.tuples(st.sampled_from(["a.example", "a.example-b", "b.example"]), st.integers(0, 9))
views = st.dictionaries(a_page, st.integers(1, 5), max_size=12)


def url(page: tuple[str, int]) -> str:
    return f"https://{page[0]}/{'x' * page[1]}"


def write(path: Path, asset: str, rows: list[dict[str, Any]], group: int) -> str:
    rows.sort(key=lambda row: (row["site"].encode(), row["url"].encode()))
    schema = contracts.table(asset).arrow_schema
    pq.write_table(pa.Table.from_pylist(rows, schema), path, row_group_size=group)
    return str(path)


def day_of(path: Path, day: dt.date, seen: dict[tuple[str, int], int]) -> str:
    rows = [
        {"day": day, "site": page[0], "url": url(page), "views": count}
        for page, count in seen.items()
    ]
    return write(path, "page_views", rows, 100)


def before(days: list[dict[tuple[str, int], int]]) -> list[dict[str, Any]]:
    """Rows of the window of `days`, the first of which is leaving."""
    rows = []
    for page in {page for day in days for page in day}:
        seen = [n for n, day in enumerate(days) if page in day]
        rows.append(
            {
                "day": FIRST + dt.timedelta(days=DAYS - 2),
                "site": page[0],
                "url": url(page),
                "total": sum(day.get(page, 0) for day in days),
                "birth": FIRST + dt.timedelta(days=seen[0] - 1),
                "seen": sum(1 << n for n in seen),
            }
        )
    return rows


@settings(max_examples=60, deadline=None)
@given(
    days=st.lists(views, min_size=DAYS, max_size=DAYS),
    enters=views,
    group=st.sampled_from([1, 2, 5]),
)
def test_the_walk_gives_what_the_statement_does(
    days: list[dict[tuple[str, int], int]], enters: dict[tuple[str, int], int], group: int
) -> None:
    """However many groups of rows the window before has: pages come before, among and behind."""
    last = FIRST + dt.timedelta(days=DAYS - 1)
    with TemporaryDirectory() as name:
        folder = Path(name)
        engine = DuckDBEngine(load_settings(folder))
        earlier = Earlier(
            files=[write(folder / "earlier.parquet", "page_totals", before(days), group)],
            moved=1,
            entering=[day_of(folder / "entering.parquet", last, enters)],
            leaving=[day_of(folder / "leaving.parquet", FIRST - dt.timedelta(days=1), days[0])],
        )
        out = folder / "out"
        out.mkdir()
        walked = pq.read_table(go_on(engine, earlier, FIRST, last, out, 2)).to_pylist()
        shared = [
            day_of(folder / f"{n}.parquet", FIRST + dt.timedelta(days=n), day)
            for n, day in enumerate(days[1:])
        ]
        inputs = {"page_views": [*shared, *earlier.entering]}
        parameters, table = whole_window(FIRST, last), contracts.PAGE_TOTALS
        anew = pq.read_table(
            engine.query("page_totals", inputs, parameters, table, out)
        ).to_pylist()
        engine.close()
    assert walked == anew
    assert {row["url"] for row in walked} == {
        url(page) for day in [*days[1:], enters] for page in day
    }
