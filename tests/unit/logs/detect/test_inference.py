"""Inference of fields from their values, wherever more fields stand."""

from __future__ import annotations

import re
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from temporal_assets.logs.detect.inference import infer
from temporal_assets.logs.detect.resolve import resolve
from temporal_assets.logs.formats.format import Format, server_format
from temporal_assets.logs.formats.parsing import parse
from temporal_assets.logs.read.records import Block, Column, Records
from temporal_assets.settings import LogSource, Reading

AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/535.11 (KHTML, like Gecko)"
SITES = ("www.example.com", "news.example.org", "shop.example.net:8443")


def lines_of(template: str, count: int = 12, seed: int = 1) -> list[str]:
    """Lines of a log whose values differ as in real ones."""
    random = Random(seed)
    lines = []
    for i in range(count):
        site = random.choice(SITES)
        bare = site.partition(":")[0]
        lines.append(
            template.format(
                host=site,
                address=f"203.0.113.{random.randrange(1, 250)}",
                clock=f"10:{i:02}:03",
                seconds=1431857103 + 60 * i,
                path=f"/news/{random.randrange(40)}.html",
                status=random.choice((200, 200, 304, 404)),
                size=random.choice(("-", str(random.randrange(90_000)))),
                referrer=random.choice(("-", f"https://{bare}/", "https://www.example.edu/a?b=c")),
                agent=random.choice((AGENT, "curl/8.5.0")),
            )
        )
    return lines


def records_of(lines: list[str], fmt: Format) -> Records:
    text = "".join(f"{line}\n" for line in lines).encode()
    return parse(Block(np.frombuffer(text, np.uint8), 1, last=True), fmt, SOURCE, Reading())


SOURCE = LogSource(path="x")


def pages(lines: list[str], fmt: Format | None = None) -> list[tuple[object, ...]]:
    """Everything that cleaning makes a page request of."""
    actual = fmt or resolve(SOURCE, "".join(f"{line}\n" for line in lines).encode())
    records = records_of(lines, actual)
    columns = ("method", "target", "host", "referrer", "agent", "address")

    def value(name: str, row: int) -> bytes | None:
        column: Column | None = getattr(records, name)
        return column.value(row) if column is not None else None

    rows = []
    for i in range(len(records)):
        values = {name: value(name, i) for name in columns}
        if (values["target"] or b"").startswith(b"http"):
            values["host"] = None  # whatever else the line says of it
        kept = (int(records.reason[i]), int(records.time[i]), int(records.status[i]))
        rows.append((*kept, *values.values()))
    return rows


TIME = "[17/May/2015:{clock} +0000]"
REQUEST = '"GET {path} HTTP/1.1"'
FROM = '"{referrer}" "{agent}"'
KNOWN = {
    "combined": f"{{address}} - - {TIME} {REQUEST} {{status}} {{size}} {FROM}",
    "combined_vhost": f"{{host}} {{address}} - - {TIME} {REQUEST} {{status}} {{size}} {FROM}",
    "ovh": f"{{address}} {{host}} - {TIME} {REQUEST} {{status}} {{size}} {FROM}",
    "common": f"{{address}} - - {TIME} {REQUEST} {{status}} {{size}}",
    "common_vhost": f"{{host}} {{address}} - - {TIME} {REQUEST} {{status}} {{size}}",
    "gandi": f"{{host}} {{address}} - - {TIME} (0 s) {REQUEST} {{status}} {{size}} {FROM}",
    "s3": f"79a59df900b949e5 my-bucket {TIME} {{address}} - 3E57427F3EXAMPLE REST.GET.OBJECT"
    f" news/a.html {REQUEST} {{status}} - 113 113 7 6 {FROM} - Ke1bUcazaN= SigV4"
    " ECDHE-RSA-AES128-GCM-SHA256 - {host} TLSv1.2",
    "alb": "h2 2020-01-01T{clock}.127531Z app/my-alb/abcdef {address}:2817 10.0.0.1:80 0.001 0.102"
    ' 0.000 {status} {status} 225 24950 "GET https://{host}{path} HTTP/2.0" "{agent}" ECDHE-RSA'
    ' TLSv1.2 arn:aws:x "Root=1-2-3" "www.example.com" "arn:aws:y" 0',
    "elb": "2020-01-01T{clock}.127531Z my-loadbalancer {address}:2817 10.0.0.1:80 0.001 0.102 0.000"
    ' {status} {status} 0 57 "GET https://{host}{path} HTTP/1.1" "{agent}" DHE-RSA TLSv1.2',
    "squid": "{seconds}.461    138 {address} TCP_MISS/{status} 3853 GET http://{host}{path} jo"
    " DIRECT/178.63.73.246 text/html",
    "haproxy": "{address}:55008 [17/May/2015:{clock}.584] ft_https~ bk_https/abc 0/0/0/72/72"
    f" {{status}} 7456 - - ---- 5/4/0/1/0 0/0 {REQUEST}",
    "envoy": f'[2024-03-10T{{clock}}.310Z] {REQUEST} {{status}} - 154 0 226 100 "{{address}}"'
    ' "{agent}" "cc21d9b0-cf5c" "{host}" "tcp://10.0.2.1:80"',
}
"""Lines of every format of fields, as docs/log-formats.md shows them."""

