"""Traps in single lines: bytes, escapes, formats, referrers, times, and what is kept."""

from __future__ import annotations

import json

import pytest

from tests.log_traps import AGENT, Reader, line, page


def test_invalid_utf8_is_kept_byte_by_byte(read: Reader) -> None:
    text = page("/X").encode()
    kept = read(text.replace(b"X", b"\xff") + text.replace(b"X", b"\xe9t\xe9"))
    assert kept.urls == ["https://www.example.com/%FF", "https://www.example.com/%E9t%E9"]


def test_invalid_utf8_in_json(read: Reader) -> None:
    request = {"client_ip": "203.0.113.7", "method": "GET", "host": "e.org", "uri": "/X"}
    text = json.dumps({"ts": 1714979289.5, "request": request, "status": 200}).encode() + b"\n"
    assert read(text + text.replace(b"X", b"\xff")).urls == ["https://e.org/X", "https://e.org/%FF"]


def test_overlong_lines_are_rejected_alone(read: Reader) -> None:
    kept = read(page("/a") + page("/" + "x" * 3_000_000) + page("/b"))
    assert kept.reasons == {"too_long": 1}
    assert [url[-2:] for url in kept.urls] == ["/a", "/b"]


def test_nul_bytes_are_rejected_alone(read: Reader) -> None:
    kept = read(page("/a").encode() + b"\0" * 512 + b"\n" + page("/b").encode())
    assert (len(kept.urls), kept.reasons) == (2, {"nul_bytes": 1})


def test_garbage_is_counted_line_by_line(read: Reader) -> None:
    kept = read(page("/a").encode() * 3 + b"\x80garbage\n\x01\n{}\n" + page("/b").encode())
    assert (len(kept.urls), kept.reasons) == (4, {"not_the_format": 3})


def test_crlf_and_a_missing_final_newline(read: Reader) -> None:
    kept = read((page("/a") + page("/b")).replace("\n", "\r\n").rstrip())
    assert (len(kept.urls), kept.reasons) == (2, {})


def test_a_byte_order_mark_and_utf16(read: Reader) -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        assert read(page("/a").encode(encoding)).urls == ["https://www.example.com/a"]


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


def test_cloudfront_escapes_its_escapes(read: Reader) -> None:
    kept = read(
        "#Version: 1.0\n#Fields: date time x-edge-location c-ip cs-method cs(Host) cs-uri-stem "
        "sc-status cs(Referer) cs(User-Agent) cs-uri-query\n"
        "2024-05-06\t07:08:09\tFRA2\t203.0.113.7\tGET\te.org\t/a%2520b\t200\t"
        "https://f.org/%25C3%25BC\tMozilla/5.0%2520(X11)%2520Firefox/1\tq=%252F\n"
    )
    assert kept.urls == ["https://e.org/a%20b?q=%2F"]
    assert kept.referrers == ["https://f.org/%C3%BC"]


def test_cloudfront_lines_arrive_late_and_out_of_order(read: Reader) -> None:
    head = "#Fields: date time x-edge-location c-ip cs-method cs(Host) cs-uri-stem sc-status\n"
    days = ("2024-05-07", "2024-05-06", "2024-05-07")
    kept = read(
        head + "".join(f"{d}\t00:00:01\tX\t203.0.113.7\tGET\te.org\t/a\t200\n" for d in days)
    )
    assert [time[:10] for time in kept.times] == list(days)


def test_iis_writes_blanks_as_plus(read: Reader) -> None:
    head = "#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status cs(User-Agent)\n"
    agents = ("Mozilla/5.0+(X11)+Firefox/120.0", "Mozilla/5.0+(compatible;+Googlebot/2.1)")
    kept = read(
        head + "".join(f"2024-05-06 07:08:09 203.0.113.7 GET /a+b - 200 {a}\n" for a in agents)
    )
    assert kept.urls == ["https://www.example.com/a+b"]
    assert kept.reasons == {"bot_agent": 1}


def test_a_w3c_header_in_the_middle(read: Reader) -> None:
    kept = read(
        "#Fields: date time c-ip cs-uri-stem sc-status\n2024-05-06 07:08:09 203.0.113.7 /a 200\n"
        "#Fields: c-ip date time cs-uri-stem\n203.0.113.7 2024-05-06 07:08:09 /b\n"
    )
    assert [url[-2:] for url in kept.urls] == ["/a", "/b"]


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


def test_offsets_of_time_zones(read: Reader) -> None:
    kept = read(line(time="06/May/2024:00:30:00 +0530") + line(time="05/May/2024:20:00:00 -0700"))
    assert kept.times == ["2024-05-05 19:00:00", "2024-05-06 03:00:00"]


def haproxy(clock: str) -> str:
    return (
        f"Oct 27 00:00:00 lb haproxy[1]: 203.0.113.7:5 [{clock}.000] f b/s 0/0/0/1/1 200 5 - - "
        f'---- 1/1/0/0/0 0/0 "GET /a HTTP/1.1"\n'
    )


