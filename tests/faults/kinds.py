"""The kinds of faults that need no server: what is done to the work, and what must follow.

A kind is a function from a world, its dice and a fresh folder to what happened, in a few words. It
raises `Lost` where something was lost.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from temporal_assets import notebook
from temporal_assets.landing.inventory import Inventory
from temporal_assets.ops import catalogue, retention
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from tests import logs
from tests.faults.world import FIRST, LAST, Ended, Lost, World, at_once, in_child, published, work

_NOBODY: Final = 65534
_MIB: Final = 1 << 20


class Skipped(Exception):
    """This machine cannot do this; the message says why."""


@dataclass(frozen=True)
class Outcome:
    """Result of a trial."""

    struck: bool
    """Return whether the fault hit the work, rather than coming too late or nowhere."""
    runs: int
    """Plain runs until all was as undisturbed."""
    words: str = ""
    """Output of the product about the fault."""


def is_sentence(ended: Ended, *names: str) -> None:
    """Check that an ended command said one line that names something of these."""
    if ended.status == "raised":
        raise Lost(f"an error without a sentence: {ended.text}")
    if ended.status == "said" and ("\n" in ended.text or len(ended.text) < 30):
        raise Lost(f"not one sentence: {ended.text!r}")
    if ended.status == "said" and not any(name in ended.text for name in names):
        raise Lost(f"the sentence names none of {names}: {ended.text}")


def kill(world: World, dice: random.Random, folder: Path) -> Outcome:
    """`kill -9` of the process that does the work, one to three times."""
    state, struck = world.begin(folder / "state", dice), False
    for _ in range(dice.choice((1, 1, 2, 3))):
        ended = in_child(lambda: work(state), kill_after=dice.uniform(0, 1.05) * world.usual)
        if ended.status == "raised" or ended.status == "said":
            raise Lost(f"it ended by itself: {ended.text}")
        struck |= ended.status == "killed"
        world.is_sound(state)
    return Outcome(struck, world.recovers(state))


def together(world: World, dice: random.Random, folder: Path) -> Outcome:
    """The same days made by two processes at once, one of them possibly killed."""
    state = world.begin(folder / "state", dice)
    other = os.fork()
    if other == 0:
        time.sleep(dice.uniform(0, 0.3) * world.usual)
        ended = in_child(lambda: work(state))
        os._exit({"done": 0, "said": 1}.get(ended.status, 2))
    kill_after = dice.uniform(0.2, 1.0) * world.usual if dice.random() < 0.3 else None
    ended = in_child(lambda: work(state), kill_after=kill_after)
    _, status = os.waitpid(other, 0)
    if os.waitstatus_to_exitcode(status) != 0 or ended.status not in ("done", "killed"):
        raise Lost(f"two at once: {ended.status} {ended.text}, the other {status}")
    world.is_sound(state)
    return Outcome(True, world.recovers(state), "both ended well")


def crowd(world: World, dice: random.Random, folder: Path) -> Outcome:
    """Two processes at once on a disk that fills up, each of them possibly killed."""
    with Disk(folder / "disk", 64 * _MIB) as disk:
        state = world.begin(disk.place / "state", dice)
        disk.change(f"size={_used(disk.place) + 8192 + int(dice.random() ** 2 * 900_000)}")
        moments = [dice.choice((None, dice.uniform(0, 2) * world.usual)) for _ in range(2)]
        ended = at_once(
            lambda: in_child(lambda: work(state), kill_after=moments[0]),
            lambda: in_child(
                lambda: work(state), kill_after=moments[1], prepare=_late(world, dice)
            ),
        )
        for run in ended:
            is_sentence(run, "the disk of the state folder is full")
        disk.change(f"size={64 * _MIB}")
        world.is_sound(state)
        struck = any(run.status != "done" for run in ended)
        return Outcome(struck, world.recovers(state), max(run.text for run in ended))


def cleaning(world: World, dice: random.Random, folder: Path) -> Outcome:
    """Days that are too old removed, possibly killed, while others make and read them."""
    shutil.copytree(world.calm_state, state := folder / "state")
    for asset in ("requests", "page_views", "transits"):  # of which there is something to make
        shutil.rmtree(state / "tables" / asset / f"day={LAST}")
    kill_after = dice.choice((None, dice.uniform(0, 1) * world.usual))
    cleaned, worked, read = at_once(
        lambda: in_child(lambda: _clean(state), kill_after=kill_after, prepare=_late(world, dice)),
        lambda: in_child(lambda: work(state)),
        lambda: in_child(lambda: _read_for(state, world.usual)),
    )
    is_refused = worked.status == "said" and "were removed by" in worked.text
    if cleaned.status not in ("done", "killed") or read.status != "done":
        raise Lost(f"cleaning {cleaned}, reading {read}")
    if worked.status != "done" and not is_refused:  # a day that went while it was begun
        raise Lost(f"cleaning {cleaned}, work {worked}, reading {read}")
    world.is_sound(state)
    world.must(in_child(lambda: _clean(state)))
    world.must(in_child(lambda: work(state)))
    world.is_as_calm(state, ("page_views", "transits", "page_totals", "page_histories"))
    if left := [name for name in published(state) if name.startswith(f"requests/day={FIRST}")]:
        raise Lost(f"removed days are there again: {left}")
    return Outcome(True, 1, f"read {read.value} times")


def _clean(state: Path) -> None:
    """Run `clean --yes` where lines and requests of two days are kept."""
    settings = load_settings(state, retention={"requests_days": 2})
    store, inventory = Store.open(settings), Inventory.load(settings)
    retention.carry_out(retention.plan(store, inventory, settings), store, inventory, settings)
    catalogue.refresh(store)


def _read_for(state: Path, seconds: float) -> int:
    """Return how often everything could be read and asked for."""
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        artifacts = notebook.Artifacts(state)
        for asset in ("requests", "page_views"):
            artifacts.query(f"SELECT count(*) FROM {asset}").to_pylist()  # noqa: S608
            artifacts.read(asset)
        count += 1
    return count


def _late(world: World, dice: random.Random) -> Callable[[], None]:
    seconds = dice.uniform(0, 0.3) * world.usual
    return lambda: time.sleep(seconds)


class Disk:
    """A file system of its own in memory."""

    def __init__(self, place: Path, size: int) -> None:
        if os.geteuid() != 0 or sys.platform != "linux":
            raise Skipped("a file system of a given size needs root on Linux")
        self.place = place
        place.mkdir()
        self._mount("-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs")

    def change(self, options: str) -> None:
        self._mount("-o", f"remount,{options}")

    def _mount(self, *arguments: str) -> None:
        done = subprocess.run(
            ["mount", *arguments, str(self.place)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Skipped(f"mount: {done.stderr.strip()}")

    def __enter__(self) -> Disk:
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", "-l", str(self.place)], check=False, capture_output=True)


def full_disk(world: World, dice: random.Random, folder: Path) -> Outcome:
    """A disk that fills up anywhere on the way; then there is more of it."""
    with Disk(folder / "disk", 64 * _MIB) as disk:
        state = world.begin(disk.place / "state", dice)
        used = _used(disk.place)
        disk.change(f"size={used + 8192 + int(dice.random() ** 2 * 900_000)}")
        ended = in_child(lambda: work(state))
        is_sentence(ended, "the disk of the state folder is full")
        disk.change(f"size={64 * _MIB}")
        world.is_sound(state)
        return Outcome(ended.status == "said", world.recovers(state), ended.text)


def _used(place: Path) -> int:
    status = os.statvfs(place)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def file_limit(world: World, dice: random.Random, folder: Path) -> Outcome:
    """A limit on the size of files (`ulimit -f`): writes fail in the middle of a file."""
    state = world.begin(folder / "state", dice)
    limit = int(10 ** dice.uniform(2, 5))
    ended = in_child(
        lambda: work(state),
        prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    is_sentence(ended, "ulimit -f", "the disk of the state folder is full")
    world.is_sound(state)
    return Outcome(ended.status == "said", world.recovers(state), ended.text)


def read_only(world: World, dice: random.Random, folder: Path) -> Outcome:
    """A disk that is mounted read-only: reading goes on, writing is refused with a sentence."""
    with Disk(folder / "disk", 64 * _MIB) as disk:
        state = world.begin(disk.place / "state", dice)
        before = published(state)
        disk.change("ro")
        ended = in_child(lambda: work(state))
        is_sentence(ended, "mounted read-only")
        if before:
            count = world.must(in_child(lambda: _count(state)))
            if count != sum(name.endswith("manifest.json") for name in before):
                raise Lost(f"reading a read-only folder gave {count}")
        disk.change("rw")
        if published(state) != before:
            raise Lost("something was written")
        return Outcome(ended.status == "said", world.recovers(state), ended.text)


def _count(state: Path) -> int:
    """Partitions that can be read, and asked by SQL."""
    artifacts = notebook.Artifacts(state)
    artifacts.query("SELECT count(*) FROM page_views").to_pylist()
    read = [artifacts.read(a, day) for a in artifacts.assets() for day in artifacts.days(a)]
    return len(read)


def denied(world: World, dice: random.Random, folder: Path) -> Outcome:
    """A folder or file of the state that this user may not enter, read or write."""
    state = world.begin(folder / "state", dice)
    drop = _as_nobody(folder) if os.geteuid() == 0 else (lambda: None)
    inside = [path for path in state.rglob("*") if "dagster" not in path.parts]
    victim = dice.choice([state, *inside])
    mode = victim.stat().st_mode & 0o777
    if os.geteuid() == 0:
        os.chown(victim, 0, 0)
    victim.chmod(dice.choice((0o000, 0o500 if victim.is_dir() else 0o400)) if mode else 0)
    ended = in_child(lambda: work(state), prepare=drop)
    is_sentence(ended, "permission denied", "cannot read or create the key")
    if os.geteuid() == 0:
        os.chown(victim, _NOBODY, _NOBODY)
    victim.chmod(mode)
    world.is_sound(state)
    second = in_child(lambda: work(state), prepare=drop)
    world.must(second)
    world.is_as_calm(state)
    return Outcome(ended.status == "said", 1, ended.text)


def _as_nobody(folder: Path) -> Callable[[], None]:
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, _NOBODY, _NOBODY)

    def drop() -> None:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)

    return drop


def memory(world: World, dice: random.Random, folder: Path) -> Outcome:
    """An address space that ends anywhere on the way, or an engine with hardly any memory."""
    state = world.begin(folder / "state", dice)
    if dice.random() < 0.3:
        with (state / "settings.toml").open("a") as file:
            file.write(f'[engine]\nmemory_limit = "{dice.randrange(1, 30)}MB"\n')
        ended = in_child(lambda: work(state))
        settings = (world.calm_state / "settings.toml").read_text()
        (state / "settings.toml").write_text(settings)
    else:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit = used + int(10 ** dice.uniform(0.5, 3.3)) * _MIB
        ended = in_child(
            lambda: work(state),
            prepare=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )
    # A process may also die of it: then it is as killed.
    is_sentence(ended, "there is not enough memory")
    world.is_sound(state)
    return Outcome(ended.status != "done", world.recovers(state), ended.text)


_ZONES: Final = ("UTC", "Europe/Berlin", "America/New_York", "Pacific/Kiritimati", "Asia/Kolkata")
_LIBRARIES: Final = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
)
_WORK: Final = """
import json, sys
from pathlib import Path
from temporal_assets.cli.shared.exits import explained
from tests.faults.world import work
status, text = "done", ""
try:
    work(Path(sys.argv[1]))
