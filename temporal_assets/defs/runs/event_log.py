"""Dagster's instance as commands use it: databases stay open, events of days are stored together.

Here: how long a connection to SQLite lives, how many events a transaction stores, where the output
of steps goes, and which code location a run belongs to. Not here: the content of events and the
place of the log, which are Dagster's own.

Dagster's event log in SQLite has one database per run (a *shard*) and one for all runs, the index.
An event is a row of both. The index has two more tables: the latest event of each asset, and tags
of events. A run over many days has several events for each day. For every event Dagster opens up to
four connections, each with an engine of its own that compiles its statements anew, and it writes
the latest event of an asset once for each of its days. It also plans each check once for each day,
though a check judges all days of a run at once and has one evaluation.

The methods replaced here are private. In a release of Dagster that lacks one of them, commands
run unchanged but slower, and the timeline of the UI lacks their runs (docs/decisions.md).
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import RLock
from typing import Any, Final

import dagster as dg
import yaml  # type: ignore[import-untyped]
from sqlalchemy import Connection, Engine, create_engine, func, select
from sqlalchemy.event import listen
from sqlalchemy.pool import StaticPool

from temporal_assets.defs.runs.tags import OF_LOCATION
from temporal_assets.machine.database import quiet_attempts

log = logging.getLogger(__name__)

_CONFIG: Final = "dagster.yaml"

_UNCAPTURED: Final = {
    "module": "dagster._core.storage.noop_compute_log_manager",
    "class": "NoOpComputeLogManager",
}

_CAPTURED: Final = "LocalComputeLogManager"

_BUSY_SECONDS: Final = 30.0
"""Wait for another process that writes. Dagster has the same, from one of its releases on."""

_OF_DAYS: Final = {
    dg.DagsterEventType.ASSET_MATERIALIZATION,
    dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
    dg.DagsterEventType.ASSET_OBSERVATION,
}
"""Types of events about one day of an asset."""

_BATCH_SIZE: Final = "DAGSTER_EVENT_BATCH_SIZE"
"""Dagster's variable for the events of days that are stored together; without it, none are."""

_EVENTS_AT_ONCE: Final = "200"

_PRIVATE_METHODS: Final = (
    *("conn_string_for_shard", "run_connection", "index_connection", "has_table"),
    *("store_event_batch", "prepare_insert_event", "_event_to_row"),
    *("_store_asset_event", "_store_asset_event_tags"),
)
"""Methods of the event log in SQLite that are used here and that Dagster does not document."""

_INDEX: Final = "index"
"""Dagster's name of the index, the database of all runs."""

_LABEL: Final = next(iter(OF_LOCATION))
"""Name of the tag that holds `repository@location`."""

_UNSET_TARGETS: Final = (
    "attribute",
    "executable_path",
    "package_name",
    "python_file",
    "working_directory",
)
"""Ways to name a code location, other than by a module."""


@contextmanager
def instance_of(home: Path) -> Iterator[dg.DagsterInstance]:
    """Open the instance of the `dagster.yaml` in a folder for the runs of a command."""
    with quiet_attempts(), _config_of_commands(home) as config:
        dagster_instance = dg.DagsterInstance.from_config(str(home), config)
    with dagster_instance as instance, kept_open(instance.event_log_storage):
        _name_location(instance.run_storage)
        yield instance


def is_in_sqlite(home: Path) -> bool:
    """Return True if runs, events and schedules are in SQLite files, as by default."""
    config = _read(home) or {}
    if config.keys() & {"run_storage", "event_log_storage", "schedule_storage"}:
        return False
    return not (storage := config.get("storage")) or "sqlite" in storage


@contextmanager
def _config_of_commands(home: Path) -> Iterator[str]:
    """Yield the name of a configuration file that keeps the output of steps on the terminal.

    By default Dagster writes it to files, and four processes a run copy it from there to the
    terminal. Ctrl-C, which comes to all processes of a terminal, ends two of them with a traceback.
    """
    config = _read(home)
    captured = None if config is None else config.get("compute_logs", {})
    if captured is None or captured.get("class", _CAPTURED) != _CAPTURED:
        yield _CONFIG
        return
    with NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        yaml.safe_dump({**(config or {}), "compute_logs": _UNCAPTURED}, file)
        file.flush()
        yield file.name


def _read(home: Path) -> dict[str, Any] | None:
    """Return the configuration in a folder; None if it is broken, which Dagster then reports."""
    path = home / _CONFIG
    try:
        config = yaml.safe_load(path.read_text("utf-8")) if path.is_file() else None
    except (OSError, ValueError, yaml.YAMLError):
        return None
    return config if isinstance(config, dict) else None if config else {}


@contextmanager
def kept_open(event_log: Any) -> Iterator[None]:
    """Keep the databases of Dagster's event log in SQLite open between events.

    An event log without all of the private methods stays unchanged, such as the one in PostgreSQL,
    which keeps its own connections.
    """
    if not all(hasattr(event_log, name) for name in _PRIVATE_METHODS):
        yield
        return
    databases = _Databases(event_log)
    event_log.run_connection = databases.connection
    event_log.index_connection = lambda: databases.connection(_INDEX)
    event_log.has_table = databases.has_table
    event_log.store_event_batch = databases.store_batch
    is_ours = _BATCH_SIZE not in os.environ
    os.environ.setdefault(_BATCH_SIZE, _EVENTS_AT_ONCE)
    try:
        yield
    finally:
        if is_ours:
            os.environ.pop(_BATCH_SIZE, None)
        databases.close()


