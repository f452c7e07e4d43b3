"""Sample tables of the UI: every asset's query runs, and pages few clients opened are in none."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from temporal_assets import contracts
from temporal_assets.defs.metadata.logs_and_releases import of_releases
from temporal_assets.defs.metadata.numbers import _NUMBERS, numbers
from temporal_assets.defs.metadata.pictures import _PICTURES, picture
from temporal_assets.defs.metadata.samples import _SAMPLES, sample
from temporal_assets.quality import verdicts
from temporal_assets.settings import load_settings
from temporal_assets.storage.manifest import Input
from temporal_assets.storage.store import Store
from tests import logs
from tests.orchestration.conftest import Project
from tests.tables import write_table
from tests.traffic import write_traffic_files
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
    """Tables without rows have no sample, and give no error."""
    store = project.store
    publish_transits(store, DAY, [])
    named = {name for asset, one in _SAMPLES.items() for name in (asset, *one.also)}
    named |= _NUMBERS.keys() | _PICTURES.keys()
    with store.scratch() as scratch:
        traffic, totals = write_traffic_files([], scratch)
        store.publish(
            "page_traffic",
            DAY,
            [traffic],
            inputs=[Input("none", "0")],
            settings_digest="",
            beside=[totals],
        )
    for name in named - {"transits", "page_traffic"}:
        with store.scratch() as scratch:
            path = scratch / "empty.parquet"
            write_table(contracts.table(name).arrow_schema.empty_table(), path)
            store.publish(name, DAY, [path], inputs=[Input("none", "0")], settings_digest="")
    for asset in _SAMPLES:
        assert sample(project.installation, asset, DAY) == {}
    for asset in _PICTURES:
        assert picture(project.installation, asset, DAY) == {}
    for asset in _NUMBERS:
        assert set(numbers(project.installation, asset, DAY).values()) <= {0}


DRAWN = {
    *("requests", "page_views", "interest_curves", "calibration", "page_labels", "pattern_ranks"),
    *("seed_evaluation", "hub_evaluation", "crawl_simulation", "timely_simulation"),
    "evaluation_report",
}
"""Tables that modules of their own draw."""
LISTED = {
    *("rejects", "url_patterns", "pattern_ranks"),
    *("crawl_simulation", "timely_simulation", "evaluation_report"),
}
"""Tables with rows of their own choice in the UI."""


_TABLE = {"released_policy": "crawl_policy"}
"""The table whose days an asset without rows has."""


def test_a_refused_policy_is_told_apart_with_the_check_that_refused_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = project.store
    with store.scratch() as scratch:
        path = scratch / "empty.parquet"
        write_table(contracts.table("crawl_policy").arrow_schema.empty_table(), path)
        manifest = store.publish(
            "crawl_policy", DAY, [path], inputs=[Input("none", "0")], settings_digest=""
        )
    broken = verdicts.Judgement("crawl_policy", "has_rows", DAY, False, True, "empty")
    monkeypatch.setattr(verdicts, "read", lambda _, of: (broken,) if of == manifest else ())
    said = of_releases(project.installation, DAY)
    (row,) = said["sample"].records
    assert row.data == {"day": str(DAY), "entries": 0, "checks": "has_rows"}
    assert "](data:image/png;base64," in said["picture"].value
    assert of_releases(project.installation, DAY - dt.timedelta(1)) == {}


def test_a_picture_leaves_out_what_has_no_value() -> None:
    """Sites without reliable pages have no score: a window with one could not be made."""
    rows = [{"x": 1, "y": 0.5}, {"x": 2, "y": None}]
    store = SimpleNamespace(files=lambda *_: ())

    def drawn(rows: list[dict[str, Any]]) -> dict[str, Any]:
        engine = SimpleNamespace(rows=lambda *_, **__: rows)
        installation: Any = SimpleNamespace(store=store, engine=engine)
        return picture(installation, "site_scores", DAY)

    assert drawn(rows).keys() == {"picture"}
    assert drawn(rows[1:]) == {}


def test_every_table_has_a_picture_and_a_sample_and_they_are_drawn(whole: Path) -> None:
    tables = {one.name for one in contracts.TABLES}
    assert tables == DRAWN | _PICTURES.keys()
    assert tables == LISTED | _SAMPLES.keys()
    settings = load_settings(whole / "state")
    store = Store.open(settings)
    drawn = set()
    with dg.DagsterInstance.from_config(str(settings.state / "dagster")) as instance:
        for name in [*tables, "log_files", "released_policy"]:
            days = [] if name == "log_files" else [str(store.days(_TABLE.get(name, name))[-1])]
            asked = dg.AssetRecordsFilter(dg.AssetKey(name), days or None)
            record = instance.fetch_materializations(asked, limit=1).records[0]
            assert record.asset_materialization is not None
            said = record.asset_materialization.metadata.values()
            pictures = [one.value for one in said if isinstance(one, dg.MarkdownMetadataValue)]
            # Else it says that there were too many bytes.
            assert all("](data:image/png;base64," in one for one in pictures), name
            drawn |= {name} if pictures else set()
    assert drawn >= {"requests", "page_views", "transits", "page_totals", "prefix_trees"}
    assert drawn >= {"log_files", "released_policy"}
