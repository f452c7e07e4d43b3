"""Parquet files between Spark and the rest: what they hold, in which order, and where they go.

Here: types, paths and positions of rows. Not here: the session, and what is done with the rows.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets.contracts import Table
from temporal_assets.contracts.table import Type
from temporal_assets.engines.base import EngineError
from temporal_assets.machine.filesystems import filesystem, filesystem_of

POSITION: Final = "position_in_input"
"""Column with the place of a row among all rows of its input, counted from 0."""

_SCHEMES: Final = {"s3": "s3a"}
"""Hadoop's names of storages, by ours."""

_SQL_TYPES: Final = {
    Type.TIMESTAMP: "TIMESTAMP_NTZ",
    Type.INTEGERS: "ARRAY<INT>",
    Type.BIGINTS: "ARRAY<BIGINT>",
    Type.VARCHARS: "ARRAY<STRING>",
    Type.LINKS: "ARRAY<STRUCT<page: INT, transits: BIGINT>>",
}
"""Types whose name in Spark differs from the contract's."""

_ARROW_TYPES: Final = (
    (pa.types.is_boolean, "BOOLEAN"),
    (pa.types.is_int8, "TINYINT"),
    (pa.types.is_int16, "SMALLINT"),
    (pa.types.is_int32, "INT"),
    (pa.types.is_int64, "BIGINT"),
    (pa.types.is_float32, "FLOAT"),
    (pa.types.is_float64, "DOUBLE"),
    (pa.types.is_date32, "DATE"),
    (pa.types.is_string, "STRING"),
    (pa.types.is_large_string, "STRING"),
    (pa.types.is_null, "STRING"),  # of a table without rows, whose writer had nothing to go by
)


def bytes_of(paths: Sequence[str]) -> int:
    """Return the total bytes of some files."""
    local = sum(Path(path).stat().st_size for path in paths if "://" not in path)
    urls = [path for path in paths if "://" in path]
    # A storage is asked for all its files at once.
    return local + sum(
        sum(filesystem(protocol).sizes([url for url in urls if _protocol(url) == protocol]))
        for protocol in sorted({_protocol(url) for url in urls})
    )


def read(session: Any, name: str, paths: Sequence[str]) -> Any:
    """Return the rows of some files, in no order, with the types of the first."""
    if not paths:
        raise ValueError(f"no files for input {name}: publish an empty partition instead")
    schema = _footer(paths[0]).schema_arrow
    columns = ", ".join(f"`{field.name}` {_type_of(field)}" for field in schema)
    return session.read.schema(columns).parquet(*(_escaped_glob(path) for path in paths))


def read_in_order(session: Any, name: str, paths: Sequence[str]) -> tuple[Any, int]:
    """Return the rows with their `POSITION`, and how many they are."""
    from pyspark.sql import functions as sf

    rows = read(session, name, paths)
    counts = [_footer(path).metadata.num_rows for path in paths]
    starts = list(accumulate(counts, initial=0))
    # Spark escapes paths as in URLs, but leaves `+`, which `url_decode` would take for a space.
    file = sf.regexp_replace(
        sf.url_decode(sf.regexp_replace(sf.col("_metadata.file_path"), r"\+", "%2B")),
        "^file:/+",
        "/",
    )
    # A map is one value; a condition for each file would be a plan as long as the list.
    named = {_plain_path(path): start for path, start in zip(paths, starts, strict=False)}
    order_of_file = sf.create_map(*(sf.lit(item) for pair in named.items() for item in pair))
    place = sf.element_at(order_of_file, file) + sf.col("_metadata.row_index")
    return rows.select("*", place.alias(POSITION)), starts[-1]


def with_urls(rows: Any, named: Any) -> Any:
    """Return the rows with URLs from `named` instead of the numbers in `url`."""
    urls = named.select("number", named["url"].alias("named_url"))
    joined = rows.join(urls, rows["url"] == urls["number"]).drop("url", "number")
    return joined.withColumnRenamed("named_url", "url").select(*rows.columns)


def write(rows: Any, table: Table, out: Path) -> list[Path]:
    """Write rows in their order as the contract wants them; files are in order, too.

    Spark's committer shows the files of a folder when all tasks are done. The files then move into
    `out`, a folder that is not published yet.
    """
    columns = [
        _optional(rows[column.name], sql_type(column.type)).alias(column.name)
        for column in table.columns
    ]
    folder = out / f"{table.name}.{uuid4().hex}"
    rows.select(*columns).write.option("compression", "zstd").parquet(_with_scheme(str(folder)))
    parts = sorted(folder.glob("part-*.parquet")) if folder.is_dir() else []
    if not parts:
        raise EngineError(unseen(table.name, folder))
    filled = [part for part in parts if pq.read_metadata(part).num_rows]
    written = []
    for number, part in enumerate(filled or parts[:1]):
        written.append(part.rename(out / f"{table.name}-{number:05}.parquet"))
    shutil.rmtree(folder)
    return written


def unseen(table: str, folder: Path) -> str:
    """Return the message for files that executors wrote and this machine does not find."""
    return (
        f"the executors wrote {table}, and it is not in {folder}: the state folder must "
        "lie on a file system that this machine and all executors share (docs/spark.md)"
    )


def _optional(column: Any, kind: str) -> Any:
    """Return a column that the planner takes for nullable, including elements of lists.

    For a column that the planner knows to be never NULL, Spark writes another type of Parquet
    column, so that files would depend on the query and not on the contract alone. The planner
    cannot know that numbers of rows are never negative.
    """
    from pyspark.sql import functions as sf

    is_never = sf.monotonically_increasing_id() < 0
    return sf.when(is_never, sf.lit(None).cast(kind)).otherwise(column.cast(kind))


def ddl(table: Table) -> str:
    """Return the columns of a table as Spark declares them."""
    return ", ".join(f"`{column.name}` {sql_type(column.type)}" for column in table.columns)


def sql_type(kind: Type) -> str:
    """Return Spark's name of a type."""
    return _SQL_TYPES.get(kind, kind.value).replace("VARCHAR", "STRING")


def _type_of(field: pa.Field) -> str:
    """Return the name that Spark has for an Arrow type."""
    kind = field.type
    if pa.types.is_dictionary(kind):
        return _type_of(field.with_type(kind.value_type))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"ARRAY<{_type_of(kind.value_field)}>"
    if pa.types.is_struct(kind):
        return f"STRUCT<{', '.join(f'`{member.name}`: {_type_of(member)}' for member in kind)}>"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz else "TIMESTAMP_NTZ"
    for is_kind, name in _ARROW_TYPES:
        if is_kind(kind):
            return name
    raise EngineError(f"column {field.name} is a {kind}, which is no type of our tables")


def _footer(path: str) -> pq.ParquetFile:
    fs, name = filesystem_of(path)
    with fs.open(name, "rb") as file:
        return pq.ParquetFile(file)


def _plain_path(path: str) -> str:
    """Return a path as `_metadata.file_path` has it, unescaped and without a local scheme."""
    return str(Path(path).absolute()) if "://" not in path else _with_scheme(path)


def _escaped_glob(path: str) -> str:
    """Return a glob that matches this path alone: Hadoop takes `[a]` or `*` in paths as globs."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", _with_scheme(path))


def _protocol(url: str) -> str:
    return url.split("://", 1)[0]


def _with_scheme(path: str) -> str:
    if "://" not in path:
        return f"file://{Path(path).absolute()}"
    scheme, rest = path.split("://", 1)
    return f"{_SCHEMES.get(scheme, scheme)}://{rest}"
