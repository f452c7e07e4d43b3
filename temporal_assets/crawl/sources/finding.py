"""Finding feeds and sitemaps: in pages, and in places where they usually are.

Here: `link rel=alternate` of an HTML page, and well-known paths. Not here: robots.txt, which the
crawler reads anyway (`crawl.instant.robots`), and what users list (`policy`).
"""

from __future__ import annotations

from typing import Final

from selectolax.lexbor import LexborHTMLParser

from temporal_assets.crawl.mirror.html_links import absolute, decoded

_TYPES: Final = frozenset(
    (
        *("application/rss+xml", "application/atom+xml", "application/rdf+xml"),
        *("application/feed+json", "application/json"),
    )
)

_MOST: Final = 10
"""Most feeds of one page: blogs list one of comments for each article."""

_HEAD_BYTES: Final = 1 << 18
"""Bytes of a page that are looked through: `link` stands in its head."""

_COMMENTS: Final = ("/comments/feed", "comments/default", "feed=comments")

FEED_PATHS: Final = ("/feed", "/rss.xml", "/atom.xml")
SITEMAP_PATHS: Final = ("/sitemap.xml",)
"""Paths at which most programs that make sites put their sitemaps."""


def feeds_of_page(url: str, body: bytes, charset: str | None = None) -> list[str]:
    """Return the feeds that a page links, except for feeds of comments."""
    tree = LexborHTMLParser(decoded(body[:_HEAD_BYTES], charset))
    feeds: dict[str, None] = {}
    for node in tree.css("link[rel~=alternate i][href]"):
        kind = (node.attributes.get("type") or "").split(";")[0].strip().lower()
        goal = absolute(node.attributes.get("href") or "", url) if kind in _TYPES else None
        if goal is not None and not any(mark in goal for mark in _COMMENTS):
            feeds[goal] = None
        if len(feeds) >= _MOST:
            break
    return list(feeds)


def guesses(origin: str, *, has_feed: bool, has_sitemap: bool) -> list[tuple[str, str]]:
    """Return (URL, kind) of usual places of feeds and sitemaps, for kinds not known yet."""
    urls = [] if has_sitemap else [(f"{origin}{path}", "sitemap") for path in SITEMAP_PATHS]
    return urls + ([] if has_feed else [(f"{origin}{path}", "feed") for path in FEED_PATHS])
