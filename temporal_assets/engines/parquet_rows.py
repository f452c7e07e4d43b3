"""Rows of a table in several Parquet files, by number, for loops that read them in order.

Here: reading whole columns. Not here: queries, which an engine answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from temporal_assets.core.numerics.arrays import Int64s
from temporal_assets.engines.arrow_texts import encoded
from temporal_assets.engines.base import Result
from temporal_assets.engines.batches import in_order
from temporal_assets.machine.object_cache import opened

Scalar = TypeVar("Scalar", bound=np.generic)

_AHEAD: Final = 2
"""Row groups that are read while one is used: most loops use one faster than a thread reads it."""

_PIECE_ROWS: Final = 65_536
"""Rows that are read at once: half a megabyte of numbers."""


class ParquetRows:
    """Rows of some files, local or behind fsspec, numbered from 0 over all of them."""

    def __init__(self, paths: Sequence[str], repeated: Sequence[str] = ()) -> None:
        """Open the files; columns named in `repeated` are read as dictionaries."""
        if not paths:
            raise ValueError("no files to read: publish an empty partition instead")
        self._files = [_File.open(path, repeated) for path in paths]
        self._groups = [
            (file, group) for file in self._files for group in range(file.metadata.num_row_groups)
        ]
        rows = [file.metadata.row_group(group).num_rows for file, group in self._groups]
        self._bounds = np.cumsum([0, *rows])

    def __len__(self) -> int:
        return int(self._bounds[-1])

    def blocks(
        self, columns: Sequence[str], make: Callable[[pa.Table], Result]
    ) -> Iterator[Result]:
        """Yield `make(columns)` of each row group in order, while the next ones are read."""
        return in_order(lambda task: make(task[0].read([task[1]], columns)), self._groups, _AHEAD)

    def array(
        self,
        columns: Sequence[str],
        make: Callable[[pa.Table], NDArray[Scalar]],
        kind: type[Scalar],
    ) -> NDArray[Scalar]:
        """Return the concatenated results of `make` for all row groups; files may have no rows."""
        return np.concatenate([np.empty(0, kind), *self.blocks(columns, make)], dtype=kind)

    def numbers(self, name: str, kind: type[Scalar]) -> NDArray[Scalar]:
        """Return a column of numbers; it needs half the memory of `array`."""
        values, at = np.empty(len(self), kind), 0
        for block in self.blocks((name,), lambda block: block[name].to_numpy()):
            values[at : at + len(block)] = block
            at += len(block)
        return values

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Return some columns of all rows, read by this thread alone.

        For callers that read several tables at once.
        """
        return pa.concat_tables([file.read(None, names) for file in self._files])

    def batches(self, most_rows: int | None = None) -> Iterator[pa.RecordBatch]:
        """Yield all rows in order, `most_rows` at a time; the next are read meanwhile."""
        for block in in_order(lambda task: task[0].read([task[1]], None), self._groups, 1):
            yield from block.combine_chunks().to_batches(most_rows)

    def batches_with_urls(self, named: ParquetRows) -> Iterator[pa.RecordBatch]:
        """Yield all rows in order, with URLs from `named` instead of the numbers in `url`."""
        ranges = list(pairwise(self._bounds.tolist()))
        urls = named.in_ranges(ranges, ("url",))
        for (first, stop), rows, of_rows in zip(ranges, self.batches(), urls, strict=True):
            at = rows.schema.get_field_index("url")
            if not np.array_equal(rows.column(at).to_numpy(), np.arange(first, stop)):
                raise ValueError("the rows are not in the order of the pages that they number")
            yield rows.set_column(at, "url", of_rows["url"].combine_chunks())

    def in_ranges(
        self, ranges: Iterable[tuple[int, int]], columns: Sequence[str]
    ) -> Iterator[pa.Table]:
        """Yield the rows of each range, `first` to `stop` without the latter; neither may go back.

        A group of which two ranges have a part is read once; those of a range are, side by side.
        """
        groups: dict[int, pa.Table] = {}
        for first, stop in ranges:
            if first == stop:
                yield self._files[0].read([], columns)
                continue
            low = int(np.searchsorted(self._bounds, first, "right")) - 1
            high = int(np.searchsorted(self._bounds, stop, "left"))
            missing = [at for at in range(low, high) if at not in groups]
            read = in_order(partial(self._read, columns=columns), missing, _AHEAD)
            groups |= zip(missing, read, strict=True)
            rows = pa.concat_tables([groups[at] for at in range(low, high)])
            # What is not needed again is not held until the next range.
            groups = {high - 1: groups[high - 1]}
            yield rows.slice(first - int(self._bounds[low]), stop - first).combine_chunks()

    def _read(self, at: int, columns: Sequence[str]) -> pa.Table:
        file, group = self._groups[at]
        return file.read([group], columns)