EXTRA = (
    *("0.003", "0.12,0.10", "HIT", "MISS", "-", "TLSv1.3", "4a1f9c0d3b", "pid=12", "DE", "web-1"),
    *("17", "1234567", "on", "+", "10.0.0.1:8080", "unix:/run/php.sock", "text/html"),
    *('"TLS_AES_128_GCM_SHA256"', '"-"', '"0.004"', '"req 4a1f 9c0d"', '"de-DE,de;q=0.9"'),
)
"""More fields of servers: times, ciphers, ids, caches, languages, upstreams."""

REQUEST_OF = {
    name: next(field for field in re.findall(r'"[^"]*"|\[[^\]]*\]|\S+', line) if "{path}" in field)
    for name, line in KNOWN.items()
}

FIELD = re.compile(r'"[^"]*"|\[[^\]]*\]|\S+')


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_format_is_known(name: str) -> None:
    lines = lines_of(KNOWN[name])
    assert resolve(SOURCE, "\n".join(lines).encode() + b"\n").name == name
    assert {row[0] for row in pages(lines)} == {0}


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(sorted(KNOWN)),
    extra=st.lists(st.tuples(st.integers(0, 30), st.sampled_from(EXTRA)), min_size=1, max_size=3),
    seed=st.integers(0, 5),
)
def test_further_fields_change_no_page(name: str, extra: list[tuple[int, str]], seed: int) -> None:
    fields = FIELD.findall(KNOWN[name])
    for place, text in extra:
        at = place % (len(fields) + 1)
        # A word before the visitor is the name of a site, and an address there is a visitor.
        assume(at > 3 or not re.match(r"[\w:.-]*[a-z][\w:.-]*$|10[.]", text, re.IGNORECASE))
        fields.insert(at, text)
    lines = lines_of(" ".join(fields), seed=seed)
    assert pages(lines) == pages(lines_of(KNOWN[name], seed=seed)), resolve(
        SOURCE, "\n".join(lines).encode()
    ).name


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("text", EXTRA)
def test_a_further_field_at_the_end_or_the_middle(name: str, text: str) -> None:
    """Every pair once, whatever the random ones are."""
    fields = FIELD.findall(KNOWN[name])
    expected = pages(lines_of(KNOWN[name]))
    for at in (len(fields), len(fields) - 1, FIELD.findall(KNOWN[name]).index(REQUEST_OF[name])):
        lines = lines_of(" ".join((*fields[:at], text, *fields[at:])))
        assert pages(lines) == expected, at


