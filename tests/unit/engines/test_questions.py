"""Small questions in Spark's words, and who is asked; no Spark is needed for that."""

from __future__ import annotations

import datetime as dt
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets import contracts
from temporal_assets.contracts import Rule, Table
from temporal_assets.engines.base import EngineError, Inputs
from temporal_assets.engines.spark import spark
from temporal_assets.engines.spark.spark import SparkEngine
from temporal_assets.engines.spark.spark_files import bytes_of
from temporal_assets.engines.sql import SqlError, literal
from temporal_assets.quality.measure import measure, offenders, parameters
from temporal_assets.settings import load_settings

pytest.importorskip("sqlglot", reason="SQLGlot, of the extra spark, translates")

from temporal_assets.engines.spark.questions import question

DAY = dt.date(2026, 3, 9)


class Translated:
    """An engine that answers nothing and keeps what Spark would be asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def rows(self, query: str, inputs: Inputs, limit: int = 1000) -> list[dict[str, Any]]:
        self.asked.append(question(query, frozenset(inputs)))
        return [{"all_rows": 0}]


def reads(table: Table) -> dict[str, list[str]]:
    """Whatever checks of a table read; no files of it."""
    names = {table.name, *(name for check in table.checks for name in check.reads)}
    windows = {f"{name}_window" for rule in table.rules for name in rule.reads_window}
    return {name: [] for name in names | windows}


@pytest.mark.parametrize("table", contracts.TABLES, ids=lambda table: str(table.name))
def test_every_check_can_be_asked_of_spark(table: Table, state: Path) -> None:
    engine: Any = Translated()
    values = parameters(DAY, load_settings(state))
    for check in table.checks:
        measure(engine, table, [check], reads(table), values)
        if isinstance(check, Rule):
            offenders(engine, check, reads(table), values, 20)
    assert len(engine.asked) >= len(table.checks)
    for text in engine.asked:
        # Every input is a placeholder, and there are no others.
        assert set(re.findall(r"\{(\w+)\}", text)) <= set(reads(table))
        assert f"{{{table.name}}} AS {table.name}" in text
        # Words of DuckDB that Spark has not, or has with another meaning.
        assert not re.search(r"(?i)\b(list_\w+|isnan|len|date_diff)\(|\bqualify\b", text)


def asked(text: str) -> str:
    return question(f"SELECT {text} FROM t", frozenset({"t"}))  # noqa: S608 - ours


@pytest.mark.parametrize(
    ("duckdb", "wanted"),
    [
        # A DECIMAL has five digits more in Spark; a DOUBLE has its own.
        ("avg(CASE WHEN a THEN 1.0 ELSE 0.5 END)", "AVG(CASE WHEN a THEN 1.0D ELSE 0.5D END)"),
        ("a > 1e300 OR a > CAST(0.5 AS DOUBLE)", "a > 1e300 OR a > CAST(0.5D AS DOUBLE)"),
        ("isnan(a) = b", "(a = CAST('NaN' AS DOUBLE)) = b"),
        ("a / nullif(b, 0)", "a / NULLIF(b, 0)"),
        ("a / 2.0", "a / 2.0D"),
        ("a / b", "CASE WHEN b = 0 THEN a * CAST('Infinity' AS DOUBLE) ELSE a / b END"),
        (
            "(a + b) / (c - d)",
            "CASE WHEN (c - d) = 0 THEN (a + b) * CAST('Infinity' AS DOUBLE)"
            " ELSE (a + b) / (c - d) END",
        ),
        ("CAST(floor(a) AS BIGINT)", "CAST(FLOOR(a) AS BIGINT)"),
        ("floor(a)", "CAST(FLOOR(a) AS DOUBLE)"),
        ("CAST(1 AS BIGINT)", "CAST(1 AS BIGINT)"),
        (
            "CAST(a AS BIGINT)",
            "CASE WHEN TYPEOF(a) IN ('double', 'float')"
            " THEN CAST(BROUND(CAST(a AS DOUBLE)) AS BIGINT) ELSE CAST(a AS BIGINT) END",
        ),
        ("CAST(a AS DOUBLE)", "CAST(a AS DOUBLE)"),
        ("concat(a, ':')", "CONCAT(COALESCE(a, ''), ':')"),
        ("list_max(a)", "ARRAY_MAX(a)"),
        ("array_length(a)", "SIZE(a)"),
        ("date_diff('day', a, b)", "DATEDIFF(DAY, a, b)"),
        ("bool_or(a)", "BOOL_OR(a)"),
        ("count(*) FILTER (WHERE a)", "COUNT(*) FILTER(WHERE a)"),
        ("a LIKE 'x\\_%'", r"a LIKE 'x\\\\_%'"),
        (literal("a'b\\c{d}:e?"), r"'a\'b\\c{{d}}:e?'"),
        (literal(dt.datetime(2026, 3, 9, 1)), "CAST('2026-03-09 01:00:00' AS TIMESTAMP_NTZ)"),
        (literal(DAY), "CAST('2026-03-09' AS DATE)"),
    ],
)
def test_what_engines_would_answer_differently(duckdb: str, wanted: str) -> None:
    assert asked(f"{duckdb} AS x") == f"SELECT {wanted} AS x FROM {{t}} AS t"  # noqa: S608 - ours


def test_nulls_come_last_as_on_duckdb() -> None:
    text = "SELECT a FROM t GROUP BY ALL ORDER BY a, b DESC, c NULLS FIRST"
    wanted = "SELECT a FROM {t} AS t GROUP BY ALL ORDER BY a NULLS LAST, b DESC, c"
    assert question(text, frozenset({"t"})) == wanted
    assert question("SELECT a FROM t ORDER BY ALL", frozenset({"t"})).endswith("ALL NULLS LAST")


def test_rows_are_chosen_before_they_are_ordered_and_cut_off() -> None:
    text = (
        "SELECT a, b AS c FROM t WHERE d QUALIFY 1 = row_number() OVER (PARTITION BY a ORDER BY b)"
        " ORDER BY 1, e DESC LIMIT 2"
    )
    assert question(text, frozenset({"t"})) == (
        "SELECT * EXCEPT (is_kept, order_1) FROM (SELECT a, b AS c,"
        " 1 = ROW_NUMBER() OVER (PARTITION BY a ORDER BY b NULLS LAST) AS is_kept, e AS order_1"
        " FROM {t} AS t WHERE d) AS chosen WHERE is_kept ORDER BY 1 NULLS LAST, order_1 DESC"
        " LIMIT 2"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("SELECT list_zip_wonderfully(a) FROM t", "list_zip_wonderfully"),
        ("SELECT len(a) FROM t", "write length of a text, array_length of a list"),
        ("SELECT list(a) FROM t", "makes a list"),
        ("SELECT list(a ORDER BY b) FROM t", "order of an aggregated list"),
        ("WITH t AS (SELECT 1 AS a) SELECT a FROM t", "both an input and a part"),
        ("SELECT a FROM", "is no query"),
        ("SELECT a FROM t WHERE b = 'input_table_u'", "cannot be in a query"),
        ("SELECT DISTINCT a FROM t QUALIFY 1 = rank() OVER (ORDER BY a)", "QUALIFY with DISTINCT"),
    ],
)
def test_what_cannot_be_asked_is_refused(text: str, says: str) -> None:
    with pytest.raises(SqlError, match=says):
        question(text, frozenset({"t"}))


class Session:
    """Stands for Spark's."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def sql(self, text: str, **_tables: Any) -> Session:
        self.asked.append(text)
        return self

    def limit(self, rows: int) -> Session:
        self.asked.append(f"{rows} rows")
        return self

    def toArrow(self) -> pa.Table:  # noqa: N802 - Spark's name
        instant = pa.array([dt.datetime(2026, 3, 9, tzinfo=dt.UTC)], pa.timestamp("us", "UTC"))
        return pa.table({"answered_by": ["spark"], "at": instant})


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    actual = Session()

    @contextmanager
    def job(_engine: SparkEngine, _name: str) -> Iterator[Session]:
        yield actual

    monkeypatch.setattr(SparkEngine, "_job", job)
    monkeypatch.setattr(spark, "read", lambda _session, name, _paths: name)
    return actual


