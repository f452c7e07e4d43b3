"""The read-only catalogue: every asset as a SQL view of its own name.

`catalogue.duckdb` is for people with a SQL prompt. It holds views over the Parquet files and is
rebuilt whole, in a scratch folder, after every publish; nobody writes to it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import duckdb
from filelock import FileLock

from temporal_assets import contracts
from temporal_assets.engines.duckdb import create_view, settle
from temporal_assets.engines.sql import literal
from temporal_assets.storage.store import DamagedPartition, Store

CATALOGUE: Final = "catalogue.duckdb"


def fill(connection: duckdb.DuckDBPyConnection, store: Store) -> list[str]:
    """Create a view for every asset; one without partitions is an empty view. Returns names."""
    names = sorted(table.name for table in contracts.TABLES)
    for name in names:
        try:
            manifests = [store.require(name, day) for day in store.days(name)]
            for manifest in manifests:
                store.verify_sizes(manifest)
        except DamagedPartition as error:
            # The other tables can be asked, and who asks this one learns what to do.
            _without_files(connection, name, f"CAST(error({literal(str(error))}) AS BOOLEAN)")
            continue
        if files := [path for manifest in manifests for path in store.paths(manifest)]:
            create_view(connection, name, files)
        else:
            _without_files(connection, name, "false")
    return names


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
        with duckdb.connect(str(building)) as connection:
            settle(connection)
            fill(connection, store)
        building.replace(target)
    return target
