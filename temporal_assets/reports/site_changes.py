"""Changes of the list of sites, in groups for people to read from top to bottom.

Here: the groups and their order. Not here: what counts as a change (`sql/lists/site_changes.sql`),
and how a table is written.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Row = Mapping[str, Any]

_MOST: Final = 10
"""Largest number of sites shown that merely moved: in a list of a hundred, most move a place a
day."""


@dataclass(frozen=True, slots=True)
class Group:
    """Sites with one kind of change."""

    title: str
    rows: tuple[Row, ...]
    """Rows that are shown."""
    sites: int
    """Number of all sites of the group."""


@dataclass(frozen=True, slots=True)
class Report:
    """The changes of a day."""

    day: dt.date
    earlier_day: dt.date | None
    """Day of the list compared with; None if there is none."""
    listed: int
    steady: int
    groups: tuple[Group, ...]


def report(rows: Sequence[Row], day: dt.date, earlier_day: dt.date | None) -> Report:
    """Return the changes of `day` since `earlier_day` in groups, from rows of `site_changes`."""
    groups = (
        _group("First seen", rows, lambda row: row["is_first_seen"], _by_name),
        _group("Entered the list", rows, _is("entered"), _by_rank),
        _group("Left the list", rows, _is("left"), _by_earlier_rank),
        _group("Gone quiet", rows, lambda row: row["is_gone_quiet"], _by_name),
        _group("Rising", rows, _is("rising"), _by_move, _MOST),
        _group("Falling", rows, _is("falling"), _by_move, _MOST),
        _group("In the list; there is none before it", rows, _is("listed"), _by_rank, _MOST),
    )
    return Report(
        day=day,
        earlier_day=earlier_day,
        listed=sum(row["rank"] is not None for row in rows),
        steady=sum(row["change"] == "steady" for row in rows),
        groups=tuple(group for group in groups if group.sites),
    )


def _is(change: str) -> Callable[[Row], bool]:
    return lambda row: row["change"] == change


def _by_name(row: Row) -> Any:
    return row["site"]


def _by_rank(row: Row) -> Any:
    return row["rank"]


def _by_earlier_rank(row: Row) -> Any:
    return row["earlier_rank"]


def _by_move(row: Row) -> Any:
    return -abs(row["rank"] - row["earlier_rank"]), row["rank"]


def _group(
    title: str,
    rows: Sequence[Row],
    belongs: Callable[[Row], bool],
    order: Callable[[Row], Any],
    most: int | None = None,
) -> Group:
    """Return the rows that belong to a group in its order, the first `most` of them."""
    chosen = sorted(filter(belongs, rows), key=order)
    return Group(title, tuple(chosen[:most]), len(chosen))
