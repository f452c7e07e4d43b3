"""The shape of a contract. Not here: any particular table, and how rules are judged."""

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
    """The few column types in use. The value is the SQL type, which DuckDB and Spark share."""

    DATE = "DATE"
    TIMESTAMP = "TIMESTAMP"
    """UTC, microseconds, without a zone: the zone of a day is a setting, not data."""
    INTEGER = "INTEGER"
    BIGINT = "BIGINT"
    DOUBLE = "DOUBLE"
    BOOLEAN = "BOOLEAN"
    VARCHAR = "VARCHAR"
    INTEGERS = "INTEGER[]"
    """A list of 32-bit integers."""
    BIGINTS = "BIGINT[]"
    LINKS = "STRUCT(page INTEGER, transits BIGINT)[]"
    """Other ends of links, by number, and how often each was followed; ascending."""

    @property
    def arrow(self) -> pa.DataType:
        """The type in memory and in Parquet."""
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
    Type.LINKS: pa.list_(pa.struct([("page", pa.int32()), ("transits", pa.int64())])),
}


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """A column of a table."""

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
    """Raised when a column changes its name, type or meaning."""
    description: str
    grain: str
    """Meaning of one row."""
    columns: tuple[ColumnSpec, ...]
    key: tuple[str, ...] = ()
    """Columns that together are unique within a day; empty where rows may repeat."""
    own_rules: tuple[Rule, ...] = ()
    """Rules beside those that follow from the shape; judged on one day at a time."""
    drifts: tuple[Drift, ...] = ()
    """Measures of a day that are compared with the days before."""
    is_read_often: bool = False
    """Windows read all of it several times: reading must be fast, even if it is larger on disk."""
    is_passing: bool = False
    """It is gone before anybody counts its bytes: both ways must be fast."""

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
        """Return the names of the columns in the order they are stored."""
        return tuple(column.name for column in self.columns)

    def taken(self, *names: str) -> tuple[ColumnSpec, ...]:
        """Return columns of this table, for the contract of another that takes them over."""
        by_name = {column.name: column for column in self.columns}
        return tuple(replace(by_name[name], sources=(f"{self.name}.{name}",)) for name in names)

    @property
    def numbered(self) -> tuple[str, ...]:
        """Return the names of the columns that are stored as numbers of URLs."""
        return tuple(column.name for column in self.columns if column.number)

    @cached_property
    def stored(self) -> Table:
        """The same table as its files have it: numbers instead of URLs."""
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
        """All that is checked: rules, then drifts."""
        return (*self.rules, *self.drifts)

    @property
    def check_names(self) -> tuple[str, ...]:
        """Names of all that is checked, in the order of `checks`."""
        return tuple(check.name for check in self.checks)

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """Nullability is left to the rules: engines do not write it into Parquet alike."""
        return pa.schema([pa.field(column.name, column.type.arrow) for column in self.columns])


_COLUMN: Final = re.compile(
    r"(?P<name>\w+) (?P<type>[^:]+?)(?P<nullable> NULL)?(?: from (?P<sources>[^:]+))?: (?P<text>.+)"
)


def columns(text: str) -> tuple[ColumnSpec, ...]:
    """Return the columns that a text declares, as SQL would, each with its meaning.

    A column is `name TYPE [NULL] [from table.column, ...]: meaning`. Lines below it that are
    indented further go on with it.
    """
    return tuple(map(_column, re.sub(r"\n +", " ", dedent(text).strip()).splitlines()))


def _column(declared: str) -> ColumnSpec:
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
    """Return the shape of a table that lives within one build or command, and is published by none.

    Columns are those of published tables, or texts as SQL has them: `url VARCHAR, views BIGINT`.
    What they mean, the statement says that makes them.
    """
    specs = list[ColumnSpec]()
    for given in columns:
        if isinstance(given, ColumnSpec):
            specs.append(given)
        else:
            pairs = (column.split() for column in given.split(", "))
            specs += [ColumnSpec(column, Type(kind), "") for column, kind in pairs]
    return Table(name, 1, "", "", tuple(specs), is_passing=True)