class _Databases:
    """The open databases of an event log: the index, and the shard of one run at a time."""

    def __init__(self, log: Any) -> None:
        self._log = log
        self._connect, self._has_table = log.run_connection, log.has_table
        self._lock = RLock()
        self._engines: dict[str, Engine] = {}
        """Open engines by shard."""
        self._used: list[str] = []
        """Shards with a transaction in progress, one entry per transaction."""
        self._tables: set[str] = set()
        """Names of tables known to exist."""

    @contextmanager
    def connection(self, shard: str) -> Iterator[Connection]:
        """Yield a connection to a shard or the index; the context is one transaction."""
        with self._lock:
            self._used.append(shard)
            try:
                with self._engine(shard).connect() as connection, connection.begin():
                    yield connection
            finally:
                self._used.remove(shard)

    def has_table(self, name: str) -> bool:
        """Return True if a table exists; the answer is cached, as Dagster asks at every event."""
        if name not in self._tables and self._has_table(name):
            self._tables.add(name)
        return name in self._tables

    def store_batch(self, events: Sequence[dg.EventLogEntry]) -> None:
        """Store events of a run; Dagster stores them one by one where this raises."""
        by_day = [event for event in events if _is_of_day(event)]
        if by_day:
            self._store_days(by_day)
        for event in events:
            if not _is_of_day(event):
                self._log.store_event(_planned_once(event))

    def _store_days(self, events: Sequence[dg.EventLogEntry]) -> None:
        """Store events of assets in the shard and the index, and each asset's latest event once."""
        table = self._log.prepare_insert_event(events[0]).table
        rows = [self._log._event_to_row(event) for event in events]
        run = events[0].run_id
        with self.connection(run) as of_run, self.connection(_INDEX) as connection:
            of_run.execute(table.insert(), rows)
            connection.execute(table.insert(), rows)
            (last,) = connection.execute(select(func.max(table.c.id))).one()
            # Ids are consecutive: the transaction keeps other writers out.
            numbers = range(last - len(rows) + 1, last + 1)
            self._log._store_asset_event_tags(connection, events, numbers)
            latest = {
                (row["asset_key"], row["dagster_event_type"]): (event, number)
                for row, event, number in zip(rows, events, numbers, strict=True)
            }
            for event, number in latest.values():
                self._log._store_asset_event(connection, event, number)

    def close(self) -> None:
        """Close all connections."""
        while self._engines:
            self._engines.popitem()[1].dispose()

    def _engine(self, shard: str) -> Engine:
        """Return the engine of a database; engines of other runs that are not in use are closed."""
        if shard not in self._engines:
            with self._connect(shard):
                pass  # Dagster creates the tables when it connects for the first time.
            for other in self._engines.keys() - {_INDEX, *self._used}:
                self._engines.pop(other).dispose()
            self._engines[shard] = create_engine(
                self._log.conn_string_for_shard(shard),
                poolclass=StaticPool,
                connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
            )
            listen(self._engines[shard], "connect", _flush_seldom)
        return self._engines[shard]


def _is_of_day(entry: dg.EventLogEntry) -> bool:
    """Return True for an event about one day of an asset, and not about a check."""
    event = entry.dagster_event
    return event is not None and event.event_type in _OF_DAYS and event.asset_key is not None


def _planned_once(entry: dg.EventLogEntry) -> dg.EventLogEntry:
    """Return the event, without its day if it plans a check.

    The evaluation of a check names no day. The plans of days would thus stay open for ever.
    """
    event = entry.dagster_event
    planned = dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED
    if event is None or event.event_type != planned:
        return entry
    data: Any = event.event_specific_data
    whole = type(data)(asset_key=data.asset_key, check_name=data.check_name)
    return entry._replace(dagster_event=event._replace(event_specific_data=whole))


def _flush_seldom(connection: sqlite3.Connection, _: object) -> None:
    """Make SQLite flush at checkpoints of the write-ahead log, not at every transaction.

    A crash of the machine may lose the latest events and no others. The store, not the event log,
    decides which tables are there.
    """
    connection.execute("PRAGMA synchronous = NORMAL")


def _name_location(runs: Any) -> None:
    """Set the code location of new runs to the one that their tag names.

    Dagster sets the field for runs that its daemon starts. The timeline of the UI leaves out runs
    without the field, whatever their tags say.
    """
    add_run = runs.add_run

    def add_with_location(run: dg.DagsterRun) -> dg.DagsterRun:
        added: dg.DagsterRun = add_run(_with_location(run))
        return added

    runs.add_run = add_with_location


def _with_location(run: Any) -> Any:
    """Return a run with the code location of its tag, or unchanged if Dagster lacks the field."""
    repository, _, location = run.tags.get(_LABEL, "").partition("@")
    if not location or getattr(run, "remote_job_origin", location) is not None:
        return run
    try:
        return run._replace(remote_job_origin=_origin(location, repository, run.job_name))
    except Exception as error:  # whatever another release raises; the run itself must go on
        log.debug("the timeline will lack run %s: %s", run.run_id, error)
        return run


def _origin(location: str, repository: str, job: str) -> Any:
    """Return the origin of a job, read from the text that Dagster's database holds for it."""
    target = {
        "__class__": "LoadableTargetOrigin",
        "module_name": location,
        **dict.fromkeys(_UNSET_TARGETS),
    }
    place = {
        "__class__": "ManagedGrpcPythonEnvRepositoryLocationOrigin",
        "loadable_target_origin": target,
        "location_name": location,
    }
    code = {
        "__class__": "ExternalRepositoryOrigin",
        "repository_location_origin": place,
        "repository_name": repository,
    }
    origin = {
        "__class__": "ExternalPipelineOrigin",
        "external_repository_origin": code,
        "pipeline_name": job,
    }
    return dg.deserialize_value(json.dumps(origin))
