"""Exports to StormCrawler and URLFrontier."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from temporal_assets.policy import Policy
from temporal_assets.policy.document import Document
from temporal_assets.policy.exports import TARGETS
from tests.exported import (
    WITHOUT_PORTS,
    check,
    first_match,
    hubs_in_order,
    storm_fast_filter,
)
from tests.policies import (
    URLS,
)


def test_stormcrawler(policy: Policy, doc: Document) -> None:
    files = TARGETS["stormcrawler"](doc)
    lines = files["policy-regex-filters.txt"]
    assert {line[0] for line in lines.splitlines()} <= {"+", "-"}  # others end the reading
    check(policy, URLS, lambda url: first_match(lines, url))
    sites = {site["site"] for site in doc["sites"]}
    of_known = [url for url in WITHOUT_PORTS if urlsplit(url).hostname in sites]
    check(policy, of_known, lambda url: storm_fast_filter(files["fast.urlfilter.json"], url))
    seeds = [line.split("\t") for line in files["seeds.txt"].splitlines()]
    assert seeds[0] == ["https://news.example/", "policyTier=1", "hubInterval=20"]
    seeds = [seed for seed in seeds if len(seed) == 3]
    configuration = yaml.safe_load(files["policy-conf.yaml"])["config"]
    for seed in seeds:
        # DefaultScheduler compares the metadata's text.
        minutes = configuration[f"fetchInterval.{seed[2]}"]
        assert 60 * minutes == policy.match(seed[0]).interval_seconds
        assert configuration[f"fetchInterval.FETCH_ERROR.{seed[2]}"] == minutes
    # The list replaces that of crawler-default.yaml.
    kept = ["_redirTo", "error.cause", "error.source", "isSitemap", "isSitemapNews", "isFeed"]
    own = [field.partition("=")[0] for field in seeds[0][1:]]
    assert configuration["metadata.persist"] == kept + own


def test_urlfrontier(policy: Policy, doc: Document) -> None:
    items = [json.loads(line) for line in TARGETS["urlfrontier"](doc)["hubs.jsonl"].splitlines()]
    assert items[0] == {
        "known": {
            "info": {
                "url": "https://news.example/",
                "key": "news.example",
                "crawlID": "DEFAULT",
                "metadata": {"tier": {"values": ["1"]}, "interval_seconds": {"values": ["1200"]}},
            },
            "refetchableFromDate": "1",
        }
    }
    # Within a queue the earliest date is first; zero would mean never.
    due = [
        (int(item["known"]["refetchableFromDate"]), item["known"]["info"]["url"]) for item in items
    ]
    assert all(date > 0 for date, _ in due)
    assert [url for _, url in sorted(due)] == hubs_in_order(policy)


def test_the_documented_filters_of_stormcrawler_are_those_that_it_reads(repository: Path) -> None:
    """By its `RegexURLFilterBase`: `urlFilters` is a list of rules, a file has another key."""
    text = (repository / "docs" / "crawlers" / "stormcrawler.md").read_text("utf-8")
    (written,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (rule,) = json.loads(written)["org.apache.stormcrawler.filtering.URLFilters"]
    assert rule["params"] == {"regexFilterFile": "policy-regex-filters.txt"}
