"""Spark 4 on a cluster: the same transformations, kernels and files as DuckDB.

Rows stay on the cluster: queries are `sql/spark/`, kernels run where the rows are (`spark_tasks`),
and executors write the files. What comes back to this process is a list of their names.

Questions (`rows`: checks, samples, plots) about small files are DuckDB's also here: it answers them
before a cluster has planned them, with memory that is bounded by the settings. The cluster answers
questions about files larger than `LOCAL_MEGABYTES`, in its own dialect (`questions`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa

from temporal_assets.contracts import Table
from temporal_assets.engines.base import (
    FEW_ROWS,
    EngineError,
    GroupKernel,
    GroupLimits,
    Inputs,
    Item,
    Kernel,
    Result,
    Rows,
    Statement,
)
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.engines.result_bytes import result_of
from temporal_assets.engines.spark.spark_files import (
    POSITION,
    bytes_of,
    ddl,
    read,
    read_in_order,
    unseen,
    with_urls,
    write,
)
from temporal_assets.engines.spark.spark_progress import reported
from temporal_assets.engines.spark.spark_session import abandon, explained, is_remote, open_session
from temporal_assets.engines.spark.spark_tasks import (
    batches_through,
    by_duckdb,
    groups_through,
    outcomes,
)
from temporal_assets.engines.sql import SqlError, sql_file, translated_path
from temporal_assets.settings import Settings

_MOST_ROWS: Final = 1_000_000
"""Rows of a partition that goes to a kernel: some hundred megabytes of URLs at most."""

LOCAL_MEGABYTES: Final = 256
"""Checks, samples and plots about files that are no larger together are DuckDB's, on the machine
that asks: a cluster takes longer to plan."""

_MEGABYTE: Final = 1_000_000

_REMOTE_CORES: Final = 8
"""Tasks that read a log file on a Spark Connect server, which does not say how many it runs."""

_GROUP_START: Final = "group_start"
"""Column with the position of the first row of a row's group."""


