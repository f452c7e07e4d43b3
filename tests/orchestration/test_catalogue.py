"""The catalogue as a resource: assets that users add read it like any DuckDB database."""

# No `from __future__ import annotations`: Dagster looks at the annotations of the asset.

import datetime as dt
import shutil
from pathlib import Path

import dagster as dg
import duckdb
import pytest
from dagster_duckdb import DuckDBResource

from temporal_assets.ops import catalogue
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from tests import logs
from tests.orchestration.conftest import Project

DAYS = [dt.date(2026, 3, 2), dt.date(2026, 3, 3)]


@dg.asset(deps=["page_views"])
def busiest_page(catalogue: DuckDBResource) -> str:
    """Query of docs/running-daily.md."""
    with catalogue.get_connection() as connection:
        rows = connection.sql(
            "SELECT url, sum(views) AS views FROM page_views GROUP BY url ORDER BY views DESC, url"
        ).fetchall()
    return f"{rows[0][0]} {rows[0][1]}"


def test_an_asset_of_the_users_own_reads_the_catalogue(project: Project) -> None:
    for day in DAYS:
        logs.write(project.logs / f"{day}.log", logs.day_of_lines(day, clients=3))
    project.materialize(DAYS, ["log_files"])
    project.materialize(DAYS)
    defs = dg.Definitions.merge(project.defs(), dg.Definitions(assets=[busiest_page]))
    result = dg.materialize(
        [busiest_page],
        resources={"catalogue": defs.resources["catalogue"]} if defs.resources else {},
    )
    assert result.output_for_node("busiest_page") == "https://example.com/ 6"


@pytest.mark.slow
def test_nobody_writes_to_it(project: Project) -> None:
    logs.write(project.logs / "a.log", logs.day_of_lines(DAYS[0]))
    project.materialize(DAYS[:1], ["log_files"])
    project.materialize(DAYS[:1])
    resource = (project.defs().resources or {})["catalogue"]
    with resource.get_connection() as connection, pytest.raises(duckdb.Error, match="read-only"):
        connection.execute("CREATE TABLE mine (n INTEGER)")


def test_a_copied_state_folder_has_a_catalogue_of_its_own(project: Project, tmp_path: Path) -> None:
    """Views name files whole, so those of a copy would read the original, or nothing."""
    logs.write(project.logs / "a.log", logs.day_of_lines(DAYS[0]))
    project.materialize(DAYS[:1], ["log_files"])
    project.materialize(DAYS[:1])
    place = str(project.settings.state / "tables")
    copy = tmp_path / "copy"
    shutil.copytree(project.settings.state, copy)

    def files() -> str:
        with duckdb.connect(str(copy / catalogue.CATALOGUE), read_only=True) as connection:
            return str(connection.execute("SELECT sql FROM duckdb_views()").fetchall())

    assert place in files()
    own = Store.open(load_settings(copy))
    catalogue.follow(own)
    assert place not in files()
    assert str(copy / "tables") in files()
    written = (copy / catalogue.CATALOGUE).stat().st_mtime_ns
    catalogue.follow(own)
    assert (copy / catalogue.CATALOGUE).stat().st_mtime_ns == written
