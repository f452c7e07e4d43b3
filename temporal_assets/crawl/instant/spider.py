"""The spider: it archives responses, follows their links, and credits their sources.

Here: the spider. Not here: which sources are due (`watch`), what is explored (`explore`), how a
document is read (`crawl.sources`), the next request (`scheduler`), files (`archive`).
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
from temporal_assets.crawl.instant.explore import (
    RECENT_SECONDS,
    SHARE,
    Candidate,
    Explorer,
    arm_of,
    facts_of,
    is_recent,
)
from temporal_assets.crawl.instant.hosts import host_of
from temporal_assets.crawl.instant.memory import DONE, Memory, Row, Source
from temporal_assets.crawl.instant.scheduler import ROW, HostScheduler, scheduler_of
from temporal_assets.crawl.instant.watch import OF_POLICY, Known, Watch
from temporal_assets.crawl.policy_source import PolicySource
from temporal_assets.crawl.sources import (
    FEED,
    HUB,
    SITEMAP,
    Entry,
    Shown,
    feeds_of_page,
    guesses,
    kind_of,
    read_source,
)
from temporal_assets.policy import Decision, Policy
from temporal_assets.policy.document import tier_of_action
from temporal_assets.policy.kernels import NO_PAGE, REASONS, SITE, STATIC

logger = logging.getLogger(__name__)

NOT_MODIFIED: Final = 304
OK: Final = 200
FULL_DISK: Final = "disk_full"
"""Reason for the end of a crawl that could not write."""

PAGE: Final = "page"
EXPLORE: Final = "explore"
_LAST_NOW: Final = 8
_EXPLORE_TIER: Final = 4
"""Tier of exploring requests, before pages: their share must not depend on the queue."""
_LAST_LATER: Final = 15
_SITEMAP_BYTES: Final = 52_428_800
_MOST_CHILDREN: Final = 20
"""Most sitemaps of an index that are watched: those that changed last."""
_MOST_SITEMAPS: Final = 20
"""Most sitemaps of a robots.txt."""
_LONGEST_HEADER: Final = 1024
"""Most characters of a page's version (ETag): it is sent back to the server, and stored."""
_NEVER_EXPLORED: Final = frozenset((REASONS[NO_PAGE], REASONS[STATIC], "hub", "prefix"))


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
        self._last_tier = _LAST_LATER if later else _LAST_NOW
        self._scheme = settings.get("TEMPORAL_SCHEME")
        self._revisits = settings.getbool("TEMPORAL_REVISIT", True)
        self._discovers = settings.getbool("TEMPORAL_DISCOVER", True)
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
        if not self._discovers or not self._is_watched(url):
            return
        for number, sitemap in enumerate(sitemaps):
            if number < _MOST_SITEMAPS and sitemap.startswith(("http://", "https://")):
                self._discover(sitemap, SITEMAP, "robots", url)

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
        self.memory.change(row.id, state=DONE)
        self.memory.note("lengths", self._archive.lengths)
        if row.page in self._under_way:
            self._under_way.remove(row.page)
            self._count("visits")
            self._say_waiting()

    def _take(self, row: Row, response: Response) -> None:
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
            source.etag, source.modified = _versions(response)
            if has_changed:
                source.digest = f"{digest} {dt.datetime.now(dt.UTC).isoformat()}"
        self._watch.read(source, wanted_count, now)

    def _shown(self, row: Row, source: Source, response: Response) -> Shown:
        is_text = kind_of(response.body) in (None, HUB)
        if source.kind == HUB and is_text and not isinstance(response, HtmlResponse):
            return Shown(HUB)  # JSON is text as well, and has no links
        shown = read_source(response.url, response.body, _charset(response), source.kind)
        if shown.faults:
            self._count("faulty_sources")
            logger.info("%s: %s", row.url, "; ".join(shown.faults))
        return shown

    def _follow(
        self, row: Row, source: Source, shown: Shown, response: Response
    ) -> tuple[int, int]:
        """Queue the links of a source; return the numbers of new links and of new wanted ones."""
        for child in sorted(shown.children, key=lambda listed: -(listed.time or 0.0))[
            :_MOST_CHILDREN
        ]:
            self._take_child(child, source)
        counts = self._follow_links(shown.entries, row, source)
        if shown.kind == HUB and isinstance(response, HtmlResponse):
            self._find_sources(row, source, response)
        return counts

    def _take_child(self, child: Entry, index: Source) -> None:
        """Note a sitemap that an index names, or that it has changed since the last reading."""
        known_source = self._watch.get(child.url)
        if known_source is None:
            self._discover(child.url, SITEMAP, "sitemap", index.url)
        elif (
            child.time is not None
            and known_source.seen is not None
            and child.time > known_source.seen
        ):
            known_source.due = min(
                known_source.due, time.time()
            )  # it has changed since it was read

    def _fetched(self, row: Row, response: Response) -> None:
        """Follow the links of a page that was fetched, note its feeds, and archive it."""
        new = wanted_count = 0
        if isinstance(response, HtmlResponse):  # JSON is text as well, and has none
            shown = read_source(response.url, response.body, _charset(response))
            new, wanted_count = self._follow_links(shown.entries, row, None)
            if self._discovers and self._is_watched(row.url):
                for url in feeds_of_page(response.url, response.body, _charset(response)):
                    self._discover(url, FEED, "link", row.url)
        self._archive_page(row, response, None, changed=None, new_links=new, found=wanted_count)
        if row.kind == EXPLORE:
            is_dated = json.loads(row.meta).get("is_dated")
            self._explored(row, paid=is_dated or is_recent(response.body, time.time()))

    def _explored(self, row: Row, *, paid: bool | None) -> None:
        if row.kind != EXPLORE:
            return
        self._count({True: "explored_new", False: "explored_old", None: "explored_undated"}[paid])
        if paid is not None:
            self._explorer.learned(json.loads(row.meta)["arm"], paid=paid)

    # Links -----------------------------------------------------------------------------------

    def _follow_links(
        self, entries: list[Entry], row: Row, source: Source | None
    ) -> tuple[int, int]:
        """Enter new links into the memory; return how many are new, and wanted by the policy."""
        now = time.time()
        pages = [self.policy.canonical(entry.url) for entry in entries]
        entry_of_page = {page: entry for page, entry in zip(pages, entries, strict=True) if page}
        if not entry_of_page:
            return 0, 0
        shower = source.url if source is not None else row.page
        new = set(self.memory.new_links(entry_of_page, shower, now))
        decisions = self.policy.match_many([entry.url for entry in entry_of_page.values()])
        wanted_count = 0
        unknown: set[str] = set()
        for place, (page, entry) in enumerate(entry_of_page.items()):
            decision = decisions.row(place, entry.url)
            if decision.hub in self._watch:
                self._count("links_to_hubs")
                continue
            self._count(f"reason/{decision.reason}")
            if _is_too_late(entry, source, now, is_new=page in new):
                self._count("old_links")
            elif decision.tier <= self._last_tier:
                wanted_count += (
                    self._want(entry, page, decision, decision.tier, shower) and page in new
                )
            elif _is_news_of_site(entry, source, decision, now):
                self._count("announced")
                # Others may have shown the link before: it is this date that makes it wanted.
                wanted_count += self._want(entry, page, decision, _LAST_NOW, shower)
            else:
                self._put_off(entry, page, decision, source, row, page in new, now)
                if page in new and decision.reason == REASONS[SITE]:
                    unknown.add(host_of(page))
        if source is not None and source.kind == HUB and source.visits:
            self._watch.ask_feeds(unknown, now)
        return len(new), wanted_count

    def _want(self, entry: Entry, page: str, decision: Decision, tier: int, shower: str) -> bool:
        self._count(f"requests/{tier_of_action(tier)}")
        row = Row(0, page, entry.url, host_of(entry.url), tier, decision.reason, shower, PAGE)
        return self._add(row)

    def _put_off(
        self, entry: Entry, page: str, decision: Decision, source: Source | None, row: Row,
        is_new_link: bool, now: float,
    ) -> None:  # fmt: skip
        """Offer a link that the policy does not want now for exploration."""
        self._count("dropped")
        if decision.reason in _NEVER_EXPLORED or (
            decision.reason == "pattern" and decision.decision == "skip"
        ):
            return
        if decision.reason == "unknown_site" and source is None and row.kind != EXPLORE:
            return  # pages link anywhere; sources link what is news to them
        arm = arm_of(decision.reason, decision.site, page, decision.pattern)
        if arm is not None:
            is_dated = entry.time is not None and now - entry.time < RECENT_SECONDS
            is_new = is_dated or (is_new_link and source is not None and source.visits > 0)
            self._explorer.offer(
                Candidate(
                    entry.url, page, arm, source.url if source else row.page, is_new, is_dated
                )
            )

    # Sources ---------------------------------------------------------------------------------

    def _source_of(self, row: Row) -> Source | None:
        if not row.page.startswith("visit "):
            return None
        return self._watch.get(row.page.removeprefix("visit "))

    def _find_sources(self, row: Row, hub: Source, response: Response) -> None:
        """Note feeds that a hub names, and at its first visit guess feeds and sitemaps."""
        if not self._discovers:
            return
        feeds = feeds_of_page(response.url, response.body, _charset(response))
        for url in feeds:
            self._discover(url, FEED, "link", row.url)
        if hub.visits or hub.origin != OF_POLICY:
            return
        host = host_of(row.url)
        kinds = {watched.kind for watched in self._watch if host_of(watched.url) == host}
        origin = f"{row.url.split('://', 1)[0]}://{host}"
        for url, kind in guesses(
            origin, has_feed=bool(feeds) or FEED in kinds, has_sitemap=SITEMAP in kinds
        ):
            self._discover(url, kind, "well-known", row.url)

    def _discover(self, url: str, kind: str, origin: str, found_on: str) -> None:
        if self._watch.add(url, kind, origin, found_on, host_of(url), time.time()):
            self._count(f"discovered/{origin}")

    def _is_watched(self, url: str) -> bool:
        """Return True if the policy knows the site of a URL."""
        return self.policy.match(url).site is not None

    # The archive -----------------------------------------------------------------------------

    def _archive_page(
        self, row: Row, response: Response, refers: tuple[str, str] | None, **facts: Any
    ) -> None:
        """Archive a response with facts about its fetch."""
        page = Page(
            response.url,
            response.status,
            _headers(response.headers),
            response.body,
            dt.datetime.now(dt.UTC),
            _headers(response.request.headers) if response.request else (),
            refers_to=refers,
        )
        latency = response.meta.get("download_latency")
        self._archive.add(page, **_facts(row), **facts, seconds=latency and round(latency, 3))

    def _note(self, row: Row, status: int | None, **facts: Any) -> None:
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