def whole_table(
    paths: str | Path | Iterable[str | Path], columns: Sequence[str] | None = None
) -> pa.Table:
    """Read all rows of one or several files, for tables that fit into memory.

    The call uses this thread alone: Arrow's scanner waits for ever where the system refuses it a
    thread.
    """
    several = [paths] if isinstance(paths, (str, Path)) else paths
    files = [_File.open(str(path), ()) for path in several]
    return pa.concat_tables([file.read(None, columns) for file in files])


class ParquetNumbers:
    """Reader of a column of numbers in some files, from its beginning on."""

    def __init__(self, paths: Sequence[str], column: str) -> None:
        self._pieces = _pieces(paths, column)
        self._waiting = np.empty(0, np.int64)

    def take(self, count: int) -> Int64s:
        """Return the next `count` numbers; fewer where the column ends."""
        batches = [self._waiting]
        missing = count - len(self._waiting)
        while missing > 0 and (piece := next(self._pieces, None)) is not None:
            batches.append(piece)
            missing -= len(piece)
        numbers = np.concatenate(batches) if len(batches) > 1 else self._waiting
        self._waiting = numbers[count:]
        return numbers[:count]


def _pieces(paths: Sequence[str], column: str) -> Iterator[Int64s]:
    """Yield the column in parts of row groups, so that of many files none is in memory whole."""
    for path in paths:
        with _opened(path) as file, pq.ParquetFile(file) as rows:
            for batch in rows.iter_batches(_PIECE_ROWS, columns=[column], use_threads=False):
                yield batch.column(0).to_numpy()


@dataclass(frozen=True, slots=True, eq=False)
class _File:
    """A file whose metadata is read once: that takes as long as some columns."""

    path: str
    metadata: pq.FileMetaData
    repeated: tuple[str, ...]
    stored: tuple[str, ...]
    """Columns of `repeated` that PyArrow reads as dictionaries."""

    @classmethod
    def open(cls, path: str, repeated: Sequence[str]) -> _File:
        with _opened(path) as file:
            metadata = pq.read_metadata(file)
        stored = (name for name in repeated if not _is_packed(metadata, name))
        return cls(path, metadata, tuple(repeated), tuple(stored))

    def read(self, groups: Sequence[int] | None, columns: Sequence[str] | None) -> pa.Table:
        """Return chosen row groups and columns as a table."""
        names = None if columns is None else list(columns)
        with (
            _opened(self.path) as file,
            pq.ParquetFile(file, metadata=self.metadata, read_dictionary=self.stored) as rows,
        ):
            every = range(rows.num_row_groups) if groups is None else groups
            table = rows.read_row_groups(list(every), names, use_threads=False)
        for at, name in enumerate(table.column_names):
            if name in self.repeated:
                table = table.set_column(at, name, encoded(table.column(at)))
        return table


def _opened(path: str) -> AbstractContextManager[Any]:
    """Return a file to read; local files are opened by Arrow without Python."""
    file: AbstractContextManager[Any]
    file = opened(path) if "://" in path else pa.OSFile(path)
    return file


def _is_packed(metadata: pq.FileMetaData, name: str) -> bool:
    """Return True for strings in an encoding that PyArrow does not read as a dictionary."""
    at = metadata.schema.names.index(name)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return any("DELTA" in kind for group in groups for kind in group.column(at).encodings)
