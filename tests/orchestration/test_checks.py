"""Checks in runs: what they stop, what they let pass, what is remembered."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pytest

from temporal_assets import contracts
from temporal_assets.days import asset_names, daily
from temporal_assets.defs.runs import tags
from temporal_assets.operate.checks import last_checks
from temporal_assets.quality import inspect, verdicts
from temporal_assets.quality.evaluate import Finding
from temporal_assets.quality.inspect import Inspector
from tests import logs
from tests.orchestration.conftest import Project
from tests.tables import write_table

DAY = dt.date(2026, 3, 1)
NEXT = dt.date(2026, 3, 2)


@pytest.fixture
def broken_requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`requests` of DAY come out with a site that is not the host of the page."""
    right = daily.requests_steps

    def wrong(store: Any, engine: Any, settings: Any, day: dt.date, inventory: Any) -> Any:
        result = yield from right(store, engine, settings, day, inventory)
        if day == DAY:
            publish_requests(store, result.requests.manifest, site="elsewhere.org")
        return result

    with monkeypatch.context() as patch:
        patch.setattr(daily, "requests_steps", wrong)
        yield


def publish_requests(store: Any, manifest: Any, **values: object) -> None:
    table = store.read("requests", manifest.day)
    for name, value in values.items():
        index = table.schema.get_field_index(name)
        column = pa.array([value] * table.num_rows, table.schema.field(name).type)
        table = table.set_column(index, name, column)
    with store.scratch() as folder:
        path = Path(folder) / "requests.parquet"
        write_table(table, path)
        store.publish(
            "requests",
            manifest.day,
            [path],
            inputs=manifest.inputs,
            settings_digest=manifest.settings_digest,
            extra=manifest.extra,
        )


@pytest.mark.usefixtures("broken_requests")
def test_a_broken_invariant_stops_what_is_downstream(running: Project) -> None:
    logs.write_days(running.logs, DAY, 1)
    running.run("ingest")
    result = running.run("daily", partition=DAY)
    assert not result.success
    failed = {
        (evaluation.asset_key.to_user_string(), evaluation.check_name): evaluation.severity
        for evaluation in result.get_asset_check_evaluations()
        if not evaluation.passed
    }
    assert failed == {("requests", "site_is_host"): dg.AssetCheckSeverity.ERROR}
    assert running.store.days("requests") == [DAY]
    assert running.store.days("page_views") == []
    assert running.store.days("transits") == []


@pytest.mark.usefixtures("broken_requests")
def test_a_broken_day_stops_no_other_day_and_later_runs_too(project: Project) -> None:
    days = logs.write_days(project.logs, DAY, 2)
    outcome = project.materialize(days, ["log_files", *asset_names.DERIVED, "requests"])
    assert not outcome.ok
    assert [(check.check, check.day) for check in outcome.checks if not check.passed] == [
        ("site_is_host", DAY)
    ]
    assert project.store.days("page_views") == [NEXT]
    # Asked for by name, in a run of its own, where Dagster knows of no failed check.
    again = project.materialize([DAY], ["page_views"])
    (failure,) = again.failures
    assert (failure.asset, failure.days) == ("page_views", (DAY,))
    assert "requests of 2026-03-01 must not be built upon: site_is_host" in failure.message
    assert project.store.days("page_views") == [NEXT]


def test_a_mended_day_is_built_upon_again(project: Project, request: pytest.FixtureRequest) -> None:
    logs.write_days(project.logs, DAY, 1)
    request.getfixturevalue("broken_requests")
    assert not project.materialize([DAY], ["log_files", "requests"]).ok
    manifest = project.store.manifest("requests", DAY)
    assert manifest is not None
    publish_requests(project.store, manifest, site="example.com")
    assert project.materialize([DAY], ["page_views", "transits"]).ok
    assert project.store.days("page_views") == [DAY]


@pytest.mark.usefixtures("broken_requests")
def test_a_run_over_several_days_lists_those_that_failed(running: Project) -> None:
    days = logs.write_days(running.logs, DAY, 3)
    running.run("ingest")
    result = running.run("daily", tags.of_range(days))
    (failed,) = (
        evaluation for evaluation in result.get_asset_check_evaluations() if not evaluation.passed
    )
    assert failed.metadata["days"].value == 3
    assert failed.metadata["partitions"].value == "2026-03-01 to 2026-03-03"
    assert failed.metadata["days_not_passed"].value == 1
    (row,) = failed.metadata["not_passed"].value.records
    assert (row.data["day"], row.data["value"], row.data["maximum"]) == ("2026-03-01", "6", "0")
    sample = failed.metadata["samples"].value.records[0].data
    assert sample["site"] == "elsewhere.org"
    assert "client" not in sample


