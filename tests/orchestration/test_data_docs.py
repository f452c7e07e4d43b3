"""The contracts' checks as Great Expectations' own: suites, results by day, pages."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

from typer.testing import CliRunner

from temporal_assets import contracts
from temporal_assets.cli.app import app
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.landing.landing import refresh
from temporal_assets.quality.data_docs import write_project
from temporal_assets.quality.expectations import great_expectations
from temporal_assets.quality.inspect import Inspector
from tests import logs
from tests.orchestration.conftest import Project


def test_suites_results_and_pages_can_be_opened(project: Project, tmp_path: Path) -> None:
    days = logs.write_days(project.logs, dt.date(2026, 3, 1), 2)
    refresh(project.settings)
    engine = project.installation.engine
    for day in days:
        build_requests(project.store, engine, project.settings, day, project.inventory)
        build_derived(project.store, engine, "page_views", day)
    inspector = Inspector(project.store, project.installation.engine, project.settings)
    tables = [contracts.table(name) for name in ("requests", "page_views")]
    folder = tmp_path / "docs"
    page = write_project(inspector, tables, days[:1], folder)
    write_project(inspector, tables, days[1:], folder)  # a day is added to what is there
    context = great_expectations().get_context(mode="file", project_root_dir=str(folder))
    names = {one.column for one in context.suites.get("page_views").expectations}
    assert names
    assert names <= {check.name for check in contracts.PAGE_VIEWS.checks}
    results = sorted((folder / "gx" / "uncommitted" / "validations" / "requests").iterdir())
    assert [one.name for one in results] == [str(day) for day in days]
    (file,) = results[0].rglob("*.json")
    found = json.loads(file.read_text("utf-8"))
    assert found["statistics"]["evaluated_expectations"] > 3
    assert "requests" in page.read_text("utf-8")


def test_without_a_day_the_command_says_what_to_do(project: Project, tmp_path: Path) -> None:
    project.settings.make_state()
    (project.settings.state / "settings.toml").write_text("")
    said = CliRunner().invoke(
        app,
        ["status", "--data-docs", str(tmp_path / "d"), "--state", str(project.settings.state)],
    )
    assert said.exit_code == 1
    assert "materialize" in said.stderr
