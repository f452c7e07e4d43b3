"""The protocol of an engine: all that the assets know of DuckDB and of Spark.

An engine runs a statement of `sql/`, applies a kernel of `core/` to Arrow batches, writes Parquet
files sorted and typed by a contract, and answers small questions. Not here: the engines (`duckdb`,
`spark`), which one is used (`engine_choice`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

import pyarrow as pa

from temporal_assets.contracts import Table

Inputs = Mapping[str, Sequence[str]]
"""Paths (or fsspec URLs) of the Parquet files of each table that a query reads, by its name."""

Rows: TypeAlias = pa.Table | pa.RecordBatchReader
"""Rows in this process: a table, or a reader that makes them on the way."""

Kernel = Callable[[pa.RecordBatch], pa.RecordBatch]
"""Function from a batch of rows to a batch of rows. Several threads call it at once."""

GroupKernel = Callable[[pa.Table], pa.RecordBatch]
"""Function from all rows of one group (or of several) to a batch. Kernels run in other processes,
so each is a module's function, or a `functools.partial` of one."""

LostGroup = Callable[[pa.Table, str, str], pa.RecordBatch]
"""Function for the row of a group whose kernel failed, given the group's rows, a status (`failed`,
`timed_out` or `out_of_memory`) and a reason."""


Item = TypeVar("Item")
Result = TypeVar("Result")


class Spread(Protocol):
    """Runs a function for each of some items as separate tasks, wherever there is room.

    An attribute `cores` may say how many tasks can run at once.
    """

    def __call__(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[Result]:
        """Yield the results in the order of the items, once all are there; results must be small.

        Function, items and results travel between processes. What the function raises for one item
        is raised here, and ends it for all.
        """
        ...


class Statement(NamedTuple):
    """Arguments of `Engine.query`, to be run later."""

    sql: str
    inputs: Inputs
    parameters: Mapping[str, Any]
    table: Table
    out: Path


class EngineError(RuntimeError):
    """Error: the engine cannot work; the message is one sentence that says why and what to do."""


FEW_ROWS: Final = 5_000
"""Rows that take less time than a process takes to start."""


@dataclass(frozen=True, slots=True)
class GroupLimits:
    """Limits for a kernel that runs over groups."""

    processes: int
    """Groups run at once; 0 runs them in the calling process, without the limits below."""
    seconds: float
    """Most seconds for one group."""
    memory_mib: int
    """Most memory for one group, in MiB."""
    lost: LostGroup
    """Function for a group that fails or exceeds a limit."""
    isolated_rows: int = FEW_ROWS
    """Total number of rows from which on groups run in processes of their own."""


class Engine(Protocol):
    """Protocol: runs transformations over Parquet files."""

    name: str

    @property
    def spread(self) -> Spread | None:
        """Function that spreads work on files over machines; None if that would gain nothing."""
        ...

    def query(
        self, sql: str, inputs: Inputs, parameters: Mapping[str, Any], table: Table, out: Path
    ) -> list[Path]:
        """Run `sql/<sql>.sql` and write the result into the folder `out` as Parquet.

        The columns and types are those of `table`; rows are in the order of the query.
        Returns the files written, at least one, also for an empty result.
        """
        ...

    def query_each(self, statements: Sequence[Statement]) -> list[list[Path]]:
        """Run statements that differ only in their inputs and folders, as `query` runs each.

        For inputs of few rows, which all fit into memory: where the engine can, it plans and starts
        them as one.
        """
        ...

    def apply(
        self, kernel: Kernel, inputs: Inputs, table: Table, out: Path, batch_rows: int
    ) -> list[Path]:
        """Run a kernel over one table and write the results into the folder `out` as Parquet.

        `inputs` is the one table; about `batch_rows` of its rows go to the kernel at a time, all
        columns of them. The kernel returns the columns of `table` in their order; what it returns
        for a row must not depend on the other rows of the batch. Results are in the order of the
        input. Returns the files written, at least one, also for an empty input.
        """
        ...

    def apply_groups(
        self,
        kernel: GroupKernel,
        inputs: Inputs,
        by: str,
        table: Table,
        out: Path,
        limits: GroupLimits | None,
    ) -> list[Path]:
        """Run a kernel over the groups of rows of one table that have the same value in `by`.

        Where `inputs` has a second table, the column `url` of the first holds its `number`s, from 0
        in the order of the rows. The kernel then gets the URLs of the second table.

        The rows of a group must be consecutive in the input. The kernel returns columns of `table`
        in their order; results are in the order of the groups. Memory is bounded by the largest
        group. A group that fails or exceeds a limit is replaced by `limits.lost`, and the others go
        on. Without limits the kernel gets several complete groups at a time, and its errors are
        raised here: for arithmetic, of which a small group costs less than a call.
        """
        ...

    def write(self, rows: Rows, table: Table, out: Path) -> list[Path]:
        """Write rows from this process to Parquet in the way rows of a query are written.

        Columns are those of `table` in their order; strings may come as dictionaries. Rows of a
        reader are put together while they are written, and never in memory all at once; what the
        reader raises is raised here.
        """
        ...

    def rows(self, query: str, inputs: Inputs, limit: int = 1000) -> list[dict[str, Any]]:
        """Return the first rows of a small result, for checks, samples and plots.

        The query is in DuckDB's dialect, whichever engine answers. Its rows are in no order but
        that it states. Values are Python's: numbers, texts, dates, times without a zone, lists, and
        dictionaries for structs.
        """
        ...

    def close(self) -> None:
        """Free what the engine holds; a later call opens it anew."""
        ...
