"""Requests of a day sorted out by number are those of the statements, file and counts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from temporal_assets.core.traffic.daily_cleaning import RobotLimits
from temporal_assets.days import requests_by_numbers as by_numbers
from temporal_assets.days.requests import DayRequests, sort_out
from temporal_assets.days.requests_by_statements import requests_by_statements
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.segments import SCHEMA
from temporal_assets.settings import load_settings
from tests.no_query import no_query

DAY = dt.date(2026, 3, 29)
START = dt.datetime(2026, 3, 29, 1, 59)
Row = tuple[int, int, str, str | None]
"""Half seconds after the start, client, URL and referrer."""

urls = st.sampled_from([
    "https://a.example/",
    "https://a.example/ü",
    "https://a.example/\U0001f600",
    "https://b.example/Z",
    "https://b.example/z",
])  # fmt: skip
rows = st.lists(
    st.tuples(
        st.integers(0, 130), st.sampled_from([-(2**63), -1, 0, 2**63 - 1]), urls, st.none() | urls
    ),
    max_size=30,
)
limits = st.builds(RobotLimits, st.integers(1, 9), st.integers(0, 6))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> DuckDBEngine:
    return DuckDBEngine(load_settings(tmp_path_factory.mktemp("state")))


def _write(folder: Path, logs: Sequence[Sequence[Row]], group: int) -> list[str]:
    """A segment of each log."""
    paths = []
    for number, part in enumerate(logs):
        when, client, url, referrer = zip(*part, strict=True) if part else ((), (), (), ())
        columns = {
            "day": [DAY] * len(part),
            "ts": [START + dt.timedelta(seconds=halves / 2) for halves in when],
            "client": client,
            "url": url,
            "referrer": referrer,
            "site": [one.split("/")[2] for one in url],
            "source": [f"log {number}"] * len(part),
        }
        paths.append(str(folder / f"{number}.parquet"))
        plain = pa.table({
            name: pa.array(values, pa.string() if name in ("url", "referrer") else None)
            for name, values in columns.items()
        })  # fmt: skip
        table = plain.cast(SCHEMA) if len(part) else SCHEMA.empty_table()
        pq.write_table(table, paths[-1], row_group_size=group, store_schema=False)
    return paths


def _both(
    engine: DuckDBEngine, segments: Sequence[str], limits: RobotLimits, folder: Path
) -> tuple[Any, Any]:
    """What is made by number, and by statements."""
    ways = {"numbers": sort_out(no_query(engine), DAY, [segments], limits, folder)}
    scratch = folder / "scratch"
    scratch.mkdir()
    ways["statements"] = requests_by_statements(engine, [segments], limits, scratch)
    made, asked = (_made(found, folder / name) for name, found in ways.items())
    return made, asked


def _made(found: DayRequests, folder: Path) -> Any:
    folder.mkdir()
    (file,) = found.write(folder)
    return found.repeated, list(found.robots.items()), file.read_bytes()


@given(
    logs=st.lists(rows, min_size=1, max_size=3).filter(any),
    limits=limits,
    group=st.integers(1, 9),
    part=st.sampled_from([1, 4, 1 << 17]),
    text=st.sampled_from([1, 100, 32 << 20]),
)
@example(
    logs=[[(0, 0, "https://a.example/", None)] * 2, [(0, 0, "https://a.example/", None)] * 3],
    limits=RobotLimits(9, 0),
    group=1,
    part=1,
    text=1,
)
@example(
    logs=[[(n, 0, "https://a.example/", None) for n in range(6)]],
    limits=RobotLimits(3, 2),
    group=9,
    part=1 << 17,
    text=1,
)
def test_file_and_counts_are_those_of_the_statements(
    engine: DuckDBEngine,
    logs: list[list[Row]],
    limits: RobotLimits,
    group: int,
    part: int,
    text: int,
) -> None:
    """Nulls, records of one time, lines twice in a log and in several, robots of both kinds."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(by_numbers, "_PART_ROWS", part)
        patch.setattr(by_numbers, "_TEXT_BYTES", text)
        made, asked = _both(engine, _write(Path(folder), logs, group), limits, Path(folder))
    assert made == asked


def test_many_records_of_several_groups(engine: DuckDBEngine, tmp_path: Path) -> None:
    """Groups of the file are cut where the query cuts them; two logs share a tenth."""
    random = np.random.default_rng(7)
    names = [f"https://a.example/{n}" for n in range(20_000)]
    pages = random.zipf(1.3, 300_000) % len(names)
    records: list[Row] = [
        (int(when), int(client), names[page], names[page // 2] if client % 3 else None)
        for when, client, page in zip(
            np.sort(random.integers(0, 20_000, len(pages))),
            random.zipf(1.2, len(pages)),
            pages,
            strict=True,
        )
    ]
    segments = _write(tmp_path, [records[:180_000], records[150_000:]], 50_000)
    made, asked = _both(engine, segments, RobotLimits(100, 50), tmp_path)
    assert made == asked
    repeated, robots, file = made
    assert repeated >= 30_000
    assert len(robots) == 2
    assert pq.read_metadata(pa.BufferReader(file)).num_row_groups > 1


@pytest.mark.parametrize("rows", [0, 1])
def test_days_that_do_not_fit_and_empty_ones_are_the_database_s(
    engine: DuckDBEngine, tmp_path: Path, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_numbers, "_MOST_BYTES", 0)
    segments = _write(tmp_path, [[(0, 1, "https://a.example/", None)] * rows], 9)
    groups = [segments] if rows else []
    (file,) = sort_out(engine, DAY, groups, RobotLimits(9, 9), tmp_path).write(tmp_path)
    assert pq.read_metadata(file).num_rows == rows
