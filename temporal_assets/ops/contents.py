"""Comparison of every byte of a state folder with what was written (`doctor --contents`).

Each kind of file has its own digest: in a manifest or a record, in the file itself, in the name of
a folder, or in a list of digests. Dagster's databases have none: SQLite checks their structure. Not
covered are files that people write (`settings.toml`, `dagster.yaml`), the demo's corpus, and trials
of `what_if`, which are state folders of their own. Not here: mending what is damaged.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from temporal_assets.crawl.mirror import mirror
from temporal_assets.landing.inventory import Inventory
from temporal_assets.logs.privacy import key_periods, pseudonyms
from temporal_assets.ops import catalogue
from temporal_assets.policy import bundle
from temporal_assets.quality import verdicts
from temporal_assets.settings import Settings
from temporal_assets.storage import checksums
from temporal_assets.storage.sealed import is_as_written
from temporal_assets.storage.store import Store
from temporal_assets.windows.policy.crawl_policy import FOLDER as POLICIES
from temporal_assets.windows.report import evaluation_report

_NEXT_RUN: Final = "any next run makes it again (temporal-assets materialize)"

_READ_VERSION: Final = 19
"""Position in a SQLite file of the version needed to read it, after that to write it. Both are 1,
or 2 with a write-ahead log."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A file that is not as it was written, and why."""

    path: str
    remedy: str


def damages(settings: Settings) -> Iterator[Damage]:
    """Yield every damaged file of a state folder."""
    state, store = settings.state, Store.open(settings)
    for path in store.damaged(contents=True):
        yield Damage(path, "make the day again (temporal-assets materialize --day DAY)")
    yield from _landing(settings)
    for file in verdicts.damaged(state):
        yield Damage(str(file), _NEXT_RUN)
    for folder in sorted((state / POLICIES).glob("????-??-??-*")):
        for file in bundle.faults(folder):
            remedy = f"temporal-assets materialize crawl_policy --day {folder.name[:10]}"
            yield Damage(str(file), f"make the policy again ({remedy})")
    for file in checksums.faults(state / evaluation_report.FOLDER):
        yield Damage(str(file), f"{_NEXT_RUN}, or temporal-assets report --day DAY")
    for file in catalogue.faults(store):
        yield Damage(str(file), _NEXT_RUN)
    yield from _mirror(settings)
    kept_file = state / "kept.json"
    if kept_file.exists() and not is_as_written(kept_file.read_bytes()):
        yield Damage(str(kept_file), "restore it from a backup")
    yield from _keys(state)
    yield from _databases(state / "dagster")


def _landing(settings: Settings) -> Iterator[Damage]:
    inventory = Inventory.load(settings)
    for file in inventory.damaged:
        yield Damage(str(file), "its log is read again (temporal-assets materialize)")
    for path in inventory.damaged_segments():
        yield Damage(str(path), "remove it, and its log is read again where it is still there")


def _keys(state: Path) -> Iterator[Damage]:
    """Yield damage of the pseudonym keys and of the notes on them."""
    secrets, noted = state / "secrets", key_periods.checksums(state / "secrets")
    for trouble in pseudonyms.troubles(secrets):
        file, _, what = trouble.partition(": ")
        yield Damage(file, what)
    notes = state / key_periods.NOTES
    is_incomplete = any(file.name not in noted for file in secrets.glob("clients*.key"))
    if notes.exists() and is_incomplete and not key_periods.damaged_notes(secrets):
        yield Damage(str(notes), "restore it from a backup, or remove it: reading logs notes keys")


def _mirror(settings: Settings) -> Iterator[Damage]:
    home = mirror.mirror_folder(settings)
    try:
        is_whole = mirror.is_whole(home)
    except mirror.NoMirror:
        is_whole = False
    if not is_whole:
        yield Damage(str(home), "store it again (temporal-assets evaluate mirror)")


def _databases(home: Path) -> Iterator[Damage]:
    for file in sorted(home.rglob("*.db")):
        if not _is_sound(file):
            yield Damage(
                str(file),
                "restore it from a backup, or move Dagster's home away: it holds no data",
            )


def _is_sound(file: Path) -> bool:
    """Return True if SQLite finds nothing wrong with the structure of a database.

    SQLite accepts an unknown version for writing, and then only reads: so this is checked first.
    """
    with file.open("rb") as content:
        versions = content.read(_READ_VERSION + 1)[_READ_VERSION - 1 :]
    if versions not in (b"", b"\1\1", b"\2\2"):  # none yet, or one of these
        return False
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
            result = database.execute("PRAGMA integrity_check").fetchone()
            return bool(result == ("ok",))
    except sqlite3.DatabaseError:
        return False
