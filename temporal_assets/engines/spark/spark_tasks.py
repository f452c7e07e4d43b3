"""Code that runs inside Spark's Python workers: kernels over the Arrow batches of a partition.

Here: functions that need nothing of Spark. Not here: how rows come into partitions (`spark`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from uuid import uuid4

import pyarrow as pa

from temporal_assets.engines.base import GroupKernel, GroupLimits, Item, Kernel, Result, Statement
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.engines.groups import in_groups, parcels
from temporal_assets.engines.result_bytes import outcome_of
from temporal_assets.settings import Engine, Settings


def batches_through(
    kernel: Kernel, batches: Iterator[pa.RecordBatch], batch_rows: int, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield a kernel's results over a partition, `batch_rows` at a time."""
    for batch in _of_size(batches, batch_rows):
        yield _plain(kernel(batch), schema)


def groups_through(
    kernel: GroupKernel,
    batches: Iterator[pa.RecordBatch],
    by: str,
    rows: int,
    limits: GroupLimits | None,
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """Yield a kernel's results over the groups of a partition, in their order.

    A task is one of many on its machine: its groups run one after another, in one process beside
    this one, whose end by a limit is not the task's.
    """
    alone = limits and replace(limits, processes=min(limits.processes, 1))
    with TemporaryDirectory() as folder:
        filled = parcels(batches, by, Path(folder), limits)
        for result in in_groups(kernel, filled, rows, alone):
            yield _plain(result, schema)


def by_duckdb(engine: Engine, statement: Statement) -> list[Path]:
    """Run a small statement with DuckDB in a Spark task.

    The files are in a folder that no other attempt at the task has.
    """
    folder = statement.out / f"{statement.sql}.{uuid4().hex}"
    folder.mkdir()
    return _duckdb(engine.model_dump_json()).query(*statement._replace(out=folder))


@cache
def _duckdb(limits: str) -> DuckDBEngine:
    """Return the DuckDB engine of this worker, which runs many tasks and spills to its own disk."""
    folder = Path(gettempdir()) / "temporal-assets"
    engine = Engine.model_validate_json(limits)
    return DuckDBEngine(Settings.model_construct(state=folder, engine=engine))


def can_see(path: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield True if a file exists on the machine that runs the task."""
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"can_see": [Path(path).exists()]})


def outcomes(
    function: Callable[[Item], Result], items: Sequence[Item], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the outcome of the function for the items whose indices are in the batches."""
    for batch in batches:
        places = batch.column(0)
        task_outcomes = [outcome_of(function, items[place]) for place in places.to_pylist()]
        yield pa.RecordBatch.from_arrays(
            [places, pa.array(task_outcomes, pa.binary())], names=["place", "outcome"]
        )


def _of_size(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows again in batches of a number of rows; the last may be smaller."""
    waiting, count = list[pa.RecordBatch](), 0
    for batch in batches:
        waiting.append(batch)
        count += len(batch)
        if count >= rows:
            table = pa.Table.from_batches(waiting).combine_chunks()
            count %= rows
            whole = len(table) - count
            yield from (table.slice(at, rows).to_batches()[0] for at in range(0, whole, rows))
            waiting = table.slice(whole).to_batches()
    if count:
        yield pa.Table.from_batches(waiting).combine_chunks().to_batches()[0]


def _plain(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch with the names and types that Spark expects."""
    return pa.RecordBatch.from_arrays(
        [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)],
        schema=pa.schema([field.with_nullable(True) for field in schema]),
    )
