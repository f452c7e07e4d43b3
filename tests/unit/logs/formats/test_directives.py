"""W3C extended logs and the headers in them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from temporal_assets.logs.formats.columns import ColumnsError
from temporal_assets.logs.formats.directives import Header, advance, header_of
from temporal_assets.logs.read.records import Block

ReadLog = Callable[..., list]

FIELDS = b"#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status cs(Referer)\n"
RECORD = b"2024-05-06 07:08:09 1.2.3.4 GET /a b=c 200 https://example.com/\n"


def test_the_header_says_where_fields_stand(read_log: ReadLog) -> None:
    (row,) = read_log(b"#Software: x\n#Version: 1.0\n" + FIELDS + RECORD)
    assert (row.line, row.time, row.address) == (4, "2024-05-06 07:08:09", "1.2.3.4")
    assert (row.method, row.target, row.status) == ("GET", "/a?b=c", 200)
    assert (row.referrer, row.agent, row.host) == ("https://example.com/", None, None)


def test_a_new_header_counts_from_its_line_on(read_log: ReadLog) -> None:
    other = b"#Fields: time c-ip cs-uri-stem sc-status date\n07:00:00 5.6.7.8 /b 304 2024-05-07\n"
    rows = read_log(FIELDS + RECORD + other + FIELDS + RECORD)
    assert [row.target for row in rows] == ["/a?b=c", "/b", "/a?b=c"]
    assert [row.address for row in rows] == ["1.2.3.4", "5.6.7.8", "1.2.3.4"]
    assert [row.status for row in rows] == [200, 304, 200]
    assert [row.method for row in rows] == ["GET", None, "GET"]
    assert rows[1].time == "2024-05-07 07:00:00"


def test_headers_hold_across_blocks(read_log: ReadLog) -> None:
    other = b"#Fields: date time c-ip cs-uri-stem\n"
    record = b"2024-05-06 07:08:09 5.6.7.8 /b\n"
    whole = read_log(FIELDS + RECORD + RECORD + other + record + record)
    split = read_log(FIELDS + RECORD, RECORD + other, record, record)
    assert split == whole
    assert [row.target for row in split] == ["/a?b=c", "/a?b=c", "/b", "/b"]


def test_lines_before_any_header_are_rejected(read_log: ReadLog) -> None:
    rows = read_log(RECORD + FIELDS + RECORD, format="w3c")
    assert [(row.line, row.reason) for row in rows] == [(1, "not_the_format"), (3, "none")]


def test_times_without_dates_take_the_date_of_the_header(read_log: ReadLog) -> None:
    fields = b"#Fields: time c-ip cs-uri-stem\n"
    rows = read_log(
        b"#Date: 2024-05-06 00:00:00\n" + fields + b"23:59:59 1.2.3.4 /a\n",
        b"#Date: 2024-05-07 00:00:00\n00:00:01 1.2.3.4 /b\n",
        b"00:00:02 1.2.3.4 /c\n",
    )
    assert [row.time for row in rows] == [
        "2024-05-06 23:59:59",
        "2024-05-07 00:00:01",
        "2024-05-07 00:00:02",
    ]


def test_times_without_any_date_are_rejected(read_log: ReadLog) -> None:
    (row,) = read_log(b"#Fields: time c-ip cs-uri-stem\n10:00:00 1.2.3.4 /a\n")
    assert row.reason == "bad_time"


def test_times_are_utc_unless_they_are_called_local(read_log: ReadLog) -> None:
    (row,) = read_log(FIELDS + RECORD, timezone="Europe/Berlin")
    assert row.time == "2024-05-06 07:08:09"
    local = b"#Fields: date-local time-local c-ip cs-uri-stem\n2024-05-06 07:08:09 1.2.3.4 /a\n"
    (row,) = read_log(local, timezone="Europe/Berlin")
    assert row.time == "2024-05-06 05:08:09"


@pytest.mark.parametrize(
    "record", [b"2024-05-06 07:08:09 1.2.3.4 GET /a - 200\n", RECORD[:-1] + b" more\n"]
)
def test_missing_and_surplus_fields_are_rejected(read_log: ReadLog, record: bytes) -> None:
    rows = read_log(FIELDS + record + RECORD)
    assert [row.reason for row in rows] == ["not_the_format", "none"]


def test_iis_writes_blanks_of_agents_as_plus(read_log: ReadLog) -> None:
    fields = b"#Fields: date time c-ip cs-uri-stem cs(User-Agent)\n"
    start = b"2024-05-06 07:08:09 1.2.3.4 /a+b "
    rows = read_log(fields + start + b"Mozilla/5.0+(X11)\n" + start + b'"quoted + agent"\n')
    assert [row.agent for row in rows] == ["Mozilla/5.0 (X11)", "quoted + agent"]
    assert [row.target for row in rows] == ["/a+b", "/a+b"]


CLOUDFRONT = (
    b"#Version: 1.0\n#Fields: date time x-edge-location c-ip cs-method cs(Host) cs-uri-stem "
    b"sc-status cs(Referer) cs(User-Agent) cs-uri-query x-host-header cs-protocol\n"
)


def test_iis_writes_blanks_of_paths_as_plus(read_log: ReadLog) -> None:
    """Browsers name the page they come from with `%20`, and IIS refuses the page with `+`."""
    record = RECORD.replace(b"/a b=c", b"/my+page b=c+d")
    for software, path in (
        (b"Microsoft Internet Information Services 10.0", "/my page"),
        (b"x", "/my+page"),
    ):
        head = b"#Software: " + software + b"\n"
        for rows in (read_log(head + FIELDS + record), read_log(head + FIELDS, record)):
            assert [row.target for row in rows] == [path + "?b=c+d"]


def test_cloudfront(read_log: ReadLog) -> None:
    record = (
        b"2024-05-06\t07:08:09\tFRA2\t2001:db8::1\tGET\td1.cloudfront.net\t/a%2520b\t200\t"
        b"https://example.com/?q=%25C3%25BC\tMozilla/5.0%2520(X11)\tx=%2526\twww.example.com\thttps\n"
    )
    (row,) = read_log(CLOUDFRONT + record)
    assert (row.reason, row.address, row.host) == ("none", "2001:db8::1", "www.example.com")
    assert (row.target, row.scheme) == ("/a%20b?x=%26", "https")
    assert row.referrer == "https://example.com/?q=%C3%BC"
    assert row.agent == "Mozilla/5.0 (X11)"


def test_cloudfront_without_the_visitors_host_has_the_distributions(read_log: ReadLog) -> None:
    record = b"2024-05-06\t07:08:09\tFRA2\t1.2.3.4\tGET\td1.cloudfront.net\t/\t200\t-\t-\t-\t-\t-\n"
    (row,) = read_log(CLOUDFRONT + record)
    assert (row.host, row.referrer, row.agent, row.scheme) == (
        "d1.cloudfront.net",
        None,
        None,
        None,
    )


def test_a_whole_url_without_scheme_gets_one(read_log: ReadLog) -> None:
    fields = b"#Fields: date time c-ip cs-uri\n"
    uris = [b"www.example.com/a", b"/a", b"https://example.com/a", b"*", b"example.com:443"]
    rows = read_log(fields + b"".join(b"2024-05-06 07:08:09 1.2.3.4 " + u + b"\n" for u in uris))
    assert [row.target for row in rows] == [
        "http://www.example.com/a",
        "/a",
        "https://example.com/a",
        "*",
        "example.com:443",
    ]


def test_a_header_without_the_needed_fields_says_which(read_log: ReadLog) -> None:
    with pytest.raises(ColumnsError, match=r"#Fields: of the log lacks c-ip"):
        read_log(b"#Fields: date time s-ip cs-uri-stem\n2024-05-06 07:08:09 1.2.3.4 /a\n")


def test_the_header_of_a_text() -> None:
    assert header_of(b"no header\n") == Header()
    header = header_of(b"#Date: 1970-01-03\r\n#Fields:\ttime\tc-ip\r\n")
    assert header == Header(fields=("time", "c-ip"), tabs=True, day=2)
    assert header.missing() == ["cs-uri-stem (or cs-uri)"]
    block = Block(np.frombuffer(b"x\n#Fields: date\ny\n", np.uint8), 1, last=True)
    assert advance(block, header).fields == ("date",)
    assert advance(Block(np.frombuffer(b"x\n", np.uint8), 1, last=True), header) == header
