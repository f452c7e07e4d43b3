"""Days as they are typed and shown: parsing, choosing, and long lists made short."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import Any

import typer

from temporal_assets.cli.shared.exits import USAGE, CommandError

_ONE: dt.timedelta = dt.timedelta(days=1)


def parse_day(text: str) -> dt.date:
    """Parse a day in ISO 8601, for typer."""
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a day like 2026-01-31") from None


def day_option(name: str, words: str) -> Any:
    """Return an option that takes a day; `words` describe its default."""
    return typer.Option(name, parser=parse_day, metavar="DAY", help=words, show_default=False)


def span(first: dt.date, last: dt.date) -> list[dt.date]:
    """Return all days from `first` to `last`, both included."""
    if last < first:
        raise CommandError(f"the days end ({last}) before they begin ({first})", USAGE)
    return [first + n * _ONE for n in range((last - first).days + 1)]


def ranges(days: Iterable[dt.date], limit: int = 6) -> str:
    """Return ascending days as at most `limit` ranges: `2026-01-01..2026-01-31, 2026-02-03`."""
    runs = list(_runs(days))
    shown = [f"{a}" if a == b else f"{a}..{b}" for a, b in runs[:limit]]
    if len(runs) > limit:
        shown.append(f"and {len(runs) - limit} more ranges up to {runs[-1][1]}")
    return ", ".join(shown)


def _runs(days: Iterable[dt.date]) -> Iterator[tuple[dt.date, dt.date]]:
    """Yield the first and the last day of each run of consecutive days."""
    first = last = None
    for day in days:
        if first is None or last is None:
            first = last = day
        elif day - last == _ONE:
            last = day
        else:
            yield first, last
            first = last = day
    if first is not None and last is not None:
        yield first, last
