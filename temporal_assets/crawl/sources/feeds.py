"""Reading RSS, Atom, RDF and JSON feeds.

Here: from the bytes of a feed to its links. The XML ones are read by feedparser, which accepts
broken feeds as people write them, resolves no external entities and stops at entities that grow
(docs/dependencies.md). It takes half a millisecond an entry, so a feed is cut behind its first
`MOST` entries before. Not here: what kind a document is (`reading`).
"""

from __future__ import annotations

import calendar
import io
import re
from typing import Any, Final

import feedparser
import orjson

from temporal_assets.crawl.sources.entries import Entry, Shown, entry, seconds_of

MOST: Final = 1_000
"""Most entries of a feed that are read, from its beginning: readers of feeds see a hundred."""

MOST_BYTES: Final = 4 << 20

FEED: Final = "feed"

_MOST_DEPTH: Final = 100
"""Most nested elements: feedparser looks through all that are open at each new one."""

_MOST_TAGS: Final = 100_000
"""Most tags of a feed that are read: a hundred an entry."""

_TAG: Final = re.compile(rb"<(/?)[A-Za-z][^<>]*?(/?)>")
_TYPE: Final = re.compile(rb"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE)
_LONG: Final = re.compile(rb"([^<>]{4096})[^<>]+")
"""Expression for text whose end is dropped: neither a link nor a date is longer."""

_END: Final = re.compile(rb"</(?:[A-Za-z][\w.-]{0,40}:)?(?:item|entry)\s*>", re.IGNORECASE)


def read_xml_feed(url: str, body: bytes) -> Shown:
    """Return the entries of an RSS, Atom or RDF feed."""
    shown = Shown(FEED)
    part = _plain(_first(body, shown), shown)
    feed = feedparser.parse(io.BytesIO(part), sanitize_html=False, resolve_relative_uris=False)
    if feed.get("bozo"):
        shown.faults.append(f"feed: {str(feed.get('bozo_exception'))[:200]}")
    base = _base(feed, url)
    for row in feed.entries[:MOST]:
        time, is_published = _time(row)
        if new_entry := entry(_link(row), base, time, published=is_published):
            shown.entries.append(new_entry)
    shown.hub = next((link.get("href") for link in _links(feed.feed) if link["rel"] == "hub"), None)
    return shown


def read_json_feed(url: str, body: bytes) -> Shown:
    """Return the entries of a JSON Feed (jsonfeed.org)."""
    shown = Shown(FEED)
    try:
        feed = orjson.loads(body[: MOST_BYTES + 1])
        items = feed["items"]
        rows = [item for item in items[:MOST] if isinstance(item, dict)]
    except (ValueError, TypeError, KeyError) as error:
        shown.faults.append(f"feed: no JSON Feed ({type(error).__name__})")
        return shown
    if len(items) > MOST:
        shown.faults.append(f"feed: only the first {MOST} entries were read")
    for row in rows:
        link = row.get("url") or row.get("external_url")
        published = seconds_of(_text(row.get("date_published")))
        time = published or seconds_of(_text(row.get("date_modified")))
        if new_entry := entry(_text(link), url, time, published=published is not None):
            shown.entries.append(new_entry)
    return shown


def _first(body: bytes, shown: Shown) -> bytes:
    """Return the beginning of a feed up to its `MOST`-th entry; `shown` notes what is cut off."""
    part = body[:MOST_BYTES]
    for number, end in enumerate(_END.finditer(part), 1):
        if number == MOST and end.end() < len(body):
            rest = body[end.end() : end.end() + 4096]
            if _END.search(rest) or len(rest) == 4096:
                shown.faults.append(f"feed: only the first {MOST} entries were read")
            return part[: end.end()]
    if len(part) < len(body):
        shown.faults.append(f"feed: only its first {MOST_BYTES >> 20} MB were read")
    return part


def _plain(part: bytes, shown: Shown) -> bytes:
    """Return a feed without constructs that only keep a parser busy; empty if nested absurdly."""
    pieces = part.split(b"<", _MOST_TAGS)
    if len(pieces) > _MOST_TAGS:
        shown.faults.append(f"feed: only its first {_MOST_TAGS} tags were read")
        part = b"<".join(pieces[:_MOST_TAGS])
    depth = deepest = 0
    for tag in _TAG.finditer(part):
        depth += 0 if tag[2] else -1 if tag[1] else 1
        deepest = max(deepest, depth)
        if deepest > _MOST_DEPTH:
            shown.faults.append(f"feed: elements are in each other more than {_MOST_DEPTH} deep")
            return b""
    # No feed needs entities of its own, and a type of document is there to declare them.
    return _LONG.sub(rb"\1", _TYPE.sub(b"", part[:65536], count=1) + part[65536:])


def _base(feed: Any, url: str) -> str:
    """Return the URL to which a feed's relative links refer; nearly all links are absolute."""
    base = feed.feed.get("title_detail", {}).get("base")
    return base if isinstance(base, str) and base.startswith(("http://", "https://")) else url


def _link(row: Any) -> str | None:
    """Return the page of an entry: its link, or an identifier that says that it is one."""
    for link in _links(row):
        if link["rel"] == "alternate" and link.get("href"):
            return str(link["href"])
    if row.get("link"):
        return str(row["link"])
    name = row.get("id")
    is_link = isinstance(name, str) and name.startswith(("http://", "https://"))
    return name if is_link and row.get("guidislink", True) else None


def _links(row: Any) -> list[dict[str, Any]]:
    return [link for link in row.get("links", ()) if link.get("rel")]


def _time(row: Any) -> tuple[float | None, bool]:
    """Return the time of an entry, and True if it is that of publication, not of a change."""
    for name, is_published in (("published_parsed", True), ("updated_parsed", False)):
        parsed = row.get(name)
        if parsed is not None:
            try:
                return float(calendar.timegm(parsed)), is_published
            except (ValueError, OverflowError):
                continue
    return None, False


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


__all__ = ["FEED", "Entry", "read_json_feed", "read_xml_feed"]
