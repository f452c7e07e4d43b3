"""Rows of a table in several Parquet files by their number, for loops that walk them in order.

Here: reading whole columns as they lie there. Not here: questions, which an engine answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets.engines.base import Result
from temporal_assets.engines.batches import in_order


class ParquetRows:
    """The rows of some files, local or behind fsspec, numbered through from 0."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = list(paths)
        self._groups: list[tuple[str, int]] = []
        rows = [0]
        for path in self._paths:
            with fsspec.open(path, "rb") as file:
                metadata = pq.read_metadata(file)
            for group in range(metadata.num_row_groups):
                self._groups.append((path, group))
                rows.append(metadata.row_group(group).num_rows)
        self._bounds = np.cumsum(rows)

    def __len__(self) -> int:
        return int(self._bounds[-1])

    def blocks(
        self, columns: Sequence[str], make: Callable[[pa.Table], Result]
    ) -> Iterator[Result]:
        """What is made of all rows in order, a group at a time; the next while one is used."""
        return in_order(lambda one: make(_read(one[0], [one[1]], columns)), self._groups, 1)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All columns of all rows in order; the next are read while some are used."""
        for block in in_order(lambda one: _read(one[0], [one[1]], None), self._groups, 1):
            yield from block.combine_chunks().to_batches()

    def read(self, first: int, stop: int, columns: Sequence[str]) -> pa.Table:
        """Rows `first` to `stop`, without the latter; at least one file there must be."""
        low = int(np.searchsorted(self._bounds, first, "right")) - 1
        high = int(np.searchsorted(self._bounds, stop, "left"))
        wanted = self._groups[low:high] if stop > first else []
        tables = [
            _read(path, [group for one, group in wanted if one == path], columns)
            for path in dict.fromkeys(path for path, _ in wanted)
        ]
        if not tables:
            return _read(self._paths[0], [], columns)
        rows = pa.concat_tables(tables)
        return rows.slice(first - int(self._bounds[low]), stop - first).combine_chunks()


def _read(path: str, groups: Sequence[int], columns: Sequence[str] | None) -> pa.Table:
    names = None if columns is None else list(columns)
    with fsspec.open(path, "rb") as file, pq.ParquetFile(file) as rows:
        return rows.read_row_groups(list(groups), names, use_threads=False)
