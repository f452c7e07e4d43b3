"""Steps are tried again after faults that pass, and after no others. Nothing sleeps here."""

from __future__ import annotations

import datetime as dt
import errno
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from temporal_assets.days import daily
from temporal_assets.defs.assets.log_files import log_file_assets
from temporal_assets.defs.assets.requests import requests_assets
from temporal_assets.defs.installation import INSTALLATION
from temporal_assets.defs.partitions import daily_partitions
from temporal_assets.defs.runs import retries, tags
from temporal_assets.landing.landing import refresh
from temporal_assets.logs.read import streams
from temporal_assets.logs.read.records import Block
from tests import logs
from tests.dagster_internals import active
from tests.orchestration.conftest import Project

FIRST = dt.date(2026, 3, 1)
DAYS = [FIRST + dt.timedelta(days=n) for n in range(3)]
EIO = OSError(errno.EIO, "Input/output error")


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "WAITS", (0, 0))


@pytest.fixture
def landed(running: Project) -> Project:
    """Three days of logs, read."""
    logs.write_days(running.logs, FIRST, 3)
    refresh(running.settings)
    return running


class Fault:
    """Stands before a function and raises what it is told to, so often."""

    def __init__(self, right: Callable[..., Any]) -> None:
        self.right = right
        self.__code__ = right.__code__  # the catalogue says where a function is written
        self.calls: list[dt.date] = []
        self.raises: dict[dt.date, list[Exception]] = {}

    def __call__(self, *given: Any, **named: Any) -> Any:
        day = next(argument for argument in given if isinstance(argument, dt.date))
        self.calls.append(day)
        if self.raises.get(day):
            raise self.raises[day].pop(0)
        return self.right(*given, **named)


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> Fault:
    actual = Fault(daily.requests_steps)
    monkeypatch.setattr(daily, "requests_steps", actual)
    return actual


def run(project: Project) -> dg.ExecuteInProcessResult:
    return execute(
        project, requests_assets(project.settings, daily_partitions(project.settings)), DAYS
    )


def read(project: Project) -> dg.ExecuteInProcessResult:
    asset, _ = log_file_assets(project.settings, daily_partitions(project.settings))
    assert isinstance(asset, dg.AssetsDefinition)
    return execute(project, asset)


def execute(
    project: Project, asset: dg.AssetsDefinition, days: list[dt.date] | None = None
) -> dg.ExecuteInProcessResult:
    """Without the checks, which are not the matter here."""
    return dg.materialize(
        [asset],
        instance=project.instance,
        resources={INSTALLATION: project.installation},
        tags=tags.of_range(days) if days else {},
        raise_on_error=False,
    )


def restarts(result: dg.ExecuteInProcessResult) -> int:
    return sum(event.is_step_up_for_retry for event in result.all_events)


def marked(project: Project) -> set[str]:
    """Days that Dagster knows as made."""
    return project.instance.get_materialized_partitions(dg.AssetKey("requests"))


def test_only_the_day_whose_fault_passes_is_made_again(landed: Project, fault: Fault) -> None:
    fault.raises = {DAYS[1]: [EIO]}
    result = run(landed)
    assert result.success
    assert restarts(result) == 1
    assert fault.calls == [*DAYS, DAYS[1]]
    assert landed.store.days("requests") == DAYS
    assert marked(landed) == {day.isoformat() for day in DAYS}
    assert landed.installation.attempts == {}


def test_a_fault_that_stays_fails_with_the_days_that_could_be_made(
    landed: Project, fault: Fault
) -> None:
    fault.raises = {DAYS[1]: [EIO] * 9}
    result = run(landed)
    assert not result.success
    assert restarts(result) == 2
    assert fault.calls == [*DAYS, DAYS[1], DAYS[1]]
    assert landed.store.days("requests") == [DAYS[0], DAYS[2]]
    assert marked(landed) == {DAYS[0].isoformat(), DAYS[2].isoformat()}
    assert landed.installation.attempts == {}


