"""The Scrapy add-on: a crawl that follows the policy.

    ADDONS = {"temporal_assets.crawl.scrapy.PolicyAddon": 500}
    TEMPORAL_POLICY = "temporal_state/policy/latest"

Hubs, feeds and sitemaps become start requests and are visited again at their intervals, where they
have changed (feeds and sitemaps come to the spider as pages of links, `source_pages`); every
other request gets the priority of its tier, or is dropped if the policy does not want it. Settings
are documented in `docs/crawlers/scrapy.md`. Needs Scrapy 2.16.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import scrapy
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider, IgnoreRequest, NotConfigured, NotSupported
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.utils.request import RequestFingerprinter
from scrapy.utils.url import url_is_from_any_domain

from temporal_assets.crawl.crawl_loops import CrawlLoops
from temporal_assets.crawl.fetch_log import SHOWN_BY, FetchLog
from temporal_assets.crawl.hub_visits import HubVisits
from temporal_assets.crawl.policy_source import PolicySource
from temporal_assets.crawl.source_pages import SOURCE, SourcesAsPages
from temporal_assets.crawl.validators import CONDITIONS, NOT_MODIFIED, VERSION, Validators
from temporal_assets.policy import Decision, Policy, PolicyError
from temporal_assets.policy.document import SKIP_TIER
from temporal_assets.policy.exports.scrapy import priority
from temporal_assets.policy.kernels import NO_PAGE, REASONS

logger = logging.getLogger(__name__)

HUB: Final = "temporal_hub"
"""Key of `Request.meta` for visits to hubs; the value is the hub's URL in the policy."""
TIER: Final = "temporal_tier"
REASON: Final = "temporal_reason"
"""Key of `Request.meta` for the policy's reason, in plain values that queues on disk can hold."""
PAGE: Final = "temporal_page"
"""Key of `Request.meta` for the canonical URL that the policy was asked about."""
START: Final = "temporal_start"
"""Key of `Request.meta` that is set if the spider starts with the request, or was redirected there
from a start."""
ASKED: Final = "temporal_asked"
"""Key of `Request.meta` for the URL of the request that PAGE belongs to. A request with another URL
was put in its place by Scrapy (a redirect), a middleware or an errback. None for a redirect to
itself."""
HOPS: Final = "temporal_hops"
"""Key of `Request.meta` for the number of redirects that the policy knows. Spiders copy
`redirect_urls` to links, and middlewares ask anew for what was redirected: neither is where a page
leads to."""
IGNORE: Final = "temporal_ignore"
"""Key of `Request.meta` that sends a request past the policy."""

_ORDER: Final = 950
"""Order of the spider middleware: results pass it before the one that counts depth (900)."""

_LAST_TO_FAIL: Final = 10
"""Order of the downloader middleware: failures pass it after the one that tries again (550)."""

fetch_failed: Final = object()
"""Signal: a page or hub could not be downloaded, or robots.txt forbids it."""

_OLDEST: Final = (2, 16)

_QUEUE: Final = "scrapy.pqueues.ScrapyPriorityQueue"
"""Queue that keeps its state as a list; Scrapy's default keeps one for each host."""

_CONDITIONS: Final = frozenset(name.encode() for name in CONDITIONS)
"""Names of conditional headers, as Scrapy writes them."""

_UNCACHED: Final = {"dont_cache": True}
"""Entry in `Request.meta` of visits to hubs: by default Scrapy's cache serves an old page for
ever."""

_NO_PAGE: Final = REASONS[NO_PAGE]
"""Reason to drop a request for good: pages also link local files (`file:`)."""

_STATE: Final = "temporal_hubs"
"""Key in `spider.state`, which Scrapy keeps in JOBDIR."""


class PolicyAddon:
    """Scrapy add-on that installs the middlewares; projects name it in `ADDONS`."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Called by Scrapy before the crawl is built."""
        if not settings.getbool("TEMPORAL_ENABLED", True):
            raise NotConfigured("TEMPORAL_ENABLED is off")
        version = tuple(int(part) for part in scrapy.__version__.split(".")[:2])
        if version < _OLDEST:
            raise NotSupported(
                f"PolicyAddon needs Scrapy 2.16 or later, this is {scrapy.__version__}"
            )
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", PolicyMiddleware, _ORDER
        )
        settings.setdefault_in_component_priority_dict(
            "DOWNLOADER_MIDDLEWARES", FailedFetches, _LAST_TO_FAIL
        )
        settings.setdefault_in_component_priority_dict(
            "DOWNLOADER_MIDDLEWARES", SourcesAsPages, _LAST_TO_FAIL + 1
        )
        settings.set("REQUEST_FINGERPRINTER_CLASS", PageFingerprinter, "addon")
        if settings.getbool("TEMPORAL_CROSS_SITE", True):
            # Scrapy's own default honours priorities within a host only.
            settings.set("SCHEDULER_PRIORITY_QUEUE", _QUEUE, "addon")
            _refuse_other_queues(settings)


