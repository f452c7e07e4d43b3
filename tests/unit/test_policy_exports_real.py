"""Exports read by the programs they are for, where these can be installed."""

from __future__ import annotations

import json
from pathlib import Path

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
    found = {link.url for link in extractor.extract_links(page)}
    expected = {url for url in URLS if policy.match(url).decision != "skip"}
    assert found == expected
    assert found < set(URLS)


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


def test_the_sitemap_is_read_by_scrapy(policy: Policy, tmp_path: Path) -> None:
    pytest.importorskip("scrapy", reason="the scrapy extra is not installed")
    from scrapy.utils.sitemap import Sitemap

    text = TARGETS["sitemap"](policy.document)["sitemap.xml"]
    found = [entry["loc"] for entry in Sitemap(text.encode())]
    assert sorted(found) == sorted(hub["url"] for hub in policy.document["hubs"])
