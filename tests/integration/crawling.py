"""A crawl in a process of its own, because a reactor runs once; prints its statistics as JSON.

Arguments: the settings as JSON, and what to run: `spider` or `instant`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor


class Rendering:
    """A downloader middleware that asks a renderer for pages, as those of many services do."""

    def process_request(self, request: Request) -> Request | None:
        if request.url.startswith(("http://render.example/", "http://own.example/")):
            return None
        return request.replace(url=f"http://render.example/?url={request.url}")


class Follower(Spider):
    """Follows every link."""

    name = "follower"

    async def start(self) -> AsyncIterator[Request]:
        yield Request("http://own.example/start")

    def parse(self, response: Response, **_: Any) -> Iterator[Request]:
        for link in LinkExtractor(deny_extensions=[]).extract_links(response):
            yield Request(link.url)


def main() -> None:
    settings = json.loads(sys.argv[1])
    if sys.argv[2] == "instant":
        from temporal_assets.crawl.instant import Budget, NotWrittenError, crawl

        budget = Budget(settings.pop("PAGES", None), settings.pop("SECONDS", None))
        folder = Path(settings.pop("FOLDER"))
        try:
            stats = crawl(settings.pop("TEMPORAL_POLICY"), folder, budget, settings)
        except NotWrittenError as error:
            sys.exit(str(error))
    else:
        process = CrawlerProcess(settings)
        crawler = process.create_crawler(Follower)
        process.crawl(crawler)
        process.start()
        assert crawler.stats
        stats = crawler.stats.get_stats()
    print(json.dumps(stats, default=str))


if __name__ == "__main__":
    main()
