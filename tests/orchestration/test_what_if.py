"""Trials: what other settings change, and that nothing else does."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import dagster as dg
import pytest
from typer.testing import CliRunner, Result

from temporal_assets.build import build_defs
from temporal_assets.cli.app import app
from temporal_assets.crawl.mirror.mirror import MirrorBuilder, save
from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.machine import locks
from temporal_assets.ops.what_if import Trial, what_if
from temporal_assets.settings import SettingsError, load_settings
from temporal_assets.storage.partition_errors import MissingPartition
from temporal_assets.storage.store import Store
from temporal_assets.windows.crawls.crawl_simulation import stored_identity
from temporal_assets.windows.frame.asset import build
from temporal_assets.windows.registry import WINDOW_ASSETS, stale
from tests import logs

FIRST = dt.date(2026, 3, 1)
DAY = FIRST + dt.timedelta(days=5)
SETTINGS = """\
# A comment of the owner.
[window]
days = 6
min_days = 2
min_views_per_day = 0.1
"""


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six days of a front page that is read daily and of stories that are read once."""
    root: Path = tmp_path_factory.mktemp("trials")
    folder = root / "state"
    folder.mkdir()
    source = f'[[sources]]\npath = "{root / "logs"}"\nhost = "example.com"\n'
    (folder / "settings.toml").write_text(SETTINGS + source)
    settings = load_settings(folder)
    store, engine = Store.open(settings), DuckDBEngine(settings)
    days = logs.write_days(root / "logs", FIRST, 6, clients=6)
    refresh(settings)
    inventory = Inventory.load(settings)
    for day in days:
        build_requests(store, engine, settings, day, inventory)
        for asset in DERIVED:
            build_derived(store, engine, asset, day)
    for window in WINDOW_ASSETS:
        build(store, engine, settings, window, DAY)
    return folder


def published(state: Path) -> dict[str, bytes]:
    """All that a trial must not touch."""
    return {
        str(path.relative_to(state)): path.read_bytes()
        for name in ("tables", "policy", "report", "settings.toml")
        for path in sorted([state / name, *(state / name).rglob("*")])
        if path.is_file()
    }


def trial(state: Path, **changes: str) -> Trial:
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return what_if(load_settings(state), named)


def test_what_differs_is_made_beside_what_is_there(state: Path) -> None:
    before = published(state)
    assert {name.partition("/")[0] for name in before} == {
        "tables",
        "policy",
        "report",
        "settings.toml",
    }
    trial_outcome = trial(state, labels__p="1e6")
    assert published(state) == before
    news = {
        name: Store.open(settings).read("page_labels", DAY)["is_news"].to_pylist()
        for name, settings in (("now", load_settings(state)), ("then", trial_outcome.settings))
    }
    assert any(news["now"])
    assert not any(news["then"])
    changed = {difference.asset: difference for difference in trial_outcome.differences}
    labels = changed["page_labels"]
    assert (labels.before, labels.after, labels.changed) == (7, 7, 7)
    assert {"page_totals", "interest_curves", "page_views"}.isdisjoint(changed)
    own = Store.open(trial_outcome.settings)
    assert own.days("page_views") == [FIRST + dt.timedelta(days=n) for n in range(6)]
    assert stale(own, trial_outcome.settings, DAY) == ()


def test_a_trial_can_be_looked_at_and_made_again(state: Path) -> None:
    once, again = trial(state, labels__q="0.9"), trial(state, labels__q="0.9")
    assert (once.differences, once.settings.state) == (again.differences, again.settings.state)
    assert load_settings(again.settings.state).labels.q == 0.9
    labels = call("show", "labels", "--state", again.settings.state)
    assert labels.exit_code == 0, labels.output


