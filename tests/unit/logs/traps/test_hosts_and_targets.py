"""Traps of hosts, ports and request lines."""

from __future__ import annotations

import pytest

from tests.log_traps import AGENT, Reader, line, page


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
