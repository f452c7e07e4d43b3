"""Hosts: their domains, and which are search engines."""

from __future__ import annotations

import pytest

from temporal_assets.logs.urls.domains import registrable_domain
from temporal_assets.logs.urls.search_engines import search_engine_pattern


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("news.example.co.uk", "example.co.uk"),
        ("example.co.uk", "example.co.uk"),
        ("a.b.example.com", "example.com"),
        ("news.harbour.example", "harbour.example"),
        ("someone.github.io", "someone.github.io"),
        ("news.xn--55qx5d.cn", "news.xn--55qx5d.cn"),  # xn--55qx5d.cn is a public suffix
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("10.0.0.1", "10.0.0.1"),
        ("[::1]", "[::1]"),
        ("a..b", "a..b"),
        ("", ""),
    ],
)
def test_domains(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


@pytest.mark.parametrize(
    "host",
    [
        *("google.com", "www.google.com", "www.google.co.uk", "google.de", "m.baidu.com"),
        *("www.bing.com", "duckduckgo.com", "yandex.ru", "yandex.com.tr", "uk.search.yahoo.com"),
        *("search.yahoo.com", "www.sogou.com", "images.google.fr"),
    ],
)
def test_search_engines(host: str) -> None:
    assert search_engine_pattern().fullmatch(host)


@pytest.mark.parametrize(
    "host",
    [
        *("news.google.com", "google.com.evil.example.org", "notgoogle.com", "wwwgoogle.com"),
        *("news.yahoo.com", "tieba.baidu.com", "example.com", "bing.com.example", ""),
        *("sites.google.com", "google", "searchXbrave.com"),
    ],
)
def test_other_hosts(host: str) -> None:
    assert not search_engine_pattern().fullmatch(host)


def test_hosts_can_be_added_and_are_no_expressions() -> None:
    pattern = search_engine_pattern(["Find.Example", "a.*", "b+.example"])
    assert pattern.fullmatch("www.find.example")
    assert pattern.fullmatch("a.co.uk")
    assert pattern.fullmatch("b+.example")
    assert not pattern.fullmatch("bb.example")