def test_equal_trials_at_once_wait_for_each_other(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = threading.Event()
    monkeypatch.setattr(locks, "_PATIENCE", 0.1)
    monkeypatch.setattr(locks.log, "handle", lambda _: waits.set())
    others: list[Future[Trial]] = []

    def begin_another(*_: object) -> None:
        if not others:
            others.append(pool.submit(trial, state, labels__q="0.85"))
            assert waits.wait(30)

    with ThreadPoolExecutor(1) as pool:
        once = what_if(load_settings(state), {"labels.q": "0.85"}, on_built=begin_another)
        again = others[0].result()
    assert once.differences
    assert (once.differences, once.settings.state) == (again.differences, again.settings.state)


def test_settings_as_they_are_change_nothing(state: Path) -> None:
    trial_outcome = trial(state, labels__q="0.7")
    assert (trial_outcome.differences, trial_outcome.outdated, trial_outcome.warning()) == (
        (),
        (),
        None,
    )


def test_what_was_never_made_is_no_difference(state: Path, tmp_path: Path) -> None:
    own = tmp_path / "state"
    shutil.copytree(state, own, symlinks=True, ignore=shutil.ignore_patterns("what_if"))
    for name in ("seed_evaluation", "crawl_simulation", "evaluation_report"):
        shutil.rmtree(own / "tables" / name)
    assert trial(own, labels__q="0.7").differences == ()
    assets = {difference.asset for difference in trial(own, labels__p="1e6").differences}
    assert "page_labels" in assets
    assert assets.isdisjoint({"seed_evaluation", "crawl_simulation", "evaluation_report"})


def test_what_differs_for_other_reasons_is_told(state: Path, tmp_path: Path) -> None:
    own = tmp_path / "state"
    shutil.copytree(state, own, symlinks=True, ignore=shutil.ignore_patterns("what_if"))
    with (own / "settings.toml").open("a") as file:
        file.write("[labels]\nq = 0.3\n")
    trial_outcome = trial(own, sites__top_k="99")
    assert "page_labels" in trial_outcome.outdated
    assert "page_totals" not in trial_outcome.outdated
    result = call("try", "settings", "sites.top_k=99", "--state", own)
    text = " ".join(result.stderr.split())
    assert "not all of this is of the settings tried" in text
    assert "page_labels" in text
    assert f"--day {DAY} --state" in text


def test_files_beside_the_state_folder_are_found(state: Path, tmp_path: Path) -> None:
    own = tmp_path / "state"
    shutil.copytree(state, own, symlinks=True, ignore=shutil.ignore_patterns("what_if"))
    lists = tmp_path / "lists"
    lists.mkdir()
    for name in ("b.txt", "c.txt"):
        (lists / name).write_text("example.com\n")
    (lists / "a.csv").write_text("https://example.com/,untemporal\n")
    with (own / "settings.toml").open("a") as file:
        file.write('[baseline]\npath = "../lists/b.txt"\n')
        file.write('[calibration]\nannotated = "../lists/a.csv"\n')
    own_settings = trial(own, labels__p="1e6").settings
    assert "baseline" in Store.open(own_settings).read("seed_evaluation", DAY)["method"].to_pylist()
    read = [own_settings.baseline.path, own_settings.calibration.annotated]
    assert [path and path.resolve() for path in read] == [lists / "b.txt", lists / "a.csv"]
    assert load_settings(own_settings.state).baseline == own_settings.baseline
    # A trial of another list names it in the same way.
    other = trial(own, baseline__path="../lists/c.txt").settings.baseline.path
    assert other is not None
    assert other.resolve() == lists / "c.txt"


def test_a_trial_is_under_the_environment_like_what_it_asks_about(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (state / "list.txt").write_text("example.com\n")
    monkeypatch.setenv("TEMPORAL_ASSETS_BASELINE__PATH", "list.txt")
    monkeypatch.setenv("TEMPORAL_ASSETS_LABELS__M", "2")
    own_settings = trial(state, labels__p="1e6").settings
    assert (own_settings.labels.m, own_settings.labels.p) == (2, 1e6)
    assert own_settings.baseline.path == state / "list.txt"


def test_a_trial_reads_the_stored_mirror_and_writes_none(state: Path, tmp_path: Path) -> None:
    own = tmp_path / "state"
    shutil.copytree(state, own, symlinks=True, ignore=shutil.ignore_patterns("what_if"))
    assert stored_identity(trial(own, labels__p="1e6").settings) is None
    builder = MirrorBuilder()
    builder.link("https://example.com/", "https://example.com/news/2026-03-01")
    save(builder.build(), own)
    own_settings = trial(own, labels__p="1e6").settings
    assert (own_settings.state / "mirror").readlink() == own / "mirror"
    assert stored_identity(own_settings) == stored_identity(load_settings(own))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels.q": "8"}, "^labels.q: Input should be less than 1"),
        ({"labels.z": "1"}, "no setting 'labels.z'"),
        ({"nothing": "1"}, "no setting 'nothing'"),
        ({"cleaning.bots": "keep"}, "changes how logs are read"),
        ({"privacy.rotation_days": "3"}, "changes how logs are read"),
        ({}, "name a setting"),
    ],
)
def test_what_cannot_be_tried_is_said(state: Path, change: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        what_if(load_settings(state), change)


def test_a_window_that_is_not_there(state: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingPartition, match="no window has been made yet"):
        what_if(load_settings(tmp_path), {"labels.q": "0.8"})
    with pytest.raises(MissingPartition, match=f"page_labels has no partition for {FIRST}"):
        what_if(load_settings(state), {"labels.q": "0.8"}, FIRST)


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_the_command(state: Path) -> None:
    shown = call("try", "settings", "labels.p=1e6", "--state", state)
    assert shown.exit_code == 0, shown.output
    assert "2026-03-06, if labels.p = 1e6" in shown.output
    report = json.loads(call("try", "settings", "labels.p=1e6", "--state", state, "--json").stdout)
    assert report["changes"] == {"labels.p": "1e6"}
    assert "page_labels" in {asset["asset"] for asset in report["assets"]}
    for wrong in ("labels.p", "labels.p=0", "labels.q=2", "labels.pp=1", "reading.max=1"):
        assert call("try", "settings", wrong, "--state", state).exit_code == 2, wrong


def test_the_job_of_the_launchpad(state: Path) -> None:
    before = published(state)
    job = build_defs(load_settings(state)).resolve_job_def("what_if")
    with dg.DagsterInstance.ephemeral() as instance:
        result = job.execute_in_process(
            instance=instance,
            run_config={"ops": {"make_trial": {"config": {"settings": {"labels.p": "1e6"}}}}},
        )
        assert result.success
        assert instance.get_asset_keys() == []
    (output,) = result.filter_events(lambda event: event.is_successful_output)
    metadata = output.step_output_data.metadata
    assert {record.data["asset"] for record in metadata["assets"].records} >= {"page_labels"}
    assert published(state) == before


@pytest.mark.parametrize("lower", ["1", "4"])
def test_a_trial_shows_nothing_that_fewer_clients_know(state: Path, lower: str) -> None:
    """Its folder is looked at with every command, from the UI too."""
    with pytest.raises(SettingsError, match="higher, not lower than 5"):
        trial(state, **{"privacy.min_clients": lower})
    for other in ("privacy.mask_ipv4_bits", "privacy.rotation_days", "privacy.client"):
        with pytest.raises(SettingsError, match="how logs are read or kept"):
            trial(state, **{other: "0"})
    assert list((state / "what_if").glob(f"*min_clients={lower}*")) == []
    assert trial(state, **{"privacy.min_clients": "6"}).settings.privacy.min_clients == 6
