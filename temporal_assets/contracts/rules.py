"""Rules as data: a number an engine can compute, and the range it must lie in.

Every rule is an SQL aggregate, so judging a day costs one scan in the engine and no rows leave
it. The SQL is in the subset that DuckDB and Spark read alike. `$from` and `$until` stand for the
start and end of the day in UTC, `$day` for its date, `$window_first` and `$window_days` for the
window that ends with it; further parameters come from the settings
(`quality.measure.parameters`).

Not here: which rules a table has (its own module) and how they are judged (`quality`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    """What a broken rule means."""

    ERROR = "error"
    """An invariant: the data is wrong, and nothing downstream may be built on it."""
    WARN = "warn"
    """Unusual: the data may be right, somebody should look."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A number of one day's partition and its allowed range."""

    name: str
    measure: str
    """SQL aggregate over the table; one number."""
    protects: str
    """What goes wrong downstream when the rule is broken."""
    remedy: str
    """What to do about it."""
    severity: Severity = Severity.ERROR
    minimum: float | None = None
    maximum: float | None = None
    maximum_parameter: str | None = None
    """Name of the parameter that holds the maximum, where it is a setting."""
    offenders: str | None = None
    """SQL SELECT of the rows that break the rule, where there are such rows."""
    reads: tuple[str, ...] = ()
    """Further tables that `measure` reads, of the same day."""
    reads_window: tuple[str, ...] = ()
    """Daily tables of which it reads all days of the window that are there, as `<name>_window`."""
    needs_referrers: bool = False
    """Says nothing about days whose log formats do not have referrers."""


@dataclass(frozen=True, slots=True)
class Drift:
    """A number of one day, compared with the median of the days before it. Always a warning."""

    name: str
    measure: str
    protects: str
    remedy: str
    largest_factor: float | None = None
    """The day may be this many times larger or smaller than the median."""
    largest_difference: float | None = None
    """The day may differ from the median by this much."""
    reads: tuple[str, ...] = ()
    """Further tables that `measure` reads, of the same day."""
    needs_referrers: bool = False
    """Says nothing about days whose log formats do not have referrers."""

    def __post_init__(self) -> None:
        if (self.largest_factor is None) == (self.largest_difference is None):
            raise ValueError(f"drift {self.name}: state a factor or a difference")


def no_rows(name: str, table: str, condition: str, *, protects: str, remedy: str) -> Rule:
    """An invariant: no row of `table` meets `condition` (NULL counts as not met)."""
    return Rule(
        name=name,
        measure=f"coalesce(sum(CASE WHEN {condition} THEN 1 ELSE 0 END), 0)",
        maximum=0,
        offenders=f"SELECT * FROM {table} WHERE {condition}",  # noqa: S608 - names and numbers of the contract
        protects=protects,
        remedy=remedy,
    )


def not_null(table: str, columns: Sequence[str]) -> Rule:
    """An invariant: the columns have a value in every row."""
    return no_rows(
        "no_nulls",
        table,
        " OR ".join(f"{column} IS NULL" for column in columns),
        protects="Joins and groups drop rows without a value silently.",
        remedy="A reader or a transformation is at fault: report it with the rows shown here.",
    )


def day_is_partition(table: str) -> Rule:
    """An invariant: the stored day is the day of the partition."""
    return no_rows(
        "day_is_partition",
        table,
        "day IS NULL OR day <> $day",
        protects="Windows are put together from partitions and grouped by the column `day`.",
        remedy="Materialise the day again. If it stays, a transformation is at fault: report it.",
    )


def unique(table: str, key: Sequence[str]) -> Rule:
    """An invariant: no two rows of `table` have the same key (NULLs being equal)."""
    columns = ", ".join(key)
    groups = f"SELECT {columns}, count(*) AS times FROM {table} GROUP BY {columns}"  # noqa: S608 - names and numbers of the contract
    return Rule(
        name="key_is_unique",
        measure=f"(SELECT coalesce(sum(times - 1), 0) FROM ({groups}) AS keys)",  # noqa: S608 - names and numbers of the contract
        maximum=0,
        offenders=f"SELECT * FROM ({groups}) AS keys WHERE times > 1",  # noqa: S608 - names and numbers of the contract
        protects="A repeated key is counted twice in every sum downstream.",
        remedy="Materialise the day again. If it stays, the transformation is at fault: report it.",
    )


def has_rows(what: str) -> Rule:
    """A warning about an empty day, which may be right: a quiet site, a missing log."""
    return Rule(
        name="has_rows",
        measure="count(*)",
        severity=Severity.WARN,
        minimum=1,
        protects=f"A day without {what} looks like a day without visitors.",
        remedy=(
            "See `rejects` of the day for what was read, and `log_files` for files that are"
            " missing or unreadable. A day that really was empty needs nothing."
        ),
    )


def rows_drift(what: str) -> Drift:
    """A warning when the number of rows jumps."""
    return Drift(
        name="rows_are_usual",
        measure="count(*)",
        largest_factor=3.0,  # weekends of news sites have a third to a half of a working day
        protects=f"Far fewer {what} than usual: a log is missing. Far more: bots or a copied log.",
        remedy="Compare the log files of the day with those of its neighbours in `log_files`.",
    )
