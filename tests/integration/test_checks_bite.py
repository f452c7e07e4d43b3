"""Every check against an artifact that was corrupted on purpose: none passes all of them.

Which checks there are is asked of Dagster's definitions, so that none can be left out.

A small demo corpus goes through all assets and is spoilt until each check has been broken by
something (`tests/corruption.py`); Great Expectations has to agree.
"""

from __future__ import annotations

import datetime as dt
import gzip
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import dagster as dg
import pytest

from temporal_assets import contracts
from temporal_assets.build import build_defs
from temporal_assets.contracts import Severity, Table
from temporal_assets.defs.checks import logs_of
from temporal_assets.landing.landing import refresh
from temporal_assets.logs.read.paths import NoSuchLogError
from temporal_assets.quality import checks_page
from temporal_assets.quality.evaluate import Status, evaluate_outcomes
from temporal_assets.quality.expectations import judge
from temporal_assets.quality.log_files import evaluate_logs
from temporal_assets.settings import load_settings
from tests import logs
from tests.corruption import Bench, Corpus, is_outside

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("corpus"))


@pytest.mark.parametrize("table", contracts.TABLES, ids=lambda table: str(table.name))
def test_what_is_sound_passes(corpus: Corpus, table: Table) -> None:
    with Bench(corpus, table) as bench:
        outside = filter(is_outside, bench.expected("FROM sound"))
        # A warning may be right about so small a corpus.
        assert [rule for rule in outside if rule.severity is Severity.ERROR] == []


@pytest.mark.parametrize("table", contracts.TABLES, ids=lambda table: str(table.name))
def test_every_check_notices_what_is_corrupt(corpus: Corpus, table: Table) -> None:
    bitten = corpus.bitten(table)
    assert set(bitten) == set(table.check_names)
    expected = [bitten[name].expected for name in table.check_names]
    findings = evaluate_outcomes(expected, judge(table.name, {corpus.day: expected})[corpus.day])
    assert {finding.status for finding in findings} == {Status.BROKEN}


NOW = dt.date(2026, 3, 9)
GOOD_LINE = logs.line(dt.datetime(2026, 3, 9, 12), "/", "192.0.2.1")


def _nowhere(folder: Path) -> dict[str, Any]:
    return {"sources": [{"path": str(folder / "gone" / "*.log"), "host": "example.com"}]}


def _unreadable(folder: Path) -> dict[str, Any]:
    (folder / "a.log.gz").write_bytes(b"no gzip at all")
    return {}


def _cut_off(folder: Path) -> dict[str, Any]:
    whole = gzip.compress("\n".join([GOOD_LINE] * 5000).encode())
    (folder / "a.log.gz").write_bytes(whole[: len(whole) // 2])
    return {}


def _of_another_format(folder: Path) -> dict[str, Any]:
    lines = [GOOD_LINE] * 45 + [f"example.com:443 {GOOD_LINE}"] * 5
    logs.write(folder / "access.log", lines)
    source = {"path": str(folder), "host": "example.com", "format": "combined_vhost"}
    return {"sources": [source]}


def _of_last_year(folder: Path) -> dict[str, Any]:
    old = logs.line(dt.datetime(2025, 3, 9, 12), "/", "192.0.2.1")
    logs.write(folder / "access.log", [old])
    return {}


SPOILT_LOGS: Mapping[str, Callable[[Path], dict[str, Any]]] = {
    "sources_present": _nowhere,
    "files_readable": _unreadable,
    "files_complete": _cut_off,
    "formats_likely": _of_another_format,
    "days_recent": _of_last_year,
}
"""Functions that spoil log files, by check; some return other settings."""


def _judged(root: Path, spoil: Callable[[Path], dict[str, Any]]) -> dict[str, bool]:
    """Return whether each check passes, of a folder with a good file that is then spoilt."""
    folder = root / "logs"
    logs.write(folder / "access.log", [GOOD_LINE] * 50)
    changes = {"sources": [{"path": str(folder), "host": "example.com"}]} | spoil(folder)
    settings = load_settings(root / "state", **changes)
    with suppress(NoSuchLogError):
        refresh(settings)
    return {
        judgement.check.name: judgement.passed
        for judgement in evaluate_logs(logs_of(settings, NOW))
    }


def test_log_files_that_are_sound_pass(tmp_path: Path) -> None:
    assert all(_judged(tmp_path, lambda _: {}).values())


@pytest.mark.parametrize("name", SPOILT_LOGS)
def test_every_check_notices_spoilt_log_files(tmp_path: Path, name: str) -> None:
    assert _judged(tmp_path, SPOILT_LOGS[name])[name] is False


def test_every_check_there_is_is_corrupted_above() -> None:
    """Whatever Dagster would run is corrupted above: tables by the contracts, files by name."""
    proven = {(str(table.name), name) for table in contracts.TABLES for name in table.check_names}
    proven |= {("log_files", name) for name in SPOILT_LOGS}
    assert _defined() == proven


def _defined() -> set[tuple[str, str]]:
    """(asset, check) of everything that Dagster is told of."""
    return {
        (key.asset_key.to_user_string(), key.name)
        for definition in build_defs().asset_checks or ()
        for key in cast("dg.AssetChecksDefinition", definition).check_keys
    }


def test_the_page_of_the_checks_is_current_and_names_them_all(repository: Path) -> None:
    written = (repository / "docs" / "checks.md").read_text("utf-8")
    assert written == checks_page.page(), (
        "python -m temporal_assets.quality.checks_page > docs/checks.md"
    )
    listed = set()
    for part in written.split("\n## ")[1:]:
        asset = part.split("\n", 1)[0]
        for line in part.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            if line.startswith("| `"):
                listed.add((asset, cells[0].strip("`")))
                assert all(cells), f"{asset}: {cells[0]} has an empty cell"
    common = {name for part, name in listed if part == "Of nearly every table"}
    assert common == {"no_nulls", "day_is_partition", "key_is_unique"}
    assert "| `views_positive` | blocking | no such row |" in written
    assert "within 1.8 times what the days before show, and their noise" in written
    listed = {(part, name) for part, name in listed if part != "Of nearly every table"}
    assert listed == {one for one in _defined() if one[1] not in common}
