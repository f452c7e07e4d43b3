"""Publications of a killed run are judged and released by whatever runs next (docs/faults.md)."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from typer.testing import CliRunner

from temporal_assets.cli.app import app
from temporal_assets.defs.runs import lost_runs
from temporal_assets.operate import home, leftovers, materializing
from temporal_assets.policy.bundle import latest_of
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage import checksums
from temporal_assets.storage.store import Store
from temporal_assets.windows import registry
from temporal_assets.windows.policy.released_policy import RELEASED_POLICY
from tests.orchestration.conftest import DAYS, FIRST, Project, make_whole, settings_of
from tests.shared import made_once

LAST = FIRST + dt.timedelta(days=DAYS - 1)
LOST = ("requests", "crawl_policy", "released_policy")
"""Assets whose judgements are taken away, of every day, and the release, which is no table."""


@pytest.fixture
def killed(whole: Path, tmp_path: Path) -> Settings:
    """The same as `kill -9` leaves it between manifests and what follows them."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True, symlinks=True)
    settings = settings_of(tmp_path)
    for asset in LOST[:-1]:
        shutil.rmtree(settings.state / "verdicts" / asset)
    (settings.state / "policy" / "latest").unlink()
    return settings


def verdict_files(state: Path) -> list[str]:
    return sorted(str(path.relative_to(state)) for path in (state / "verdicts").rglob("*.json"))


def is_finished(whole: Path, settings: Settings) -> None:
    assert not leftovers.unfinished(settings)
    assert verdict_files(settings.state) == verdict_files(whole / "state")
    latest, wanted = latest_of(settings.state / "policy"), latest_of(whole / "state" / "policy")
    assert latest is not None
    assert wanted is not None
    assert latest.name == wanted.name


def run(*words: str, settings: Settings) -> str:
    done = CliRunner().invoke(app, [*words, "--state", str(settings.state)])
    assert done.exit_code == 0, done.output
    return done.output


def test_nothing_is_unfinished_when_nothing_was_killed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The original is looked at: a copied state folder has its catalogue to make again."""
    settings = load_settings(made_once(tmp_path_factory, "whole", make_whole)[0] / "state")
    assert not leftovers.unfinished(settings)
    assert materializing.finish(settings) is None


def test_what_was_left_is_found(killed: Settings) -> None:
    left = leftovers.unfinished(killed)
    days = tuple(FIRST + dt.timedelta(days=n) for n in range(DAYS))
    assert left.days == {"requests": days, **dict.fromkeys(LOST[1:], (LAST,))}


@pytest.mark.parametrize("command", ["materialize", "doctor upgrade --yes", "report --no-earlier"])
def test_the_next_command_finishes_it(whole: Path, killed: Settings, command: str) -> None:
    run(*command.split(), settings=killed)
    is_finished(whole, killed)


def test_a_policy_that_was_judged_and_not_released_is_released(
    whole: Path, killed: Settings
) -> None:
    shutil.copytree(whole / "state" / "verdicts", killed.state / "verdicts", dirs_exist_ok=True)
    assert leftovers.unfinished(killed).days == {"released_policy": (LAST,)}
    assert "Nothing to build" not in run("materialize", settings=killed)
    is_finished(whole, killed)


def test_status_and_doctor_name_it(killed: Settings) -> None:
    document = json.loads(run("status", "--json", settings=killed))["unfinished"]
    assert set(document["days"]) == set(LOST)
    assert "not judged, or not released" in run("status", settings=killed)
    done = CliRunner().invoke(app, ["doctor", "--json", "--state", str(killed.state)])
    (actual,) = [one for one in json.loads(done.output) if one["check"] == "unfinished work"]
    assert actual["status"] == "warning"
    assert "requests of 2026-03-01..2026-03-04" in actual["detail"]


def test_a_tick_of_the_sensor_that_is_always_on_finishes_it(whole: Path, killed: Settings) -> None:
    project = Project.__new__(Project)
    project.settings = killed
    with dg.DagsterInstance.from_config(str(home.prepare_home(killed))) as instance:
        (request,) = _tick(project, instance)
        assert request.job_name in (None, "finish")
        asked = {key.asset_key.to_user_string() for key in request.asset_check_keys or ()}
        assert asked == set(LOST[:-1])
        assert request.asset_selection == [dg.AssetKey("released_policy")]
        job = project.defs().resolve_job_def("finish")
        chosen = job.get_subset(
            asset_selection=set(request.asset_selection),
            asset_check_selection=set(request.asset_check_keys or ()),
        )
        result = chosen.execute_in_process(instance=instance, tags=dict(request.tags))
        assert result.success
        is_finished(whole, killed)
        assert _tick(project, instance) == []


def _tick(project: Project, instance: dg.DagsterInstance) -> list[dg.RunRequest]:
    context = dg.build_sensor_context(
        instance=instance,
        resources={"installation": project.installation},
        definitions=project.defs(),
    )
    sensor = project.defs().resolve_sensor_def(lost_runs.SENSOR)
    return list(sensor.evaluate_tick(context).run_requests or [])


def test_any_other_run_finishes_what_is_left_of_its_tables(whole: Path, killed: Settings) -> None:
    shutil.rmtree(killed.state / "tables" / "page_views" / f"day={LAST}")
    (killed.state / "verdicts" / "page_views" / f"{FIRST}.json").unlink()
    assert materializing.materialize(killed, [LAST], ["page_views"]).ok
    is_finished(whole, killed)


def test_pages_that_were_damaged_are_made_again_with_their_day(
    whole: Path, killed: Settings
) -> None:
    """Pages of another day are left alone: they would be made again every night."""
    folder, locks = killed.state / "report", killed.state / "locks"
    for name in ("evaluation.html", "evaluation-2026-01-01.html"):
        (folder / name).write_text("as written")
        checksums.note(folder, [name], locks)
        (folder / name).write_text("changed")
    late = registry.due(Store.open(killed), killed)
    assert late is not None
    assert late.assets == ("evaluation_report", RELEASED_POLICY)
    run("materialize", settings=killed)
    assert registry.due(Store.open(killed), killed) is None
    text = (folder / "evaluation.html").read_text("utf-8")
    assert text == (whole / "state" / "report" / "evaluation.html").read_text("utf-8")


def test_a_policy_whose_files_were_damaged_is_made_again(whole: Path, killed: Settings) -> None:
    (document,) = (killed.state / "policy").glob("*/policy.json")
    document.write_bytes(document.read_bytes().replace(b"1", b"2", 1))
    run("materialize", settings=killed)
    is_finished(whole, killed)
    wanted = latest_of(whole / "state" / "policy")
    assert wanted is not None
    assert document.read_bytes() == (wanted / "policy.json").read_bytes()


_KILLED_IN_A_STEP = """
import os, signal, sys
from temporal_assets.operate import home, leftovers, materializing
from temporal_assets.defs import checks
from temporal_assets.settings import load_settings

settings = load_settings(sys.argv[1])
checks.Inspector.inspect = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
materializing.finish(settings)
"""


@pytest.mark.slow
def test_a_run_that_was_killed_is_ended_by_the_next_command_at_once(
    whole: Path, killed: Settings
) -> None:
    """Also one that never came to its first step: the command holds its lock before it begins."""
    command = [sys.executable, "-c", _KILLED_IN_A_STEP, str(killed.state)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert leftovers.unfinished(killed).runs == 1
    run("materialize", settings=killed)
    is_finished(whole, killed)
    with dg.DagsterInstance.from_config(str(home.prepare_home(killed))) as instance:
        started = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])
        assert instance.get_runs(filters=started) == []
