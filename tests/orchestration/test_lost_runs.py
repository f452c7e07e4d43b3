"""Runs whose process is gone, and old runs."""

from __future__ import annotations

import datetime as dt
import os
from typing import Any

import dagster as dg
import pytest

from temporal_assets.days import daily
from temporal_assets.defs.days import BlockedDay, refuse_blocked
from temporal_assets.defs.runs import lifelines, lost_runs, tags
from temporal_assets.defs.runs.old_runs import old_runs
from temporal_assets.operate.run_history import switched_on
from temporal_assets.quality import verdicts
from tests import logs
from tests.orchestration.conftest import Project
from tests.orchestration.test_checks import publish_requests

FIRST, SECOND = dt.date(2026, 3, 1), dt.date(2026, 3, 2)
MADE = {"requests", "rejects"}


@pytest.fixture
def killed(running: Project) -> tuple[Project, dg.DagsterRun]:
    """A run over two days that published `requests` of the first, and then was killed."""
    logs.write_days(running.logs, FIRST, 2)
    running.run("ingest")
    daily.build_requests(
        running.store, running.installation.engine, running.settings, FIRST, running.inventory
    )
    run = running.instance.create_run_for_job(
        running.defs().resolve_job_def("daily"),
        tags=tags.of_range([FIRST, SECOND]),
        status=dg.DagsterRunStatus.STARTED,
    )
    _leave_lock(running, run)
    return running, run


def _leave_lock(project: Project, run: dg.DagsterRun) -> None:
    lock = project.settings.state / "locks" / f"run-{run.run_id}.lock"
    lock.parent.mkdir(exist_ok=True)
    lock.touch()
    os.utime(lock, (0, 0))


def _shown(project: Project, asset: str) -> set[str]:
    return project.instance.get_materialized_partitions(dg.AssetKey(asset))


def _tick(project: Project) -> Any:
    context = dg.build_sensor_context(
        instance=project.instance,
        resources={"installation": project.installation},
        definitions=project.defs(),
    )
    sensor = project.defs().resolve_sensor_def(lost_runs.SENSOR)
    return sensor.evaluate_tick(context)


def test_days_that_a_killed_run_published_are_shown(killed: tuple[Project, dg.DagsterRun]) -> None:
    project, run = killed
    assert _shown(project, "requests") == set()
    (finish,) = _tick(project).run_requests
    assert {key.asset_key.to_user_string() for key in finish.asset_check_keys} == MADE
    stored = project.instance.get_run_by_id(run.run_id)
    assert stored is not None
    assert stored.status is dg.DagsterRunStatus.FAILURE
    assert _shown(project, "requests") == _shown(project, "rejects") == {FIRST.isoformat()}
    assert _shown(project, "page_views") == set()


def test_a_damaged_day_keeps_no_other_from_being_shown(
    killed: tuple[Project, dg.DagsterRun],
) -> None:
    """Nor the command from going on that is to make it again."""
    project, _ = killed
    folder = project.settings.state / "tables" / "requests" / f"day={FIRST}"
    (folder / "manifest.json").write_text("{")
    _tick(project)
    assert _shown(project, "requests") == set()
    assert _shown(project, "rejects") == {FIRST.isoformat()}


def test_a_run_that_dagster_saw_dying_is_lost_as_well(
    killed: tuple[Project, dg.DagsterRun],
) -> None:
    """Its code server fails the run within a second, before anybody here looks."""
    project, run = killed
    project.instance.report_run_failed(run, "exit code -9")
    before = lifelines.lost_lately(project.instance, dt.datetime.now(dt.UTC))
    assert lost_runs.settle(project.instance, project.installation) == [run.run_id]
    assert _shown(project, "requests") == {FIRST.isoformat()}
    after = lifelines.lost_lately(project.instance, dt.datetime.now(dt.UTC))
    assert (before, after) == ("0", run.run_id)


def test_a_run_that_dagster_saw_dying_before_it_began_is_lost_as_well(running: Project) -> None:
    job = running.defs().resolve_job_def("daily")
    run = running.instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTING)
    running.instance.report_run_failed(run, "terminated by signal 9")
    assert lost_runs.settle(running.instance, running.installation) == [run.run_id]
    assert lost_runs.settle(running.instance, running.installation) == []


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (dg.DagsterRunStatus.STARTED, "The process of this run is gone"),
        (dg.DagsterRunStatus.NOT_STARTED, "never started: its server was killed"),
    ],
)
def test_a_run_that_never_came_to_its_first_step_is_ended(
    running: Project, monkeypatch: pytest.MonkeyPatch, status: dg.DagsterRunStatus, why: str
) -> None:
    """Killed before it took a lock, or written down by a server that died before queueing it."""
    job = running.defs().resolve_job_def("nightly")
    run = running.instance.create_run_for_job(job, status=status)
    assert lost_runs.settle(running.instance, running.installation) == [], "it may be starting"
    monkeypatch.setattr(lifelines, "_SETTLED_SECONDS", -1)
    assert lost_runs.settle(running.instance, running.installation) == [run.run_id]
    stored = running.instance.get_run_by_id(run.run_id)
    assert stored is not None
    assert stored.status is dg.DagsterRunStatus.FAILURE
    events = running.instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
    assert events[0].dagster_event is not None
    assert why in str(events[0].dagster_event.message)


