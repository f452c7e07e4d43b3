"""Sources of links besides HTML: feeds and sitemaps, and where to find them.

Here: reading what a source shows, within limits that hold whatever it sends, and finding sources.
Not here: requests, when to visit a source (`crawl.instant`), what of its links is wanted
(`policy`).
"""

from __future__ import annotations

from temporal_assets.crawl.sources.entries import Entry, Shown
from temporal_assets.crawl.sources.finding import feeds_of_page, guesses
from temporal_assets.crawl.sources.reading import FEED, HUB, SITEMAP, kind_of, read_source

__all__ = [
    "FEED",
    "HUB",
    "SITEMAP",
    "Entry",
    "Shown",
    "feeds_of_page",
    "guesses",
    "kind_of",
    "read_source",
]
