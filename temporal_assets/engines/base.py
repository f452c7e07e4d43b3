"""What an engine must be able to do. An asset knows this and nothing more of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from temporal_assets.contracts import Table

Inputs = Mapping[str, Sequence[str]]
"""Table name in the query -> paths (or fsspec URLs) of the Parquet files that hold it."""


class Engine(Protocol):
    """Runs transformations over Parquet files."""

    name: str

    def query(
        self, sql: str, inputs: Inputs, parameters: Mapping[str, Any], table: Table, out: Path
    ) -> list[Path]:
        """Run `sql/<sql>.sql` and write the result into the folder `out` as Parquet.

        The columns and types are those of `table`; rows are in the order of the query.
        Returns the files written, at least one, also for an empty result.
        """
        ...

    def rows(self, query: str, inputs: Inputs, limit: int = 1000) -> list[dict[str, Any]]:
        """The first rows of a small result, for checks, samples and plots."""
        ...
