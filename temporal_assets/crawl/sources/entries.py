"""Entries of a source: links with the times that it gives them.

Here: the shape, dates in it, and the limits that hold for all kinds. Not here: any format.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from typing import Final

from temporal_assets.crawl.mirror.html_links import absolute

MOST_ENTRIES: Final = 50_000
"""Most links that are read of one document: as many as a sitemap may hold."""

_DAY: Final = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?$")


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of a source."""

    url: str
    time: float | None = None
    """Time at which the page appeared or changed, as the source says: seconds since 1970."""
    is_published: bool = False
    """True if the time is that of publication, not of the last change."""


@dataclass(slots=True)
class Shown:
    """Content of one document of a source: its entries and more."""

    kind: str
    entries: list[Entry] = field(default_factory=list)
    children: list[Entry] = field(default_factory=list)
    """Sitemaps that an index names."""
    faults: list[str] = field(default_factory=list)
    """Faults of the document, which was read as far as it could be."""
    is_news: bool = False
    """True for a news sitemap: every page of it was published in the last days."""
    hub: str | None = None
    """The WebSub hub that a feed names."""


def entry(url: str | None, base: str, time: float | None, *, published: bool) -> Entry | None:
    """Return an entry for a link as written, or None if it leads nowhere."""
    goal = absolute(url, base) if url else None
    return None if goal is None else Entry(goal, time, published and time is not None)


def seconds_of(text: str | None) -> float | None:
    """Parse a W3C date (ISO 8601) into seconds since 1970, or None.

    A day stands for its end: a page dated today may have appeared this minute.
    """
    if not text:
        return None
    text = text.strip()[:40]
    try:
        if day := _DAY.match(text):
            begins = dt.datetime(int(day[1]), int(day[2]), int(day[3] or 1), tzinfo=dt.UTC)
            return (begins + dt.timedelta(days=1)).timestamp()
        time = dt.datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=dt.UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
