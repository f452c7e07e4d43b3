"""Traps of referrers."""

from __future__ import annotations

import json

import pytest

from tests.log_traps import AGENT, Reader, line


def test_quotes_around_a_referrer_are_none_of_it(read: Reader) -> None:
    """Logstash's older pattern of combined lines leaves them there."""
    record = {
        "clientip": "203.0.113.7",
        "timestamp": "06/May/2024:07:08:09 +0000",
        "verb": "GET",
        "request": "/a",
        "response": "200",
        "agent": f'"{AGENT}"',
    }
    urls = ("https://www.example.com/b", "-")
    kept = read("".join(json.dumps({**record, "referrer": f'"{url}"'}) + "\n" for url in urls))
    assert kept.urls == ["https://www.example.com/a"] * 2
    assert kept.referrers == ["https://www.example.com/b", None]


@pytest.mark.parametrize("written", ["-", ""])
def test_no_referrer_is_none_and_not_the_page_itself(read: Reader, written: str) -> None:
    kept = read(line(referrer=written))
    assert kept.referrers == [None]
    assert kept.knows_referrers


def test_cross_site_referrers_without_path_stay_their_origin(read: Reader) -> None:
    # Browsers send other sites only the origin (strict-origin-when-cross-origin).
    assert read(line(referrer="https://news.example/")).referrers == ["https://news.example/"]
    assert read(line(referrer="https://news.example")).referrers == ["https://news.example/"]


def test_referrers_that_are_no_web_page_are_none(read: Reader) -> None:
    kept = read(line(referrer="android-app://com.example") + line(referrer="about:blank"))
    assert kept.referrers == [None, None]


def test_formats_without_referrer_load_and_know_it(read: Reader) -> None:
    kept = read('203.0.113.7 - - [06/May/2024:07:08:09 +0000] "GET /a HTTP/1.1" 200 5\n')
    assert kept.urls == ["https://www.example.com/a"]
    assert not kept.knows_referrers
