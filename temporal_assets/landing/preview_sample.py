"""A sample of a source: the first records of a few of its files, parsed as whole logs are.

In: a source of the settings. Out: `Sample`, and the order of dates like 5/1/2026 if files show it.
Nothing is written or kept. Not here: what is shown of the sample (`preview`, `preview_lines`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from temporal_assets.logs.detect.resolve import resolve
from temporal_assets.logs.formats import directives, parsing
from temporal_assets.logs.formats.format import Format, Syntax
from temporal_assets.logs.read import slash_dates
from temporal_assets.logs.read.objects import LogPath
from temporal_assets.logs.read.paths import expand
from temporal_assets.logs.read.records import Block, Column, Records
from temporal_assets.logs.read.streams import HEAD_BYTES, open_stream
from temporal_assets.logs.tables import parquet
from temporal_assets.settings import LogSource, Reading, Settings

_LINES: Final = 2_000
"""Lines of a file that are read for a preview; the head of a stream holds some hundreds."""

_FILES: Final = 40
"""Files that are read, evenly spread: those of one folder may be of several sites."""

_WITH_DATES: Final = ("auto", "csv", "tsv")
"""Formats in which dates may be written as spreadsheets do."""

_TABLE_NAME: Final = re.compile(r"\.(csv|tsv)(\.\w+)?$", re.IGNORECASE)
"""End of the name of a table, packed or not."""


def with_order_of_dates(source: LogSource) -> LogSource:
    """Return the source with the order of dates like 5/1/2026, if its files show it.

    First the beginnings of its files are read, then all of them: where one file ends on May 12,
    another that begins on the 13th shows the order of both. In an object store only files named as
    tables are read, because each costs a request.
    """
    if source.dates is not None or source.format not in _WITH_DATES:
        return source
    paths = [
        path
        for path in spread_files(expand(source.path))
        if isinstance(path, Path) or _TABLE_NAME.search(path.name)
    ]
    for most_blocks in (1, None):
        for path in paths:
            order, has_dates = _order_in(path, most_blocks)
            if order is not None:
                return source.model_copy(update={"dates": order})
            if not has_dates and most_blocks == 1:
                return source  # A log of a server has none, and its other files need no look.
    return source


def _order_in(path: LogPath, most_blocks: int | None) -> tuple[str | None, bool]:
    """Return the order of dates in the first blocks of a file, and whether it has such dates."""
    has_dates = False
    # Whatever is wrong with a file is reported by the preview, which opens it next.
    with suppress(Exception), open_stream(path, Reading()) as stream:
        for block in islice(stream, most_blocks):
            order, block_has_dates = slash_dates.order_of(block.data.tobytes())
            has_dates |= block_has_dates
            if order is not None:
                return order, True
    return None, has_dates


def spread_files(files: Sequence[LogPath]) -> list[LogPath]:
    """Return the last file, usually the newest, and others evenly spread."""
    places = np.linspace(len(files) - 1, 0, min(_FILES, len(files))).astype(int)
    return [files[place] for place in dict.fromkeys(places.tolist())]


@dataclass(frozen=True, slots=True)
class Sample:
    """The first records of a file, with the format they were read in."""

    fmt: Format
    records: Records
    sites: frozenset[str]
    """Names by which a server calls its sites, if no line names the host."""


def read_sample(path: LogPath, source: LogSource, settings: Settings) -> Sample | None:
    """Return the first records of a file; None if it is empty."""
    reading = settings.reading
    with open_stream(path, reading) as stream:
        head = stream.head
        if not head.strip():
            return None
        fmt = resolve(source, head, path.name)
    if fmt.syntax is Syntax.PARQUET:
        records = _first_rows(path, source, reading, fmt.moment)
        return None if records is None else Sample(fmt, _rows(records, _LINES), frozenset())
    is_all = len(head) < HEAD_BYTES
    block = Block(np.frombuffer(head if is_all else _whole_lines(head), np.uint8), 1, last=True)
    records = parsing.parse(block, fmt, source, reading)
    sites = directives.sites_of(head) if fmt.syntax is Syntax.DIRECTIVES else frozenset()
    return Sample(fmt, _rows(records, _LINES), sites) if len(records) else None


def _first_rows(
    path: LogPath, source: LogSource, reading: Reading, moment: int | None
) -> Records | None:
    """Return the first rows of a Parquet file; an object is downloaded for them."""
    if isinstance(path, Path):
        return next(parquet.read(path, source, reading, moment), None)
    with TemporaryDirectory() as folder:
        path.fetch(copy := Path(folder, path.name))
        return next(parquet.read(copy, source, reading, moment), None)


def _whole_lines(head: bytes) -> bytes:
    """Return the beginning of a file without a last, cut line, unless that is the only one."""
    end = head.rfind(b"\n")
    return head[: end + 1] if end > 0 else head


def _rows(records: Records, most: int) -> Records:
    """Return the first `most` records."""
    if len(records) <= most:
        return records

    def cut(column: Column | None) -> Column | None:
        return column and Column(column.data, column.start[:most], column.stop[:most])

    first = {
        name: cut(getattr(records, name))
        for name in ("text", "method", "target", "host", "scheme", "referrer", "agent", "address")
    }
    arrays = {name: getattr(records, name)[:most] for name in ("line", "reason", "time", "status")}
    counts = records.counts and records.counts.take(np.arange(most))
    is_page = None if records.is_page is None else records.is_page[:most]
    return replace(records, **first, **arrays, counts=counts, is_page=is_page)  # type: ignore[arg-type]
