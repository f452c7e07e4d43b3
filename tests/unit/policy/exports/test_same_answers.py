"""Exports accept what the policy itself answers: by scheme, by domain, beside hubs and prefixes."""

from __future__ import annotations

import json
import re
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
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
from temporal_assets.policy.exports import TARGETS
from temporal_assets.policy.exports.rules import deniable_paths, deniable_patterns, rules
from tests.exported import (
    allow_and_deny,
    both,
    by_domain,
    fast_filter,
    first_match,
    heritrix_scope,
    storm_fast_filter,
    wanted,
)
from tests.policies import (
    NEWS,
    PROVENANCE,
    SHOP,
    URLS,
    document,
    document_of_schemes,
    hubs_of_schemes,
    schemes_of_pages,
    tier_of,
    urls_of_schemes,
)


def test_rules_say_what_match_says(policy: Policy, doc: Document) -> None:
    every = rules(doc)
    assert {url: tier_of(url, every) for url in both(URLS)} == {
        url: policy.match(url).tier for url in both(URLS)
    }


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
    sites = {site["site"] for site in doc["sites"]}
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
        if urlsplit(url).hostname in sites:
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


def with_news(doc: Document, prefixes: list[str], hubs: list[str]) -> Document:
    """The same with other prefixes and hubs of NEWS."""
    prefix, hub = doc["prefixes"][0], doc["hubs"][0]
    return {
        **doc,
        "prefixes": [
            {**prefix, "site": NEWS, "prefix": prefix_text} for prefix_text in sorted(prefixes)
        ],
        "hubs": [{**hub, "site": NEWS, "url": hub_url} for hub_url in sorted(hubs)],
    }


def is_of_a_pattern_left_out(doc: Document, url: str) -> bool:
    """Return whether a URL is of a skipped pattern that a list without an order cannot hold."""
    expressions = {expression for _, expression in deniable_patterns(doc)}
    return any(
        rule.kind == "pattern" and not rule.is_accepted and rule.expression not in expressions
        for rule in rules(doc)
        if re.search(rule.expression, url)
    )


def test_patterns_that_share_a_url_with_a_hub_or_prefix_are_left_out_and_no_others(
    doc: Document,
) -> None:
    """Taking out the URLs that they share needs look-ahead, which hurts where it is missing."""
    folders = [f"{NEWS}/section-{number}/" for number in range(50)]
    pages = [f"https://{NEWS}/section-{number}/" for number in range(50)]
    for hubs, prefixes, is_left_out in (
        (pages, folders, False),
        ([*pages, f"https://{NEWS}/user/login?next=1"], folders, True),
        (pages, [*folders, f"{NEWS}/user/"], True),
        (pages, [*folders, f"{NEWS}/user/login?next=%2Fp"], True),
        (pages, [*folders, f"{NEWS}/user/login/", f"{NEWS}/use/"], False),
    ):
        for message in (deniable_patterns, deniable_paths):
            sites = [
                site for site, text in message(with_news(doc, prefixes, hubs)) if "login" in text
            ]
            assert sites == [SHOP] if is_left_out else [NEWS, SHOP]


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


def test_what_is_skipped_on_a_host_is_not_skipped_below_it(doc: Document) -> None:
    """Patterns are of one host, files that are no pages of a domain with all its hosts."""
    domains = by_domain(doc)
    assert Policy(domains).match("https://sub.news.example/user/login?next=%2F").decision != "skip"
    scopes = json.loads(TARGETS["stormcrawler"](domains)["fast.urlfilter.json"])
    below = [scope["patterns"] for scope in scopes if scope["scope"].startswith("domain:")]
    assert below
    assert not any("login" in pattern for patterns in below for pattern in patterns)
    (own,) = (scope["patterns"] for scope in scopes if scope["scope"] == "host:news.example")
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
    assert not any(rule.startswith("Domain") for rule in skipped)


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
    actual = assemble(tables, PROVENANCE, Choices(), includes_subdomains=by_domain)
    assert [entry["tier"] for entry in actual["prefixes"]] == [5, 7]


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
    actual = assemble(tables, PROVENANCE, Choices(), includes_subdomains=True)
    policy = Policy(actual)
    for url in ("https://www.example.com/x", "https://other.example.com/x"):
        assert policy.match(url).tier == tier_of(url, rules(actual)) == 13
    apart = assemble(tables, PROVENANCE, Choices())
    assert [(entry["site"], entry["tier"]) for entry in apart["sites"]] == [
        ("example.com", 13),
        ("www.example.com", 15),
    ]
