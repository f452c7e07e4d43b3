"""Feeds and sitemaps in exports."""

from __future__ import annotations

import json
from typing import Any

from temporal_assets.policy import Policy
from temporal_assets.policy.document import Document
from temporal_assets.policy.exports import TARGETS
from tests.exported import (
    Files,
    fast_filter,
    first_match,
    storm_fast_filter,
)

SOURCES = [
    {"url": "https://news.example/rss", "kind": "feed", "is_news": False}
    | {"site": "news.example", "tier": 4, "interval_seconds": 900, "new_per_day": 3.5},
    {"url": "https://news.example/news-sitemap.xml.gz", "kind": "sitemap", "is_news": True}
    | {"site": "news.example", "tier": 4, "interval_seconds": 1800, "new_per_day": None},
]
"""Entries of `sources`."""


def with_sources(doc: Document) -> Document:
    return {**doc, "sources": SOURCES}  # type: ignore[typeddict-item]


def test_feeds_and_sitemaps_are_exported_in_the_words_of_each_crawler(doc: Document) -> None:
    files = {name: make(with_sources(doc)) for name, make in TARGETS.items()}
    feed, sitemap_url = (source["url"] for source in SOURCES)
    assert files["news-crawl"]["seeds/feeds.txt"].splitlines() == [
        f"{feed}\tisFeed=true\tfetchInterval=15",
        f"{sitemap_url}\tisSitemapNews=true\tfetchInterval=30",
    ]
    plain = [{**SOURCES[1], "is_news": False}]
    alone = TARGETS["news-crawl"]({**doc, "sources": plain})  # type: ignore[typeddict-item]
    assert "isSitemapVerified=true" in alone["seeds/feeds.txt"]
    assert "isHtmlSeed=true" in files["news-crawl"]["seeds/hubs.txt"]
    storm = files["stormcrawler"]
    assert f"{feed}\tpolicyTier=4\thubInterval=15\tisFeed=true\n" in storm["seeds.txt"]
    news = f"{sitemap_url}\tpolicyTier=4\thubInterval=30\tisSitemap=true\tisSitemapNews=true\n"
    assert news in storm["seeds.txt"]
    assert "fetchInterval.hubInterval=30: 30" in storm["policy-conf.yaml"]
    assert first_match(storm["policy-regex-filters.txt"], sitemap_url)
    assert storm_fast_filter(storm["fast.urlfilter.json"], sitemap_url)
    nutch_files = files["nutch"]
    assert first_match(nutch_files["conf/regex-urlfilter.txt"], sitemap_url)
    assert fast_filter(nutch_files["conf/fast-urlfilter.txt"], sitemap_url)
    assert f"{feed}\tnutch.score=13.0\tnutch.fetchInterval=900" in nutch_files["seeds/seeds.txt"]
    started = [one["url"] for one in json.loads(files["scrapy"]["start-requests.json"])]
    assert started[-2:] == [feed, sitemap_url]
    labels = {one["url"]: one["label"] for one in links_of(files["crawlee"])["start"]}
    assert labels[feed] == "feed"
    assert feed in files["heritrix"]["seeds.txt"]
    assert feed in files["urlfrontier"]["hubs.jsonl"]
    assert f"{sitemap_url}\tsitemap\t4\t1800" in files["plain-text"]["sources.tsv"]


def links_of(files: Files) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(files["policy-links.json"])
    return document


def test_feeds_are_not_static(policy: Policy) -> None:
    for name in ("all.rss", "all.atom", "sitemap.xml.gz"):
        assert policy.match(f"https://news.example/{name}").reason != "static"
