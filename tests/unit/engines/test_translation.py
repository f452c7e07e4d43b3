"""SQL: files with their headers, and their translation for Spark."""

from __future__ import annotations

import datetime as dt
import re

import duckdb
import pytest

from temporal_assets.engines.sql import (
    SqlError,
    SqlFile,
    literal,
    sql_file,
    sql_names,
    translated_path,
)


@pytest.mark.parametrize("name", sql_names())
def test_every_file_declares_what_it_uses(name: str) -> None:
    file = sql_file(name)
    text = file.render(file.inputs, dict.fromkeys(file.parameters, 1))
    assert "$" not in text
    assert file.inputs, "a transformation reads something"
    for line in ("-- inputs:", "-- parameters:", "-- output:", "-- grain:"):
        assert line in file.text


def test_a_missing_input_is_an_error_before_anything_runs() -> None:
    with pytest.raises(SqlError, match=r"page_views.sql declares inputs \['requests'\]"):
        sql_file("page_views").render([], {})


def test_a_surplus_parameter_is_an_error() -> None:
    with pytest.raises(SqlError, match="declares parameters"):
        sql_file("page_views").render(["requests"], {"day": 1})


@pytest.mark.parametrize(
    "value",
    [
        True,
        7,
        -2,
        0.1,
        1e300,
        "it's; -- \\ $x",
        dt.date(2026, 2, 28),
        dt.datetime(2026, 1, 2, 3, 4, 5, 6),
    ],
)
def test_literals_mean_the_value(value: object) -> None:
    (actual,) = duckdb.sql(f"SELECT {literal(value)}").fetchall()[0]
    assert actual == value


def test_what_has_no_literal_is_refused() -> None:
    with pytest.raises(SqlError, match="list"):
        literal([1])


sqlglot = pytest.importorskip("sqlglot", reason="SQLGlot, of the dev extra, translates")

from temporal_assets.engines.spark.translation import translate  # noqa: E402


def test_every_translation_is_that_of_its_file_as_it_is_now() -> None:
    there = {path.stem: path.read_text("utf-8") for path in translated_path("x").parent.iterdir()}
    files = [file for name in sql_names() if (file := sql_file(name)).is_for_spark]
    assert there == {file.name: translate(file) for file in files}, (
        "run `python -m temporal_assets.engines.spark.translation`"
    )


def spark(text: str, *inputs: str) -> str:
    """Return a query's translation for Spark on one line."""
    actual = translate(SqlFile("x", text, frozenset(inputs or ("t",)), frozenset()))
    lines = (line for line in actual.splitlines() if not line.startswith("--"))
    joined = re.sub(r"\s+", " ", " ".join(lines)).strip()
    return joined.replace("( ", "(").replace(" )", ")")


@pytest.mark.parametrize(
    ("duckdb", "wanted"),
    [
        ("list_extract(a, 2)", "GET(a, 2 - 1)"),
        ("list_extract(a, list_position(b, c))", "GET(a, ARRAY_POSITION(b, c) - 1)"),
        ("list_slice(a, 2, b + 1)", "SLICE(a, 2, GREATEST((b + 1) - 2 + 1, 0))"),
        ("list_sum(a)", "AGGREGATE(a, CAST(NULL AS BIGINT), (s, v) -> COALESCE(s, 0) + v)"),
        ("range(b)", "SLICE(SEQUENCE(0, b), 1, b - 0)"),
        ("range(b - c, b)", "SLICE(SEQUENCE(b - c, b), 1, b - (b - c))"),
        ("list_sort(list(a))", "ARRAY_SORT(COLLECT_LIST(a))"),
    ],
)
def test_functions_of_lists(duckdb: str, wanted: str) -> None:
    session = spark(f"SELECT {duckdb} AS x FROM t")  # noqa: S608
    assert session == f"SELECT {wanted} AS x FROM {{t}} AS t"  # noqa: S608


def test_absent_keys_are_joined_and_not_broadcast() -> None:
    text = "SELECT a FROM t WHERE a NOT IN (SELECT a FROM u WHERE a NOT IN (SELECT a FROM v))"
    session = spark(text, "t", "u", "v")
    assert "IN (" not in session
    assert session.count("NOT EXISTS(") == 2
    assert "FROM {u} AS u WHERE NOT EXISTS" in session
    assert session.endswith("absent WHERE absent.absent_key = a)")


def test_lists_side_by_side_are_one_generator() -> None:
    session = spark("SELECT k, unnest(a) AS x, unnest(b) AS y FROM t")
    assert session == (
        "SELECT k, together.x, together.y FROM {t} AS t "
        "LATERAL VIEW INLINE(ARRAYS_ZIP(a, b)) together AS x, y"
    )


def test_what_is_joined_once_is_left_to_spark() -> None:
    session = spark("WITH p AS MATERIALIZED (SELECT a FROM t) SELECT a FROM p")
    assert session == "WITH p AS (SELECT a FROM {t} AS t) SELECT a FROM p"


def test_parameters_stay_values() -> None:
    file = SqlFile("x", "SELECT a FROM t WHERE a > $least", frozenset({"t"}), frozenset({"least"}))
    assert ":least" in translate(file)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("SELECT list(a ORDER BY b) FROM t", "order of an aggregated list"),
        ("SELECT list_zip_wonderfully(a) FROM t", "list_zip_wonderfully"),
        ("WITH t AS (SELECT 1 AS a) SELECT a FROM t", "both an input and a part"),
        ("SELECT '{t}' AS a FROM t", "braces"),
    ],
)
def test_what_cannot_be_translated_is_refused(text: str, says: str) -> None:
    with pytest.raises(SqlError, match=says):
        spark(text)
