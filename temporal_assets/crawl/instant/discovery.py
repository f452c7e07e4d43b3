"""Sources that a crawl finds by itself: feeds that pages link, sitemaps, well-known places.

In go robots.txt, hubs, pages and indexes of sitemaps; out come sources of the `watch`. Not here:
how feeds are recognised in a page (`crawl.sources`), when a source is visited (`watch`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Final

from scrapy.http import Response

from temporal_assets.crawl.instant.hosts import host_of
from temporal_assets.crawl.instant.memory import Source
from temporal_assets.crawl.instant.responses import charset
from temporal_assets.crawl.instant.watch import OF_POLICY, Watch
from temporal_assets.crawl.policy_source import PolicySource
from temporal_assets.crawl.sources import FEED, SITEMAP, Entry, feeds_of_page, guesses

_MOST_CHILDREN: Final = 20
"""Most sitemaps of an index that are watched: those that changed last."""
_MOST_SITEMAPS: Final = 20
"""Most sitemaps of a robots.txt."""


class SourceDiscovery:
    """Adds what documents of watched sites name as sources to the schedule of visits."""

    def __init__(
        self, policy_source: PolicySource, watch: Watch, count: Callable[[str], None]
    ) -> None:
        self._policy_source, self._watch, self._count = policy_source, watch, count

    def from_robots(self, url: str, sitemaps: Iterable[str]) -> None:
        """Add the sitemaps that the robots.txt at a URL names."""
        if not self._is_watched(url):
            return
        for number, sitemap in enumerate(sitemaps):
            if number < _MOST_SITEMAPS and sitemap.startswith(("http://", "https://")):
                self._add(sitemap, SITEMAP, "robots", url)

    def from_index(self, children: Iterable[Entry], index: Source) -> None:
        """Add the sitemaps of an index; one that has changed since it was read is due at once."""
        latest = sorted(children, key=lambda child: -(child.time or 0.0))
        for child in latest[:_MOST_CHILDREN]:
            sitemap = self._watch.get(child.url)
            if sitemap is None:
                self._add(child.url, SITEMAP, "sitemap", index.url)
            elif child.time and sitemap.seen and child.time > sitemap.seen:
                sitemap.due = min(sitemap.due, time.time())

    def from_page(self, url: str, response: Response) -> None:
        """Add the feeds that a page links, if its site is watched."""
        if self._is_watched(url):
            self._add_feeds(url, response)

    def from_hub(self, url: str, hub: Source, response: Response) -> None:
        """Add the feeds that a hub links, and at its first visit guesses for its site."""
        links_feeds = self._add_feeds(url, response)
        if hub.visits or hub.origin != OF_POLICY:
            return
        host = host_of(url)
        kinds = {source.kind for source in self._watch if host_of(source.url) == host}
        origin = f"{url.split('://', 1)[0]}://{host}"
        for guess, kind in guesses(
            origin, has_feed=links_feeds or FEED in kinds, has_sitemap=SITEMAP in kinds
        ):
            self._add(guess, kind, "well-known", url)

    def _add_feeds(self, url: str, response: Response) -> bool:
        """Add the feeds that a document links; return False if it links none."""
        feeds = feeds_of_page(response.url, response.body, charset(response))
        for feed in feeds:
            self._add(feed, FEED, "link", url)
        return bool(feeds)

    def _add(self, url: str, kind: str, origin: str, found_on: str) -> None:
        if self._watch.add(url, kind, origin, found_on, host_of(url), time.time()):
            self._count(f"discovered/{origin}")

    def _is_watched(self, url: str) -> bool:
        """Return True if the policy knows the site of a URL."""
        return self._policy_source.current.match(url).site is not None
