"""Differences between two policies, entry by entry.

Here: comparing two documents and describing changes. Not here: reading them (`document`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from temporal_assets.policy.document import Document

_LISTS: Final[Mapping[str, Callable[[Any], str]]] = {
    "sites": lambda row: str(row["site"]),
    "hubs": lambda row: str(row["url"]),
    "prefixes": lambda row: str(row["prefix"]),
    "patterns": lambda row: f"{row['site']}{row['template']}",
}
"""Fields that name the entries of each list. Patterns may share their name, which shows neither
scheme nor port, nor all that an expression says."""

_ORIGIN: Final = re.compile(r"\^.*?://(?:\[[^]]*\]|[^/\[])*")
"""Expression for the origin at the beginning of a pattern; classes may hold slashes."""

_WATCHED: Final = {
    "sites": ("tier",),
    "hubs": ("tier", "interval_seconds"),
    "prefixes": ("tier",),
    "patterns": ("tier", "decision"),
}
"""Fields that crawlers act upon and whose changes are reported; scores change every day."""


@dataclass(frozen=True, slots=True)
class Change:
    """An entry that was added, removed or changed."""

    list: str
    name: str
    kind: str
    """`added`, `removed` or `changed`."""
    before: Mapping[str, Any]
    """The changed fields with old values, or all watched ones."""
    after: Mapping[str, Any]


def changes(before: Document, after: Document) -> list[Change]:
    """Return every change between two policies, by list and name."""
    differences: list[Change] = []
    for name, called in _LISTS.items():
        old = _by_name(before[name], called)  # type: ignore[literal-required]
        new = _by_name(after[name], called)  # type: ignore[literal-required]
        for key in sorted(old.keys() | new.keys()):
            for pair in _pairs(old.get(key, []), new.get(key, [])):
                differences += _between(name, key[0], *pair)
    return differences


def _by_name(rows: Iterable[Any], called: Callable[[Any], str]) -> dict[tuple[str, str], list[Any]]:
    """Return entries by name, patterns also by their origin."""
    rows_by_name: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        origin = _ORIGIN.match(row.get("expression", ""))
        rows_by_name.setdefault((called(row), origin[0] if origin else ""), []).append(row)
    return rows_by_name


def _pairs(old: list[Any], new: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield (old, new) for entries that are the same thing; None stands for a missing partner.

    Patterns are paired by equal expressions, and the remaining ones in order.
    """
    after = {row.get("expression"): row for row in new}
    before = {row.get("expression"): row for row in old}
    same = [expression for expression in before if expression in after]
    for expression in same:
        yield before.pop(expression), after.pop(expression)
    yield from zip_longest(before.values(), after.values())


def _between(name: str, called: str, old: Any, new: Any) -> Iterator[Change]:
    """Yield the change of one entry, if there is any; None stands for no entry."""
    before, after = _watched(name, old), _watched(name, new)
    if before == after:
        return
    if before and after:
        moved = [field for field in after if before[field] != after[field]]
        yield Change(
            name,
            called,
            "changed",
            {field: before[field] for field in moved},
            {field: after[field] for field in moved},
        )
    else:
        yield Change(name, called, "added" if after else "removed", before, after)


def _watched(name: str, row: Any) -> dict[str, Any]:
    return {field: row[field] for field in _WATCHED[name]} if row else {}
