"""Running a kernel over groups of rows, each group whole: a site with all its pages.

Here: cutting a stream of rows into groups, handing groups to processes, and taking the results in
the order of the groups. Not here: the processes (`group_process`), where rows come from and how a
result is written (the engine), and what a kernel computes.

Groups go through files of Arrow rows, so that this process holds a batch at a time however large a
group is, and a process holds one group. A file is a parcel: one large group, or several small
ones, because a file and a word to a process cost more than what is done with a dozen rows. What
Spark does with `applyInArrow`, without Spark.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.engines.base import GroupKernel, GroupLimits, LostGroup
from temporal_assets.engines.group_process import GroupProcess, Outcome, Parcel, run_here

_PARCEL_ROWS: Final = 2_000
"""A parcel with so many rows is full: some ten small sites, a fraction of a second."""

_WAITING: Final = 64
"""Parcels that may be done or under way while an earlier one is not: a large site keeps no
process from the next ones. Each is a file and a small result."""

_ROWS_A_PROCESS: Final = 100_000
"""A process takes two seconds to start, in which another does as many rows."""


def parcels(batches: Iterable[pa.RecordBatch], by: str, folder: Path) -> Iterator[Parcel]:
    """Files of whole groups, in the order of the rows; those of a group lie together."""
    writer: _ParcelWriter | None = None
    key, seen = None, set[object]()
    for batch in batches:
        for part in _runs(batch, by):
            value = part.column(by)[0].as_py()
            is_new = not seen or value != key
            if is_new:
                if value in seen:
                    raise ValueError(f"the rows of {by} {value!r} do not lie together")
                seen.add(value)
                key = value
            if writer is not None and is_new and writer.rows >= _PARCEL_ROWS:
                yield writer.close()
                writer = None
            if writer is None:
                writer = _ParcelWriter(folder / f"parcel-{len(seen)}.arrow", batch.schema)
            writer.write(part, is_new)
    if writer is not None:
        yield writer.close()


class _ParcelWriter:
    """A file that is being filled."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.rows = 0
        self._path = path
        self._batches: list[int] = []
        self._file = pa.ipc.new_file(path, schema)

    def write(self, rows: pa.RecordBatch, is_new: bool) -> None:
        """Rows of a new group, or further rows of the last one."""
        if is_new:
            self._batches.append(0)
        self._batches[-1] += 1
        self.rows += len(rows)
        self._file.write_batch(rows)

    def close(self) -> Parcel:
        self._file.close()
        return Parcel(self._path, tuple(self._batches))


def _runs(batch: pa.RecordBatch, by: str) -> Iterator[pa.RecordBatch]:
    """Parts of a batch with one key each."""
    if not len(batch):
        return
    ends = pc.run_end_encode(batch.column(by)).run_ends.to_pylist()
    for start, stop in zip([0, *ends[:-1]], ends, strict=True):
        yield batch.slice(start, stop - start)


def in_groups(
    kernel: GroupKernel, filled: Iterable[Parcel], rows: int, limits: GroupLimits, lost: LostGroup
) -> Iterator[pa.RecordBatch]:
    """Results of all groups in their order; of `lost` where a group has none. Removes the files."""
    if limits.processes == 0 or rows < limits.isolated_rows:
        for parcel in filled:
            yield from _results(run_here(kernel, parcel), parcel, lost)
        return
    processes = min(limits.processes, 1 + rows // _ROWS_A_PROCESS)
    free = SimpleQueue[GroupProcess]()
    for _ in range(processes):
        free.put(GroupProcess(kernel, limits))

    def run(parcel: Parcel) -> list[Outcome]:
        process = free.get()
        try:
            return process.run(parcel)
        finally:
            free.put(process)

    pool = ThreadPoolExecutor(processes)
    try:
        pending: deque[tuple[Parcel, Future[list[Outcome]]]] = deque()
        for parcel in filled:
            pending.append((parcel, pool.submit(run, parcel)))
            if len(pending) > _WAITING:
                first, outcomes = pending.popleft()
                yield from _results(outcomes.result(), first, lost)
        for first, outcomes in pending:
            yield from _results(outcomes.result(), first, lost)
    finally:
        pool.shutdown(cancel_futures=True)
        for _ in range(processes):
            free.get().close()


def _results(
    outcomes: Iterable[Outcome], parcel: Parcel, lost: LostGroup
) -> Iterator[pa.RecordBatch]:
    for group, outcome in enumerate(outcomes):
        if outcome.result is not None:
            yield outcome.result
            continue
        with pa.memory_map(str(parcel.path)) as source:
            rows = parcel.rows_of(group, pa.ipc.open_file(source))
            yield lost(rows, outcome.status, outcome.reason)
    parcel.path.unlink()
