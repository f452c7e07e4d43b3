"""The instant crawler: a ready spider on the add-on (NP section 1: crawl news as it appears).

It starts from the hubs of the policy, visits them again at their intervals, follows the links that
the policy wants now, and archives what it fetches. It obeys robots.txt, asks one site for one page
at a time, stops on its budget and goes on where it stopped. Not here: what is wanted (`policy`),
when hubs are due (`hub_visits`), the files (`archive`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout
from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.settings import default_settings

from temporal_assets import __version__
from temporal_assets.crawl.archive import Archive, Page
from temporal_assets.crawl.scrapy import HUB, REASON, TIER, PolicyAddon

_NAME: Final = "temporal-assets"

AGENT: Final = f"{_NAME}/{__version__}"

KILLED: Final = "killed"
"""Not a word of Scrapy's: it has no time to say any."""

_LOCK: Final = "crawl.lock"
"""Two crawls would take requests from one queue, and each would visit all hubs."""

_MAX_BYTES: Final = 16 * 2**20
"""Pages of news are never larger; downloads are."""

_LONGEST_DELAY: Final = 60.0
"""Seconds between pages of a site that is slow, as Scrapy has it; a delay that is asked for may be
longer."""

_EXACT_DELAY: Final[dict[str, Any]] = (
    {"DOWNLOAD_DELAY_JITTER": 0.0}
    if hasattr(default_settings, "DOWNLOAD_DELAY_JITTER")
    else {"RANDOMIZE_DOWNLOAD_DELAY": False}  # of older releases; those after them warn of it
)
"""Else the delay is drawn for each page, from half of what was asked for."""


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop; None: never."""

    pages: int | None = None
    """Responses, robots.txt included; requests under way are still finished."""
    seconds: float | None = None


class CrawlUnderWayError(Exception):
    """Another process crawls into the folder."""


class InstantSpider(Spider):
    """Archives every page it gets, and follows its links as the add-on allows."""

    name = "instant"

    def __init__(self, folder: str | Path, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._archive = Archive(Path(folder))
        self._links = LinkExtractor(deny_extensions=[])

    async def start(self) -> AsyncIterator[Request]:
        """Nothing of its own: the hubs come from the add-on."""
        nothing: tuple[Request, ...] = ()
        for request in nothing:
            yield request

    def parse(self, response: Response, **_: Any) -> Iterator[Request]:
        """Archive a page, then follow it."""
        meta = response.meta
        self._archive.add(
            _page(response),
            tier=meta.get(TIER),
            reason=meta.get(REASON),
            hub=meta.get(HUB),
        )
        if isinstance(response, HtmlResponse):  # JSON is text as well, and has none
            for link in self._links.extract_links(response):
                yield Request(link.url)

    def closed(self, reason: str) -> None:
        """Called by Scrapy at the end."""
        self._archive.close()
        self.logger.info("Archived until %s", reason)


def crawl(
    policy: str | Path,
    folder: Path,
    budget: Budget | None = None,
    settings: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Crawl into `folder` until the budget is spent or Ctrl-C; the statistics of the run.

    The same folder again goes on with what was queued; one crawl at a time has it, or
    `CrawlUnderWayError` is raised. Once in a process: Scrapy's reactor cannot
    be started twice. Raises what kept the crawl from starting; statistics of one that was ended
    before it could close have KILLED as `finish_reason`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    alone = FileLock(folder / _LOCK, timeout=0)
    try:
        alone.acquire()
    except Timeout:
        raise CrawlUnderWayError(
            f"another crawl is under way in {folder}: wait for it, or name another folder"
        ) from None
    try:
        return _crawl(policy, folder, budget, settings)
    finally:
        alone.release()


def _crawl(
    policy: str | Path, folder: Path, budget: Budget | None, settings: dict[str, Any] | None
) -> dict[str, Any]:
    process = CrawlerProcess(_settings(policy, folder, budget or Budget(), settings or {}))
    crawler = process.create_crawler(InstantSpider)
    failures: list[Any] = []  # of Twisted, which is known by way of Scrapy alone
    process.crawl(crawler, folder=folder).addErrback(failures.append)
    process.start()
    if failures:
        failures[0].raiseException()
    stats = crawler.stats.get_stats() if crawler.stats else {}
    return {"finish_reason": KILLED, **stats}


def _settings(
    policy: str | Path, folder: Path, budget: Budget, own: Mapping[str, Any]
) -> dict[str, Any]:
    """Of the process; `own` has the last word."""
    found = {
        "ADDONS": {PolicyAddon: 500},
        "TEMPORAL_POLICY": str(policy),
        "TEMPORAL_FETCH": "now",
        "JOBDIR": str(folder / "job"),
        "ROBOTSTXT_OBEY": True,
        "USER_AGENT": AGENT,
        # Scrapy looks for names in the whole user agent, and the contact may hold one of others.
        "ROBOTSTXT_USER_AGENT": _NAME,
        # One page of a site at a time, slower where the site is slow.
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": 1.0,
        **_EXACT_DELAY,
        # Pages that wait for their site's delay count as well: the first of the queue are often of
        # one site, and at Scrapy's 16 no other site had a place.
        "CONCURRENT_REQUESTS": 64,
        "AUTOTHROTTLE_ENABLED": True,
        "DOWNLOAD_MAXSIZE": _MAX_BYTES,
        "CLOSESPIDER_PAGECOUNT": budget.pages or 0,
        "CLOSESPIDER_TIMEOUT": budget.seconds or 0,
        # Both wait on a port for code to run in the crawler.
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "LOG_LEVEL": "INFO",
        **own,
    }
    longest = max(_LONGEST_DELAY, found["DOWNLOAD_DELAY"])
    return {"AUTOTHROTTLE_MAX_DELAY": longest, **found}


def _page(response: Response) -> Page:
    headers = [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in response.headers.items()
        for value in values or []
    ]
    now = dt.datetime.now(dt.UTC)
    return Page(response.url, response.status, headers, response.body, now)
