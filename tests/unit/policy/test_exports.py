"""Every export against its target's own rules, written down here once more and independently.

What a target accepts must be what `match` does not skip; what it orders must be in the order of
tiers. Where the target itself can be installed, `tests/unit/policy/test_exports_real.py` asks it.
"""

from __future__ import annotations

import fnmatch
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets.policy import Policy
from temporal_assets.policy.assemble import (
    HUBS,
    PATTERNS,
    PREFIXES,
    SITES,
    Choices,
    Tables,
    assemble,
)
from temporal_assets.policy.document import Document
from temporal_assets.policy.exports import TARGETS, export, nutch, sitemap
from temporal_assets.policy.exports.heritrix import surt
from temporal_assets.policy.exports.rules import rules, skipped, skipped_paths
from tests.policies import (
    NEWS,
    PRIVATE,
    PROVENANCE,
    SHOP,
    URLS,
    WHOLE,
    document,
    document_of_schemes,
    hubs_of_schemes,
    schemes_of_pages,
    tier_of,
    urls_of_schemes,
)

WITHOUT_PORTS = [url for url in URLS if ":8443" not in url]

Files = dict[str, str]


@pytest.fixture(scope="module", params=[False, True], ids=["folders", "a whole site"])
def doc(request: pytest.FixtureRequest) -> Document:
    """News prefixes that are folders; and one that is a site, in which patterns overrule it."""
    return document(whole=request.param)


@pytest.fixture(scope="module")
def policy(doc: Document) -> Policy:
    return Policy(doc)


def both(urls: list[str]) -> list[str]:
    """Every URL under http as well."""
    return urls + [url.replace("https://", "http://", 1) for url in urls]


def wanted(policy: Policy, url: str) -> bool:
    return policy.match(url).decision != "skip"


def check(policy: Policy, urls: list[str], accepts: Callable[[str], bool]) -> None:
    wrong = [url for url in both(urls) if accepts(url) != wanted(policy, url)]
    assert wrong == []
    assert len({wanted(policy, url) for url in urls}) == 2  # both answers were asked for


def hubs_in_order(policy: Policy) -> list[str]:
    return sorted(
        (hub["url"] for hub in policy.document["hubs"]), key=lambda url: policy.match(url).tier
    )


def test_rules_say_what_match_says(policy: Policy, doc: Document) -> None:
    every = rules(doc)
    assert {url: tier_of(url, every) for url in both(URLS)} == {
        url: policy.match(url).tier for url in both(URLS)
    }


# -------------------------------------------------------------------------------------- Nutch


def first_match(text: str, url: str) -> bool:
    """RegexURLFilterBase: `+` or `-` and an expression that is found; nothing found rejects."""
    for line in text.splitlines():
        if not line or line[0] in "# ":
            continue
        assert line[0] in "+-"
        if re.search(line[1:], url):
            return line[0] == "+"
    return False


