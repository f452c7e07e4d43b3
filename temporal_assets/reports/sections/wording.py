"""Numbers in sentences, and constants that sections share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

Row = Mapping[str, Any]

FRONT: Final = "At a glance"
LISTS: Final = "Which sites, prefixes and hubs to watch"
PAGES: Final = "Pages and the interest in them"
PATTERNS: Final = "URL patterns"
CRAWLS: Final = "Crawl orders"
FOUND: Final = "What was found"
"""Headings of the report's parts; sections of one part follow each other."""

MOST_ROWS: Final = 500
"""Largest number of rows of a table: more than anybody reads, and it keeps the page small."""

LONGEST: Final = 120
"""Largest number of characters of a name from a log in a table."""


def percent(share: float) -> str:
    """Return a share as text in percent, with one digit after the point."""
    return f"{share:.1%}"


def signed(value: float) -> str:
    """Return a number as text with a sign and one digit after the point; no sign on zero."""
    text = f"{value:+.1f}"
    return "0.0" if text in ("-0.0", "+0.0") else text


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 page`, `1,200 pages`, `3 prefixes`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun: `pages`, `prefixes`."""
    return f"{noun}es" if noun.endswith("x") else f"{noun}s"


def every(seconds: int) -> str:
    """Return an interval as text: `10 minutes`, `2 hours`, `1 day`."""
    for unit, name in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if seconds >= unit and seconds % unit == 0:
            return counted(seconds // unit, name)
    return counted(max(seconds // _MINUTE, 1), "minute")


_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR


def more_or_fewer(now: float, before: float) -> str:
    """Return a comparison as text: `18.6% more`, `3.0% fewer` or `as many`.

    It is `some, where the other has none,` if only `before` is 0.
    """
    if before == 0:
        return "as many" if now == 0 else "some, where the other has none,"
    change = now / before - 1
    if round(abs(change), 3) == 0:
        return "as many"
    return f"{abs(change):.1%} {'more' if change > 0 else 'fewer'}"


def cut(name: str) -> str:
    """Return a name from a log, cut to the length that a table allows."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def grouped(rows: Iterable[Row], names: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """Return rows by some of their columns, in the order of their first rows."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def shown_of(shown: int, all_: int, noun: str) -> str:
    """Return a note on the rows left out of a table; empty if there are none."""
    return f"{shown:,} of {counted(all_, noun)} are shown." if shown < all_ else ""


def trial_in_words(row: Row) -> str:
    """Return where the pages of a row were born: in the days learned from, or after them."""
    if row["trial"] == "in_sample":
        return "in sample"
    return f"born in the {row['horizon_days']} days after {row['learned_until']}"
