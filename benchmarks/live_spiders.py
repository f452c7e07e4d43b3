"""Spiders to compare the instant crawler with: three of twenty lines each.

Run by `benchmarks.live_crawl`, each in a process of its own: `python -m benchmarks.live_spiders
NAME SETTINGS`, with the settings as JSON.

    feeds      polls the feeds that front pages name and the sitemaps that robots.txt names
    breadth    breadth first from the front pages, again and again
    list       visits the front pages, and fetches what they link on their hosts
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.asyncio import create_looping_call


class Repeating(Spider):
    """Asks for some pages again and again, at one interval."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Repeating:
        """Called by Scrapy."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    def idle(self) -> None:
        """Stay until the budget is spent."""
        raise DontCloseSpider

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the front pages, and again at every tick."""
        settings = self.crawler.settings
        self.again: list[str] = list(settings["FRONTS"])
        self.hosts = {urlsplit(url).netloc for url in self.again}
        self.loop = create_looping_call(self.tick)
        self.loop.start(settings["EVERY"], now=False)
        for url in self.again:
            yield Request(url, dont_filter=True, priority=1)

    def tick(self) -> None:
        """Ask again."""
        engine: Any = self.crawler.engine
        if engine.spider is None:
            return  # the crawl is ending
        for url in self.again:
            engine.crawl(Request(url, dont_filter=True, priority=1))

    def links(self, response: Response) -> Iterator[Request]:
        """Follow links on the hosts of the list."""
        if isinstance(response, HtmlResponse):
            for link in LinkExtractor(deny_extensions=[]).extract_links(response):
                if urlsplit(link.url).netloc in self.hosts:
                    yield Request(link.url)


class ListInUse(Repeating):
    """The list as people keep it: front pages, and what they link."""

    name = "list"

    def parse(self, response: Response, **_: Any) -> Iterator[Request]:
        """Follow the links of front pages."""
        if response.url in self.again:
            yield from self.links(response)


class Breadth(Repeating):
    """Breadth first: every page is followed."""

    name = "breadth"

    def parse(self, response: Response, **_: Any) -> Iterator[Request]:
        """Follow all links."""
        yield from self.links(response)


class Feeds(Repeating):
    """Polls feeds and sitemaps, and fetches what they name."""

    name = "feeds"

    def parse(self, response: Response, **_: Any) -> Iterator[Request]:
        """Find feeds on front pages; follow entries of feeds."""
        body = response.body
        if body.startswith(b"\x1f\x8b"):
            body = gzip.decompress(body)
        if isinstance(response, HtmlResponse) and b"<rss" not in body and b"<feed" not in body:
            host = urlsplit(response.url).netloc
            found = response.xpath("//link[@rel='alternate']/@href").getall()
            feeds = [response.urljoin(href) for href in found]
            if urlsplit(response.url).path in ("", "/"):
                feeds.append(f"http://{host}/robots.txt")
            for url in feeds:
                if url not in self.again and not url.endswith("robots.txt"):
                    self.again.append(url)
                    yield Request(url, dont_filter=True, priority=1)
                elif url.endswith("robots.txt"):
                    yield Request(url)
            return
        text = body.decode("utf-8", "replace")
        if response.url.endswith("/robots.txt"):
            for url in re.findall(r"(?im)^sitemap:\s*(\S+)", text):
                self.again.append(url)
                yield Request(url, dont_filter=True, priority=1)
            return
        urls = re.findall(
            r"<(?:loc|link)>([^<]+)<|<link href='([^']+)'|\"url\": \"([^\"]+)\"", text
        )
        for url in ("".join(match) for match in urls):
            if re.search(r"\.xml(\.gz)?$", url):
                if url not in self.again:
                    self.again.append(url)
                    yield Request(url, dont_filter=True, priority=1)
            else:
                yield Request(url)


def main() -> None:
    """Crawl."""
    name, settings = sys.argv[1], json.loads(sys.argv[2])
    spider = {spider_class.name: spider_class for spider_class in (ListInUse, Breadth, Feeds)}[name]
    process = CrawlerProcess({"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, **settings})
    process.crawl(spider)
    process.start()


if __name__ == "__main__":
    main()