def test_runs_of_others_are_left_alone(running: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    @dg.op
    def theirs() -> None:
        """Holds no lock."""

    @dg.job(name="theirs")
    def job() -> None:
        theirs()

    run = running.instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    monkeypatch.setattr(lifelines, "_SETTLED_SECONDS", -1)
    assert lost_runs.settle(running.instance, running.installation) == []
    stored = running.instance.get_run_by_id(run.run_id)
    assert stored is not None
    assert stored.status is dg.DagsterRunStatus.STARTED


def test_every_job_is_watched_over(running: Project) -> None:
    assert {job.name for job in running.defs().resolve_all_job_defs()} - {
        "__ASSET_JOB"
    } == lifelines._JOBS


def test_what_loses_its_process_each_time_is_tried_once_an_hour(running: Project) -> None:
    job = running.defs().resolve_job_def("ingest")
    now = dt.datetime.now(dt.UTC)
    for _ in range(3):
        run = running.instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
        _leave_lock(running, run)
        lost_runs.settle(running.instance, running.installation)
    assert lifelines.lost_lately(running.instance, now) == f"{now:%Y-%m-%dT%H}"
    later = now + dt.timedelta(hours=2)
    assert lifelines.lost_lately(running.instance, later) == run.run_id


def test_the_sensor_is_on_and_brings_no_data(running: Project) -> None:
    sensor = running.defs().resolve_sensor_def(lost_runs.SENSOR)
    assert sensor.default_status is dg.DefaultSensorStatus.RUNNING
    assert switched_on(running.settings) == ()


def test_a_day_that_was_never_judged_is_judged_before_it_is_built_upon(
    killed: tuple[Project, dg.DagsterRun],
) -> None:
    project, _ = killed
    manifest = project.store.require("requests", FIRST)
    assert verdicts.read(project.settings.state, manifest) == ()
    refuse_blocked(project.installation, "requests", [FIRST])
    assert verdicts.read(project.settings.state, manifest) != ()
    publish_requests(project.store, manifest, site="elsewhere.org")
    with pytest.raises(BlockedDay, match="site_is_host"):
        refuse_blocked(project.installation, "requests", [FIRST])


def test_a_day_of_which_one_check_was_executed_is_judged_by_the_others(
    killed: tuple[Project, dg.DagsterRun],
) -> None:
    project, _ = killed
    publish_requests(project.store, project.store.require("requests", FIRST), site="elsewhere.org")
    _execute_check(project, dg.AssetCheckKey(dg.AssetKey("requests"), "rows_are_usual"))
    manifest = project.store.require("requests", FIRST)
    (one,) = verdicts.read(project.settings.state, manifest)
    assert (one.check, one.blocking) == ("rows_are_usual", False)
    with pytest.raises(BlockedDay, match="site_is_host"):
        refuse_blocked(project.installation, "requests", [FIRST])
    assert one in verdicts.read(project.settings.state, manifest)


def _execute_check(project: Project, check: dg.AssetCheckKey) -> None:
    """Execute a single check as the UI does."""
    job = project.defs().resolve_implicit_global_asset_job_def()
    chosen = job.get_subset(asset_selection=set(), asset_check_selection={check})
    assert chosen.execute_in_process(instance=project.instance).success


@dg.asset(partitions_def=dg.DailyPartitionsDefinition("2026-03-01"))
def table() -> None:
    pass


@dg.op
def fail() -> None:
    raise RuntimeError


@dg.job
def failing() -> None:
    fail()


def make(instance: dg.DagsterInstance, day: str) -> str:
    return dg.materialize([table], instance=instance, partition_key=day).run_id


def test_runs_that_made_what_is_there_stay(running: Project) -> None:
    instance = running.instance
    replaced = make(instance, "2026-03-01")
    failed = failing.execute_in_process(instance=instance, raise_on_error=False).run_id
    make(instance, "2026-03-02")
    make(instance, "2026-03-01")
    assert old_runs(instance, ["table"], 1) == []
    assert old_runs(instance, ["table"], 0) == [replaced, failed]
    for run in (replaced, failed):
        instance.delete_run(run)
    assert instance.get_materialized_partitions(dg.AssetKey("table")) == {
        "2026-03-01",
        "2026-03-02",
    }


def test_nothing_ran_yet(running: Project) -> None:
    assert old_runs(running.instance, ["table"], 1) == []
