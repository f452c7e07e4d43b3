"""Common Crawl's news-crawl: feeds and news sitemaps as it wants them, and our hubs beside them.

News-crawl is a StormCrawler topology that follows feeds and news sitemaps only. Its seeds are lines
of a URL and metadata, parted by tabs: `isFeed=true`, `isSitemapNews=true`, and
`isSitemapVerified=true` for a sitemap without news annotations that is known to list news; it reads
no links of others. It has no parser for hubs in HTML (its issue 41): they stand in a file of their
own, with the same metadata as for StormCrawler, for a topology to which a parser of links was
added.
"""

from __future__ import annotations

from collections.abc import Iterable

from temporal_assets.policy.document import Document, SourceEntry
from temporal_assets.policy.exports.rules import by_rank
from temporal_assets.policy.exports.stormcrawler import minutes


def files(document: Document) -> dict[str, str]:
    """Return the text of each file by its name."""
    return {
        "seeds/feeds.txt": _text(
            f"{row['url']}\t{_metadata(row)}\tfetchInterval={minutes(row['interval_seconds'])}"
            for row in document["sources"]
        ),
        "seeds/hubs.txt": _text(
            f"{hub['url']}\tisHtmlSeed=true\tpolicyTier={hub['tier']}"
            f"\thubInterval={minutes(hub['interval_seconds'])}"
            for hub in by_rank(document)
        ),
    }


def _metadata(source: SourceEntry) -> str:
    """Return the metadata key that tells news-crawl's parsers the kind of a source."""
    if source["kind"] == "feed":
        return "isFeed=true"
    return "isSitemapNews=true" if source["is_news"] else "isSitemapVerified=true"


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
