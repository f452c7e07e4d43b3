"""Spiders hand on the `meta` of a page, or the request of it, to the links they find there."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("scrapy", reason="the scrapy extra is not installed")

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response
from scrapy.utils.request import RequestFingerprinter

from temporal_assets.crawl.scrapy import (
    ASKED,
    HOPS,
    HUB,
    IGNORE,
    REASON,
    START,
    PageFingerprinter,
    PolicyMiddleware,
    priority,
)
from tests.integration.test_scrapy_addon import opened

NEWS = "http://news.example/politics/2025/06/01/a-b.html"
TAGGED = f"{NEWS}?utm_source=x"
UNKNOWN = "http://unknown.example/"


@pytest.fixture
def crawl(tmp_path: Path) -> PolicyMiddleware:
    return opened(tmp_path, TEMPORAL_SCHEME="http")


def page_of(request: Request) -> Response:
    return HtmlResponse(request.url, request=request)


def redirected(crawl: PolicyMiddleware, request: Request, url: str) -> Request:
    """Follow a redirect with the request that Scrapy makes for it."""
    to = request.replace(url=url)
    to.meta["redirect_urls"] = [*request.meta.get("redirect_urls", ()), request.url]
    crawl._scheduled(to)
    return to


def visited(crawl: PolicyMiddleware) -> Response:
    """A hub that has come, and was asked for with the version that was there before."""
    visit = next(crawl._due())
    visit.headers["If-Modified-Since"] = "Thu, 01 May 2025 00:00:00 GMT"
    return page_of(visit)


@pytest.mark.parametrize("extra", [{}, {IGNORE: True}])
def test_a_link_with_the_meta_of_a_visit_is_no_visit(
    crawl: PolicyMiddleware, extra: dict[str, bool]
) -> None:
    hub = visited(crawl)
    link = crawl.get_processed_request(Request(NEWS, meta=hub.meta | extra), hub)
    assert link is not None
    assert HUB not in link.meta
    assert "dont_cache" not in link.meta
    assert hub.meta[HUB]


def test_the_policy_is_asked_of_a_link_with_the_meta_of_a_visit(crawl: PolicyMiddleware) -> None:
    hub = visited(crawl)
    assert crawl.get_processed_request(Request(UNKNOWN, meta=hub.meta), hub) is None
    link = crawl.get_processed_request(Request(NEWS, meta=hub.meta), hub)
    assert link is not None
    assert (link.meta[REASON], link.meta[START], link.priority) == ("prefix", False, priority(5))


def test_the_server_is_not_asked_whether_a_link_has_changed_since_the_hub(
    crawl: PolicyMiddleware,
) -> None:
    hub = visited(crawl)
    assert hub.request is not None
    link = crawl.get_processed_request(hub.request.replace(url=NEWS), hub)
    assert link is not None
    assert HUB not in link.meta
    assert "If-Modified-Since" not in link.headers


def test_a_spider_may_ask_for_a_page_again(crawl: PolicyMiddleware) -> None:
    hub = visited(crawl)
    assert hub.request is not None
    again = crawl.get_processed_request(hub.request.copy(), hub)
    assert again is not None
    assert (again.meta, again.priority) == (hub.request.meta, hub.request.priority)
    link = crawl.get_processed_request(Request(NEWS), hub)
    assert link is not None
    again = crawl.get_processed_request(link.replace(dont_filter=True), page_of(link))
    assert again is not None
    assert (again.meta, again.priority) == (link.meta, link.priority)


def test_a_link_with_the_meta_of_a_start_is_none(crawl: PolicyMiddleware) -> None:
    start = crawl.get_processed_request(Request("http://own.example/", dont_filter=True), None)
    assert start is not None
    assert start.meta[START]
    page = page_of(start)
    assert crawl.get_processed_request(Request(UNKNOWN, meta=page.meta), page) is None
    link = crawl.get_processed_request(Request(NEWS, meta=page.meta), page)
    assert link is not None
    assert not link.meta[START]
    again = crawl.get_processed_request(start.copy(), page)
    assert again is not None
    assert again.meta[START]


def test_a_link_with_the_meta_of_a_redirected_page_is_one(crawl: PolicyMiddleware) -> None:
    """Other spellings of it are the same page, also where one of them had led here."""
    tagged = crawl.get_processed_request(Request(TAGGED), page_of(Request("http://own.example/")))
    assert tagged is not None
    prints = PageFingerprinter()
    page = page_of(redirected(crawl, tagged, NEWS))
    for url in (TAGGED, f"{NEWS}?utm_medium=y"):
        link = crawl.get_processed_request(Request(url, meta=page.meta), page)
        assert link is not None
        crawl._scheduled(link)
        assert prints.fingerprint(link) == prints.fingerprint(tagged)


def test_what_was_redirected_is_asked_for_again_without_the_policy(crawl: PolicyMiddleware) -> None:
    tagged = crawl.get_processed_request(Request(TAGGED), page_of(Request("http://own.example/")))
    assert tagged is not None
    hop = redirected(crawl, tagged, NEWS)
    crawl._scheduled(hop.replace(url=UNKNOWN))  # in its place, by a middleware
    with pytest.raises(IgnoreRequest):
        redirected(crawl, hop, UNKNOWN)


def test_a_request_in_the_place_of_a_page_is_not_the_page(crawl: PolicyMiddleware) -> None:
    asked = crawl.get_processed_request(Request(NEWS), page_of(Request("http://own.example/")))
    assert asked is not None
    prints = PageFingerprinter()
    assert prints.fingerprint(asked.copy()) == prints.fingerprint(asked)
    for url in (TAGGED, "http://render.example/?url=x"):
        other = asked.replace(url=url)
        crawl._scheduled(other)
        assert prints.fingerprint(other) == RequestFingerprinter().fingerprint(Request(url))


def test_a_page_may_send_to_itself(crawl: PolicyMiddleware) -> None:
    asked = crawl.get_processed_request(Request(NEWS), page_of(Request("http://own.example/")))
    assert asked is not None
    prints = PageFingerprinter()
    hop = redirected(crawl, asked, NEWS)
    assert prints.fingerprint(hop) != prints.fingerprint(asked)
    # Not for ever.
    assert prints.fingerprint(redirected(crawl, hop, NEWS)) == prints.fingerprint(hop)


def test_a_page_queued_by_an_earlier_release_may_send_to_its_own_spelling(
    crawl: PolicyMiddleware,
) -> None:
    asked = crawl.get_processed_request(Request(TAGGED), page_of(Request("http://own.example/")))
    assert asked is not None
    for name in (ASKED, HOPS):
        del asked.meta[name]
    hop = redirected(crawl, asked, NEWS)
    assert PageFingerprinter().fingerprint(hop) == RequestFingerprinter().fingerprint(Request(NEWS))


def test_priorities_of_tiers_do_not_add_up(crawl: PolicyMiddleware) -> None:
    page = page_of(Request("http://own.example/"))
    request = crawl.get_processed_request(Request(NEWS, priority=3), page)
    for day in range(2, 5):
        assert request is not None
        after = request.replace(url=f"http://news.example/politics/2025/06/{day:02}/c-d.html")
        request = crawl.get_processed_request(after, page_of(request))
        assert request is not None
        assert request.priority == 3 + priority(5)


def test_the_priority_of_a_link_is_its_own(crawl: PolicyMiddleware) -> None:
    hub = visited(crawl)
    link = crawl.get_processed_request(Request(NEWS, meta=hub.meta, priority=4), hub)
    assert link is not None
    assert link.priority == 4 + priority(5)
