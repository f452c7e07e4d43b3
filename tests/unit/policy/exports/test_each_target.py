"""Exports to each crawler, read as that crawler reads them, and what holds for all."""

from __future__ import annotations

import fnmatch
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from temporal_assets.policy import Policy
from temporal_assets.policy.document import Document
from temporal_assets.policy.exports import TARGETS, export, nutch, sitemap
from temporal_assets.policy.exports.heritrix import surt
from tests.exported import (
    WITHOUT_PORTS,
    Files,
    allow_and_deny,
    both,
    by_domain,
    check,
    fast_filter,
    first_match,
    heritrix_scope,
    heritrix_surts,
    hubs_in_order,
    storm_fast_filter,
)
from tests.policies import PRIVATE, URLS, WHOLE


def test_plain_text(policy: Policy, doc: Document) -> None:
    files = TARGETS["plain-text"](doc)
    assert files["sites.txt"].splitlines() == ["news.example", "board.example", "shop.example"]
    assert [line for line in files["prefixes.txt"].splitlines() if line != WHOLE] == [
        "news.example/politics/",
        "board.example/t.php?",
    ]
    assert files["hubs.txt"].splitlines() == hubs_in_order(policy)
    assert files["hubs.tsv"].splitlines()[1] == "https://news.example/\t1\t1200"


def test_sitemap(policy: Policy, doc: Document) -> None:
    text = TARGETS["sitemap"](doc)["sitemap.xml"]
    space = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    urls = ET.fromstring(text).findall("s:url", space)  # noqa: S314 - we wrote it
    message = [tuple(e.text for e in url) for url in urls]
    assert message == [
        ("https://news.example/", "hourly", "1.0"),
        ("https://news.example/politics/", "hourly", "0.9"),
        ("https://board.example/list?forum=2&sort=new", "daily", "0.9"),
        ("https://shop.example/offers(1).php", "hourly", "0.8"),
    ]
    assert [url for url, _, _ in message] == hubs_in_order(policy)


@pytest.mark.parametrize(
    ("days", "word"),
    [
        (1 / 24, "hourly"),
        (1, "daily"),
        (7, "weekly"),
        (14, "monthly"),
        (30, "monthly"),
        (35, "yearly"),
        (700, "yearly"),
    ],
)
def test_a_sitemap_promises_no_more_visits_than_are_worth_it(days: float, word: str) -> None:
    assert sitemap.frequency(round(days * 86_400)) == word


def test_more_hubs_than_a_sitemap_holds_make_several(
    doc: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemap, "MAX_URLS", 3)
    files = TARGETS["sitemap"](doc)
    assert {name: text.count("<loc>") for name, text in files.items()} == {
        "sitemap-1.xml": 3,
        "sitemap-2.xml": 1,
    }


