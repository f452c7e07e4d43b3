"""The choice of the next request: Scrapy's scheduler over the memory of the crawl.

Here: one request of a host at a time, after its delay, the best tier of all hosts first; what is in
flight; hosts that other crawls hold. Not here: what is asked for (`spider`), why a host is put off
(`manners`).
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

from protego import Protego
from scrapy import Request
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call

from temporal_assets.crawl.instant.host_locks import HostLocks
from temporal_assets.crawl.instant.host_queues import HostQueues
from temporal_assets.crawl.instant.hosts import host_of, wait_after
from temporal_assets.crawl.instant.memory import IN_FLIGHT, QUEUED, Host, Memory, Row

ROW: Final = "temporal_row"
"""Key in `Request.meta` for the number of the request in the memory."""

_KEPT: Final = ("redirect_times", "redirect_urls", "redirect_reasons", "temporal_tries")
"""Keys of `Request.meta` that count redirects and retries."""

_LONGEST_DELAY: Final = 60.0
"""Longest delay in seconds that follows from a slow site; robots.txt may ask for a longer one."""

_OTHER_CRAWL_SECONDS: Final = 30.0
"""Seconds after which a host that another crawl holds is tried again."""

_NUDGE_SECONDS: Final = 0.02

CrawlDelay = Callable[[Host], float]


class Asking(Protocol):
    """Protocol of the spider's methods that the scheduler calls."""

    memory: Memory

    def explore(self) -> None:
        """Queue a page to explore."""

    def redirected(self, row: Row, url: str) -> bool:
        """Return True if a redirect is to be followed."""

    def robots_read(self, url: str, sitemaps: Iterable[str]) -> None:
        """Handle the sitemaps that a robots.txt names."""

    def headers(self, row: Row) -> dict[str, str]:
        """Return the headers of a request."""

    def limits(self, row: Row) -> dict[str, Any]:
        """Return the limits of a request, for its `meta`."""

    def parse(self, response: Any) -> Any:
        """Handle a response."""

    def failed(self, failure: Any) -> Any:
        """Handle a failure."""

    def stop(self, error: OSError | sqlite3.Error) -> None:
        """End the crawl, because it cannot write."""


