"""Exports to Heritrix."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from temporal_assets.policy import Policy
from temporal_assets.policy.document import Document
from temporal_assets.policy.exports import TARGETS
from temporal_assets.policy.exports.heritrix import surt
from tests.exported import (
    WITHOUT_PORTS,
    check,
    heritrix_scope,
    heritrix_surts,
    hubs_in_order,
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
