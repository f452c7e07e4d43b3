"""What `temporal_assets.open` says when there is nothing to open."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import temporal_assets
from temporal_assets.storage.store import MissingPartition


def test_a_mistyped_state_folder_is_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no state folder"):
        temporal_assets.open(tmp_path / "typo")


def test_what_is_no_day_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'yesterday' is no day"):
        temporal_assets.open(tmp_path).read("page_views", "yesterday")


def test_a_time_is_taken_for_its_day(tmp_path: Path) -> None:
    artifacts, noon = temporal_assets.open(tmp_path), dt.datetime(2026, 1, 31, 12)
    for days in (noon, [noon]):
        with pytest.raises(MissingPartition, match=r"no partition for 2026-01-31(?! 12)"):
            artifacts.read("page_views", days)


def test_reading_leaves_the_state_folder_as_it_is(tmp_path: Path) -> None:
    artifacts = temporal_assets.open(tmp_path)
    assert artifacts.read("page_views").num_rows == 0
    assert artifacts.days("page_views") == []
    assert list(tmp_path.iterdir()) == []


def test_rows_of_a_large_result_are_not_in_memory(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    before = pa.total_allocated_bytes()
    artifacts = temporal_assets.open(tmp_path / "state")
    sql = "SELECT range AS x, repeat('x', 1000) AS y FROM range(100_000)"
    with artifacts.large_query(sql) as rows:
        assert rows.num_rows == 100_000
        assert pa.total_allocated_bytes() - before < 10_000_000
        assert rows.slice(0, 9).equals(artifacts.query(f"{sql} LIMIT 9"))
        assert pa.total_allocated_bytes() - before < 10_000_000
    assert not list((tmp_path / "state").rglob("*.arrow"))


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