class HostScheduler(BaseScheduler):
    """Scrapy scheduler that takes requests from the memory, host by host."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._crawler = crawler
        self._spider: Asking = crawler.spider  # type: ignore[assignment]
        self._memory = self._spider.memory
        self._base_delay = settings.getfloat("DOWNLOAD_DELAY")
        self._is_throttled = settings.getbool("TEMPORAL_THROTTLE", True)
        self._first_wait = settings.getfloat("TEMPORAL_FIRST_WAIT_SECONDS", 10.0)
        self._queues = HostQueues()
        self._hosts = self._memory.hosts()
        self._delays: dict[str, float] = {}
        self._latency: dict[str, float] = {}
        self._flying: dict[int, str] = {}
        self._locks = HostLocks()
        self._nudges = create_looping_call(self._nudge)
        self.crawl_delay: CrawlDelay | None = None
        """Function for the Crawl-delay of a host, set by the middleware that reads robots.txt."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> HostScheduler:
        """Called by Scrapy."""
        return cls(crawler)

    # Scrapy ----------------------------------------------------------------------------------

    def open(self, spider: Any) -> None:  # noqa: ARG002 - Scrapy's
        """Called by Scrapy: what was queued or in flight is queued again."""
        for host in self._hosts.values():
            if host.ready_at > time.time():
                self._queues.release(host.host, host.ready_at)
        for host_name, tier, number, _ in self._memory.unfinished():
            self._queues.push(host_name, (tier, number))
        self._nudges.start(_NUDGE_SECONDS, now=False)

    def close(self, reason: str) -> None:  # noqa: ARG002 - Scrapy's
        """Called by Scrapy."""
        if self._nudges.running:
            self._nudges.stop()
        self._locks.close()

    def has_pending_requests(self) -> bool:
        """Called by Scrapy."""
        return len(self._queues) > 0

    def enqueue_request(self, request: Request) -> bool:
        """Called by Scrapy for what it asks for itself: redirects, and requests tried again."""
        try:
            return self._queue_again(request)
        except (OSError, sqlite3.Error) as error:
            self._spider.stop(error)
            return False

    def _queue_again(self, request: Request) -> bool:
        """Queue a request that Scrapy made of one in flight: a retry or a redirect."""
        number = request.meta.get(ROW)
        row = self._memory.row(number) if number is not None else None
        if row is None:
            return False
        self._end_flight(row.id)
        meta = json.loads(row.meta) | {n: request.meta[n] for n in _KEPT if n in request.meta}
        if request.url != row.url:
            if not self._spider.redirected(row, request.url):
                return False
            row.url, row.host = request.url, host_of(request.url)
        with self._memory.transaction():
            self._memory.change(
                row.id, state=QUEUED, url=row.url, host=row.host, meta=json.dumps(meta),
                tries=int(meta.get("temporal_tries", 0)),
            )  # fmt: skip
        self.push(row)
        return True

    def next_request(self) -> Request | None:
        """Called by Scrapy."""
        try:
            return self._next()
        except (OSError, sqlite3.Error) as error:
            self._spider.stop(error)
            return None

    def _next(self) -> Request | None:
        """Return the next request whose host is free, or None."""
        self._spider.explore()
        while (ready := self._queues.pop(time.time())) is not None:
            host, number = ready
            row = self._memory.row(number)
            if row is None or row.host != host:
                self._queues.release(host, 0.0)
                continue
            if not self._locks.take(host):
                self._count("hosts_of_other_crawls")
                self._queues.release(host, time.time() + _OTHER_CRAWL_SECONDS)
                self._queues.push(host, (row.tier, number))
                continue
            self._memory.change(number, state=IN_FLIGHT)
            self._flying[number] = host
            return self._request(row)
        return None

    # Requests --------------------------------------------------------------------------------

    def push(self, row: Row) -> None:
        """Queue a request that the memory holds."""
        self._queues.push(row.host, (row.tier, row.id))

    def finished(self, number: int, latency: float = 0.0) -> None:
        """End a request: the next one of its host may follow after the delay."""
        host = self._flying.get(number)
        if host is not None and latency:
            self._latency[host] = latency
        self._end_flight(number)

    def _end_flight(self, number: int) -> None:
        host = self._flying.pop(number, None)
        if host is None:
            return
        ready = time.time() + self.delay(host)
        host_state = self._hosts.get(host)
        self._queues.release(host, max(ready, host_state.ready_at) if host_state else ready)

    def _request(self, row: Row) -> Request:
        """Return Scrapy's request for a row of the memory."""
        meta = json.loads(row.meta)
        kept = {name: meta[name] for name in _KEPT if name in meta}
        return Request(
            row.url,
            callback=self._spider.parse,
            errback=self._spider.failed,
            headers=self._spider.headers(row),
            meta={ROW: row.id, **kept, **self._spider.limits(row)},
            dont_filter=True,
        )

    # Hosts -----------------------------------------------------------------------------------

    def host(self, name: str) -> Host:
        """Return the stored facts about a host."""
        return self._hosts.setdefault(name, Host(name))

    def keep(self, host: Host) -> None:
        """Store a host."""
        self._delays.pop(host.host, None)
        self._memory.keep_host(host)

    def put_off(self, name: str, seconds: float | None) -> None:
        """Leave a failing host alone for some seconds, or for a time that doubles."""
        host = self.host(name)
        if seconds is None:
            seconds = wait_after(host.failures, self._first_wait)
        host.failures += 1
        host.ready_at = time.time() + seconds
        self.keep(host)
        self._count("put_off")

    def delay(self, name: str) -> float:
        """Return the seconds between two requests of a host."""
        if name not in self._delays:
            host = self._hosts.get(name)
            asked = self.crawl_delay(host) if host is not None and self.crawl_delay else 0.0
            self._delays[name] = max(self._base_delay, asked)
        slow = min(self._latency.get(name, 0.0), _LONGEST_DELAY) if self._is_throttled else 0.0
        return max(self._delays[name], slow)

    def robots_read(self, url: str, rules: Protego | None) -> None:
        """Tell the spider which sitemaps a host's robots.txt names."""
        if rules is not None:
            self._spider.robots_read(url, list(rules.sitemaps))

    def _nudge(self) -> None:
        """Let Scrapy ask for requests now, because a host may be ready.

        Scrapy by itself asks when a request ends, and every five seconds.
        """
        slot = getattr(self._crawler.engine, "_slot", None)
        if slot is not None and len(self._queues):
            slot.nextcall.schedule()

    def _count(self, name: str) -> None:
        if self._crawler.stats:
            self._crawler.stats.inc_value(f"temporal/{name}")


def scheduler_of(crawler: Crawler) -> HostScheduler:
    """Return the scheduler of a crawl, which knows its hosts."""
    slot: Any = getattr(crawler.engine, "_slot", None)  # `engine.scheduler` is of Scrapy 2.19
    scheduler: HostScheduler = slot.scheduler
    return scheduler
