"""Faults of Dagster's processes: the command, run workers, the daemon and the web server.

A step runs in the process of its run (the executor is `in_process`), so `kill -9` of a worker is
`kill -9` of a step. One installation serves all trials of `webserver`, `daemon` and `worker`; each
begins without tables and without anything that Dagster knows of them.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import dagster as dg
from typer.testing import CliRunner

from temporal_assets.cli.app import app
from temporal_assets.defs.runs import tags
from temporal_assets.landing.landing import refresh
from temporal_assets.machine.scratch import scratch_folder
from temporal_assets.operate.home import prepare_home
from temporal_assets.quality import expectations
from temporal_assets.settings import load_settings
from tests.faults.installation import (
    SETTLE_SECONDS,
    SHOWN_SECONDS,
    START_SECONDS,
    UNREACHABLE,
    Installation,
)
from tests.faults.kinds import Kind, Outcome
from tests.faults.world import FIRST, LAST, Lost, World, in_child

_ASSETS: Final = ("requests", "rejects", "page_views", "transits")
_DAYS: Final = [str(FIRST.fromordinal(n)) for n in range(FIRST.toordinal(), LAST.toordinal() + 1)]
_SAYS: Final = "The process of this run is gone"


def command(world: World, dice: random.Random, folder: Path) -> Outcome:
    """`kill -9` of `temporal-assets materialize`, which runs Dagster in its process."""
    home, usual = world.once("command", lambda: _first_home(world))
    state = world.begin(folder / "state", dice)
    for asset in ("page_totals", "page_histories"):
        shutil.rmtree(state / "tables" / asset, ignore_errors=True)
    # Days that the folder comes with were made without Dagster.
    came = {asset: _days_of(state, asset) for asset in _ASSETS}
    if dice.random() < 0.8:
        _lay_home(home, state)
    ended = in_child(lambda: _materialize(state), kill_after=dice.uniform(0, 0.7) * usual)
    if ended.status not in ("killed", "done") or (ended.value or [0])[0]:
        raise Lost(f"it ended by itself: {ended}")
    world.is_sound(state)
    _plain_run(world, state)
    world.is_as_calm(state, _ASSETS)
    shown = world.must(in_child(lambda: _shown(state)))
    unknown = {
        asset: days for asset, days in shown.items() if not set(_DAYS) <= {*days, *came[asset]}
    }
    if unknown:
        raise Lost(f"days that Dagster does not know: {unknown}")
    return Outcome(ended.status == "killed", 1)


def _days_of(state: Path, asset: str) -> list[str]:
    """Days that are published; their folders are named `day=...`."""
    folders = (state / "tables" / asset).glob("day=*")
    return [folder.name.removeprefix("day=") for folder in folders]


def _first_home(world: World) -> tuple[Path, float]:
    """A home of Dagster to begin with, and the seconds that the command takes."""
    state = world.trial() / "state"
    world.settle(state, world.logs)
    home = world.root / "home"
    world.must(in_child(lambda: str(prepare_home(load_settings(state)))))
    shutil.copytree(state / "dagster", home)
    (home / "from").write_text(str(state))
    begun = time.monotonic()
    _plain_run(world, state)
    return home, time.monotonic() - begun


def _lay_home(home: Path, state: Path) -> None:
    shutil.copytree(home, state / "dagster")
    config = state / "dagster" / "dagster.yaml"
    config.write_text(config.read_text().replace((home / "from").read_text(), str(state)))


def _materialize(state: Path) -> list[Any]:
    named = [asset for asset in _ASSETS if asset != "rejects"]
    result = CliRunner().invoke(app, ["materialize", *named, "--state", str(state)])
    return [result.exit_code, result.output[-1000:]]


def _plain_run(world: World, state: Path) -> None:
    """The command, which must end well; then everything is as undisturbed."""
    code, message = world.must(in_child(lambda: _materialize(state)))
    if code:
        raise Lost(f"a plain run failed: {message}")
    # A forked child ends without tidying up; the next process does it.
    world.must(in_child(lambda: _sweep(state)))
    if difference := world.differs(state, _ASSETS):
        raise Lost(f"not as undisturbed: {difference}")


def _sweep(state: Path) -> None:
    with scratch_folder(state / "tmp"):
        pass


def _shown(state: Path) -> dict[str, list[str]]:
    """The days of each asset that the UI would show as made."""
    with dg.DagsterInstance.from_config(str(state / "dagster")) as instance:
        return {
            asset: sorted(instance.get_materialized_partitions(dg.AssetKey(asset)))
            for asset in _ASSETS
        }


def webserver(world: World, dice: random.Random, folder: Path) -> Outcome:
    """`kill -9` of the web server while it is asked for a run or a backfill, or later."""
    site, usual = _site(world)
    launch = _launcher(site, dice)
    asked = os.fork()
    if asked == 0:
        with suppress(*UNREACHABLE, Lost):
            launch()
        os._exit(0)
    time.sleep(dice.uniform(0, 2) if dice.random() < 0.7 else dice.uniform(0, usual))
    site.kill("webserver", everything=dice.random() < 0.5)
    os.waitpid(asked, 0)
    site.up()
    if site.is_idle() and not site.known("requests"):
        launch()  # nothing came of it: the button is pressed again
    outcome = _settles(world, site, dice, launch, patient=True)
    if outcome.runs > 1:
        raise Lost("the run was lost with the web server")
    return outcome


def daemon(world: World, dice: random.Random, folder: Path) -> Outcome:
    """`kill -9` of the daemon during a run or a backfill; systemd starts it again."""
    site, usual = _site(world)
    launch = _launcher(site, dice)
    launch()
    time.sleep(dice.uniform(0, usual))
    struck = not site.is_idle()
    # systemd kills what a unit has started before it starts it again; others do not.
    site.kill("daemon", everything=dice.random() < 0.5)
    time.sleep(dice.uniform(0, 3))
    site.up()
    return Outcome(struck, _settles(world, site, dice, launch).runs)


def worker(world: World, dice: random.Random, folder: Path) -> Outcome:
    """`kill -9` of the process of a run, in which its steps are."""
    site, usual = _site(world)
    before = set(site.failures())
    launch = _launcher(site, dice)
    launch()
    workers = site.wait(site.workers, START_SECONDS, "a run")
    time.sleep(dice.uniform(0, usual))
    struck = not site.is_idle()
    with suppress(ProcessLookupError):
        os.kill(dice.choice(workers), signal.SIGKILL)
    outcome = _settles(world, site, dice, launch)
    _lost_runs_say_so(site, before)
    return Outcome(struck, outcome.runs)


def _lost_runs_say_so(site: Installation, before: set[str]) -> None:
    def unclear() -> dict[str, str]:
        failures = site.failures().items()
        return {run: text for run, text in failures if run not in before and _SAYS not in text}

    # The sensor looks twice a minute.
    site.wait(lambda: not unclear(), SETTLE_SECONDS, f"words for a lost run ({unclear()})")


def _launcher(site: Installation, dice: random.Random) -> Callable[[], str]:
    """A backfill, or one run over all days."""
    if dice.random() < 0.3:
        return lambda: site.backfill(_ASSETS, _DAYS)
    return lambda: site.run("daily", tags.of_range([FIRST, LAST]))


def _site(world: World) -> tuple[Installation, float]:
    """The installation, without any tables, and the seconds that a backfill takes in it."""
    site, usual = world.once("site", lambda: _install(world))
    site.up()
    _forget(world, site.state)
    return site, usual


def _install(world: World) -> tuple[Installation, float]:
    state = world.trial() / "state"
    world.settle(state, world.logs)
    world.must(in_child(lambda: _prepare(state)))
    site = Installation(state)
    world.closing.callback(site.close)
    site.up()
    site.run("daily", tags.of_range([FIRST, LAST]))
    site.wait(site.workers, START_SECONDS, "the first run")
    begun = time.monotonic()
    site.wait(site.is_idle, SETTLE_SECONDS, "the first run")
    return site, time.monotonic() - begun


def _prepare(state: Path) -> None:
    settings = load_settings(state)
    refresh(settings)
    prepare_home(settings)


def _forget(world: World, state: Path) -> None:
    for folder in ("tables", "verdicts"):
        shutil.rmtree(state / folder, ignore_errors=True)
    world.must(in_child(lambda: _wipe(state)))


def _wipe(state: Path) -> None:
    with dg.DagsterInstance.from_config(str(state / "dagster")) as instance:
        instance.wipe_assets([dg.AssetKey(asset) for asset in _ASSETS])


def _settles(
    world: World,
    site: Installation,
    dice: random.Random,
    launch: Callable[[], str],
    *,
    patient: bool = False,
) -> Outcome:
    """The queue empties by itself; then the same again, where needed, makes everything.

    Again is the button of the UI or the command, which does not wait for the queue; `patient` does.
    """
    world.is_sound(site.state)
    by_command = dice.random() < 0.5
    if patient or not by_command or dice.random() < 0.5:
        site.wait(site.is_idle, SETTLE_SECONDS, "the end of all runs")
        world.is_sound(site.state)
    runs = 1
    if not _is_whole(world, site):
        runs = 2
        if by_command:
            _plain_run(world, site.state)
        else:
            launch()
    site.wait(site.is_idle, SETTLE_SECONDS, "the end of all runs")
    # Days whose run could not say so any more are shown by the sensor.
    site.wait(lambda: _is_whole(world, site), SHOWN_SECONDS, "everything, shown by the UI")
    return Outcome(True, runs)


def _is_whole(world: World, site: Installation) -> bool:
    """Return whether all is as undisturbed, and the UI shows it."""
    wanted = [(_DAYS[0], _DAYS[-1])]
    return world.differs(site.state, _ASSETS) is None and all(
        site.known(asset) == wanted for asset in _ASSETS
    )


_imported: Callable[..., Any] = expectations.judge
"""Great Expectations is imported here once, and not in every child."""

KINDS: Final[dict[str, tuple[Kind, int]]] = {
    "command": (command, 25),
    "webserver": (webserver, 6),
    "daemon": (daemon, 6),
    "worker": (worker, 6),
}
