"""Traps of reading access logs, one test each: from bytes on disk to page requests.

The parts have tests of their own; here each trap is followed through all of them, as a user with
such a log meets it.
"""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import json
import lzma
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import zstandard

from temporal_assets.logs.clean.agents import is_bot
from temporal_assets.logs.clean.cleaning import Cleaner
from temporal_assets.logs.formats.detect import resolve
from temporal_assets.logs.formats.formats import State, advance, parse
from temporal_assets.logs.privacy.pseudonyms import KeyRing
from temporal_assets.logs.read import streams
from temporal_assets.logs.read.paths import expand
from temporal_assets.logs.read.streams import open_stream
from temporal_assets.settings import LogSource, Settings

NOW = dt.datetime(2024, 12, 31, tzinfo=dt.UTC)
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0"


@dataclass
class Kept:
    """What became of a file."""

    urls: list[str] = field(default_factory=list)
    referrers: list[str | None] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    clients: list[int] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    """Lines that were not kept, by reason."""
    knows_referrers: bool = False
    problem: str | None = None
    digest: str = ""


class Reader:
    """Reads bytes as the product reads files: found, unpacked, parsed, cleaned."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys = KeyRing(folder / "keys", 0)

    def __call__(self, data: bytes | str, *, cleaning: Any = None, **options: Any) -> Kept:
        path = self.folder / "access.log"
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        source = {"path": str(path), "host": "www.example.com", **options}
        settings = Settings.model_validate({"cleaning": cleaning or {}})
        return self.read(LogSource.model_validate(source), settings)

    def read(self, source: LogSource, settings: Settings) -> Kept:
        (path,) = expand(source.path)
        cleaner = Cleaner(source, settings, self.keys, is_bot, NOW)
        kept = Kept()
        state: State = None
        with open_stream(path, settings.reading) as stream:
            fmt = resolve(source, stream.head)
            for block in stream:
                records = parse(block, fmt, source, settings.reading, state)
                state = advance(block, fmt, state, source)
                cleaned = cleaner.clean(records)
                kept.urls += cleaned.url.to_arrow().to_pylist()
                kept.referrers += cleaned.referrer.to_arrow().to_pylist()
                kept.clients += cleaned.client.tolist()
                kept.times += [
                    (EPOCH + dt.timedelta(microseconds=time)).isoformat(" ")[:19]
                    for time in cleaned.time.tolist()
                ]
                for row in cleaned.tally.rows():
                    kept.reasons[row["reason"]] += row["lines"]
                kept.knows_referrers |= records.referrer is not None
            kept.problem, kept.digest = stream.problem, stream.digest
        return kept


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def line(
    request: str = "GET /a HTTP/1.1",
    status: str = "200",
    referrer: str = "-",
    agent: str = AGENT,
    address: str = "203.0.113.7",
    time: str = "06/May/2024:07:08:09 +0000",
) -> str:
    return f'{address} - - [{time}] "{request}" {status} 512 "{referrer}" "{agent}"\n'


def page(target: str) -> str:
    return line(f"GET {target} HTTP/1.1")


# Referrers -------------------------------------------------------------------------------------


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


# Times -----------------------------------------------------------------------------------------


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


# Escapes ---------------------------------------------------------------------------------------


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


# Clients ---------------------------------------------------------------------------------------


def test_ipv6(read: Reader) -> None:
    kept = read(line(address="2001:db8::7") + line(address="2001:DB8:0::7") + line(address="::1"))
    assert kept.clients[0] == kept.clients[1] != kept.clients[2]


def test_ipv6_in_w3c_logs(read: Reader) -> None:
    text = "#Fields: date time c-ip cs-uri-stem\n" + "".join(
        f"2024-05-06 07:08:09 {ip} /a\n"
        for ip in ("2001:db8::7", "[2001:db8::7]:443", "fe80::1%12")
    )
    kept = read(text)
    assert kept.reasons == {}
    assert kept.clients[0] == kept.clients[1] != kept.clients[2]


def test_ipv4_mapped_into_ipv6_is_the_same_client(read: Reader) -> None:
    kept = read(line(address="203.0.113.7") + line(address="::ffff:203.0.113.7"))
    assert kept.clients[0] == kept.clients[1]


def test_anonymised_addresses_are_clients(read: Reader) -> None:
    kept = read(line(address="203.0.113.x") + line(address="203.0.114.x"))
    assert kept.reasons == {}
    assert kept.clients[0] != kept.clients[1]


@pytest.mark.parametrize("between", ["", " 0.002", " 1234 0.002 -"])
def test_x_forwarded_for_may_stand_behind_other_fields(read: Reader, between: str) -> None:
    """All visitors would be the proxy, and no page would have more than one view a day."""
    ends = (f'{between} "203.0.113.{n}" 0.1\n' for n in (8, 9))
    text = "".join(line(address="10.0.0.1").rstrip() + end for end in ends)
    assert len(set(read(text, address="forwarded").clients)) == 2
    assert len(set(read(text).clients)) == 1


def test_x_forwarded_for_lists(read: Reader) -> None:
    text = line().rstrip() + ' "198.51.100.2, 10.0.0.1"\n' + line().rstrip() + ' "-"\n'
    remote = read(text + line(address="198.51.100.2"))
    assert remote.clients[0] == remote.clients[1] != remote.clients[2]
    forwarded = read(text + line(address="198.51.100.2"), address="forwarded")
    assert forwarded.clients[0] == forwarded.clients[2] == remote.clients[2]
    # Where nothing was forwarded the remote address counts.
    assert forwarded.clients[1] == remote.clients[1]


def test_visitors_who_forward_no_address_stay_apart(read: Reader) -> None:
    hidden = ["_hidden", "for=_hidden", "unknown", "unknown, nobody", "-"]
    hosts = [f"host-{n}.example.net" for n in range(len(hidden))]
    text = "".join(
        f'{line(address=host).rstrip()} "{one}"\n' for host, one in zip(hosts, hidden, strict=True)
    )
    plain = "".join(line(address=host) for host in hosts)
    assert read(text, address="forwarded").clients == read(plain).clients
    assert len(set(read(plain).clients)) == len(hosts)


def test_a_hidden_first_entry_is_passed_over(read: Reader) -> None:
    fields = ["_hidden, 198.51.100.2", "for=unknown, for=198.51.100.2:80", "198.51.100.2, 10.0.0.1"]
    text = "".join(f'{line(address="10.9.9.9").rstrip()} "{one}"\n' for one in fields)
    (client,) = set(read(text, address="forwarded").clients)
    assert [client] == read(line(address="198.51.100.2")).clients


def test_words_before_a_line_are_not_its_visitor(read: Reader) -> None:
    text = "".join(
        f"Mar  1 08:00:0{n} web1 nginx: {line(address=f'203.0.113.{n // 2}')}" for n in range(4)
    )
    plain = "".join(line(address=f"203.0.113.{n // 2}") for n in range(4))
    assert read(text).clients == read(plain).clients


def test_words_before_json(read: Reader) -> None:
    record = {"time": 1714979289, "ip": "203.0.113.7", "url": "https://e.org/{a}", "status": 200}
    kept = read(f"2024-05-06T07:08:09Z stdout F {json.dumps(record)}\n" * 2)
    assert kept.urls == ["https://e.org/%7Ba%7D"] * 2 or kept.urls == ["https://e.org/{a}"] * 2
    assert not kept.reasons


def test_all_of_x_forwarded_for_before_a_line_is_its_first_address(read: Reader) -> None:
    chains = ("203.0.113.7, 10.0.0.1", "203.0.113.7,", "203.0.113.7, 10.0.0.2, 10.0.0.3")
    kept = read("".join(line(address=chain) for chain in chains))
    assert set(kept.clients) == set(read(line(address="203.0.113.7")).clients)


def test_a_comma_in_a_name_separates_no_addresses(read: Reader) -> None:
    kept = read("".join(line(address=name) for name in ("doe,jo", "doe,al", "17,1", "17,2")))
    assert len(set(kept.clients)) == 4


def test_a_colon_in_a_name_begins_no_port(read: Reader) -> None:
    names = ("anon:5f3a", "anon:77c1", "anon:17", "anon:18")
    assert len(set(read("".join(line(address=name) for name in names)).clients)) == 4
    table = "time,address,url\n" + "".join(f"1714979289,{name},/a\n" for name in names)
    assert len(set(read(table).clients)) == 4
    ported = ("host.example:443", "host.example:80", "203.0.113.7:1", "203.0.113.7:65535")
    assert len(set(read("".join(line(address=name) for name in ported)).clients)) == 2


def test_a_line_within_quotes(read: Reader) -> None:
    kept = read(f'"{line().rstrip()}"\n' * 2)
    assert kept.clients == read(line() * 2).clients
    assert kept.urls == ["https://www.example.com/a"] * 2
    named = read(f'"www.example.org {line().rstrip()}"\n' * 2)
    assert named.urls == ["https://www.example.org/a"] * 2


# Hosts and targets -----------------------------------------------------------------------------


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


def aws(address: str) -> str:
    return (
        f"h2 2024-05-06T07:08:09.127531Z app/x/y {address} 10.0.0.1:80 0 0 0 200 200 1 2 "
        f'"GET https://e.org:443/a HTTP/2.0" "{AGENT}" ECDHE TLSv1.2 arn "Root" "e.org"\n'
    )


def classic(address: str) -> str:
    return (
        f"2024-05-06T07:08:09.127531Z elb {address} 10.0.0.1:80 0 0 0 200 200 0 57 "
        f'"GET https://e.org:443/a HTTP/1.1" "{AGENT}" ECDHE TLSv1.2\n'
    )


def proxied(address: str) -> str:
    return (
        f"May  6 07:08:09 lb haproxy[1]: {address} [06/May/2024:07:08:09.000] f b/s 0/0/0/1/1 200 5"
        ' - - ---- 1/1/1/1/0 0/0 "GET /a HTTP/1.1"\n'
    )


@pytest.mark.parametrize("written", [aws, classic, proxied])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2a02:a33c:4538:1:bcf4:5264:e01c:f215:50718", "2a02:a33c:4538:1:bcf4:5264:e01c:f215:80"),
        ("2001:db8::1:50718", "2001:db8:0:0:0:0:0:1:1024"),
        ("[2001:db8::1]:50718", "2001:db8::1:1024"),
        ("::1:1024", "[::1]:1025"),
        ("::ffff:203.0.113.7:1024", "203.0.113.7:1025"),
    ],
)
def test_a_port_behind_an_address_without_brackets_is_no_part_of_it(
    read: Reader, written: Callable[[str], str], one: str, other: str
) -> None:
    """Each connection would be a visitor of its own."""
    kept = read(written(one) + written(other) + written("2001:db8::2:1024"))
    first, second, another = kept.clients
    assert first == second != another


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


# What is kept ----------------------------------------------------------------------------------


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


# Bytes -----------------------------------------------------------------------------------------


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


# Files -----------------------------------------------------------------------------------------

PACKERS = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_files(read: Reader, kind: str) -> None:
    data = (page("/a") * 3).encode()
    assert len(read(PACKERS[kind](data)).urls) == 3


def test_concatenated_members(read: Reader) -> None:
    assert len(read(gzip.compress(page("/a").encode()) * 3).urls) == 3


def test_a_truncated_last_member(read: Reader) -> None:
    first = gzip.compress((page("/a") * 10).encode())
    second = gzip.compress("".join(page(f"/{i * 7919}") for i in range(10_000)).encode())
    kept = read(first + second[: len(second) // 2])
    assert kept.problem is not None
    assert kept.problem.startswith("truncated gzip after line ")
    assert 10 < len(kept.urls) < 10_010
    assert set(kept.reasons) <= {"truncated"}


def test_a_decompression_bomb(read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_EXPANSION", 10)
    member = gzip.compress(b"a" * 20_000_000)
    path = read.folder / "access.log"
    path.write_bytes(member * 8)
    table = read.read(LogSource(path=str(path), format="combined"), Settings())
    assert table.problem is not None
    assert "expands" in table.problem
    assert table.reasons == {"too_long": 1}


def test_an_empty_file(read: Reader) -> None:
    kept = read(b"")
    assert (kept.urls, kept.reasons, kept.problem) == ([], {}, None)


def test_rotated_names_sort_as_numbers(tmp_path: Path) -> None:
    for name in ("access.log", "access.log.1", "access.log.2.gz", "access.log.10.gz"):
        (tmp_path / name).touch()
    assert [path.name for path in expand(str(tmp_path))] == [
        *("access.log.10.gz", "access.log.2.gz", "access.log.1", "access.log"),
    ]


def test_a_file_that_was_rotated_and_packed_is_the_same_file(read: Reader) -> None:
    data = (page("/a") * 3).encode()
    digests = {read(pack(data)).digest for pack in PACKERS.values()}
    assert len(digests) == 1


def test_lines_of_rotations_that_overlap_are_one_view(read: Reader) -> None:
    first, second = read(page("/a") + page("/b")), read(page("/b") + page("/c"))
    views = {
        *zip(first.clients, first.urls, strict=True),
        *zip(second.clients, second.urls, strict=True),
    }
    assert len(views) == 3


# Formats ---------------------------------------------------------------------------------------


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


# Canonical URLs --------------------------------------------------------------------------------


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
    one, other = read(page(first) + page(second)).urls
    assert one == other


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
    one, other = read(page(first) + page(second)).urls
    assert one != other
