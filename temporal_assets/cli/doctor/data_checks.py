"""Checks of the state folder: sources, keys, records of logs, published files, the policy.

Each returns a status and a sentence on what to do. Not here: the machine (`machine_checks`).
"""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from temporal_assets.cli.doctor.findings import BROKEN, OK, WARNING, existing, is_open
from temporal_assets.cli.shared.console import counted
from temporal_assets.cli.shared.unfinished import unfinished_words

if TYPE_CHECKING:
    from temporal_assets.settings import Settings

_DAMAGES_SHOWN: Final = 100
"""Damaged files that are named."""


def check_sources(settings: Settings) -> tuple[str, str]:
    """Check that the settings of each source are valid and that its files exist."""
    from temporal_assets.logs.detect.resolve import resolve
    from temporal_assets.logs.read.paths import NoSuchLogError, expand

    count, missing, wrong = 0, [], []
    for source in settings.sources:
        try:
            resolve(source, b"")
            count += len(expand(source.path))
        except NoSuchLogError as error:
            missing.append(str(error))
        except ValueError as error:
            wrong.append(f"source {source.path}: {error}")
    if wrong:
        return BROKEN, "; ".join([*wrong, *missing])
    if missing:
        return WARNING, "; ".join(missing)
    return OK, f"{counted(len(settings.sources), 'source')}, {counted(count, 'log file')}"


def check_state_folder(settings: Settings) -> tuple[str, str]:
    """Check that the state folder can be written, and that others can read no secret in it."""
    from temporal_assets.settings import SETTINGS_FILE

    state = settings.state
    place = existing(state)
    if not os.access(place, os.W_OK | os.X_OK):
        return BROKEN, f"{place} cannot be written"
    if not state.is_dir():
        return OK, f"{state} will be created"
    file = state / SETTINGS_FILE
    secret = settings.alerts.webhook or settings.spark.config
    if secret and file.exists() and is_open(file):
        return BROKEN, f"others can read {file}, and secrets may stand in it: chmod 600 '{file}'"
    if is_open(state):
        return WARNING, (
            f"{state} can be written; others can look into it, and it says what visitors did:"
            f" chmod 700 '{state}'"
        )
    return OK, f"{state} can be written, and is its owner's alone"


def check_keys(settings: Settings) -> tuple[str, str]:
    """Check the pseudonym keys: who can read them, and which are missing."""
    from temporal_assets.logs.privacy import key_periods, pseudonyms

    secrets, today = settings.state / "secrets", dt.datetime.now(dt.UTC).date()
    missing = key_periods.missing(secrets, today)
    if not secrets.is_dir() and not missing:
        return OK, "made when the first log is read"
    files = [path for path in secrets.glob("*") if path.is_file()]
    exposed = [path.name for path in files if is_open(path)]
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
    if missing:
        return WARNING, (
            f"{detail}; gone: {', '.join(missing)}. If they were not destroyed on purpose, restore"
            " them from a backup before logs of their days are read: a new key makes every client"
            " a new one. If they were, remove their lines from"
            f" {secrets.parent / key_periods.NOTES}"
        )
    return OK, detail


def check_logs(settings: Settings) -> tuple[str, str]:
    """Return problems found when the sources were last read; they stay until they are solved."""
    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.landing.source_verdicts import messages, verdicts

    source_verdicts = verdicts(Inventory.load(settings), settings)
    wrong = "; ".join(text for _, text in messages(source_verdicts))
    if any(verdict.gives_nothing for verdict in source_verdicts):
        return BROKEN, wrong
    if wrong:
        return WARNING, wrong
    lines = sum(verdict.lines for verdict in source_verdicts)
    requests = sum(verdict.kept for verdict in source_verdicts)
    return OK, f"{counted(lines, 'line')}, {requests:,} page requests"


def check_records(settings: Settings) -> tuple[str, str]:
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


def check_published(settings: Settings, contents: bool) -> tuple[str, str]:
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


def check_contents(settings: Settings) -> tuple[str, str]:
    """Check that every byte of the state folder is as it was written."""
    from temporal_assets.ops.contents import damages

    damaged = list(damages(settings))
    if not damaged:
        return OK, "every byte of the state folder as it was written (docs/faults.md)"
    more = f"\nand {len(damaged) - _DAMAGES_SHOWN:,} more" if len(damaged) > _DAMAGES_SHOWN else ""
    shown = [f"{damage.path} is not as it was written: {damage.remedy}" for damage in damaged]
    return BROKEN, "\n".join(shown[:_DAMAGES_SHOWN]) + more


def check_unfinished(settings: Settings) -> tuple[str, str]:
    """Check that no killed run has left work unfinished."""
    from temporal_assets.operate.leftovers import unfinished
    from temporal_assets.storage.store import LookingStore

    words = unfinished_words(unfinished(settings, LookingStore.open(settings)), settings.state)
    return (WARNING, words) if words else (OK, "none: what is published is judged and released")


def check_policy(root: Path) -> tuple[str, str]:
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


def check_schemas(settings: Settings) -> tuple[str, str]:
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
