"""Runs whose executor gives every step a process of its own, as Kubernetes gives it a pod."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from temporal_assets.defs.runs import lifelines, lost_runs, tags
from tests import logs
from tests.dagster_internals import DagsterEvent, EngineEventData, ReconstructableRepository
from tests.orchestration.conftest import Project

FIRST, SECOND = dt.date(2026, 3, 1), dt.date(2026, 3, 2)

LOCATION = """
import dagster as dg
from temporal_assets.build import build_defs
defs = dg.Definitions.merge(build_defs(), dg.Definitions(executor=dg.multiprocess_executor))
"""


@pytest.mark.slow
def test_every_step_has_a_process_and_days_are_made(
    running: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.write_days(running.logs, FIRST, 2)
    running.run_well("ingest")
    monkeypatch.setenv("TEMPORAL_ASSETS_STATE", str(running.settings.state))
    location = running.root / "location.py"
    location.write_text(LOCATION, "utf-8")
    where = ReconstructableRepository.for_file(str(location), "defs")
    chosen = [dg.AssetKey(name) for name in ("requests", "rejects")]
    with dg.execute_job(
        where.get_reconstructable_job("daily"),
        instance=running.instance,
        tags=tags.of_range([FIRST, SECOND]),
        asset_selection=chosen,
        raise_on_error=False,
    ) as result:
        assert result.success, [event.message for event in result.all_events if event.is_failure]
    for key in chosen:
        assert len(running.instance.get_materialized_partitions(key)) == 2
    # Each process had a lock of its own, and says that its steps are over; so is the run.
    folder = running.settings.state / "locks"
    assert len(list(folder.glob(f"run-{result.run_id}.*.over"))) > 1
    assert lost_runs.settle(running.instance, running.installation) == []
    assert list(folder.glob(f"run-{result.run_id}.*")) == []


def _between_steps(project: Project) -> tuple[dg.DagsterRun, Path]:
    """A run one of whose steps had a process, which has come to its end long ago."""
    run = project.instance.create_run_for_job(
        project.defs().resolve_job_def("daily"),
        tags=tags.of_range([FIRST]),
        status=dg.DagsterRunStatus.STARTED,
    )
    event = DagsterEvent(
        dg.DagsterEventType.STEP_WORKER_STARTING.value,
        job_name="daily",
        step_key="requests",
        event_specific_data=EngineEventData(),
    )
    project.instance.report_dagster_event(event, run.run_id)
    mark = project.settings.state / "locks" / f"run-{run.run_id}.1.over"
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    os.utime(mark, (0, 0))
    return run, mark


def _status(project: Project, run: dg.DagsterRun) -> dg.DagsterRunStatus:
    stored = project.instance.get_run_by_id(run.run_id)
    assert stored is not None
    return stored.status


@pytest.mark.parametrize("has_mark", [True, False])
def test_a_launcher_that_watches_its_pods_is_left_to_say_so(
    running: Project, monkeypatch: pytest.MonkeyPatch, has_mark: bool
) -> None:
    """A pod may wait for a node for longer than ten minutes."""
    run, mark = _between_steps(running)
    if not has_mark:
        mark.unlink()
    monkeypatch.setattr(lifelines, "_SETTLED_SECONDS", -1)
    watching: Any = type(running.instance.run_launcher)
    with monkeypatch.context() as patch:
        patch.setattr(watching, "supports_check_run_worker_health", True)
        assert lost_runs.settle(running.instance, running.installation) == []
        assert _status(running, run) is dg.DagsterRunStatus.STARTED
        assert mark.exists() == has_mark
    # Processes of one machine are seen by nobody else.
    assert lost_runs.settle(running.instance, running.installation) == [run.run_id]
    assert _status(running, run) is dg.DagsterRunStatus.FAILURE
    assert not mark.exists()


def test_a_new_history_is_shown_what_is_published(running: Project) -> None:
    logs.write_days(running.logs, FIRST, 2)
    assert running.materialize([FIRST, SECOND], ["log_files", "requests"]).ok
    with dg.DagsterInstance.ephemeral() as new:
        assert lost_runs.settle(new, running.installation) == []
        days = {FIRST.isoformat(), SECOND.isoformat()}
        assert new.get_materialized_partitions(dg.AssetKey("requests")) == days
        assert new.get_materialized_partitions(dg.AssetKey("page_views")) == set()
        before = new.fetch_materializations(dg.AssetKey("requests"), limit=2).records[0]
        actual = before.asset_materialization
        assert actual is not None
        assert actual.description == "Published before this history of Dagster began."
        # Once: a run that begins makes it a history like any other.
        new.create_run_for_job(running.defs().resolve_job_def("daily"))
        new.wipe_assets([dg.AssetKey("requests")])
        lost_runs.settle(new, running.installation)
        assert new.get_materialized_partitions(dg.AssetKey("requests")) == set()