def test_daylight_saving_ends(read: Reader) -> None:
    clocks = ["01:59:00", "02:50:00", "02:10:00", "03:00:00"]
    kept = read(
        "".join(haproxy(f"27/Oct/2024:{clock}") for clock in clocks), timezone="Europe/Berlin"
    )
    assert [time[11:] for time in kept.times] == ["23:59:00", "00:50:00", "01:10:00", "02:00:00"]


def test_daylight_saving_begins(read: Reader) -> None:
    clocks = ["01:59:00", "02:30:00", "03:30:00"]
    kept = read(
        "".join(haproxy(f"31/Mar/2024:{clock}") for clock in clocks), timezone="Europe/Berlin"
    )
    assert [time[11:] for time in kept.times] == ["00:59:00", "01:30:00", "01:30:00"]


def test_future_and_ancient_times_are_rejected(read: Reader) -> None:
    kept = read(
        line(time="06/May/2035:07:08:09 +0000") + line(time="06/May/1992:07:08:09 +0000") + line()
    )
    assert kept.reasons == {"future": 1, "ancient": 1}
    assert len(kept.urls) == 1


def test_w3c_times_are_utc_whatever_the_zone_of_the_settings(read: Reader) -> None:
    text = "#Fields: date time c-ip cs-uri-stem\n2024-05-06 07:08:09 203.0.113.7 /a\n"
    assert read(text, timezone="Asia/Tokyo").times == ["2024-05-06 07:08:09"]


def test_squid_and_caddy_write_seconds_since_1970(read: Reader) -> None:
    squid = "1714979289.461    138 203.0.113.7 TCP_MISS/200 5 GET http://e.org/a - DIRECT/- text\n"
    assert read(squid).times == ["2024-05-06 07:08:09"]
    request = {"client_ip": "203.0.113.7", "method": "GET", "host": "e.org", "uri": "/a"}
    caddy = json.dumps({"ts": 1714979289.5, "request": request, "status": 200}) + "\n"
    assert read(caddy).times == ["2024-05-06 07:08:09"]


def test_only_get_shows_a_page(read: Reader) -> None:
    text = "".join(line(f"{method} /a HTTP/1.1") for method in ("GET", "HEAD", "POST", "PUT"))
    assert read(text).reasons == {"method": 3}


def test_statuses_are_kept_dropped_and_counted(read: Reader) -> None:
    codes = ("200", "206", "304", "301", "302", "404", "410", "500", "000", "0", "-1")
    kept = read("".join(line(status=code) for code in codes))
    assert (len(kept.urls), kept.reasons) == (3, {"status": 8})


def test_static_resources_by_extension(read: Reader) -> None:
    targets = ("/a.css", "/a.JPG?v=1", "/a.woff2", "/a.html", "/a.php?img=x.jpg", "/v1.2/news")
    kept = read("".join(page(target) for target in targets))
    assert kept.reasons == {"static": 3}
    assert [url.rsplit("/", 1)[1] for url in kept.urls] == ["a.html", "a.php?img=x.jpg", "news"]


def test_a_prefetched_page_and_its_visit_are_one_client_and_page(read: Reader) -> None:
    # Logs do not tell prefetching from visiting; a client's page counts once a day anyhow.
    kept = read(page("/a") + page("/a"))
    assert len(set(zip(kept.clients, kept.urls, strict=True))) == 1


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


def test_virtual_hosts(read: Reader) -> None:
    text = "a.example:443 " + page("/x") + "b.example:443 " + page("/x")
    assert read(text, host=None).urls == ["https://a.example/x", "https://b.example/x"]


def test_absolute_targets_of_proxies(read: Reader) -> None:
    assert read(page("http://other.example/a?b=1")).urls == ["https://other.example/a?b=1"]


def test_alb_targets_carry_their_port(read: Reader) -> None:
    kept = read(
        "https 2024-05-06T07:08:09.127531Z app/x/y 203.0.113.7:2817 10.0.0.1:80 0 0 0 200 200 1 2 "
        f'"GET https://e.org:443/a HTTP/2.0" "{AGENT}" ECDHE TLSv1.2 arn "Root" "e.org"\n'
    )
    assert kept.urls == ["https://e.org/a"]
    assert not kept.knows_referrers


def test_connect_and_options_are_dropped_not_rejected(read: Reader) -> None:
    kept = read(line("CONNECT e.org:443 HTTP/1.1") + line("OPTIONS * HTTP/1.0"))
    assert (kept.urls, kept.reasons) == ([], {"method": 2})


def test_tls_bytes_and_other_malformed_requests(read: Reader) -> None:
    requests = (
        r"\x16\x03\x01\x02\x00\x01",
        "-",
        "",
        "GET",
        "() { :;}; echo",
        "a" * 40 + " / HTTP/1.1",
    )
    kept = read("".join(line(request, status="400") for request in requests) + page("/a"))
    assert kept.reasons == {"bad_request": 6}
    assert len(kept.urls) == 1


def test_a_request_without_method_is_rejected(read: Reader) -> None:
    assert read(line("/a HTTP/1.1") + line("/a")).reasons == {"bad_request": 2}


def test_http_0_9_has_no_protocol(read: Reader) -> None:
    assert read(line("GET /old")).urls == ["https://www.example.com/old"]