def _refuse_other_queues(settings: BaseSettings) -> None:
    """Refuse a crawl folder begun with another kind of queue; Scrapy would mix up requests."""
    if not (folder := settings.get("JOBDIR")) or settings["SCHEDULER_PRIORITY_QUEUE"] != _QUEUE:
        return
    try:
        left = json.loads((Path(folder) / "requests.queue" / "active.json").read_text("utf-8"))
    except (OSError, ValueError):
        return  # nothing was left, or it is for Scrapy to say what is wrong
    if isinstance(left, dict) and left:
        raise NotSupported(
            f"JOBDIR {folder} was begun without PolicyAddon, and its queues are of another kind:"
            " begin a new one, or go on with the setting TEMPORAL_CROSS_SITE = False"
        )


class PageFingerprinter(RequestFingerprinter):
    """Fingerprinter by canonical URL, so that each page is fetched once, however it is spelled."""

    def fingerprint(self, request: Request) -> bytes:
        """Return the page's fingerprint, or its URL's if the page has been asked for already."""
        meta = request.meta
        if not meta.get(PAGE) or meta.get(ASKED) != request.url or meta.get(IGNORE):
            return super().fingerprint(request)
        of_page = super().fingerprint(request.replace(url=meta[PAGE]))
        # Not that of the same URL in the place of another, in the filter or in Scrapy's cache.
        return hashlib.sha1(b"page " + of_page, usedforsecurity=False).digest()