except Exception as error:
    sentence = explained(error)
    status, text = ("said", sentence) if sentence else ("raised", repr(error))
print(json.dumps([status, text]))
"""


def clock(world: World, dice: random.Random, folder: Path) -> Outcome:
    """A clock years off, at the hour in which it changes, or running wild; any zone of the machine.

    The zone of the days is that of the settings. Lines of a day that the clock says has not come
    are refused with a sentence, and read when the clock is right.
    """
    library = os.environ.get("FAKETIME_LIBRARY") or next(filter(os.path.exists, _LIBRARIES), None)
    state = world.begin(folder / "state", dice)
    environment = os.environ | {"TZ": dice.choice(_ZONES)}
    if library:
        fake = dice.choice(
            (
                f"{dice.choice('+-')}{dice.randrange(1, 4000)}d",
                f"@2026-03-29 0{dice.randrange(4)}:59:58",
                "@2026-10-25 02:59:58",
                f"{dice.choice('+-')}0 x{dice.randrange(2, 5000)}",
                "@1970-01-01 00:00:01",
                "@2038-01-19 03:14:06",
            )
        )
        environment |= {"LD_PRELOAD": library, "FAKETIME": fake, "FAKETIME_NO_CACHE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _WORK, str(state)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    try:
        status, text = json.loads(done.stdout)
    except ValueError:
        how = f"FAKETIME={environment.get('FAKETIME')} exit {done.returncode}"
        raise Lost(f"no answer: {how} {done.stdout[-200:]}{done.stderr[-500:]}") from None
    ended = Ended(status, text)
    is_sentence(ended, "the future")
    # Only the process's clock was wrong, not that of the file system, which dates its records.
    for record in (state / "landing" / "files").glob("failed-*"):
        os.utime(record, (0, 0))
    world.is_sound(state)
    return Outcome(library is not None, world.recovers(state), ended.text)


def corrupt(world: World, dice: random.Random, folder: Path) -> Outcome:
    """Bytes of Parquet files or of records flipped, cut, emptied or gone."""
    shutil.copytree(world.calm_state, state := folder / "state")
    places = ("tables/requests", "tables/page_views", "landing/segments", "landing/files")
    place = dice.choice(places)
    victims = sorted(p for p in (state / place).rglob("*") if p.suffix in (".parquet", ".json"))
    victim = dice.choice(victims)
    _damage(victim, dice)
    _forget_what_follows(state, place)
    ended = in_child(lambda: work(state))
    is_sentence(ended, victim.name, victim.parent.name)
    _holds_nothing_wrong(world, state, victim)
    return Outcome(True, world.recovers(state, 2), ended.text)


def lie(world: World, dice: random.Random, folder: Path) -> Outcome:
    """A manifest that says something else than is there."""
    shutil.copytree(world.calm_state, state := folder / "state")
    asset = dice.choice(("requests", "page_views"))
    victim = dice.choice(sorted((state / "tables" / asset).rglob("manifest.json")))
    victim.write_text(_lied(victim.read_text(), dice))
    _forget_what_follows(state, f"tables/{asset}")
    ended = in_child(lambda: work(state))
    is_sentence(ended, victim.parent.name)
    _holds_nothing_wrong(world, state, victim)
    return Outcome(True, world.recovers(state, 2), ended.text)


def _lied(text: str, dice: random.Random) -> str:
    if dice.random() < 0.4:  # anything
        at = dice.randrange(len(text))
        return text[:at] + chr(dice.randrange(32, 127)) * dice.randrange(1, 4) + text[at + 1 :]
    fields: dict[str, Any] = json.loads(text)
    file = fields["files"][0]
    key = dice.choice(("day", "asset", "inputs", "digest", "bytes", "name", "files"))
    if key in ("digest", "bytes", "name"):
        wrong = {"digest": "0" * 16, "bytes": file["bytes"] + 1, "name": "../../requests/x"}
        file[key] = wrong[key]
    else:
        wrong = {"day": str(LAST), "asset": "transits", "inputs": [], "files": None}
        fields[key] = wrong[key] if str(fields[key]) != wrong[key] else str(FIRST)
    return json.dumps(fields, indent=1, sort_keys=True)


def _damage(victim: Path, dice: random.Random) -> None:
    content = bytearray(victim.read_bytes())
    how = dice.choice(("flip", "flip", "flip", "cut", "zeros", "empty", "gone", "more"))
    at = dice.randrange(len(content))
    if how == "flip":
        content[at] ^= 1 << dice.randrange(8)
    elif how == "cut":
        del content[at:]
    elif how == "zeros":
        content[at : at + 64] = bytes(len(content[at : at + 64]))
    elif how == "empty":
        content.clear()
    elif how == "more":
        content += bytes(100)
    if how == "gone":
        victim.unlink()
    else:
        victim.write_bytes(content)


def _forget_what_follows(state: Path, place: str) -> None:
    """So that there is a reason to read what was damaged."""
    following = ["page_totals", "page_histories"]
    if place != "tables/page_views":
        following += ["page_views", "transits"]
    if place.startswith("landing"):
        following += ["requests", "rejects"]
    for asset in following:
        shutil.rmtree(state / "tables" / asset)


def _holds_nothing_wrong(world: World, state: Path, victim: Path) -> None:
    """Whatever is there, but for the damaged file itself, is what an undisturbed run makes."""
    for name, content in published(state).items():
        path = state / "tables" / name
        if path.parent != victim.parent and world.calm.get(name) != content:
            raise Lost(f"a wrong result without a word: {name}")


def poison(world: World, dice: random.Random, folder: Path) -> Outcome:
    """A log that floods one page from one client, from 10,000, or a site with a great many URLs.

    Pages of everybody else must have the rows they have without it, bit by bit.
    """
    kind = dice.choice(("one client", "10,000 clients", "many URLs"))
    source = folder / "logs"
    shutil.copytree(world.logs, source)
    day = FIRST.strftime("%d/%b/%Y")
    tail = f'HTTP/1.1" 200 512 "-" "{logs.BROWSER}"'
    lines = [
        f'{_address(kind, n)} - - [{day}:{_time(n)} +0000] "GET {_page(kind, n)} {tail}'
        for n in range(dice.randrange(50_000, 120_000))
    ]
    logs.write(source / "poison.log", lines)
    world.settle(state := folder / "state", source)
    ended = in_child(lambda: (work(state), _peak())[1])
    world.must(ended)
    honest = world.must(in_child(lambda: _honest(state)))
    expected = world.must(in_child(lambda: _honest(world.calm_state)))
    if honest != expected:
        raise Lost("views of other pages changed")
    flooded = world.must(in_child(lambda: _views(state, "poison")))
    if kind == "one client" and flooded > 1:
        raise Lost(f"one client counts {flooded} times on a page and day")
    if ended.value > 1500:
        raise Lost(f"{ended.value} MiB of memory")
    before = published(state)
    world.must(in_child(lambda: work(state)))
    if published(state) != before:
        raise Lost("a second run changed something")
    return Outcome(True, 1, f"{kind}: {len(lines):,} lines, {ended.value} MiB")


def _time(n: int) -> str:
    return f"{5 + n // 10_000 % 12:02}:{n // 60 % 60:02}:{n % 60:02}"


def _address(kind: str, n: int) -> str:
    clients = {"one client": 1, "10,000 clients": 10_000, "many URLs": 40_000}[kind]
    return f"198.18.{n % clients // 250}.{n % clients % 250}"


def _page(kind: str, n: int) -> str:
    return f"/poison/{n}/{n * 7919 % 1_000_003}?q={n}" if kind == "many URLs" else "/poison"


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _honest(state: Path) -> list[Any]:
    query = "SELECT * FROM page_views WHERE url NOT LIKE '%/poison%' ORDER BY ALL"
    return [list(map(str, row.values())) for row in _ask(state, query)]


def _views(state: Path, word: str) -> int:
    query = f"SELECT max(views) AS most FROM page_views WHERE url LIKE '%/{word}%'"  # noqa: S608
    return int(_ask(state, query)[0]["most"] or 0)


def _ask(state: Path, query: str) -> list[dict[str, Any]]:
    return notebook.Artifacts(state).query(query).to_pylist()


Kind = Callable[[World, random.Random, Path], Outcome]

KINDS: Final[dict[str, tuple[Kind, int]]] = {
    "kill": (kill, 130),
    "together": (together, 40),
    "crowd": (crowd, 40),
    "cleaning": (cleaning, 20),
    "full_disk": (full_disk, 60),
    "file_limit": (file_limit, 20),
    "read_only": (read_only, 20),
    "denied": (denied, 30),
    "memory": (memory, 30),
    "clock": (clock, 20),
    "corrupt": (corrupt, 100),
    "lie": (lie, 40),
    "poison": (poison, 12),
}
"""Name -> the kind and its share of the trials."""


def clean(folder: Path) -> None:
    """Remove what a trial leaves."""
    with suppress(OSError):
        shutil.rmtree(folder)