def fast_filter(text: str, url: str) -> bool:
    """FastURLFilter: deny-only rules by host, on path and query; a line ends at `#`."""
    host, rules_of = "", dict[str, list[str]]()
    for line in (line.partition("#")[0].strip() for line in text.splitlines()):
        if line.startswith("Host "):
            host = line.split()[1]
        elif line:
            kind, expression = line.split()[:2]
            assert kind == "DenyPathQuery"
            rules_of.setdefault(host, []).append(expression)
    parts = urlsplit(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    return not any(re.search(e, path) for e in rules_of.get(parts.hostname or "", []))


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
    told = dict(re.findall(r"adaptive\.(m.._interval)</name><value>([0-9.]+)<", text))
    least, most = float(told.get("min_interval", 60)), float(told.get("max_interval", 365 * 86_400))
    lines = TARGETS["nutch"](doc)["conf/adaptive-host-specific-intervals.txt"].splitlines()
    for line in lines:
        shortest, longest = map(float, line.split()[1:])
        assert least < shortest <= longest < most, line


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


# ------------------------------------------------------------------------------- StormCrawler


def storm_fast_filter(text: str, url: str) -> bool:
    """FastURLFilter: scopes by host; the first rule found in path and query decides."""
    parts = urlsplit(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    for scope in json.loads(text):
        if scope["scope"] != f"host:{parts.hostname}":
            continue
        for pattern in scope["patterns"]:
            kind, expression = pattern.split(" ", 1)
            assert kind in ("AllowPathQuery", "DenyPathQuery")
            if re.search(expression, path):
                return kind == "AllowPathQuery"
    return True


def test_stormcrawler(policy: Policy, doc: Document) -> None:
    files = TARGETS["stormcrawler"](doc)
    lines = files["policy-regex-filters.txt"]
    assert {line[0] for line in lines.splitlines()} <= {"+", "-"}  # others end the reading
    check(policy, URLS, lambda url: first_match(lines, url))
    known = {site["site"] for site in doc["sites"]}
    of_known = [url for url in WITHOUT_PORTS if urlsplit(url).hostname in known]
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


# -------------------------------------------------------------------------------- URLFrontier


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


# ----------------------------------------------------------------------------------- Heritrix


def heritrix_surts(text: str) -> list[str]:
    """SurtPrefixSet.importFromMixed: `+` and a prefix; other lines are URLs.

    It lower-cases them; lists in XML it does not, and they are taken from the same file.
    """
    lines = text.splitlines()
    assert [line for line in lines if not line.startswith("+")] == []
    return [line.removeprefix("+") for line in lines]


def heritrix_scope(files: Files, url: str) -> bool:
    """REJECT all, ACCEPT by SURT prefix, REJECT by a list that the whole URL must match."""
    parts = urlsplit(url)
    host = ",".join(reversed((parts.hostname or "").split("."))) + ","
    port = f":{parts.port}" if parts.port else ""
    own = f"http://({host}{port}){parts.path}" + (f"?{parts.query}" if parts.query else "")
    accepted = any(own.lower().startswith(surt) for surt in heritrix_surts(files["surts.txt"]))
    return accepted and not any(
        re.fullmatch(line, url) for line in files["reject-regex.txt"].splitlines()
    )


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
    """As XML; the last rule that applies decides."""
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
    labels = {one["url"]: one["label"] for one in _links(files["crawlee"])["start"]}
    assert labels[feed] == "feed"
    assert feed in files["heritrix"]["seeds.txt"]
    assert feed in files["urlfrontier"]["hubs.jsonl"]
    assert f"{sitemap_url}\tsitemap\t4\t1800" in files["plain-text"]["sources.tsv"]


def _links(files: Files) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(files["policy-links.json"])
    return told


def test_feeds_are_not_static(policy: Policy) -> None:
    for name in ("all.rss", "all.atom", "sitemap.xml.gz"):
        assert policy.match(f"https://news.example/{name}").reason != "static"


def test_the_documented_filters_of_stormcrawler_are_those_that_it_reads(repository: Path) -> None:
    """By its `RegexURLFilterBase`: `urlFilters` is a list of rules, a file has another key."""
    text = (repository / "docs" / "crawlers" / "stormcrawler.md").read_text("utf-8")
    (written,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (rule,) = json.loads(written)["org.apache.stormcrawler.filtering.URLFilters"]
    assert rule["params"] == {"regexFilterFile": "policy-regex-filters.txt"}


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


# ------------------------------------------------- programs with a list to allow and one to deny


def allow_and_deny(allow: list[str], deny: list[str], url: str) -> bool:
    return any(re.search(e, url) for e in allow) and not any(re.search(e, url) for e in deny)


def test_browsertrix(policy: Policy, doc: Document) -> None:
    files = TARGETS["browsertrix"](doc)
    told = yaml.safe_load(files["crawl-config.yaml"])
    assert told["scopeType"] == "custom"
    check(policy, URLS, lambda url: allow_and_deny(told["include"], told["exclude"], url))
    assert files["seeds.txt"].splitlines() == hubs_in_order(policy)  # comments would be seeds
    assert [seed["url"] for seed in told["seeds"]] == hubs_in_order(policy)


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


# ------------------------------------------------------------------- plain text and the sitemap


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
    said = [tuple(e.text for e in url) for url in urls]
    assert said == [
        ("https://news.example/", "hourly", "1.0"),
        ("https://news.example/politics/", "hourly", "0.9"),
        ("https://board.example/list?forum=2&sort=new", "daily", "0.9"),
        ("https://shop.example/offers(1).php", "hourly", "0.8"),
    ]
    assert [url for url, _, _ in said] == hubs_in_order(policy)


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


# ------------------------------------------------------------------------------------- all of them


def emptied(doc: Document) -> Document:
    return {**doc, "sites": [], "hubs": [], "prefixes": [], "patterns": [], "trees": []}


def by_domain(doc: Document) -> Document:
    domains = doc.copy()
    domains["includes_subdomains"] = True
    return domains


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


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_every_file_that_is_not_always_written_is_known(
    doc: Document, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And holds the mark, so that it goes when it is not written any more."""
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


# ------------------------------------------------------------------------------------- schemes


@given(
    schemes_of_pages,
    hubs_of_schemes,
    st.lists(urls_of_schemes, min_size=1, max_size=30),
    st.booleans(),
)
def test_pages_that_differ_by_scheme_are_accepted_as_match_says(
    schemes: dict[str, list[str]], hubs: list[tuple[str, int]], urls: list[str], whole: bool
) -> None:
    doc = document_of_schemes(schemes, hubs, whole=whole)
    policy = Policy(doc)
    files = {target: make(doc) for target, make in TARGETS.items()}
    lists = json.loads(files["scrapy"]["links.json"])
    nutch, storm = files["nutch"], files["stormcrawler"]
    known = {site["site"] for site in doc["sites"]}
    every = rules(doc)
    for url in urls:
        is_wanted = wanted(policy, url)
        assert tier_of(url, every) == policy.match(url).tier, url
        accepts = is_wanted or is_of_a_pattern_left_out(doc, url)
        assert allow_and_deny(lists["allow"], lists["deny"], url) == accepts, url
        assert first_match(nutch["conf/regex-urlfilter.txt"], url) == is_wanted, url
        assert first_match(storm["policy-regex-filters.txt"], url) == is_wanted, url
        if ":8443" not in url:
            assert heritrix_scope(files["heritrix"], url) == accepts, url
        # Filters that are kept by host know no schemes: they leave out what is skipped under one,
        # and never keep back what is wanted.
        if urlsplit(url).hostname in known:
            fast = [
                fast_filter(nutch["conf/fast-urlfilter.txt"], url),
                storm_fast_filter(storm["fast.urlfilter.json"], url),
            ]
            assert not is_wanted or all(fast), url
    for target in ("crawlee", "crawl4ai"):
        content = json.loads(files[target]["policy-links.json"])
        assert (content["include"], content["exclude"]) == (lists["allow"], lists["deny"])
    content = json.loads(files["browsertrix"]["crawl-config.yaml"])
    assert (content["include"], content["exclude"]) == (lists["allow"], lists["deny"])


# --------------------------------------------------------------- what comes before what is skipped


def with_news(doc: Document, prefixes: list[str], hubs: list[str]) -> Document:
    """The same with other prefixes and hubs of NEWS."""
    prefix, hub = doc["prefixes"][0], doc["hubs"][0]
    return {
        **doc,
        "prefixes": [{**prefix, "site": NEWS, "prefix": one} for one in sorted(prefixes)],
        "hubs": [{**hub, "site": NEWS, "url": one} for one in sorted(hubs)],
    }


def is_of_a_pattern_left_out(doc: Document, url: str) -> bool:
    """Whether a URL is of a skipped pattern that a list without an order cannot hold."""
    told = {expression for _, expression in skipped(doc)}
    return any(
        rule.kind == "pattern" and not rule.is_accepted and rule.expression not in told
        for rule in rules(doc)
        if re.search(rule.expression, url)
    )


def test_patterns_that_share_a_url_with_a_hub_or_prefix_are_left_out_and_no_others(
    doc: Document,
) -> None:
    """What would have to be taken out of them needs look-ahead, which hurts where it is missing."""
    folders = [f"{NEWS}/section-{number}/" for number in range(50)]
    pages = [f"https://{NEWS}/section-{number}/" for number in range(50)]
    for hubs, prefixes, is_left_out in (
        (pages, folders, False),
        ([*pages, f"https://{NEWS}/user/login?next=1"], folders, True),
        (pages, [*folders, f"{NEWS}/user/"], True),
        (pages, [*folders, f"{NEWS}/user/login?next=%2Fp"], True),
        (pages, [*folders, f"{NEWS}/user/login/", f"{NEWS}/use/"], False),
    ):
        for said in (skipped, skipped_paths):
            found = [site for site, text in said(with_news(doc, prefixes, hubs)) if "login" in text]
            assert found == [SHOP] if is_left_out else [NEWS, SHOP]


LOGIN = "/user/login?next=%2Fpage%2F"


@settings(max_examples=25)
@given(
    st.lists(
        st.sampled_from(
            [
                *(f"{NEWS}/{path}" for path in ("", "user/", "user/login?", "users/", "wiki/")),
                f"{NEWS}:8443/user/",
            ]
        ),
        unique=True,
    ),
    st.lists(
        st.builds(
            "https://{}{}".format,
            st.sampled_from([NEWS, f"{NEWS}:8443"]),
            st.sampled_from(["/", "/user/", f"{LOGIN}1", f"{LOGIN}x", "/wiki/Topic_1+(x)"]),
        ),
        unique=True,
    ),
    st.booleans(),
)
def test_what_comes_before_a_skipped_pattern_is_never_kept_back(
    prefixes: list[str], hubs: list[str], whole: bool
) -> None:
    doc = with_news(document(whole=whole), prefixes, hubs)
    policy = Policy(doc)
    files = {target: make(doc) for target, make in TARGETS.items()}
    lists = json.loads(files["scrapy"]["links.json"])
    beneath = [f"https://{prefix}{end}" for prefix in prefixes for end in "1x"]
    urls = both([*URLS, *hubs, *beneath])
    for url in urls:
        is_wanted = wanted(policy, url)
        accepts = is_wanted or is_of_a_pattern_left_out(doc, url)
        assert allow_and_deny(lists["allow"], lists["deny"], url) == accepts, url
        if urlsplit(url).hostname == NEWS:
            fast = fast_filter(files["nutch"]["conf/fast-urlfilter.txt"], url)
            assert fast or not is_wanted, url
            if ":8443" not in f"{url}{hubs}{prefixes}":
                assert fast == accepts, url


# ------------------------------------------------------------------------------------- domains


def test_what_is_skipped_on_a_host_is_not_skipped_below_it(doc: Document) -> None:
    """Patterns are of one host, files that are no pages of a domain with all its hosts."""
    domains = by_domain(doc)
    assert Policy(domains).match("https://sub.news.example/user/login?next=%2F").decision != "skip"
    scopes = json.loads(TARGETS["stormcrawler"](domains)["fast.urlfilter.json"])
    below = [one["patterns"] for one in scopes if one["scope"].startswith("domain:")]
    assert below
    assert not any("login" in pattern for patterns in below for pattern in patterns)
    (own,) = (one["patterns"] for one in scopes if one["scope"] == "host:news.example")
    assert any("login" in pattern for pattern in own)
    lines = TARGETS["nutch"](domains)["conf/fast-urlfilter.txt"].splitlines()
    scope = ""
    skipped = []
    for line in lines:
        if "DenyPathQuery" not in line:
            scope = line
        elif "login" in line:
            skipped.append(scope)
    assert "Host news.example" in skipped
    assert not any(one.startswith("Domain") for one in skipped)


@pytest.mark.parametrize("by_domain", [False, True])
def test_prefixes_come_in_the_order_of_their_sites(by_domain: bool) -> None:
    sites = (
        ["best.example", "worst.example"]
        if by_domain
        else ["www.best.example", "www.worst.example"]
    )
    prefixes = {"https://www.best.example/news/": 0.6, "https://www.worst.example/news/": 0.9}
    tables = Tables(
        pa.Table.from_pylist(
            [
                {"site": site, "rank": rank, "score": 0.9, "clients": 9}
                for rank, site in enumerate(sites, 1)
            ],
            SITES,
        ),
        HUBS.empty_table(),
        pa.Table.from_pylist(
            [
                {"prefix": prefix, "score": score, "pages": 9, "clients": 9}
                for prefix, score in prefixes.items()
            ],
            PREFIXES,
        ),
        PATTERNS.empty_table(),
    )
    found = assemble(tables, PROVENANCE, Choices(), includes_subdomains=by_domain)
    assert [entry["tier"] for entry in found["prefixes"]] == [5, 7]


def test_a_host_below_a_listed_domain_has_its_tier() -> None:
    tables = Tables(
        pa.Table.from_pylist(
            [{"site": "example.com", "rank": 1, "score": 0.9, "clients": 9}], SITES
        ),
        pa.Table.from_pylist(
            [
                {"url": "https://www.example.com/", "rank": 1, "tier": 1, "temporal_pages": 9}
                | {"interval_seconds": 300, "clients": 9}
            ],
            HUBS,
        ),
        PREFIXES.empty_table(),
        PATTERNS.empty_table(),
    )
    found = assemble(tables, PROVENANCE, Choices(), includes_subdomains=True)
    policy = Policy(found)
    for url in ("https://www.example.com/x", "https://other.example.com/x"):
        assert policy.match(url).tier == tier_of(url, rules(found)) == 13
    apart = assemble(tables, PROVENANCE, Choices())
    assert [(entry["site"], entry["tier"]) for entry in apart["sites"]] == [
        ("example.com", 13),
        ("www.example.com", 15),
    ]