class FailedFetches:
    """Downloader middleware that sends `fetch_failed`: Scrapy has no signal for it."""

    def __init__(self, crawler: Crawler) -> None:
        self._signals = crawler.signals

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FailedFetches:
        """Called by Scrapy."""
        return cls(crawler)

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Called by Scrapy where nobody before wants to try again."""
        self._signals.send_catch_log(fetch_failed, request=request, error=exception)


class PolicyMiddleware(BaseSpiderMiddleware):
    """Spider middleware that sets priorities by the policy, visits hubs, and watches the policy."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        path = settings.get("TEMPORAL_POLICY")
        if not path:
            raise PolicyError(
                "set TEMPORAL_POLICY to the policy: `policy/latest` in the state folder, or a"
                " policy.json (or TEMPORAL_ENABLED = False)"
            )
        self._source = PolicySource(path)
        self._drops = _choice(settings, "TEMPORAL_OFF_POLICY", ("drop", "delay")) == "drop"
        self._last_tier = {"now": 8, "later": 15}[
            _choice(settings, "TEMPORAL_FETCH", ("later", "now"))
        ]
        self._seeds = settings.getbool("TEMPORAL_SEEDS", True)
        self._revisits = settings.getbool("TEMPORAL_REVISIT", True) and self._seeds
        self._asks_for_changes = settings.getbool("TEMPORAL_CONDITIONAL", True)
        # Hubs that are not visited again have no use for either.
        positive = _positive if self._revisits else BaseSettings.getfloat
        self._factor = positive(settings, "TEMPORAL_INTERVAL_FACTOR", 1.0)
        self._scheme = settings.get("TEMPORAL_SCHEME")
        self._reload_seconds = settings.getfloat("TEMPORAL_RELOAD_SECONDS", 60.0)
        self._tick_seconds = positive(settings, "TEMPORAL_TICK_SECONDS", 1.0)
        self._spider: Spider | None = None
        self._kept: dict[str, Any] = {}
        self._visits = HubVisits({}, {})
        self._kinds: dict[str, str] = {}
        self._versions = Validators({})
        self._log = FetchLog(settings.get("TEMPORAL_RESULTS"))
        self._loops = CrawlLoops()
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)
        crawler.signals.connect(self._idle, signals.spider_idle)
        crawler.signals.connect(self._received, signals.response_received)
        crawler.signals.connect(self._failed, fetch_failed)
        crawler.signals.connect(self._scheduled, signals.request_scheduled)

    @property
    def policy(self) -> Policy:
        """The current policy."""
        return self._source.current

    # Requests --------------------------------------------------------------------------------

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Yield requests for hubs first, then what the spider starts with."""
        if self._seeds:
            for request in self._due():
                self._count("seeds")
                yield request
        async for each in super().process_start(start):
            yield each

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Return the request with the priority of its tier; None if the policy does not want it."""
        if _is_again(request, response):
            return request
        if HUB in request.meta:
            request = _as_link(request)
        if request.meta.get(IGNORE):
            return request
        is_start = response is None
        decision = self._decided(request.url, is_start)
        if decision is None:
            return None
        facts = self._facts(request.url, decision) | {START: is_start, HOPS: _hops(request)}
        facts[SHOWN_BY] = _shower(response)
        own_priority = self._given_priority(request, response)
        return request.replace(
            priority=own_priority + self._priority(decision.tier), meta=request.meta | facts
        )

    def _given_priority(self, request: Request, response: Response | None) -> int:
        """Return the spider's own priority; a copied request has the tier's added to it already."""
        before = _asked(response)
        if before is None or TIER not in request.meta or request.priority != before.priority:
            return request.priority
        return request.priority - self._priority(request.meta[TIER])

    def _decided(self, url: str, is_start: bool) -> Decision | None:
        """Return the policy's decision on a URL, or None if it is not to be fetched."""
        decision = self.policy.match(url)
        self._count(f"reason/{decision.reason}")
        if not is_start and self._has_visits(decision.hub):
            self._count("links_to_hubs")
            return None
        is_wanted = decision.tier <= self._last_tier
        drops = self._drops or decision.reason == _NO_PAGE
        if not is_wanted and drops and not is_start:
            self._count("dropped")
            return None
        self._count(f"requests/{decision.decision}" if is_wanted else "delayed")
        return decision

    def _has_visits(self, hub: str | None) -> bool:
        """Return True if a page is visited repeatedly as a hub, not once."""
        if self._revisits:
            return hub in self._visits
        return hub is not None and self._visits.has_begun(hub)

    def _facts(self, url: str, decision: Decision) -> dict[str, Any]:
        page = self.policy.canonical(url)
        return {TIER: decision.tier, REASON: decision.reason, PAGE: page, ASKED: url}

    def _priority(self, tier: int) -> int:
        return priority(tier if tier <= self._last_tier else SKIP_TIER)

    def _scheduled(self, request: Request) -> None:
        """Ask the policy about the target of a redirect as about a link.

        Scrapy makes such requests behind the spider, with the `meta` of the one that was asked. A
        hub may lead anywhere: it is what is to be watched.
        """
        meta = request.meta
        hops = _hops(request)
        # Without PAGE: queued by a spider past the policy, or in JOBDIR before there was one.
        if hops <= meta.get(HOPS, 0) or meta.get(IGNORE) or HUB in meta or PAGE not in meta:
            return
        meta[HOPS] = hops
        if self.policy.canonical(request.url) == meta[PAGE]:
            if meta.get(ASKED) == request.url:  # as after a cookie was set
                meta[ASKED] = None
            return
        decision = self._decided(request.url, is_start=meta[START])
        if decision is None:
            raise IgnoreRequest("the policy does not want what the page leads to")
        request.priority += self._priority(decision.tier) - self._priority(meta[TIER])
        meta |= self._facts(request.url, decision)

    def _due(self) -> Iterator[Request]:
        """Yield requests for the hubs, feeds and sitemaps that are due."""
        # Not of the policy of this moment: a new one may have been loaded and not be in use yet.
        for url, tier in self._visits.take(time.time()):
            kind = self._kinds.get(url)
            source = {} if kind is None else {SOURCE: kind}
            yield Request(
                self._address(url),
                priority=priority(tier),
                dont_filter=True,
                headers=self._versions.headers(url) if self._asks_for_changes else None,
                meta={HUB: url, TIER: tier, REASON: "hub"} | _UNCACHED | source,
            )

    def _address(self, url: str) -> str:
        """Return a URL with the scheme that its site answers to: policies know one only."""
        return f"{self._scheme}://{url.split('://', 1)[1]}" if self._scheme else url

    # Life of the crawl -----------------------------------------------------------------------

    def _opened(self, spider: Spider) -> None:
        """Load what an earlier crawl in JOBDIR knew, take the policy over, and begin visits."""
        self._spider = spider
        state = getattr(spider, "state", None)
        kept = self._kept = {} if state is None else state.setdefault(_STATE, {})
        self._visits = HubVisits(kept.setdefault("visited", {}), kept.setdefault("asked", {}))
        self._versions = Validators(kept.setdefault("versions", {}))
        self._log.open()
        self._use_policy()
        if self._revisits:
            self._loops.repeat(self._visit, self._tick_seconds)
        self._loops.watch(self._source, self._reload_seconds, self._use_policy, self._count)

    def _closed(self) -> None:
        self._loops.stop()
        self._log.close()

    def _idle(self) -> None:
        if self._revisits:
            raise DontCloseSpider  # hubs are due later

    def _received(self, response: Response, request: Request) -> None:
        """Log a response, and note the version of a hub that was visited."""
        hub = request.meta.get(HUB)
        if hub is not None or PAGE in request.meta:
            self._log.note(request.url, response.status, request.meta, **self._kind(request))
        if hub is None:
            return
        self._visits.over(hub, time.time())
        headers = {name: (response.headers.get(name) or b"").decode("latin-1") for name in VERSION}
        self._versions.saw(hub, response.status, headers)
        if response.status == NOT_MODIFIED:
            self._count("not_modified")

    def _failed(self, request: Request, error: Exception) -> None:
        hub = request.meta.get(HUB)
        if hub is not None or PAGE in request.meta:
            self._log.failed(request.url, request.meta, error, **self._kind(request))
        if hub is not None:
            self._count("failed_visits")
            self._visits.over(hub, time.time())

    def _kind(self, request: Request) -> dict[str, Any]:
        """Return kind and source of a fetch, as results of crawls name them."""
        hub = request.meta.get(HUB)
        if hub is not None:
            return {"kind": self._kinds.get(hub, "hub"), "source": hub}
        return {"kind": "page", "source": request.meta.get(SHOWN_BY)}

    def _visit(self) -> None:
        engine = self.crawler.engine
        if engine is None or engine.spider is None or not engine.running:
            return
        for request in self._due():
            self._count("revisits")
            engine.crawl(request)

    def _use_policy(self) -> None:
        """Take over the hubs and sources of the present policy that the spider may visit."""
        document = self.policy.document
        # Visits are not filtered, so Scrapy lets them go anywhere.
        allowed = _domains(self._spider)
        hubs = [hub for hub in document["hubs"] if _is_of(hub["url"], allowed)]
        sources = [source for source in document["sources"] if _is_of(source["url"], allowed)]
        self._kinds = {source["url"]: source["kind"] for source in sources}
        self._visits.replace([*hubs, *sources], self._factor)
        if self._kept.get("policy") != self._source.stamp:
            # A hub that has not changed shows links that the policy before had no use for.
            self._versions.forget()
            self._kept["policy"] = self._source.stamp
        logger.info("Crawl policy of %s, %d hubs", document["day"], len(hubs))
        if self.crawler.stats:
            self.crawler.stats.set_value("temporal/policy_day", document["day"])
            self.crawler.stats.set_value("temporal/hubs", len(hubs))

    def _count(self, name: str) -> None:
        if self.crawler.stats:
            self.crawler.stats.inc_value(f"temporal/{name}")


