"""Real crawls with the add-on, of sites that one local process plays."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scrapy", reason="the scrapy extra is not installed")

from scrapy import Request, Spider
from scrapy.exceptions import NotSupported
from scrapy.http import HtmlResponse, Response
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from temporal_assets.crawl.hub_visits import HubVisits
from temporal_assets.crawl.policy_source import PolicySource
from temporal_assets.crawl.results import read_fetches
from temporal_assets.crawl.scrapy import HUB, TIER, PolicyAddon, PolicyMiddleware, priority
from temporal_assets.crawl.validators import Validators
from temporal_assets.policy import NewerPolicy, PolicyError
from temporal_assets.policy.document import VERSION, Document, HubEntry, as_text
from tests.crawl_server import Sites, served
from tests.policies import document

pytestmark = pytest.mark.slow

FAST = {"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False, "TEMPORAL_TICK_SECONDS": 0.1}
COMMON = {
    "ADDONS": {"temporal_assets.crawl.scrapy.PolicyAddon": 500},
    "TEMPORAL_SCHEME": "http",
    "TEMPORAL_RELOAD_SECONDS": 0.2,
    "CONCURRENT_REQUESTS": 1,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
    **FAST,
}


def html(*links: str) -> bytes:
    return "".join(f'<a href="{link}">x</a>' for link in links).encode()


PAGES = {
    "http://own.example/start": html(
        "http://board.example/anything",
        "http://news.example/politics/2025/06/01/a-b.html",
        "http://unknown.example/",
        "http://shop.example/user/login?next=1",
        "http://news.example/picture.jpg",
        "http://news.example/politics/",
    ),
    "http://news.example/": html("/politics/2025/06/01/a-b.html", "/politics/2025/06/02/c-d.html"),
    "http://news.example/politics/": html("/politics/2025/06/03/e-f.html"),
    "http://shop.example/offers(1).php": html("/archive/item?id=5"),
}


def answer(url: str) -> bytes | None:
    return PAGES.get(url, html())


def written(folder: Path, doc: Document) -> Path:
    """Replaced as a whole, as it is published."""
    file = folder / "policy.json"
    new = folder / "new.json"
    new.write_text(as_text(doc), "utf-8")
    new.replace(file)
    return file


def opened(
    folder: Path, spider: Spider | None = None, doc: Document | None = None, **settings: Any
) -> PolicyMiddleware:
    """The middleware as it is when a crawl begins, without one around it."""
    chosen = {
        "TEMPORAL_POLICY": str(written(folder, doc or document())),
        "TEMPORAL_REVISIT": False,
        "TEMPORAL_RELOAD_SECONDS": 0,
    }
    crawl = PolicyMiddleware.from_crawler(get_crawler(settings_dict=chosen | settings))
    crawl._opened(spider or Spider("any"))
    return crawl


def run(
    repository: Path, sites: Sites, settings: dict[str, Any], what: str = "spider"
) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.crawling", json.dumps(settings), what],
        cwd=repository,
        env={**os.environ, "http_proxy": sites.address, "no_proxy": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    actual: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return actual


def test_one_crawl_in_the_order_of_the_policy(repository: Path, tmp_path: Path) -> None:
    policy = written(tmp_path, document())
    results = tmp_path / "results" / "fetches.jsonl"
    settings = {
        **COMMON,
        "TEMPORAL_POLICY": str(policy),
        "TEMPORAL_REVISIT": False,
        "TEMPORAL_RESULTS": str(results),
    }
    with served(answer) as sites:
        stats = run(repository, sites, settings)
    asked = [url for url in sites.asked if not url.endswith("robots.txt")]
    counts: Counter[str] = Counter()
    fetches = list(read_fetches(results, counts))
    assert counts == {"fetches": len(asked)}
    assert [fetch.kind for fetch in fetches].count("hub") == 4
    sources = {fetch.url: fetch.source for fetch in fetches if fetch.kind == "page"}
    assert sources["http://news.example/politics/2025/06/02/c-d.html"] == "https://news.example/"
    assert sources["http://own.example/start"] is None
    # The spider's own start is given its priority too: it is of no site, so it comes last.
    hubs = [
        "http://news.example/",
        "http://news.example/politics/",
        "http://board.example/list?forum=2&sort=new",
        "http://shop.example/offers(1).php",
    ]
    assert [asked.index(hub) for hub in hubs] == sorted(asked.index(hub) for hub in hubs)
    assert asked[0] == hubs[0]
    assert [asked.count(hub) for hub in hubs] == [1] * 4  # also where pages link them
    news = [url for url in asked if "/2025/" in url]
    assert len(news) == 3
    # Across sites: news before what may come later.
    assert max(asked.index(url) for url in news) < asked.index(
        "http://shop.example/archive/item?id=5"
    )
    unwanted = {"http://unknown.example/", "http://news.example/picture.jpg"}
    unwanted.add("http://shop.example/user/login?next=1")
    assert not unwanted & set(asked)
    assert stats["temporal/dropped"] == 3
    assert stats["temporal/links_to_hubs"] == 1
    assert stats["temporal/seeds"] == 4
    assert stats["temporal/policy_day"] == "2025-05-01"
    assert stats["finish_reason"] == "finished"


def test_where_pages_lead_to_is_asked_for_as_links_are(repository: Path, tmp_path: Path) -> None:
    news = "http://news.example/politics/2025/06/{}.html"
    leads = {
        # A start leads where it likes, and so does a hub.
        "http://own.example/start": "http://own.example/begin",
        "http://news.example/politics/": "http://unknown.example/moved",
        news.format("01/a-b"): "http://shop.example/user/login?next=1",
        news.format("02/c-d"): news.format("03/e-f"),
        news.format("04/g-h"): "http://news.example/",
        news.format("05/i-j"): "http://shop.example/archive/item?id=5",
    }
    links = [url for url in leads if "/2025/" in url]

    def answer(url: str) -> bytes:
        if url in leads:
            return f'<meta http-equiv="refresh" content="0; url={leads[url]}">'.encode()
        return html(*links) if url == "http://own.example/begin" else html()

    policy = written(tmp_path, document())
    settings = {**COMMON, "TEMPORAL_POLICY": str(policy), "METAREFRESH_IGNORE_TAGS": []}
    settings |= {"CLOSESPIDER_TIMEOUT": 4}
    with served(answer) as sites:
        stats = run(repository, sites, settings)
    asked = Counter(url for url in sites.asked if not url.endswith("robots.txt"))
    assert asked["http://own.example/begin"] == 1
    assert asked["http://unknown.example/moved"] > 0
    assert asked["http://shop.example/user/login?next=1"] == 0
    assert asked[news.format("03/e-f")] == 1
    assert asked["http://shop.example/archive/item?id=5"] == 1
    # The hub has visits of its own, one so far.
    assert asked["http://news.example/"] == 1
    assert (stats["temporal/dropped"], stats["temporal/links_to_hubs"]) == (1, 1)


def test_a_page_is_fetched_once_however_it_is_spelled(repository: Path, tmp_path: Path) -> None:
    page = "http://news.example/politics/2025/06/01/a-b.html"
    spellings = [page, f"{page}?utm_source=x", f"{page}?utm_medium=y#top"]
    policy = written(tmp_path, document())
    settings = {**COMMON, "TEMPORAL_POLICY": str(policy), "TEMPORAL_REVISIT": False}

    def answer(url: str) -> bytes:
        return html(*spellings) if url == "http://own.example/start" else html()

    with served(answer) as sites:
        run(repository, sites, settings)
    assert [url for url in sites.asked if url.startswith(page)] in [[url] for url in spellings]


@pytest.mark.parametrize("cached", [False, True])
def test_a_page_may_send_to_its_own_spelling(
    repository: Path, tmp_path: Path, cached: bool
) -> None:
    page = "http://news.example/politics/2025/06/01/a-b.html"
    tagged, https = f"{page}?utm_source=x", page.replace("http:", "https:")
    policy = written(tmp_path, document())
    settings = {**COMMON, "TEMPORAL_POLICY": str(policy), "TEMPORAL_REVISIT": False}
    settings |= {"METAREFRESH_IGNORE_TAGS": [], "HTTPCACHE_ENABLED": cached}
    settings |= {"HTTPCACHE_DIR": str(tmp_path / "cache")}

    def answer(url: str) -> bytes:
        if url == tagged:
            return f'<meta http-equiv="refresh" content="0; url={page}">'.encode()
        return html(tagged, https) if url == "http://own.example/start" else html()

    with served(answer) as sites:
        stats = run(repository, sites, settings)
    assert [url for url in sites.asked if "a-b.html" in url] == [tagged, page]
    assert stats["dupefilter/filtered"] == 1


def test_pages_come_by_way_of_another_server(repository: Path, tmp_path: Path) -> None:
    page = "http://news.example/politics/2025/06/01/a-b.html"
    policy = written(tmp_path, document())
    settings = {**COMMON, "TEMPORAL_POLICY": str(policy), "TEMPORAL_REVISIT": False}
    settings["DOWNLOADER_MIDDLEWARES"] = {"tests.integration.crawling.Rendering": 10}

    def answer(url: str) -> bytes:
        return html(page, f"{page}?utm_source=x") if url == "http://own.example/start" else html()

    with served(answer) as sites:
        stats = run(repository, sites, settings)
    rendered = [url for url in sites.asked if "a-b.html" in url]
    assert rendered == [f"http://render.example/?url={page}"]
    assert stats["dupefilter/filtered"] == 1


def test_hubs_are_visited_again_and_a_new_policy_is_followed(
    repository: Path, tmp_path: Path
) -> None:
    doc = document()
    policy = written(tmp_path, doc)
    visits: Counter[str] = Counter()

    def growing(url: str) -> bytes | None:
        """Every visit of the front page shows one page more; the third brings a new policy."""
        visits[url] += 1
        if url != "http://news.example/":
            return answer(url)
        if visits[url] == 3:
            after = copy.deepcopy(doc)
            after["hubs"] = [
                {**doc["hubs"][0], "interval_seconds": 300},
                {**doc["hubs"][0], "url": "https://board.example/new-hub", "site": "board.example"},
            ]  # visited every 0.3 and 0.9 seconds
            threading.Thread(target=written, args=(tmp_path, after)).start()
        return html(*(f"/politics/2025/06/{n:02}/a-b.html" for n in range(1, visits[url] + 1)))

    settings = {
        **COMMON,
        "TEMPORAL_POLICY": str(policy),
        "TEMPORAL_INTERVAL_FACTOR": 0.001,  # 900 seconds are 0.9
        "CLOSESPIDER_TIMEOUT": 8,
    }
    with served(growing) as sites:
        stats = run(repository, sites, settings)
    fetched = Counter(sites.asked)
    assert fetched["http://news.example/"] >= 4
    assert fetched["http://news.example/politics/2025/06/03/a-b.html"] == 1  # pages once
    assert fetched["http://board.example/new-hub"] >= 1
    assert stats["temporal/reloads"] == 1
    assert stats["temporal/revisits"] >= 4
    # The front page is another every time; the new hub stays what it is, and is downloaded once.
    unchanged = Counter(sites.unchanged)
    assert unchanged["http://news.example/"] == 0
    assert fetched["http://board.example/new-hub"] == unchanged["http://board.example/new-hub"] + 1
    assert stats["temporal/not_modified"] == unchanged.total() > 0
    assert stats["finish_reason"] == "closespider_timeout"


def test_visits_do_not_come_from_the_cache(repository: Path, tmp_path: Path) -> None:
    policy = written(tmp_path, document())
    settings = {
        **COMMON,
        "TEMPORAL_POLICY": str(policy),
        "TEMPORAL_INTERVAL_FACTOR": 0.001,
        "CLOSESPIDER_TIMEOUT": 3,
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_DIR": str(tmp_path / "cache"),
    }
    with served(answer) as sites:
        first = run(repository, sites, settings)
        visits = Counter(sites.asked)
        second = run(repository, sites, settings)
    assert visits["http://news.example/politics/"] >= 3
    assert "httpcache/hit" not in first
    # Pages do.
    asked = Counter(sites.asked)
    assert asked["http://news.example/politics/2025/06/01/a-b.html"] == 1
    assert second["httpcache/hit"] > 0


def test_a_hub_that_fails_is_visited_at_its_interval(repository: Path, tmp_path: Path) -> None:
    """With all attempts of a visit together; and where robots.txt forbids it."""
    policy = written(tmp_path, document())

    def failing(url: str) -> bytes | None:
        if url == "http://news.example/politics/":
            raise ConnectionAbortedError
        if url == "http://board.example/robots.txt":
            return b"User-agent: *\nDisallow: /"
        return answer(url)

    settings = {
        **COMMON,
        "TEMPORAL_POLICY": str(policy),
        "TEMPORAL_INTERVAL_FACTOR": 0.001,
        "CLOSESPIDER_TIMEOUT": 4,
        "LOG_LEVEL": "CRITICAL",
        "RETRY_TIMES": 1,
        "ROBOTSTXT_OBEY": True,
        "TEMPORAL_RESULTS": str(tmp_path / "fetches.jsonl"),
    }
    with served(failing) as sites:
        stats = run(repository, sites, settings)
    fetches = list(read_fetches(tmp_path / "fetches.jsonl", Counter()))
    failed = {fetch.source: fetch.error for fetch in fetches if fetch.status is None}
    assert "robots.txt" in (failed["https://board.example/list?forum=2&sort=new"] or "")
    assert failed["https://news.example/politics/"]
    asked = Counter(sites.asked)
    # Every 0.3 seconds for four, twice each; a connection that was in use is tried once more.
    assert 6 <= asked["http://news.example/politics/"] <= 60
    assert asked["http://board.example/list?forum=2&sort=new"] == 0
    assert stats["temporal/failed_visits"] >= 3


def test_a_stopped_crawl_goes_on(repository: Path, tmp_path: Path) -> None:
    policy = written(tmp_path, document())
    settings = {
        **COMMON,
        "TEMPORAL_POLICY": str(policy),
        "TEMPORAL_REVISIT": False,
        "JOBDIR": str(tmp_path / "job"),
    }
    with served(answer) as sites:
        run(repository, sites, {**settings, "CLOSESPIDER_PAGECOUNT": 3})
        first = Counter(sites.asked)
        run(repository, sites, settings)
        both = Counter(sites.asked)
    assert sum(first.values()) < sum(both.values())
    pages = [url for url in both if "/2025/" in url]
    assert len(pages) == 3
    assert {both[url] for url in pages} == {1}
    hubs = ["http://news.example/", "http://shop.example/offers(1).php"]
    assert [both[hub] for hub in hubs] == [1, 1]  # not due yet


def test_hubs_are_visited_while_a_new_policy_is_loaded(tmp_path: Path) -> None:
    """It is read in a thread; until the crawl takes it over, hubs of the old one are due."""
    doc = document()
    crawl = opened(tmp_path)
    after = copy.deepcopy(doc)
    after["hubs"] = [{**doc["hubs"][0], "url": "https://news.example/new/", "tier": 2}]
    written(tmp_path, after)
    assert crawl._source.reload()
    assert [(one.meta[HUB], one.meta[TIER]) for one in crawl._due()] == [
        (hub_url["url"], hub_url["tier"])
        for hub_url in sorted(doc["hubs"], key=lambda hub: hub["tier"])
    ]
    crawl._use_policy()
    (request,) = crawl._due()
    assert (request.meta[HUB], request.meta[TIER]) == ("https://news.example/new/", 2)
    assert request.priority == priority(2)


def test_a_spider_visits_hubs_of_its_domains(tmp_path: Path) -> None:
    doc = document()
    doc["hubs"][0]["url"] = "https://news.example:8443/"
    spider = Spider("one", allowed_domains=["News.example", "example.shop", None])
    crawl = opened(tmp_path, spider, doc)
    crawl._revisits = True
    assert {request.meta[HUB] for request in crawl._due()} == {
        "https://news.example:8443/",
        "https://news.example/politics/",
    }
    assert crawl.crawler.stats is not None
    assert crawl.crawler.stats.get_value("temporal/hubs") == 2
    page = HtmlResponse("http://own.example/", request=Request("http://own.example/"))
    other = "https://board.example/list?forum=2&sort=new"
    # Without visits of its own it is a page, of which Scrapy's filter is asked.
    assert crawl.get_processed_request(Request(other), page) is not None
    own = Request("https://news.example/politics/")
    assert crawl.get_processed_request(own, page) is None


def test_a_link_to_a_hub_without_visits_is_one_to_a_page(tmp_path: Path) -> None:
    crawl = opened(tmp_path)
    page = HtmlResponse("http://own.example/", request=Request("http://own.example/"))
    link = Request("https://news.example/politics/")
    assert crawl.get_processed_request(link, page) is not None
    assert len(list(crawl._due())) == 4
    assert crawl.get_processed_request(link, page) is None
    crawl._visits.over(link.url, time.time())
    assert crawl.get_processed_request(link, page) is None


def test_a_new_policy_is_asked_of_all_that_hubs_show(tmp_path: Path) -> None:
    """Also of what has not changed; and where the crawl was stopped in between."""

    def come(crawl: PolicyMiddleware) -> list[bool]:
        """Visit all hubs; which of them were asked whether they have changed."""
        crawl._visits.replace([{**hub, "interval_seconds": 0} for hub in document()["hubs"]])
        visits = list(crawl._due())
        for visit in visits:
            crawl._received(Response(visit.url, headers={"ETag": '"1"'}), visit)
        return ["If-None-Match" in visit.headers for visit in visits]

    spider = Spider("one", state={})
    crawl = opened(tmp_path, spider)
    assert (come(crawl), come(crawl)) == ([False] * 4, [True] * 4)
    for entry in (after := document())["sites"]:
        entry["tier"] = 12
    written(tmp_path, after)
    assert crawl._source.reload()
    crawl._use_policy()
    assert (come(crawl), come(crawl)) == ([False] * 4, [True] * 4)
    same = PolicyMiddleware.from_crawler(crawl.crawler)
    same._opened(spider)
    assert come(same) == [True] * 4
    later = opened(tmp_path, spider)
    assert come(later) == [False] * 4


def test_an_error_of_one_look_does_not_end_the_visits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    crawl = opened(tmp_path)
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += 1
        if looks < 3:
            raise OSError("the disk is full")

    async def watched() -> None:
        crawl._loops.repeat(look, 0.01)
        while looks < 4:
            await asyncio.sleep(0.01)
        crawl._closed()

    asyncio.run(asyncio.wait_for(watched(), 10))
    assert caplog.text.count("OSError: the disk is full") == 2


def test_what_is_no_page_is_not_put_off(tmp_path: Path) -> None:
    crawl = opened(tmp_path, TEMPORAL_OFF_POLICY="delay")
    page = HtmlResponse("http://own.example/", request=Request("http://own.example/"))
    late = crawl.get_processed_request(Request("http://unknown.example/"), page)
    assert late is not None
    assert late.priority == 0
    for url in ("file:///etc/passwd", "data:,x", "ftp://news.example/politics/"):
        assert crawl.get_processed_request(Request(url), page) is None
    own = Request("file:///list.html")
    assert crawl.get_processed_request(own, None) is not None


def test_errors_are_clear(tmp_path: Path) -> None:
    from scrapy.exceptions import NotConfigured
    from scrapy.settings import Settings

    def built(**settings: Any) -> PolicyMiddleware:
        return PolicyMiddleware.from_crawler(get_crawler(settings_dict=settings))

    with pytest.raises(PolicyError, match="set TEMPORAL_POLICY"):
        built()
    with pytest.raises(PolicyError, match="materialize crawl_policy"):
        built(TEMPORAL_POLICY=str(tmp_path / "nothing"))
    policy = written(tmp_path, document())
    with pytest.raises(PolicyError, match="TEMPORAL_FETCH is 'soon'"):
        built(TEMPORAL_POLICY=str(policy), TEMPORAL_FETCH="soon")
    for name in ("TEMPORAL_TICK_SECONDS", "TEMPORAL_INTERVAL_FACTOR"):
        for number in ("0", "-1", "nan", "inf"):
            with pytest.raises(PolicyError, match=f"{name} is {number}; it is a number above 0"):
                built(TEMPORAL_POLICY=str(policy), **{name: number})
            assert built(TEMPORAL_POLICY=str(policy), TEMPORAL_REVISIT=False, **{name: number})
    newer = json.loads(policy.read_text("utf-8")) | {"version": VERSION + 1}
    policy.write_text(json.dumps(newer), "utf-8")
    with pytest.raises(NewerPolicy, match="install a newer temporal-assets"):
        built(TEMPORAL_POLICY=str(policy))
    with pytest.raises(NotConfigured):
        PolicyAddon().update_settings(Settings({"TEMPORAL_ENABLED": False}))


def test_the_add_on_leaves_a_chosen_queue_alone() -> None:
    from scrapy.settings import Settings

    chosen = Settings()
    chosen.set("SCHEDULER_PRIORITY_QUEUE", "mine.Queue", "project")
    PolicyAddon().update_settings(chosen)
    assert chosen["SCHEDULER_PRIORITY_QUEUE"] == "mine.Queue"
    plain = Settings()
    PolicyAddon().update_settings(plain)
    assert plain["SCHEDULER_PRIORITY_QUEUE"] == "scrapy.pqueues.ScrapyPriorityQueue"


def hub(url: str, seconds: int, tier: int) -> HubEntry:
    return HubEntry(
        url=url, site="s", rank=1, tier=tier, interval_seconds=seconds, temporal_pages=1
    )


def test_visits_by_hand() -> None:
    visits = HubVisits({}, {})
    visits.replace([hub("b", 100, 2), hub("a", 1000, 1)])
    assert visits.take(0) == [("a", 1), ("b", 2)]
    assert visits.take(1) == []  # asked for
    visits.over("b", 10)
    assert visits.take(109) == []
    assert visits.take(110) == [("b", 2)]
    assert visits.take(3601) == []
    assert visits.take(3711) == [("b", 2)]  # lost: an hour is longer than four intervals
    assert visits.take(4001) == [("a", 1)]  # lost as well
    visits.replace([hub("c", 50, 1)], factor=2)
    assert visits.take(5000) == [("c", 1)]
    visits.over("c", 5000)
    visits.over("b", 5000)  # no longer a hub
    assert visits.take(5099) == []
    assert visits.take(5100) == [("c", 1)]


def test_a_new_interval_counts_from_the_last_visit() -> None:
    visits = HubVisits({}, {})
    visits.replace([hub("a", 604_800, 1)])
    assert visits.take(0) == [("a", 1)]
    visits.over("a", 0)
    visits.replace([hub("a", 300, 1)])
    assert visits.take(299) == []
    assert visits.take(300) == [("a", 1)]


def test_the_state_of_an_earlier_release_is_taken(tmp_path: Path) -> None:
    """It said when hubs are due, not when they were visited: they are visited once too early."""
    spider = Spider("any")
    hubs = [entry["url"] for entry in document()["hubs"]]
    due = {hub: time.time() + 1000 for hub in hubs}
    spider.state = {"temporal_hubs": {"due": due, "asked": {}, "versions": {}}}
    crawl = opened(tmp_path, spider)
    assert {request.meta[HUB] for request in crawl._due()} == set(hubs)
    assert list(crawl._due()) == []


def test_versions_by_hand() -> None:
    kept: dict[str, dict[str, str]] = {}
    versions = Validators(kept)
    assert versions.headers("a") == {}
    versions.saw("a", 200, {"ETag": 'W/"1"', "Last-Modified": "Thu, 01 May 2025 00:00:00 GMT"})
    assert versions.headers("a") == {
        "If-None-Match": 'W/"1"',
        "If-Modified-Since": "Thu, 01 May 2025 00:00:00 GMT",
    }
    versions.saw("a", 304, {"ETag": '"other"'})
    versions.saw("a", 500, {"ETag": '"other"'})
    assert versions.headers("a")["If-None-Match"] == 'W/"1"'
    versions.saw("b", 200, {"ETag": "x" * 1025, "Last-Modified": ""})
    assert versions.headers("b") == {}
    versions.saw("a", 200, {"ETag": '"2"'})
    assert kept == {"a": {"If-None-Match": '"2"'}}
    versions.saw("a", 200, {})  # the server tells no longer
    assert kept == {}
    versions.saw("a", 200, {"ETag": '"3"'})
    versions.forget()
    assert kept == {}


def test_a_broken_new_policy_leaves_the_old_one(tmp_path: Path) -> None:
    policy = written(tmp_path, document())
    source = PolicySource(policy)
    before = source.current
    assert not source.reload()
    policy.write_text("{", "utf-8")
    with pytest.raises(PolicyError):
        source.reload()
    assert source.current is before
    assert not source.reload()  # not again and again
    policy.unlink()
    assert not source.reload()
    written(tmp_path, document())
    assert source.reload()


def test_a_folder_of_a_crawl_without_the_addon_is_refused_with_a_sentence(tmp_path: Path) -> None:
    """Scrapy compares priorities with the names of hosts, and ends in a `TypeError`."""
    left = tmp_path / "requests.queue" / "active.json"
    left.parent.mkdir()

    def begin(**settings: Any) -> None:
        PolicyAddon().update_settings(Settings({"JOBDIR": str(tmp_path), **settings}))

    begin()
    for own in ([], [0, -15], {}):
        left.write_text(json.dumps(own))
        begin()
    left.write_text(json.dumps({"a.example": [0]}))
    with pytest.raises(NotSupported, match="was begun without PolicyAddon"):
        begin()
    begin(TEMPORAL_CROSS_SITE=False)
