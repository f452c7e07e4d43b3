"""The classes of a contract: `Table`, its columns and types.

Not here: any particular table, and how rules are judged.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from textwrap import dedent
from typing import Final

import pyarrow as pa

from temporal_assets.contracts.rules import Drift, Rule, rules_of_shape


class Type(Enum):
    """A column type. The value is the SQL type, which DuckDB and Spark share."""

    DATE = "DATE"
    TIMESTAMP = "TIMESTAMP"
    """UTC time in microseconds, without a zone: the zone of a day is a setting, not data."""
    INTEGER = "INTEGER"
    BIGINT = "BIGINT"
    DOUBLE = "DOUBLE"
    BOOLEAN = "BOOLEAN"
    VARCHAR = "VARCHAR"
    INTEGERS = "INTEGER[]"
    """A list of 32-bit integers."""
    BIGINTS = "BIGINT[]"
    VARCHARS = "VARCHAR[]"
    LINKS = "STRUCT(page INTEGER, transits BIGINT)[]"
    """A list of (page number, how often the link was followed), ascending."""

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type in memory and in Parquet."""
        return _ARROW[self]


_ARROW = {
    Type.DATE: pa.date32(),
    Type.TIMESTAMP: pa.timestamp("us"),
    Type.INTEGER: pa.int32(),
    Type.BIGINT: pa.int64(),
    Type.DOUBLE: pa.float64(),
    Type.BOOLEAN: pa.bool_(),
    Type.VARCHAR: pa.string(),
    Type.INTEGERS: pa.list_(pa.int32()),
    Type.BIGINTS: pa.list_(pa.int64()),
    Type.VARCHARS: pa.list_(pa.string()),
    Type.LINKS: pa.list_(pa.struct([("page", pa.int32()), ("transits", pa.int64())])),
}


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """The name, type and meaning of a column."""

    name: str
    type: Type
    description: str
    nullable: bool = False
    sources: tuple[str, ...] = ()
    """Columns it is made from, as `table.column`."""
    number: Type | None = None
    """Type of the number that is stored instead of a URL, or None. The number is the place of the
    URL in the files beside the rows (`urls` of the day, `page_totals` of the window). Readers see
    the URL."""

    @property
    def sql_type(self) -> str:
        """The type to CAST to, in DuckDB and in Spark."""
        return self.type.value


@dataclass(frozen=True)
class Table:
    """The contract of one table; `name` is also the name of its asset and its view."""

    name: str
    version: int
    """Number that is raised when a column changes its name, type or meaning."""
    description: str
    grain: str
    """Meaning of one row."""
    columns: tuple[ColumnSpec, ...]
    key: tuple[str, ...] = ()
    """Columns that together are unique within a day; empty where rows may repeat."""
    own_rules: tuple[Rule, ...] = ()
    """Rules besides those that follow from the shape; judged on one day at a time."""
    drifts: tuple[Drift, ...] = ()
    """Measures of a day that are compared with earlier days."""
    is_read_often: bool = False
    """True if windows read all of it several times: stored for fast reading, even if it is larger
    on disk."""
    is_passing: bool = False
    """True for an intermediate table, removed before its size matters: hardly compressed, for fast
    writing and reading."""

    def __post_init__(self) -> None:
        names = [*self.column_names, *self.check_names]
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise ValueError(f"contract of {self.name}: these names are used twice: {twice}")
        unknown = set(self.key) - set(self.column_names)
        if unknown:
            raise ValueError(f"contract of {self.name}: the key has no columns {sorted(unknown)}")

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns in the order they are stored."""
        return tuple(column.name for column in self.columns)

    def taken(self, *names: str) -> tuple[ColumnSpec, ...]:
        """Return columns of this table, for the contract of another that copies them."""
        by_name = {column.name: column for column in self.columns}
        return tuple(replace(by_name[name], sources=(f"{self.name}.{name}",)) for name in names)

    @property
    def numbered(self) -> tuple[str, ...]:
        """Names of the columns that are stored as numbers of URLs."""
        return tuple(column.name for column in self.columns if column.number)

    @cached_property
    def stored(self) -> Table:
        """The table as its files have it: numbers instead of URLs."""
        columns = (
            replace(column, type=column.number) if column.number else column
            for column in self.columns
        )
        return replace(self, columns=tuple(columns))

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Rules that follow from the shape, then the table's own."""
        filled = [
            column.name for column in self.columns if not column.nullable and column.name != "day"
        ]
        return (*rules_of_shape(self.name, filled, self.key), *self.own_rules)

    @property
    def checks(self) -> tuple[Rule | Drift, ...]:
        """All checks: rules, then drifts."""
        return (*self.rules, *self.drifts)

    @property
    def check_names(self) -> tuple[str, ...]:
        """Names of all checks, in the order of `checks`."""
        return tuple(check.name for check in self.checks)

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """The Arrow schema; columns may be null, since engines write nullability differently."""
        return pa.schema([pa.field(column.name, column.type.arrow) for column in self.columns])


_COLUMN: Final = re.compile(
    r"(?P<name>\w+) (?P<type>[^:]+?)(?P<nullable> NULL)?(?: from (?P<sources>[^:]+))?: (?P<text>.+)"
)


def columns(text: str) -> tuple[ColumnSpec, ...]:
    """Return the columns declared in a text, one a line as in SQL, each with its meaning.

    A column is `name TYPE [NULL] [from table.column, ...]: meaning`. Lines below it that are
    indented further go on with it.
    """
    return tuple(map(_column, re.sub(r"\n +", " ", dedent(text).strip()).splitlines()))


def _column(declared: str) -> ColumnSpec:
    """Return the column that a line `name TYPE NULL from source: text` declares."""
    match = _COLUMN.fullmatch(declared)
    if match is None:
        raise ValueError(f"this declares no column of a contract: {declared}")
    return ColumnSpec(
        match["name"],
        Type(match["type"]),
        match["text"],
        nullable=match["nullable"] is not None,
        sources=tuple(match["sources"].split(", ")) if match["sources"] else (),
    )


def passing(name: str, *columns: str | ColumnSpec) -> Table:
    """Return the contract of an intermediate table, which is not published.

    Columns are those of published tables, or texts as in SQL: `url VARCHAR, views BIGINT`. Their
    meaning is in the statement that makes them.
    """
    specs = list[ColumnSpec]()
    for item in columns:
        if isinstance(item, ColumnSpec):
            specs.append(item)
        else:
            pairs = (column.split() for column in item.split(", "))
            specs += [ColumnSpec(column, Type(kind), "") for column, kind in pairs]
    return Table(name, 1, "", "", tuple(specs), is_passing=True)
