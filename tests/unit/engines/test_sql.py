"""The files in `sql/` and their parameters."""

from __future__ import annotations

import datetime as dt

import duckdb
import pytest

from temporal_assets.engines.sql import SqlError, literal, sql_file, sql_names


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