def test_a_jump_warns_once_and_stops_nothing(project: Project) -> None:
    days = logs.write_days(project.logs, DAY, 9, clients=20)
    jumps = [DAY + dt.timedelta(days=n) for n in (9, 10)]
    for day in jumps:
        logs.write(project.logs / f"many-{day}.log", logs.day_of_lines(day, clients=400))
    assets = ["log_files", "requests", "page_views"]
    outcome = project.materialize([*days, jumps[0]], assets)
    assert outcome.ok
    failed = {(check.asset, check.check, check.day) for check in outcome.checks if not check.passed}
    assert failed == {
        ("requests", "rows_are_usual", jumps[0]),
        ("requests", "clients_are_usual", jumps[0]),
    }
    (rows,) = (
        check for check in outcome.checks if check.check == "rows_are_usual" and not check.passed
    )
    assert rows.message.startswith("800, expected at least ")
    assert not rows.blocking
    # Another run, of another process: what was told is kept with the day.
    outcome = project.materialize([jumps[1]], assets)
    assert all(check.passed for check in outcome.checks)


def test_days_of_a_few_visitors_are_calm(project: Project) -> None:
    days = [DAY + dt.timedelta(days=n) for n in range(24)]
    for day in days:
        visitors = 1 + day.toordinal() * 7 % 5
        logs.write(project.logs / f"{day}.log", logs.day_of_lines(day, clients=visitors))
    outcome = project.materialize(days, ["log_files", "requests", "page_views", "transits"])
    assert outcome.ok
    assert [check for check in outcome.checks if not check.passed] == []


def test_checks_alone_judge_the_newest_days(running: Project) -> None:
    """ "Execute" in the UI chooses no partition and makes nothing."""
    days = logs.write_days(running.logs, DAY, 2)
    running.run("ingest")
    running.run("daily", tags.of_range(days))
    result = (
        running.defs()
        .resolve_implicit_global_asset_job_def()
        .get_subset(
            asset_selection=set(),
            asset_check_selection={dg.AssetCheckKey(dg.AssetKey("transits"), "no_nulls")},
        )
        .execute_in_process(instance=running.instance)
    )
    (one,) = result.get_asset_check_evaluations()
    assert one.passed
    assert one.metadata["days"].value == 2


def test_an_unreadable_file_is_reported_and_the_others_are_used(project: Project) -> None:
    logs.write_days(project.logs, DAY, 1)
    broken = logs.write(project.logs / "broken.log.gz", [])
    broken.write_bytes(b"\x1f\x8b\x08\x00 this is no gzip")
    outcome = project.materialize([DAY], ["log_files", "requests"])
    (failed,) = (check for check in outcome.checks if not check.passed)
    assert (failed.asset, failed.check, failed.blocking) == ("log_files", "files_readable", False)
    assert "broken.log.gz: " in failed.message
    assert project.store.days("requests") == [DAY]
    assert failed in last_checks(project.settings)


def test_a_source_without_files_is_reported(project: Project) -> None:
    outcome = project.materialize([], ["log_files"])
    (failed,) = (check for check in outcome.checks if not check.passed)
    assert failed.check == "sources_present"
    assert "folder holds no log files" in failed.message


def test_last_checks_are_those_of_what_is_published_now(
    project: Project, three_days: list[dt.date]
) -> None:
    project.materialize(three_days, ["log_files", "requests", "page_views", "transits"])
    checks = last_checks(project.settings)
    expected = {
        (asset, name, day)
        for asset in asset_names.DAILY_ASSETS
        for name in contracts.table(asset).check_names
        for day in three_days
    }
    assert {(check.asset, check.check, check.day) for check in checks if check.day} == expected
    assert all(check.passed for check in checks)
    manifest = project.store.manifest("requests", DAY)
    assert manifest is not None
    publish_requests(project.store, manifest, site="elsewhere.org")
    left = {check.day for check in last_checks(project.settings) if check.asset == "requests"}
    assert left == {NEXT, dt.date(2026, 3, 3)}


def test_a_verdict_is_of_one_content(project: Project, three_days: list[dt.date]) -> None:
    project.materialize([DAY], ["log_files", "requests"])
    state = project.settings.state
    manifest = project.store.manifest("requests", DAY)
    assert manifest is not None
    table = verdicts.read(state, manifest)
    assert {one.check for one in table} == set(contracts.REQUESTS.check_names)
    worse = verdicts.Judgement("requests", "no_nulls", DAY, False, True, "12, expected at most 0.")
    verdicts.record(state, manifest, [worse])
    assert verdicts.blockers(verdicts.read(state, manifest)) == [worse]
    assert len(verdicts.read(state, manifest)) == len(table)


def test_small_days_are_measured_in_one_statement_as_each_alone(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = logs.write_days(project.logs, DAY, 9)
    logs.write(project.logs / "later.log", logs.day_of_lines(DAY + dt.timedelta(days=10)))
    days = [DAY + dt.timedelta(days=n) for n in range(11)]  # one without a line among them
    assert project.materialize(days, ["log_files", "requests", *asset_names.DERIVED]).ok
    monkeypatch.setattr(verdicts, "read", lambda *_: ())
    rival = project.installation

    def findings() -> list[dict[dt.date, tuple[Finding, ...]]]:
        inspector = Inspector(rival.store, rival.engine, rival.settings)
        tables = map(contracts.table, asset_names.DAILY_ASSETS)
        return [inspector.inspect(table, days) for table in tables]

    with monkeypatch.context() as patch:
        patch.setattr(inspect, "measure", None)
        together = findings()
    monkeypatch.setattr(inspect, "measure_days", None)
    assert findings() == together
    assert {day for one in together for day in one} == set(days)