NEAR_MISSES = {
    # Combined with a host in between: it was taken for `common`, and the host for missing.
    '203.0.113.9 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 304 - www.example.com "-" '
    '"Mozilla/5.0 (X11)"': (
        'nginx:$remote_addr - $remote_user [$time_local] "$request" $status - $host'
        ' "$http_referer" "$http_user_agent"'
    ),
    # nginx with "$host" before the referrer: the host was taken for the referrer.
    '203.0.113.9 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 7 "www.example.com" '
    '"https://www.example.com/" "Mozilla/5.0 (X11)" 0.003': (
        'nginx:$remote_addr - $remote_user [$time_local] "$request" $status - "$host"'
        ' "$http_referer" "$http_user_agent"'
    ),
    # The host behind all else: no line named its site.
    '203.0.113.9 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 7 "-" "Mozilla/5.0" '
    '"-" www.example.com 0.120 0.119': (
        'nginx:$remote_addr - $remote_user [$time_local] "$request" $status - "$http_referer"'
        ' "$http_user_agent" "$http_x_forwarded_for" $host'
    ),
    # Times of answers before the request, and a dot behind everything.
    '203.0.113.9 - - [22/Nov/2019:00:17:11 -0500]  0.701 0.701 "GET /item/1 HTTP/1.1" 301 0 "-" '
    '"Mozilla/5.0 (compatible)" .': (
        'nginx:$remote_addr  - $remote_user [$time_local] - - "$request" $status -'
        ' "$http_referer" "$http_user_agent"'
    ),
    # Words and an upstream between the size and the referrer, two blanks before the request.
    '203.0.113.9 - 203.0.113.9 - - [04/Apr/2017:16:39:34 +0200]  "POST /u HTTP/1.1" 200 651 '
    'upstream time/addr 1.008/127.0.0.1:8080 - "https://www.example.com/" "Mozilla/5.0 (X11)" "-" '
    '"39085D6FB9.i01 - -"': (
        'nginx:$remote_addr  - - - $remote_user [$time_local] "$request" $status - - - - -'
        ' "$http_referer" "$http_user_agent" "$http_x_forwarded_for"'
    ),
    # The time between quotes, the method apart from a whole URL.
    '"17/May/2015:10:05:03 +0000" 203.0.113.9 10.0.0.1:8080 0.003 GET 200 "https://e.org/a?b" 12 '
    '345 "https://e.org/" "Mozilla/5.0 (X11)"': (
        'nginx:"$time_local" $remote_addr - - $request_method $status "$request_uri" - -'
        ' "$http_referer" "$http_user_agent"'
    ),
    # A session in brackets before the user.
    '203.0.113.9 [5T5DVa5NR2cKpek] jo [17/Aug/2020:12:05:14 -0700] "GET http://e.org:80/ HTTP/1.1" '
    '200 0 "Mozilla/5.0 (Windows NT 10.0)"': (
        'nginx:$remote_addr [-] $remote_user [$time_local] "$request" $status - "$http_user_agent"'
    ),
    # A date and a clock apart, and nothing quoted.
    "2024-05-06 07:08:09 INFO 203.0.113.9 GET /path 200 https://e.org/": (
        "apache:%{%Y-%m-%d}t %{%H:%M:%S}t - %a %m %U%q %>s %{Referer}i"
    ),
    # Istio writes more than Envoy does of its own accord.
    '[2024-03-10T08:00:00.310Z] "GET /a HTTP/1.1" 200 - via_upstream - "-" 0 5 3 1 "203.0.113.9" '
    '"Mozilla/5.0" "84961386" "www.example.com" "127.0.0.1:80" inbound|8|| -': (
        'nginx:[$time_local] "$request" $status - - - "-" - - - - "$remote_addr"'
        ' "$http_user_agent" "-" "$host"'
    ),
    # CloudFront's real-time log has no header.
    "1710057600.123\t203.0.113.7\t0.002\t200\t512\tGET\thttps\twww.example.com\t/a\t40": (
        r"nginx:$msec\t$remote_addr\t-\t$status\t-\t$request_method\t$scheme\t$host\t$request_uri"
    ),
    # A machine and a tag of syslog are no site; the host behind the address is.
    "Mar  1 08:00:00 web1.example.net nginx: 203.0.113.9 - - [17/May/2015:10:05:03 +0000] "
    '"GET /a HTTP/1.1" 200 20 www.example.com "https://e.org/x" "Mozilla/5.0"': (
        'nginx:-  - - - - $remote_addr - $remote_user [$time_local] "$request" $status - $host'
        ' "$http_referer" "$http_user_agent"'
    ),
}


@pytest.mark.parametrize("line", NEAR_MISSES)
def test_near_misses_of_real_servers(line: str) -> None:
    """Lines like those that people ask about, each alone."""
    actual = resolve(SOURCE, f"{line}\n".encode())
    assert actual.name == NEAR_MISSES[line]
    assert pages([line])[0][0] == 0
    # What is shown can be given.
    resolved = resolve(LogSource(path="x", format=actual.name), f"{line}\n".encode())
    assert pages([line], resolved) == pages([line], actual)


def test_the_sites_of_a_log_are_told_apart() -> None:
    lines = lines_of(KNOWN["combined"].replace("{size}", "{size} {host}"))
    assert {row[5] for row in pages(lines)} == {b"www.example.com", *map(str.encode, SITES[1:])}
    assert {row[6] for row in pages(lines)} >= {b"https://www.example.com/"}


def test_a_host_that_was_named_decides_which_field_is_one() -> None:
    line = KNOWN["combined"] + " {host} proxy.example.net"
    lines = [text for text in lines_of(line, 40) if SITES[0] in text]
    head = "\n".join(lines).encode()
    assert "$host" in resolve(LogSource(path="x", host="www.example.com"), head).name
    assert resolve(LogSource(path="x", host="other.example"), head).name == "combined"


def test_of_two_hosts_referrers_tell_the_site() -> None:
    line = KNOWN["combined"].replace("{size}", "{size} backend7.example.net") + " {host}"
    resolved = resolve(SOURCE, "\n".join(lines_of(line, 30)).encode())
    assert resolved.name.endswith("$host")
    assert not resolved.doubts


