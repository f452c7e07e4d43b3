"""The contracts' checks as Great Expectations' own: suites, results by day, pages."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from typer.testing import CliRunner

from temporal_assets import contracts
from temporal_assets.cli.app import app
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.landing.landing import refresh
from temporal_assets.quality.data_docs import ROWS, write_project
from temporal_assets.quality.expectations import great_expectations
from temporal_assets.quality.inspect import Inspector
from temporal_assets.quality.row_suites import row_suite
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
    names = {expectation.column for expectation in context.suites.get("page_views").expectations}
    assert names
    assert names <= {check.name for check in contracts.PAGE_VIEWS.checks}
    results = sorted((folder / "gx" / "uncommitted" / "validations" / "requests").iterdir())
    assert [result.name for result in results] == [str(day) for day in days]
    (file,) = results[0].rglob("*.json")
    content = json.loads(file.read_text("utf-8"))
    assert content["statistics"]["evaluated_expectations"] > 3
    first = page.read_text("utf-8")
    assert [f"<td>{day}</td>" in first for day in days] == [True, True]
    links = [unquote(link) for link in re.findall(r'href="([^"]+)"', first)]
    assert len(links) == 8  # two tables: two results each, and two suites
    for link in links:
        text = (page.parent / link).read_text("utf-8")
        assert "default-src 'none'" in text
        assert re.search(r'<script|<link|<img|src="http', text) is None


def test_a_suite_validates_the_rows_of_a_published_table(project: Project, tmp_path: Path) -> None:
    days = logs.write_days(project.logs, dt.date(2026, 3, 1), 2)
    refresh(project.settings)
    engine, folder = project.installation.engine, tmp_path / "docs"
    for day in days:
        build_requests(project.store, engine, project.settings, day, project.inventory)
        build_derived(project.store, engine, "page_views", day)
    inspector = Inspector(project.store, engine, project.settings)
    for day in (*days, days[0]):  # again: its file may have another name since
        write_project(inspector, [contracts.PAGE_VIEWS], [day], folder)
    # As somebody does who has the folder, and nothing of this project.
    package = great_expectations()
    context = package.get_context(mode="file", project_root_dir=str(folder))
    suite = context.suites.get("page_views rows")
    asset = context.data_sources.get(ROWS).get_asset("page_views")
    for day in days:
        actual = asset.get_batch_definition(str(day)).get_batch().validate(suite)
        assert actual.success, actual
        assert actual.statistics["evaluated_expectations"] == len(suite.expectations)
    rows = project.store.read("page_views", days[0]).to_pandas()
    wrong = rows.assign(views=0, url=rows["url"].iloc[0])
    source = package.get_context(mode="ephemeral").data_sources.add_pandas("spoiled")
    whole = source.add_dataframe_asset("rows").add_batch_definition_whole_dataframe("whole")
    failed = {
        result.expectation_config.type
        for result in whole.get_batch({"dataframe": wrong}).validate(suite).results
        if not result.success
    }
    assert "expect_column_values_to_be_between" in failed
    assert "expect_compound_columns_to_be_unique" in failed


@pytest.mark.parametrize("table", contracts.TABLES, ids=lambda table: table.name)
def test_every_table_has_a_suite_of_its_rows(table: contracts.Table) -> None:
    types = [expectation.expectation_type for expectation in row_suite(table).expectations]
    assert types[0] == "expect_table_columns_to_match_ordered_list"
    assert "expect_column_values_to_not_be_null" in types


def test_without_a_day_the_command_says_what_to_do(project: Project, tmp_path: Path) -> None:
    project.settings.make_state()
    (project.settings.state / "settings.toml").write_text("")
    result = CliRunner().invoke(
        app, ["status", "--data-docs", str(tmp_path / "d"), "--state", str(project.settings.state)]
    )
    assert result.exit_code == 1
    assert "materialize" in result.stderr
