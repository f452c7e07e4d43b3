"""`kill -9` at random moments, then one plain run: the same bytes as if nothing had happened.

The short version is among the slow tests; `pytest -m long tests/integration/test_faults.py` kills a
hundred times, through Dagster and the command line as well.
"""

from __future__ import annotations

import datetime as dt
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from temporal_assets.settings import SETTINGS_FILE, load_settings
from temporal_assets.storage.store import Store
from tests import logs

FIRST = dt.date(2026, 3, 1)
DAYS = 6

BUILD = """
import sys
from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.storage.store import Store

settings = load_settings(sys.argv[1])
refresh(settings)
store, engine, inventory = Store.open(settings), DuckDBEngine(settings), Inventory.load(settings)
for day in inventory.days():
    build_requests(store, engine, settings, day, inventory)
    for asset in DERIVED:
        build_derived(store, engine, asset, day)
"""
"""All the pipeline does, without Dagster: it starts fast, so that kills hit the work itself."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Log files of several days each, one of them read in blocks."""
    actual = tmp_path_factory.mktemp("logs")
    for n in range(DAYS):
        days = [FIRST + dt.timedelta(days=(n + k) % DAYS) for k in range(3)]
        lines = [line for day in sorted(days) for line in logs.day_of_lines(day, clients=50 + n)]
        logs.write(actual / f"access-{n}.log", lines)
    noon = dt.datetime.combine(FIRST, dt.time(12))
    large = [
        logs.line(noon + dt.timedelta(seconds=2 * n), f"/p/{n % 999}", f"192.0.2.{n % 250}")
        for n in range(45_000)
    ]
    logs.write(actual / "large.log", large)
    return actual


def _state(root: Path, folder: Path, secrets: Path | None = None) -> Path:
    state = root / "state"
    state.mkdir(parents=True)
    (state / SETTINGS_FILE).write_text(
        f'[[sources]]\npath = "{folder}"\nhost = "example.com"\n', "utf-8"
    )
    if secrets:  # the same key, else all clients differ
        shutil.copytree(secrets, state / "secrets")
    return state


def _published(state: Path) -> dict[str, bytes]:
    root = state / "tables"
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def _readable(state: Path) -> None:
    """Whatever is published at any moment is whole."""
    store = Store.open(load_settings(state))
    for asset in store.assets():
        for day in store.days(asset):
            assert store.read(asset, day).num_rows == store.require(asset, day).rows


def _kill_after(command: Sequence[str], seconds: float) -> bool:
    """Return whether the command was killed before it had ended."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def _survives(commands: Sequence[Sequence[str]], state: Path, calm: Path, kills: int) -> None:
    """Run the same work undisturbed in `calm` and with kills in `state`; compare every byte."""
    started = time.monotonic()
    for command in commands:
        subprocess.run([*command, str(calm)], check=True, capture_output=True)
    usual = (time.monotonic() - started) / len(commands)
    dice = random.Random(20260301)
    killed = 0
    while killed < kills:
        command = dice.choice(commands)
        if _kill_after([*command, str(state)], dice.uniform(0.1, 1.1) * usual):
            killed += 1
        else:  # finished: there is nothing left to disturb, so begin again
            shutil.rmtree(state / "tables", ignore_errors=True)
            shutil.rmtree(state / "landing", ignore_errors=True)
        _readable(state)
    for command in commands:
        subprocess.run([*command, str(state)], check=True, capture_output=True)
    assert _published(state) == _published(calm)
    left = [path for path in (state / "tmp").iterdir() if path.is_dir()]
    assert left == [], "what killed processes left is removed by the next one"


def _prepared(tmp_path: Path, folder: Path) -> tuple[Path, Path]:
    calm = _state(tmp_path / "calm", folder)
    subprocess.run([sys.executable, "-c", BUILD, str(calm)], check=True, capture_output=True)
    shutil.rmtree(calm / "tables")
    shutil.rmtree(calm / "landing")
    return _state(tmp_path / "disturbed", folder, calm / "secrets"), calm


@pytest.mark.slow
def test_a_few_kills(tmp_path: Path, folder: Path) -> None:
    state, calm = _prepared(tmp_path, folder)
    _survives([[sys.executable, "-c", BUILD]], state, calm, kills=3)


@pytest.mark.long
def test_a_hundred_kills(tmp_path: Path, folder: Path) -> None:
    state, calm = _prepared(tmp_path, folder)
    _survives([[sys.executable, "-c", BUILD]], state, calm, kills=100)


@pytest.mark.long
def test_kills_during_a_backfill_through_dagster(tmp_path: Path, folder: Path) -> None:
    state, calm = _prepared(tmp_path, folder)
    backfill = [sys.executable, "-m", "temporal_assets", "materialize", "--state"]
    _survives([backfill], state, calm, kills=20)