def test_of_two_hosts_that_nothing_tells_apart_a_doubt_is_said() -> None:
    line = KNOWN["common"] + " backend7.example.net site.example"
    resolved = resolve(SOURCE, "\n".join(lines_of(line)).encode())
    assert "looks like one as well" in resolved.doubts[0]


def test_a_balancer_before_the_visitor_is_passed_over_and_said() -> None:
    line = "10.0.0.7 " + KNOWN["combined"].replace("{size}", "{size} 0.003 {host}")
    resolved = resolve(SOURCE, "\n".join(lines_of(line, 40)).encode())
    assert resolved.name.startswith("nginx:- $remote_addr")
    assert "hardly changes" in resolved.doubts[0]


def test_a_real_combined_log_is_not_second_guessed() -> None:
    lines = lines_of(KNOWN["combined"], 50)
    lines[3] = lines[3].replace("https://", "android-app://")
    assert resolve(SOURCE, "\n".join(lines).encode()).name == "combined"


@pytest.mark.parametrize(
    "text",
    [
        "2020-10-14 01:29:23 [scrapy.utils.log] INFO: Scrapy 2.1.0 started (bot: scrapybot)",
        "Feb 25 16:19:38 192.168.4.2 sshd[1]: Accepted publickey for jo from 10.0.0.1 port 22",
        "2024-05-06 07:08:09 10.0.0.1 /var/log/messages rotated",
        '10.0.0.1 - - [17/May/2015:10:05:03 +0000] "-" 400 0 x "-" "-" y z' * 1,
        "1 2 3 4 5 6 7 8 9 10 11 12 13",
    ],
)
def test_what_says_no_page_is_no_access_log(text: str) -> None:
    assert infer(f"{text}\n".encode() * 3) is None


@settings(max_examples=200, deadline=None)
@given(st.lists(st.binary(max_size=120), max_size=6))
def test_whatever_lines_hold_nothing_breaks(lines: list[bytes]) -> None:
    inferred = infer(b"\n".join(lines))
    assert inferred is None or server_format(*inferred.directive.split(":", 1)).layout


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([*'-[]":. \t', "GET /a HTTP/1.1", "1.2.3.4", "200"]), max_size=40))
def test_no_punctuation_breaks_it(parts: list[str]) -> None:
    inferred = infer("".join(parts).encode() * 2)
    assert inferred is None or server_format(*inferred.directive.split(":", 1)).layout


def test_what_is_shown_holds_nothing_of_the_log() -> None:
    inferred = infer("\n".join(lines_of(KNOWN["combined"] + " {host}")).encode())
    assert inferred is not None
    for secret in ("203.0", "example", "news", "Mozilla"):
        assert secret not in inferred.directive + "".join(inferred.doubts)


@pytest.mark.parametrize(
    ("captures", "read"),
    [
        ("{www.a.example|https://a.example/|Mozilla/5.0 (X11)}", ("www.a.example", True, True)),
        ("{Mozilla/5.0 (X11)|www.a.example||7} {text/html|}", ("www.a.example", False, True)),
        ("{www.a.example}", ("www.a.example", False, False)),
    ],
)
def test_headers_that_haproxy_captured(captures: str, read: tuple[str, bool, bool]) -> None:
    line = (
        "May 17 08:00:00 lb haproxy[1]: 192.0.2.3:5 [17/May/2024:08:00:00.123] f~ b/s 0/0/1/2/3 200"
        f' 5 - - ---- 1/1/1/1/0 0/0 {captures} "GET /a HTTP/1.1"\n'
    ).encode()
    fmt = resolve(LogSource(path="x"), line * 3)
    assert fmt.name == "haproxy by captures"
    block = Block(np.frombuffer(line, np.uint8), 1, last=True)
    records = parse(block, fmt, LogSource(path="x"), Reading())
    host, has_referrer, has_agent = read
    assert records.address.value(0) == b"192.0.2.3"
    assert records.target.value(0) == b"/a"
    assert records.host is not None
    assert records.host.value(0) == host.encode()
    assert bool(records.referrer and records.referrer.value(0)) is has_referrer
    assert bool(records.agent and records.agent.value(0)) is has_agent


def test_captures_that_name_no_site_leave_the_format_as_it_is() -> None:
    line = (
        b"192.0.2.3:5 [17/May/2024:08:00:00.123] f~ b/s 0/0/1/2/3 200 5 - - ---- 1/1/1/1/0 0/0"
        b' {https://a.example/|x} "GET /a HTTP/1.1"\n'
    )
    assert resolve(LogSource(path="x"), line * 3).name == "haproxy"
    named = LogSource(path="x", host="a.example")
    assert resolve(named, line * 3).name == "haproxy by captures"
