"""Links given as a table: CSV (also gzip) or Parquet with a source and a target each.

Columns are found by name (`source`, `from` or `referrer`; `target` or `to`; `nofollow`), else they
are the first two of the others. A CSV file whose first line holds two URLs has no header.
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
    rows = _parquet(path) if _ends(path, ".parquet") else _csv(path)
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
        raise _no_links(names)
    return places(names)


def _no_links(names: Sequence[str]) -> BadLinks:
    count = "one column" if len(names) == 1 else f"{len(names)} columns"
    return BadLinks(
        f"a table of links has a source and a target, and this one has {count} ({', '.join(names)})"
    )


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
        rows = csv.reader(file, delimiter="\t" if _ends(path, ".tsv", ".tsv.gz") else ",")
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


def _ends(path: Path, *ends: str) -> bool:
    """Whether a name ends so, in any case: as `sources` tells files apart."""
    return path.name.lower().endswith(ends)


def _opened(path: Path) -> IO[str]:
    # Spreadsheets begin what they export with a byte order mark.
    if _ends(path, ".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="")
    return path.open(encoding="utf-8-sig", errors="replace", newline="")


def _row(row: Sequence[str], source: int, target: int, nofollow: int | None) -> Row:
    if len(row) <= max(source, target):
        return None, None, False
    flag = nofollow is not None and nofollow < len(row) and row[nofollow].lower() in TRUE
    return row[source], row[target], flag


def places(names: Sequence[str]) -> tuple[int, int, int | None]:
    """Which columns are source, target and nofollow; raises `BadLinks` where an end has none."""
    lower = [name.strip().lower() for name in names]
    source, target, nofollow = (
        next((lower.index(name) for name in known if name in lower), None)
        for known in (_SOURCE, _TARGET, (_NOFOLLOW,))
    )
    # Of two at least: the first line may be a title, and have fewer than those below.
    columns = range(max(2, len(lower)))
    others = (i for i in columns if i not in (source, target, nofollow))
    source = next(others, None) if source is None else source
    target = next(others, None) if target is None else target
    if source is None or target is None:
        raise _no_links(names)
    return source, target, nofollow
