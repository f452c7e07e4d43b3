"""Errors of `temporal_assets.open` where there is nothing to open."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import temporal_assets
from temporal_assets import contracts
from temporal_assets.notebook import NoSelect
from temporal_assets.settings import load_settings
from temporal_assets.storage.partition_errors import MissingPartition
from temporal_assets.storage.store import Store


def test_a_mistyped_state_folder_is_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no state folder"):
        temporal_assets.open(tmp_path / "typo")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder in which nothing was made yet."""
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "settings.toml").touch()
    return tmp_path / "state"


@pytest.fixture
def viewed(state: Path) -> Path:
    """A state folder with the views of two days."""
    store, table = Store.open(load_settings(state)), contracts.table("page_views")
    for number in (1, 2):
        day = dt.date(2026, 1, number)
        rows = [
            {"day": day, "url": f"https://a.example/{n}", "site": "a.example", "views": n * number}
            for n in (2, 10, 1)
        ]
        with store.scratch() as scratch:
            file = scratch / "page_views.parquet"
            names = set(table.column_names)
            kept = [{k: v for k, v in row.items() if k in names} for row in rows]
            pq.write_table(pa.Table.from_pylist(kept, table.arrow_schema), file)
            store.publish("page_views", day, [file], inputs=[], settings_digest="")
    return state


def test_a_folder_of_something_else_is_no_state(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(FileNotFoundError, match="is no state folder"):
        temporal_assets.open(tmp_path)


def test_sums_are_numbers_that_pandas_sorts(viewed: Path) -> None:
    numbers = "sum(views) AS views, avg(views)::DECIMAL(9, 2) AS mean"
    sql = f"SELECT url, {numbers} FROM page_views GROUP BY url"  # noqa: S608 - ours
    files = temporal_assets.open(viewed).query(sql)
    assert [str(field.type) for field in files.schema] == ["string", "int64", "double"]
    assert files.to_pandas().sort_values("views")["views"].tolist() == [3, 6, 30]
    most = temporal_assets.open(viewed).query(
        "SELECT sum(9223372036854775807) AS n FROM page_views"
    )
    assert most.to_pylist() == [{"n": pytest.approx(6 * 2**63)}]


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE x AS SELECT 1",
        "DROP VIEW page_views",
        "COPY (SELECT 1) TO 'written.csv'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO 'written.csv'",
        "ATTACH 'other.duckdb'",
        "INSTALL httpfs",
        "SET threads = 1",
        "SELECT 1; DROP VIEW page_views",
    ],
)
def test_a_query_only_reads(
    viewed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoSelect):
        temporal_assets.open(viewed).query(sql)
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_a_query_reads_the_tables_and_no_other_file(viewed: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    artifacts = temporal_assets.open(viewed)
    for sql in (f"FROM '{tmp_path}/secret.csv'", f"FROM glob('{tmp_path}/*')"):
        with pytest.raises(duckdb.PermissionException):
            artifacts.query(sql)
    assert artifacts.query("SELECT count(*) AS n FROM page_views").to_pylist() == [{"n": 6}]


def test_what_is_there_is_shown(state: Path, viewed: Path) -> None:
    del viewed
    assert repr(temporal_assets.open(state)) == (
        f"artifacts of {state}\n  page_views: 2 days, 2026-01-01 to 2026-01-02"
    )


def test_a_state_without_anything_is_shown_as_such(state: Path) -> None:
    assert repr(temporal_assets.open(state)) == f"artifacts of {state}\n  none yet"


def test_what_is_no_day_is_said(state: Path) -> None:
    with pytest.raises(ValueError, match="'yesterday' is no day"):
        temporal_assets.open(state).read("page_views", "yesterday")


def test_a_time_is_taken_for_its_day(state: Path) -> None:
    artifacts, noon = temporal_assets.open(state), dt.datetime(2026, 1, 31, 12)
    for days in (noon, [noon]):
        with pytest.raises(MissingPartition, match=r"no partition for 2026-01-31(?! 12)"):
            artifacts.read("page_views", days)


def test_reading_leaves_the_state_folder_as_it_is(state: Path) -> None:
    artifacts = temporal_assets.open(state)
    assert artifacts.read("page_views").num_rows == 0
    assert artifacts.days("page_views") == []
    assert [path.name for path in state.iterdir()] == ["settings.toml"]


def test_rows_of_a_large_result_are_not_in_memory(state: Path) -> None:
    before = pa.total_allocated_bytes()
    artifacts = temporal_assets.open(state)
    sql = "SELECT range AS x, repeat('x', 1000) AS y FROM range(100_000)"
    with artifacts.large_query(sql) as rows:
        assert rows.num_rows == 100_000
        assert pa.total_allocated_bytes() - before < 10_000_000
        assert rows.slice(0, 9).equals(artifacts.query(f"{sql} LIMIT 9"))
        assert pa.total_allocated_bytes() - before < 10_000_000
    assert not list(state.rglob("*.arrow"))


_ASKED = """
import sys
from pathlib import Path
import duckdb
from temporal_assets.notebook import Artifacts
connect = duckdb.connect
def impatient(*given, **named):
    first = connect(*given, **named)
    first.execute("SET progress_bar_time = 0")
    return first
duckdb.connect = impatient
print(Artifacts(Path(sys.argv[1])).query("SELECT count(*) AS n FROM range(3000000)").to_pylist())
"""


def test_no_bar_is_drawn_between_the_lines_of_an_answer(tmp_path: Path) -> None:
    """DuckDB draws one where Python has no script, in the first session of a database."""
    (tmp_path / "settings.toml").write_text("")
    words = [sys.executable, "-c", _ASKED, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "[{'n': 3000000}]\n"
