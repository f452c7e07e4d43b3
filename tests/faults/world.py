"""State folders to disturb, the work that is disturbed, and what must hold afterwards.

The work runs in forked children: what is imported is imported once, a trial takes a second, and the
parent has neither threads nor open files that a fork would break. Here: no kinds of faults
(`kinds`) and no servers (`servers`).
"""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from temporal_assets.cli.shared.exits import explained
from temporal_assets.days.asset_names import DERIVED
from temporal_assets.days.daily import build_derived, build_requests
from temporal_assets.days.staleness import stale
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.ops import catalogue
from temporal_assets.settings import load_settings
from temporal_assets.storage.batch_publication import together
from temporal_assets.storage.integrity import SET_ASIDE
from temporal_assets.storage.partition_errors import DamagedPartition
from temporal_assets.storage.sealed import sealed, unsealed
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import build, is_fresh
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from tests import logs

FIRST: Final = dt.date(2026, 3, 27)
"""Clocks in Europe change on the third day, in the zone of the settings."""
DAYS: Final = 4
LAST: Final = FIRST + dt.timedelta(days=DAYS - 1)
_WINDOWS: Final = (PAGE_TOTALS, PAGE_HISTORIES)
_CHILD_SECONDS: Final = 600
"""A child that takes longer hangs."""

Contents = dict[str, bytes]


class Lost(Exception):
    """A trial that the product did not survive; the message says what was lost."""


@dataclass(frozen=True)
class Ended:
    """End of a child process."""

    status: str
    """`done`, `said` (an error with a sentence), `raised` (one without), `killed`."""
    text: str = ""
    value: Any = None


def work(state: Path) -> None:
    """Everything that is late, as the nightly run makes it; without Dagster."""
    settings = load_settings(state)
    refresh(settings)
    store, engine, inventory = (
        Store.open(settings),
        DuckDBEngine(settings),
        Inventory.load(settings),
    )
    if inventory.failed:
        raise FileNotFoundError(str(inventory.failed[0].error))
    late = stale(store, inventory, settings)
    with _published(store, late["requests"]) as batch:
        for day in late["requests"]:
            build_requests(batch, engine, settings, day, inventory)
    for asset in DERIVED:
        days = sorted({*late["requests"], *late[asset]})
        with _published(store, days) as batch:
            for day in days:
                build_derived(batch, engine, asset, day)
    for window in _WINDOWS:
        if not is_fresh(store, settings, window, LAST):
            build(store, engine, settings, window, LAST)
    catalogue.refresh(store)


def _published(store: Store, days: Sequence[dt.date]) -> AbstractContextManager[Store]:
    """Publish several days together and one alone, as runs do."""
    return together(store) if len(days) > 1 else nullcontext(store)


def in_child(
    task: Callable[[], Any],
    *,
    kill_after: float | None = None,
    prepare: Callable[[], None] = lambda: None,
) -> Ended:
    """Run a task in a forked process, killing it after some seconds if it is still there."""
    return _end(*_begin(task, prepare), kill_after)


def at_once(*tasks: Callable[[], Ended]) -> list[Ended]:
    """Begin several `in_child` tasks together, and return how each ends."""
    begun = [_begin(lambda task=task: asdict(task())) for task in tasks]
    ended = [_end(child, seen) for child, seen in begun]
    return [Ended(**run.value) if run.status == "done" else run for run in ended]


def _begin(task: Callable[[], Any], prepare: Callable[[], None] = lambda: None) -> tuple[int, int]:
    seen, answer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(seen)
        _live(task, prepare, answer)
    os.close(answer)
    return child, seen


def _end(child: int, seen: int, kill_after: float | None = None) -> Ended:
    text = _wait(child, seen, kill_after)
    os.close(seen)
    return Ended(**json.loads(text)) if text else Ended("killed")


