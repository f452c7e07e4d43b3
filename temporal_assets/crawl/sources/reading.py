"""The kind of a source's document, by its content, and its entries.

Here: telling feeds, sitemaps and HTML apart by their first bytes, since servers say anything of
their type. Not here: each format (`feeds`, `sitemaps`, `crawl.mirror.html_links`).
"""

from __future__ import annotations

import re
from typing import Final

from temporal_assets.crawl.mirror.html_links import html_links
from temporal_assets.crawl.sources.entries import MOST_ENTRIES, Entry, Shown
from temporal_assets.crawl.sources.feeds import FEED, read_json_feed, read_xml_feed
from temporal_assets.crawl.sources.sitemaps import (
    SITEMAP,
    read_list,
    read_sitemap,
    unpacked_beginning,
)

HUB: Final = "hub"

_ROOT: Final = re.compile(rb"<(?:[A-Za-z][\w.-]{0,40}:)?([A-Za-z]{2,20})[\s>/]")
"""Expression for the first element: declarations and comments begin with other characters."""

_OF_FEEDS: Final = frozenset((b"rss", b"feed", b"rdf"))
_OF_SITEMAPS: Final = frozenset((b"urlset", b"sitemapindex"))
_JSON_FEED: Final = re.compile(rb'^\s*\{.*"https?://(?:www\.)?jsonfeed\.org/', re.DOTALL)


def read_source(url: str, body: bytes, charset: str | None = None, kind: str = HUB) -> Shown:
    """Return what a document shows; where its kind cannot be recognised, `kind` decides."""
    kind_found = kind_of(body)
    if kind_found == "json":
        return read_json_feed(url, body)
    if kind_found == FEED:
        return read_xml_feed(url, body)
    if kind_found == SITEMAP:
        return read_sitemap(url, body)
    if kind == SITEMAP and kind_found is None:
        return read_list(url, body)
    if kind != HUB and kind_found is None:
        return Shown(kind, faults=[f"{kind}: neither a feed nor a sitemap"])
    shown = Shown(HUB)
    for link, _ in html_links(url, body, charset):
        if len(shown.entries) >= MOST_ENTRIES:
            shown.faults.append(f"page: only the first {MOST_ENTRIES} links were read")
            break
        shown.entries.append(Entry(link))
    return shown


def kind_of(body: bytes) -> str | None:
    """Return `feed`, `json` (a JSON Feed), `sitemap`, `hub` (HTML), or None for other documents."""
    beginning = unpacked_beginning(body).removeprefix(b"\xef\xbb\xbf").lstrip()
    if beginning.startswith(b"{"):
        return "json" if _JSON_FEED.match(beginning) else None
    if not beginning.startswith(b"<"):
        return None
    root = _ROOT.search(beginning)
    name = root[1].lower() if root else b""
    if name in _OF_FEEDS:
        return FEED
    return SITEMAP if name in _OF_SITEMAPS else HUB


__all__ = ["FEED", "HUB", "SITEMAP", "kind_of", "read_source"]
