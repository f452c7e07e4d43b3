"""The sensor `alerts`: what it tells, once, and what happens when it cannot."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from temporal_assets import contracts
from temporal_assets.alerts.delivery import Undelivered
from temporal_assets.alerts.messages import Message
from temporal_assets.cli.daily import status
from temporal_assets.defs import alerts, checks
from temporal_assets.defs.alerts import Delivery, tell
from temporal_assets.operate.home import prepare_home
from temporal_assets.operate.run_history import switched_on
from tests import logs
from tests.dagster_internals import serializable_error_info_from_exc_info
from tests.mail_server import WebServer, serving
from tests.orchestration.conftest import Project
from tests.tables import write_table

DAY = dt.date(2026, 3, 1)
THEN = dt.date(2126, 3, 1)  # no run is that late: only data is told of
ALWAYS = {"warnings": True, "max_age_days": 0}


@dg.op
def stumble() -> None:
    raise ValueError("access.log, line 7: <!channel>") from OSError("inner")


@dg.job
def stumbling() -> None:
    stumble()


@dg.op
def walk() -> None:
    pass


@dg.job
def walking() -> None:
    walk()


@dg.asset(partitions_def=dg.DailyPartitionsDefinition("2026-03-01"))
def table() -> None:
    pass


@dg.asset_check(asset=table, description="Rows are rows.")
def holds() -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=False,
        description="They were not.",
        metadata={"value": 1_000_001.0, "maximum": 1_000_000.0},
    )


@dg.asset_check(asset=table)
def drifts() -> dg.AssetCheckResult:
    severity = dg.AssetCheckSeverity.WARN
    return dg.AssetCheckResult(
        passed=False, severity=severity, description="A drift.", metadata={"value": "of texts"}
    )


@dg.asset_check(asset=table)
def fine() -> dg.AssetCheckResult:
    return dg.AssetCheckResult(passed=True)


class Ear:
    """A channel that keeps what it is told, or does not hear."""

    where = "here"

    def __init__(self, name: str = "ear") -> None:
        self.name = name
        self.heard: list[Message] = []
        self.deaf_to: set[str] = set()

    def deliver(self, message: Message) -> str:
        if any(word in message.title for word in self.deaf_to):
            raise Undelivered(f"{self.name} hears nothing")
        self.heard.append(message)
        return ""

    @property
    def titles(self) -> list[str]:
        return [message.title for message in self.heard]


class Ticks:
    """Ticks whose cursor is kept as Dagster keeps it: a tick that fails forgets it."""

    def __init__(self, project: Project, *ears: Ear) -> None:
        self.project, self.ears = project, ears
        self.cursor: str | None = None
        self.now: dt.datetime | None = None

    def tick(self) -> Delivery:
        now = self.now or dt.datetime.now(dt.UTC)
        answer = tell(self.project.instance, self.project.installation, self.ears, self.cursor, now)
        if answer.has_changed:
            self.cursor = json.dumps({name: asdict(one) for name, one in answer.places.items()})
        return answer


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Dagster instance of all tests of this file: earlier runs are history to each test."""
    settings = Project(tmp_path_factory.mktemp("alerts")).settings
    with dg.DagsterInstance.from_config(str(prepare_home(settings))) as instance:
        yield Project(settings.state.parent, instance)


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
def ticks(running: Project, ear: Ear) -> Ticks:
    running.settings = running.with_settings(alerts=ALWAYS)
    return Ticks(running, ear)


def fail(ticks: Ticks, tags: dict[str, str] | None = None) -> str:
    return stumbling.execute_in_process(
        instance=ticks.project.instance, raise_on_error=False, tags=tags
    ).run_id


def publish_nothing(project: Project, asset: str, day: dt.date) -> None:
    with project.store.scratch() as folder:
        path = folder / "empty.parquet"
        write_table(contracts.table(asset).arrow_schema.empty_table(), path)
        project.store.publish(asset, day, [path], inputs=(), settings_digest="")


