"""Exports read by the programs they are for, where these can be installed."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from temporal_assets.policy import Policy
from temporal_assets.policy.exports import TARGETS
from tests.policies import URLS, document


@pytest.fixture(scope="module")
def policy() -> Policy:
    return Policy(document())


def test_scrapy_extracts_the_links_that_match_wants(policy: Policy) -> None:
    pytest.importorskip("scrapy", reason="the scrapy extra is not installed")
    from scrapy.http import HtmlResponse
    from scrapy.linkextractors import LinkExtractor

    links = json.loads(TARGETS["scrapy"](policy.document)["links.json"])
    extractor = LinkExtractor(
        allow=links["allow"], deny=links["deny"], deny_extensions=[], strip=False, unique=True
    )
    body = "".join(f'<a href="{url.replace("&", "&amp;")}">x</a>' for url in URLS)
    page = HtmlResponse("https://start.example/", body=body.encode(), encoding="utf-8")
    urls = {link.url for link in extractor.extract_links(page)}
    expected = {url for url in URLS if policy.match(url).decision != "skip"}
    assert urls == expected
    assert urls < set(URLS)


def test_junk_keys_are_removed_as_match_removes_them(policy: Policy) -> None:
    w3lib = pytest.importorskip("w3lib.url", reason="the scrapy extra is not installed")
    (junk,) = json.loads(TARGETS["scrapy"](policy.document)["duplicate-url-discarder.json"])
    for query in ("sid=1234&a=1", "PHPSESSID=ab12&a=1", "ASP.NET_SessionId=x&gclid=y&a=1", "a=1"):
        url = f"https://news.example/x?{query}"
        # As the processor `queryRemoval` calls it.
        left = w3lib.url_query_cleaner(
            url, junk["args"], remove=True, unique=False, keep_fragments=True
        )
        assert policy.canonical(left) == policy.canonical(url)
        keys = [field.partition("=")[0] for field in left.partition("?")[2].split("&")]
        assert keys == (["sid", "a"] if "sid=" in query else ["a"])


def test_url_matcher_finds_the_rule_of_the_tier(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    url_matcher = pytest.importorskip("url_matcher", reason="the dev extra is not installed")
    from tldextract import tldextract

    # Offline: the list of suffixes that comes with the package.
    monkeypatch.setattr(tldextract, "extract", tldextract.TLDExtract(suffix_list_urls=()))
    rules = json.loads(TARGETS["url-matcher"](policy.document)["rules.json"])
    matcher = url_matcher.URLMatcher(
        {
            place: url_matcher.Patterns(rule["include"], rule["exclude"], rule["priority"])
            for place, rule in enumerate(rules)
        }
    )
    asked = 0
    for url in URLS:
        decision = policy.match(url)
        if decision.reason in ("prefix", "site") and ":8443" not in url:
            asked += 1
            assert matcher.match(url) is not None, url
            assert rules[matcher.match(url)]["meta"]["tier"] == decision.tier, url
        if decision.reason == "unknown_site" and "news.example" not in url:
            assert matcher.match(url) is None, url
    assert asked > 10


def links_policy(policy: Policy, target: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(TARGETS[target](policy.document)["policy-links.json"])
    return answer


def under_prefixes(policy: Policy) -> set[str]:
    """Return the URLs that globs should know: all below a prefix, whatever decides there."""
    return {url for url in URLS if policy.match(url).prefix is not None}


def test_crawlee_follows_what_match_wants(policy: Policy) -> None:
    crawlee = pytest.importorskip("crawlee", reason="pip install crawlee: it reads its export")
    from crawlee.crawlers import BasicCrawler

    answer = links_policy(policy, "crawlee")
    include, exclude = ([re.compile(e) for e in answer[name]] for name in ("include", "exclude"))
    accepts: Any = BasicCrawler._check_url_patterns
    for url in URLS:
        assert accepts(None, url, include, exclude) == (policy.match(url).decision != "skip"), url
    globs = [crawlee.Glob(glob) for glob in answer["globs"]]
    assert {url for url in URLS if accepts(None, url, globs, [])} == under_prefixes(policy)
    first = answer["start"][0]
    request = crawlee.Request.from_url(
        first["url"], label=first["label"], user_data=first["user_data"]
    )
    assert (request.label, request.url) == ("hub-1", "https://news.example/")


def test_crawl4ai_scores_and_filters_as_match(policy: Policy) -> None:
    pytest.importorskip("crawl4ai", reason="pip install crawl4ai: it reads its export")
    from crawl4ai.deep_crawling.filters import FilterChain, URLPatternFilter
    from crawl4ai.deep_crawling.scorers import URLScorer

    answer = links_policy(policy, "crawl4ai")
    chain = FilterChain(
        [URLPatternFilter(answer["include"]), URLPatternFilter(answer["exclude"], reverse=True)]
    )
    for url in URLS:
        wanted = policy.match(url).decision != "skip"
        assert asyncio.run(chain.apply(url)) == wanted, url
    globs = URLPatternFilter(answer["globs"])
    urls = {url for url in URLS if globs.apply(url)}
    # It counts the folder's name without its slash as well.
    assert urls - {"https://news.example/politics"} == under_prefixes(policy)

    class PolicyScorer(URLScorer):  # type: ignore[misc]
        def _calculate_score(self, url: str) -> float:
            return (16 - policy.match(url).tier) / 15

    scorer = PolicyScorer()
    message = [(re.compile(expression), score) for expression, score in answer["scores"]]
    for url in URLS:
        listed = next((score for e, score in message if e.search(url)), 0)
        assert scorer.score(url) == pytest.approx(listed), url


def test_the_sitemap_is_read_by_scrapy(policy: Policy, tmp_path: Path) -> None:
    pytest.importorskip("scrapy", reason="the scrapy extra is not installed")
    from scrapy.utils.sitemap import Sitemap

    text = TARGETS["sitemap"](policy.document)["sitemap.xml"]
    locs = [entry["loc"] for entry in Sitemap(text.encode())]
    assert sorted(locs) == sorted(hub["url"] for hub in policy.document["hubs"])
