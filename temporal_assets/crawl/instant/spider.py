"""The spider: it archives responses, has their links sorted, and credits their sources.

In go a policy and what servers answer; out come the archive and the crawl's memory. Not here: what
becomes of a link (`links`), new sources (`discovery`), which sources are due (`watch`), what is
explored (`explore`), how a document is read (`crawl.sources`), the next request (`scheduler`).
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider, IgnoreRequest
from scrapy.http import HtmlResponse, Response
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro

from temporal_assets.crawl.crawl_loops import CrawlLoops
from temporal_assets.crawl.instant.archive import Archive, Page, payload_digest
from temporal_assets.crawl.instant.discovery import SourceDiscovery
from temporal_assets.crawl.instant.explore import SHARE, Explorer, facts_of, is_recent
from temporal_assets.crawl.instant.hosts import host_of
from temporal_assets.crawl.instant.links import EXPLORE, LAST_LATER, LAST_NOW, PAGE, LinkFollower
from temporal_assets.crawl.instant.memory import DONE, Memory, Row, Source
from temporal_assets.crawl.instant.responses import charset, header_lines, versions
from temporal_assets.crawl.instant.scheduler import ROW, HostScheduler, scheduler_of
from temporal_assets.crawl.instant.watch import Known, Watch
from temporal_assets.crawl.policy_source import PolicySource
from temporal_assets.crawl.sources import HUB, SITEMAP, Shown, kind_of, read_source
from temporal_assets.policy import Policy

logger = logging.getLogger(__name__)

NOT_MODIFIED: Final = 304
OK: Final = 200
FULL_DISK: Final = "disk_full"
"""Reason for the end of a crawl that could not write."""

_EXPLORE_TIER: Final = 4
"""Tier of exploring requests, before pages: their share must not depend on the queue."""
_SITEMAP_BYTES: Final = 52_428_800


class InstantSpider(Spider):
    """Spider that archives every page and follows its links as the policy wants."""

    name = "instant"

    def __init__(self, folder: str | Path, crawler: Crawler, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        settings = crawler.settings
        self._crawl = crawler
        self._source = PolicySource(settings["TEMPORAL_POLICY"])
        self.memory = Memory(Path(folder))
        lengths = self.memory.fact("lengths")
        self._archive = Archive(Path(folder), settings["USER_AGENT"], lengths)
        self.memory.note("lengths", self._archive.lengths)
        self._explorer = Explorer(
            self.memory, settings.getfloat("TEMPORAL_EXPLORE", SHARE),
            settings.getint("TEMPORAL_SEED") or None,
        )  # fmt: skip
        self._watch = Watch(self.memory, settings.getfloat("TEMPORAL_INTERVAL_FACTOR", 1.0))
        later = settings.get("TEMPORAL_FETCH", "now") == "later"
        self._last_tier = LAST_LATER if later else LAST_NOW
        self._scheme = settings.get("TEMPORAL_SCHEME")
        self._revisits = settings.getbool("TEMPORAL_REVISIT", True)
        self._discovers = settings.getbool("TEMPORAL_DISCOVER", True)
        self._links = LinkFollower(
            self._source, self.memory, self._watch, self._explorer, self._last_tier, self._add,
            self._count,
        )  # fmt: skip
        self._discovery = SourceDiscovery(self._source, self._watch, self._count)
        self._loops = CrawlLoops(self._ends)
        self._scheduler: HostScheduler | None = None
        self._under_way: set[str] = set()
        self.trouble: OSError | sqlite3.Error | None = None
        """Error of the disk that ended the crawl."""
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._idle, signals.spider_idle)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> InstantSpider:
        """Called by Scrapy."""
        spider = cls(kwargs.pop("folder"), crawler, *args, **kwargs)
        spider._set_crawler(crawler)
        return spider

    @property
    def policy(self) -> Policy:
        """The current policy."""
        return self._source.current

    @property
    def scheduler(self) -> HostScheduler:
        """Scheduler of the crawl."""
        if self._scheduler is None:
            self._scheduler = scheduler_of(self._crawl)
        return self._scheduler

    async def start(self) -> AsyncIterator[Request]:
        """Yield no requests: due visits are queued when the crawl begins, and at every tick."""
        nothing: tuple[Request, ...] = ()
        for request in nothing:
            yield request

    # Life of the crawl -----------------------------------------------------------------------

    def _opened(self) -> None:
        """Queue visits that are due now and at every tick, and watch the policy."""
        settings = self._crawl.settings
        self._under_way = {
            page for _, _, _, page in self.memory.unfinished() if page.startswith("visit ")
        }
        self._loops.call(self._use_policy)
        self._loops.call(self._visit)
        self._loops.repeat(self._visit, settings.getfloat("TEMPORAL_TICK_SECONDS", 1.0))
        reload_seconds = settings.getfloat("TEMPORAL_RELOAD_SECONDS", 60.0)
        self._loops.watch(self._source, reload_seconds, self._use_policy, self._count)

    def _ends(self, error: Exception) -> bool:
        """End the crawl if an error means that it cannot write; return True if so."""
        if not isinstance(error, OSError | sqlite3.Error):
            return False
        self.stop(error)
        return True

    def _idle(self) -> None:
        if self._revisits:
            raise DontCloseSpider  # sources are due later

    def closed(self, reason: str) -> None:
        """Called by Scrapy at the end."""
        self._loops.stop()
        with suppress(OSError):  # what a full disk did not take is cut off when the crawl goes on
            self._archive.close()
        self.memory.close()
        self.logger.info("Archived until %s", reason)

    def stop(self, error: OSError | sqlite3.Error) -> None:
        """End the crawl, because it cannot write; the next one continues from here."""
        if self.trouble is None:
            self.trouble = error
            logger.error("The crawl ends, and can go on later: %s", error)
            call_later(0, self._close)  # the crawl may be opening yet

    def _close(self) -> None:
        engine: Any = self._crawl.engine
        deferred_from_coro(engine.close_spider_async(reason=FULL_DISK))

    def _use_policy(self) -> None:
        """Take over the sources of the present policy, and note the policy that is in use."""
        document, stamp = self.policy.document, list(self._source.stamp or ())
        watched = [
            Known(hub["url"], HUB, hub["tier"], hub["interval_seconds"], hub["new_per_day"])
            for hub in document["hubs"]
        ]
        watched += [
            Known(source["url"], source["kind"], source["tier"], source["interval_seconds"])
            for source in document["sources"]
        ]
        with self.memory.transaction():
            self._watch.use(watched)
            if self.memory.fact("policy") != stamp:
                # A source that has not changed shows links that the policy before did not want.
                self._watch.forget_versions()
                self.memory.note("policy", stamp)
        logger.info("Crawl policy of %s, %d sources", document["day"], len(watched))
        if self._crawl.stats:
            self._crawl.stats.set_value("temporal/policy_day", document["day"])
            self._crawl.stats.set_value("temporal/hubs", len(document["hubs"]))

    # Requests --------------------------------------------------------------------------------

    def _visit(self) -> None:
        """Queue visits to the sources that are due."""
        with self.memory.transaction():
            for source in self._watch.due(time.time()):
                page = f"visit {source.url}"
                if page in self._under_way or (source.visits and not self._revisits):
                    continue
                url = self._address(source.url)
                row = Row(0, page, url, host_of(url), source.tier, "source", None, source.kind)
                number = self.memory.again(row)
                if number is not None:
                    row.id = number
                    self._under_way.add(page)
                    self.scheduler.push(row)

        self._say_waiting()

    def _say_waiting(self) -> None:
        """Store the number of visits that are due and were not made, for the end of the crawl."""
        if self._crawl.stats:
            self._crawl.stats.set_value("temporal/waiting", len(self._under_way))

    def explore(self) -> None:
        """Queue a page that the policy does not know, if the budget of exploration allows one."""
        candidate = self._explorer.take()
        if candidate is None:
            return
        row = Row(
            0, candidate.page, candidate.url, host_of(candidate.url), _EXPLORE_TIER, EXPLORE,
            candidate.source, EXPLORE, meta=facts_of(candidate),
        )  # fmt: skip
        self._add(row)

    def _add(self, row: Row) -> bool:
        """Queue a request; return False if its page is in the crawl's memory."""
        number = self.memory.add(row)
        if number is None:
            return False
        row.id = number
        self.scheduler.push(row)
        return True

    def _address(self, url: str) -> str:
        """Return a URL with the scheme that its site answers to: policies know one only."""
        return f"{self._scheme}://{url.split('://', 1)[1]}" if self._scheme else url

    def headers(self, row: Row) -> dict[str, str]:
        """Return conditional headers that ask if a source has changed since it was read."""
        source = self._source_of(row)
        if source is None:
            return {}
        asked = {"If-None-Match": source.etag, "If-Modified-Since": source.modified}
        return {name: value for name, value in asked.items() if value}

    def limits(self, row: Row) -> dict[str, Any]:
        """Return the limits of a request."""
        return {"download_maxsize": _SITEMAP_BYTES} if row.kind == SITEMAP else {}

    def redirected(self, row: Row, url: str) -> bool:
        """Return True if a redirect is to be followed: the policy must want its target."""
        if self._source_of(row) is not None or row.kind == EXPLORE:
            return True  # a source may lead anywhere: it is what is to be watched
        page = self.policy.canonical(url)
        if page == row.page:
            return True  # as after a cookie was set
        decision = self.policy.match(url)
        self._count(f"reason/{decision.reason}")
        wanted = page is not None and decision.tier <= self._last_tier
        if not wanted:
            self._count("dropped")
        moved = Row(0, page or "", url, host_of(url), row.tier, row.reason, row.source, PAGE, DONE)
        is_new = wanted and self.memory.add(moved) is not None
        if not is_new:
            self.memory.change(row.id, state=DONE)
        return is_new

    def robots_read(self, url: str, sitemaps: Iterable[str]) -> None:
        """Add the sitemaps that a robots.txt names."""
        if self._discovers:
            self._discovery.from_robots(url, sitemaps)

    # Responses -------------------------------------------------------------------------------

    def parse(self, response: Response, **_: Any) -> None:
        """Archive a page, credit its source and queue its links, in one transaction."""
        number = response.meta[ROW]
        row = self.memory.row(number)
        if row is None or self.trouble is not None:
            return  # it stays in flight, and is fetched again
        try:
            with self.memory.transaction():
                self._take(row, response)
                self._done(row)
        except (OSError, sqlite3.Error) as error:
            self.stop(error)
            return
        except Exception as error:
            self._give_up(row, error)
        self._explorer.spent(exploring=row.kind == EXPLORE)
        self.scheduler.finished(number, response.meta.get("download_latency", 0.0))

    def failed(self, failure: Any) -> None:
        """Record a failed request."""
        row = self.memory.row(failure.request.meta[ROW])
        if row is None or self.trouble is not None:
            return
        source, now = self._source_of(row), time.time()
        is_ours = failure.check(IgnoreRequest) is not None
        try:
            with self.memory.transaction():
                if source is not None and is_ours:
                    self._watch.moved(source, now)
                elif source is not None:
                    self._watch.failed(source, None, now)
                error = str(failure.value) if is_ours else failure.type.__name__
                self._note(row, None, error=error[:200])
                if row.kind == EXPLORE:
                    self._explorer.learned(json.loads(row.meta)["arm"], paid=False)
                self._done(row)
        except (OSError, sqlite3.Error) as problem:
            self.stop(problem)
            return
        if source is not None:
            self._count("failed_visits")
        self.scheduler.finished(row.id)

    def _give_up(self, row: Row, error: Exception) -> None:
        """Record a page that this code failed to handle, and continue without it."""
        logger.exception("%s is left out", row.url)
        self._count("errors")
        with self.memory.transaction():
            self._note(row, None, error=type(error).__name__)
            source = self._source_of(row)
            if source is not None:
                self._watch.failed(source, None, time.time())
            self._done(row)

    def _done(self, row: Row) -> None:
        """Note that a request is done, and how long the archive's files are now."""
        self.memory.change(row.id, state=DONE)
        self.memory.note("lengths", self._archive.lengths)
        if row.page in self._under_way:
            self._under_way.remove(row.page)
            self._count("visits")
            self._say_waiting()

    def _take(self, row: Row, response: Response) -> None:
        """Process a response: of a visit to a source, of a page, or an error's."""
        source = self._source_of(row)
        if source is not None:
            self._visited(row, source, response)
        elif response.status == OK:
            self._fetched(row, response)
        else:
            self._note(row, response.status)
            self._explored(row, paid=False)

    def _visited(self, row: Row, source: Source, response: Response) -> None:
        """Process the response of a visit to a source and schedule the next visit."""
        now, status = time.time(), response.status
        if status not in (OK, NOT_MODIFIED):
            self._count("failed_visits")
            self._note(row, status)
            self._watch.failed(source, status, now)
            return
        digest = payload_digest(response.body)
        last = source.digest.split(" ", 1)
        has_changed = status == OK and last[0] != digest
        shown = self._shown(row, source, response) if has_changed else Shown(source.kind)
        if has_changed and source.kind != HUB and shown.faults and not _shows_anything(shown):
            self._count("failed_visits")
            self._note(row, status, faults=shown.faults[:3])
            self._watch.failed(source, None, now)
            return
        new, wanted_count = self._follow(row, source, shown, response) if has_changed else (0, 0)
        refers = (last[1], last[0]) if not has_changed and len(last) == 2 else None
        self._archive_page(
            row, response, refers, changed=has_changed, new_links=new, found=wanted_count,
            faults=shown.faults[:3],
        )  # fmt: skip
        if status == NOT_MODIFIED:
            self._count("not_modified")
        else:
            source.etag, source.modified = versions(response)
            if has_changed:
                source.digest = f"{digest} {dt.datetime.now(dt.UTC).isoformat()}"
        self._watch.read(source, wanted_count, now)

    def _shown(self, row: Row, source: Source, response: Response) -> Shown:
        """Read what a source shows; a hub that is no HTML shows nothing."""
        is_text = kind_of(response.body) in (None, HUB)
        if source.kind == HUB and is_text and not isinstance(response, HtmlResponse):
            return Shown(HUB)  # JSON is text as well, and has no links
        shown = read_source(response.url, response.body, charset(response), source.kind)
        if shown.faults:
            self._count("faulty_sources")
            logger.info("%s: %s", row.url, "; ".join(shown.faults))
        return shown

    def _follow(
        self, row: Row, source: Source, shown: Shown, response: Response
    ) -> tuple[int, int]:
        """Queue the links of a source; return the numbers of new links and of new wanted ones."""
        self._discovery.from_index(shown.children, source)
        counts = self._links.follow(shown.entries, row, source)
        if self._discovers and shown.kind == HUB and isinstance(response, HtmlResponse):
            self._discovery.from_hub(row.url, source, response)
        return counts

    def _fetched(self, row: Row, response: Response) -> None:
        """Follow the links of a page that was fetched, note its feeds, and archive it."""
        new = wanted_count = 0
        if isinstance(response, HtmlResponse):  # JSON is text as well, and has none
            shown = read_source(response.url, response.body, charset(response))
            new, wanted_count = self._links.follow(shown.entries, row, None)
            if self._discovers:
                self._discovery.from_page(row.url, response)
        self._archive_page(row, response, None, changed=None, new_links=new, found=wanted_count)
        if row.kind == EXPLORE:
            is_dated = json.loads(row.meta).get("is_dated")
            self._explored(row, paid=is_dated or is_recent(response.body, time.time()))

    def _explored(self, row: Row, *, paid: bool | None) -> None:
        """Credit the arm of an exploring fetch; None if the page gives no date."""
        if row.kind != EXPLORE:
            return
        self._count({True: "explored_new", False: "explored_old", None: "explored_undated"}[paid])
        if paid is not None:
            self._explorer.learned(json.loads(row.meta)["arm"], paid=paid)

    # Sources ---------------------------------------------------------------------------------

    def _source_of(self, row: Row) -> Source | None:
        """Return the source that a request visits, or None for a page."""
        if not row.page.startswith("visit "):
            return None
        return self._watch.get(row.page.removeprefix("visit "))

    # The archive -----------------------------------------------------------------------------

    def _archive_page(
        self, row: Row, response: Response, refers: tuple[str, str] | None, **facts: Any
    ) -> None:
        """Archive a response with facts about its fetch."""
        page = Page(
            response.url,
            response.status,
            header_lines(response.headers),
            response.body,
            dt.datetime.now(dt.UTC),
            header_lines(response.request.headers) if response.request else (),
            refers_to=refers,
        )
        latency = response.meta.get("download_latency")
        self._archive.add(page, **_facts(row), **facts, seconds=latency and round(latency, 3))

    def _note(self, row: Row, status: int | None, **facts: Any) -> None:
        """Note a fetch without a page in the index of the archive."""
        page = Page(row.url, status, (), b"", dt.datetime.now(dt.UTC))
        self._archive.note(page, **_facts(row), **facts)

    def _count(self, name: str) -> None:
        if self._crawl.stats:
            self._crawl.stats.inc_value(f"temporal/{name}")


def _facts(row: Row) -> dict[str, Any]:
    """Return the fields of the index that describe a request."""
    is_visit = row.page.startswith("visit ")
    return {
        "kind": row.kind,
        "tier": row.tier,
        "reason": row.reason,
        "source": row.page.removeprefix("visit ") if is_visit else row.source,
        "page": None if is_visit else row.page,
    }


def _shows_anything(shown: Shown) -> bool:
    return bool(shown.entries or shown.children)
