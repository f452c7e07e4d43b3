"""`demo`: from invented logs to every asset."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from tests import logs
from tests.command_line import EARLY_NAMES, answer, call


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
    assert {built_asset["asset"] for built_asset in report["built"]} == {
        "requests",
        "rejects",
        "page_views",
        "transits",
        *EARLY_NAMES,
        "released_policy",
    }
    summary = report["summary"]
    assert len(summary["pages"]) == 5
    assert summary["sites"]
    assert json.loads(call("policy", "--json", "--state", state).stdout)["provisional"]
    assert {row["kind"] for row in summary["reasons"]} == {"rejected", "dropped"}
    top = summary["pages"][0]
    (most,) = answer(state, "SELECT max(views) AS views FROM page_views")
    assert most == {"views": top["views"]}


def test_the_demo_shows_no_page_that_few_clients_opened(demo: tuple[Path, Any]) -> None:
    _, report = demo
    assert min(row["views"] for row in report["summary"]["pages"]) >= 5


def test_a_demo_that_failed_somewhere_ends_with_one_and_says_where(
    demo: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from temporal_assets.cli.daily import demo as command
    from temporal_assets.operate.outcome import Failed, Outcome

    state, _ = demo
    failed = Outcome(failures=(Failed("transits", (dt.date(2025, 3, 4),), "the disk is full"),))
    monkeypatch.setattr(command, "_built", lambda *_: failed)
    size = ("--days", "2", "--requests", "20000")
    result = call("demo", *size, "--state", state)
    assert result.exit_code == 1
    assert "transits of 2025-03-04: the disk is full" in " ".join(result.stderr.split())
    as_json = call("demo", *size, "--json", "--state", state)
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout)["ok"] is False


@pytest.mark.parametrize("wrong", [("--size", "huge"), ("--days", "0"), ("--until", "yesterday")])
def test_a_demo_that_is_called_wrongly_ends_with_two_and_writes_nothing(
    wrong: tuple[str, str], state: Path
) -> None:
    assert call("demo", *wrong, "--state", state).exit_code == 2
    assert not state.exists()


@pytest.mark.slow
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
