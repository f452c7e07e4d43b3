"""The read-only catalogue: every asset as a SQL view of its own name.

`catalogue.duckdb` is for people with a SQL prompt. It holds views over the Parquet files and is
rebuilt whole, in a scratch folder, after every publish; nobody writes to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, TypeVar

import duckdb
from filelock import FileLock

from temporal_assets import contracts
from temporal_assets.engines.duckdb import create_view, settle
from temporal_assets.engines.sql import literal
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.store import DamagedPartition, Store

Answer = TypeVar("Answer")

CATALOGUE: Final = "catalogue.duckdb"


Published = Mapping[str, Sequence[Manifest] | str]
"""Of every asset, the days that are there, or why they cannot be read."""


def asked(
    store: Store,
    connect: Callable[[], AbstractContextManager[duckdb.DuckDBPyConnection]],
    ask: Callable[[duckdb.DuckDBPyConnection], Answer],
) -> Answer:
    """What `ask` gets from a fresh connection with a view for every asset.

    Where files that were removed meanwhile, or replaced twice, are missed, it asks again.
    """
    while True:
        seen = _published(store)
        try:
            with connect() as connection:
                fill(connection, store, seen)
                return ask(connection)
        except (duckdb.IOException, FileNotFoundError):
            if _published(store) == seen:
                raise


def fill(connection: duckdb.DuckDBPyConnection, store: Store, seen: Published) -> None:
    """Create a view for every asset; one without partitions is an empty view."""
    for name, found in seen.items():
        if isinstance(found, str):
            # The other tables can be asked, and who asks this one learns what to do.
            _without_files(connection, name, f"CAST(error({literal(found)}) AS BOOLEAN)")
        elif files := [path for manifest in found for path in store.paths(manifest)]:
            create_view(connection, name, files)
        else:
            _without_files(connection, name, "false")


def _published(store: Store) -> Published:
    return {name: _days(store, name) for name in sorted(table.name for table in contracts.TABLES)}


def _days(store: Store, name: str) -> Sequence[Manifest] | str:
    found: list[Manifest] = []
    while True:
        before = found
        try:
            found = [made for day in store.folders(name) if (made := store.manifest(name, day))]
            for manifest in found:
                store.verify_sizes(manifest)
        except DamagedPartition as error:
            if found == before:  # nothing was published or removed since it was looked at
                return str(error)
        else:
            return found


def _without_files(connection: duckdb.DuckDBPyConnection, name: str, condition: str) -> None:
    columns = ", ".join(
        f"CAST(NULL AS {c.sql_type}) AS {c.name}" for c in contracts.table(name).columns
    )
    connection.execute(f'CREATE VIEW "{name}" AS SELECT {columns} WHERE {condition}')


def refresh(store: Store) -> Path:
    """Rebuild `catalogue.duckdb` in the state folder and return its path."""
    target = store.state / CATALOGUE
    # Under a lock: of two rebuilds at once, the later must not be replaced by the earlier.
    with FileLock(store.state / "locks" / "catalogue.lock"), store.scratch() as scratch:
        building = scratch / CATALOGUE

        def connect() -> duckdb.DuckDBPyConnection:
            building.unlink(missing_ok=True)
            connection = duckdb.connect(str(building))
            settle(connection)
            return connection

        asked(store, connect, lambda _: None)
        building.replace(target)
    return target
