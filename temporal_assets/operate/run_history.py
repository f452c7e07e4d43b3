"""Dagster's history of runs: where it is kept, which runs may be forgotten, what is switched on.

In: the settings of a state folder. Out: ids of runs, names of sensors and schedules, and where the
databases are. Not here: opening an instance (`home`), starting runs (`operation`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url

from temporal_assets import contracts
from temporal_assets.defs.assets import released_policy
from temporal_assets.defs.runs import event_log, lost_runs
from temporal_assets.defs.runs.old_runs import old_runs
from temporal_assets.defs.sensors import NIGHTLY_WINDOWS
from temporal_assets.operate.home import CONFIG, dagster_home, instance_of
from temporal_assets.settings import Settings


def forgettable_runs(settings: Settings) -> list[str]:
    """Return ids of runs older than `retention.runs_days` that made nothing still published."""
    days = settings.retention.runs_days
    if days is None:
        return []
    with instance_of(settings) as instance:
        return old_runs(instance, [table.name for table in contracts.TABLES], days)


def forget_runs(settings: Settings, runs: Sequence[str]) -> None:
    """Remove runs from Dagster's history, with their events."""
    if not runs:
        return
    with instance_of(settings) as instance:
        for run in runs:
            instance.delete_run(run)


def switched_on(settings: Settings) -> tuple[str, ...]:
    """Return the names of sensors and schedules that are switched on; makes no Dagster home."""
    home = Path(os.environ.get("DAGSTER_HOME") or settings.state / "dagster")
    if not (home / CONFIG).is_file() and not (home / "schedules").is_dir():
        return ()
    if not (home / "schedules").is_dir() and event_log.is_in_sqlite(home):
        return ()
    with instance_of(settings) as instance:
        states = instance.all_instigator_state()
        running = {state.instigator_name for state in states if state.is_running}
        # Those are always on, and bring no data.
        always_on = {lost_runs.SENSOR, released_policy.SENSOR, NIGHTLY_WINDOWS}
        return tuple(sorted(running - always_on))


@dataclass(frozen=True, slots=True)
class History:
    """Location of Dagster's runs, events and schedules."""

    home: Path
    """$DAGSTER_HOME, or the folder in the state folder."""
    database: str
    """The database in words, without a password."""
    is_current: bool
    """False if its tables have to be changed by `dagster instance migrate`."""


def history(settings: Settings) -> History:
    """Open Dagster's history and return its location; makes the home if there is none."""
    home = dagster_home(settings)
    with instance_of(settings) as instance:
        storage = instance.event_log_storage
        version = storage.alembic_version()
        is_current = version is None or version[0] == version[1]
        return History(home, _database(getattr(storage, "postgres_url", None)), is_current)


def _database(address: str | None) -> str:
    if address is None:
        return "SQLite"
    url = make_url(address)
    place = url.host or url.query.get("host", "the local socket")
    return f"PostgreSQL, database {url.database} at {place}"
