"""Politeness towards hosts: robots.txt (RFC 9309), Retry-After, back-off.

Here: two downloader middlewares, and how long to wait. Not here: when the next request of a host is
made (`scheduler`), what is remembered (`memory`).

    robots.txt is there          obeyed, with its Crawl-delay; read again after 24 hours
    4xx, but for 429             there are no rules: everything may be fetched
    5xx, 429, no answer          nothing may be fetched; asked again after a while that doubles
                                 (the copy of before, if there is one, is obeyed for 30 days)
    429 or 503 of a page         the host is left alone as long as Retry-After says, or a while that
    no answer, 5xx               doubles; the page is tried twice more
"""

from __future__ import annotations

import email.utils
import logging
import time
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from protego import Protego
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from temporal_assets.crawl.instant.hosts import host_of
from temporal_assets.crawl.instant.memory import Host
from temporal_assets.crawl.instant.scheduler import HostScheduler, scheduler_of

logger = logging.getLogger(__name__)

ROBOTS: Final = "dont_obey_robotstxt"
"""Key in `Request.meta` of requests for robots.txt itself; Scrapy's own name."""

RULES_SECONDS: Final = 86_400.0
"""Seconds for which rules are valid (RFC 9309, 2.4)."""
OLD_RULES_SECONDS: Final = 30 * 86_400.0
"""Seconds for which old rules are valid while the host does not answer (2.3.1.4)."""
RULES_BYTES: Final = 512_000
"""Bytes of robots.txt that are read (2.5 wants 500 kibibytes at least)."""

MOST_TRIES: Final = 3
"""Failed requests for a page after which it is given up."""

LONGEST_RETRY_AFTER: Final = 86_400.0
"""Longest Retry-After that is obeyed: a day."""
LONGEST_CRAWL_DELAY: Final = 3_600.0
"""Longest Crawl-delay that is obeyed: an hour."""

_TOO_MANY: Final = 429
_UNAVAILABLE: Final = 503


T = TypeVar("T")


class RobotsRules:
    """Downloader middleware that drops requests which robots.txt forbids."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        settings = crawler.settings
        self._agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        self._parsed: dict[str, tuple[float | None, Protego]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsRules:
        """Called by Scrapy."""
        return cls(crawler)

    async def process_request(self, request: Request) -> Request | None:
        """Called by Scrapy."""
        if request.meta.get(ROBOTS):
            return None
        scheduler = scheduler_of(self._crawler)
        scheduler.crawl_delay = self.crawl_delay
        host = scheduler.host(host_of(request.url))
        now = time.time()
        if host.robots_time is None or now - host.robots_time > RULES_SECONDS:
            was_read = await self._read(request, host, scheduler)
            if not was_read and not _has_old_rules(host, now):
                _count(self._crawler, "robots_unreachable")
                return _again(request)
            if was_read and scheduler.delay(host.host) > 0:
                return _again(request)  # that was a request of the host
        rules = self._rules(host)
        if rules is not None and not rules.can_fetch(request.url, self._agent):
            _count(self._crawler, "forbidden", "robotstxt")
            raise IgnoreRequest("robots.txt forbids it")
        return None

    async def _read(self, request: Request, host: Host, scheduler: HostScheduler) -> bool:
        """Fetch robots.txt; return False if the host does not say what it holds."""
        split = urlsplit(request.url)
        url = f"{split.scheme}://{split.netloc}/robots.txt"
        asked = Request(url, meta={ROBOTS: True}, callback=NO_CALLBACK, dont_filter=True)
        engine: Any = self._crawler.engine
        _count(self._crawler, "request_count", "robotstxt")
        try:
            response: Response = await engine.download_async(asked)
        except Exception as error:
            logger.info("No robots.txt of %s: %s", host.host, error)
            scheduler.put_off(host.host, None)
            return False
        if response.status == _TOO_MANY or response.status >= 500:
            asked_for = retry_after(response, time.time())
            scheduler.put_off(host.host, asked_for)
            return False
        is_there = response.status < 300
        host.robots = response.body[:RULES_BYTES] if is_there else b""
        host.robots_status, host.robots_time, host.failures = response.status, time.time(), 0
        scheduler.keep(host)
        self._parsed.pop(host.host, None)
        if is_there:
            scheduler.robots_read(response.url, self._rules(host))
        return True

    def _rules(self, host: Host) -> Protego | None:
        """Return the rules of a host; None if there are none."""
        if not host.robots:
            return None
        parsed = self._parsed.get(host.host)
        if parsed is None or parsed[0] != host.robots_time:
            text = host.robots.decode("utf-8", "ignore")
            parsed = self._parsed[host.host] = (host.robots_time, Protego.parse(text))
        return parsed[1]

    def crawl_delay(self, host: Host) -> float:
        """Return seconds between two requests that robots.txt asks for."""
        rules = self._rules(host)
        asked = float((rules.crawl_delay(self._agent) if rules is not None else None) or 0.0)
        return min(asked, LONGEST_CRAWL_DELAY) if asked > 0 else 0.0  # it may say "nan"


class Patience:
    """Downloader middleware that leaves a failing host alone and retries later."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Patience:
        """Called by Scrapy."""
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """Called by Scrapy."""
        if request.meta.get(ROBOTS):
            return response
        scheduler = scheduler_of(self._crawler)
        host = scheduler.host(host_of(request.url))
        if response.status != _TOO_MANY and response.status < 500:
            if host.failures:
                host.failures = 0
                scheduler.keep(host)
            return response
        asked_for = retry_after(response, time.time())
        is_busy = response.status in (_TOO_MANY, _UNAVAILABLE)
        scheduler.put_off(host.host, asked_for)
        # A host that says when it has time is believed more often than one that only fails.
        most = MOST_TRIES * 3 if is_busy and asked_for else MOST_TRIES
        return self._again_or(request, response, most)

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Called by Scrapy."""
        if request.meta.get(ROBOTS) or isinstance(exception, IgnoreRequest):
            return None
        scheduler = scheduler_of(self._crawler)
        host = scheduler.host(host_of(request.url))
        scheduler.put_off(host.host, None)
        return self._again_or(request, None, MOST_TRIES)

    def _again_or(self, request: Request, otherwise: T, most: int) -> Request | T:
        tries = request.meta.get("temporal_tries", 0) + 1
        if tries >= most:
            return otherwise
        _count(self._crawler, "tried_again")
        again = _again(request)
        again.meta["temporal_tries"] = tries
        return again


def retry_after(response: Response, now: float) -> float | None:
    """Return the seconds that a response asks to wait, as a number or a date (RFC 9110, 10.2.3)."""
    header = (response.headers.get("Retry-After") or b"").decode("latin-1").strip()
    if not header:
        return None
    if header.isdecimal() and header.isascii():
        return float(min(int(header[:12]), int(LONGEST_RETRY_AFTER)))
    try:
        until = email.utils.parsedate_to_datetime(header).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(until - now, 0.0), LONGEST_RETRY_AFTER)


def _has_old_rules(host: Host, now: float) -> bool:
    return host.robots_time is not None and now - host.robots_time < OLD_RULES_SECONDS


def _again(request: Request) -> Request:
    return request.replace(dont_filter=True)


def _count(crawler: Crawler, name: str, group: str = "temporal") -> None:
    if crawler.stats:
        crawler.stats.inc_value(f"{group}/{name}")