def test_a_failed_run_is_told_once_and_history_never(ticks: Ticks, ear: Ear) -> None:
    fail(ticks)
    ticks.tick()
    assert ear.titles == []
    run = fail(ticks, {"dagster/partition": "2026-03-01"})
    walking.execute_in_process(instance=ticks.project.instance)
    assert ticks.tick().messages == 1
    assert ticks.tick().messages == 0
    (message,) = ear.heard
    assert message.title == "stumbling of 2026-03-01 failed"
    assert [(line.text.strip(), line.quoted) for line in message.lines] == [
        ("Step stumble failed:", False),
        ("ValueError: access.log, line 7: <!channel>", True),
        (f"Look at http://127.0.0.1:3000/runs/{run}, or call: temporal-assets status", False),
    ]


def test_partitions_of_other_peoples_assets_are_no_trouble(ticks: Ticks, ear: Ear) -> None:
    ticks.tick()
    fail(ticks, {"dagster/partition": "Europe|north"})
    ticks.tick()
    assert ear.titles == ["stumbling failed"]


def test_checks_that_did_not_pass_are_told_with_what_was_found(ticks: Ticks, ear: Ear) -> None:
    ticks.tick()
    dg.materialize(
        [table, holds, drifts, fine], instance=ticks.project.instance, partition_key="2026-03-02"
    )
    ticks.tick()
    (message,) = ear.heard
    assert message.title.endswith("of 2026-03-02 succeeded with 1 broken check and 1 warning")
    assert [line.text for line in message.lines[:4]] == [
        "Check table.holds (BROKEN):",
        "1,000,001, expected at most 1,000,000. They were not.",
        "Check table.drifts (warning):",
        "A drift.",
    ]


def test_warnings_are_not_told_unless_they_are_wanted(ticks: Ticks, ear: Ear) -> None:
    ticks.project.settings = ticks.project.with_settings(alerts={})
    ticks.tick()
    dg.materialize([table, drifts], instance=ticks.project.instance, partition_key="2026-03-02")
    assert ticks.tick().messages == 0
    dg.materialize(
        [table, drifts, holds], instance=ticks.project.instance, partition_key="2026-03-02"
    )
    ticks.tick()
    (message,) = ear.heard
    assert "drifts" not in "".join(line.text for line in message.lines)


def test_what_cannot_be_delivered_is_neither_lost_nor_doubled(running: Project) -> None:
    running.settings = running.with_settings(alerts=ALWAYS)
    good, poor = Ear("good"), Ear("poor")
    ticks = Ticks(running, good, poor)
    ticks.tick()
    for n in (1, 2, 3):
        fail(ticks, {"dagster/partition": f"2026-03-0{n}"})
    poor.deaf_to = {"03-02"}
    requests = ticks.tick()
    assert (requests.messages, requests.has_changed, requests.troubles) == (
        4,
        True,
        ["poor hears nothing"],
    )
    assert [title[13:23] for title in good.titles] == ["2026-03-01", "2026-03-02", "2026-03-03"]
    assert [title[13:23] for title in poor.titles] == ["2026-03-01"]
    requests = ticks.tick()
    assert (requests.messages, requests.has_changed, requests.troubles) == (
        0,
        False,
        ["poor hears nothing"],
    )
    poor.deaf_to = set()
    assert ticks.tick().messages == 2
    assert poor.titles == good.titles
    assert ticks.tick().messages == 0


