"""Which runs Dagster may forget."""

from __future__ import annotations

import dagster as dg

from temporal_assets.defs.runs.old_runs import old_runs
from tests.orchestration.conftest import Project


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
