"""Logs described by the user's own pattern."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from temporal_assets.logs.formats.columns import ColumnsError
from temporal_assets.logs.formats.patterns import PatternError

ReadLog = Callable[..., list]

PATTERN = (
    r"regex:(?P<address>\S+) on (?P<date>\S+) at (?P<time>\S+) saw (?P<target>\S+)"
    r"(?: from (?P<referrer>\S+))?"
)
LINE = b"1.2.3.4 on 2024-05-06 at 07:08:09 saw /a from https://example.com/ and more\n"


def test_groups_are_fields(read_log: ReadLog) -> None:
    (row,) = read_log(LINE, format=PATTERN)
    assert (row.reason, row.time, row.address) == ("none", "2024-05-06 07:08:09", "1.2.3.4")
    assert (row.target, row.referrer) == ("/a", "https://example.com/")
    assert (row.status, row.method) == (0, None)


def test_groups_may_be_absent_from_a_line(read_log: ReadLog) -> None:
    (row,) = read_log(LINE.replace(b"from", b"via"), format=PATTERN)
    assert (row.reason, row.referrer) == ("none", None)


def test_naive_times_are_in_the_zone_of_the_settings(read_log: ReadLog) -> None:
    (row,) = read_log(LINE, format=PATTERN, timezone="America/New_York")
    assert row.time == "2024-05-06 11:08:09"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"garbage", "not_the_format"),
        (LINE.strip().replace(b"07:08", b"27:08"), "bad_time"),
        (LINE.strip().replace(b"/a", b"/\0"), "nul_bytes"),
        (LINE.strip().replace(b"/a", b"-"), "bad_request"),
    ],
)
def test_why_a_line_is_rejected(read_log: ReadLog, line: bytes, reason: str) -> None:
    rows = read_log(LINE + line + b"\n" + LINE, format=PATTERN)
    assert [row.reason for row in rows] == ["none", reason, "none"]


def test_names_of_matomo_patterns_are_understood(read_log: ReadLog) -> None:
    pattern = (
        r"regex:(?P<ip>\S+) \S+ \S+ \[(?P<time>.*?)\] "
        r'"(?P<method>\S+) (?P<path>\S+)\?(?P<query_string>\S+) '
        r'\S+" (?P<status>\d+) \S+ "(?P<referrer>.*?)" "(?P<user_agent>.*?)"'
    )
    line = b'1.2.3.4 - - [06/May/2024:07:08:09 +0200] "GET /a?b=c HTTP/1.1" 200 5 "-" "curl"\n'
    (row,) = read_log(line, format=pattern)
    assert (row.method, row.target, row.status) == ("GET", "/a?b=c", 200)
    assert (row.address, row.agent, row.referrer) == ("1.2.3.4", "curl", None)


def test_bytes_of_any_encoding_can_be_matched(read_log: ReadLog) -> None:
    (row,) = read_log(LINE.replace(b"/a", b"/\xff\xe4"), format=PATTERN)
    assert row.target == "/\xff\xe4"


def test_a_pattern_that_is_none(read_log: ReadLog) -> None:
    with pytest.raises(ValidationError, match=r"no regular expression: .*unterminated"):
        read_log(LINE, format="regex:(?P<time>")


def test_a_pattern_of_text_alone(read_log: ReadLog) -> None:
    with pytest.raises(PatternError, match=r"regex: .*with a bytes pattern"):
        read_log(LINE, format="regex:(?u)(?P<time>.*)")


def test_a_pattern_without_the_needed_groups(read_log: ReadLog) -> None:
    with pytest.raises(ColumnsError, match=r"nothing is named for address, target \(or url"):
        read_log(LINE, format=r"regex:(?P<time>\S+)")
