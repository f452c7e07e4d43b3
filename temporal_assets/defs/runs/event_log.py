"""Dagster's event log in SQLite, written in batches over connections that stay open.

Here: how many events a transaction holds. Not here: what an event says, where the log lies and
how it is read, which is Dagster's. The files are the same: any process of Dagster reads them.

A run over many days has several events for each of them. Dagster's own log opens up to four
connections for every event, and SQLite flushes a database to the disk when its last connection is
closed: that took half of the time of small days. This is the only module that uses what Dagster
does not export, because it exports no way to do this (docs/decisions.md); a test holds that.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from dagster import (
    AssetExecutionContext,
    AssetObservation,
    DagsterInstance,
    DagsterRun,
    EventLogEntry,
)
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationPlanned,
)
from dagster._core.events import (
    ASSET_CHECK_EVENTS,
    ASSET_EVENTS,
    DagsterEvent,
    DagsterEventBatchMetadata,
)
from dagster._core.instance.ref import InstanceRef
from dagster._core.remote_origin import (
    ManagedGrpcPythonEnvCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    SqlEventLogStorageTable,
)
from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME
from dagster._core.storage.runs.sqlite import SqliteRunStorage
from dagster._core.storage.sqlite_storage import (
    DagsterSqliteStorage,
    _event_logs_directory,
    _runs_directory,
)
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._serdes import ConfigurableClassData, serialize_value
from sqlalchemy import Connection, CursorResult, Engine, create_engine
from sqlalchemy.event import listen
from sqlalchemy.pool import NullPool, Pool, StaticPool

from temporal_assets.defs.runs.tags import OF_LOCATION
from temporal_assets.machine.database import quiet_attempts

_BATCH: Final = 1000
"""Events of one transaction at most: two months of days of the daily tables."""

_BATCH_VARIABLE: Final = "DAGSTER_EVENT_BATCH_SIZE"
"""Dagster's own switch: without it, the events of a batch reach the storage one by one."""

_UNCAPTURED: Final = {
    "module": "dagster._core.storage.noop_compute_log_manager",
    "class": "NoOpComputeLogManager",
}

_BUSY_SECONDS: Final = 30.0
"""Wait for another process that writes. Dagster has the same, from one of its releases on."""

_IN_BATCHES: Final = frozenset(ASSET_EVENTS | ASSET_CHECK_EVENTS)


@contextmanager
def instance_of(home: Path) -> Iterator[DagsterInstance]:
    """Open the instance of a `dagster.yaml`, with the event log of this module."""
    reference = in_batches(_uncaptured(InstanceRef.from_dir(str(home)), home))
    with quiet_attempts():
        opened = DagsterInstance.from_ref(reference)
    with batches(), opened as instance:
        yield instance


def log_observations(
    context: AssetExecutionContext, observations: Sequence[AssetObservation]
) -> None:
    """Log observations as `context.log_event` does, stored together where the log can."""
    step, batch = context.get_step_execution_context(), str(uuid4())
    for one in observations:
        is_last = one is observations[-1]
        DagsterEvent.asset_observation(step, one, DagsterEventBatchMetadata(batch, is_last))


def _uncaptured(reference: InstanceRef, home: Path) -> InstanceRef:
    """Return the reference without files of the steps' standard output.

    In a command that is on the terminal anyway. Four processes a run would copy it there from the
    files, and Ctrl-C, which comes to all processes of a terminal, ends two with a traceback.
    """
    captured = reference.compute_logs_data
    if captured is None or captured.class_name != "LocalComputeLogManager":
        return reference
    return InstanceRef.from_dir(str(home), overrides={"compute_logs": _UNCAPTURED})


def is_in_sqlite(home: Path) -> bool:
    """Return whether runs, events and schedules lie in SQLite files, as they do by default."""
    return _is_sqlite(InstanceRef.from_dir(str(home)))


def _is_sqlite(reference: InstanceRef) -> bool:
    kept = reference.storage_data
    return kept is not None and kept.class_name == DagsterSqliteStorage.__name__


def in_batches(reference: InstanceRef) -> InstanceRef:
    """Return the reference with the event log of this module, where it has Dagster's in SQLite.

    PostgreSQL's event log, as `dagster-postgres` has it, stores a batch in one statement by itself.
    """
    kept = reference.storage_data
    if kept is None or not _is_sqlite(reference):
        return reference
    ours = ConfigurableClassData(__name__, BatchedStorage.__name__, kept.config_yaml)
    return reference._replace(storage_data=ours)


@contextmanager
def batches() -> Iterator[None]:
    """Have Dagster hand over the events of a batch together."""
    before = os.environ.get(_BATCH_VARIABLE)
    os.environ.setdefault(_BATCH_VARIABLE, str(_BATCH))
    try:
        yield
    finally:
        if before is None:
            del os.environ[_BATCH_VARIABLE]


