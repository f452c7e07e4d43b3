"""Links given as a table: CSV (also gzip) or Parquet with a source and a target each.

Columns are found by name (`source`, `from` or `referrer`; `target` or `to`; `nofollow`), else they
are the first two of the others. A CSV file whose first line holds two URLs has no header.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets.crawl.mirror.mirror import MirrorBuilder
from temporal_assets.logs.read.streams import LogStream, open_stream
from temporal_assets.logs.tables.parquet_batches import batches
from temporal_assets.logs.tables.parquet_pages import PageError
from temporal_assets.settings import Reading

_SOURCE: Final = ("source", "from", "referrer", "src")
_TARGET: Final = ("target", "to", "dst")
_NOFOLLOW: Final = "nofollow"
LONGEST_URL: Final = 65_536
"""Most bytes of a URL that are read; more is no page."""

_MOST_LINES: Final = 10_000
"""Most lines of one row."""

TRUE: Final = frozenset(("1", "true", "yes"))
"""Values that mean True in a column `nofollow`."""

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
    except (csv.Error, pa.ArrowInvalid, PageError) as error:
        # Nothing behind this place can be told apart from noise.
        builder.counts["broken"] += 1
        builder.cut.append(f"{path}: damaged after row {read:,}, and read up to there: {error}")


class BadLinks(ValueError):
    """Error: a file is no table of links; the message says why."""

    path: Path | None = None
    """The file, where others were read with it."""


def link_columns(file: pq.ParquetFile) -> tuple[int, int, int | None]:
    """Return the indices of source, target and nofollow among the columns of a Parquet file."""
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
    """Yield (source, target, nofollow) of each row of a Parquet file."""
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        chosen = [None if i is None else names[i] for i in link_columns(file)]
    wanted = [name for name in chosen if name is not None]
    for batch in batches(path, wanted, LONGEST_URL):
        columns = [
            [None] * len(batch)
            if name is None
            else batch.column(name).cast(pa.string()).to_pylist()
            for name in chosen
        ]
        for row in zip(*columns, strict=True):
            yield row[0], row[1], str(row[2]).lower() in TRUE


def _csv(path: Path) -> Iterator[Row]:
    """Yield (source, target, nofollow) of each line of a CSV file."""
    with open_stream(path, Reading()) as stream:
        if _ends(path, ".gz") and not stream.is_packed:
            raise csv.Error("it is no gzip file")
        rows = _rows(stream, "\t" if _ends(path, ".tsv", ".tsv.gz") else ",")
        head = next(filter(None, rows), None)
        if head is not None:
            if "://" in head[0]:
                source, target, nofollow = 0, 1, None
                yield _row(head, source, target, nofollow)
            else:
                source, target, nofollow = places(head)
            for row in rows:
                yield _row(row, source, target, nofollow)
    if stream.problem:
        raise csv.Error(stream.problem)


def _rows(stream: LogStream, delimiter: str) -> Iterator[list[str]]:
    """Yield rows of CSV. Raises `csv.Error` for one that does not end, as an odd quote makes."""
    row_lines = 0

    def lines() -> Iterator[str]:
        """Yield lines of text, and refuse a row that does not end."""
        nonlocal row_lines
        for block in stream:
            # Split at newlines alone: a URL may hold other characters that end lines.
            pieces = block.data.tobytes().decode("utf-8", "replace").split("\n")
            for line in pieces if pieces[-1] else pieces[:-1]:
                if (row_lines := row_lines + 1) > _MOST_LINES:
                    raise csv.Error(f"a row of more than {_MOST_LINES:,} lines")
                yield f"{line}\n"

    for row in csv.reader(lines(), delimiter=delimiter):
        row_lines = 0
        yield row


def _ends(path: Path, *ends: str) -> bool:
    """Return True if a name has one of the endings, in any case."""
    return path.name.lower().endswith(ends)


def _row(row: Sequence[str], source: int, target: int, nofollow: int | None) -> Row:
    if len(row) <= max(source, target):
        return None, None, False
    flag = nofollow is not None and nofollow < len(row) and row[nofollow].lower() in TRUE
    return row[source], row[target], flag


def places(names: Sequence[str]) -> tuple[int, int, int | None]:
    """Return the indices of the columns source, target and nofollow.

    Raises `BadLinks` if source or target is missing.
    """
    lower = [name.strip().lower() for name in names]
    source, target, nofollow = (
        next((lower.index(name) for name in spellings if name in lower), None)
        for spellings in (_SOURCE, _TARGET, (_NOFOLLOW,))
    )
    # Of two at least: the first line may be a title, and have fewer than those below.
    columns = range(max(2, len(lower)))
    others = (i for i in columns if i not in (source, target, nofollow))
    source = next(others, None) if source is None else source
    target = next(others, None) if target is None else target
    if source is None or target is None:
        raise _no_links(names)
    return source, target, nofollow