def _live(task: Callable[[], Any], prepare: Callable[[], None], told: int) -> None:
    """The life of the child; never returns."""
    os.setpgid(0, 0)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    try:
        prepare()
        fields: dict[str, Any] = {"status": "done", "value": task()}
    except Exception as error:
        sentence = explained(error)
        if sentence:
            fields = {"status": "said", "text": sentence}
        else:
            fields = {"status": "raised", "text": traceback.format_exc()[-1500:]}
    except BaseException as error:
        fields = {"status": "raised", "text": repr(error)}
    try:
        os.write(told, json.dumps(fields, default=str).encode())
    finally:  # also where the parent is gone: nobody but it goes on to the next trial
        os._exit(0)


def _wait(child: int, seen: int, kill_after: float | None) -> bytes:
    os.set_blocking(seen, False)
    begun, text = time.monotonic(), b""
    while True:
        try:
            piece = os.read(seen, 1 << 16)
        except BlockingIOError:
            piece = None
        if piece:
            text += piece
        if piece == b"":
            os.waitpid(child, 0)
            return text
        passed = time.monotonic() - begun
        if kill_after is not None and passed >= kill_after and not text:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return b""
        if passed > _CHILD_SECONDS:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise Lost(f"the work hung for {_CHILD_SECONDS} s")
        time.sleep(0.002)


class World:
    """Logs, an undisturbed state folder, and copies of it to disturb."""

    def __init__(self, root: Path, seed: int, write: Callable[[Path], None] | None = None) -> None:
        self.root, self.seed = root, seed
        self.logs = root / "logs"
        self.calm_state = root / "calm"
        root.mkdir(parents=True, exist_ok=True)
        for folder in (root, root.parent):
            folder.chmod(0o755)  # for users that rights are taken from
        (write or write_logs)(self.logs)
        self.settle(self.calm_state, self.logs)
        # Compiled loops are loaded once, here, and not in every child.
        shutil.copytree(self.calm_state, warm := root / "warm")
        refresh(load_settings(warm))
        begun = time.monotonic()
        self.must(in_child(lambda: work(self.calm_state)))
        self.usual = time.monotonic() - begun
        """Seconds that the work takes from nothing."""
        self.calm = published(self.calm_state)
        self.closing = ExitStack()
        """Resources to close with the world."""
        self._trials = 0
        self._made: dict[str, Any] = {}

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Make something at its first use, and share it between trials."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def settle(self, state: Path, folder: Path, extra: str = "") -> None:
        """A state folder that knows its source and has the key that all of them have."""
        state.mkdir(parents=True)
        (state / "settings.toml").write_text(
            '[orchestration]\ntimezone = "Europe/Berlin"\n'
            "[window]\ndays = 4\nmin_days = 2\nmin_views_per_day = 0.1\n"
            f'[[sources]]\npath = "{folder}"\nhost = "example.com"\n{extra}',
            "utf-8",
        )
        if state != self.calm_state:
            shutil.copytree(self.calm_state / "secrets", state / "secrets")

    def trial(self) -> Path:
        """A fresh folder."""
        self._trials += 1
        folder = self.root / "trials" / f"{self._trials}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def begin(self, state: Path, dice: random.Random) -> Path:
        """A state folder at a random moment of its life: new, half made or whole."""
        if dice.random() < 0.4:
            self.settle(state, self.logs)
            return state
        shutil.copytree(self.calm_state, state)
        self.age(state, dice)
        return state

    def age(self, state: Path, dice: random.Random) -> None:
        """Take away some of what is made last, so that there is something to do."""
        for asset in ("page_totals", "page_histories"):
            shutil.rmtree(state / "tables" / asset, ignore_errors=True)
        for asset in ("page_views", "transits", "requests"):
            for folder in sorted((state / "tables" / asset).iterdir()):
                if dice.random() < 0.5:
                    shutil.rmtree(folder)

    @staticmethod
    def must(ended: Ended) -> Any:
        if ended.status != "done":
            raise Lost(f"a plain run ended {ended.status}: {ended.text}")
        return ended.value

    def is_sound(self, state: Path) -> None:
        """Whatever is published now is whole and what an undisturbed run publishes."""
        wrong = self.must(in_child(lambda: _unsound(state)))
        if wrong:
            raise Lost(f"half a partition: {wrong}")
        for name, content in published(state).items():
            if name in self.calm and self.calm[name] != content:
                raise Lost(f"a wrong result without a word: {name}")

    def recovers(self, state: Path, runs: int = 1) -> int:
        """Plain runs until everything is as undisturbed; how many it took."""
        for n in range(1, runs + 1):
            ended = in_child(lambda: work(state))
            if ended.status == "done":
                self.is_as_calm(state)
                return n
            if ended.status != "said" or n == runs:
                raise Lost(f"run {n} after the fault ended {ended.status}: {ended.text}")
        raise AssertionError

    def is_as_calm(self, state: Path, assets: Collection[str] = ()) -> None:
        """Everything (of some assets) is as undisturbed, and nothing unfinished is left."""
        if difference := self.differs(state, assets):
            raise Lost(f"not as undisturbed: {difference}")
        if left := [path.name for path in (state / "tmp").iterdir() if path.is_dir()]:
            raise Lost(f"work in progress was left: {left}")

    def differs(self, state: Path, assets: Collection[str] = ()) -> str | None:
        """Return a difference to what an undisturbed run publishes, or None."""
        actual, calm = _of(published(state), assets), _of(self.calm, assets)
        if actual == calm:
            return None
        missing = sorted(set(calm) - set(actual))[:3]
        more = sorted(set(actual) - set(calm))[:3]
        other = [name for name in actual if name in calm and actual[name] != calm[name]][:3]
        return f"missing {missing}, more {more}, other {other}"


