"""Running a kernel over groups of rows, each group complete, such as a site with all its pages.

Here: cutting a stream of rows into groups, handing groups to processes, and returning the results
in the order of the groups. Not here: the processes (`group_process`), where rows come from and how
a result is written (the engine), and what a kernel computes. It is what Spark does with
`applyInArrow`, without Spark.

Groups go through files of Arrow rows, so that this process holds a batch at a time however large a
group is, and a process holds one group. Such a file is called a parcel: it holds one large group,
or several small ones, because a file and a message cost more than the work on a dozen rows.
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
from temporal_assets.engines.group_process import (
    DONE,
    GroupProcess,
    Lost,
    Outcome,
    Parcel,
    run_here,
)

_PARCEL_ROWS: Final = 2_000
"""Rows from which on a parcel is full: some ten small sites, a fraction of a second."""

_TOGETHER_ROWS: Final = 65_536
"""The same for a kernel without limits, which runs over whole parcels: some ten megabytes of URLs
for each of its calls."""

_WAITING: Final = 64
"""Most parcels that are done or under way while an earlier one is not: a large site keeps no
process from the next ones. Each is a file and a small result."""

_ROWS_A_PROCESS: Final = 100_000
"""Rows per process: a process takes two seconds to start, in which another handles as many rows."""


def parcels(
    batches: Iterable[pa.RecordBatch], by: str, folder: Path, limits: GroupLimits | None
) -> Iterator[Parcel]:
    """Yield parcels of complete groups, in the order of the rows.

    Args:
        batches: Rows; those of a group are consecutive.
        by: Column whose value identifies the group.
        folder: Folder for the files.
        limits: Limits of the kernel; without any, parcels are larger.
    """
    full = _PARCEL_ROWS if limits else _TOGETHER_ROWS
    writer: _ParcelWriter | None = None
    key, seen = None, set[object]()
    for batch in batches:
        start = 0
        for value, begin, end in _runs(batch, by):
            is_new = not seen or value != key
            if is_new:
                if value in seen:
                    raise ValueError(f"the rows of {by} {value!r} do not lie together")
                seen.add(value)
                key = value
            if writer is not None and is_new and writer.rows >= full:
                writer.write(batch.slice(start, begin - start))
                yield writer.close()
                writer, start = None, begin
            if writer is None:
                writer = _ParcelWriter(folder / f"parcel-{len(seen)}.arrow", batch.schema)
            writer.count(end - begin, is_new)
        if writer is not None:
            writer.write(batch.slice(start))
    if writer is not None:
        yield writer.close()


class _ParcelWriter:
    """A parcel that is being written."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.rows = 0
        self._path = path
        self._groups: list[int] = []
        done = next(path.parent.glob(f"*{DONE}"), None)
        if done is not None:
            done.rename(path)
        self._bytes = path.open("wb" if done is None else "r+b")
        self._rows = pa.ipc.new_stream(self._bytes, schema)

    def count(self, rows: int, is_new: bool) -> None:
        """Announce rows of a new group, or further rows of the last one."""
        if is_new:
            self._groups.append(0)
        self._groups[-1] += rows
        self.rows += rows

    def write(self, rows: pa.RecordBatch) -> None:
        """Write rows that were announced by `count`."""
        if len(rows):
            self._rows.write_batch(rows)

    def close(self) -> Parcel:
        self._rows.close()
        self._bytes.close()
        return Parcel(self._path, tuple(self._groups))


def _runs(batch: pa.RecordBatch, by: str) -> Iterator[tuple[object, int, int]]:
    """Yield the key of each run of equal keys, its first row, and the row after its last."""
    keys = batch.column(by)
    encoded = pa.types.is_dictionary(keys.type)
    runs = pc.run_end_encode(keys.indices if encoded else keys)
    values = keys.dictionary.take(runs.values) if encoded else runs.values
    ends = runs.run_ends.to_pylist()
    yield from zip(values.to_pylist(), [0, *ends[:-1]], ends, strict=True)


def in_groups(
    kernel: GroupKernel, filled: Iterable[Parcel], rows: int, limits: GroupLimits | None
) -> Iterator[pa.RecordBatch]:
    """Yield the results of all groups in order, and remove the parcels.

    Args:
        kernel: Function over the rows of a group.
        filled: Parcels from `parcels`.
        rows: Total number of rows.
        limits: None runs the kernel here, over whole parcels. With limits it runs over each group,
            in processes if there are many rows, and a group without result is replaced by
            `limits.lost`.
    """
    if limits is None:
        for parcel in filled:
            with parcel.rows() as together:
                yield kernel(together)
            parcel.path.unlink()
    elif limits.processes == 0 or rows < limits.isolated_rows:
        for parcel in filled:
            groups = range(len(parcel.groups))
            yield _results(run_here(kernel, parcel, groups), parcel, limits.lost)
            parcel.path.unlink()
    else:
        yield from _in_processes(kernel, filled, rows, limits)


def _in_processes(
    kernel: GroupKernel, filled: Iterable[Parcel], rows: int, limits: GroupLimits
) -> Iterator[pa.RecordBatch]:
    """Yield the kernel's result for each parcel in order, computed by several processes."""
    processes = min(limits.processes, 1 + rows // _ROWS_A_PROCESS)
    started = [GroupProcess(kernel, limits) for _ in range(processes)]
    free = SimpleQueue[GroupProcess]()
    for process in started:
        free.put(process)

    def run(parcel: Parcel) -> pa.RecordBatch:
        """Return the results of a parcel, computed by a process that is free."""
        process = free.get()
        try:
            outcomes = process.run(parcel)
        finally:
            free.put(process)
        batch = _results(outcomes, parcel, limits.lost)
        if any(isinstance(outcome, Lost) for outcome in outcomes):
            parcel.path.unlink()  # what stands for a group may hold rows of it
        else:
            parcel.give_back()
        return batch

    pool = ThreadPoolExecutor(processes)
    try:
        pending: deque[Future[pa.RecordBatch]] = deque()
        for parcel in filled:
            pending.append(pool.submit(run, parcel))
            if len(pending) > _WAITING:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    except BaseException:
        # Nobody wants what is still being made: without this its end is waited for.
        for process in started:
            process.end()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        for process in started:
            process.close()


def _results(outcomes: Iterable[Outcome], parcel: Parcel, lost: LostGroup) -> pa.RecordBatch:
    """Return the results of all groups of a parcel, in one batch."""
    with parcel.rows() as rows:
        batches = [
            _result_of_lost(outcome, parcel, rows, lost) if isinstance(outcome, Lost) else outcome
            for outcome in outcomes
        ]
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def _result_of_lost(what: Lost, parcel: Parcel, rows: pa.Table, lost: LostGroup) -> pa.RecordBatch:
    (part,) = parcel.cut(rows, range(what.group, what.group + 1))
    return lost(part, what.status, what.reason)
