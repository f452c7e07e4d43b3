"""A backfill as the UI starts it, worked off by Dagster's own daemon code."""

from __future__ import annotations

import datetime as dt
import logging
import time

import dagster as dg
import pytest

from temporal_assets.defs.runs import tags
from tests.dagster_internals import (
    ModuleTarget,
    PartitionBackfill,
    WorkspaceProcessContext,
    execute_backfill_iteration,
)
from tests.orchestration.conftest import Project

FIRST = dt.date(2026, 1, 1)
ASSETS = ("requests", "rejects", "page_views", "transits")


@pytest.mark.slow
def test_sixty_days_are_two_runs(running: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_ASSETS_STATE", str(running.settings.state))
    monkeypatch.setenv("TEMPORAL_ASSETS_ORCHESTRATION__FIRST_DAY", FIRST.isoformat())
    target = ModuleTarget(
        "temporal_assets.definitions",
        attribute=None,
        working_directory=None,
        location_name="temporal_assets",
    )
    days = [(FIRST + dt.timedelta(days=n)).isoformat() for n in range(60)]
    with WorkspaceProcessContext(running.instance, target) as workspace:
        graph = workspace.create_request_context().asset_graph
        running.instance.add_backfill(
            PartitionBackfill.from_asset_partitions(
                asset_graph=graph,
                backfill_id="sixty",
                tags={},
                backfill_timestamp=time.time(),
                asset_selection=[dg.AssetKey(asset) for asset in ASSETS],
                partition_names=days,
                dynamic_partitions_store=running.instance,
                all_partitions=False,
                title=None,
                description=None,
                run_config=None,
            )
        )
        errors = [e for e in execute_backfill_iteration(workspace, logging.getLogger()) if e]
    assert errors == []
    runs = running.instance.get_runs()
    assert sorted(len(tags.days_of_run(run.tags)) for run in runs) == [30, 30]
    for run in runs:
        assert {key.to_user_string() for key in run.asset_selection or ()} == set(ASSETS)
        assert run.status is dg.DagsterRunStatus.QUEUED
