"""`query`: one SELECT, its forms, and what is refused."""

from __future__ import annotations

import csv
import io
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from temporal_assets.cli.app import app
from tests.command_line import answer, call, spawn


@pytest.mark.parametrize("form", [(), ("--csv",), ("--json",)])
@pytest.mark.parametrize(
    "value", ["DATE 'infinity'", "'12000-01-01'::DATE", "'-infinity'::TIMESTAMP"]
)
def test_dates_that_python_does_not_have_are_told(
    built: tuple[Path, Any], value: str, form: tuple[str, ...]
) -> None:
    result = call("query", f"SELECT {value} AS at", *form, "--state", built[0])
    assert result.exit_code == 1
    assert "only those of the years 1 to 9999" in " ".join(result.stderr.split())


def test_two_columns_of_one_name_are_both_there(built: tuple[Path, Any], tmp_path: Path) -> None:
    state, _ = built
    sql = "SELECT 1 AS a, 2 AS a, 3 AS a_1, 4 AS a"
    named = {"a": 1, "a_2": 2, "a_1": 3, "a_3": 4}
    assert answer(state, sql) == [named]
    (file := tmp_path / "x.sql").write_bytes(b"\xef\xbb\xbf" + sql.encode())
    text = call("query", "--file", file, "--csv", "--state", state).stdout
    assert text.splitlines() == ["a,a_2,a_1,a_3", "1,2,3,4"]
    assert "4" in call("query", sql, "--state", state).stdout


def test_csv_is_for_programs_and_spreadsheets(built: tuple[Path, Any]) -> None:
    state, _ = built
    sql = "SELECT url, views, '=1+1' AS trap, NULL AS none FROM page_views ORDER BY url LIMIT 1"
    result = call("query", sql, "--csv", "--state", state)
    assert list(csv.reader(io.StringIO(result.stdout))) == [
        ["url", "views", "trap", "none"],
        ["https://a.example/", "1", "'=1+1", ""],
    ]


def test_whole_sums_are_numbers_in_json(built: tuple[Path, Any]) -> None:
    state, _ = built
    assert answer(state, "SELECT sum(views) AS views FROM page_views") == [{"views": 4}]


def test_values_that_json_does_not_have_are_text(built: tuple[Path, Any]) -> None:
    state, _ = built
    assert answer(state, "SELECT INTERVAL '3 days 2 seconds' AS i, 'a\\xFF'::BLOB AS b") == [
        {"i": "0 months 3 days 2 seconds", "b": "a\\xff"}
    ]


def test_sql_from_a_file_and_from_standard_input(built: tuple[Path, Any], tmp_path: Path) -> None:
    state, _ = built
    file = tmp_path / "count.sql"
    file.write_text("-- how many\nSELECT count(*) AS n FROM requests;\n")
    from_file = call("query", "-f", file, "--csv", "--state", state)
    from_pipe = call("query", "-f", "-", "--csv", "--state", state, stdin=file.read_text())
    assert from_file.stdout == from_pipe.stdout == "n\n5\n"


@pytest.mark.parametrize("name", ["latin.sql", "-"])
def test_sql_that_is_no_utf8_is_named(built: tuple[Path, Any], tmp_path: Path, name: str) -> None:
    state, _ = built
    content = "SELECT 1\nAS né".encode("latin-1")
    (tmp_path / "latin.sql").write_bytes(content)
    file = name if name == "-" else str(tmp_path / name)
    result = CliRunner().invoke(app, ["query", "-f", file, "--state", str(state)], input=content)
    assert result.exit_code == 2, result.output
    message = "standard input" if name == "-" else file
    assert f"{message}: line 2 is no UTF-8" in result.stderr


def test_sql_of_the_command_line_that_is_no_utf8_is_refused(built: tuple[Path, Any]) -> None:
    sql = b"SELECT 1\nAS n\xe9".decode("utf-8", "surrogateescape")  # as Python has arguments
    result = call("query", sql, "--state", built[0])
    assert result.exit_code == 2, result.output
    assert "line 2 is no UTF-8" in result.stderr


def test_a_table_shows_hostile_text_harmlessly(built: tuple[Path, Any]) -> None:
    state, _ = built
    result = call("query", "SELECT chr(27) || '[2J[red]x' AS \"a\x1b[1m\"", "--state", state)
    assert "\\x1b[2J[red]x" in result.stdout
    assert "a\\x1b[1m" in result.stdout
    assert "\x1b" not in result.stdout


def test_a_long_table_is_cut_and_says_so(built: tuple[Path, Any]) -> None:
    state, _ = built
    result = call("query", "SELECT * FROM range(101) AS t(n)", "--state", state)
    assert "100 of 101 rows" in result.stderr
    assert "│ 99 │" in result.stdout
    assert "│ 100 │" not in result.stdout


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELEC 1", "syntax error"),
        ("SELECT * FROM nothing_of_this_name", "The views are"),
        ("SELECT 1; SELECT 2", "one SQL statement is wanted, these are 2"),
        ("", "one SQL statement is wanted, these are 0"),
        ("DROP VIEW page_views", "not DROP"),
        ("INSTALL httpfs", "not INSTALL or LOAD"),
        ("COPY (SELECT 1) TO 'out.csv'", "not COPY"),
        ("EXPLAIN ANALYZE COPY (SELECT 1) TO 'out.csv'", "not EXPLAIN"),
        ("ATTACH 'other.duckdb'", "not ATTACH"),
    ],
)
def test_what_is_no_single_select_is_refused(
    built: tuple[Path, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str, said: str
) -> None:
    state, _ = built
    monkeypatch.chdir(tmp_path)
    result = call("query", sql, "--state", state)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_leaves_early_is_no_error_to_shout_about(built: tuple[Path, Any]) -> None:
    state, _ = built
    many = "SELECT repeat('x', 1000) AS x FROM range(5000)"
    process = spawn("query", many, "--csv", "--state", state)
    assert process.stdout
    assert process.stderr
    process.stdout.readline()
    process.stdout.close()
    table = process.stderr.read()
    process.wait(timeout=120)
    assert table == ""


def test_a_damaged_day_is_no_wrong_call(built: tuple[Path, Any], tmp_path: Path) -> None:
    state = tmp_path / "state"
    shutil.copytree(built[0], state)
    for part in (state / "tables" / "page_views").rglob("*.parquet"):
        part.write_bytes(part.read_bytes()[:100])
    result = call("query", "SELECT count(*) FROM page_views", "--state", state)
    assert result.exit_code == 1
    message = re.sub(r"\s+", " ", result.stderr)
    assert "cannot be used: make it again (temporal-assets materialize page_views --day" in message
    assert "Invalid Input Error" not in message
    assert call("query", "SELECT 1 FROM nothing", "--state", state).exit_code == 2