def test_an_error_that_nobody_thought_of_stops_one_channel_only(
    running: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumbles(_: Message) -> str:
        raise RuntimeError("https://a.example/SECRET")

    running.settings = running.with_settings(alerts=ALWAYS)
    bad, good = Ear("bad"), Ear("good")
    ticks = Ticks(running, bad, good)
    ticks.tick()
    fail(ticks, {"dagster/partition": "2026-03-01"})
    monkeypatch.setattr(bad, "deliver", stumbles)
    requests = ticks.tick()
    assert (requests.messages, requests.has_changed) == (1, True)
    (trouble,) = requests.troubles
    assert trouble.startswith("bad: RuntimeError at test_alerts.py:")
    monkeypatch.undo()
    ticks.tick()
    assert bad.titles == good.titles == ["stumbling of 2026-03-01 failed"]


def test_a_run_whose_end_is_written_late_is_still_told(ticks: Ticks, ear: Ear) -> None:
    ticks.tick()
    fail(ticks, {"dagster/partition": "2026-03-01"})
    late = fail(ticks, {"dagster/partition": "2026-03-02"})
    fail(ticks, {"dagster/partition": "2026-03-03"})
    run = ticks.project.instance.get_run_by_id(late)
    assert run is not None
    ticks.project.instance.delete_run(late)
    assert ticks.tick().messages == 2
    ticks.project.instance.add_run(run)
    assert ticks.tick().messages == 0  # it has not ended: no time of its end is known
    ticks.project.instance.delete_run(late)
    assert ticks.tick().messages == 0


def test_a_tick_looks_at_so_many_runs_and_the_next_goes_on(
    ticks: Ticks, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks.tick()
    for n in (1, 2, 3):
        fail(ticks, {"dagster/partition": f"2026-03-0{n}"})
    monkeypatch.setattr(alerts, "_MOST_RUNS", 2)
    assert [ticks.tick().messages for _ in range(3)] == [2, 1, 0]
    monkeypatch.setattr(alerts, "_PATIENCE_SECONDS", -1.0)
    fail(ticks)
    assert ticks.tick().messages == 0
    monkeypatch.undo()
    assert ticks.tick().messages == 1


def test_the_memory_does_not_grow(ticks: Ticks) -> None:
    ticks.tick()
    place = alerts.ChannelCursor(since=1000.0)
    for n in range(5000):
        place.note(f"run{n}", 1000.0 + n)
    assert len(place.known) == 600
    assert place.since == 5999.0 - 600


def test_a_run_that_lost_its_process_is_told(ticks: Ticks, ear: Ear) -> None:
    ticks.tick()
    instance = ticks.project.instance
    run = instance.create_run_for_job(walking, status=dg.DagsterRunStatus.STARTED)
    instance.report_run_failed(run, "The process of this run is gone.")
    ticks.tick()
    (message,) = ear.heard
    assert [line.text for line in message.lines if line.quoted] == [
        "The process of this run is gone."
    ]


def test_old_data_is_told_once_a_day(running: Project, ear: Ear) -> None:
    running.settings = running.with_settings(orchestration={"timezone": "America/New_York"})
    ticks = Ticks(running, ear)
    ticks.now = dt.datetime(2126, 3, 2, 5, tzinfo=dt.UTC)
    assert ticks.tick().messages == 0  # nothing was ever published
    publish_nothing(running, "page_views", THEN)
    for now, messages in [
        ("2126-03-03T12:00", 0),  # two days: the night's run may be under way
        ("2126-03-04T04:59", 0),  # it is still the third in New York
        ("2126-03-04T05:00", 1),
        ("2126-03-04T05:01", 0),
        ("2126-03-05T04:59", 0),
        ("2126-03-05T05:00", 1),
    ]:
        ticks.now = dt.datetime.fromisoformat(now).replace(tzinfo=dt.UTC)
        assert ticks.tick().messages == messages, now
    assert ear.titles == ["no new data since 2126-03-01"] * 2


@pytest.mark.parametrize(
    ("job", "days", "limit", "expected"),
    [
        ("nightly", 1, 2, "2026-02-28"),
        ("nightly", 1, 1, "2026-03-01"),
        ("nightly", 1, 0, None),
        ("nightly", 0, 2, None),
        ("ingest", 1, 2, None),
    ],
)
def test_the_nightly_run_waits_for_its_day_and_no_other_run_does(
    project: Project, job: str, days: int, limit: int, expected: str | None
) -> None:
    run = SimpleNamespace(job_name=job, tags={"dagster/partition": "2026-03-01"} if days else {})
    settings = project.with_settings(alerts={"max_age_days": limit})
    expected_day = checks._expected_day(SimpleNamespace(run=run), settings)  # type: ignore[arg-type]
    assert expected_day == (dt.date.fromisoformat(expected) if expected else None)


@pytest.mark.parametrize(
    ("latest", "on", "limit", "is_old"),
    [
        (dt.date(2020, 1, 1), ("nightly",), 2, True),
        (dt.date(2020, 1, 1), (), 2, False),  # a demo: nobody waits for new data
        (dt.date(2020, 1, 1), ("nightly",), 0, False),
        (dt.date(2126, 1, 1), ("nightly",), 2, False),
        (None, ("nightly",), 2, False),
    ],
)
def test_status_warns_of_old_data_only_where_something_is_switched_on(
    project: Project, latest: dt.date | None, on: tuple[str, ...], limit: int, is_old: bool
) -> None:
    settings = project.with_settings(alerts={"max_age_days": limit})
    recency = status._recency(settings, latest, on)
    assert (recency["is_old"], recency["latest_day"]) == (is_old, latest)


def test_nothing_is_switched_on_where_there_is_no_dagster(project: Project) -> None:
    assert switched_on(project.settings) == ()
    assert not project.settings.state.exists()


@pytest.mark.parametrize(
    "fault",
    [
        PermissionError(13, "Permission denied"),
        OSError(5, "Input/output error"),
        sqlite3.OperationalError("database or disk is full"),
        sqlite3.OperationalError("disk I/O error"),
    ],
)
def test_who_may_not_write_is_told_the_rest(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fault: Exception,
) -> None:
    def refused(_: object) -> None:
        raise fault

    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    (project.settings.state / "dagster" / "schedules").mkdir(parents=True)
    monkeypatch.setattr("temporal_assets.operate.home.prepare_home", refused)
    damages: list[str] = []
    recency = status._recency(project.settings, DAY, status._switched_on(project.settings, damages))
    assert damages == []  # nothing is broken
    assert (recency["switched_on"], recency["is_old"]) == (None, False)
    status._show_recency(recency)
    assert "unknown, because Dagster's history cannot be read" in capsys.readouterr().err


@pytest.fixture
def web() -> Iterator[WebServer]:
    server = WebServer()
    with serving(server):
        yield server


def evaluate(project: Project, cursor: str | None) -> Any:
    defs = project.defs()
    context = dg.build_sensor_context(
        instance=project.instance,
        cursor=cursor,
        resources={"installation": project.installation},
        definitions=defs,
    )
    return defs.resolve_sensor_def("alerts").evaluate_tick(context)


@pytest.fixture(name="project_with_hook")
def _project_with_hook(running: Project, web: WebServer) -> Project:
    running.settings = running.with_settings(alerts={"webhook": web.url})
    return running


def test_the_sensor_is_off_and_silent_without_a_channel(running: Project) -> None:
    running.settings = running.with_settings()
    sensor = running.defs().resolve_sensor_def("alerts")
    assert sensor.default_status is dg.DefaultSensorStatus.STOPPED
    data = evaluate(running, None)
    assert data.skip_message == (
        "Nobody to tell: set alerts.webhook or alerts.to in settings.toml."
    )
    assert data.cursor is None


def test_a_failed_day_of_ours_names_file_and_line(
    project_with_hook: Project, web: WebServer
) -> None:
    project = project_with_hook
    project.settings = project.with_settings("combined", alerts={"webhook": web.url})
    cursor = evaluate(project, None).cursor
    logs.write(project.logs / "access.log", [*logs.day_of_lines(DAY), *["<garbage>"] * 50])
    assert not project.materialize([DAY], ["log_files", "requests"]).ok
    data = evaluate(project, cursor)
    assert data.skip_message == "Messages sent: 1."
    (text,) = web.texts
    assert text.startswith("*[temporal_assets] daily of 2026-03-01 failed*\n")
    assert "Step requests_and_rejects failed:\n```\n2026-03-01: 50 of 56 log lines" in text
    assert "access.log, read as 'combined'" in text
    assert "line 7: '&lt;garbage&gt;'" in text


def test_a_tick_that_can_tell_nobody_fails_and_says_why(
    project_with_hook: Project, web: WebServer
) -> None:
    project = project_with_hook
    cursor = evaluate(project, None).cursor
    stumbling.execute_in_process(instance=project.instance, raise_on_error=False)
    web.answers = [(503, "later")]
    with pytest.raises(Exception, match="answered 503") as caught:
        evaluate(project, cursor)
    error = caught.value
    stored = serializable_error_info_from_exc_info((type(error), error, error.__traceback__))
    assert "SECRET" not in stored.to_string()
    assert evaluate(project, cursor).skip_message == "Messages sent: 1."
    assert len(web.texts) == 1
