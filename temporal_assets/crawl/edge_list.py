"""Links given as a table: CSV (also gzip) or Parquet with a source and a target each.

Columns are found by name (`source`, `from` or `referrer`; `target` or `to`; `nofollow`), else they
are the first two. A CSV file whose first line holds two URLs has no header.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets.crawl.mirror import MirrorBuilder

_SOURCE: Final = ("source", "from", "referrer", "src")
_TARGET: Final = ("target", "to", "dst")
_NOFOLLOW: Final = "nofollow"
_ROWS: Final = 100_000
TRUE: Final = frozenset(("1", "true", "yes"))
"""What stands for yes in a column `nofollow`."""

Row = tuple[str | None, str | None, bool]


def read_edges(path: Path, builder: MirrorBuilder) -> None:
    """Add the links of a file. Rows without two URLs are counted and skipped.

    Raises `BadLinks` where there are no two columns.
    """
    rows = _parquet(path) if path.suffix == ".parquet" else _csv(path)
    read = 0
    try:
        for source, target, nofollow in rows:
            if source and target:
                builder.link(source, target, nofollow=nofollow)
            else:
                builder.counts["broken"] += 1
            read += 1
    except (csv.Error, EOFError, zlib.error, gzip.BadGzipFile, pa.ArrowInvalid) as error:
        # Nothing behind this place can be told apart from noise.
        builder.counts["broken"] += 1
        builder.cut.append(f"{path}: damaged after row {read:,}, and read up to there: {error}")


class BadLinks(ValueError):
    """A file is no table of links; the message says why."""


def link_columns(file: pq.ParquetFile) -> tuple[int, int, int | None]:
    """As `places`, of a Parquet file."""
    names = file.schema_arrow.names
    if len(names) < 2:
        raise BadLinks(
            "a table of links has a source and a target, and this one has one column"
            f" ({', '.join(names)})"
        )
    return places(names)


def _parquet(path: Path) -> Iterator[Row]:
    file = pq.ParquetFile(path)
    source, target, nofollow = link_columns(file)
    for batch in file.iter_batches(_ROWS):
        columns = [
            batch.column(i).cast(pa.string()).to_pylist() if i is not None else [None] * len(batch)
            for i in (source, target, nofollow)
        ]
        for row in zip(*columns, strict=True):
            yield row[0], row[1], str(row[2]).lower() in TRUE


def _csv(path: Path) -> Iterator[Row]:
    with _opened(path) as file:
        rows = csv.reader(file, delimiter="\t" if ".tsv" in path.suffixes else ",")
        head = next(filter(None, rows), None)
        if head is None:
            return
        if "://" in head[0]:
            source, target, nofollow = 0, 1, None
            yield _row(head, source, target, nofollow)
        else:
            source, target, nofollow = places(head)
        for row in rows:
            yield _row(row, source, target, nofollow)


def _opened(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="")
    return path.open(encoding="utf-8", errors="replace", newline="")


def _row(row: Sequence[str], source: int, target: int, nofollow: int | None) -> Row:
    if len(row) <= max(source, target):
        return None, None, False
    flag = nofollow is not None and nofollow < len(row) and row[nofollow].lower() in TRUE
    return row[source], row[target], flag


def places(names: Sequence[str]) -> tuple[int, int, int | None]:
    """Which columns are source, target and nofollow."""
    lower = [name.strip().lower() for name in names]
    source = next((lower.index(name) for name in _SOURCE if name in lower), 0)
    target = next((lower.index(name) for name in _TARGET if name in lower), 1)
    return source, target, lower.index(_NOFOLLOW) if _NOFOLLOW in lower else None
