"""Running a function over batches of rows or days: in threads, in order, with bounded memory.

Here: what every engine that has Arrow batches in its own process needs. Not here: where batches
come from and how a result is written (the engine), and what a kernel computes (`core`).
"""

from __future__ import annotations

import datetime as dt
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from temporal_assets.engines.base import Item, Result

_DICTIONARY_BYTES: Final = 64 << 10
"""Size up to which dictionaries are built: repeated values fit, and none is built in vain for
URLs."""

_READ_ROWS: Final = 30_720
"""Rows that one thread of an engine reads at a time, so that there are some for each."""


SMALL_ROWS: Final = 120_000
"""Rows of a day from which on an engine's own threads share its statements; fewer are one unit of
their work."""

_MOST_ROWS: Final = 4 * SMALL_ROWS
"""Most rows of small days that are made together."""

_MOST_DAYS: Final = 128
"""Most days that are made together: their progress is only seen when all are done."""


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """Yield the function's results in the order of the items; few are in memory at a time.

    With one thread, the next result is made while its caller works on the last. A single item is
    worked on here: a thread takes longer to start than a small table to read. Items that nobody
    waits for any more, after an error or an interruption, are not begun.
    """
    if isinstance(items, Sized) and len(items) == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        pending: deque[Future[Result]] = deque()
        try:
            for item in items:
                pending.append(pool.submit(function, item))
                if len(pending) > threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for next_item in pending:
                next_item.cancel()


def small_batches(
    days: Iterable[dt.date], rows: Callable[[dt.date], int]
) -> Iterator[list[dt.date]]:
    """Yield the days in order: several small ones together, each large one alone.

    What a small day costs is mostly what surrounds it. Of a large one the engine's threads share
    the work, and two of them want twice the memory.
    """
    batch, together = list[dt.date](), 0
    for day in days:
        try:
            own = rows(day)
        except Exception:  # it is for who makes it to say of this day, and of no other, what it is
            own = 0
        is_full = together + own > _MOST_ROWS or len(batch) == _MOST_DAYS
        if batch and (is_full or own > SMALL_ROWS):
            yield batch
            batch, together = [], 0
        batch.append(day)
        together += _MOST_ROWS if own > SMALL_ROWS else own
    if batch:
        yield batch


def in_bytes(sizes: NDArray[np.integer[Any]], most: int) -> Iterator[tuple[int, int]]:
    """Yield bounds of consecutive parts of rows, none much larger than `most` bytes."""
    filled = np.cumsum(sizes, dtype=np.int64) // most
    return pairwise([0, *np.flatnonzero(np.diff(filled)) + 1, len(sizes)])


def handed_on(rows: pa.Table, path: Path) -> list[str]:
    """Write rows for an engine to read; return the files."""
    # Not as LZ4: Spark fails where it looks for a value among those of a dictionary.
    spill(rows.to_batches(), rows.schema, path, _READ_ROWS, "snappy")
    return [str(path)]


def spill(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    path: Path,
    group_rows: int,
    compression: str = "lz4",
) -> None:
    """Write batches to a Parquet file in row groups of `group_rows`."""
    with pq.ParquetWriter(
        path,
        schema,
        compression=compression,
        dictionary_pagesize_limit=_DICTIONARY_BYTES,
        write_statistics=False,
    ) as writer:
        for group in even(batches, schema, group_rows):
            writer.write_table(group, row_group_size=group_rows)


def write_empty(schema: pa.Schema, path: Path, compression: str = "snappy") -> Path:
    """Write a Parquet file without rows, and return its path; small days need several each."""
    path.write_bytes(_without_rows(schema, compression))
    return path


@cache
def _without_rows(schema: pa.Schema, compression: str) -> bytes:
    file = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), file, compression=compression, store_schema=False)
    written: bytes = file.getvalue().to_pybytes()
    return written


def even(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, group_rows: int
) -> Iterator[pa.Table]:
    """Yield the same rows in tables of `group_rows`, the last with the rest."""
    waiting, rows = list[pa.RecordBatch](), 0
    for batch in batches:
        # Joined once a group: thousands of small batches are not joined with each other.
        waiting.append(batch)
        rows += len(batch)
        if rows >= group_rows:
            table = pa.Table.from_batches(waiting, schema)
            rows %= group_rows
            whole = len(table) - rows
            for start in range(0, whole, group_rows):
                yield table.slice(start, group_rows)
            waiting = table.slice(whole).to_batches()
    yield pa.Table.from_batches(waiting, schema)
