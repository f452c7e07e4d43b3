"""Making days through Dagster: what is published, said, and stopped."""

from __future__ import annotations

import datetime as dt
import os
import signal
from contextlib import nullcontext
from types import SimpleNamespace

import dagster as dg
import pytest

from temporal_assets import contracts
from temporal_assets.defs import days as days_module
from temporal_assets.defs.events import Event
from temporal_assets.defs.runs import event_log, tags
from temporal_assets.operate import materializing
from temporal_assets.operate.checks import last_checks
from temporal_assets.operate.materializing import materialize
from temporal_assets.quality.evaluate import NO_REFERRERS
from tests import logs
from tests.orchestration.conftest import Project

DAY = dt.date(2026, 3, 1)
NEXT = dt.date(2026, 3, 2)


def materialization(result: dg.ExecuteInProcessResult, asset: str, day: dt.date) -> dict:
    (event,) = (
        event.materialization
        for event in result.get_asset_materialization_events()
        if event.materialization.asset_key == dg.AssetKey(asset)
        and event.materialization.partition == day.isoformat()
    )
    return {name: value.value for name, value in event.metadata.items()}


def garbage(lines: int) -> list[str]:
    return ["this is no log line"] * lines


def test_every_day_of_a_run_has_its_own_numbers(running: Project) -> None:
    logs.write(running.logs / "a.log", [*logs.day_of_lines(DAY, clients=2), *garbage(1)])
    logs.write(running.logs / "b.log", logs.day_of_lines(NEXT, clients=5))
    assert running.run("ingest").success
    result = running.run("daily", tags.of_range([DAY, NEXT]))
    assert result.success
    first, second = (materialization(result, "requests", day) for day in (DAY, NEXT))
    assert (first["dagster/partition_row_count"], second["dagster/partition_row_count"]) == (4, 10)
    assert (first["log_lines"], second["log_lines"]) == (5, 10)
    assert (first["rejected_lines"], first["dropped_lines"]) == (1, 0)
    # For plots over partitions: shares in percent, sizes in MiB.
    assert first["rejected_percent"] == pytest.approx(20)
    size = running.store.manifest("requests", DAY).size
    assert first["mib"] == pytest.approx(size / 2**20, rel=1e-3)
    assert first["seconds"] >= 0
    assert first["hours"].startswith("![requests by hour (UTC), 2026-03-01](data:image/png;base64,")
    views = materialization(result, "page_views", NEXT)
    assert views["dagster/partition_row_count"] == 2
    reasons = materialization(result, "rejects", DAY)["reasons"].records
    assert [(reason.data["kind"], reason.data["lines"]) for reason in reasons] == [("rejected", 1)]


def test_a_long_run_shows_plots_and_samples_of_its_last_day(running: Project) -> None:
    days = logs.write_days(running.logs, DAY, 9, clients=6)
    assert running.run("ingest").success
    result = running.run("daily", tags.of_range([days[0], days[-1]]))
    assert result.success
    drawn = {"requests": "hours", "page_views": "pages_by_views", "transits": "picture"}
    for asset, plot in drawn.items():
        assert materialization(result, asset, days[-1])[plot].startswith("![")
        assert plot not in materialization(result, asset, days[-2])
        assert "sample" in materialization(result, asset, days[-1])


def test_a_day_without_logs_among_others_is_an_empty_day_and_no_failure(project: Project) -> None:
    gap, last = DAY + dt.timedelta(1), DAY + dt.timedelta(2)
    for day in (DAY, last):
        logs.write(project.logs / f"{day}.log", logs.day_of_lines(day, clients=60))
    daily = ["log_files", "requests", "page_views", "transits"]
    outcome = project.materialize([DAY, gap, last], daily)
    assert outcome.ok, outcome
    assert {published.rows for published in outcome.materialized if published.day == gap} == {0}
    failed = [check for check in outcome.checks if not check.passed and check.day == gap]
    assert {(one.asset, one.check) for one in failed} == {
        ("requests", "has_rows"),
        ("transits", "has_rows"),
    }
    assert not any(one.blocking for one in failed)


def test_what_is_published_is_what_was_logged(project: Project, three_days: list[dt.date]) -> None:
    outcome = project.materialize(three_days, ["log_files", "requests", "page_views", "transits"])
    assert outcome.ok, outcome
    assert len(outcome.run_ids) == 2
    assert {
        (published.asset, published.day): published.rows for published in outcome.materialized
    } == {
        (asset, day): rows
        for day in three_days
        for asset, rows in (("requests", 6), ("rejects", 0), ("page_views", 2), ("transits", 6))
    }
    views = project.store.read("page_views", three_days[0]).to_pylist()
    assert [(row["url"], row["views"]) for row in views] == [
        ("https://example.com/", 3),
        ("https://example.com/news/2026-03-01", 3),
    ]


