"""Resources of runs, and links to reports."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import dagster as dg
import pytest

from temporal_assets.build import build_defs
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata.report_metadata import link
from temporal_assets.defs.resources import SettingsResource
from temporal_assets.engines.base import Engine
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store
from tests.orchestration.conftest import Project


def test_settings_are_those_of_the_folder_some_of_them_replaced(state: Path) -> None:
    state.mkdir()
    (state / "settings.toml").write_text("[engine]\nthreads = 2\n[window]\ndays = 30\n")
    given = SettingsResource(state=str(state), overrides={"engine": {"threads": 3}})
    defs = build_defs(given)
    with dg.build_resources(dict(defs.resources or {})) as built:
        settings = built.installation.settings
        assert (settings.state, settings.engine.threads, settings.window.days) == (state, 3, 30)
        assert built.installation.store.root == built.store.root


def test_what_takes_the_place_of_a_resource_does_so_within_others(state: Path) -> None:
    class Own:
        """An engine of somebody else's."""

    own = Own()
    defs = build_defs(SettingsResource(state=str(state)), {"engine": own})
    with dg.build_resources(dict(defs.resources or {})) as built:
        assert built.installation.engine is own
        assert isinstance(built.store, Store)


def test_a_run_holds_a_lock_for_as_long_as_its_steps(running: Project) -> None:
    locks = running.settings.state / "locks"

    @dg.asset
    def own(installation: dg.ResourceParam[Installation]) -> None:
        assert installation.settings.state == running.settings.state
        assert [path.suffix for path in locks.glob("run-*")] == [".lock"]

    resources = dict(running.defs().resources or {})
    assert dg.materialize([own], instance=running.instance, resources=resources).success
    assert [path.suffix for path in locks.glob("run-*")] == [".over"]


def test_the_steps_of_a_run_share_an_engine(
    running: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the session of a cluster is started once a run."""
    actual: list[Engine] = []
    used: list[int] = []

    def engine_of(settings: Settings) -> Engine:
        actual.append(DuckDBEngine(settings))
        return actual[-1]

    monkeypatch.setattr("temporal_assets.defs.resources.engine_of", engine_of)

    @dg.asset
    def first(installation: dg.ResourceParam[Installation]) -> None:
        used.append(id(installation.engine))

    @dg.asset(deps=[first])
    def second(installation: dg.ResourceParam[Installation]) -> None:
        used.append(id(installation.engine))

    resources = dict(running.defs().resources or {})
    assert dg.materialize([first, second], instance=running.instance, resources=resources).success
    assert used == [id(actual[0])] * 2
    assert len(actual) == 1


DAY = dt.date(2026, 3, 1)


def test_where_reports_are_served_it_is_a_link(tmp_path: Path) -> None:
    served = load_settings(tmp_path, orchestration={"reports": "https://d.example/report/"})
    assert link(served, DAY) == {
        "report": dg.MetadataValue.url("https://d.example/report/evaluation-2026-03-01.html")
    }


def test_elsewhere_it_is_a_link_of_our_web_server_and_the_command_that_opens_it(
    tmp_path: Path,
) -> None:
    state = tmp_path / "a state"
    assert link(load_settings(state), DAY) == {
        "report": dg.MetadataValue.url("/report/evaluation-2026-03-01.html"),
        "open_report_with": f"temporal-assets report --open --day 2026-03-01 --state '{state}'",
    }