class SparkEngine:
    """The engine for logs that outgrow one machine. The session starts on first use."""

    name = "spark"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._opening = Lock()
        self._opened: Any = None
        self._small = DuckDBEngine(settings)

    def query(
        self, sql: str, inputs: Inputs, parameters: Mapping[str, Any], table: Table, out: Path
    ) -> list[Path]:
        """Run `Engine.query`; Spark binds the values, and the files are parts in order."""
        sql_file(sql).require(inputs, parameters)
        if self._is_small(inputs):
            return self._by_one_task(sql, inputs, parameters, table, out)
        bound = {name: _bindable(name, value) for name, value in parameters.items()}
        with self._job(f"{sql}.sql") as session:
            tables = {name: read(session, name, paths) for name, paths in inputs.items()}
            return write(session.sql(_text(sql), args=bound, **tables), table, out)

    def query_each(self, statements: Sequence[Statement]) -> list[list[Path]]:
        """Run `Engine.query_each`, one statement after the other."""
        return [self.query(*statement) for statement in statements]

    def apply(
        self, kernel: Kernel, inputs: Inputs, table: Table, out: Path, batch_rows: int
    ) -> list[Path]:
        """Run `Engine.apply`; each partition is a range of the input, so results need no sort."""
        ((name, paths),) = inputs.items()
        schema = table.arrow_schema

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return batches_through(kernel, batches, batch_rows, schema)

        with self._job(f"kernel for {table.name}") as session:
            rows, count = read_in_order(session, name, paths)
            parts = _partitions(session, count, batch_rows)
            ranges = rows.repartitionByRange(parts, POSITION).sortWithinPartitions(POSITION)
            return write(_mapped(ranges.drop(POSITION), run, table), table, out)

    def apply_groups(
        self,
        kernel: GroupKernel,
        inputs: Inputs,
        by: str,
        table: Table,
        out: Path,
        limits: GroupLimits | None,
    ) -> list[Path]:
        """Run `Engine.apply_groups`; partitions are ranges of complete groups.

        Ranges are chosen by numbers of rows, so a giant group is a partition of its own and the
        others go on beside it.
        """
        (name, paths), *named = inputs.items()
        schema = table.arrow_schema
        with self._job(f"kernel for the groups of {table.name}") as session:
            rows, count = read_in_order(session, name, paths)
            if named:
                rows = with_urls(rows, read(session, *named[0]))

            def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
                return groups_through(kernel, batches, by, count, limits, schema)

            least = FEW_ROWS if limits is None else limits.isolated_rows
            parts = _partitions(session, count, max(1, least))
            ranges = (
                _with_group_start(rows, by)
                .repartitionByRange(parts, _GROUP_START)
                .sortWithinPartitions(_GROUP_START, POSITION)
                .drop(POSITION, _GROUP_START)
            )
            return write(_mapped(ranges, run, table), table, out)

    @property
    def spread(self) -> Tasks:
        """Return the function that makes a task of each item."""
        return Tasks(self)

    @property
    def cores(self) -> int:
        """Number of tasks that run at once; a modest guess where this process is not the driver."""
        if is_remote(self.settings):
            return _REMOTE_CORES
        return int(self._session().sparkContext.defaultParallelism)

    def on_executors(
        self, name: str, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[Result]:
        """Yield the function's result for each item, each computed by a task."""
        if not items:
            return

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return outcomes(function, items, batches)

        with self._job(name) as session:
            # Places are all that travels as rows, which Connect has as well; items go with `run`.
            places = session.range(0, len(items), 1, len(items))
            answers = places.mapInArrow(run, "place BIGINT, outcome BINARY").collect()  # small
        for _, outcome in sorted(tuple(row) for row in answers):
            yield result_of(outcome)

    def _is_small(self, inputs: Inputs) -> bool:
        """Return True if a statement about these files is one task.

        Files in a bucket are Spark's to read: its executors need no package of the store for that.
        """
        most = self.settings.spark.one_task_bytes
        paths = [path for files in inputs.values() for path in files]
        return most > 0 and not any("://" in path for path in paths) and bytes_of(paths) <= most

    def _by_one_task(
        self, sql: str, inputs: Inputs, parameters: Mapping[str, Any], table: Table, out: Path
    ) -> list[Path]:
        """Run a statement by DuckDB in one task of an executor, for inputs of one machine."""
        threads = self.settings.spark.task_threads
        limits = self.settings.engine.model_copy(update={"threads": threads})
        # Executors may work in another folder.
        paths = {
            name: [str(Path(path).absolute()) for path in files] for name, files in inputs.items()
        }
        statement = Statement(sql, paths, dict(parameters), table, out.absolute())
        run = partial(by_duckdb, limits)
        (files,) = self.on_executors(f"{sql}.sql in one task", run, [statement])
        for file in files:
            if not file.exists():
                raise EngineError(unseen(table.name, file.parent))
        return [file.rename(out / file.name) for file in files]

    def write(self, rows: Rows, table: Table, out: Path) -> list[Path]:
        """Run `Engine.write` in this process, into which the rows fit."""
        return self._small.write(rows, table, out)

    def rows(self, query: str, inputs: Inputs, limit: int = 1000) -> list[dict[str, Any]]:
        """Run `Engine.rows` by DuckDB where files are small, else on the cluster."""
        size = sum(bytes_of(paths) for paths in inputs.values())
        if size <= LOCAL_MEGABYTES * _MEGABYTE:
            return self._small.rows(query, inputs, limit)
        text = _question(query, frozenset(inputs))
        with self._job(f"a question about {', '.join(sorted(inputs))}") as session:
            tables = {name: read(session, name, paths) for name, paths in inputs.items()}
            return _answer(session.sql(text, **tables).limit(limit).toArrow())  # small

    def close(self) -> None:
        """End the session, and with it its executors; a later call opens another."""
        self._small.close()
        with self._opening:
            if self._opened is not None:
                self._opened.stop()
                self._opened = None

    def _session(self) -> Any:
        with self._opening:
            if self._opened is None:
                self._opened = open_session(self.settings)
            return self._opened

    @contextmanager
    def _job(self, name: str) -> Iterator[Any]:
        """Yield a session whose jobs end with this block, however it ends."""
        session = self._session()
        tag = f"temporal-assets-{uuid4().hex}"
        session.addTag(tag)
        try:
            with reported(session, name, is_remote=is_remote(self.settings)):
                yield session
        except Exception as error:
            session.interruptTag(tag)
            session.removeTag(tag)
            if explanation := explained(error):
                raise explanation from error
            raise
        except BaseException:
            # The run was cancelled: executors would go on for nobody.
            self._opened = None
            abandon(session, tag)
            raise
        session.removeTag(tag)


class Tasks:
    """`Spread` on executors: a task for each item, so that large ones hold up no small ones."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine

    @property
    def cores(self) -> int:
        """Tasks that run at once."""
        return self._engine.cores

    def __call__(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[Result]:
        """Run the function for each item on the executors."""
        yield from self._engine.on_executors(f"work on {len(items):,} files", function, items)


def _mapped(
    rows: Any, run: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], table: Table
) -> Any:
    return rows.mapInArrow(run, ddl(table))


def _with_group_start(rows: Any, by: str) -> Any:
    """Return rows with the first position of their group. Raises `ValueError` if one is split."""
    from pyspark.sql import functions as sf

    groups = rows.groupBy(sf.col(by).alias("group_key")).agg(
        sf.min(POSITION).alias(_GROUP_START),
        sf.max(POSITION).alias("group_end"),
        sf.count("*").alias("group_rows"),
    )
    is_torn = sf.col("group_end") - sf.col(_GROUP_START) + 1 != sf.col("group_rows")
    for torn in groups.where(is_torn).limit(1).collect():  # one row
        raise ValueError(f"the rows of {by} {torn['group_key']!r} do not lie together")
    is_same = sf.col(by).eqNullSafe(sf.col("group_key"))
    return rows.join(groups.select("group_key", _GROUP_START), is_same).drop("group_key")


def _partitions(session: Any, rows: int, worth: int) -> int:
    """Return how many ranges, of `worth` rows or more, go to a kernel in parallel."""
    most = int(session.conf.get("spark.sql.shuffle.partitions"))
    return max(1, min(most, -(-rows // worth)), -(-rows // _MOST_ROWS))


@cache
def _text(name: str) -> str:
    lines = translated_path(name).read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("--"))


def _question(query: str, inputs: frozenset[str]) -> str:
    """Return Spark's text of a query. SQLGlot is needed from here on, and comes with pyspark."""
    try:
        from temporal_assets.engines.spark.questions import question
    except ModuleNotFoundError as error:
        raise EngineError(
            f"{error.name} is not installed: "
            "pip install -c requirements.lock '.[spark]' in the checkout"
        ) from None
    return question(query, inputs)


def _answer(answer: pa.Table) -> list[dict[str, Any]]:
    """Return rows as Python's values; times are UTC without a zone, as they are in all tables."""
    naive = pa.schema(
        pa.field(
            field.name, pa.timestamp("us") if pa.types.is_timestamp(field.type) else field.type
        )
        for field in answer.schema
    )
    rows: list[dict[str, Any]] = answer.cast(naive).to_pylist()
    return rows


def _bindable(name: str, value: Any) -> Any:
    if isinstance(value, bool | int | float | str) or type(value) is dt.date:
        return value
    raise SqlError(f"parameter {name} is a {type(value).__name__}, which Spark does not bind")
