"""Traps of escapes and quotes."""

from __future__ import annotations

from tests.log_traps import Reader, line, page


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


def test_escapes_of_nginx(read: Reader) -> None:
    kept = read(page(r"/a\x22b") + page(r"/\xD0\xB0"))
    assert kept.urls == ["https://www.example.com/a%22b", "https://www.example.com/%D0%B0"]


def test_nginx_json_with_and_without_escape_json(read: Reader) -> None:
    start = '{"time_iso8601":"2024-05-06T07:08:09Z","remote_addr":"203.0.113.7","host":"e.org",'
    end = '","http_user_agent":"Mozilla/5.0 (X11; Linux) Firefox/120.0"}\n'
    kept = read(
        start
        + r'"request":"GET /\"a HTTP/1.1","status":200,"http_referer":"-'
        + end
        + start
        + r'"request":"GET /\x22a\xC3\xBC HTTP/1.1","status":200,"http_referer":"-'
        + end
    )
    assert kept.urls == ["https://e.org/%22a", "https://e.org/%22a%C3%BC"]


def test_an_escaped_quote_inside_the_request(read: Reader) -> None:
    kept = read(page(r"/search?q=\"a b\"&x=1"))
    assert kept.urls == ["https://www.example.com/search?q=%22a%20b%22&x=1"]


def test_quotes_that_nobody_escaped(read: Reader) -> None:
    kept = read(line(referrer='https://e.org/?q="x"y', agent='Mozilla "quoted"x Firefox/1'))
    assert kept.referrers == ["https://e.org/?q=%22x%22y"]


def test_a_backslash_before_the_last_quote(read: Reader) -> None:
    assert read(line(agent="Mozilla/5.0 Firefox C:\\")).reasons == {}
