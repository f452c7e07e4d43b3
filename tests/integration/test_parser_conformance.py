"""Sample lines of other people's log readers: Matomo, lnav, advertools, AWStats, a Squid tool.

What is expected here was read off the files by eye, not taken from a run. Also two real logs.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from temporal_assets.logs.detect.dated_files import UnknownFormatError
from temporal_assets.logs.detect.resolve import resolve
from temporal_assets.logs.formats.columns import ColumnsError
from temporal_assets.logs.formats.parsing import State, advance, parse
from temporal_assets.logs.read.records import Column, Reject
from temporal_assets.logs.read.streams import open_stream
from temporal_assets.settings import LogSource, Reading


class Read(NamedTuple):
    format: str
    reasons: dict[str, int]
    """Lines by reason; `none` are records."""
    first: dict[str, str | int | None]
    """The first record."""


def read(path: Path, **options: Any) -> Read:
    source = LogSource.model_validate({"path": str(path), **options})
    reasons: Counter[str] = Counter()
    first: dict[str, str | int | None] = {}
    state: State = None
    with open_stream(path, Reading()) as stream:
        fmt = resolve(source, stream.head)
        for block in stream:
            records = parse(block, fmt, source, Reading(), state)
            state = advance(block, fmt, state, source)
            reasons.update(Reject(int(reason)).label for reason in records.reason)
            good = [i for i in range(len(records)) if records.reason[i] == 0]
            if good and not first:
                first = record(records, good[0])
        assert stream.problem is None
    return Read(fmt.name, dict(reasons), first)


def record(records: Any, i: int) -> dict[str, str | int | None]:
    def text(column: Column | None) -> str | None:
        value = column.value(i) if column is not None else None
        return value.decode("latin-1") if value is not None else None

    moment = dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=int(records.time[i]))
    names = ("method", "target", "host", "scheme", "referrer", "address")
    return {
        "time": moment.isoformat(" ", "seconds"),
        "status": int(records.status[i]),
        **{name: text(getattr(records, name)) for name in names},
    }


PLAIN = {"none": 1}

CASES: dict[str, tuple[str, dict[str, int], dict[str, str | int | None]]] = {
    "matomo/common.log": (
        "common",
        PLAIN,
        {"time": "2012-02-10 21:42:07", "status": 301, "method": "GET", "target": "/"}
        | {"host": None, "scheme": None, "referrer": None, "address": "1.2.3.4"},
    ),
    "matomo/common.log.gz": ("common", PLAIN, {"target": "/form", "address": "1.2.3.5"}),
    "matomo/common.log.bz2": ("common", PLAIN, {"target": "/", "address": "1.2.3.7"}),
    "matomo/ncsa_extended.log": ("combined", PLAIN, {"time": "2012-02-10 21:42:07", "status": 301}),
    "matomo/icecast2.log": ("combined", PLAIN, {"address": "1.2.3.4", "status": 301}),
    "matomo/common_vhost.log": ("common_vhost", PLAIN, {"host": "www.example.com", "status": 301}),
    "matomo/common_complete.log": ("combined_vhost", PLAIN, {"host": "www.example.com"}),
    "matomo/common_encoding_big5.log": (
        "combined_vhost",
        PLAIN,
        {"target": "/\xac\xb0\xa8\xe4\xad\xdd\xa6\xe6\xb4c\xb9D", "address": "1.2.3.4"},
    ),
    "matomo/static_ignores.log": ("combined_vhost", {"none": 4}, {"time": "2012-02-10 21:41:07"}),
    "matomo/ovh.log": ("ovh", PLAIN, {"host": "www.example.com", "address": "1.2.3.4"}),
    "matomo/gandi.log": ("gandi", {"none": 2}, {"host": "www.example.com", "address": "1.2.3.4"}),
    "matomo/s3.log": ("s3", PLAIN, {"host": "www.example.com", "target": "/index"}),
    "matomo/alb.log": (
        "alb",
        PLAIN,
        {"time": "2020-01-01 00:55:04", "target": "https://www.example.com:443/path/index.html"}
        | {"address": "1.2.3.4", "status": 200, "referrer": None},
    ),
    "matomo/elb.log": (
        "elb",
        # A comment of the fixture's author, and a TCP line without a request.
        {"none": 1, "not_the_format": 1, "bad_request": 1},
        {"time": "2015-05-13 23:39:43", "target": "https://www.example.com:443/path/index.html"},
    ),
    "matomo/haproxy.log": (
        "haproxy after 5 words",
        PLAIN,
        {"time": "2018-09-25 06:05:27", "method": "POST", "target": "/user/"}
        | {"address": "4.3.2.1", "status": 200},
    ),
    "matomo/amazon_cloudfront_web.log": (
        "cloudfront",
        PLAIN,
        {"time": "2014-05-23 01:13:11", "host": "example.com", "target": "/view/my/file.html"}
        | {"referrer": "https://example.com/", "scheme": "https", "address": "192.0.2.10"},
    ),
    # Streams, not pages; and the sample's tabs have become blanks.
    "matomo/amazon_cloudfront_rtmp.log": ("cloudfront", {"not_the_format": 2}, {}),
    "matomo/iis.log": (
        "w3c",
        PLAIN,
        {"target": "/foo/bar?topCat1=divinity&submit=Search", "host": "example.com"}
        | {"time": "2012-04-01 00:00:13", "address": "1.2.3.4", "referrer": None},
    ),
    "matomo/iis_custom.log": (
        "w3c",
        {"none": 3},
        {"time": "2012-08-15 17:00:00", "host": "xzy.example.com", "address": "70.95.0.0"},
    ),
    "matomo/incapsula_w3c.log": (
        "w3c",
        # The second has no status: it was blocked.
        {"none": 1, "bad_status": 1},
        {"time": "2017-06-28 07:26:35", "address": "123.123.123.123"}
        | {"target": "http://www.example.com/page.php?variable=test"},
    ),
    "matomo/netscaler.log": ("w3c", PLAIN, {"status": 302, "address": "172.20.1.0"}),
    "matomo/shoutcast.log": ("w3c", PLAIN, {"target": "/stream?title=UKR%20Nights", "status": 200}),
    "matomo/splitted_date_and_time.log": ("w3c", PLAIN, {"time": "2015-12-07 10:37:05"}),
    "matomo/nginx_json.log": (
        "nginx_json",
        {"none": 2},
        {"host": "www.piwik.org", "address": "1.2.3.4", "status": 200}
        | {"referrer": "http://clearcode.cc/"},
    ),
    "matomo/caddy_json.log": (
        "caddy_json",
        {"none": 3},
        {"time": "2023-12-23 23:17:54", "host": "example.com", "target": "/beta/"},
    ),
    "matomo/traefik_json.log": (
        "traefik_json",
        PLAIN,
        {"host": "localhost", "scheme": "http", "address": "1.2.3.4"}
        | {"target": "/my/app/auth?id=1234&user=dude", "referrer": "www.example.com"},
    ),
    "matomo/logs_to_tests.log": (
        "combined",
        {"none": 4, "not_the_format": 1},
        {"address": "203.38.78.246", "time": "2013-02-05 07:01:26"},
    ),
    "lnav/logfile_access_log.0": ("combined", {"none": 3}, {"target": "/vmw/cgi/tramp"}),
    "lnav/logfile_access_log.1": ("combined", {"bad_request": 1}, {}),
    "lnav/logfile_bad_access_log.0": ("combined", {"none": 2, "not_the_format": 1}, {}),
    "lnav/logfile_regexp_access_log.0": (
        "combined_vhost",
        {"none": 2},
        {"host": "localhost:443", "address": "178.20.184.42", "time": "2023-07-26 07:01:26"},
    ),
    "lnav/logfile_shop_access_log.0": (
        "combined",
        {"none": 1000},
        {"address": "54.36.149.41", "time": "2019-01-22 00:26:14"},
    ),
    "lnav/logfile_haproxy.0": (
        "haproxy after 5 words",
        {"none": 13, "not_the_format": 4},
        {"address": "141.35.244.171", "time": "2019-02-25 16:19:48"},
    ),
    "lnav/logfile_caddy_log.1": (
        "caddy_json",
        {"none": 4},
        {"host": "mirrors.tnonline.net:400", "address": "10.10.10.117"},
    ),
    "lnav/logfile_w3c.0": ("w3c", PLAIN, {"target": "/images/picture.jpg"}),
    "lnav/logfile_w3c.1": ("w3c", PLAIN, {"address": "64.103.37.2"}),
    # An FTP server's: nothing in it is a request.
    "lnav/logfile_w3c.2": ("w3c", {"bad_request": 14}, {}),
    "lnav/logfile_w3c.3": ("w3c", {"none": 3}, {"address": "70.95.0.0"}),
    "lnav/logfile_w3c.6": ("w3c", PLAIN, {"status": 404, "target": "/robots.txt"}),
    "lnav/logfile_w3c_big.0": ("w3c", {"none": 210}, {"address": "157.55.39.146"}),
    "advertools/combined_no_errors.log": ("combined", {"none": 885}, {"status": 304}),
    "advertools/combined_with_errors.log": ("combined", {"none": 885, "not_the_format": 4}, {}),
    "advertools/dreamhost_apache_access.log": (
        "combined",
        {"none": 129},
        {"method": "HEAD", "time": "2023-04-25 08:45:43"},
    ),
    "advertools/nginx_access.log": (
        "combined",
        {"none": 957, "bad_request": 43},
        {"address": "65.49.20.68", "time": "2021-11-22 00:18:22"},
    ),
    "awstats/testsmall.log": ("combined", {"none": 3}, {"time": "2001-01-01 19:00:00"}),
    # A time without brackets, and a log of fields that no server of ours writes.
    "awstats/testtime5.log": (
        'nginx:$remote_addr - - $time_iso8601 "$request" $status - "$http_referer"'
        ' "$http_user_agent"',
        {"none": 2},
        {"address": "80.8.55.10", "time": "2001-01-01 23:55:10", "target": "/"},
    ),
    "lnav/logfile_bro_http.log.0": (
        r"nginx:$msec\t-\t$remote_addr\t-\t-\t-\t-\t$request_method\t$host\t$request_uri"
        r"\t$http_referer\t-\t$http_user_agent\t-\t-\t$status",
        {"none": 197, "not_the_format": 7, "bad_time": 2},
        {"host": "www.reddit.com", "target": "/", "status": 200, "address": "192.168.2.76"},
    ),
    "squid/access.log": (
        "squid",
        {"none": 3},
        {"time": "2020-02-03 14:35:55", "target": "http://wiki.ipfire.org/", "status": 200}
        | {"address": "192.168.5.2", "referrer": None},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_fixture_is_detected_and_read(shared_data: Path, name: str) -> None:
    expected, reasons, first = CASES[name]
    actual = read(shared_data / "parser_conformance" / name)
    assert actual.format == expected
    assert actual.reasons == reasons
    assert {key: actual.first.get(key) for key in first} == first


@pytest.mark.parametrize(
    "name",
    [
        *("advertools/crawl1.log", "advertools/nginx_custom_date.log"),
        *("matomo/custom_regex_custom_date.log", "awstats/testnginx.log"),
    ],
)
def test_what_is_no_known_access_log_is_refused(shared_data: Path, name: str) -> None:
    with pytest.raises(UnknownFormatError, match="no known format fits: lines look like"):
        read(shared_data / "parser_conformance" / name)


@pytest.mark.parametrize(
    ("name", "server"),
    [("advertools/apache_error.log", "Apache"), ("advertools/nginx_error.log", "nginx")],
)
def test_an_error_log_is_named_as_one(shared_data: Path, name: str, server: str) -> None:
    with pytest.raises(UnknownFormatError, match=f"an error log of {server}, which does not say"):
        read(shared_data / "parser_conformance" / name)


def test_a_w3c_log_without_clients_says_so(shared_data: Path) -> None:
    with pytest.raises(ColumnsError, match="lacks c-ip"):
        read(shared_data / "parser_conformance" / "lnav" / "logfile_w3c.5")


def test_a_pattern_reads_what_no_format_does(shared_data: Path) -> None:
    pattern = (
        r'regex:(?P<ip>\S+) - - (?P<time>\S+) "(?P<request>[^"]*)" (?P<status>\d+) \d+ '
        r'"(?P<referrer>[^"]*)"'
    )
    actual = read(shared_data / "parser_conformance" / "awstats" / "testtime5.log", format=pattern)
    assert actual.reasons == {"none": 2}
    assert actual.first["time"] == "2001-01-01 23:55:10"
    assert actual.first["address"] == "80.8.55.10"


def test_a_latin1_log_with_binary_garbage(shared_data: Path) -> None:
    actual = read(shared_data / "parser_conformance" / "advertools" / "combined_latin1_enc.log")
    assert actual.format == "combined"
    # 169 log lines, then 31 pieces of a gzip file.
    assert sum(actual.reasons.values()) == 200
    assert actual.reasons["none"] + actual.reasons["bad_request"] == 169
    assert actual.reasons["nul_bytes"] + actual.reasons["not_the_format"] == 31


@pytest.mark.parametrize(
    ("name", "lines", "rejected"),
    [
        ("elastic_logs/apache_logs", 10_000, 1),
        ("secrepo_logs/2021_all.log", 5_854, 0),
        ("secrepo_logs/access-2018-12-15.log", 4_961, 0),
        ("secrepo_logs/access.log.2021-10-22", 644, 0),
        ("secrepo_logs/access.log.2022-12-22", 1_262, 0),
    ],
)
def test_real_logs_are_read_in_full(
    shared_data: Path, name: str, lines: int, rejected: int
) -> None:
    actual = read(shared_data / name)
    assert actual.format == "combined"
    assert sum(actual.reasons.values()) == lines
    assert actual.reasons["none"] == lines - rejected
