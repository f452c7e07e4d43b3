"""`temporal-assets doctor`: whether this machine, installation and state folder can work.

Each check is a function that returns one finding; a check that raises is a finding, too.
"""

from __future__ import annotations

import datetime as dt
import os
import platform
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from temporal_assets import __version__
from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.console import counted
from temporal_assets.cli.shared.exits import FAILED, command, explained
from temporal_assets.cli.shared.options import Json, State
from temporal_assets.cli.shared.unfinished import unfinished_words

if TYPE_CHECKING:
    from temporal_assets.settings import Settings

OK: Final = "ok"
WARNING: Final = "warning"
BROKEN: Final = "broken"

_PACKAGES: Final = ("dagster", "duckdb", "great-expectations", "numba", "pyarrow")
_PYTHON: Final = ((3, 11), (3, 14))
"""Oldest and newest version that the tests run on."""

_LOW_DISK: Final = 1 << 30
"""Bytes free below which even a day of a middling site may not fit."""

_SCARCE_DISK: Final = 10 << 30
"""Bytes free below which a backfill of large logs may spill more than there is."""

_DAMAGES_SHOWN: Final = 100
"""Damaged files that are named."""

_UNITS: Final = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check."""

    check: str
    status: str
    detail: str


@command
def run(
    state: State = None,
    contents: Annotated[
        bool,
        typer.Option(
            "--contents",
            help="Read every file of the state folder and compare it with what was written, too;"
            " not in a bucket.",
        ),
    ] = False,
    alert: Annotated[
        bool, typer.Option("--alert", help="Send a test message to everybody alerts go to, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check Python, packages, settings, the state folder, keys, disk, engine, published files."""
    findings = list(_findings(state, contents, alert))
    if as_json:
        console.write_json(
            [{"check": f.check, "status": f.status, "detail": f.detail} for f in findings]
        )
    else:
        console.show_table(
            f"temporal-assets {__version__}",
            ("check", "status", "detail"),
            [(f.check, f.status, f.detail) for f in findings],
        )
    if any(finding.status == BROKEN for finding in findings):
        raise typer.Exit(FAILED)


def _findings(state: Path | None, contents: bool, alert: bool) -> Iterator[Finding]:
    """Yield the result of each check; without valid settings only the first ones."""
    yield _guarded("python", _python)
    yield _guarded("packages", _packages)
    yield _guarded("sql files", _sql_files)
    try:
        from temporal_assets.settings import load_settings

        settings = load_settings(state)
    except ValueError as error:
        yield Finding("settings", BROKEN, str(error))
        return
    yield _guarded("settings", lambda: _sources(settings))
    yield _guarded("state folder", lambda: _state_folder(settings))
    yield _guarded("keys", lambda: _keys(settings))
    yield _guarded("disk", lambda: _disk(settings.state))
    yield _guarded("engine", lambda: _engine(settings))
    yield _guarded("logs", lambda: _logs(settings))
    yield _guarded("log records", lambda: _records(settings))
    yield _guarded("published files", lambda: _published(settings, contents))
    if contents:
        yield _guarded("contents", lambda: _contents(settings))
    yield _guarded("unfinished work", lambda: _unfinished(settings))
    yield _guarded("policy", lambda: _policy(settings.state / "policy"))
    yield _guarded("schema versions", lambda: _schemas(settings))
    yield _guarded("dagster home", lambda: _dagster_home(settings))
    yield _guarded("alerts", lambda: _alerts(settings, alert))


def _guarded(name: str, check: Callable[[], tuple[str, str]]) -> Finding:
    try:
        return Finding(name, *check())
    except Exception as error:
        why = explained(error) or f"{type(error).__name__}: {error}"
        return Finding(name, BROKEN, why)


def _python() -> tuple[str, str]:
    oldest, newest = _PYTHON
    detail = f"{platform.python_version()} at {sys.executable}"
    if oldest <= sys.version_info[:2] <= newest:
        return OK, detail
    return BROKEN, f"{detail}; {oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]} is needed"


def _packages() -> tuple[str, str]:
    """Check that every package is installed; the detail has their versions."""
    from importlib.metadata import PackageNotFoundError, version  # a tenth of `--help`

    installed, missing = [], []
    for name in _PACKAGES:
        try:
            installed.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return BROKEN, f"not installed: {', '.join(missing)}"
    return OK, ", ".join(installed)


def _sql_files() -> tuple[str, str]:
    from temporal_assets.engines.sql import sql_file, sql_names

    names = [sql_file(name).name for name in sql_names()]
    return (OK, f"{len(names)} transformations") if names else (BROKEN, "none were installed")


def _sources(settings: Settings) -> tuple[str, str]:
    """Check that the settings of each source are valid and that its files exist."""
    from temporal_assets.logs.detect.resolve import resolve
    from temporal_assets.logs.read.paths import NoSuchLogError, expand

    count, gone, wrong = 0, [], []
    for source in settings.sources:
        try:
            resolve(source, b"")
            count += len(expand(source.path))
        except NoSuchLogError as error:
            gone.append(str(error))
        except ValueError as error:
            wrong.append(f"source {source.path}: {error}")
    if wrong:
        return BROKEN, "; ".join([*wrong, *gone])
    if gone:
        return WARNING, "; ".join(gone)
    return OK, f"{counted(len(settings.sources), 'source')}, {counted(count, 'log file')}"