def _of(contents: Contents, assets: Collection[str]) -> Contents:
    if not assets:
        return contents
    return {name: text for name, text in contents.items() if name.split("/")[0] in assets}


def published(state: Path) -> Contents:
    """Every file of the tables but those set aside, and generations before the current one."""
    actual: Contents = {}
    for manifest in (state / "tables").rglob("manifest.json"):
        folder, text = manifest.parent, manifest.read_bytes()
        name = str(folder.relative_to(state / "tables"))
        actual[f"{name}/manifest.json"] = _said(text)
        for path in folder.glob("part-*"):
            if path.name.encode() in text and not path.name.endswith(SET_ASIDE):
                actual[f"{name}/{path.name}"] = path.read_bytes()
    return actual


def _said(text: bytes) -> bytes:
    """Return the content of a manifest without its spacing; all of it where it cannot be parsed."""
    try:
        return sealed(unsealed(text)).encode()
    except ValueError:
        return text


def _unsound(state: Path) -> list[str]:
    store, wrong = Store.open(load_settings(state)), []
    for asset in store.assets():
        for day in store.days(asset):
            try:
                manifest = store.require(asset, day)
                store.verify(manifest)
            except DamagedPartition as error:
                wrong.append(str(error))
                continue
            rows = sum(pq.read_metadata(path).num_rows for path in store.paths(manifest))
            if rows != manifest.rows:
                wrong.append(f"{asset} of {day} has {rows} rows instead of {manifest.rows}")
    return wrong


def write_logs(folder: Path) -> None:
    """A file for each of several days, each with lines of its neighbours, at all hours."""
    dice = random.Random(1)
    for n in range(DAYS):
        lines = []
        for _ in range(400):
            seconds = dice.uniform(-0.2, 1.2) * 86_400
            when = dt.datetime.combine(FIRST, dt.time()) + dt.timedelta(days=n, seconds=seconds)
            when = min(max(when, dt.datetime.combine(FIRST, dt.time(3))), _END)
            page = f"/news/{FIRST + dt.timedelta(days=dice.randrange(n + 1))}/{dice.randrange(9)}"
            referrer = dice.choice(("-", "https://example.com/", "https://other.example/x"))
            lines.append((when, logs.line(when, page, f"192.0.2.{dice.randrange(60)}", referrer)))
        logs.write(folder / f"access-{n}.log", [text for _, text in sorted(lines)])


_END: Final = dt.datetime.combine(LAST, dt.time(20))
