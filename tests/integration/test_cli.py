"""The command line, from a log of ten lines whose results are counted by hand."""

from __future__ import annotations

import csv
import datetime as dt
import errno
import io
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from sqlalchemy.exc import OperationalError
from typer.testing import CliRunner

from temporal_assets import __version__
from temporal_assets.alerts.delivery import Webhook
from temporal_assets.cli.app import GROUPS, PARTS, SUMMARIES, app
from temporal_assets.cli.daily import ui
from temporal_assets.cli.operate import doctor
from temporal_assets.cli.sources import source_options
from temporal_assets.policy import bundle
from temporal_assets.settings import load_settings
from temporal_assets.windows.registry import WAITING_NAMES, WINDOW_NAMES
from tests import logs
from tests.mail_server import MailServer, WebServer, serving
from tests.policies import document

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
ROBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
HOME = "https://a.example/"
EARLY_NAMES = set(WINDOW_NAMES) - WAITING_NAMES
"""Window assets that are made from the first day."""


def line(
    address: str,
    time: str,
    request: str,
    referrer: str = "-",
    status: int = 200,
    agent: str = BROWSER,
) -> str:
    day, clock = time.split(" ")
    return (
        f'{address} - - [{day}/Jan/2026:{clock} +0000] "{request} HTTP/1.1" {status} 512 '
        f'"{referrer}" "{agent}"'
    )


LOG = [
    line("192.0.2.1", "30 10:00:00", "GET /"),
    line("192.0.2.1", "30 10:01:00", "GET /news/1", HOME),
    line("192.0.2.1", "30 10:02:00", "GET /news/1", HOME),  # again: the same view and transit
    line("192.0.2.2", "30 10:03:00", "GET /news/1", HOME),
    line("192.0.2.2", "30 10:03:01", "GET /style.css", HOME),
    line("192.0.2.3", "30 10:04:00", "POST /form", HOME),
    line("192.0.2.3", "30 10:05:00", "GET /gone", HOME, status=404),
    line("192.0.2.4", "30 10:06:00", "GET /", agent=ROBOT),
    "no log line at all",
    line("192.0.2.1", "31 09:00:00", "GET /news/2", "https://a.example/news/1"),
]


