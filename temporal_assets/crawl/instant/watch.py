"""Schedule of visits to the sources of a crawl: hubs, feeds and sitemaps.

Here: a state machine that computes when each source is due, from times that the caller gives; it is
stored in the crawl's memory. Not here: a clock, requests, Scrapy; how a source is read
(`crawl.sources`).

Sources of the policy have the policy's interval; hubs get a longer one while they bring less than
it promises. Sources that the crawl found by itself (feeds that pages link, sitemaps of robots.txt,
well-known places) get an interval by their yield: new wanted pages that no other source had shown
before. A source that is gone is retired.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from temporal_assets.core.crawls.visit_rates import (
    LONGEST,
    SHORTEST,
    VISITS_PER_PAGE,
    interval,
    stretch,
)
from temporal_assets.crawl.instant.memory import Memory, Source
from temporal_assets.crawl.sources import FEED, HUB

GONE: Final = 410
MISSING: Final = 404

_MISSED_VISITS: Final = 3
"""Visits in a row without a page (404) after which a source is gone; one is enough for a guess."""

RETIRED_SECONDS: Final = 30 * 86_400.0
"""Seconds after which a retired source is tried once more."""

MOST_OF_HOST: Final = 40
"""Most sources of a host that a crawl finds by itself: a hostile one names millions."""

OF_POLICY: Final = "policy"
GUESSED: Final = "well-known"

ORIGINS: Final = ("link", "robots", "sitemap", GUESSED)
"""Places where a crawl finds sources: pages, robots.txt, indexes of sitemaps, guesses."""

_TIER: Final = 4
"""Tier of sources that the crawl found: after all hubs of the policy, before all pages."""
_LAST_TIER: Final = 8
"""Tier of guesses: after all that is wanted now."""


@dataclass(frozen=True, slots=True)
class Known:
    """A source that the policy names; `seconds` is its interval."""

    url: str
    kind: str
    tier: int
    seconds: float
    new_per_day: float | None = None
    """New pages a day that the policy promises; None stands for two in three visits."""


class Watch:
    """Schedule of all sources of a crawl; `factor` scales every interval."""

    def __init__(self, memory: Memory, factor: float = 1.0) -> None:
        self._memory, self._factor = memory, factor
        self._sources = memory.sources()
        self._promised: dict[str, float] = {}
        self._hosts: dict[str, int] = {}
        for source in self._sources.values():
            self._count(source)

    def __contains__(self, url: object) -> bool:
        source = self._sources.get(str(url))
        return source is not None and source.retired is None

    def __iter__(self) -> Iterator[Source]:
        return iter(self._sources.values())

    def get(self, url: str) -> Source | None:
        """Return a source by its URL, or None."""
        return self._sources.get(url)

    def use(self, sources: Iterable[Known]) -> None:
        """Use the sources of a new policy.

        Sources that only the policy before named are kept with an interval by their yield.
        """
        named = {watched.url: watched for watched in sources}
        for source in self._sources.values():
            if source.origin == OF_POLICY and source.url not in named:
                source.origin = "link"
                self._memory.keep_source(source)
        for watched in named.values():
            new = Source(watched.url, watched.kind, OF_POLICY, None, watched.tier, watched.seconds)
            source = self._sources.setdefault(watched.url, new)
            before = source.seconds
            source.kind, source.origin = watched.kind, OF_POLICY
            source.tier, source.seconds = watched.tier, watched.seconds
            if watched.new_per_day is not None:
                self._promised[watched.url] = watched.new_per_day / 86_400.0
            if source.visits and source.retired is None:
                # By the interval of now, whatever it was at the last visit.
                source.due += (watched.seconds - before) * self._factor
            self._memory.keep_source(source)

    def forget_versions(self) -> None:
        """Forget versions of all sources, to read them in full: a new policy wants other links."""
        for source in self._sources.values():
            if source.origin == OF_POLICY:
                source.found, source.since = 0, source.seen or 0.0  # it is judged anew
            if source.etag or source.modified or source.digest or source.origin == OF_POLICY:
                source.etag = source.modified = source.digest = ""
                self._memory.keep_source(source)

    def add(self, url: str, kind: str, origin: str, found_on: str, host: str, now: float) -> bool:
        """Add a source the crawl found; return False if it is known or its host has too many."""
        if url in self._sources or self._hosts.get(host, 0) >= MOST_OF_HOST:
            return False
        tier = _LAST_TIER if origin == GUESSED else _TIER
        source = Source(url, kind, origin, found_on, tier, interval(0, 0), due=now)
        self._sources[url] = source
        self._hosts[host] = self._hosts.get(host, 0) + 1
        self._memory.keep_source(source)
        return True

    def due(self, now: float) -> list[Source]:
        """Return the sources to be visited at `now`, the best first."""
        due_sources = [
            source
            for source in self._sources.values()
            if source.due <= now and not self._is_needless(source)
        ]
        return sorted(due_sources, key=lambda source: (source.tier, source.due, source.url))

    def ask_feeds(self, hosts: AbstractSet[str], now: float) -> None:
        """Make the feeds of some hosts due, but no earlier than the shortest interval.

        The hosts' hubs show new links in sections that the policy does not know; feeds tell what is
        news.
        """
        if not hosts:
            return
        for source in self._sources.values():
            places = {_host(source), urlsplit(source.found_on or "").netloc}
            if (
                source.kind == FEED
                and source.retired is None
                and source.seen
                and places & set(hosts)
            ):
                earliest = source.seen + SHORTEST * self._factor
                if max(earliest, now) < source.due:
                    source.due = max(earliest, now)
                    self._memory.keep_source(source)

    def read(self, source: Source, new_pages: int, now: float) -> None:
        """Record a successful visit and how many new wanted pages it brought (0 if unchanged)."""
        source.visits += 1
        source.since = source.since or now
        source.seen, source.retired, source.failures = now, None, 0
        if source.visits > 1:  # what a first visit shows appeared at any time before
            source.found += new_pages
        if source.origin != OF_POLICY:
            hours = (now - source.since) / self._factor / 3600
            source.seconds = interval(source.found, hours)
        self._again(source, now)

    def failed(self, source: Source, status: int | None, now: float) -> None:
        """Record a visit that brought nothing readable; the next comes later each time."""
        source.visits += 1
        source.since = source.since or now
        source.failures += 1
        missed = status == MISSING and (
            source.failures >= _MISSED_VISITS or source.origin == GUESSED
        )
        if status == GONE or missed or (source.origin == GUESSED and not source.seen):
            source.retired = now
            source.due = now + RETIRED_SECONDS
            self._memory.keep_source(source)
        else:
            self._again(source, now)

    def moved(self, source: Source, now: float) -> None:
        """Schedule the next visit of a source that could not be visited (robots.txt forbids it)."""
        self._again(source, now)

    def _is_needless(self, guess: Source) -> bool:
        """Return True for a guess whose host has another source of its kind that works."""
        return (
            guess.origin == GUESSED
            and not guess.visits
            and any(
                source.kind == guess.kind and source.seen and _host(source) == _host(guess)
                for source in self._sources.values()
            )
        )

    def _period(self, source: Source) -> float:
        longer = 2.0 ** min(source.failures, 10)
        if source.kind == HUB and source.origin == OF_POLICY:
            longer *= self._stretch(source)
        return self._factor * max(source.seconds, min(source.seconds * longer, LONGEST))

    def _stretch(self, hub: Source) -> float:
        """Return the factor on a hub's interval for what it has brought so far."""
        if hub.seen is None:
            return 1.0
        watched = (hub.seen - hub.since) / self._factor
        a_second = self._promised.get(hub.url, 1.0 / (VISITS_PER_PAGE * hub.seconds))
        return stretch(watched * a_second, hub.found)

    def _again(self, source: Source, now: float) -> None:
        source.due = now + self._period(source)
        self._memory.keep_source(source)

    def _count(self, source: Source) -> None:
        if source.origin != OF_POLICY:
            self._hosts[_host(source)] = self._hosts.get(_host(source), 0) + 1


def _host(source: Source) -> str:
    return urlsplit(source.url).netloc