def _is_too_late(entry: Entry, source: Source | None, now: float, *, is_new: bool) -> bool:
    """Return True if a feed or sitemap lists a page that appeared before the last days.

    A sitemap without dates lists all that a site has: new is what was not there before.
    """
    if source is None or source.kind == HUB:
        return False
    if entry.time is not None:
        return now - entry.time > RECENT_SECONDS
    return source.kind == SITEMAP and not (is_new and source.visits)


def _is_news_of_site(entry: Entry, source: Source | None, decision: Decision, now: float) -> bool:
    """Return True if a feed or sitemap of a watched site announces a page published just now.

    The site says that it is news. The policy knows the site and nothing of the section, or it would
    have a prefix or a pattern for it.
    """
    if source is None or source.kind == HUB or decision.reason != REASONS[SITE]:
        return False
    return entry.is_published and entry.time is not None and now - entry.time < RECENT_SECONDS


def _versions(response: Response) -> tuple[str, str]:
    headers = ((response.headers.get(name) or b"").decode("latin-1") for name in _VERSION)
    etag, modified = (value if len(value) <= _LONGEST_HEADER else "" for value in headers)
    return etag, modified


_VERSION: Final = ("ETag", "Last-Modified")


def _charset(response: Response) -> str | None:
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    return content_type.partition("charset=")[2].split(";")[0].strip(" \"'") or None


def _headers(headers: Any) -> list[tuple[str, str]]:
    return [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers.items()
        for value in values or []
    ]
