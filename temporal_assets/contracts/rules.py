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
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

AT_FAULT: Final = "The transformation is at fault: report it with the rows shown here."
"""The remedy of most invariants: the program is at fault, not the user."""

MIN_CLIENTS_CHANGED: Final = (
    f"`privacy.min_clients` has changed, or: {AT_FAULT[0].lower()}{AT_FAULT[1:]}"
)
"""The remedy where a list names something that fewer than `min_clients` clients know."""


class Severity(Enum):
    """The meaning of a broken rule."""

    ERROR = "error"
    """The data is wrong, and nothing downstream may be built on it: an invariant."""
    WARN = "warn"
    """The data is unusual and may be right; somebody should look."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A number of one day's partition and its allowed range."""

    name: str
    measure: str
    """SQL aggregate over the table that gives one number."""
    protects: str
    """Sentence on what goes wrong downstream when the rule is broken."""
    remedy: str = AT_FAULT
    """Sentence on what to do about it."""
    severity: Severity = Severity.ERROR
    minimum: float | None = None
    maximum: float | None = None
    maximum_parameter: str | None = None
    """Name of the parameter that holds the maximum, where it is a setting."""
    offenders: str | None = None
    """SQL SELECT of the rows that break the rule, where there are such rows."""
    reads: tuple[str, ...] = ()
    """Further tables of the same day that `measure` reads."""
    reads_window: tuple[str, ...] = ()
    """Daily tables of which `measure` reads the published days of the window, as `<name>_window`.

    Of large windows it reads some days, and others on the next night (`quality.inspect`)."""
    needs_referrers: bool = False
    """True if the rule says nothing about days whose log formats lack referrers."""


@dataclass(frozen=True, slots=True)
class Drift:
    """A number of one day, compared with those of the days before it. Always a warning.

    It warns of what neither the noise of counting explains nor what the days before have shown, and
    once in sixty days unless it gets worse (`core.traffic.usual_days`).
    """

    name: str
    measure: str
    """SQL aggregate over the table: a count, or a share of `whole`."""
    protects: str
    remedy: str
    whole: str | None = None
    """SQL aggregate of which the measure is a share; None for a count."""
    largest_factor: float | None = None
    """Factor by which the day may differ from what is expected, whatever the noise."""
    largest_difference: float | None = None
    """Difference of a share from the expected one that is allowed, whatever the noise."""
    least: float | None = None
    """Least number that the day must have, unless an empty day is usual here."""
    weeks: int = 0
    """Number of weeks up to the day whose sum is judged, against earlier weeks."""
    reads: tuple[str, ...] = ()
    """Further tables that `measure` reads, of the same day."""
    needs_referrers: bool = False
    """True if the drift says nothing about days whose log formats lack referrers."""
    needs_past: bool = False
    """True if the first day is not judged: a small site never has what it looks for."""

    def __post_init__(self) -> None:
        limits = (self.largest_factor, self.largest_difference, self.least)
        if sum(limit is not None for limit in limits) != 1:
            raise ValueError(f"drift {self.name}: state a factor, a difference or the least")
        if self.largest_difference is not None and self.whole is None:
            raise ValueError(f"drift {self.name}: a difference is one of shares; state their whole")


def no_rows(
    name: str, table: str, condition: str, *, protects: str, remedy: str = AT_FAULT
) -> Rule:
    """Return an invariant: no row of `table` meets `condition` (NULL counts as not met)."""
    return Rule(
        name=name,
        measure=f"coalesce(sum(CASE WHEN {condition} THEN 1 ELSE 0 END), 0)",
        maximum=0,
        offenders=f"SELECT * FROM {table} WHERE {condition}",  # noqa: S608 - names and numbers of the contract
        protects=protects,
        remedy=remedy,
    )


def rules_of_shape(table: str, columns: Sequence[str], key: Sequence[str]) -> tuple[Rule, ...]:
    """Return the invariants from a table's shape: values in all `columns`, a unique key."""
    rules = (_not_null(table, columns), _day_is_partition(table))
    return (*rules, _unique(table, key)) if key else rules


def _not_null(table: str, columns: Sequence[str]) -> Rule:
    """Return an invariant: the columns have a value in every row."""
    return no_rows(
        "no_nulls",
        table,
        " OR ".join(f"{column} IS NULL" for column in columns),
        protects="Joins and groups drop rows without a value silently.",
        remedy="A reader or a transformation is at fault: report it with the rows shown here.",
    )


def _day_is_partition(table: str) -> Rule:
    """Return an invariant: the stored day is the day of the partition."""
    return no_rows(
        "day_is_partition",
        table,
        "day IS NULL OR day <> $day",
        protects="Windows are put together from partitions and grouped by the column `day`.",
        remedy="Materialise the day again. If it stays, a transformation is at fault: report it.",
    )


def _unique(table: str, key: Sequence[str]) -> Rule:
    """Return an invariant: no two rows of `table` have the same key (NULLs being equal)."""
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


_EMPTY: Final = (
    "See `rejects` of the day for what was read, and `log_files` for files that are"
    " missing or unreadable. A day that really was empty needs nothing."
)


def has_rows(what: str) -> Rule:
    """Return a warning about an empty table of a window."""
    return Rule(
        name="has_rows",
        measure="count(*)",
        severity=Severity.WARN,
        minimum=1,
        protects=f"A day without {what} looks like a day without visitors.",
        remedy=_EMPTY,
    )


def has_rows_as_usual(what: str) -> Drift:
    """Return a warning about an empty day, if earlier days had too many rows for chance."""
    return Drift(
        name="has_rows",
        measure="count(*)",
        least=1,
        protects=f"A day without {what} looks like a day without visitors.",
        remedy=_EMPTY,
    )


def has_rows_as_before(what: str) -> Drift:
    """Return a warning about an empty table, if earlier ones had too many rows for chance."""
    return replace(has_rows_as_usual(what), needs_past=True)


def rows_drift(what: str) -> Drift:
    """Return a warning when the number of rows jumps."""
    return Drift(
        name="rows_are_usual",
        measure="count(*)",
        largest_factor=1.8,  # half of the traffic is a fault, a fifth more or less is not
        protects=f"Far fewer {what} than usual: a log is missing. Far more: bots or a copied log.",
        remedy="Compare the log files of the day with those of its neighbours in `log_files`.",
    )
