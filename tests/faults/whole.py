"""Faults of an installation that has made everything: policy, report, judgements and all.

Kills between a publication and what follows it, bits in every kind of file, exports that are
killed, and inputs that unpack to a thousand times their size. Dagster runs in their processes.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import random
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import dagster as dg
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from typer.testing import CliRunner

from temporal_assets import notebook
from temporal_assets.build import build_defs
from temporal_assets.cli.app import app
from temporal_assets.cli.shared.exits import explained
from temporal_assets.defs.installation import INSTALLATION, Installation
from temporal_assets.defs.runs import lost_runs
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.logs.privacy.key_periods import NOTES
from temporal_assets.machine import durable
from temporal_assets.operate import home, leftovers
from temporal_assets.ops import catalogue
from temporal_assets.ops.contents import damages
from temporal_assets.policy import Policy, PolicyError
from temporal_assets.policy.bundle import latest_of
from temporal_assets.policy.exports import TARGETS, export
from temporal_assets.quality import verdicts
from temporal_assets.settings import load_settings
from temporal_assets.storage import batch_publication, folder_swap
from temporal_assets.storage.store import Store
from temporal_assets.windows.policy import crawl_policy, released_policy
from temporal_assets.windows.registry import WINDOW_NAMES
from tests.faults.kinds import Kind, Outcome
from tests.faults.world import DAYS, FIRST, LAST, Lost, World, in_child, published
from tests.policies import document

_REMADE: Final = (
    *((name, FIRST) for name in ("requests", "page_views", "transits")),
    *((name, LAST) for name in WINDOW_NAMES),
)
"""Partitions that a trial takes away, so that they are made and judged again."""


def _whole(world: World) -> Path:
    """A state folder in which everything is made, judged and released."""

    def make() -> Path:
        world.settle(state := world.root / "whole", world.logs)
        code, message = world.must(in_child(lambda: _command(state, "materialize")))
        if code:
            raise Lost(f"the undisturbed run failed: {message}")
        return state

    actual: Path = world.once("whole", make)
    return actual


def _begin(world: World, folder: Path) -> Path:
    state = folder / "state"
    shutil.copytree(_whole(world), state, symlinks=True)
    return state


def _command(state: Path, *words: str) -> list[Any]:
    result = CliRunner().invoke(app, [*words, "--state", str(state)])
    return [result.exit_code, result.output[-1500:]]


def _is_as_whole(world: World, state: Path) -> None:
    """Everything is published, judged and released as undisturbed; no run is left open."""
    whole = _whole(world)
    actual, wanted = published(state), published(whole)
    if actual != wanted:
        other = [name for name in {*actual, *wanted} if actual.get(name) != wanted.get(name)]
        raise Lost(f"not as undisturbed: {sorted(other)[:4]}")
    if _verdicts(state) != _verdicts(whole):
        missing = sorted(_verdicts(whole) - _verdicts(state))
        raise Lost(f"judgements are not as undisturbed, missing {missing[:4]}")
    latest, released = latest_of(state / "policy"), latest_of(whole / "policy")
    if latest is None or released is None or latest.name != released.name:
        raise Lost(f"the policy was not released: {latest}")
    open_runs, wrong = world.must(in_child(lambda: _left(state)))
    if open_runs or wrong:
        raise Lost(f"{open_runs} runs are open; damaged or unfinished: {wrong}")


def _verdicts(state: Path) -> set[str]:
    store, actual = Store.open(load_settings(state)), set()
    for asset in store.assets():
        for day in store.days(asset):
            judged = verdicts.read(state, store.require(asset, day))
            actual |= {
                f"{asset} {day} {judgement.check} {judgement.passed}" for judgement in judged
            }
    return actual


def _left(state: Path) -> list[Any]:
    settings = load_settings(state)
    with dg.DagsterInstance.from_config(str(state / "dagster")) as instance:
        runs = instance.get_runs(filters=dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED]))
    wrong = [damage.path for damage in damages(settings)]
    left = leftovers.unfinished(settings)
    return [len(runs), [*wrong, *([str(left)] if left else [])]]


def unfinished(world: World, dice: random.Random, folder: Path) -> Outcome:
    """`kill -9` between a manifest, its judgement, the release of the policy and the catalogue."""
    state = _begin(world, folder)
    for asset, day in dice.sample(_REMADE, dice.choice((1, 1, 2, 3))):
        _take_away(state, asset, str(day))
        if day == FIRST and dice.random() < 0.5:  # days that are published together
            for n in range(1, DAYS):
                _take_away(state, asset, str(FIRST + dt.timedelta(days=n)))
    if dice.random() < 0.4:
        _take_away(state, "crawl_policy", str(LAST))
    moment = dice.randrange(24)
    ended = in_child(lambda: (_die_at(moment), _command(state, "materialize"))[1])
    if ended.status not in ("killed", "done") or (ended.value or [0])[0]:
        raise Lost(f"it ended by itself: {ended}")
    finisher = dice.choice(("materialize", "materialize", "sensor"))
    if finisher == "sensor":
        world.must(in_child(lambda: _tick(state)))
    code, message = world.must(in_child(lambda: _command(state, "materialize")))
    if code:
        raise Lost(f"a plain run failed: {message}")
    _is_as_whole(world, state)
    return Outcome(ended.status == "killed", 1, f"boundary {moment}, {finisher}")


def _take_away(state: Path, asset: str, day: str) -> None:
    shutil.rmtree(state / "tables" / asset / f"day={day}", ignore_errors=True)
    (state / "verdicts" / asset / f"{day}.json").unlink(missing_ok=True)
    if asset == "crawl_policy":
        (state / "policy" / "latest").unlink(missing_ok=True)


def _die_at(moment: int) -> None:
    """Kill this process at the so many-th boundary between two steps of a publication."""
    left = moment

    def boundary() -> None:
        nonlocal left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    def around(function: Callable[..., Any], *, is_before: bool = True) -> Callable[..., Any]:
        def both(*given: Any, **named: Any) -> Any:
            if is_before:
                boundary()
            actual = function(*given, **named)
            boundary()
            return actual

        return both

    places: list[tuple[Any, str]] = [
        (Store, "_replace_text"), (verdicts, "record"), (released_policy, "release"),
        (crawl_policy, "publish"), (catalogue, "refresh"),
        (batch_publication, "_each_in_parallel"), (batch_publication.BatchStore, "_flush_asset"),
    ]  # fmt: skip
    for place, name in places:
        setattr(place, name, around(getattr(place, name)))
    Store.publish = around(Store.publish, is_before=False)  # type: ignore[method-assign]


def _tick(state: Path) -> None:
    """Evaluate the sensor that is always on, and execute the run that it asks for."""
    settings = load_settings(state)
    with dg.DagsterInstance.from_config(str(home.prepare_home(settings))) as instance:
        defs = build_defs(settings)
        resources = {INSTALLATION: Installation.of(settings)}
        context = dg.build_sensor_context(instance=instance, definitions=defs, resources=resources)
        data = defs.resolve_sensor_def(lost_runs.SENSOR).evaluate_tick(context)
        for request in data.run_requests or []:
            chosen = defs.resolve_job_def("finish").get_subset(
                asset_selection=set(request.asset_selection or ()),
                asset_check_selection=set(request.asset_check_keys or ()),
            )
            if not chosen.execute_in_process(instance=instance, tags=dict(request.tags)).success:
                raise Lost("the run that the sensor asked for failed")


_NOT_OURS: Final = frozenset(("settings.toml", "dagster.yaml"))


def bits(world: World, dice: random.Random, folder: Path) -> Outcome:
    """Flip one bit in any file of the state folder: it is found, and no reader gets a wrong answer.

    Of a SQLite database in the bytes that say how it is built: it has no sums of its own.
    """
    state = _begin(world, folder)
    victim = _victim(state, dice)
    content = bytearray(victim.read_bytes())
    at = dice.randrange(16, 20) if victim.suffix == ".db" else dice.randrange(len(content))
    content[at] ^= 1 << (7 if victim.suffix == ".db" else dice.randrange(8))
    victim.write_bytes(content)
    name = victim.relative_to(state)
    named = world.must(in_child(lambda: [damage.path for damage in damages(load_settings(state))]))
    # Of a list of sums and the files it is of, one is wrong, and nobody can tell which; the same of
    # a key and the note of it.
    places = [str(victim.parent if victim.name == "SHA256SUMS" else victim)]
    places += [str(state / "secrets")] if victim.name == NOTES else []
    if not any(name in place or place in name for name in named for place in places):
        raise Lost(f"doctor --contents does not find the bit in {name}: {named}")
    wrong = world.must(in_child(lambda: _wrong_answers(state, _whole(world), name)))
    if wrong:
        raise Lost(f"a wrong answer without a word after a bit in {name}: {wrong}")
    return Outcome(True, 1, f"{name}")


def _victim(state: Path, dice: random.Random) -> Path:
    """Any file that the product writes, each kind as likely as others."""
    kinds: dict[str, list[Path]] = {}
    for path in sorted(state.rglob("*")):
        name = path.relative_to(state)
        is_other = path.name in _NOT_OURS or name.parts[0] in ("tmp", "locks")
        is_other |= path.suffix in (".lock", ".db-shm") or "latest" in name.parts
        if not is_other and path.is_file() and path.stat().st_size:
            kinds.setdefault(re.sub(r"[0-9a-f-]*[0-9][0-9a-f-]*", "*", str(name)), []).append(path)
    return dice.choice(kinds[dice.choice(sorted(kinds))])


def _wrong_answers(state: Path, whole: Path, victim: Path) -> list[str]:
    wrong = []
    assets = {"page_views", victim.parts[1]} if victim.parts[0] == "tables" else {"page_views"}
    for asset in sorted(assets):
        sql = f"SELECT * FROM {asset} ORDER BY ALL"  # noqa: S608 - our names
        for ask in (
            lambda one, sql=sql: _digest(notebook.Artifacts(one).query(sql)),
            lambda one, asset=asset: _digest(notebook.Artifacts(one).read(asset)),
        ):
            answer = _answer(ask, state)
            if answer is not None and answer != ask(whole):
                wrong.append(f"{asset} by SQL or read()")
            if answer is None and asset not in victim.parts:
                wrong.append(f"{asset} cannot be asked")
    decided = _answer(lambda one: Policy.load(one / "policy" / "latest").document, state)
    if decided is not None and decided != Policy.load(whole / "policy" / "latest").document:
        wrong.append("the policy")
    if decided is None and victim.name not in ("policy.json", "SHA256SUMS"):
        wrong.append("no policy can be loaded")
    catalogue.refresh(Store.open(load_settings(state)))  # what each publication does
    return wrong


def _answer(ask: Callable[[Path], Any], state: Path) -> Any:
    """None where it is refused with a sentence."""
    try:
        return ask(state)
    except PolicyError:
        return None
    except Exception as error:
        if explained(error) is None:
            raise
        return None


def _digest(table: pa.Table) -> str:
    return hashlib.sha256(repr(table.to_pylist()).encode()).hexdigest()


def exported(world: World, dice: random.Random, folder: Path) -> Outcome:
    """`kill -9` of an export over an earlier one: the files are of one policy or of the other."""
    target, old, new = dice.choice(sorted(TARGETS)), document(), document()
    old["day"], new["day"] = "2025-01-01", "2025-02-02"
    new["hubs"] = new["hubs"][:1]
    place = folder / "conf"
    export(old, target, place)
    (place / "mine.txt").write_text("of somebody else")
    before = _files(place)
    moment = dice.randrange(2 * len(before) + 3)
    ended = in_child(lambda: (_die_at_rename(moment), str(export(new, target, place)))[1])
    files = _files(place)
    export(new, target, place)
    if files not in (before, _files(place)):
        raise Lost(f"{target}: files of two policies")
    if "mine.txt" not in _files(place):
        raise Lost("a file of somebody else is gone")
    return Outcome(ended.status == "killed", 1, f"{target} at {moment}")


def _files(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _die_at_rename(moment: int) -> None:
    left = moment

    def before(function: Callable[..., Any]) -> Callable[..., Any]:
        def both(*given: Any) -> Any:
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return function(*given)

        return both

    durable.sync = before(durable.sync)
    folder_swap.sync = before(folder_swap.sync)
    folder_swap._exchange = before(folder_swap._exchange)


_MOST_MIB: Final = 1200


def hostile(world: World, dice: random.Random, folder: Path) -> Outcome:
    """Among honest logs one that cannot be read, or unpacks to gigabytes: the others are read."""
    source = folder / "logs"
    shutil.copytree(world.logs, source)
    kind = dice.choice(sorted(_HOSTILE))
    _HOSTILE[kind](source / "hostile.parquet", dice)
    world.settle(state := folder / "state", source)
    named, peak = world.must(in_child(lambda: _read(state)))
    if "hostile.parquet" not in named:
        raise Lost(f"{kind}: nobody says what is wrong with it: {named!r}")
    if peak > _MOST_MIB:
        raise Lost(f"{kind}: {peak} MiB")
    days = world.must(in_child(lambda: _days(state)))
    if days != world.must(in_child(lambda: _days(world.calm_state))):
        raise Lost(f"{kind}: the other logs were not read: {days}")
    return Outcome(True, 1, f"{kind}: {peak} MiB")


def _read(state: Path) -> list[Any]:
    """Return messages about files that cannot be read, and the largest MiB while reading.

    A forked process begins with what its parent holds, which is not of the work.
    """
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _peak_mib()
    report = refresh(load_settings(state))
    return [" ".join(str(file.error) for file in report.failed), _peak_mib() - before]


def _peak_mib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) >> 10


def _days(state: Path) -> dict[str, int]:
    inventory = Inventory.load(load_settings(state))
    return {
        str(day): sum(file.days[day].rows for file in inventory.of_day(day))
        for day in inventory.days()
    }


def _table(url: pa.Array) -> pa.Table:
    rows = len(url)
    time = pa.array(np.full(rows, 1_774_600_000_000_000), pa.timestamp("us", tz="UTC"))
    address = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), ["192.0.2.1"])
    return pa.table({"time": time, "address": address, "url": url})


def _long_dictionary(path: Path, dice: random.Random) -> None:
    rows = dice.randrange(200_000, 2_000_000)
    value = "https://example.com/" + "x" * dice.randrange(10_000, 100_000)
    url = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), [value])
    pq.write_table(_table(url), path, compression="zstd")


def _repeating(path: Path, dice: random.Random) -> None:
    value = "https://example.com/" + "z" * dice.randrange(50_000, 150_000)
    url = pa.array([value] * dice.randrange(2_000, 10_000))
    encoding = {"url": "DELTA_BYTE_ARRAY"}
    pq.write_table(
        _table(url), path, compression="zstd", use_dictionary=False, column_encoding=encoding
    )


def _large_page(path: Path, dice: random.Random) -> None:
    url = pa.array(["https://example.com/" + "y" * 1_000] * dice.randrange(150_000, 400_000))
    options = {"data_page_size": 1 << 30, "write_batch_size": 1 << 20, "use_dictionary": False}
    pq.write_table(_table(url), path, compression="zstd", **options)


def _wrong_name(path: Path, dice: random.Random) -> None:
    table = _table(pa.array(["https://example.com/"])).append_column("zzzz", pa.array(["a"]))
    pq.write_table(table, path)
    wrong = bytes([dice.randrange(0x80, 0xC0), dice.randrange(0xF8, 0x100)])
    path.write_bytes(path.read_bytes().replace(b"zzzz", b"z" + wrong + b"z"))


def _broken(path: Path, dice: random.Random) -> None:
    pq.write_table(_table(pa.array(["https://example.com/"] * 1000)), path)
    content = path.read_bytes()
    path.write_bytes(content[: dice.randrange(4, len(content))])


_HOSTILE: Final[dict[str, Callable[[Path, random.Random], None]]] = {
    "a long value in a dictionary": _long_dictionary,
    "values that repeat the one before": _repeating,
    "a page of gigabytes": _large_page,
    "a column whose name is no text": _wrong_name,
    "a file that was cut": _broken,
}

KINDS: Final[dict[str, tuple[Kind, int]]] = {
    "unfinished": (unfinished, 80),
    "bits": (bits, 220),
    "exported": (exported, 60),
    "hostile": (hostile, 35),
}
