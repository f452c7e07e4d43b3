"""Spellings of one page, and of two."""

from __future__ import annotations

import pytest

from tests.log_traps import Reader, page


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("/a?x=1&y=2", "/a?y=2&x=1"),
        ("/a?PHPSESSID=8f14e45fceea167a&x=1", "/a?x=1"),
        ("/a;jsessionid=8f14e45fceea167a", "/a"),
        ("/a?sid=8f14e45fceea167a", "/a"),
        ("/a?utm_source=mail&utm_medium=x", "/a"),
        ("/a#part", "/a"),
        ("http://www.example.com:80/a", "/a"),
        ("https://www.example.com:443/a", "/a"),
        ("http://www.example.com./a", "/a"),
        ("http://WWW.Example.COM/a", "/a"),
        ("http://user:secret@www.example.com/a", "/a"),
        ("/%7Ejo/", "/~jo/"),
        ("/%c3%bc", "/%C3%BC"),
        ("/b/../a", "/a"),
        ("http://b\\xc3\\xbccher.example/a", "http://xn--bcher-kva.example/a"),
    ],
)
def test_spellings_of_one_page(read: Reader, first: str, second: str) -> None:
    first_url, other = read(page(first) + page(second)).urls
    assert first_url == other


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("/a//b", "/a/b"),
        ("/News", "/news"),
        ("/a/", "/a"),
        ("/view?id=1", "/view?id=2"),
        ("http://www.example.com:8080/a", "/a"),
        ("/a%2Fb", "/a/b"),
        ("/?sid=17", "/?sid=18"),
    ],
)
def test_spellings_of_different_pages(read: Reader, first: str, second: str) -> None:
    first_url, other = read(page(first) + page(second)).urls
    assert first_url != other