def _state_folder(settings: Settings) -> tuple[str, str]:
    """Check that the state folder can be written, and that others can read no secret in it."""
    from temporal_assets.settings import SETTINGS_FILE

    state = settings.state
    place = _existing(state)
    if not os.access(place, os.W_OK | os.X_OK):
        return BROKEN, f"{place} cannot be written"
    if not state.is_dir():
        return OK, f"{state} will be created"
    file = state / SETTINGS_FILE
    secret = settings.alerts.webhook or settings.spark.config
    if secret and file.exists() and _is_open(file):
        return BROKEN, f"others can read {file}, and secrets may stand in it: chmod 600 '{file}'"
    if _is_open(state):
        return WARNING, (
            f"{state} can be written; others can look into it, and it says what visitors did:"
            f" chmod 700 '{state}'"
        )
    return OK, f"{state} can be written, and is its owner's alone"


def _is_open(path: Path) -> bool:
    """Return whether others than the owner have any right."""
    rights = stat.S_IMODE(path.stat().st_mode)
    return os.name == "posix" and bool(rights & (stat.S_IRWXG | stat.S_IRWXO))


def _keys(settings: Settings) -> tuple[str, str]:
    """Check the pseudonym keys: who can read them, and which are missing."""
    from temporal_assets.logs.privacy import key_periods, pseudonyms

    secrets, today = settings.state / "secrets", dt.datetime.now(dt.UTC).date()
    gone = key_periods.missing(secrets, today)
    if not secrets.is_dir() and not gone:
        return OK, "made when the first log is read"
    files = [path for path in secrets.glob("*") if path.is_file()]
    exposed = [path.name for path in files if _is_open(path)]
    if exposed:
        return BROKEN, (
            f"others can read {', '.join(sorted(exposed))} in {secrets}: who has a key can find "
            "the addresses behind pseudonyms; chmod 600 them"
        )
    if wrong := pseudonyms.troubles(secrets):
        return BROKEN, "; ".join(wrong)
    detail = f"{counted(len(files), 'file')}, readable by the owner only"
    periods = key_periods.KeyPeriods.of_folder(secrets, settings.privacy.rotation_days, today)
    detail += f"; {periods.described(today)}"
    if gone:
        return WARNING, (
            f"{detail}; gone: {', '.join(gone)}. If they were not destroyed on purpose, restore"
            " them from a backup before logs of their days are read: a new key makes every client"
            " a new one. If they were, remove their lines from"
            f" {secrets.parent / key_periods.NOTES}"
        )
    return OK, detail


def _disk(state: Path) -> tuple[str, str]:
    free = shutil.disk_usage(_existing(state)).free
    detail = f"{free / (1 << 30):.1f} GiB free at {_existing(state)}"
    if free < _LOW_DISK:
        return BROKEN, detail
    return (WARNING if free < _SCARCE_DISK else OK), detail


def _engine(settings: Settings) -> tuple[str, str]:
    """Check that DuckDB starts, and that its memory limit is within the memory of the machine."""
    from temporal_assets.engines.duckdb import opened

    wanted = settings.engine
    options: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": wanted.memory_limit,
        "threads": str(wanted.used_threads),
    }
    with opened(":memory:", options) as connection:
        query = "SELECT current_setting('memory_limit'), current_setting('threads')"
        row = connection.execute(query).fetchone()
    limit, threads = row or ("", 0)
    machine = _machine_memory()
    detail = f"DuckDB, {limit} and {threads} threads of {machine / (1 << 30):.1f} GiB"
    number, unit = str(limit).split(" ")
    if float(number) * _UNITS.get(unit, 1) > machine:
        return WARNING, f"{detail}: engine.memory_limit is more than there is"
    return OK, detail


def _logs(settings: Settings) -> tuple[str, str]:
    """Return problems found when the sources were last read; they stay until they are solved."""
    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.landing.verdicts import messages, verdicts

    source_verdicts = verdicts(Inventory.load(settings), settings)
    wrong = "; ".join(text for _, text in messages(source_verdicts))
    if any(verdict.gives_nothing for verdict in source_verdicts):
        return BROKEN, wrong
    if wrong:
        return WARNING, wrong
    lines, kept = (
        sum(getattr(verdict, name) for verdict in source_verdicts) for name in ("lines", "kept")
    )
    return OK, f"{counted(lines, 'line')}, {kept:,} page requests"


def _records(settings: Settings) -> tuple[str, str]:
    """Check the records of log files that have been read."""
    from temporal_assets.landing.inventory import Inventory

    inventory = Inventory.load(settings)
    if inventory.troubles:
        return BROKEN, "; ".join(inventory.troubles)
    files_known = f"{counted(len(inventory.files), 'log file')} known"
    if inventory.unnamed:
        first, count = inventory.unnamed[0], len(inventory.unnamed)
        return WARNING, (
            f"{files_known}; {counted(count, 'folder')} of lines without a record, from {first} on:"
            f" nobody reads them. Restore the records in {inventory.folder / 'files'} from a"
            " backup, or remove the folders if their logs were read again or are not wanted"
        )
    return OK, files_known