def test_sitemaps_that_are_not_written_any_more_go(
    doc: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitemap-9.xml").write_text("<urlset/>")
    export(doc, "sitemap", tmp_path)
    for most, names in ((1, [1, 2, 3, 4]), (2, [1, 2]), (9, [])):
        monkeypatch.setattr(sitemap, "MAX_URLS", most)
        export(doc, "sitemap", tmp_path)
        left = {f"sitemap-{number}.xml" for number in names} or {"sitemap.xml"}
        assert {path.name for path in tmp_path.iterdir()} == {*left, "sitemap-9.xml"}


def test_heritrix(policy: Policy, doc: Document) -> None:
    files = TARGETS["heritrix"](doc)
    check(policy, WITHOUT_PORTS, lambda url: heritrix_scope(files, url))
    news = heritrix_surts(files["news-surts.txt"])
    assert news == [surt(entry["prefix"]) for entry in doc["prefixes"]]
    assert {"http://(example,board,)/t.php?", "http://(example,news,)/politics/"} <= set(news)
    precedence = [line.split(" ") for line in files["precedence.txt"].splitlines()]
    assert [(url, int(number)) for url, number in precedence] == [
        (url, policy.match(url).tier) for url in hubs_in_order(policy)
    ]
    assert all(int(number) > 0 for _, number in precedence)  # 0 means the default
    assert files["action/hubs.force"].splitlines()[0] == "F+ https://news.example/"


@pytest.mark.parametrize("name", ["scope-pages.xml", "scope-archive.xml"])
def test_scopes_of_heritrix_have_guards_and_let_through_what_pages_need(
    doc: Document, name: str
) -> None:
    """They are XML; the last rule that applies decides."""
    files = TARGETS["heritrix"](doc)
    beans = ET.fromstring(files[name])  # noqa: S314 - we wrote it
    space = {"b": "http://www.springframework.org/schema/beans"}
    rules = [bean.get("class", "").rpartition(".")[2] for bean in beans.findall("b:bean", space)]
    archive = ["TransclusionDecideRule"] if "archive" in name else []
    assert rules == [
        *("RejectDecideRule", "SurtPrefixedDecideRule", "MatchesListRegexDecideRule"),
        *("TooManyHopsDecideRule", *archive, "PathologicalPathDecideRule"),
        *("TooManyPathSegmentsDecideRule", "PrerequisiteAcceptDecideRule"),
        "SchemeNotInSetDecideRule",
    ]
    values = [value.text for value in beans.iter(f"{{{space['b']}}}value")]
    assert values == files["reject-regex.txt"].splitlines()


def test_surts_by_hand() -> None:
    assert surt("news.example/china/") == "http://(example,news,)/china/"
    assert surt("a.b.example:8080/x") == "http://(example,b,a,:8080)/x"
    assert surt("news.example/China/%C3%A9/") == "http://(example,news,)/china/%c3%a9/"
    assert surt("192.0.2.7/x/") == "http://(192.0.2.7)/x/"
    assert surt("example.org", includes_subdomains=True) == "http://(org,example,"
    assert surt("192.0.2.7", includes_subdomains=True) == "http://(192.0.2.7)/"
    assert surt("[2001:db8::7]", includes_subdomains=True) == "http://([2001:db8::7],)/"
    assert surt("[2001:DB8::7]/news/") == "http://([2001:db8::7],)/news/"
    assert surt("[2001:db8::7]:81/a/") == "http://([2001:db8::7],:81)/a/"


def test_nutch(policy: Policy, doc: Document) -> None:
    files = TARGETS["nutch"](doc)
    regex = files["conf/regex-urlfilter.txt"]
    check(policy, URLS, lambda url: first_match(regex, url))
    lines = files["conf/prefix-urlfilter.txt"].splitlines()
    prefixes = [line for line in lines if line[:1] not in ("", " ", "#")]  # PrefixURLFilter

    def both_filters(url: str) -> bool:
        known = any(url.startswith(prefix) for prefix in prefixes)
        return known and fast_filter(files["conf/fast-urlfilter.txt"], url)

    check(policy, WITHOUT_PORTS, both_filters)
    seeds = [line.split("\t") for line in files["seeds/seeds.txt"].splitlines()]
    assert seeds[0] == [
        "https://news.example/", "nutch.score=16.0", "nutch.fetchInterval=1200", "policyTier=1",
    ]  # fmt: skip
    assert [seed[0] for seed in seeds] == hubs_in_order(policy)
    scores = [float(seed[1].partition("=")[2]) for seed in seeds]
    assert scores == sorted(scores, reverse=True)
    assert all(seed[2].partition("=")[2].isdigit() for seed in seeds)  # Integer.parseInt
    assert files["conf/adaptive-host-specific-intervals.txt"].splitlines() == [
        "board.example 86400 2592000",
        "news.example 300 2592000",
        "shop.example 300 2592000",
    ]


def test_bounds_of_hosts_lie_within_those_that_are_documented(
    doc: Document, repository: Path
) -> None:
    """AdaptiveFetchSchedule takes no bound that equals the one of all hosts."""
    text = (repository / "docs" / "crawlers" / "nutch.md").read_text("utf-8")
    answer = dict(re.findall(r"adaptive\.(m.._interval)</name><value>([0-9.]+)<", text))
    least, most = (
        float(answer.get("min_interval", 60)),
        float(answer.get("max_interval", 365 * 86_400)),
    )
    lines = TARGETS["nutch"](doc)["conf/adaptive-host-specific-intervals.txt"].splitlines()
    for line in lines:
        shortest, longest = map(float, line.split()[1:])
        assert least < shortest <= longest < most, line


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
    """Its `RegexURLFilterBase` has a list of rules in `urlFilters`, and another key for a file."""
    text = (repository / "docs" / "crawlers" / "stormcrawler.md").read_text("utf-8")
    (written,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (rule,) = json.loads(written)["org.apache.stormcrawler.filtering.URLFilters"]
    assert rule["params"] == {"regexFilterFile": "policy-regex-filters.txt"}


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


def test_a_host_is_never_visited_less_often_than_at_most(doc: Document) -> None:
    """`hubs.longest_hours` may be more than the month that Nutch takes for the longest interval."""
    month = 30 * 86_400
    hubs = [
        {**doc["hubs"][0], "url": f"https://{site}/", "site": site, "interval_seconds": seconds}
        for site, seconds in (("a.example", month), ("b.example", month + 1), ("c.example", 300))
    ]
    text = nutch.files({**doc, "hubs": hubs})["conf/adaptive-host-specific-intervals.txt"]
    assert text.splitlines() == [
        "a.example 2592000 2592000",
        "b.example 2592001 2592001",
        "c.example 300 2592000",
    ]


def emptied(doc: Document) -> Document:
    return {**doc, "sites": [], "hubs": [], "prefixes": [], "patterns": [], "trees": []}


def test_an_old_prefix_filter_of_nutch_does_not_keep_rejecting(
    doc: Document, tmp_path: Path
) -> None:
    old = tmp_path / "conf" / "prefix-urlfilter.txt"
    export(doc, "nutch", tmp_path)
    assert old.is_file()
    assert export(by_domain(doc), "nutch", tmp_path).removed == (old,)
    assert not old.exists()
    # Nutch brings a file of this name itself.
    old.write_text("# config file for urlfilter-prefix plugin\nhttp://\n")
    assert export(by_domain(doc), "nutch", tmp_path).removed == ()
    assert old.exists()


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_every_file_that_is_not_always_written_is_known(
    doc: Document, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They hold the mark, so that they go when they are not written any more."""
    empty = emptied(doc)
    monkeypatch.setattr(sitemap, "MAX_URLS", 1)
    for other in (doc, by_domain(doc), empty, by_domain(empty)):
        names = {path.relative_to(tmp_path) for path in export(other, target, tmp_path).written}
        there = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
        assert there == names


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_nothing_private_is_exported(doc: Document, target: str, tmp_path: Path) -> None:
    written = export(doc, target, tmp_path).written
    text = "".join(path.read_text("utf-8") for path in written)
    assert "news.example" in text or "news" in text
    for secret in (PRIVATE, "/private/", "anna", "few.example"):
        assert secret not in text


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_an_empty_policy_has_an_export(doc: Document, target: str) -> None:
    assert TARGETS[target](emptied(doc))


def test_the_command_knows_all_targets() -> None:
    from temporal_assets.cli.policy.export import TARGET_NAMES

    assert TARGET_NAMES.split(", ") == sorted(TARGETS)
