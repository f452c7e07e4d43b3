"""Commands that are called wrongly say so with 2 and change nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import call


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
        (["ingest", "{log}", "--address", "proxy"], "--address proxy"),
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
    filled = [log if argument == "{log}" else argument for argument in arguments]
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


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "gone.txt"),
        ("try", "thresholds", "gone.txt"),
        ("evaluate", "mirror", "gone.txt"),
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


@pytest.mark.parametrize("command", ["status", "materialize"])
def test_a_file_is_no_state_folder(log: Path, command: str) -> None:
    result = call(command, "--state", log)
    assert result.exit_code == 2
    assert f"{log} is a file: name a folder with --state" in result.stderr


def test_a_mistyped_command_is_told_the_nearest() -> None:
    result = call("ingset")
    assert result.exit_code == 2
    assert "ingest" in result.output


def test_rules_are_tried_on_an_earlier_window_where_the_logs_reach_back(
    all_built: tuple[Path, Any],
) -> None:
    refused = call("try", "rules", "--state", all_built[0])
    assert refused.exit_code == 1
    text = " ".join(refused.stderr.split())
    assert "an earlier one, up to 2025-12-21, has too few days yet: 0, and " in text
    assert "materialize" not in text
