"""The catalogue, a read-only DuckDB database: a SQL view for every asset, named after it.

`catalogue.duckdb` is for people with a SQL prompt. Its views are over the Parquet files and it is
rebuilt whole, in a scratch folder, after every publication; nobody writes to it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, TypeVar

import duckdb
from filelock import FileLock

from temporal_assets import contracts
from temporal_assets.engines.duckdb import create_view, opened, scan
from temporal_assets.engines.sql import literal
from temporal_assets.machine.durable import replace_text
from temporal_assets.storage.integrity import digest_of_file
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.partition_errors import DAMAGED, DamagedPartition
from temporal_assets.storage.sealed import digest_of, is_as_written, sealed, unsealed
from temporal_assets.storage.store import Store

Answer = TypeVar("Answer")

CATALOGUE: Final = "catalogue.duckdb"
"""Name of the file in the state folder."""

_RECORD: Final = "catalogue.json"
"""Name of the file with the catalogue's digest and what was published when it was written."""


Published = Mapping[str, Sequence[Manifest] | str]
"""Published days of every asset, or the reason why they cannot be read."""


def asked(
    store: Store,
    connect: Callable[[], AbstractContextManager[duckdb.DuckDBPyConnection]],
    ask: Callable[[duckdb.DuckDBPyConnection], Answer],
    verified: Collection[str] = (),
) -> Answer:
    """Return the result of `ask` on a new connection that has a view for every asset.

    The files of the assets `verified` are compared with the digests they were published under, once
    a process. Raises `DamagedPartition` where one differs. If files were removed or replaced
    meanwhile, it starts again.
    """
    while True:
        seen = _published(store)
        try:
            for name in verified:
                if isinstance(published := seen[name], str):
                    raise DamagedPartition(published)
                store.verify_all(published)
            with connect() as connection:
                fill(connection, store, seen)
                return ask(connection)
        except (duckdb.IOException, FileNotFoundError, DamagedPartition):
            if _published(store) == seen:
                raise


def named(sql: str) -> list[str]:
    """Return the assets that a statement may read: those whose names are among its words."""
    words = set(re.findall(r"[a-z_]+", sql.lower()))
    if contracts.COUNTS.name in words:  # their files are beside those of `requests`
        words.add(contracts.REQUESTS.name)
    return [table.name for table in contracts.TABLES if table.name in words]


def fill(connection: duckdb.DuckDBPyConnection, store: Store, seen: Published) -> None:
    """Create a view for every asset; empty for one without partitions."""
    for name, published in seen.items():
        if isinstance(published, str):
            # The other tables can be asked, and who asks this one learns what to do.
            _without_files(connection, name, f"CAST(error({literal(published)}) AS BOOLEAN)")
        elif files := [path for manifest in published for path in store.paths(manifest)]:
            urls = [path for manifest in published for path in store.paths_beside(manifest)]
            _with_files(connection, store, name, files, urls)
        else:
            _without_files(connection, name, "false")
    _with_counts(connection, store, seen[contracts.REQUESTS.name])


def _with_counts(
    connection: duckdb.DuckDBPyConnection, store: Store, published: Sequence[Manifest] | str
) -> None:
    """Create the view of counts without clients, whose files are beside those of `requests`."""
    name, days = contracts.COUNTS.name, () if isinstance(published, str) else published
    files = [path for manifest in days for path in store.paths_of_counts(manifest)]
    if files:
        _with_files(connection, store, name, files, ())
    else:
        _without_files(connection, name, "false")


def _with_files(
    connection: duckdb.DuckDBPyConnection,
    store: Store,
    name: str,
    files: Sequence[str],
    urls: Sequence[str],
) -> None:
    """Create a view over files; if one cannot be opened, its view raises the error instead."""
    try:
        if urls:
            _with_urls(connection, name, files, urls)
        else:
            create_view(connection, name, files)
    except duckdb.Error as error:
        if not all(map(store.fs.exists, files)):
            raise  # removed or replaced meanwhile: who asks looks again
        why = str(error).partition("\n")[0]
        message = f"{name} {DAMAGED}, by `temporal-assets materialize {name} --day DAY` ({why})"
        _without_files(connection, name, f"CAST(error({literal(message)}) AS BOOLEAN)")


