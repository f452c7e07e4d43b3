"""Execution of one statement for several small sets of rows, instead of one for each set.

The text of the file in `sql/` stays as it is: it becomes a lateral subquery over the rows of each
set, which DuckDB turns into joins and groups. Not here: running it (`duckdb`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from temporal_assets.contracts import Table
from temporal_assets.engines.sql import literal

SET: Final = "set_number"
"""Column with the number of the set that a row belongs to."""

_ORDER: Final = re.compile(r"\nORDER BY ([^()]*)\Z")
"""Expression for a statement's ORDER BY: the last clause of its text, at the beginning of a
line."""

Files = Sequence[Sequence[str]]
"""Files of each set."""


def for_each(text: str, inputs: Mapping[str, Files], table: Table) -> str:
    """Return a statement that selects what `text` selects from each of several sets of files.

    Rows have the columns of `table` and the number of their set. The order is by set, and within a
    set that of `text`.
    """
    tables = rows_of_sets(inputs)
    (sets,) = {len(files) for files in inputs.values()}
    order = _ORDER.search(text)
    body = of_one_set(text[: order.start()] if order else text, list(inputs))
    columns = ", ".join(f"CAST(made.{c.name} AS {c.sql_type}) AS {c.name}" for c in table.columns)
    return (
        f"WITH {tables} SELECT {columns}, sets.{SET}"  # noqa: S608 - names are ours
        f" FROM (SELECT unnest(range({sets})) AS {SET}) AS sets, LATERAL ({body}) AS made"
        f" ORDER BY sets.{SET}{', ' + order[1] if order else ''}"
    )


def rows_of_sets(inputs: Mapping[str, Files]) -> str:
    """Return common table expressions with the rows of inputs, each with its set's number."""
    return ", ".join(_rows_of_sets(name, files) for name, files in inputs.items())


def _rows_of_sets(name: str, files: Files) -> str:
    """Return a common table expression of a table's rows with the number of their set."""
    listed = ", ".join(sorted({literal(path) for paths in files for path in paths}))
    filed = ", ".join(
        f"({literal(path)}, {number})" for number, paths in enumerate(files) for path in paths
    )
    return (
        f"{name}_of_sets AS MATERIALIZED (SELECT rows.* EXCLUDE (filename), filed.{SET}"  # noqa: S608 - a table's name, and paths as literals
        f" FROM read_parquet([{listed}], hive_partitioning = false, filename = true) AS rows"
        f" INNER JOIN (VALUES {filed}) AS filed (path, {SET}) ON filed.path = rows.filename)"
    )


def of_one_set(text: str, inputs: Sequence[str]) -> str:
    """Return the statement, restricted to rows of the set in the enclosing row of `sets`."""

    def rows(match: re.Match[str]) -> str:
        word, name, alias = match.groups()
        of_set = (
            f"SELECT * EXCLUDE ({SET}) FROM {name}_of_sets"  # noqa: S608 - a table's name
            f" WHERE {name}_of_sets.{SET} = sets.{SET}"
        )
        return f"{word} ({of_set}) AS {alias or name}"

    return re.sub(rf"\b(FROM|JOIN) ({'|'.join(inputs)})\b(?: AS (\w+))?", rows, text)
