"""What changed from one policy to another.

Here: comparing two documents and saying it in lines. Not here: reading them (`document`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from temporal_assets.policy.document import Document

_LISTS: Final[Mapping[str, Callable[[Any], str]]] = {
    "sites": lambda row: str(row["site"]),
    "hubs": lambda row: str(row["url"]),
    "prefixes": lambda row: str(row["prefix"]),
    "patterns": lambda row: f"{row['site']}{row['template']}",
}
"""What makes two entries of a list the same thing."""

_WATCHED: Final = {
    "sites": ("tier",),
    "hubs": ("tier", "interval_seconds"),
    "prefixes": ("tier",),
    "patterns": ("tier", "decision"),
}
"""What crawlers act upon; scores move every day."""


@dataclass(frozen=True, slots=True)
class Change:
    """One entry that came, went, or is treated otherwise."""

    list: str
    name: str
    kind: str
    """`added`, `removed` or `changed`."""
    before: Mapping[str, Any]
    """The fields that changed, or all that are watched."""
    after: Mapping[str, Any]


def changes(before: Document, after: Document) -> list[Change]:
    """Every change, by list and name."""
    found: list[Change] = []
    for name, identity in _LISTS.items():
        old = _by_name(before[name], identity)  # type: ignore[literal-required]
        new = _by_name(after[name], identity)  # type: ignore[literal-required]
        found += _of_list(name, old, new)
    return found


def _by_name(rows: Sequence[Any], identity: Callable[[Any], str]) -> dict[str, Any]:
    return {identity(row): row for row in rows}


def _of_list(name: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    for key in sorted(old.keys() | new.keys()):
        before = _watched(name, old.get(key))
        after = _watched(name, new.get(key))
        if before == after:
            continue
        if before and after:
            moved = [field for field in after if before[field] != after[field]]
            yield Change(
                name,
                key,
                "changed",
                {field: before[field] for field in moved},
                {field: after[field] for field in moved},
            )
        else:
            yield Change(name, key, "added" if after else "removed", before, after)


def _watched(name: str, row: Any) -> dict[str, Any]:
    return {field: row[field] for field in _WATCHED[name]} if row else {}
