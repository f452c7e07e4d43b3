"""Small days: which are made together, and that they come out as each does alone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets import contracts
from temporal_assets.contracts import Table
from temporal_assets.days.requests import BEHAVIOURAL_BOTS, REPEATED_SEGMENTS
from temporal_assets.engines.base import Statement
from temporal_assets.engines.batches import SMALL_ROWS, small_batches
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.engines.statements import Steps, run, run_together
from temporal_assets.landing.segments import SCHEMA
from temporal_assets.logs.urls.canonical import SITE
from temporal_assets.settings import load_settings

DAYS = [dt.date(2026, 3, n) for n in range(1, 7)]
LIMITS = {"pages_per_minute": 2, "pages_without_referrer": 4}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBEngine]:
    engine = DuckDBEngine(load_settings(tmp_path_factory.mktemp("state")))
    yield engine
    engine.close()


def segments(day: dt.date, rows: int, path: Path) -> str:
    """Records with repeats in two files, a robot, and pages that people only came from."""
    noon = dt.datetime.combine(day, dt.time(12))
    records = [
        {
            "day": day,
            "ts": noon + dt.timedelta(seconds=7 * (n // 2)),
            "client": n % 5 - 2 if n % 3 else 9,
            "url": f"https://a.example/{n % 4}",
            "referrer": None if n % 3 == 0 else f"https://{'ab'[n % 2]}.example/ü{n % 6}",
            "site": "a.example",
            "source": "fg"[n % 2],
        }
        for n in range(rows)
    ]
    pq.write_table(pa.Table.from_pylist(records, SCHEMA), path)
    return str(path)


def test_days_together_are_the_same_files_as_each_alone(
    engine: DuckDBEngine, tmp_path: Path
) -> None:
    rows = [0, 1, 40, 3, 90, 12]
    records = [
        segments(day, n, tmp_path / f"{day}.parquet") for day, n in zip(DAYS, rows, strict=True)
    ]
    counts = tmp_path / "counts.parquet"
    pq.write_table(contracts.COUNTS.arrow_schema.empty_table(), counts)

    def both(
        sql: str, table: Table, parameters: dict[str, Any], **inputs: list[list[str]]
    ) -> list[list[str]]:
        """Files of each day, which are the same whether made together or alone."""
        statements: dict[str, list[Statement]] = {}
        for way in ("together", "alone"):
            for number, day in enumerate(DAYS):
                out = tmp_path / way / sql / str(day)
                out.mkdir(parents=True)
                own = {name: paths[number] for name, paths in inputs.items()}
                statement = Statement(sql, own, parameters, table, out)
                statements.setdefault(way, []).append(statement)
        alone = [engine.query(*statement) for statement in statements["alone"]]
        for actual, wanted in zip(engine.query_each(statements["together"]), alone, strict=True):
            if table.is_passing:
                assert pq.read_table(actual).equals(pq.read_table(wanted))
            else:
                assert [path.read_bytes() for path in actual] == [p.read_bytes() for p in wanted]
        return [[str(path) for path in files] for files in alone]

    read = [[path] for path in records]
    both("repeated_segments", REPEATED_SEGMENTS, {}, segments=read)
    bots = both("behavioural_bots", BEHAVIOURAL_BOTS, LIMITS, segments=read)
    assert {pq.read_metadata(path).num_rows > 0 for (path,) in bots} == {True, False}
    requests = both("requests", contracts.REQUESTS, {}, segments=read, behavioural_bots=bots)
    both("page_views", contracts.PAGE_VIEWS, {}, requests=requests)
    none = [[str(counts)]] * len(DAYS)
    urls = both("urls", contracts.URLS, {"site": SITE}, requests=requests, counts=none)
    both("transits", contracts.TRANSITS.stored, {}, requests=requests, urls=urls)


class Answers:
    """An engine that has every statement answered by its name, and fails some together."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def query(self, sql: str, inputs: Any, parameters: Any, table: Any, out: Path) -> list[Path]:
        self.asked.append([sql])
        if "broken" in out.name:
            raise OSError(f"{out.name} cannot be read")
        return [out / sql]

    def query_each(self, statements: list[Statement]) -> list[list[Path]]:
        self.asked.append([statement.sql for statement in statements])
        if any("broken" in statement.out.name for statement in statements):
            raise OSError("one of them cannot be read")
        return [[statement.out / statement.sql] for statement in statements]


def work(name: str, *asked: str) -> Steps[list[str]]:
    """Work of a day that asks some statements."""
    actual = []
    for sql in asked:
        (path,) = yield Statement(sql, {}, {}, contracts.REQUESTS, Path(name))
        actual.append(str(path))
    return actual


def test_days_that_ask_the_same_are_answered_at_once_and_others_on_their_own() -> None:
    engine: Any = Answers()
    works = [work("a", "x", "y"), work("b", "overlap", "x", "y"), work("c", "x", "y"), work("d")]
    assert run_together(engine, works) == [
        ["a/x", "a/y"],
        ["b/overlap", "b/x", "b/y"],
        ["c/x", "c/y"],
        [],
    ]
    assert engine.asked[0] == ["x", "x"]
    assert run(engine, work("a", "x")) == ["a/x"]


def test_a_day_that_fails_costs_no_other() -> None:
    engine: Any = Answers()
    together = run_together(engine, [work("a", "x"), work("broken", "x"), work("c", "x", "y")])
    assert together[0] == ["a/x"]
    assert together[2] == ["c/x", "c/y"]
    assert str(together[1]) == "broken cannot be read"
    with pytest.raises(OSError, match="broken cannot be read"):
        run(engine, work("broken", "x"))


def test_small_days_are_a_batch_and_a_large_one_is_alone() -> None:
    rows = dict(zip(DAYS, [1, SMALL_ROWS, SMALL_ROWS + 1, 5, 6, 7], strict=True))
    assert list(small_batches(DAYS, rows.__getitem__)) == [DAYS[:2], [DAYS[2]], DAYS[3:]]


def test_a_batch_has_an_end_by_its_rows_and_by_its_days() -> None:
    assert list(small_batches(DAYS, lambda _: SMALL_ROWS)) == [DAYS[:4], DAYS[4:]]
    many = [DAYS[0] + dt.timedelta(n) for n in range(300)]
    assert [len(batch) for batch in small_batches(many, lambda _: 10)] == [128, 128, 44]


def test_a_day_whose_size_is_not_known_costs_no_other() -> None:
    def rows(day: dt.date) -> int:
        if day == DAYS[2]:
            raise PermissionError(f"{day} is not to be read")
        return 10

    assert list(small_batches(DAYS, rows)) == [DAYS]