class BatchedEventLog(SqliteEventLogStorage):
    """The files of `SqliteEventLogStorage`, with one transaction for a batch of events."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._open: dict[str, Engine] = {}
        self._tables: set[str] = set()
        self._has_index_columns = False
        super().__init__(base_dir, inst_data)

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store the events of assets of one run together; any others one by one."""
        (run_id, *others) = {event.run_id for event in events}
        if others or not all(map(_is_of_asset, events)):
            super().store_event_batch(events)
            return
        insert = SqlEventLogStorageTable.insert()
        rows = [self._event_to_row(event) for event in events]
        with self.run_connection(run_id) as connection:
            connection.execute(insert, rows)
        with self.index_transaction() as connection:
            stored = [
                (event, _inserted(connection.execute(insert, row)))
                for event, row in zip(events, rows, strict=True)
            ]
            assets = [
                stored_event
                for stored_event in stored
                if stored_event[0].dagster_event_type in ASSET_EVENTS
            ]
            self._store_asset_event_tags(connection, [e for e, _ in assets], [n for _, n in assets])
            for event, number in _last_of_each(assets):
                self._store_asset_event(connection, event, number)
        for event, number in stored:
            if event.dagster_event_type in ASSET_CHECK_EVENTS:
                self.store_asset_check_event(event, number)

    def has_table(self, table_name: str) -> bool:
        """Return whether there is such a table, which is asked for every event."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def dispose(self) -> None:
        """Close the connections, too."""
        super().dispose()
        while self._open:
            self._open.popitem()[1].dispose()

    def _has_asset_key_index_cols_on_connection(self, conn: Connection) -> bool:
        if not self._has_index_columns:
            self._has_index_columns = super()._has_asset_key_index_cols_on_connection(conn)
        return self._has_index_columns

    def _store_asset_check_evaluation_planned(
        self, event: EventLogEntry, event_id: int | None
    ) -> None:
        """Store the event as Dagster does, but write it out once for all partitions."""
        planned = event.get_dagster_event().event_specific_data
        if not isinstance(planned, AssetCheckEvaluationPlanned):
            raise TypeError(f"{event.dagster_event_type} plans no check")
        subset = planned.partitions_subset
        moment = self._event_insert_timestamp(event)  # type: ignore[no-untyped-call]
        row = {
            "asset_key": planned.asset_key.to_string(),
            "check_name": planned.check_name,
            "run_id": event.run_id,
            "execution_status": AssetCheckExecutionRecordStatus.PLANNED.value,
            "evaluation_event": serialize_value(event),
            "evaluation_event_timestamp": moment,
            "evaluation_event_storage_id": event_id,
        }
        keys = subset.get_partition_keys() if subset else [None]
        with self.index_connection() as connection:
            rows = [row | {"partition": key} for key in keys]
            connection.execute(AssetCheckExecutionsTable.insert(), rows)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._db_lock, self._engine(shard).connect() as connection, connection.begin():
            yield connection

    def _engine(self, shard: str) -> Engine:
        """The engine of a database; that of one run at a time stays open, beside the index."""
        place = self.conn_string_for_shard(shard)
        if shard not in self._initialized_dbs:
            self._initdb(_engine(place, poolclass=NullPool))
            self._initialized_dbs.add(shard)
        if shard not in self._open:
            for other in self._open.keys() - {INDEX_SHARD_NAME}:
                self._open.pop(other).dispose()
            self._open[shard] = _engine(place, poolclass=StaticPool)
        return self._open[shard]


class RunsOfLocation(SqliteRunStorage):
    """Runs as Dagster keeps them; those of commands with the code location that they belong to.

    Dagster sets it on runs that its daemon starts. The timeline of the UI shows no run without it,
    whatever its tags say.
    """

    def add_run(self, dagster_run: DagsterRun) -> DagsterRun:
        """Keep a run, under the code location that its tag names."""
        repository, _, location = dagster_run.tags.get(_LABEL, "").partition("@")
        if dagster_run.remote_job_origin is None and location:
            module = LoadableTargetOrigin(module_name=location)
            place = ManagedGrpcPythonEnvCodeLocationOrigin(module, location)
            origin = RemoteRepositoryOrigin(place, repository)
            dagster_run = dagster_run._replace(
                remote_job_origin=RemoteJobOrigin(origin, dagster_run.job_name)
            )
        return super().add_run(dagster_run)


_LABEL: Final = next(iter(OF_LOCATION))


class BatchedStorage(DagsterSqliteStorage):
    """Dagster's storage in SQLite with the event log and the runs of this module."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        self._run_storage = RunsOfLocation.from_local(_runs_directory(base_dir))
        self._event_log_storage = BatchedEventLog(_event_logs_directory(base_dir))

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Any) -> BatchedStorage:
        """Make it as Dagster makes what `dagster.yaml` names."""
        return cls.from_local(inst_data=inst_data, **config_value)


def _engine(place: str, poolclass: type[Pool]) -> Engine:
    """Open a database as Dagster does; its log is used by one thread at a time."""
    options = {"timeout": _BUSY_SECONDS, "check_same_thread": False}
    engine = create_engine(place, poolclass=poolclass, connect_args=options)
    listen(engine, "connect", _flush_seldom)
    return engine


def _flush_seldom(connection: sqlite3.Connection, _: object) -> None:
    """Flush with a checkpoint, not with every transaction.

    A crash of the machine may lose the latest events, never the rest: what is there says the store.
    """
    connection.execute("PRAGMA synchronous = NORMAL")


def _is_of_asset(event: EventLogEntry) -> bool:
    return event.is_dagster_event and event.dagster_event_type in _IN_BATCHES


def _inserted(result: CursorResult[Any]) -> int:
    (number,) = result.inserted_primary_key or (0,)
    return int(number)


def _last_of_each(
    events: Iterable[tuple[EventLogEntry, int]],
) -> Iterable[tuple[EventLogEntry, int]]:
    """Return the last event of each asset and type, which is what its row in the index says."""
    last = {
        (event.get_dagster_event().asset_key, event.dagster_event_type): (event, number)
        for event, number in events
    }
    return sorted(last.values(), key=lambda pair: pair[1])