def call(*arguments: str | Path, stdin: str | None = None) -> Any:
    """Run a command in this process; a fault of the program fails the test with its traceback."""
    result = CliRunner().invoke(app, [str(one) for one in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def spawn(
    *arguments: str | Path, on_ctrl_c: Any = signal.default_int_handler, **options: Any
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "temporal_assets", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests that a shell started in the background ignore interrupts, and so do their children.
        preexec_fn=partial(signal.signal, signal.SIGINT, on_ctrl_c),
        **options,
    )


def answer(state: Path, sql: str) -> Any:
    return json.loads(call("query", sql, "--json", "--state", state).stdout)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("logs") / "access.log"
    path.write_text("".join(f"{text}\n" for text in LOG))
    return path


@pytest.fixture(scope="module")
def ingested(log: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    state: Path = tmp_path_factory.mktemp("state") / "temporal_state"
    result = call("ingest", log, "--host", "a.example", "--json", "--state", state)
    assert result.exit_code == 0
    return state, json.loads(result.stdout)


def test_options_that_are_not_given_again_stay(log: Path, tmp_path: Path) -> None:
    """Naming the host took a source back to finding its format."""
    state = tmp_path / "state"
    first = ("--format", "combined", "--timezone", "Europe/Berlin", "--host", "a.example")
    assert call("ingest", log, *first, "--state", state).exit_code == 0
    assert call("ingest", log, "--host", "b.example", "--state", state).exit_code == 0
    (source,) = load_settings(state).sources
    assert (source.host, source.format, source.timezone) == (
        "b.example",
        "combined",
        "Europe/Berlin",
    )
    assert call("ingest", log, "--format", "auto", "--state", state).exit_code == 0
    (source,) = load_settings(state).sources
    assert (source.host, source.format, source.timezone) == ("b.example", "auto", "Europe/Berlin")


@pytest.fixture(scope="module")
def built(ingested: tuple[Path, Any]) -> tuple[Path, Any]:
    state, _ = ingested
    result = call("materialize", "--json", "--state", state)
    assert result.exit_code == 0, result.output
    return state, json.loads(result.stdout)


def test_an_event_that_does_not_fit_on_the_disk_is_told_in_a_sentence(
    ingested: tuple[Path, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dagster writes the words of SQLite beside it, with all that it wanted to write."""
    store = SqliteEventLogStorage.store_event

    def full(self: SqliteEventLogStorage, event: Any) -> None:
        if event.dagster_event and event.dagster_event.event_type_value == "ASSET_MATERIALIZATION":
            raise OperationalError(
                "INSERT", (), sqlite3.OperationalError("database or disk is full")
            )
        store(self, event)

    state = shutil.copytree(ingested[0], tmp_path / "state")
    monkeypatch.setattr(SqliteEventLogStorage, "store_event", full)
    result = call("materialize", "--state", state)
    assert result.exit_code == 1
    assert "error: log_files: the disk of the state folder is full." in result.stderr
    for words in ("Exception", "OperationalError", "sqlalche.me"):
        assert words not in result.stderr


# What the commands do -------------------------------------------------------------------------


def test_commands_that_people_are_told_to_type_are_there() -> None:
    """Three hints named commands that had been renamed."""
    told = re.compile(r"""invocation\(\s*f?["']([a-z-]+)""")
    code = (Path(__file__).parents[2] / "temporal_assets").rglob("*.py")
    named = {name for file in code for name in told.findall(file.read_text("utf-8"))}
    assert {"materialize", "show", "evaluate"} <= named <= set(SUMMARIES)


def test_ingest_counts_every_line_by_what_became_of_it(
    log: Path, ingested: tuple[Path, Any]
) -> None:
    _, report = ingested
    assert report["days"] == ["2026-01-30", "2026-01-31"]
    assert report["unchanged"] == 0
    (file,) = report["files"]
    assert file == {
        "file": str(log),
        "format": "combined",
        "lines": 10,
        "kept": 5,
        "dropped": {"bot_agent": 1, "method": 1, "static": 1, "status": 1},
        "rejected": {"not_the_format": 1},
        "days": ["2026-01-30", "2026-01-31"],
        "has_referrers": True,
        "problem": None,
        "error": None,
    }


def test_ingest_says_which_files_keep_other_options(log: Path, state: Path) -> None:
    call("ingest", log, "--host", "a.example", "--state", state)
    other = call("ingest", log.parent, "--host", "b.example", "--state", state)
    said = " ".join(other.stderr.split())
    assert f"1 file of {log.parent} with options of another source, as {log} of {log}" in said
    own = call("ingest", log, "--host", "b.example", "--state", state)
    assert "options of another source" not in own.stderr


def test_ingest_says_what_to_do_where_lines_do_not_name_their_site(log: Path, state: Path) -> None:
    result = call("ingest", log, "--state", state)
    said = " ".join(result.stderr.split())
    assert "lines do not name their site" in said
    assert "--host www.example.com" in said
    assert "materialize" not in result.stdout + said


def test_of_many_files_that_are_no_logs_a_few_are_named(tmp_path: Path, state: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for n in range(25):
        (folder / f"{n:02}.png").write_bytes(bytes(range(30)) * 9)
    result = call("ingest", folder, "--state", state)
    assert result.exit_code == 1
    said = " ".join(result.stderr.split())
    assert said.count("no text but binary") == 11  # ten files, and the source as a whole
    assert "and 15 more files that cannot be read" in said
    listed = call("ingest", folder, "--json", "--state", state)
    assert len(json.loads(listed.stdout)["files"]) == 25


def test_ingest_reads_no_standard_input(state: Path) -> None:
    result = call("ingest", "-", "--state", state, stdin=line("192.0.2.1", "30 10:00:00", "GET /"))
    assert result.exit_code == 2
    assert "standard input is not read: name the files" in " ".join(result.stderr.split())


def test_materialize_builds_what_is_missing(built: tuple[Path, Any]) -> None:
    _, report = built
    assert report["ok"] is True
    assert report["days"] == ["2026-01-30", "2026-01-31"]
    made = {(one["asset"], one["day"]): one["rows"] for one in report["built"]}
    assert {key: rows for key, rows in made.items() if key[0] not in WINDOW_NAMES} == {
        ("requests", "2026-01-30"): 4,
        ("rejects", "2026-01-30"): 5,
        ("page_views", "2026-01-30"): 2,
        ("transits", "2026-01-30"): 3,
        ("requests", "2026-01-31"): 1,
        ("rejects", "2026-01-31"): 0,
        ("page_views", "2026-01-31"): 1,
        ("transits", "2026-01-31"): 1,
    }
    # Of the first days, all but what judges lists.
    windows = {(asset, day) for asset, day in made if asset in WINDOW_NAMES}
    assert windows == {(asset, "2026-01-31") for asset in EARLY_NAMES}
    assert [check for check in report["checks"] if check["blocking"] and not check["passed"]] == []


def test_views_are_distinct_clients(built: tuple[Path, Any]) -> None:
    state, _ = built
    assert answer(state, "SELECT * FROM page_views ORDER BY day, url") == [
        {"day": "2026-01-30", "site": "a.example", "url": "https://a.example/", "views": 1},
        {"day": "2026-01-30", "site": "a.example", "url": "https://a.example/news/1", "views": 2},
        {"day": "2026-01-31", "site": "a.example", "url": "https://a.example/news/2", "views": 1},
    ]


def test_transits_are_distinct_triples(built: tuple[Path, Any]) -> None:
    state, _ = built
    counted = answer(
        state,
        "SELECT referrer, target, count(DISTINCT client) AS clients FROM transits "
        "GROUP BY ALL ORDER BY target",
    )
    assert counted == [
        {"referrer": None, "target": "https://a.example/", "clients": 1},
        {"referrer": HOME, "target": "https://a.example/news/1", "clients": 2},
        {
            "referrer": "https://a.example/news/1",
            "target": "https://a.example/news/2",
            "clients": 1,
        },
    ]


def test_status_tells_what_is_there(log: Path, built: tuple[Path, Any]) -> None:
    state, _ = built
    report = json.loads(call("status", "--json", "--state", state).stdout)
    assert report["log_files"] == {
        "read": 1,
        "lines": 10,
        "first": "2026-01-30",
        "last": "2026-01-31",
        "new": 0,
        "unreadable": [],
        "partial": [],
        "faults": [],
        "warnings": [],
        "gives_nothing": [],
        "damaged": [],
        "source_error": None,
    }
    views = report["assets"]["page_views"]
    assert {key: views[key] for key in ("days", "first", "last", "rows", "missing", "stale")} == {
        "days": 2,
        "first": "2026-01-30",
        "last": "2026-01-31",
        "rows": 3,
        "missing": [],
        "stale": [],
    }
    assert {check["asset"] for check in report["checks"]} == {
        "log_files",
        "requests",
        "rejects",
        "page_views",
        "transits",
        *EARLY_NAMES,
    }


def test_status_for_people(built: tuple[Path, Any]) -> None:
    state, _ = built
    result = call("status", "--state", state)
    assert result.exit_code == 0
    assert re.search(r"│ page_views +│ +2 │ 2026-01-30 │ 2026-01-31 │ +3 │", result.stdout)
    assert "10 lines of 2026-01-30..2026-01-31" in result.stderr
    assert "The latest day of page_views is 2026-01-31, " in result.stderr
    assert "ago. Switched on: nothing" in result.stderr


def test_a_second_materialize_has_nothing_to_do(built: tuple[Path, Any]) -> None:
    state, _ = built
    result = call("materialize", "--state", state)
    assert result.exit_code == 0
    assert "Nothing to build" in result.stderr


def test_a_second_ingest_reads_nothing(log: Path, built: tuple[Path, Any]) -> None:
    state, _ = built
    result = call("ingest", log, "--host", "a.example", "--state", state)
    assert result.exit_code == 0
    assert "No new log files; 1 file known already" in result.stderr


def test_a_late_file_makes_its_day_stale_until_it_is_built(
    log: Path, tmp_path: Path, state: Path
) -> None:
    call("ingest", log, "--host", "a.example", "--state", state)
    call("materialize", "--state", state)
    late = tmp_path / "late.log"
    late.write_text(line("192.0.2.9", "31 23:00:00", "GET /news/2") + "\n")
    call("ingest", late, "--host", "a.example", "--state", state)
    before = json.loads(call("status", "--json", "--state", state).stdout)["assets"]
    assert before["requests"]["stale"] == ["2026-01-31"]
    assert before["transits"]["stale"] == ["2026-01-31"]
    built = json.loads(call("materialize", "--json", "--state", state).stdout)
    assert built["days"] == ["2026-01-31"]
    assert answer(state, "SELECT views FROM page_views WHERE day = '2026-01-31'") == [{"views": 2}]
    after = json.loads(call("status", "--json", "--state", state).stdout)["assets"]
    assert after["requests"]["stale"] == []


def test_one_day_and_one_asset_can_be_built(log: Path, state: Path) -> None:
    call("ingest", log, "--host", "a.example", "--state", state)
    chosen = ("requests", "page_views", "--from", "2026-01-31", "--to", "2026-02-05")
    report = json.loads(call("materialize", *chosen, "--json", "--state", state).stdout)
    assert report["days"] == ["2026-01-31"]
    assert {one["asset"] for one in report["built"]} == {"requests", "rejects", "page_views"}
    missing = json.loads(call("status", "--json", "--state", state).stdout)["assets"]
    assert missing["requests"]["missing"] == ["2026-01-30"]
    assert missing["transits"]["missing"] == ["2026-01-30", "2026-01-31"]


@pytest.fixture
def windows(tmp_path: Path, state: Path) -> Path:
    """A state folder of four days read, whose windows have three days."""
    state.mkdir()
    (state / "settings.toml").write_text(
        "[window]\ndays = 3\nmin_days = 2\nmin_views_per_day = 0.5\n"
    )
    log = tmp_path / "four.log"
    log.write_text(
        "".join(
            line("192.0.2.1", f"{day:02} 10:00:00", f"GET /{page}") + "\n"
            for day in range(1, 5)
            for page in ("", f"news/{day // 3}")
        )
    )
    assert call("ingest", log, "--host", "a.example", "--state", state).exit_code == 0
    return state


def test_materialize_makes_the_window_of_the_latest_day(windows: Path) -> None:
    built = json.loads(call("materialize", "--json", "--state", windows).stdout)
    of_pages = ("page_totals", "page_histories", "page_labels")
    assert [
        (one["asset"], one["day"], one["rows"])
        for one in built["built"]
        if one["asset"] in of_pages
    ] == [
        ("page_totals", "2026-01-04", 3),
        ("page_histories", "2026-01-04", 2),
        ("page_labels", "2026-01-04", 2),
    ]
    assert answer(windows, "SELECT url, views, is_born_before FROM page_histories") == [
        {"url": "https://a.example/", "views": [1, 1, 1], "is_born_before": True},
        {"url": "https://a.example/news/1", "views": [0, 1, 1], "is_born_before": False},
    ]
    again = call("materialize", "--state", windows)
    assert "Nothing to build" in again.stderr


def test_what_is_named_is_made_with_what_it_is_made_from(windows: Path, tmp_path: Path) -> None:
    made = call("materialize", "crawl_policy", "--state", windows)
    assert made.exit_code == 0
    assert "there is no policy" not in call("policy", "--state", windows).stderr
    late = tmp_path / "late.log"
    late.write_text(line("192.0.2.1", "05 10:00:00", "GET /news/2") + "\n")
    call("ingest", late, "--host", "a.example", "--state", windows)
    built = json.loads(call("materialize", "crawl_policy", "--json", "--state", windows).stdout)
    assert built["days"] == ["2026-01-05"]
    assert ("crawl_policy", "2026-01-05") in {(one["asset"], one["day"]) for one in built["built"]}
    assert "evaluation_report" not in {one["asset"] for one in built["built"]}
    again = call("materialize", "crawl_policy", "--state", windows)
    assert "Nothing to build" in again.stderr


def test_a_daily_asset_brings_its_own_source(windows: Path) -> None:
    built = json.loads(call("materialize", "page_views", "--json", "--state", windows).stdout)
    assert built["ok"]
    assert {one["asset"] for one in built["built"]} == {"requests", "rejects", "page_views"}
    assert len(built["days"]) == 4
    # Windows are due now, and nobody asked for one.
    again = call("materialize", "page_views", "--state", windows)
    assert "Nothing to build" in again.stderr


def test_an_asset_is_made_again_for_its_own_late_days_alone(windows: Path, tmp_path: Path) -> None:
    def built(*names: str) -> set[tuple[str, str]]:
        report = json.loads(call("materialize", *names, "--json", "--state", windows).stdout)
        assert report["ok"]
        return {(one["asset"], one["day"]) for one in report["built"] if one["asset"] != "rejects"}

    days = [f"2026-01-{day:02}" for day in range(1, 5)]
    assert built("requests") == {("requests", day) for day in days}
    late = tmp_path / "late.log"
    late.write_text(line("192.0.2.1", "03 10:00:00", "GET /late") + "\n")
    call("ingest", late, "--host", "a.example", "--state", windows)
    of_views = {("page_views", day) for day in days}
    assert built("page_views") == {("requests", "2026-01-03"), *of_views}
    made = built()
    assert {one for one in made if one[0] in ("requests", "page_views")} == set()
    assert {("transits", day) for day in days} < made


def test_ingest_says_what_is_left_to_build(windows: Path) -> None:
    again = ("ingest", windows.parent / "four.log", "--host", "a.example", "--state", windows)
    assert "Next: " in call(*again).stderr
    call("materialize", "--state", windows)
    assert "Nothing to build. What is there: " in call(*again).stderr


def test_windows_of_other_days_are_made_when_both_are_named(windows: Path) -> None:
    call("materialize", "--state", windows)
    chosen = ("page_histories", "--day", "2026-01-03", "--json", "--state", windows)
    built = json.loads(call("materialize", *chosen).stdout)
    assert [(one["asset"], one["day"]) for one in built["built"]] == [
        ("page_totals", "2026-01-03"),
        ("page_histories", "2026-01-03"),
    ]
    short = call("materialize", "evaluation_report", "--day", "2026-01-01", "--state", windows)
    assert short.exit_code == 1
    assert "fewer than the 2 that `window.min_days` asks for" in " ".join(short.stderr.split())


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


def test_status_tells_of_the_latest_window(windows: Path) -> None:
    call("materialize", "page_views", "requests", "--state", windows)

    def said() -> Any:
        assets = json.loads(call("status", "--json", "--state", windows).stdout)["assets"]
        return {
            name: (assets[name]["missing"], assets[name]["stale"])
            for name in ("page_totals", "page_histories")
        }

    latest = ["2026-01-04"]
    assert said() == {"page_totals": (latest, []), "page_histories": (latest, [])}
    call("materialize", "page_histories", "--state", windows)
    assert said() == {"page_totals": ([], []), "page_histories": ([], [])}
    call("materialize", "page_histories", "--day", "2026-01-02", "--state", windows)
    assert said() == {"page_totals": ([], []), "page_histories": ([], [])}


def test_a_day_without_logs_fails_and_says_which_days_there_are(log: Path, state: Path) -> None:
    call("ingest", log, "--host", "a.example", "--state", state)
    result = call("materialize", "--day", "2026-02-02", "--state", state)
    assert result.exit_code == 1
    assert "2026-02-02 was left out: the logs end with 2026-01-31" in result.stderr
    ahead = call("materialize", "--day", "2999-01-01", "--state", state)
    assert ahead.exit_code == 1, "a day that was named and left out"
    assert "2999-01-01 was left out: the day has not begun" in ahead.stderr
    before = call("materialize", "--day", "2026-01-02", "--state", state)
    assert before.exit_code == 1
    assert "2026-01-02 was left out: the first partition is 2026-01-30" in before.stderr


def test_an_unreadable_file_fails_but_does_not_stop_the_others(
    log: Path, tmp_path: Path, state: Path
) -> None:
    odd = tmp_path / "odd.log"
    odd.write_text("what is this? 1\nwhat is that? 2\n")
    result = call("ingest", log, odd, "--host", "a.example", "--state", state)
    assert result.exit_code == 1
    assert "10 lines, 5 page requests kept" in result.stderr
    assert f"error: {odd}: 1 of 1 files cannot be read" in " ".join(result.stderr.split())
    assert [source.path for source in load_settings(state).sources] == [str(log)]
    assert "--format" in call("ingest", "--help").stdout


@pytest.mark.parametrize(
    ("line", "name", "way"),
    [
        ('192.0.2.1 - - [30/Jan/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 512\n', "common",
         "say what the server was told to write: `--format nginx:…`"),
        ("time,visitor,url\n2026-01-30T10:00:00Z,a,/\n", "csv by address=visitor",
         "say under which name: `--column referrer=NAME`"),
    ],
)  # fmt: skip
def test_a_format_without_referrers_is_said_plainly(
    tmp_path: Path, state: Path, line: str, name: str, way: str
) -> None:
    log = tmp_path / "access.log"
    log.write_text(line)
    result = call("ingest", log, "--host", "a.example", "--state", state)
    assert result.exit_code == 0
    said = " ".join(result.stderr.split())
    assert f"1 file in a format without referrers ({name})" in said
    assert way in said


# Queries --------------------------------------------------------------------------------------


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
    said = "standard input" if name == "-" else file
    assert f"{said}: line 2 is no UTF-8" in result.stderr


def test_sql_of_the_command_line_that_is_no_utf8_is_refused(built: tuple[Path, Any]) -> None:
    sql = b"SELECT 1\nAS n\xe9".decode("utf-8", "surrogateescape")  # as Python has arguments
    result = call("query", sql, "--state", built[0])
    assert result.exit_code == 2, result.output
    assert "line 2 is no UTF-8" in result.stderr


def test_tables_that_are_none_of_links_are_named(built: tuple[Path, Any], tmp_path: Path) -> None:
    state, _ = built
    pq.write_table(pa.table({"url": ["https://a.example/"]}), tmp_path / "links.parquet")
    result = call("mirror", tmp_path / "links.parquet", "--state", state)
    assert result.exit_code == 1
    assert "links.parquet: a table of links has a source and a target" in result.stderr
    (tmp_path / "links.csv.gz").write_bytes(b"no archive")
    result = call("mirror", tmp_path / "links.csv.gz", "--state", state)
    assert result.exit_code == 1
    assert "links.csv.gz: damaged after row 0" in result.stderr
    (tmp_path / "pages.parquet").write_bytes(b"no Parquet")
    result = call("mirror", tmp_path / "pages.parquet", "--state", state)
    assert result.exit_code == 1
    assert "pages.parquet: " in result.stderr
    # A name that says nothing, or is of nothing, is a wrong call.
    (tmp_path / "links.txt").write_text("source,target\n")
    for name, said in (("links.txt", "a mirror is made of"), ("gone.csv", "there is no ")):
        result = call("mirror", tmp_path / name, "--state", state)
        assert result.exit_code == 2
        assert said in result.stderr
        assert result.stderr.count(name) == 1
    result = call("mirror", "--demo", "--state", state)
    assert result.exit_code == 2
    assert "`temporal-assets demo` writes it" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "gone.txt"),
        ("try", "thresholds", "gone.txt"),
        ("mirror", "gone.txt"),
        ("query", "--file", "gone.txt"),
        ("evaluate", "crawls", "--clicks", "gone.txt"),
    ],
)
def test_a_file_that_is_not_there_is_a_wrong_call(
    built: tuple[Path, Any], arguments: tuple[str, ...]
) -> None:
    result = call(*arguments, "--state", built[0])
    assert result.exit_code == 2
    assert "there is no gone.txt" in result.stderr


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
    said = process.stderr.read()
    process.wait(timeout=120)
    assert said == ""


# Being called wrongly -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["frobnicate"], "No such command"),
        (["ingest"], "Missing argument"),
        (["ingest", "no/such/file.log"], "no such file, folder or glob"),
        (["ingest", "{log}", "--format", "apahce"], "known are"),
        (["ingest", "{log}", "--format", "regex:("], "regex"),
        (
            ["ingest", "{log}", "--timezone", "Mars/Base"],
            "--timezone Mars/Base: 'Mars/Base' is no time zone",
        ),
        (["ingest", "{log}", "--scheme", "ftp"], "--scheme ftp"),
        (["ingest", "{log}", "--column", "url"], "write FIELD=COLUMN"),
        (["ingest", "{log}", "--column", "colour=red"], "unknown field colour"),
        (["materialize", "page_visits"], "no asset 'page_visits'; there are requests"),
        (["materialize", "--day", "31.1.2026"], "is not a day like 2026-01-31"),
        (["materialize", "--day", "2026-01-31", "--missing"], "exclude each other"),
        (["query"], "give the SQL"),
        (["query", "SELECT 1", "-f", "x.sql"], "give the SQL"),
        (["query", "SELECT 1", "--json", "--csv"], "exclude each other"),
        (["demo", "--size", "enormous"], "there are small, medium, paper"),
        (["demo", "--days", "0"], "--days"),
        (["ui", "--port", "0"], "--port"),
    ],
)
def test_a_mistake_is_explained_and_changes_nothing(
    log: Path, state: Path, arguments: list[str], said: str
) -> None:
    filled = [log if one == "{log}" else one for one in arguments]
    result = call(*filled, *([] if arguments == ["frobnicate"] else ["--state", state]))
    assert result.exit_code == 2, result.output
    assert said in re.sub(r"\s+", " ", result.stderr)
    assert not state.exists()


@pytest.mark.parametrize("command", ["status", "materialize", "ui"])
def test_a_mistyped_state_folder_is_not_an_empty_one(state: Path, command: str) -> None:
    result = call(command, "--state", state)
    assert result.exit_code == 1
    assert f"there is no state folder {state}" in result.stderr
    assert not state.exists()


def test_a_damaged_day_is_no_wrong_call(built: tuple[Path, Any], tmp_path: Path) -> None:
    state = tmp_path / "state"
    shutil.copytree(built[0], state)
    for part in (state / "tables" / "page_views").rglob("*.parquet"):
        part.write_bytes(part.read_bytes()[:100])
    result = call("query", "SELECT count(*) FROM page_views", "--state", state)
    assert result.exit_code == 1
    said = re.sub(r"\s+", " ", result.stderr)
    assert "cannot be used: make it again (temporal-assets materialize page_views --day" in said
    assert "Invalid Input Error" not in said
    assert call("query", "SELECT 1 FROM nothing", "--state", state).exit_code == 2


def test_an_export_tells_its_files_as_json(tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_text(json.dumps(document()), "utf-8")
    out = tmp_path / "out"
    result = call("export", "scrapy", "--policy", tmp_path / "policy.json", "--to", out, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["target"], told["folder"], told["removed"]) == ("scrapy", str(out), [])
    sizes = {one["file"]: one["bytes"] for one in told["written"]}
    assert sizes == {str(path): path.stat().st_size for path in out.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("temporal-assets ma", {"materialize", "match"}), ("temporal-assets export --js", {"--json"})],
)
def test_a_shell_completes_commands_and_options(typed: str, offered: set[str]) -> None:
    asked = {
        "_TEMPORAL_ASSETS_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    result = CliRunner().invoke(app, [], prog_name="temporal-assets", env=asked)
    assert set(result.stdout.split()) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_shown(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whatever shell the tests are run from, if any.
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: (shell, f"/bin/{shell}"))
    result = CliRunner().invoke(app, ["--show-completion"], prog_name="temporal-assets")
    assert f"_TEMPORAL_ASSETS_COMPLETE=complete_{shell}" in result.stdout


@pytest.mark.parametrize(
    "command",
    [("policy",), ("export", "nutch", "--to", "out"), ("crawl", "--to", "out", "--contact", "a@b")],
)
def test_a_damaged_policy_is_said_before_anything_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    hubs = [hub | {"url": "no-scheme"} for hub in document()["hubs"]]
    Path("policy.json").write_text(json.dumps(document() | {"hubs": hubs}), "utf-8")
    result = call(*command, "--policy", "policy.json")
    assert result.exit_code == 1
    assert "policy.json is damaged" in result.stderr
    assert not Path("out").exists()


def test_what_a_policy_holds_has_names_in_json(tmp_path: Path) -> None:
    Path(tmp_path / "policy.json").write_text(json.dumps(document()), "utf-8")
    result = call("policy", "--policy", tmp_path / "policy.json", "--json")
    first = json.loads(result.stdout)["lists"][0]
    assert list(first) == ["list", "entries", "now", "later", "skip"]
    assert (first["list"], first["entries"]) == ("sites", len(document()["sites"]))


@pytest.mark.parametrize("contact", ["nobody", "us at example.org", "ftp://example.org/", "a@b c"])
def test_a_crawl_says_where_it_can_be_reached(tmp_path: Path, contact: str) -> None:
    result = call("crawl", "--to", tmp_path, "--contact", contact, "--policy", tmp_path / "none")
    assert result.exit_code == 2
    assert "give an address of the web or of mail" in result.stderr
    result = call(
        "crawl", "--to", tmp_path, "--contact", "http://a.b/", "--policy", tmp_path / "none"
    )
    assert (result.exit_code, "none\n" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    "command",
    ["show labels --html", "show page https://a.example/ --png",
     "show page https://a.example/ --html", "show tree a.example --html", "evaluate --html",
     "try thresholds --png"],
)  # fmt: skip
def test_a_result_that_has_no_place_is_refused_before_the_work(
    tmp_path: Path, command: str
) -> None:
    nowhere = tmp_path / "none" / "file"
    result = call(*command.split(), nowhere, "--state", tmp_path)
    assert result.exit_code == 2
    assert f"there is no folder {nowhere.parent}" in result.stderr


def test_where_no_log_has_been_read_nothing_is_up_to_date(tmp_path: Path) -> None:
    result = call("materialize", "--state", tmp_path)
    assert result.exit_code == 0
    assert "no log lines are known yet" in result.stderr
    assert f"temporal-assets ingest PATH --state {tmp_path}" in result.stderr


def test_every_option_says_what_it_is_for() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    silent = [
        f"{name} {option.name}"
        for name, one in commands.items()
        for option in one.params
        if not getattr(option, "help", None)
    ]
    assert silent == []


@pytest.mark.parametrize("command", ["status", "materialize"])
def test_a_file_is_no_state_folder(log: Path, command: str) -> None:
    result = call(command, "--state", log)
    assert result.exit_code == 2
    assert f"{log} is a file: name a folder with --state" in result.stderr


def test_settings_are_utf_8(state: Path) -> None:
    state.mkdir()
    (state / "settings.toml").write_bytes("[cleaning]".encode("utf-16"))
    result = call("status", "--state", state)
    assert result.exit_code == 1
    assert "settings.toml: this is no UTF-8: save it as UTF-8" in result.stderr


def test_broken_settings_are_named(state: Path) -> None:
    state.mkdir()
    (state / "settings.toml").write_text("[window]\ndays = 0\n")
    result = call("status", "--state", state)
    assert result.exit_code == 1
    assert "settings.toml" in result.stderr
    assert "window.days" in result.stderr


def test_the_state_folder_can_come_from_the_environment(
    built: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    state, _ = built
    monkeypatch.setenv("TEMPORAL_ASSETS_STATE", str(state))
    assert json.loads(call("status", "--json").stdout)["state"] == str(state)


# The rest -------------------------------------------------------------------------------------


def test_version() -> None:
    assert call("--version").stdout == f"temporal-assets {__version__}\n"


@pytest.mark.parametrize(
    "command", ["demo", "ingest", "materialize", "status", "query", "show page", "ui", "doctor"]
)
def test_every_command_has_help(command: str) -> None:
    result = call(*command.split(), "--help")
    assert result.exit_code == 0
    assert "--state" in result.stdout
    assert ("--json" in result.stdout) == (command != "ui")


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    listed = call("--help").stdout
    for name, summary in SUMMARIES.items():
        assert f"  {name} " in listed
        shown = " ".join(call(name, "--help").stdout.split())
        assert f" {summary}" in shown, name


def test_parts_of_commands_say_of_themselves_what_is_listed() -> None:
    for name, parts in PARTS.items():
        listed = call(name, "--help").stdout
        for part, summary in parts.items():
            assert f"  {part} " in listed
            shown = " ".join(call(name, part, "--help").stdout.split())
            assert f" {summary}" in shown, (name, part)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["show", "https://www.example.com/news/1"], "show page"),
        (["show", "www.example.com"], "show site"),
        (["show"], "show labels"),
        (["show", "--json"], "show labels"),
        (["show", "tree", "www.example.com"], "show tree"),
        (["evaluate", "list.txt"], "evaluate lists"),
        (["evaluate"], "evaluate lists"),
        (["try", "labels.q=0.8"], "try settings"),
    ],
)
def test_what_names_no_part_goes_to_the_one_that_is_meant(words: list[str], part: str) -> None:
    # An option that no part has: the usage names the part that was asked.
    result = call(*words, "--no-such-option")
    assert result.exit_code == 2
    assert f"{part} [OPTIONS]" in " ".join(result.output.split())


def test_try_alone_shows_its_parts() -> None:
    assert "thresholds" in call("try").output


def test_the_list_of_commands_imports_none_of_them() -> None:
    script = (
        "import sys; from typer.testing import CliRunner; from temporal_assets.cli.app import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "print([n for n in ('temporal_assets.cli.daily.demo', 'rich') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_a_mistyped_command_is_told_the_nearest() -> None:
    result = call("ingset")
    assert result.exit_code == 2
    assert "ingest" in result.output


def test_h_is_help_and_commands_come_in_groups() -> None:
    listed = call("-h").stdout
    assert listed == call("--help").stdout
    places = [listed.index(f"\n{title}:\n") for title in GROUPS]
    assert places == sorted(places)
    assert sum(map(len, GROUPS.values())) == len(SUMMARIES)
    assert call("policy", "-h").stdout == call("policy", "--help").stdout


def test_help_loads_nothing_heavy() -> None:
    heavy = "dagster duckdb great_expectations numba numpy pandas pyarrow resvg_py scipy"
    script = (
        "import sys; from typer.testing import CliRunner; from temporal_assets.cli.app import app\n"
        "assert CliRunner().invoke(app, ['ingest', '--help']).exit_code == 0\n"
        f"print([name for name in {heavy.split()!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_help_lists_every_format() -> None:
    from temporal_assets.logs.formats.formats import FORMATS

    assert set(source_options.FORMAT_NAMES.split(", ")) == set(FORMATS)


def test_no_address_is_shown_or_written(built: tuple[Path, Any]) -> None:
    state, _ = built
    shown = [
        call("status", "--state", state).output,
        call("query", "SELECT * FROM requests", "--json", "--state", state).output,
        call("query", "SELECT * FROM rejects", "--csv", "--state", state).output,
    ]
    assert "192.0.2." not in "".join(shown)
    written = [path.read_bytes() for path in state.rglob("*") if path.is_file()]
    assert len(written) > 10
    assert not any(b"192.0.2." in content for content in written)


def test_the_doctor_finds_a_healthy_state_healthy(built: tuple[Path, Any]) -> None:
    state, _ = built
    result = call("doctor", "--json", "--state", state)
    findings = {one["check"]: one["status"] for one in json.loads(result.stdout)}
    # How full the disk of this machine is, is not for a test to say.
    findings.pop("disk")
    assert findings == dict.fromkeys(
        [
            "python",
            "packages",
            "sql files",
            "settings",
            "state folder",
            "keys",
            "engine",
            "logs",
            "log records",
            "published files",
            "unfinished work",
            "transits",
            "policy",
            "schema versions",
            "dagster home",
            "alerts",
        ],
        "ok",
    )


def test_the_doctor_says_how_closely_it_has_looked(
    built: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def published(*options: str) -> tuple[str, str]:
        found = json.loads(call("doctor", "--json", "--state", state, *options).stdout)
        return next(
            (one["status"], one["detail"]) for one in found if one["check"] == "published files"
        )

    state, _ = built
    sizes = "all there, of the size that was published"
    assert published() == ("ok", f"{sizes} (--contents reads them)")
    assert published("--contents") == ("ok", sizes)
    bucket = fsspec.filesystem("memory")
    tables = state / "tables"
    for path in tables.rglob("*.*"):
        name = path.relative_to(tables).as_posix()
        bucket.pipe_file(f"/looked-at/tables/{name}", path.read_bytes())
    monkeypatch.setenv("TEMPORAL_ASSETS_STORAGE", "memory://looked-at/tables")
    unread = f"{sizes}; an object store has digests of its own, so that nothing is read"
    assert published("--contents") == published() == ("ok", unread)
    file = next(path for path in bucket.find("/looked-at/tables") if path.endswith(".parquet"))
    bucket.pipe_file(file, b"less")
    status, detail = published("--contents")
    assert status == "broken"
    assert Path(file).name in detail


def test_the_doctor_sends_a_test_message_when_asked(
    built: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def alerts(*options: str) -> tuple[str, str]:
        found = json.loads(call("doctor", "--json", "--state", state, *options).stdout)
        return next((one["status"], one["detail"]) for one in found if one["check"] == "alerts")

    state, _ = built
    nobody = "nobody to tell: alerts.webhook and alerts.to are not set"
    assert alerts() == ("ok", nobody)
    assert alerts("--alert") == ("broken", nobody)
    server = WebServer()
    monkeypatch.setenv("TEMPORAL_ASSETS_ALERTS__WEBHOOK", server.url)
    with serving(server):
        assert alerts() == ("ok", "the webhook at 127.0.0.1 (--alert sends a test)")
        assert server.texts == []
        assert alerts("--alert") == ("ok", "sent to the webhook at 127.0.0.1")
        assert "this is a test" in server.texts[0]
        server.answers = [(404, "no_service")]
        status, detail = alerts("--alert")
    assert status == "broken"
    assert detail.startswith("not sent to the webhook at 127.0.0.1: answered 404 ")
    assert "SECRET" not in detail


def test_the_doctor_tries_other_channels_after_an_error_that_nobody_thought_of(
    built: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumbles(*_: Any) -> str:
        raise RuntimeError("https://a.example/SECRET")

    state, _ = built
    server = MailServer()
    monkeypatch.setattr(Webhook, "deliver", stumbles)
    with serving(server):
        monkeypatch.setenv("TEMPORAL_ASSETS_ALERTS__WEBHOOK", "https://a.example/SECRET")
        monkeypatch.setenv("TEMPORAL_ASSETS_ALERTS__TO", '["ops@example.org"]')
        monkeypatch.setenv("TEMPORAL_ASSETS_ALERTS__SMTP_PORT", str(server.port))
        found = json.loads(call("doctor", "--json", "--alert", "--state", state).stdout)
    (said,) = (one for one in found if one["check"] == "alerts")
    poor, good = said["detail"].splitlines()
    assert said["status"] == "broken"
    assert poor.startswith("not sent to the webhook at a.example: RuntimeError at test_cli.py:")
    assert good.startswith("sent to ")
    assert len(server.mails) == 1
    assert "SECRET" not in said["detail"]


def test_the_doctor_finds_what_is_broken(state: Path) -> None:
    (state / "secrets").mkdir(parents=True)
    key = state / "secrets" / "client-0.key"
    key.write_text("secret")
    key.chmod(0o644)
    (state / "settings.toml").write_text('[[sources]]\npath = "/no/such/logs"\n')
    result = call("doctor", "--json", "--state", state)
    findings = {one["check"]: one for one in json.loads(result.stdout)}
    assert result.exit_code == 1
    assert findings["keys"]["status"] == doctor.BROKEN
    assert "client-0.key" in findings["keys"]["detail"]
    assert "secret " not in findings["keys"]["detail"]
    assert findings["settings"]["status"] == doctor.WARNING
    assert "/no/such/logs" in findings["settings"]["detail"]


def test_the_doctor_finds_a_damaged_policy(state: Path) -> None:
    published = bundle.publish(document(), state / "policy", state / "tmp").folder
    bundle.release(state / "policy", published.name)
    file = published / "policy.json"
    text = file.read_bytes()
    for damaged in (text.replace(b'"rank":1', b'"rank":3', 1), text[:100], None):
        file.unlink() if damaged is None else file.write_bytes(damaged)
        result = call("doctor", "--json", "--state", state)
        (found,) = (one for one in json.loads(result.stdout) if one["check"] == "policy")
        assert result.exit_code == 1
        assert found["status"] == doctor.BROKEN
        assert str(published) in found["detail"]
        assert "materialize crawl_policy --day 2025-05-01" in found["detail"]


def test_the_doctor_finds_sources_that_cannot_be_read(state: Path) -> None:
    state.mkdir()
    (state / "settings.toml").write_text(
        '[[sources]]\npath = "/no/such/logs"\nformat = "combind"\n'
    )
    result = call("doctor", "--json", "--state", state)
    (found,) = (one for one in json.loads(result.stdout) if one["check"] == "settings")
    assert result.exit_code == 1
    assert found["status"] == doctor.BROKEN
    assert found["detail"].startswith("source /no/such/logs: format 'combind' is not known")


def test_the_doctor_says_what_to_do_about_rights(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(state / "secrets"))

    monkeypatch.setattr(doctor, "_keys", denied)
    result = call("doctor", "--json", "--state", state)
    (found,) = (one for one in json.loads(result.stdout) if one["check"] == "keys")
    assert found["status"] == doctor.BROKEN
    assert found["detail"].startswith(f"{state / 'secrets'}: permission denied. Run the command as")


def test_the_doctor_creates_nothing(state: Path) -> None:
    call("doctor", "--state", state)
    assert not state.exists()


def test_the_ui_is_bound_to_this_machine(
    built: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    state, _ = built
    started: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(os, "execve", lambda _path, args, env: started.append((args, env)))
    monkeypatch.setattr(
        ui, "_run_together", lambda both, env: started.extend((args, env) for args in both)
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert call("ui", "--port", str(port), "--state", state).exit_code == 0
    server, daemon = started
    assert "-h" not in daemon[0]  # it listens to nobody
    started.clear()
    monkeypatch.setattr(os, "execve", lambda _path, args, env: started.append((args, env)))
    monkeypatch.setattr(ui, "_run_together", lambda *_: None)
    assert call("ui", "--port", str(port), "--read-only", "--state", state).exit_code == 0
    started = [server, *started]
    for arguments, environment in started:
        assert "temporal_assets.guard" in arguments
        assert arguments[arguments.index("-h") + 1] == "127.0.0.1"
        assert environment["TEMPORAL_ASSETS_STATE"] == str(state)
        assert environment["DAGSTER_HOME"] == str(state / "dagster")
    assert ["--read-only" in arguments for arguments, _ in started] == [False, True]


def test_the_ui_says_when_its_port_is_taken(built: tuple[Path, Any]) -> None:
    state, _ = built
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = call("ui", "--port", str(taken.getsockname()[1]), "--state", state)
    assert result.exit_code == 1
    assert "choose another with --port" in result.stderr


# The demo -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    state: Path = tmp_path_factory.mktemp("demo") / "temporal_state"
    size = ("--days", "2", "--requests", "20000")
    result = call("demo", *size, "--until", "2025-03-04", "--json", "--state", state)
    assert result.exit_code == 0, result.output
    return state, json.loads(result.stdout)


def test_the_demo_goes_from_logs_to_every_asset(demo: tuple[Path, Any]) -> None:
    state, report = demo
    assert report["days"] == ["2025-03-03", "2025-03-04"]
    assert {one["asset"] for one in report["built"]} == {
        "requests",
        "rejects",
        "page_views",
        "transits",
        *EARLY_NAMES,
    }
    summary = report["summary"]
    assert len(summary["pages"]) == 5
    assert summary["sites"]
    assert json.loads(call("policy", "--json", "--state", state).stdout)["provisional"]
    assert {row["kind"] for row in summary["reasons"]} == {"rejected", "dropped"}
    top = summary["pages"][0]
    (most,) = answer(state, "SELECT max(views) AS views FROM page_views")
    assert most == {"views": top["views"]}


def test_a_report_of_too_few_days_says_what_is_missing(built: tuple[Path, Any]) -> None:
    state, _ = built
    result = call("report", "--state", state)
    assert result.exit_code == 1
    said = " ".join(result.stderr.split())
    assert "no report of 2026-01-31 yet. 2 days are there, and 7 are needed" in said
    assert "Read more days: temporal-assets ingest PATH" in said


def test_the_demo_shows_no_page_that_few_clients_opened(demo: tuple[Path, Any]) -> None:
    _, report = demo
    assert min(row["views"] for row in report["summary"]["pages"]) >= 5


def test_the_same_demo_goes_on_with_its_days_and_a_new_one_ends_yesterday(
    demo: tuple[Path, Any], tmp_path: Path
) -> None:
    state, report = demo
    again = call("demo", "--days", "2", "--requests", "20000", "--json", "--state", state)
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["days"] == report["days"]
    other = call("demo", "--days", "2", "--requests", "300", "--json", "--state", tmp_path / "new")
    assert other.exit_code == 0, other.output
    yesterday = dt.datetime.now(dt.UTC).date() - dt.timedelta(1)
    # Midnight may have passed since.
    ends = {(yesterday - n * dt.timedelta(1)).isoformat() for n in (0, 1)}
    assert json.loads(other.stdout)["days"][-1] in ends


def test_another_demo_is_not_mixed_into_the_first(demo: tuple[Path, Any]) -> None:
    state, _ = demo
    result = call("demo", "--seed", "2", "--state", state)
    assert result.exit_code == 2
    assert "a demo with other options" in result.stderr


def test_a_demo_is_not_mixed_with_real_logs(built: tuple[Path, Any], tmp_path: Path) -> None:
    state, _ = built
    result = call("demo", "--state", state)
    assert result.exit_code == 2
    assert "log sources of its own" in result.stderr
    assert not (state / "demo").exists()


def test_real_logs_are_not_mixed_into_a_demo(demo: tuple[Path, Any], tmp_path: Path) -> None:
    state, _ = demo
    before = (state / "settings.toml").read_text()
    noon = dt.datetime(2026, 3, 1, 12)
    logs.write(tmp_path / "access.log", [logs.line(noon, "/a")])
    result = call("ingest", tmp_path / "access.log", "--host", "a.example", "--state", state)
    assert result.exit_code == 2
    assert "would be mixed with the logs of the demo" in result.stderr
    assert (state / "settings.toml").read_text() == before
    again = call("ingest", state / "demo" / "logs", "--state", state)
    assert "would be mixed" not in again.stderr


ENDINGS = {
    "ctrl-c": (signal.SIGINT, signal.default_int_handler),
    "sigterm": (signal.SIGTERM, signal.default_int_handler),
    "sigterm in the background": (signal.SIGTERM, signal.SIG_IGN),
}
"""How a command is ended, and what it does on Ctrl-C: one in the background ignores it."""


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_command_that_is_ended_says_so_with_130(state: Path, ending: str) -> None:
    number, on_ctrl_c = ENDINGS[ending]
    process = spawn(
        "demo", "--size", "medium", "--state", state, on_ctrl_c=on_ctrl_c, start_new_session=True
    )
    assert process.stderr
    assert process.stderr.readline().startswith("Writing 60 days")
    _end(process, number)


@pytest.mark.parametrize("ending", [*ENDINGS, "ctrl-c and $DAGSTER_HOME"])
def test_a_build_that_is_ended_says_so_and_the_next_goes_on(
    tmp_path: Path, state: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "$DAGSTER_HOME" in ending:
        monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    log = tmp_path / "access.log"
    log.write_text(
        "".join(
            line("192.0.2.1", f"{day:02} 10:00:00", f"GET /{day}") + "\n" for day in range(1, 9)
        )
    )
    call("ingest", log, "--host", "a.example", "--state", state)
    number, on_ctrl_c = ENDINGS[ending.partition(" and ")[0]]
    process = spawn("materialize", "--state", state, on_ctrl_c=on_ctrl_c, start_new_session=True)
    published = state / "tables" / "requests"
    while process.poll() is None and not list(published.glob("*/manifest.json")):
        time.sleep(0.01)
    _end(process, number)
    before = len(list(published.glob("*/manifest.json")))
    assert call("materialize", "--state", state).exit_code == 0
    assert 1 <= before <= 8
    assert answer(state, "SELECT count(*) AS views FROM page_views") == [{"views": 8}]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_query_that_takes_long_is_ended_at_once(built: tuple[Path, Any], ending: str) -> None:
    """DuckDB does not look for signals while it works."""
    number, on_ctrl_c = ENDINGS[ending]
    sql = "SELECT count(*) FROM range(30000000) a, range(1000) b WHERE a.range * b.range % 7 = 3"
    process = spawn("query", sql, "--state", built[0], on_ctrl_c=on_ctrl_c, start_new_session=True)
    time.sleep(5)
    assert process.poll() is None
    started = time.monotonic()
    _end(process, number)
    assert time.monotonic() - started < 20


def _end(process: subprocess.Popen[str], number: signal.Signals) -> None:
    # As terminals and service managers do it: all processes of the command are told.
    os.killpg(process.pid, number)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "Stopped." in said
    assert "Traceback" not in said
