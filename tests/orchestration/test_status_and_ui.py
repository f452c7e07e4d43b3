"""`temporal-assets status` says what the UI says: one state, asked both ways.

The UI is asked as the browser asks it, over GraphQL. Where the two differ on purpose is said here:

* the UI knows no logs, so that every day up to today that was not made is *missing* to it; `status`
  calls those missing that lie between days that were made, or that logs are there for;
* the UI marks a day stale whose own input has changed; `status` also says what is stale with it;
* the UI shows the last result of a check; `status` shows that of every day.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster_graphql.test.utils import execute_dagster_graphql
from typer.testing import CliRunner

from temporal_assets.cli.app import app
from temporal_assets.operate.home import prepare_home
from temporal_assets.operate.materializing import materialize
from temporal_assets.settings import Settings, load_settings
from tests import logs
from tests.dagster_internals import LoadableTargetOrigin, in_process_test_workspace

FIRST = dt.date(2026, 3, 1)
WELL, LATE, EMPTY, MISSING, LAST = [FIRST + dt.timedelta(days=n) for n in range(5)]
DAYS = [WELL, LATE, EMPTY, MISSING, LAST]
ASSETS = ("requests", "rejects", "page_views", "transits")

_QUERY = """
query Ask($keys: [AssetKeyInput!]!, $days: [String!]!) { assetNodes(assetKeys: $keys) {
  assetKey { path }
  assetPartitionStatuses { ... on TimePartitionStatuses {
    ranges { startKey endKey status } } }
  staleStatusByPartition(partitions: $days)
  assetChecksOrError { ... on AssetChecks { checks {
    name executionForLatestMaterialization { evaluation { success } } } } }
} }
"""


@dataclass(frozen=True)
class Said:
    """Statements about one asset."""

    made: set[dt.date]
    missing: set[dt.date]
    stale: set[dt.date]
    failed: set[str]
    """Checks whose last result is that they did not pass."""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Five days: one as it should be, one with a late file, one without a line, one not made."""
    root: Path = tmp_path_factory.mktemp("status")
    state = root / "state"
    state.mkdir()
    text = f'[[sources]]\npath = "{root / "logs"}"\nhost = "example.com"\n'
    (state / "settings.toml").write_text(text)
    for day in (WELL, LATE, MISSING, LAST):
        logs.write_days(root / "logs", day, 1, clients=60)
    settings = load_settings(state)
    assert materialize(settings, [], ["log_files"]).ok
    assert materialize(settings, [WELL, LATE, LAST], ASSETS).ok
    # The last run: the UI shows what the checks said then.
    assert materialize(settings, [EMPTY], ASSETS).ok
    noon = dt.datetime.combine(LATE, dt.time(15))
    logs.write(root / "logs" / "late.log", [logs.line(noon, "/late", "192.0.2.77")])
    assert materialize(settings, [], ["log_files"]).ok
    return settings


@pytest.fixture(scope="module")
def by_ui(settings: Settings) -> dict[str, Said]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEMPORAL_ASSETS_STATE", str(settings.state))
        patch.delitem(sys.modules, "temporal_assets.definitions", raising=False)
        origin = LoadableTargetOrigin(
            executable_path=sys.executable, module_name="temporal_assets.definitions"
        )
        with (
            dg.DagsterInstance.from_config(str(prepare_home(settings))) as instance,
            in_process_test_workspace(instance, origin) as workspace,
        ):
            keys = [{"path": [asset]} for asset in ASSETS]
            variables = {"keys": keys, "days": [str(day) for day in DAYS]}
            answer = execute_dagster_graphql(workspace, _QUERY, variables)
        patch.delitem(sys.modules, "temporal_assets.definitions", raising=False)
    assert not answer.errors
    return {node["assetKey"]["path"][0]: _of_ui(node) for node in answer.data["assetNodes"]}


def _of_ui(node: dict[str, Any]) -> Said:
    ranges = node["assetPartitionStatuses"].get("ranges", [])
    days = {
        day
        for one in ranges
        if one["status"] == "MATERIALIZED"
        for day in DAYS
        if one["startKey"] <= str(day) <= one["endKey"]
    }
    stale = zip(DAYS, node["staleStatusByPartition"], strict=True)
    checks = node["assetChecksOrError"].get("checks", [])
    last = {check["name"]: check["executionForLatestMaterialization"] for check in checks}
    return Said(
        made=days,
        missing=set(DAYS) - days,
        stale={day for day, status in stale if status == "STALE"},
        failed={name for name, one in last.items() if one and not one["evaluation"]["success"]},
    )


@pytest.fixture(scope="module")
def by_status(settings: Settings) -> dict[str, Any]:
    shown = CliRunner().invoke(app, ["status", "--json", "--state", str(settings.state)])
    assert shown.exit_code == 0, shown.output
    return dict(json.loads(shown.stdout))


def of_status(by_status: dict[str, Any], asset: str) -> Said:
    one = by_status["assets"][asset]
    missing = {dt.date.fromisoformat(day) for day in one["missing"]}
    return Said(
        made={day for day in DAYS if one["first"] <= str(day) <= one["last"]} - missing,
        missing=missing,
        stale={dt.date.fromisoformat(day) for day in one["stale"]},
        failed={
            check["check"]
            for check in by_status["checks"]
            if check["asset"] == asset and not check["passed"] and check["day"] == str(EMPTY)
        },
    )


@pytest.mark.parametrize("asset", ASSETS)
def test_days_that_are_there_and_days_that_are_not(
    by_ui: dict[str, Said], by_status: dict[str, Any], asset: str
) -> None:
    ui, status = by_ui[asset], of_status(by_status, asset)
    assert ui.made == status.made == {WELL, LATE, EMPTY, LAST}
    assert ui.missing == status.missing == {MISSING}
    assert by_status["assets"][asset]["days"] == len(ui.made)


def test_a_late_file_is_seen_by_both(by_ui: dict[str, Said], by_status: dict[str, Any]) -> None:
    message = {asset: (by_ui[asset].stale, of_status(by_status, asset).stale) for asset in ASSETS}
    assert message == {
        "requests": ({LATE}, {LATE}),
        "rejects": ({LATE}, set()),  # made with the requests, which status names
        "page_views": (set(), {LATE}),
        "transits": (set(), {LATE}),
    }


@pytest.mark.parametrize("asset", ASSETS)
def test_checks_that_did_not_pass(
    by_ui: dict[str, Said], by_status: dict[str, Any], asset: str
) -> None:
    assert by_ui[asset].failed == of_status(by_status, asset).failed
    assert by_ui["requests"].failed == {"has_rows"}


def test_people_are_told_why_there_is_no_window_yet(settings: Settings) -> None:
    shown = CliRunner().invoke(app, ["status", "--state", str(settings.state)]).output
    assert "4 days are there, and 7 are needed" in " ".join(shown.split())


def test_status_knows_how_old_the_data_is(by_status: dict[str, Any]) -> None:
    recency = by_status["recency"]
    assert recency["latest_day"] == str(LAST)
    assert recency["switched_on"] == []
    assert not recency["is_old"]  # nobody waits for more