def _published(settings: Settings, contents: bool) -> tuple[str, str]:
    """Check that published files exist in the size that was published."""
    from temporal_assets.storage.store import Store

    store = Store.open(settings)
    damaged = store.damaged()
    if damaged:
        return BROKEN, (
            f"missing or not as they were published: {', '.join(damaged)}; make these"
            " days again: temporal-assets materialize --day DAY"
        )
    sizes = "all there, of the size that was published"
    if not store.is_local:
        return OK, f"{sizes}; an object store has digests of its own, so that nothing is read"
    return OK, sizes if contents else f"{sizes} (--contents reads them)"


def _contents(settings: Settings) -> tuple[str, str]:
    from temporal_assets.ops.contents import damages

    damaged = list(damages(settings))
    if not damaged:
        return OK, "every byte of the state folder as it was written (docs/faults.md)"
    more = f"\nand {len(damaged) - _DAMAGES_SHOWN:,} more" if len(damaged) > _DAMAGES_SHOWN else ""
    shown = [f"{damage.path} is not as it was written: {damage.remedy}" for damage in damaged]
    return BROKEN, "\n".join(shown[:_DAMAGES_SHOWN]) + more


def _unfinished(settings: Settings) -> tuple[str, str]:
    from temporal_assets.operate.leftovers import unfinished
    from temporal_assets.storage.store import LookingStore

    words = unfinished_words(unfinished(settings, LookingStore.open(settings)), settings.state)
    return (WARNING, words) if words else (OK, "none: what is published is judged and released")


def _policy(root: Path) -> tuple[str, str]:
    """Check that the latest released policy is complete and unchanged."""
    from temporal_assets.policy.bundle import is_whole, latest_of

    latest = latest_of(root)
    if latest is None:
        return OK, "none is released yet"
    if not is_whole(latest):
        return BROKEN, (
            f"{latest} is not as it was published: make it again (temporal-assets materialize"
            f" crawl_policy --day {latest.name[:10]})"
        )
    return OK, f"{latest.name}, as it was published"


def _schemas(settings: Settings) -> tuple[str, str]:
    """Check that no table, and no setting, is of a release in which it meant something else."""
    from temporal_assets.ops.upgrade import doubtful_weight
    from temporal_assets.storage.store import Store

    store = Store.open(settings)
    doubts = [doubt] if (doubt := doubtful_weight(store, settings)) else []
    if outdated := store.outdated():
        names = ", ".join(dict.fromkeys(manifest.asset for manifest in outdated))
        doubts.append(
            f"{counted(len(outdated), 'partition')} of {names} in another schema:"
            " temporal-assets doctor upgrade says what to do"
        )
    return (WARNING, "; ".join(doubts)) if doubts else (OK, "all of this release")


def _dagster_home(settings: Settings) -> tuple[str, str]:
    """Check that the tables of Dagster's history fit the installed release of Dagster."""
    if not settings.state.is_dir():
        return OK, "made with the state folder"
    from temporal_assets.operate.run_history import history

    place = history(settings)
    detail = f"{place.home}, with its history in {place.database}"
    if place.is_current:
        return OK, detail
    return WARNING, (
        f"{detail}: its tables are of another release of Dagster. End the daemon and the web"
        f" server, and call DAGSTER_HOME={place.home} dagster instance migrate"
    )


def _alerts(settings: Settings, send: bool) -> tuple[str, str]:
    """Check that alerts have a channel; with `send`, send a test message."""
    from temporal_assets.alerts import messages
    from temporal_assets.alerts.delivery import Undelivered, channels, kind_and_place

    reachable = channels(settings)
    if not reachable:
        detail = "nobody to tell: alerts.webhook and alerts.to are not set"
        return (BROKEN if send else OK), detail
    if not send:
        return (
            OK,
            f"{', '.join(channel.where for channel in reachable)} (--alert sends a test)",
        )
    status, details = OK, []
    for channel in reachable:
        try:
            note = channel.deliver(messages.of_test())
            details.append(f"sent to {channel.where}{'; ' if note else ''}{note}")
        except Undelivered as error:
            status = BROKEN
            details.append(f"not sent to {error}")
        except Exception as error:  # the others are tried as well
            status = BROKEN
            details.append(f"not sent to {channel.where}: {kind_and_place(error)}")
    return status, "\n".join(details)


def _existing(path: Path) -> Path:
    """Return the path, or the nearest folder above it that exists."""
    return next(place for place in (path, *path.parents) if place.exists())


def _machine_memory() -> int:
    """Return bytes this process may use: of the machine, or of its container if that is less."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text("ascii").strip()
    except OSError:
        return machine
    return min(machine, int(limit)) if limit.isdigit() else machine
