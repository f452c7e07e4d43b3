"""Exports to programs with a list to allow and one to deny."""

from __future__ import annotations

import fnmatch
import json
import re

import pytest
import yaml

from temporal_assets.policy import Policy
from temporal_assets.policy.document import Document
from temporal_assets.policy.exports import TARGETS
from tests.exported import (
    allow_and_deny,
    both,
    check,
    hubs_in_order,
)
from tests.policies import (
    URLS,
)


def test_browsertrix(policy: Policy, doc: Document) -> None:
    files = TARGETS["browsertrix"](doc)
    answer = yaml.safe_load(files["crawl-config.yaml"])
    assert answer["scopeType"] == "custom"
    check(policy, URLS, lambda url: allow_and_deny(answer["include"], answer["exclude"], url))
    assert files["seeds.txt"].splitlines() == hubs_in_order(policy)  # comments would be seeds
    assert [seed["url"] for seed in answer["seeds"]] == hubs_in_order(policy)


@pytest.mark.parametrize("target", ["crawlee", "crawl4ai"])
def test_crawlee(policy: Policy, doc: Document, target: str) -> None:
    content = json.loads(TARGETS[target](doc)["policy-links.json"])
    check(policy, URLS, lambda url: allow_and_deny(content["include"], content["exclude"], url))
    for url in both(URLS):
        score = next((score for e, score in content["scores"] if re.search(e, url)), 0)
        assert score == (16 - policy.match(url).tier) / 15
    assert [start["url"] for start in content["start"]] == hubs_in_order(policy)
    for url in both(URLS):
        if any(fnmatch.fnmatchcase(url, glob) for glob in content["globs"]):
            assert policy.match(url).prefix is not None
    assert sum(fnmatch.fnmatchcase(u, g) for u in both(URLS) for g in content["globs"]) > 10


def test_scrapy(policy: Policy, doc: Document) -> None:
    files = TARGETS["scrapy"](doc)
    links = json.loads(files["links.json"])
    check(policy, URLS, lambda url: allow_and_deny(links["allow"], links["deny"], url))
    for url in both(URLS):
        priority = next((p for e, p in links["priorities"] if re.search(e, url)), 0)
        assert priority == 16 - policy.match(url).tier
    start = json.loads(files["start-requests.json"])
    assert start[0] == {"url": "https://news.example/", "priority": 15, "interval_seconds": 1200}
    (junk,) = json.loads(files["duplicate-url-discarder.json"])
    assert junk["processor"] == "queryRemoval"
    assert {"phpsessid", "PHPSESSID", "ASP.NET_SessionId"} <= set(junk["args"])
    assert not any("*" in key for key in junk["args"])


def junk_keys(doc: Document, **urls: list[str]) -> set[str]:
    # Which keys these are, only the tests that call it say.
    changed: Document = {**doc, "urls": {**doc["urls"], **urls}}  # type: ignore[typeddict-item]
    (junk,) = json.loads(TARGETS["scrapy"](changed)["duplicate-url-discarder.json"])
    return set(junk["args"])


def test_query_keys_that_tell_pages_apart_are_not_removed_by_scrapy(doc: Document) -> None:
    every = junk_keys(doc)
    assert not every & {"sid", "SID"}  # `sid=1234` is the number of a story
    assert every - junk_keys(doc, kept_keys=["Session*", "GCLID"]) == {
        *("session_id", "SESSION_ID", "sessionid", "SESSIONID", "gclid", "GCLID")
    }
    assert junk_keys(doc, dropped_keys=["Visit", "v*"]) == {"Visit", "visit", "VISIT"}