def _with_urls(
    connection: duckdb.DuckDBPyConnection, name: str, files: Sequence[str], urls: Sequence[str]
) -> None:
    """Create a view that shows URLs in place of the numbers in its files."""
    table = contracts.table(name)
    shown = ", ".join(
        f"{c.name}.url AS {c.name}" if c.number else f"stored.{c.name}" for c in table.columns
    )
    rows, named = scan(connection, files), scan(connection, urls)
    named = f"(SELECT day, {_id('day', 'number')} AS id, url FROM {named})"  # noqa: S608 - the same
    # By the day as well: who asks for one reads the URLs of no other.
    joins = " ".join(
        f"LEFT JOIN {named} AS {c}"
        f" ON {c}.day = stored.day AND {c}.id = {_id('stored.day', f'stored.{c}')}"
        for c in table.numbered
    )
    query = f"SELECT {shown} FROM {rows} AS stored {joins}"  # noqa: S608 - names of the contracts, and paths as literals
    connection.execute(f'CREATE VIEW "{name}" AS {query}')


def _id(day: str, number: str) -> str:
    """Return SQL of day and number as one integer, so that no join is by days alone."""
    return f"date_diff('day', DATE '1970-01-01', {day}) * 4294967296 + {number}"


def _published(store: Store) -> Published:
    return {name: _days(store, name) for name in sorted(table.name for table in contracts.TABLES)}


def _days(store: Store, name: str) -> Sequence[Manifest] | str:
    """Return the manifests of a table's days, or the damage that keeps them from being read."""
    manifests: list[Manifest] = []
    while True:
        before = manifests
        try:
            manifests = [
                of_day for day in store.folders(name) if (of_day := store.manifest(name, day))
            ]
            for manifest in manifests:
                store.verify_sizes(manifest)
        except DamagedPartition as error:
            if manifests == before:  # nothing was published or removed since it was looked at
                return str(error)
        else:
            return manifests


def _without_files(connection: duckdb.DuckDBPyConnection, name: str, condition: str) -> None:
    columns = ", ".join(f"CAST(NULL AS {c.sql_type}) AS {c.name}" for c in _table(name).columns)
    # SQL: names are of the contracts, the condition is `false` or a literal.
    connection.execute(f'CREATE VIEW "{name}" AS SELECT {columns} WHERE {condition}')


def _table(name: str) -> contracts.Table:
    return contracts.COUNTS if name == contracts.COUNTS.name else contracts.table(name)


def refresh(store: Store) -> Path:
    """Rebuild `catalogue.duckdb` in the state folder and return its path."""
    target = store.state / CATALOGUE
    # Under a lock: of two rebuilds at once, the later must not be replaced by the earlier.
    with FileLock(store.state / "locks" / "catalogue.lock"), store.scratch() as scratch:
        building = scratch / CATALOGUE

        def connect() -> AbstractContextManager[duckdb.DuckDBPyConnection]:
            building.unlink(missing_ok=True)
            return opened(str(building))

        published = _identity(store)
        asked(store, connect, lambda _: None)
        record = {
            "digest": digest_of_file(building),
            "published": published,
            "root": str(store.root),
        }
        building.replace(target)
        replace_text(store.state / _RECORD, sealed(record), scratch)
    return target


def follow(store: Store) -> None:
    """Rebuild the catalogue of a state folder that was copied or moved: views have full paths."""
    if (store.state / CATALOGUE).exists() and _record(store).get("root") != str(store.root):
        with contextlib.suppress(OSError):  # of somebody who may only look
            refresh(store)


def is_moved(store: Store) -> bool:
    """Return True if the catalogue's state folder was copied or moved; queries then rebuild it."""
    return bool(_record(store).get("root", str(store.root)) != str(store.root))


def is_current(store: Store) -> bool:
    """Return True if the catalogue is undamaged and shows what is published now."""
    record = _record(store)
    return record.get("published") == _identity(store) and not faults(store)


def faults(store: Store) -> list[Path]:
    """Return what of the catalogue and its record is damaged."""
    target, record = store.state / CATALOGUE, store.state / _RECORD
    if not record.exists():
        return []
    if not is_as_written(record.read_bytes()):
        return [record]
    is_whole = target.is_file() and _record(store).get("digest") == digest_of_file(target)
    return [] if is_whole else [target]


def _record(store: Store) -> dict[str, Any]:
    try:
        return unsealed((store.state / _RECORD).read_bytes())
    except (FileNotFoundError, ValueError):
        return {}


def _identity(store: Store) -> str:
    """Return a text that changes with the files under the views."""
    return digest_of(
        {
            name: published
            if isinstance(published, str)
            else [store.paths(manifest) + store.paths_beside(manifest) for manifest in published]
            for name, published in _published(store).items()
        }
    )
