"""The release of the policy: an asset of its own, behind the blocking checks of the policy."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from temporal_assets.build import build_defs
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.runs import lost_runs, tags
from temporal_assets.operate import leftovers
from temporal_assets.policy.bundle import latest_of
from temporal_assets.quality import verdicts
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.registry import due
from tests.orchestration.conftest import DAYS, FIRST, settings_of

LAST = FIRST + dt.timedelta(days=DAYS - 1)
POLICY, RELEASED = dg.AssetKey("crawl_policy"), dg.AssetKey("released_policy")


@pytest.fixture
def waiting(whole: Path, tmp_path: Path) -> Settings:
    """A policy that was made and judged, and that crawlers do not have."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True, symlinks=True)
    settings = settings_of(tmp_path)
    (settings.state / "policy" / "latest").unlink()
    return settings


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def release(settings: Settings, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    job = build_defs(settings).resolve_job_def("windows")
    return job.execute_in_process(
        instance=instance,
        asset_selection=[RELEASED],
        tags=tags.of_range([LAST]),
        raise_on_error=False,
    )


def test_a_release_is_a_materialisation_of_its_own(
    waiting: Settings, instance: dg.DagsterInstance
) -> None:
    due_window = due(Store.open(waiting), waiting)
    assert due_window is not None
    assert (due_window.day, due_window.assets) == (LAST, ("released_policy",))
    result = release(waiting, instance)
    assert result.success
    (asset_materializations,) = result.asset_materializations_for_node("released_policy")
    assert asset_materializations.partition == LAST.isoformat()
    assert asset_materializations.metadata["crawlers_have"].value == "this policy"
    latest = latest_of(waiting.state / "policy")
    assert latest is not None
    assert asset_materializations.metadata["folder"].value == str(
        waiting.state / "policy" / latest.name
    )
    assert due(Store.open(waiting), waiting) is None


def test_what_breaks_an_invariant_is_not_released(
    waiting: Settings, instance: dg.DagsterInstance
) -> None:
    """Also where the check failed in an earlier run, which Dagster alone would not remember."""
    manifest = Store.open(waiting).require("crawl_policy", LAST)
    judged = verdicts.read(waiting.state, manifest)
    broken = next(judgement for judgement in judged if judgement.blocking)
    verdicts.record(waiting.state, manifest, [replace(broken, passed=False, message="broken")])
    assert not release(waiting, instance).success
    assert latest_of(waiting.state / "policy") is None
    assert not leftovers.unfinished(waiting)


def test_a_release_of_a_killed_run_is_shown(
    waiting: Settings, instance: dg.DagsterInstance
) -> None:
    """Killed between the link and Dagster's event: crawlers have it, and the UI says so."""
    release(waiting, instance)
    with dg.DagsterInstance.ephemeral() as other:
        job = build_defs(waiting).resolve_job_def("windows")
        run = other.create_run_for_job(
            job, tags=tags.of_range([LAST]), status=dg.DagsterRunStatus.STARTED
        )
        (waiting.state / "locks" / f"run-{run.run_id}.0.lock").touch()
        lost_runs.settle(other, Installation.of(waiting))
        assert other.get_materialized_partitions(RELEASED) == {LAST.isoformat()}


@pytest.mark.parametrize("passed", [True, False])
def test_a_policy_that_was_made_alone_is_released_once_its_checks_have_passed(
    state: Path, instance: dg.DagsterInstance, passed: bool
) -> None:
    defs = build_defs(load_settings(state, orchestration={"first_day": dt.date(2026, 1, 1)}))
    graph = defs.resolve_asset_graph()
    days = graph.get(RELEASED).partitions_def
    assert days is not None
    day = days.get_last_partition_key()

    def tick(cursor: Any = None) -> dg.EvaluateAutomationConditionsResult:
        chosen = dg.AssetSelection.assets(RELEASED)
        return dg.evaluate_automation_conditions(
            defs, instance, asset_selection=chosen, cursor=cursor
        )

    before = tick()
    assert before.total_requested == 0
    instance.report_runless_asset_event(dg.AssetMaterialization(POLICY, partition=day))
    unjudged = tick(before.cursor)
    assert unjudged.total_requested == 0
    checks = [key for key in graph.asset_check_keys if key.asset_key == POLICY]
    for key in (key for key in checks if graph.get_check_spec(key).blocking):
        instance.report_runless_asset_event(
            dg.AssetCheckEvaluation(
                asset_key=POLICY, check_name=key.name, passed=passed, metadata={}
            )
        )
    assert tick(unjudged.cursor).get_requested_partitions(RELEASED) == ({day} if passed else set())