def test_of_days_side_by_side_only_those_that_failed_are_made_again(
    running: Project, fault: Fault
) -> None:
    many = logs.write_days(running.logs, FIRST, 9)  # more than have plots
    running.settings = running.with_settings(engine={"threads": 2})
    refresh(running.settings)
    fault.raises = {many[2]: [EIO], many[7]: [EIO, EIO], many[5]: [ValueError("a bad line")]}
    asset = requests_assets(running.settings, daily_partitions(running.settings))
    result = execute(running, asset, many)
    assert restarts(result) == 2
    assert sorted(fault.calls) == sorted([*many, many[2], many[7], many[7]])
    assert running.store.days("requests") == [day for day in many if day != many[5]]
    assert marked(running) == {day.isoformat() for day in many if day != many[5]}
    (step,) = (event for event in result.all_events if event.is_step_failure)
    assert "2026-03-06: ValueError: a bad line" in str(step.step_failure_data.user_failure_data)


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), ValueError("a bad line")]
)
def test_other_faults_are_not_tried_again(landed: Project, fault: Fault, error: Exception) -> None:
    fault.raises = {DAYS[1]: [error]}
    result = run(landed)
    assert not result.success
    assert restarts(result) == 0
    assert fault.calls == DAYS


def test_what_has_failed_for_good_is_not_repeated_with_what_may_pass(
    landed: Project, fault: Fault
) -> None:
    fault.raises = {DAYS[0]: [ValueError("a bad line")], DAYS[2]: [EIO]}
    result = run(landed)
    assert not result.success
    assert restarts(result) == 1
    assert fault.calls == [*DAYS, DAYS[2]]
    assert landed.store.days("requests") == DAYS[1:]
    (failure,) = (event for event in result.all_events if event.is_step_failure)
    message = failure.step_failure_data.user_failure_data
    assert message is not None
    assert (message.description or "").startswith("1 of 3 days failed: 2026-03-01.")


def test_each_wait_is_longer_than_the_one_before(
    landed: Project, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "WAITS", (0.25, 0.5, 1))
    slept: list[float] = []
    # Time passes only where Dagster's executor sleeps.
    clock = SimpleNamespace(sleep=slept.append, time=lambda: sum(slept))
    monkeypatch.setattr(active, "time", clock)
    fault.raises = {DAYS[0]: [EIO] * 3}
    assert run(landed).success
    assert slept == [0.25, 0.5, 1]


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Name of a log file -> how often the disk does not give it."""
    faults: dict[str, int] = {}
    right = streams.LogStream.__iter__

    def reading(stream: streams.LogStream) -> Iterator[Block]:
        if faults.get(stream.path.name, 0):
            faults[stream.path.name] -= 1
            raise EIO
        yield from right(stream)

    monkeypatch.setattr(streams.LogStream, "__iter__", reading)
    return faults


def test_a_log_file_that_the_disk_does_not_give_is_read_later(
    running: Project, unreadable: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.write_days(running.logs, FIRST, 2)
    monkeypatch.setattr(retries, "WAITS", (0,))
    unreadable["access-2026-03-01.log"] = 1
    result = read(running)
    assert result.success
    assert restarts(result) == 1
    assert (len(running.inventory.active), running.inventory.failed) == (2, [])


def test_a_log_file_that_the_disk_never_gives_does_not_hold_up_the_others(
    running: Project, unreadable: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.write_days(running.logs, FIRST, 2)
    monkeypatch.setattr(retries, "WAITS", (0,))
    unreadable["access-2026-03-01.log"] = 99
    result = read(running)
    assert restarts(result) == 1
    assert [file.name for file in running.inventory.active] == ["logs/access-2026-03-02.log"]
    (failed,) = running.inventory.failed
    assert "Input/output error" in (failed.error or "")
