"""The sensor and the schedule: what they ask for, tick by tick."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Sequence
from pathlib import Path

import dagster as dg
import pytest

from temporal_assets.defs.runs import tags
from temporal_assets.defs.runs.sensor_cursor import PastRequests
from temporal_assets.landing.landing import refresh
from temporal_assets.storage.integrity import SET_ASIDE
from temporal_assets.storage.partition_errors import DamagedPartition
from tests import logs
from tests.orchestration.conftest import Project

DAY = dt.date(2026, 3, 1)
ALL = {"requests", "rejects", "page_views", "transits"}


class Ticks:
    """The sensor, ticked as the daemon does: the cursor is kept, known run keys are dropped."""

    def __init__(self, project: Project, *, windows: bool = False) -> None:
        self.project = project
        self.windows = windows
        """True where requests for windows, which follow every new day, are returned as well."""
        self.cursor: str | None = None
        self.keys: set[str] = set()
        self.skipped: str | None = None

    def tick(self) -> list[dg.RunRequest]:
        defs = self.project.defs()
        context = dg.build_sensor_context(
            instance=self.project.instance,
            cursor=self.cursor,
            resources={"installation": self.project.installation},
            definitions=defs,
        )
        data = defs.resolve_sensor_def("new_log_files").evaluate_tick(context)
        self.cursor, self.skipped = data.cursor, data.skip_message
        asked = [
            request
            for request in data.run_requests or []
            if self.windows or request.job_name != "windows"
        ]
        new = [request for request in asked if request.run_key not in self.keys]
        self.keys |= {item.run_key or "" for item in new}
        return new

    def execute(self, requests: Sequence[dg.RunRequest]) -> bool:
        """Run what was asked for. Returns True if all of it succeeded."""
        good = True
        for request in requests:
            job = self.project.defs().resolve_job_def(request.job_name or "")
            result = job.execute_in_process(
                instance=self.project.instance,
                tags=dict(request.tags),
                asset_selection=list(request.asset_selection or []) or None,
                raise_on_error=False,
            )
            good &= result.success
        return good

    def made(self, days: int) -> list[dt.date]:
        """Write days of logs, which two ticks read and make."""
        written = logs.write_days(self.project.logs, DAY, days)
        for _ in range(2):
            self.execute(self.tick())
        return written


@pytest.fixture
def ticks(running: Project) -> Ticks:
    return Ticks(running)


def days_of(request: dg.RunRequest) -> list[dt.date]:
    return tags.days_of_run(request.tags)


def assets_of(request: dg.RunRequest) -> set[str]:
    return {key.to_user_string() for key in request.asset_selection or []}


def test_new_files_are_read_and_then_their_days_are_made(ticks: Ticks) -> None:
    days = logs.write_days(ticks.project.logs, DAY, 3)
    (ingest,) = ticks.tick()
    assert ingest.job_name == "ingest"
    assert ticks.execute([ingest])
    (daily,) = ticks.tick()
    assert (daily.job_name, days_of(daily), assets_of(daily)) == ("daily", days, ALL)
    assert ticks.execute([daily])
    assert ticks.tick() == []
    assert ticks.tick() == []
    assert ticks.skipped == "No new log files, and every day is up to date."
    assert ticks.project.store.days("transits") == days


def test_the_same_files_are_asked_for_once(ticks: Ticks) -> None:
    logs.write_days(ticks.project.logs, DAY, 1)
    assert len(ticks.tick()) == 1
    # The run has not started yet, or has failed: once more in this hour, then no more.
    assert len(ticks.tick()) <= 1
    assert ticks.tick() == []


def test_damaged_records_are_mended_before_any_day_is_made(ticks: Ticks) -> None:
    days = ticks.made(2)
    logs.write(ticks.project.logs / "late.log", [logs.line(dt.datetime(2026, 3, 1, 15), "/late")])
    ticks.execute(ticks.tick())
    for record in (ticks.project.settings.state / "landing" / "files").iterdir():
        record.write_text("")
    # Also where no log is there to be read, so that somebody is told.
    gone = ticks.project.logs.rename(ticks.project.root / "gone")
    (ingest,) = ticks.tick()
    assert ingest.job_name == "ingest"
    gone.rename(ticks.project.logs)
    assert ticks.execute([ingest])
    (daily,) = ticks.tick()
    assert (daily.job_name, days_of(daily)) == ("daily", days[:1])


def test_lines_that_were_lost_are_read_again_and_their_day_is_made(ticks: Ticks) -> None:
    days = logs.write_days(ticks.project.logs, DAY, 2)
    ticks.execute(ticks.tick())
    landed = ticks.project.settings.state / "landing" / "segments"
    (lines,) = landed.glob(f"*/{days[0]}-*")
    lines.write_bytes(lines.read_bytes()[:-9])
    assert not ticks.execute(ticks.tick())  # the damage is found
    (ingest,) = ticks.tick()
    assert ingest.job_name == "ingest"
    assert ticks.execute([ingest])
    requests = ticks.tick()
    assert days[0] in {day for request in requests for day in days_of(request)}
    assert ticks.execute(requests)
    assert ticks.tick() == []
    assert ticks.tick() == []
    assert ticks.skipped == "No new log files, and every day is up to date."
    assert ticks.project.store.days("transits") == days


def test_lost_lines_of_a_log_that_is_gone_ask_for_nothing(ticks: Ticks) -> None:
    ticks.made(1)
    for log in ticks.project.logs.iterdir():
        log.unlink()
    for lines in (ticks.project.settings.state / "landing" / "segments").glob("*/*"):
        lines.unlink()
    assert ticks.tick() == []


def test_a_file_that_is_still_being_written_waits(ticks: Ticks) -> None:
    logs.write(ticks.project.logs / "a.log", logs.day_of_lines(DAY), minutes_old=0)
    assert ticks.tick() == []
    logs.write(ticks.project.logs / "a.log", logs.day_of_lines(DAY), minutes_old=2)
    assert [one.job_name for one in ticks.tick()] == ["ingest"]


def test_a_late_file_makes_its_day_again_and_no_other(ticks: Ticks) -> None:
    days = ticks.made(3)
    noon = dt.datetime.combine(days[1], dt.time(15))
    logs.write(ticks.project.logs / "late.log", [logs.line(noon, "/late", "192.0.2.77")])
    assert ticks.execute(ticks.tick())
    (daily,) = ticks.tick()
    assert days_of(daily) == [days[1]]
    assert ticks.execute([daily])
    assert ticks.project.store.read("requests", days[1]).num_rows == 7
    assert ticks.tick() == []


def test_the_same_content_under_another_name_changes_nothing(ticks: Ticks) -> None:
    ticks.made(1)
    logs.write(ticks.project.logs / "copy.log", logs.day_of_lines(DAY))
    assert ticks.execute(ticks.tick())
    assert ticks.tick() == []


def test_a_day_that_fails_is_not_asked_for_again_until_its_logs_change(ticks: Ticks) -> None:
    ticks.project.settings = ticks.project.with_settings("combined")
    logs.write(ticks.project.logs / "a.log", [*logs.day_of_lines(DAY), *["garbage"] * 50])
    ticks.execute(ticks.tick())
    assert not ticks.execute(ticks.tick())
    assert ticks.tick() == []
    more = logs.day_of_lines(DAY, clients=100)
    logs.write(ticks.project.logs / "b.log", more)
    ticks.execute(ticks.tick())
    (daily,) = ticks.tick()
    assert days_of(daily) == [DAY]


def test_a_day_that_fails_is_not_asked_for_again_with_its_neighbours(ticks: Ticks) -> None:
    ticks.project.settings = ticks.project.with_settings("combined")
    days = logs.write_days(ticks.project.logs, DAY, 3)
    # A line that is none belongs to the day of the line before it.
    spoilt = [*logs.day_of_lines(days[1]), *["garbage"] * 50]
    logs.write(ticks.project.logs / "spoilt.log", spoilt)
    ticks.execute(ticks.tick())
    assert not ticks.execute(ticks.tick())
    # The step failed, so that nothing was made of the good days; they go on.
    rest = ticks.tick()
    assert [days_of(order) for order in rest] == [[days[0]], [days[2]]]
    assert ticks.execute(rest)
    assert ticks.tick() == []  # but for the window of the good days
    assert ticks.tick() == []
    assert ticks.skipped is not None
    assert ticks.skipped.startswith("Not made when asked for: 2026-03-02.")
    late = [logs.line(dt.datetime.combine(days[0], dt.time(15)), "/late", "192.0.2.77")]
    logs.write(ticks.project.logs / "late.log", late)
    ticks.execute(ticks.tick())
    (daily,) = ticks.tick()
    assert days_of(daily) == [days[0]]


@pytest.mark.slow
@pytest.mark.parametrize("asset", ["requests", "page_views"])
def test_a_day_whose_file_was_set_aside_is_made_again_each_time(ticks: Ticks, asset: str) -> None:
    ticks.made(1)
    store = ticks.project.store
    (path,) = map(Path, store.files(asset, DAY))
    whole = path.read_bytes()
    for _ in range(2):
        path.write_bytes(bytes(len(whole)))
        with pytest.raises(DamagedPartition):
            store.verified(store.require(asset, DAY))
        assert path.with_name(path.name + SET_ASIDE).exists()
        (daily,) = ticks.tick()
        assert asset in assets_of(daily)
        assert ticks.tick() == []  # asked for once
        assert ticks.execute([daily])
        assert path.read_bytes() == whole
        assert ticks.tick() == []


def test_a_day_that_was_removed_is_made_again(ticks: Ticks) -> None:
    ticks.made(1)
    assert ticks.tick() == []
    for asset in ALL:
        ticks.project.store.remove(asset, DAY)
    (daily,) = ticks.tick()
    assert ticks.execute([daily])
    assert ticks.project.store.days("requests") == [DAY]


def test_logs_are_read_again_at_every_change_of_how(ticks: Ticks) -> None:
    logs.write_days(ticks.project.logs, DAY, 1)
    ticks.execute(ticks.tick())
    for dropped in (["page"], [], ["page"], []):
        ticks.project.settings = ticks.project.with_settings(cleaning={"drop_query_keys": dropped})
        (ingest,) = ticks.tick()
        assert ingest.job_name == "ingest"
        assert ticks.execute([ingest])
        assert "ingest" not in {one.job_name for one in ticks.tick()}


def test_what_was_asked_for_is_kept_from_tick_to_tick() -> None:
    states = {DAY: "one", DAY + dt.timedelta(days=1): "two"}
    asked = PastRequests("files", window="three").with_days(states, [DAY])
    assert PastRequests.from_cursor(asked.cursor) == asked
    assert asked.asked_before(states) == {DAY}
    assert asked.asked_before({DAY: "another"}) == set()
    # What is up to date is forgotten.
    assert asked.with_days({}, []).days == {}
    assert (
        PastRequests.from_cursor(None)
        == PastRequests.from_cursor('{"asked": "older"}')
        == PastRequests()
    )


@pytest.mark.parametrize("cursor", ["0", "[]", "by hand", '{"days": 5}', '{"days": {"x": "y"}}'])
def test_a_cursor_that_somebody_has_set_tells_nothing(cursor: str) -> None:
    assert PastRequests.from_cursor(cursor) == PastRequests()


@pytest.mark.slow
def test_what_a_failed_run_left_half_way_is_finished(ticks: Ticks) -> None:
    days = logs.write_days(ticks.project.logs, DAY, 3)
    ticks.project.run("ingest")
    ticks.project.materialize(days, ["requests"])
    ticks.project.materialize(days[:1], ["page_views"])
    first, second = ticks.tick()
    assert (days_of(first), assets_of(first)) == (days[:1], {"transits"})
    assert (days_of(second), assets_of(second)) == (days[1:], {"page_views", "transits"})
    assert ticks.execute([first, second])
    assert ticks.tick() == []


def test_days_of_runs_under_way_are_left_alone(ticks: Ticks) -> None:
    days = logs.write_days(ticks.project.logs, DAY, 3)
    ticks.project.run("ingest")
    job = ticks.project.defs().resolve_job_def("daily")
    ticks.project.instance.create_run_for_job(
        job, tags=tags.of_range(days[:2]), status=dg.DagsterRunStatus.STARTED
    )
    (daily,) = ticks.tick()
    assert days_of(daily) == days[2:]


def test_a_run_of_somebody_elses_partition_is_none_of_a_day(ticks: Ticks) -> None:
    days = logs.write_days(ticks.project.logs, DAY, 1)
    ticks.project.run("ingest")
    job = ticks.project.defs().resolve_job_def("what_if")
    ticks.project.instance.create_run_for_job(
        job, tags={"dagster/partition": "de"}, status=dg.DagsterRunStatus.STARTED
    )
    (daily,) = ticks.tick()
    assert days_of(daily) == days


def test_nothing_is_asked_for_while_files_are_read(ticks: Ticks) -> None:
    logs.write_days(ticks.project.logs, DAY, 1)
    job = ticks.project.defs().resolve_job_def("ingest")
    ticks.project.instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    assert ticks.tick() == []
    assert ticks.skipped == "Log files are being read."


def test_today_is_left_alone_until_it_is_over(ticks: Ticks) -> None:
    today = dt.datetime.now(dt.UTC).date()
    logs.write(ticks.project.logs / "a.log", logs.day_of_lines(today)[:1])
    ticks.project.run("ingest")
    assert ticks.tick() == []


def test_days_before_the_first_partition_are_named(ticks: Ticks) -> None:
    logs.write_days(ticks.project.logs, DAY, 1)
    ticks.project.settings = ticks.project.with_settings(orchestration={"first_day": "2026-03-05"})
    ticks.execute(ticks.tick())
    assert ticks.tick() == []
    assert ticks.skipped is not None
    assert ticks.skipped.startswith("The logs hold 2026-03-01, before the first partition")


def test_work_lost_with_its_process_is_asked_for_again(ticks: Ticks) -> None:
    project = ticks.project
    logs.write_days(project.logs, DAY, 1)
    ticks.execute(ticks.tick())
    (lost,) = ticks.tick()
    run = project.instance.create_run_for_job(
        project.defs().resolve_job_def("daily"),
        tags=dict(lost.tags),
        status=dg.DagsterRunStatus.STARTED,
    )
    lock = project.settings.state / "locks" / f"run-{run.run_id}.lock"
    lock.parent.mkdir(exist_ok=True)
    lock.touch()  # nobody holds it: the process was killed
    os.utime(lock, (0, 0))
    (again,) = ticks.tick()
    assert days_of(again) == days_of(lost)
    assert again.run_key != lost.run_key
    stored = project.instance.get_run_by_id(run.run_id)
    assert stored is not None
    assert stored.status is dg.DagsterRunStatus.FAILURE


def test_the_schedule_makes_the_day_that_has_ended(running: Project) -> None:
    running.settings = running.with_settings(
        orchestration={"timezone": "America/New_York", "hour": 4, "first_day": "2026-01-01"}
    )
    defs = running.defs()
    schedule = defs.resolve_schedule_def("nightly")
    assert (schedule.cron_schedule, schedule.execution_timezone) == (
        "0 4 * * *",
        "America/New_York",
    )
    four_there = dt.datetime(2026, 3, 10, 8, tzinfo=dt.UTC)
    context = dg.build_schedule_context(
        scheduled_execution_time=four_there, repository_def=defs.get_repository_def()
    )
    (request,) = schedule.evaluate_tick(context).run_requests or []
    assert request.partition_key == "2026-03-09"
    assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED


def test_where_the_logs_have_ended_the_nightly_run_says_how_old_they_are(running: Project) -> None:
    logs.write_days(running.logs, DAY, 1)
    refresh(running.settings)
    defs = running.defs()
    context = dg.build_schedule_context(
        scheduled_execution_time=dt.datetime(2026, 3, 20, 8, tzinfo=dt.UTC),
        repository_def=defs.get_repository_def(),
    )
    (request,) = defs.resolve_schedule_def("nightly").evaluate_tick(context).run_requests or []
    assert request.partition_key is None
    assert request.asset_selection == [dg.AssetKey("log_files")]
    result = defs.resolve_job_def("nightly").execute_in_process(
        instance=running.instance, tags=dict(request.tags), asset_selection=request.asset_selection
    )
    assert result.success
    old = [
        evaluation for evaluation in result.get_asset_check_evaluations() if not evaluation.passed
    ]
    assert [kind.check_name for kind in old] == ["days_recent"]


@pytest.mark.slow
def test_the_nightly_run_reads_the_logs_first(running: Project) -> None:
    logs.write_days(running.logs, DAY, 1)
    running.settings = running.with_settings(orchestration={"first_day": "2026-03-01"})
    assert running.run("nightly", partition=DAY).success
    assert running.store.days("transits") == [DAY]