QUESTION = "SELECT 'duckdb' AS answered_by, count(*) AS rows FROM t"


@pytest.mark.parametrize(("megabytes", "by"), [(0, "spark"), (1, "spark"), (2, "duckdb")])
def test_large_files_are_the_clusters(
    state: Path,
    tmp_path: Path,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    megabytes: int,
    by: str,
) -> None:
    paths = []
    for name in ("a.parquet", "b.parquet"):
        path = tmp_path / name
        pq.write_table(pa.table({"a": [bytes(range(256)) * 2_800]}), path, compression="none")
        paths.append(str(path))
    assert 1_400_000 < bytes_of(paths) < 2_000_000
    monkeypatch.setattr(spark, "LOCAL_MEGABYTES", megabytes)
    settings = load_settings(state, engine={"name": "spark"})
    (row,) = SparkEngine(settings).rows(QUESTION, {"t": paths}, 7)
    assert row["answered_by"] == by
    if by == "spark":
        assert session.asked == [question(QUESTION, frozenset({"t"})), "7 rows"]
        assert row["at"] == dt.datetime(2026, 3, 9)
    else:
        assert session.asked == []


def test_without_sqlglot(
    state: Path, tmp_path: Path, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("questions", "dialect"):
        monkeypatch.delitem(sys.modules, f"temporal_assets.engines.spark.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    monkeypatch.setattr(spark, "LOCAL_MEGABYTES", 0)
    settings = load_settings(state, engine={"name": "spark"})
    with pytest.raises(EngineError, match=r"sqlglot is not installed: pip install"):
        SparkEngine(settings).rows(QUESTION, {"t": [str(path)]})
    assert session.asked == []


def test_files_elsewhere_are_counted_too(tmp_path: Path) -> None:
    fs = fsspec.filesystem("memory")
    fs.pipe("/questions/a.parquet", b"12345")
    fs.pipe("/questions/b.parquet", b"123")
    (tmp_path / "c.parquet").write_bytes(b"12")
    urls = ["memory://questions/a.parquet", "memory://questions/b.parquet"]
    assert bytes_of([*urls, str(tmp_path / "c.parquet")]) == 10
    assert bytes_of([]) == 0
