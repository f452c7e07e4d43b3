"""Running a kernel over groups of rows, each group whole: a site with all its pages.

Here: cutting a stream of rows into groups, handing groups to processes, and taking the results in
the order of the groups. Not here: the processes (`group_process`), where rows come from and how a
result is written (the engine), and what a kernel computes.

A group goes through a file of Arrow rows, so that this process holds a batch at a time however
large the group is, and a process holds one group. What Spark does with `applyInArrow`, without
Spark.
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
from temporal_assets.engines.group_process import GroupProcess, Outcome, run_here

_WAITING: Final = 64
"""Groups that may be done or under way while an earlier one is not: a large site keeps no
process from the next ones. Each is a file and a small result."""

_ROWS_A_PROCESS: Final = 100_000
"""A process takes two seconds to start, in which another does as many rows."""


def group_files(batches: Iterable[pa.RecordBatch], by: str, folder: Path) -> Iterator[Path]:
    """A file for every group, in the order of the rows; those of a group lie together."""
    writer: pa.RecordBatchFileWriter | None = None
    path, key, seen = folder, None, set[object]()
    for batch in batches:
        for part in _runs(batch, by):
            value = part.column(by)[0].as_py()
            if writer is None or value != key:
                if writer is not None:
                    writer.close()
                    yield path
                if value in seen:
                    raise ValueError(f"the rows of {by} {value!r} do not lie together")
                seen.add(value)
                path, key = folder / f"group-{len(seen)}.arrow", value
                writer = pa.ipc.new_file(path, batch.schema)
            writer.write_batch(part)
    if writer is not None:
        writer.close()
        yield path


def _runs(batch: pa.RecordBatch, by: str) -> Iterator[pa.RecordBatch]:
    """Parts of a batch with one key each."""
    if not len(batch):
        return
    ends = pc.run_end_encode(batch.column(by)).run_ends.to_pylist()
    for start, stop in zip([0, *ends[:-1]], ends, strict=True):
        yield batch.slice(start, stop - start)


def in_groups(
    kernel: GroupKernel, files: Iterable[Path], rows: int, limits: GroupLimits, lost: LostGroup
) -> Iterator[pa.RecordBatch]:
    """Results of all groups in their order; of `lost` where a group has none. Removes the files."""
    if limits.processes == 0 or rows < limits.isolated_rows:
        for path in files:
            yield _result(run_here(kernel, path), path, lost)
        return
    processes = min(limits.processes, 1 + rows // _ROWS_A_PROCESS)
    free = SimpleQueue[GroupProcess]()
    for _ in range(processes):
        free.put(GroupProcess(kernel, limits))

    def run(path: Path) -> Outcome:
        process = free.get()
        try:
            return process.run(path)
        finally:
            free.put(process)

    pool = ThreadPoolExecutor(processes)
    try:
        pending: deque[tuple[Path, Future[Outcome]]] = deque()
        for path in files:
            pending.append((path, pool.submit(run, path)))
            if len(pending) > _WAITING:
                first, outcome = pending.popleft()
                yield _result(outcome.result(), first, lost)
        for first, outcome in pending:
            yield _result(outcome.result(), first, lost)
    finally:
        pool.shutdown(cancel_futures=True)
        for _ in range(processes):
            free.get().close()


def _result(outcome: Outcome, path: Path, lost: LostGroup) -> pa.RecordBatch:
    result = outcome.result
    if result is None:
        with pa.memory_map(str(path)) as source:
            result = lost(pa.ipc.open_file(source).read_all(), outcome.status, outcome.reason)
    path.unlink()
    return result