def _domains(spider: Spider | None) -> list[str]:
    """Return the domains that a spider is restricted to; none if it is not."""
    return [domain for domain in getattr(spider, "allowed_domains", None) or () if domain]


def _is_of(url: str, domains: list[str]) -> bool:
    # As Scrapy's filter does it: without the port.
    return not domains or url_is_from_any_domain(f"//{urlsplit(url).hostname}", domains)


def _asked(response: Response | None) -> Request | None:
    """Return the request of the page that a spider was given; None for start requests."""
    return None if response is None else response.request


def _shower(response: Response | None) -> str | None:
    """Return the source or page that showed a link; None for start requests."""
    before = _asked(response)
    return None if before is None else before.meta.get(HUB, before.url)


def _is_again(request: Request, response: Response | None) -> bool:
    """Return True if a spider requests the page it was given once more, as for a retry."""
    before = _asked(response)
    if before is None or TIER not in request.meta:
        return False
    return request.dont_filter and request.url == before.url


def _hops(request: Request) -> int:
    """Return how many redirects led to a request, as Scrapy lists them in `meta`."""
    return len(request.meta.get("redirect_urls", ()))


def _as_link(request: Request) -> Request:
    """Return a request without the visit's `meta` that a spider copied to a link.

    The server would compare it with the version of the hub: what is older had "not changed".
    """
    headers = {name: value for name, value in request.headers.items() if name not in _CONDITIONS}
    of_visit = {HUB, SOURCE} | _UNCACHED.keys()
    meta = {name: value for name, value in request.meta.items() if name not in of_visit}
    return request.replace(headers=headers, meta=meta)


def _positive(settings: BaseSettings, name: str, default: float) -> float:
    """Return a setting that must be a positive number for hubs to be visited repeatedly."""
    value = settings.getfloat(name, default)
    if not 0 < value < math.inf:
        raise PolicyError(
            f"{name} is {value:g}; it is a number above 0, {default:g} by default"
            " (or TEMPORAL_REVISIT = False, for visiting hubs once)"
        )
    return value


def _choice(settings: BaseSettings, name: str, allowed: tuple[str, ...]) -> str:
    """Return a setting with few allowed values, the first of which is the default."""
    value = str(settings.get(name) or allowed[0])
    if value not in allowed:
        raise PolicyError(f"{name} is {value!r}; it may be {' or '.join(allowed)}")
    return value
