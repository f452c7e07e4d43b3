"""Sample tables of the UI: every asset's query runs, and pages few clients opened are in none."""

from __future__ import annotations

import datetime as dt

import pytest

from temporal_assets import contracts
from temporal_assets.defs.metadata.samples import _SAMPLES, sample
from temporal_assets.storage.manifest import Input
from tests import logs
from tests.orchestration.conftest import Project
from tests.tables import write_table
from tests.transits import publish_transits

DAY = dt.date(2026, 3, 1)
HIDDEN = "/account/only-one-person-knows-this"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Five days of six clients, one of which opens a page of its own, again and again."""
    project = Project(tmp_path_factory.mktemp("samples"))
    project.settings = project.with_settings(window={"days": 4, "min_days": 3})
    for n in range(5):
        day = DAY + dt.timedelta(days=n)
        noon = dt.datetime.combine(day, dt.time(13))
        own = [
            logs.line(noon + dt.timedelta(minutes=m), HIDDEN, "192.0.2.1", "https://example.com/")
            for m in range(20)
        ]
        logs.write(project.logs / f"{day}.log", [*logs.day_of_lines(day, 6), *own])
    outcome = project.materialize(
        [DAY + dt.timedelta(days=n) for n in range(5)],
        ["log_files", "requests", "page_views", "transits"],
    )
    assert outcome.ok, outcome
    assert project.materialize([DAY + dt.timedelta(days=4)], ["page_histories"]).ok
    return project


def rows(project: Project, asset: str) -> list[dict[str, object]]:
    found = sample(project.installation, asset, DAY + dt.timedelta(days=4))
    return [dict(record.data) for record in found["sample"].records] if found else []


def test_a_page_that_few_clients_opened_is_in_no_sample(made: Project) -> None:
    day = DAY + dt.timedelta(days=4)
    urls = made.store.read("page_views", day).column("url").to_pylist()
    assert f"https://example.com{HIDDEN}" in urls  # it is there to be shown
    assert HIDDEN in str(made.store.read("page_histories", day).column("url").to_pylist())
    assert HIDDEN not in str(rows(made, "page_histories"))
    assert rows(made, "page_views") == [
        {"site": "example.com", "url": "https://example.com/", "views": 6},
        {"site": "example.com", "url": f"https://example.com/news/{day}", "views": 6},
    ]
    assert rows(made, "transits") == [
        {
            "referrer": "https://example.com/",
            "target": f"https://example.com/news/{day}",
            "clients": 6,
        }
    ]
    assert rows(made, "page_histories")[0] == {
        "site": "example.com",
        "url": "https://example.com/",
        "birth": "2026-03-02",
        "total": 24,
        "best_day": 6,
    }


def test_with_a_lower_limit_the_same_page_is_shown(made: Project) -> None:
    made.settings = made.settings.model_copy(
        update={"privacy": made.settings.privacy.model_copy(update={"min_clients": 1})}
    )
    assert HIDDEN in str(rows(made, "page_views"))
    assert HIDDEN in str(rows(made, "transits"))


def test_every_query_runs_where_there_is_no_row(project: Project) -> None:
    """Of a table without rows there is no sample, and no error."""
    store = project.store
    publish_transits(store, DAY, [])
    named = {name for asset, one in _SAMPLES.items() for name in (asset, *one.also)}
    for name in named - {"transits"}:
        with store.scratch() as scratch:
            path = scratch / "empty.parquet"
            write_table(contracts.table(name).arrow_schema.empty_table(), path)
            store.publish(name, DAY, [path], inputs=[Input("none", "0")], settings_digest="")
    for asset in _SAMPLES:
        assert sample(project.installation, asset, DAY) == {}
