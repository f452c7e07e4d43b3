"""`materialize`: assets from a log of ten lines whose results are counted by hand."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from temporal_assets.windows.registry import STEP_NAMES, WINDOW_NAMES
from tests.command_line import EARLY_NAMES, answer, call, line
from tests.dagster_internals import SqliteEventLogStorage


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


def test_materialize_builds_what_is_missing(built: tuple[Path, Any]) -> None:
    _, report = built
    assert report["ok"] is True
    assert report["days"] == ["2026-01-30", "2026-01-31"]
    actual = {
        (built_asset["asset"], built_asset["day"]): built_asset["rows"]
        for built_asset in report["built"]
    }
    of_days = {key: rows for key, rows in actual.items() if key[0] not in STEP_NAMES}
    assert of_days == {
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
    windows = {(asset, day) for asset, day in actual if asset in WINDOW_NAMES}
    assert windows == {(asset, "2026-01-31") for asset in EARLY_NAMES}
    assert [check for check in report["checks"] if check["blocking"] and not check["passed"]] == []


def test_one_day_and_one_asset_can_be_built(log: Path, state: Path) -> None:
    call("ingest", log, "--host", "a.example", "--state", state)
    chosen = ("requests", "page_views", "--from", "2026-01-31", "--to", "2026-02-05")
    report = json.loads(call("materialize", *chosen, "--json", "--state", state).stdout)
    assert report["days"] == ["2026-01-31"]
    assert {built_asset["asset"] for built_asset in report["built"]} == {
        "requests",
        "rejects",
        "page_views",
    }
    missing = json.loads(call("status", "--json", "--state", state).stdout)["assets"]
    assert missing["requests"]["missing"] == ["2026-01-30"]
    assert missing["transits"]["missing"] == ["2026-01-30", "2026-01-31"]


def test_materialize_makes_the_window_of_the_latest_day(
    all_built: tuple[Path, dict[str, Any]],
) -> None:
    state, built = all_built
    of_pages = ("page_totals", "page_histories", "page_labels")
    assert [
        (built_asset["asset"], built_asset["day"], built_asset["rows"])
        for built_asset in built["built"]
        if built_asset["asset"] in of_pages
    ] == [
        ("page_totals", "2026-01-04", 3),
        ("page_histories", "2026-01-04", 2),
        ("page_labels", "2026-01-04", 2),
    ]
    assert answer(state, "SELECT url, views, is_born_before FROM page_histories") == [
        {"url": "https://a.example/", "views": [1, 1, 1], "is_born_before": True},
        {"url": "https://a.example/news/1", "views": [0, 1, 1], "is_born_before": False},
    ]
    again = call("materialize", "--state", state)
    assert "Nothing to build" in again.stderr


def test_a_daily_asset_brings_its_own_source(windows: Path) -> None:
    built = json.loads(call("materialize", "page_views", "--json", "--state", windows).stdout)
    assert built["ok"]
    assert {built_asset["asset"] for built_asset in built["built"]} == {
        "requests",
        "rejects",
        "page_views",
    }
    assert len(built["days"]) == 4
    # Windows are due now, and nobody asked for one.
    again = call("materialize", "page_views", "--state", windows)
    assert "Nothing to build" in again.stderr


def test_an_asset_is_made_again_for_its_own_late_days_alone(windows: Path, tmp_path: Path) -> None:
    def built(*names: str) -> set[tuple[str, str]]:
        report = json.loads(call("materialize", *names, "--json", "--state", windows).stdout)
        assert report["ok"], report
        return {
            (built_asset["asset"], built_asset["day"])
            for built_asset in report["built"]
            if built_asset["asset"] != "rejects"
        }

    days = [f"2026-01-{day:02}" for day in range(1, 5)]
    assert built("requests") == {("requests", day) for day in days}
    late = tmp_path / "late.log"
    late.write_text(line("192.0.2.1", "03 10:00:00", "GET /late") + "\n")
    call("ingest", late, "--host", "a.example", "--state", windows)
    of_views = {("page_views", day) for day in days}
    assert built("page_views") == {("requests", "2026-01-03"), *of_views}
    assert built("transits") == {("transits", day) for day in days}


def test_windows_of_other_days_are_made_when_both_are_named(built_windows: Path) -> None:
    chosen = ("page_histories", "--day", "2026-01-03", "--json", "--state", built_windows)
    built = json.loads(call("materialize", *chosen).stdout)
    assert [(built_asset["asset"], built_asset["day"]) for built_asset in built["built"]] == [
        ("page_totals", "2026-01-03"),
        ("page_histories", "2026-01-03"),
    ]
    short = call(
        "materialize", "evaluation_report", "--day", "2026-01-01", "--state", built_windows
    )
    assert short.exit_code == 1
    assert "fewer than the 2 that `window.min_days` asks for" in " ".join(short.stderr.split())


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


def test_where_no_log_has_been_read_nothing_is_up_to_date(tmp_path: Path) -> None:
    result = call("materialize", "--state", tmp_path)
    assert result.exit_code == 0
    assert "no log lines are known yet" in result.stderr
    assert f"temporal-assets ingest PATH --state {tmp_path}" in result.stderr


def test_a_report_of_too_few_days_says_what_is_missing(built: tuple[Path, Any]) -> None:
    state, _ = built
    result = call("report", "--state", state)
    assert result.exit_code == 1
    text = " ".join(result.stderr.split())
    assert "no report of 2026-01-31 yet. 2 days are there, and 7 are needed" in text
    assert "Read more days: temporal-assets ingest PATH" in text


def test_the_catalogue_is_rebuilt_once_a_run(
    windows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from temporal_assets.ops import catalogue
    from temporal_assets.settings import load_settings
    from temporal_assets.storage.store import Store

    rebuilt: list[Store] = []
    refresh = catalogue.refresh
    monkeypatch.setattr(
        catalogue, "refresh", lambda store: (rebuilt.append(store), refresh(store))[1]
    )
    result = call("materialize", "--json", "--state", windows)
    assert result.exit_code == 0, result.output
    assets = {row["asset"] for row in json.loads(result.stdout)["built"]}
    assert len(assets) > 20
    assert len(rebuilt) <= 3  # days, windows, and what killed runs left
    assert catalogue.is_current(Store.open(load_settings(windows)))


def test_a_catalogue_that_cannot_be_rebuilt_is_told(
    windows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from temporal_assets.ops import catalogue

    def refuse(_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(catalogue, "refresh", refuse)
    result = call("materialize", "page_views", "--state", windows)
    assert result.exit_code == 1
    assert "catalogue.duckdb: the disk of the state folder is full" in " ".join(
        result.stderr.split()
    )
