"""Dagster's configuration, what happens with several processes, and with dead ones."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import dagster as dg
import pytest
import yaml

from temporal_assets.defs.runs import lifelines
from temporal_assets.landing.landing import refresh
from temporal_assets.logs.read.paths import STATE_MARK
from temporal_assets.operate.home import prepare_home, template
from temporal_assets.settings import SettingsError, load_settings
from tests import logs
from tests.orchestration.conftest import Project

DAY = dt.date(2026, 3, 1)

MAKE = """
import datetime, sys
from temporal_assets.operate.materializing import materialize
from temporal_assets.settings import load_settings
state, source, *days = sys.argv[1:]
settings = load_settings(state, sources=[{"path": source, "host": "example.com"}])
outcome = materialize(settings, [datetime.date.fromisoformat(day) for day in days])
assert outcome.ok, outcome
"""


def test_the_home_holds_everything_of_dagster(state: Path) -> None:
    home = prepare_home(load_settings(state))
    assert home == state / "dagster"
    config = yaml.safe_load((home / "dagster.yaml").read_text("utf-8"))
    assert config["telemetry"] == {"enabled": False}
    with dg.DagsterInstance.from_config(str(home)) as instance:
        assert instance.storage_directory() == str(home / "storage")
        ref = instance.get_ref()
    kept = (ref.storage_data, ref.local_artifact_storage_data, ref.compute_logs_data)
    places = [yaml.safe_load(data.config_yaml)["base_dir"] for data in kept if data]
    assert places == [str(home), str(home), str(home / "storage")]


def _as_released_before(home: Path) -> str:
    """`dagster.yaml` as it was written once: with the place of its own folder."""
    text = template().read_text("utf-8")
    return text.replace("temporal_state/dagster", str(home))


@pytest.mark.parametrize("is_copied", [False, True])
def test_a_home_that_was_moved_or_copied_is_not_left_behind(
    tmp_path: Path, is_copied: bool
) -> None:
    old = prepare_home(load_settings(tmp_path / "old"))
    (old / "dagster.yaml").write_text(_as_released_before(old), "utf-8")
    (tmp_path / "old" / STATE_MARK).parent.mkdir()
    (tmp_path / "old" / STATE_MARK).touch()
    assert prepare_home(load_settings(tmp_path / "old")) == old
    assert (old / "dagster.yaml").read_text("utf-8") == _as_released_before(old)
    (shutil.copytree if is_copied else shutil.move)(tmp_path / "old", tmp_path / "new")
    home = prepare_home(load_settings(tmp_path / "new"))
    with dg.DagsterInstance.from_config(str(home)) as instance:
        assert instance.storage_directory() == str(tmp_path / "new" / "dagster" / "storage")
    assert (tmp_path / "old").exists() == is_copied
    # A place that the operator has chosen is none of ours.
    elsewhere = tmp_path / "fast" / "dagster"
    elsewhere.mkdir(parents=True)
    (home / "dagster.yaml").write_text(_as_released_before(elsewhere), "utf-8")
    prepare_home(load_settings(tmp_path / "new"))
    assert (home / "dagster.yaml").read_text("utf-8") == _as_released_before(elsewhere)


def test_a_home_may_have_any_name(tmp_path: Path) -> None:
    settings = load_settings(tmp_path / 'it\'s "the" state: #1')
    with dg.DagsterInstance.from_config(str(prepare_home(settings))) as instance:
        assert instance.storage_directory() == str(settings.state / "dagster" / "storage")


def test_the_operators_configuration_is_left_alone(state: Path) -> None:
    home = prepare_home(load_settings(state))
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    assert prepare_home(load_settings(state)) == home
    assert (home / "dagster.yaml").read_text() == "telemetry: {enabled: false}\n"


def test_nothing_can_lock_up_the_queue(running: Project) -> None:
    """Few runs at once; runs wait for a pool in the queue; dead runs lose their place."""
    instance = running.instance
    queue = instance.get_concurrency_config()
    assert queue.run_queue_config is not None
    assert queue.run_queue_config.max_concurrent_runs == 2
    assert queue.run_queue_config.tag_concurrency_limits == [
        {"key": "dagster/backfill", "limit": 1}
    ]
    assert queue.pool_config.pool_granularity is not None
    assert queue.pool_config.pool_granularity.value == "run"
    assert queue.pool_config.default_pool_limit == 1
    assert instance.run_monitoring_enabled
    assert instance.run_monitoring_max_runtime_seconds == 86400
    # A daemon that is killed while it starts a run is noticed in a minute or so.
    assert instance.run_monitoring_start_timeout_seconds == 60
    assert instance.run_monitoring_poll_interval_seconds == 15
    assert not instance.telemetry_enabled


def test_runs_of_the_command_line_are_among_those_of_their_job(running: Project) -> None:
    """Jobs of the UI asks for the tag of the code location, the timeline for the location."""
    logs.write(running.logs / "a.log", logs.day_of_lines(DAY))
    refresh(running.settings)
    assert running.materialize([DAY]).ok
    label = "__repository__@temporal_assets.definitions"
    runs = running.instance.get_runs(dg.RunsFilter(tags={".dagster/repository": label}))
    assert len(runs) == len(running.instance.get_runs()) > 0
    for run in runs:
        assert run.remote_job_origin is not None
        assert run.remote_job_origin.location_name == "temporal_assets.definitions"
        assert run.remote_job_origin.repository_origin.repository_name == "__repository__"


def test_log_files_are_read_by_one_run_at_a_time(project: Project) -> None:
    graph = project.defs().resolve_asset_graph()
    pools = {node.key.to_user_string(): node.pools for node in graph.asset_nodes}
    assert pools["log_files"] == {"landing"}
    assert {name for name, found in pools.items() if found} == {"log_files"}


@pytest.mark.slow
def test_two_processes_make_different_days(project: Project) -> None:
    days = logs.write_days(project.logs, DAY, 4)
    refresh(project.settings)
    halves = [days[:2], days[2:]]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", MAKE, str(project.settings.state), str(project.logs)]
            + [day.isoformat() for day in half],
            stderr=subprocess.PIPE,
            text=True,
        )
        for half in halves
    ]
    for process in started:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    for asset in ("requests", "rejects", "page_views", "transits"):
        assert project.store.days(asset) == days
    with dg.DagsterInstance.from_config(str(prepare_home(project.settings))) as instance:
        assert instance.get_materialized_partitions(dg.AssetKey("transits")) == {
            day.isoformat() for day in days
        }
        # Each makes its days, and then the windows of the latest, as far as the other has not: who
        # is last finishes what was not judged.
        jobs = Counter(run.job_name for run in instance.get_runs())
        assert jobs["daily"] == 2
        assert 1 <= jobs["windows"] <= 2
        assert jobs.keys() <= {"daily", "windows", "finish"}


def test_the_instance_of_the_environment_is_used(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.write_days(project.logs, DAY, 1)
    home = tmp_path / "elsewhere"
    home.mkdir()
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    (run_id,) = project.materialize([], ["log_files"]).run_ids
    with dg.DagsterInstance.from_config(str(home)) as instance:
        assert instance.get_run_by_id(run_id) is not None
    for wrong in ("elsewhere", str(tmp_path / "nowhere")):
        monkeypatch.setenv("DAGSTER_HOME", wrong)
        with pytest.raises(SettingsError, match=f"absolute path of a folder: {wrong}"):
            project.materialize([], ["log_files"])


def test_a_run_is_alive_as_long_as_its_process(running: Project) -> None:
    state = running.settings.state
    job = running.defs().resolve_job_def("ingest")
    run = running.instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    other = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, pathlib; from temporal_assets.defs.runs import lifelines as l\n"
            "with l.held(pathlib.Path(sys.argv[1]), sys.argv[2]):"
            " print('held', flush=True); sys.stdin.read()",
            str(state),
            run.run_id,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ.copy(),
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    (lock,) = (state / "locks").glob(f"run-{run.run_id}.*.lock")
    os.utime(lock, (0, 0))  # as if it had run for long
    assert lifelines.fail_orphans(running.instance, state) == []
    other.kill()
    other.communicate()
    (lost,) = lifelines.fail_orphans(running.instance, state)
    assert lost.run_id == run.run_id
    stored = running.instance.get_run_by_id(run.run_id)
    assert stored is not None
    assert stored.status is dg.DagsterRunStatus.FAILURE
    assert lifelines.fail_orphans(running.instance, state) == []


def test_locks_of_finished_runs_are_tidied_up(running: Project) -> None:
    logs.write_days(running.logs, DAY, 1)
    result = running.run("ingest")
    (mark,) = (running.settings.state / "locks").glob("run-*")
    assert lifelines.fail_orphans(running.instance, running.settings.state) == []
    assert not mark.exists()
    stored = running.instance.get_run_by_id(result.run_id)
    assert stored is not None
    assert stored.status is dg.DagsterRunStatus.SUCCESS


def test_a_run_between_two_of_its_processes_is_not_lost(running: Project) -> None:
    """Executors that start a process for every step, or a pod, hold no lock in between."""
    state = running.settings.state
    job = running.defs().resolve_job_def("daily")
    run = running.instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    with lifelines.of_steps(state, run.run_id), lifelines.of_steps(state, run.run_id):
        assert lifelines.are_others_running(state)
        assert not lifelines.are_others_running(state, own=run.run_id)
    assert lifelines.orphans(state) == []
    assert lifelines.fail_orphans(running.instance, state) == []
    for mark in (state / "locks").glob("run-*"):
        os.utime(mark, (0, 0))  # the process that was to go on never came
    (lost,) = lifelines.fail_orphans(running.instance, state)
    assert lost.run_id == run.run_id


def test_a_finished_run_leaves_no_lock(project: Project) -> None:
    logs.write_days(project.logs, DAY, 1)
    project.materialize([DAY], ["log_files", "requests"])
    assert list((project.settings.state / "locks").glob("run-*")) == []
