"""`status` and `ui`: state, settings and the address of the UI."""

from __future__ import annotations

import json
import os
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from temporal_assets.cli.operate import ui
from tests.command_line import EARLY_NAMES, call


def test_status_tells_what_is_there(log: Path, built: tuple[Path, Any]) -> None:
    state, _ = built
    report = json.loads(call("status", "--json", "--state", state).stdout)
    assert report["log_files"] == {
        "read": 1,
        "lines": 10,
        "counts": 0,
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


def test_days_that_no_log_holds_are_not_missing(log: Path, tmp_path: Path, state: Path) -> None:
    """Months between two logs cannot be built, so nobody is told to build them."""
    old = tmp_path / "old.log"
    old.write_text(log.read_text("utf-8").replace("/2026:", "/2025:"), "utf-8")
    call("ingest", log, old, "--host", "a.example", "--state", state)
    call("materialize", "requests", "--state", state)
    report = json.loads(call("status", "--json", "--state", state).stdout)
    assert report["assets"]["requests"]["days"] == 4
    assert report["assets"]["requests"]["missing"] == []
    shown = call("status", "--state", state).stderr
    assert "2025-01-30..2025-01-31, 2026-01-30..2026-01-31" in " ".join(shown.split())


def test_status_for_people(built: tuple[Path, Any]) -> None:
    state, _ = built
    result = call("status", "--state", state)
    assert result.exit_code == 0
    assert re.search(r"│ page_views +│ +2 │(?: +│)* 2026-01-30 │ 2026-01-31 │ +3 │", result.stdout)
    assert "10 lines of 2026-01-30..2026-01-31" in result.stderr
    assert "The latest day of page_views is 2026-01-31, " in result.stderr
    assert "ago. Switched on: nothing" in result.stderr


def test_status_tells_of_the_latest_window(windows: Path) -> None:
    call("materialize", "page_views", "requests", "--state", windows)

    def message() -> Any:
        assets = json.loads(call("status", "--json", "--state", windows).stdout)["assets"]
        return {
            name: (assets[name]["missing"], assets[name]["stale"])
            for name in ("page_totals", "page_histories")
        }

    latest = ["2026-01-04"]
    assert message() == {"page_totals": (latest, []), "page_histories": (latest, [])}
    call("materialize", "page_histories", "--state", windows)
    assert message() == {"page_totals": ([], []), "page_histories": ([], [])}
    call("materialize", "page_histories", "--day", "2026-01-02", "--state", windows)
    assert message() == {"page_totals": ([], []), "page_histories": ([], [])}


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
