"""Traps in single lines: bytes, escapes, formats, referrers, times, and what is kept."""

from __future__ import annotations

import json

import pytest

from tests.log_traps import AGENT, Reader, line, page


def test_invalid_utf8_is_kept_byte_by_byte(read: Reader) -> None:
    text = page("/X").encode()
    kept = read(text.replace(b"X", b"\xff") + text.replace(b"X", b"\xe9t\xe9"))
    assert kept.urls == ["https://www.example.com/%FF", "https://www.example.com/%E9t%E9"]


def test_escapes_of_apache(read: Reader) -> None:
    kept = read(
        page(r"/a\"b") + page(r"/a\\b") + page(r"/\xc3\xbc") + line(referrer=r"https://e.org/\"x\"")
    )
    assert kept.urls[:3] == [
        "https://www.example.com/a%22b",
        "https://www.example.com/a/b",  # browsers take a backslash for a slash
        "https://www.example.com/%C3%BC",
    ]
    assert kept.referrers[3] == "https://e.org/%22x%22"
    assert kept.reasons == {}


def test_an_escaped_quote_inside_the_request(read: Reader) -> None:
    kept = read(page(r"/search?q=\"a b\"&x=1"))
    assert kept.urls == ["https://www.example.com/search?q=%22a%20b%22&x=1"]


def test_quotes_that_nobody_escaped(read: Reader) -> None:
    kept = read(line(referrer='https://e.org/?q="x"y', agent='Mozilla "quoted"x Firefox/1'))
    assert kept.referrers == ["https://e.org/?q=%22x%22y"]


def test_a_backslash_before_the_last_quote(read: Reader) -> None:
    assert read(line(agent="Mozilla/5.0 Firefox C:\\")).reasons == {}


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


def test_future_and_ancient_times_are_rejected(read: Reader) -> None:
    kept = read(
        line(time="06/May/2035:07:08:09 +0000") + line(time="06/May/1992:07:08:09 +0000") + line()
    )
    assert kept.reasons == {"future": 1, "ancient": 1}
    assert len(kept.urls) == 1


def test_only_get_shows_a_page(read: Reader) -> None:
    text = "".join(line(f"{method} /a HTTP/1.1") for method in ("GET", "HEAD", "POST", "PUT"))
    assert read(text).reasons == {"method": 3}


def test_statuses_are_kept_dropped_and_counted(read: Reader) -> None:
    codes = ("200", "206", "304", "301", "302", "404", "410", "500", "000", "0", "-1")
    kept = read("".join(line(status=code) for code in codes))
    assert (len(kept.urls), kept.reasons) == (3, {"status": 8})


def test_bots_by_agent(read: Reader) -> None:
    agents = (
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "curl/8.5.0",
        "python-requests/2.31.0",
        AGENT,
    )
    kept = read("".join(line(agent=agent) for agent in agents))
    assert (len(kept.urls), kept.reasons) == (1, {"bot_agent": 3})
    assert len(read("".join(line(agent=a) for a in agents), cleaning={"bots": "keep"}).urls) == 4


@pytest.mark.parametrize(
    ("scheme", "urls"),
    [
        ("https", ["https://e.org/a", "https://e.org/a", "https://e.org:8443/a"]),
        ("keep", ["http://e.org/a", "https://e.org/a", "https://e.org:8443/a"]),
    ],
)
def test_the_port_of_a_host_says_the_scheme(read: Reader, scheme: str, urls: list[str]) -> None:
    """Apache's `%v:%p`: referrers name the site without the port."""
    text = "".join(f"e.org:{port} {page('/a')}" for port in (80, 443, 8443))
    assert read(text, cleaning={"scheme": scheme}).urls == urls


def test_a_missing_host_is_an_option_or_a_reason(read: Reader) -> None:
    assert read(page("/a")).urls == ["https://www.example.com/a"]
    nowhere = read(page("/a") + page("http://e.org/b"), host=None)
    assert (nowhere.urls, nowhere.reasons) == (["https://e.org/b"], {"no_host": 1})


@pytest.mark.parametrize(
    "host", ["a.example?z=1&a", "a.example?z=1", "a.example/b", "a.example/b?"]
)
def test_a_host_with_a_path_or_a_query_is_none(read: Reader, host: str) -> None:
    kept = read(
        "time,address,url,host\n"
        f"1714979289,u-17,/x,{host}\n1714979289,u-17,/y?q=1,{host}\n1714979289,u-17,/x,b.example\n"
    )
    assert (kept.urls, kept.reasons) == (["https://b.example/x"], {"no_host": 2})


def test_absolute_targets_of_proxies(read: Reader) -> None:
    assert read(page("http://other.example/a?b=1")).urls == ["https://other.example/a?b=1"]


def test_connect_and_options_are_dropped_not_rejected(read: Reader) -> None:
    kept = read(line("CONNECT e.org:443 HTTP/1.1") + line("OPTIONS * HTTP/1.0"))
    assert (kept.urls, kept.reasons) == ([], {"method": 2})