def test_days_are_made_in_batches(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    days = logs.write_days(project.logs, DAY, 4)
    monkeypatch.setattr(materializing, "DAYS_PER_RUN", 2)
    outcome = project.materialize(days, ["log_files", "requests"])
    assert outcome.ok
    assert len(outcome.run_ids) == 1 + 1  # small days share a run
    monkeypatch.setattr(materializing, "_FEW_ROWS", 5)
    outcome = project.materialize(days, ["log_files", "requests"])
    assert outcome.ok
    assert len(outcome.run_ids) == 1 + 2


def test_the_event_log_is_what_dagster_would_have_written(
    project: Project,
    three_days: list[dt.date],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Two runs, one with its databases kept open and one as Dagster does; only moments differ."""
    answer = []
    for is_ours in (True, False):
        if not is_ours:
            monkeypatch.setattr(event_log, "kept_open", lambda log: nullcontext())
        outcome = project.materialize(three_days, ["log_files", "requests", "page_views"])
        assert outcome.ok
        with dg.DagsterInstance.from_config(str(project.settings.state / "dagster")) as instance:
            answer.append((_told(instance, outcome.run_ids[-1]), _versions(instance)))
            partitions = instance.get_materialized_partitions(dg.AssetKey("page_views"))
            assert partitions == {day.isoformat() for day in three_days}
            if is_ours:  # Dagster plans a check of each day as well, and leaves those planned
                log, check = instance.event_log_storage, contracts.PAGE_VIEWS.check_names[0]
                key = dg.AssetCheckKey(dg.AssetKey("page_views"), check)
                checks = log.get_asset_check_execution_history(key, limit=10)
                assert [record.status.name for record in checks] == ["SUCCEEDED"]
    assert answer[0] == answer[1]
    assert "Exception while storing event batch" not in capfd.readouterr().err
    assert "DAGSTER_EVENT_BATCH_SIZE" not in os.environ


def test_another_release_of_dagster_is_used_as_it_is() -> None:
    renamed = SimpleNamespace(conn_string_for_shard=str, run_connection=str)
    before = dict(vars(renamed))
    with event_log.kept_open(renamed):
        assert vars(renamed) == before
    for fields in ({}, {"remote_job_origin": None}):
        run = SimpleNamespace(tags={**tags.OF_LOCATION}, run_id="1", job_name="daily", **fields)
        assert event_log._with_location(run) is run


def _versions(instance: dg.DagsterInstance) -> list[tuple[str | None, str]]:
    """Return days with the versions of the data that were last made, and the last day made."""
    key = dg.AssetKey("page_views")
    records = instance.fetch_materializations(key, limit=3).records
    latest = instance.get_latest_materialization_event(key)
    made = [record.asset_materialization for record in records]
    if latest is not None:
        made.append(latest.asset_materialization)
    return [(one.partition, (one.tags or {})["dagster/data_version"]) for one in made if one]


def _told(instance: dg.DagsterInstance, run: str) -> list[tuple[object, ...]]:
    entries = instance.all_logs(run)
    return sorted(
        (str(entry.dagster_event_type), str(event.asset_key), str(event.partition), event.step_key)
        for entry in entries
        if (event := entry.dagster_event) is not None
    )


def test_sigterm_ends_a_command_of_the_background_between_runs_too(
    project: Project, three_days: list[dt.date]
) -> None:
    """Such a command ignores Ctrl-C, to whose handler Dagster leaves SIGTERM."""
    handlers = {
        number: signal.signal(number, handler)
        for number, handler in (
            (signal.SIGINT, signal.SIG_IGN),
            (signal.SIGTERM, signal.default_int_handler),
        )
    }
    try:
        assert project.materialize(three_days[:1], ["log_files", "requests"]).ok
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def test_one_bad_day_loses_no_other(project: Project) -> None:
    project.settings = project.with_settings("combined")
    logs.write(project.logs / "a.log", logs.day_of_lines(DAY))
    logs.write(project.logs / "b.log", [*logs.day_of_lines(NEXT), *garbage(20)])
    outcome = project.materialize([DAY, NEXT], ["log_files", "requests", "page_views", "transits"])
    assert not outcome.ok
    (failure,) = outcome.failures
    assert (failure.asset, failure.days) == ("requests", (NEXT,))
    assert failure.message.startswith("20 of 26 log lines")
    published = {(published.asset, published.day) for published in outcome.materialized}
    assert published == {
        ("requests", DAY),
        ("rejects", DAY),
        ("rejects", NEXT),  # the evidence
        ("page_views", DAY),
        ("transits", DAY),
    }
    assert project.store.days("page_views") == [DAY]


def test_days_made_side_by_side_are_those_made_one_after_the_other(project: Project) -> None:
    days = logs.write_days(project.logs, DAY, 9)
    logs.write(project.logs / "bad.log", [*logs.day_of_lines(days[4]), *garbage(20)])
    actual, events = [], list[Event]()
    for threads in (2, 1):
        project.settings = project.with_settings("combined", engine={"threads": threads})
        assets = ["log_files", "requests", "page_views", "transits"]
        outcome = materialize(project.settings, days, assets, events.append)
        assert {failure.days for failure in outcome.failures} == {(days[4],)}
        actual.append(
            {
                (asset, day): manifest.digest
                for asset in ("requests", "rejects", "page_views", "transits")
                for day in days
                if (manifest := project.store.manifest(asset, day))
            }
        )
    assert actual[0] == actual[1]
    assert len(actual[0]) == 4 * 9 - 3
    kinds = ("published", "failed")
    message = [
        (event.kind, event.day)
        for event in events
        if event.asset == "requests" and event.kind in kinds
    ]
    assert message == [("failed" if day == days[4] else "published", day) for day in days] * 2


def test_the_error_of_a_run_names_the_days(running: Project) -> None:
    running.settings = running.with_settings("combined")
    logs.write(running.logs / "a.log", logs.day_of_lines(DAY))
    logs.write(running.logs / "b.log", [*logs.day_of_lines(NEXT), *garbage(20)])
    running.run("ingest")
    result = running.run("daily", tags.of_range([DAY, NEXT]))
    assert not result.success
    failure = result.failure_data_for_node("requests_and_rejects")
    assert failure is not None
    described = failure.user_failure_data.description
    assert described.startswith("1 of 2 days failed: 2026-03-02. The others are published.")
    partitions = running.instance.get_materialized_partitions(dg.AssetKey("requests"))
    assert partitions == {"2026-03-01"}


def test_an_unexpected_error_is_not_lost(
    project: Project, three_days: list[dt.date], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(days_module, "digest_of", fail)
    outcome = project.materialize(three_days, ["log_files", "requests"])
    assert not outcome.ok
    (failure,) = outcome.failures
    assert failure.days == tuple(three_days)
    assert "Input/output error" in failure.message


def test_days_that_are_no_partitions_are_skipped_with_a_reason(project: Project) -> None:
    (day,) = logs.write_days(project.logs, DAY, 1)
    project.materialize([], ["log_files"])
    outcome = project.materialize([DAY - dt.timedelta(days=9), day, dt.date(2999, 1, 1)])
    assert outcome.ok
    assert {published.day for published in outcome.materialized} == {day}
    assert [(rule.day, rule.reason) for rule in outcome.skipped] == [
        (dt.date(2026, 2, 20), "the first partition is 2026-03-01"),
        (dt.date(2999, 1, 1), "the day has not begun"),
    ]


def test_an_unknown_asset_is_refused(project: Project) -> None:
    with pytest.raises(ValueError, match=r"no asset named pageviews; there are: .*log_files"):
        project.materialize([DAY], ["pageviews"])


def test_events_tell_what_happens(project: Project) -> None:
    logs.write_days(project.logs, DAY, 1)
    seen: list[Event] = []
    materialize(project.settings, [DAY], ["log_files", "requests"], seen.append)
    assert {event.kind for event in seen} == {"reading", "published", "checked"}
    (read,) = (event for event in seen if event.kind == "reading" and event.done == event.total)
    assert read.path.endswith("access-2026-03-01.log")


def test_transits_of_a_format_without_referrers_are_unknown_not_wrong(running: Project) -> None:
    noon = dt.datetime.combine(DAY, dt.time(12))
    lines = [logs.common_line(noon, f"/{n}", f"192.0.2.{n}") for n in range(1, 9)]
    logs.write(running.logs / "a.log", lines)
    running.run("ingest")
    result = running.run("daily", partition=DAY)
    assert result.success
    assert materialization(result, "transits", DAY)["referrers"] == NO_REFERRERS
    actual = {
        evaluation.check_name: evaluation
        for evaluation in result.get_asset_check_evaluations()
        if evaluation.asset_key == dg.AssetKey("transits")
    }
    known = actual["referrers_known"]
    assert known.passed
    assert known.description == NO_REFERRERS
    assert "transits" in NO_REFERRERS
    assert "unknown" in NO_REFERRERS
    (kept,) = (
        entry
        for entry in last_checks(running.settings)
        if (entry.asset, entry.check) == ("transits", "referrers_known")
    )
    assert (kept.passed, kept.message) == (True, NO_REFERRERS)


def test_empty_referrers_of_a_format_that_has_them_are_a_warning(project: Project) -> None:
    failed: list[list[tuple[str, str, bool]]] = []
    for day, visitors in ((DAY, 9), (NEXT, 120)):
        noon = dt.datetime.combine(day, dt.time(12))
        lines = [logs.line(noon, f"/{n}", f"192.0.2.{n + 1}") for n in range(visitors)]
        logs.write(project.logs / f"{day}.log", lines)
        outcome = project.materialize([day], ["log_files", "requests", "transits"])
        assert outcome.ok
        failed.append(
            [
                (entry.asset, entry.check, entry.blocking)
                for entry in outcome.checks
                if not entry.passed
            ]
        )
    few, many = failed
    assert not few, "of nine visits none need have come by a link"
    assert ("transits", "referrers_known", False) in many
