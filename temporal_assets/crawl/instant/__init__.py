"""The instant crawler: fetches news as it appears, politely, and remembers what it did.

    run           one crawl: settings, budget, the process
    spider        what becomes of a response: archive, links, credit
    watch         sources (hubs, feeds, sitemaps): when each is due, what its visits yield
    explore       the share of the budget that goes to what the policy does not know
    scheduler     which request is next; with `host_queues`, `host_locks`
    manners       robots.txt, Retry-After, back-off
    memory        what survives `kill -9`
    archive       WARC files and their index

Not here: what is wanted (`policy`), how sources are read (`crawl.sources`).
"""

from __future__ import annotations

from temporal_assets.crawl.instant.memory import NewerMemory
from temporal_assets.crawl.instant.run import (
    AGENT,
    KILLED,
    Budget,
    CrawlUnderWayError,
    NotWrittenError,
    crawl,
    settings_of,
)
from temporal_assets.crawl.instant.watch import ORIGINS

__all__ = [
    "AGENT",
    "KILLED",
    "ORIGINS",
    "Budget",
    "CrawlUnderWayError",
    "NewerMemory",
    "NotWrittenError",
    "crawl",
    "settings_of",
]
