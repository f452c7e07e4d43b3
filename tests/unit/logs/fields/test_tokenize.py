"""The kernels against a slow reader of the same lines, and every verdict by example."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets.logs.fields.lines import find_lines
from temporal_assets.logs.formats.known_formats import FORMATS
from temporal_assets.logs.formats.parsing import parse
from temporal_assets.logs.read.records import Block, Reject
from temporal_assets.settings import LogSource, Reading

ReadLog = Callable[..., list]

GOOD = (
    b'83.149.9.216 - - [17/May/2015:10:05:03 +0000] "GET /a/b?c=d HTTP/1.1" 200 203023 '
    b'"http://example.com/from" "Mozilla/5.0 (X11; Linux) Chrome/32.0"'
)


@given(st.lists(st.sampled_from(b"ab# \t\r\n\n"), max_size=300), st.booleans())
def test_lines_are_those_that_are_not_empty(values: list[int], skip: bool) -> None:
    text = bytes(values)
    lines = find_lines(Block(np.frombuffer(text, np.uint8), 1, last=True), skip)
    numbered = ((i, line.rstrip(b"\r")) for i, line in enumerate(text.split(b"\n"), 1))
    expected = [
        (number, line)
        for number, line in numbered
        if line.strip(b" \t") and not (skip and line.lstrip(b" \t").startswith(b"#"))
    ]
    actual = [text[a:b] for a, b in zip(lines.start, lines.stop, strict=True)]
    assert list(zip(lines.number.tolist(), actual, strict=True)) == expected


class Slow:
    """Combined log lines read with regular expressions, one by one, as plainly as possible."""

    QUOTED = (
        # A quote closes before a blank or at the end; a backslash protects what follows it.
        rb'(?>"(?>(?P<%s>(?:\\.|"(?! |\Z)|[^"\\])*))"(?= |\Z)'
        rb'|"(?P<%s_>.*\\)"\Z'  # a bare backslash ends the last field
        rb"|(?P<%s__>-)(?= |\Z))"
    )
    LINE = re.compile(
        rb'(?>"?)(?P<address>[^ ]+) [^ ]+ '  # a quote before all of the line belongs to it
        rb"(?!\[)(?>(?P<user>.*?) (?=\[))\[(?>(?P<time>[^\]]*))\] "
        + QUOTED.replace(b"%s", b"request")
        + rb" (?>(?P<status>[^ ]+)) (?>[^ ]+) "
        + QUOTED.replace(b"%s", b"referrer")
        + rb" "
        + QUOTED.replace(b"%s", b"agent")
        + rb"(?: .*)?\Z",
        re.DOTALL,
    )
    MOMENT = re.compile(
        rb"(?:(?P<d>\d\d)/(?P<b>[A-Za-z]{3})/(?P<y>\d{4}):|"
        rb"(?P<Y>\d{4})(?P<mark>[-/])(?P<m>\d\d)(?P=mark)(?P<D>\d\d)[ _Tt])"
        rb"(?P<H>\d\d):(?P<M>\d\d)(?::(?P<S>\d\d)(?:[.,](?P<f>\d*))?)?"
        rb" *(?P<zone>[Zz]|UTC|GMT|(?P<sign>[+-])(?P<h>\d\d)(?::?(?P<n>\d\d))?)?\Z"
    )
    NUMBER = re.compile(rb"(\d{1,19})(?:\.(\d*))?\Z")
    MONTHS = b"jan feb mar apr may jun jul aug sep oct nov dec".split()

    @classmethod
    def read(cls, line: bytes, max_line: int) -> tuple[str, tuple[object, ...]]:
        if len(line) > max_line:
            return "too_long", ()
        if b"\0" in line:
            return "nul_bytes", ()
        match = cls.LINE.match(line)
        if match is None:
            return "not_the_format", ()
        time = cls.moment(match["time"])
        if time is None:
            return "bad_time", ()
        request = cls.request(cls.quoted(match, "request"))
        if request is None:
            return "bad_request", ()
        status = cls.status(match["status"])
        if status is None:
            return "bad_status", ()
        referrer, agent = cls.quoted(match, "referrer"), cls.quoted(match, "agent")
        fields = (*request, status, referrer, agent, cls.address(match["address"]))
        return "none", (time, *(None if value in (b"", b"-") else value for value in fields))

    @staticmethod
    def quoted(match: re.Match[bytes], name: str) -> bytes:
        return next(
            v for v in (match[name], match[name + "_"], match[name + "__"]) if v is not None
        )

    @classmethod
    def moment(cls, text: bytes) -> int | None:
        if text.startswith(b"["):
            text = text[1:].removesuffix(b"]")
        match = cls.MOMENT.match(text)
        if match is None:
            return cls.number(text)
        year = int(match["y"] or match["Y"])
        if match["b"]:
            if match["b"].lower() not in cls.MONTHS or match["S"] is None:
                return None
            month = cls.MONTHS.index(match["b"].lower()) + 1
        else:
            month = int(match["m"])
        hour, minute, second = int(match["H"]), int(match["M"]), int(match["S"] or 0)
        hours, minutes = int(match["h"] or 0), int(match["n"] or 0)
        if second > 60 or hours > 23 or minutes > 59:
            return None
        try:
            moment = dt.datetime(
                year, month, int(match["d"] or match["D"]), hour, minute, min(second, 59)
            )
        except ValueError:
            return None
        offset = dt.timedelta(hours=hours, minutes=minutes) * (-1 if match["sign"] == b"-" else 1)
        micros = int((match["f"] or b"").ljust(6, b"0")[:6])
        return (moment - dt.datetime(1970, 1, 1) - offset) // dt.timedelta(microseconds=1) + micros

    @classmethod
    def number(cls, text: bytes) -> int | None:
        match = cls.NUMBER.match(text)
        if match is None or int(match[1]) >= 2**63:
            return None
        value, fraction = int(match[1]), match[2]
        digits = 6 if value < 10**11 else 3 if value < 10**14 else 0
        if value >= 10**17:
            return None if fraction is not None else value // 1000
        return value * 10**digits + int((fraction or b"").ljust(6, b"0")[:digits] or 0)

    @staticmethod
    def request(text: bytes) -> tuple[bytes, bytes] | None:
        match = re.fullmatch(
            rb"(?P<method>[A-Za-z][A-Za-z0-9_-]{0,31}) +"
            rb"(?:(?P<target>[^ ].*?) +HTTP/[^ ]+|(?P<path>/[^ ]*)) *",
            text,
            re.DOTALL,
        )
        return (match["method"], match["target"] or match["path"]) if match else None

    @staticmethod
    def status(text: bytes) -> int | None:
        value = text.split(b"/", 1)[1] if len(text) > 3 and b"/" in text else text
        value = value[:3] if value[3:4] == b"." else value
        if not re.fullmatch(rb"000|0|-1|[1-9][0-9]{2}", value):
            return None
        return int(value) or -1

    @staticmethod
    def address(text: bytes) -> bytes:
        first = re.match(rb"(?=[^,]*[.:])([0-9A-Fa-f.:\[\]]+),", text)
        text = first[1] if first else text
        bracketed = re.match(rb"\[([^\]]*)", text) if b":" in text else None
        text = bracketed[1] if bracketed else text
        ported = re.fullmatch(
            rb"([0-9][\w-]*(?:\.[\w-]*){2}\.[\w-]+|[\w.-]*\.[A-Za-z][\w-]*):[0-9]{1,5}", text
        )
        if ported or text.count(b":") == 1:
            return ported[1] if ported else text
        mapped = re.fullmatch(rb"::ffff:([^:]*\.[^:]*\.[^:]*\.[^:]*)", text, re.IGNORECASE)
        return mapped[1] if mapped and text.count(b".") == 3 else text


def fast(text: bytes, max_line: int) -> list[tuple[str, tuple[object, ...]]]:
    block = Block(np.frombuffer(text, np.uint8), 1, last=False)
    reading = Reading().model_copy(update={"max_line_bytes": max_line})
    records = parse(block, FORMATS["combined"], LogSource(path="x"), reading)
    assert records.method is not None
    assert records.referrer is not None
    assert records.agent is not None
    actual: list[tuple[str, tuple[object, ...]]] = []
    for i in range(len(records)):
        reason = Reject(int(records.reason[i])).label
        if reason != "none":
            actual.append((reason, ()))
            continue
        values = [column.value(i) for column in (records.method, records.target)]
        address = records.address.value(i)
        fields = (
            int(records.time[i]),
            *values,
            int(records.status[i]),
            records.referrer.value(i),
            records.agent.value(i),
            None if address in (b"", b"-") else address,
        )
        actual.append((reason, fields))
    return actual


def slow(text: bytes, max_line: int) -> list[tuple[str, tuple[object, ...]]]:
    lines = (line.rstrip(b"\r") for line in text.split(b"\n"))
    return [Slow.read(line, max_line) for line in lines if line.strip(b" \t")]


SEEDS = (
    GOOD,
    b'::1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "-"',
    b'::ffff:10.0.0.1 - jo [x] [17/May/2015:10:05:03 +0000] "-" 408 - - -',
    b'[2001:db8::1]:443 - a b [1431857103.25] "HEAD http://e.org/ HTTP/2.0" 304 0 "" "\\"q\\""',
    b'10.0.0.1:8 i  [2015-05-17T10:05:03.5+02:00] "GET /a b HTTP/1.1" TCP_HIT/200 7 "-" "a\\" "1"',
    b'h.example - - [17/May/2015:10:05:60 -0730] "\\x16\\x03\\x01" 400 0 "-" "curl" "1.2.3.4" 9',
    b'1.2.3.4, 10.0.0.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.0" 200 0 "-" "-"',
    b'"1.2.3.4,::1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.0" 200 0 "-" "-""',
    b'1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /"q" HTTP/1.0" 000 0 "http://e/"x"y" "C:\\"',
)
ALPHABET = b'"\\ []-/:.+0129TZabGEx\x00\x80\xff\r#,'


def mutated(generator: random.Random, lines: int) -> bytes:
    text = []
    for _ in range(lines):
        line = bytearray(generator.choice(SEEDS))
        for _ in range(generator.choice((0, 1, 1, 2, 3, 8))):
            at = generator.randrange(len(line) + 1)
            if generator.random() < 0.5:
                del line[at : at + generator.choice((1, 1, 1, 2, 9))]
            if generator.random() < 0.6:
                line[at:at] = bytes([generator.choice(ALPHABET)])
        text.append(bytes(line).replace(b"\n", b""))
    return b"\n".join(text) + b"\n"


def test_the_kernels_agree_with_the_slow_reader_on_mutated_lines() -> None:
    text = mutated(random.Random(20_240_101), 60_000)
    lines = [line for line in text.split(b"\n") if line.strip(b" \t\r")]
    expected, actual = slow(text, 1024), fast(text, 1024)
    differing = [(line, a, b) for line, a, b in zip(lines, expected, actual, strict=True) if a != b]
    assert differing[:5] == []
    # The comparison means something: every verdict occurs, and records are many.
    reasons = [reason for reason, _ in actual]
    assert {"none", "not_the_format", "bad_time", "bad_request", "bad_status", "nul_bytes"} == set(
        reasons
    )
    assert reasons.count("none") > 10_000


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=80),
            st.lists(st.sampled_from(ALPHABET), max_size=60).map(bytes),
            st.builds(
                lambda line, at, junk: line[:at] + junk + line[at:],
                st.sampled_from(SEEDS),
                st.integers(0, 120),
                st.binary(max_size=4),
            ),
        ),
        max_size=6,
    )
)
def test_the_kernels_agree_with_the_slow_reader_on_any_bytes(lines: list[bytes]) -> None:
    text = b"\n".join(lines) + b"\n"
    assert fast(text, 1024) == slow(text, 1024)


def verdict(read_log: ReadLog, line: bytes, **options: object) -> str:
    (row,) = read_log(line + b"\n", format="combined", **options)
    return str(row.reason)


def test_a_whole_line(read_log: ReadLog) -> None:
    (row,) = read_log(GOOD + b"\n", format="combined")
    assert (row.line, row.reason, row.time) == (1, "none", "2015-05-17 10:05:03")
    assert (row.status, row.method, row.target) == (200, "GET", "/a/b?c=d")
    assert (row.referrer, row.address) == ("http://example.com/from", "83.149.9.216")
    assert row.agent == "Mozilla/5.0 (X11; Linux) Chrome/32.0"
    assert (row.host, row.scheme) == (None, None)


@pytest.mark.parametrize(
    "line",
    [
        b"no log line at all",
        GOOD.replace(b"- - ", b""),
        GOOD.replace(b"[", b""),
        GOOD.replace(b"]", b""),
        GOOD.replace(b' "Mozilla/5.0 (X11; Linux) Chrome/32.0"', b""),
        GOOD[:-1],
        GOOD.replace(b" - - ", b"  - - "),
        GOOD.replace(b'"http://example.com/from"', b"http://example.com/from"),
    ],
)
def test_lines_that_have_not_the_format(read_log: ReadLog, line: bytes) -> None:
    assert verdict(read_log, line) == "not_the_format"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"17/May/2015:10:05:03 +0000", b"not a time", "bad_time"),
        (b"17/May", b"32/May", "bad_time"),
        (b"+0000", b"+9900", "bad_time"),
        (b"GET /a/b?c=d HTTP/1.1", b"-", "bad_request"),
        (b"GET /a/b?c=d HTTP/1.1", b"", "bad_request"),
        (b"GET /a/b?c=d HTTP/1.1", b"\\x16\\x03\\x01\\x02", "bad_request"),
        (b"GET /a/b?c=d HTTP/1.1", b"GET", "bad_request"),
        (b"GET /a/b?c=d HTTP/1.1", b"GET HTTP/1.1", "bad_request"),
        (b"GET /a/b?c=d HTTP/1.1", b"GET a/b", "bad_request"),
        (b"GET /a/b?c=d HTTP/1.1", b"GET /a b", "bad_request"),
        (b"GET /a/b?c=d HTTP/1.1", b"G=T / HTTP/1.1", "bad_request"),
        (b" 200 ", b" 2OO ", "bad_status"),
        (b" 200 ", b" 20 ", "bad_status"),
        (b" 200 ", b" 042 ", "bad_status"),
        (b" 200 ", b" - ", "bad_status"),
        (b"/a/b", b"/a\0b", "nul_bytes"),
        (b"/a/b", b"/" + b"a" * 2000, "too_long"),
        (b"/a/b", b"/\0" + b"a" * 2000, "too_long"),
    ],
)
def test_why_a_line_is_rejected(read_log: ReadLog, old: bytes, new: bytes, reason: str) -> None:
    line = GOOD.replace(old, new)
    reading = Reading().model_copy(update={"max_line_bytes": 1500})
    assert verdict(read_log, line, reading=reading) == reason


@pytest.mark.parametrize(
    ("request_line", "method", "target"),
    [
        (b"GET / HTTP/1.1", "GET", "/"),
        (b"get / HTTP/1.1", "get", "/"),
        (b"GET /old", "GET", "/old"),
        (b"GET  /two  HTTP/1.1 ", "GET", "/two"),
        (b"GET /with blank HTTP/1.1", "GET", "/with blank"),
        (b"GET /HTTP/1.1 HTTP/1.1", "GET", "/HTTP/1.1"),
        (b"OPTIONS * HTTP/1.0", "OPTIONS", "*"),
        (b"CONNECT example.com:443 HTTP/1.1", "CONNECT", "example.com:443"),
        (b"GET http://example.com/a HTTP/1.1", "GET", "http://example.com/a"),
        (b"M-SEARCH * HTTP/1.1", "M-SEARCH", "*"),
        (b"GET /\xc3\xbc\xff HTTP/1.1", "GET", "/\xc3\xbc\xff"),
    ],
)
def test_requests(read_log: ReadLog, request_line: bytes, method: str, target: str) -> None:
    (row,) = read_log(
        GOOD.replace(b"GET /a/b?c=d HTTP/1.1", request_line) + b"\n", format="combined"
    )
    assert (row.reason, row.method, row.target) == ("none", method, target)


@pytest.mark.parametrize(
    ("written", "address"),
    [
        (b"1.2.3.4", "1.2.3.4"),
        (b"1.2.3.4:5678", "1.2.3.4"),
        (b"1.2.3.x", "1.2.3.x"),
        (b"1.2.3.x:5678", "1.2.3.x"),
        (b"client.example.com:5678", "client.example.com"),
        (b"anon:5f3a", "anon:5f3a"),
        (b"anon:1234", "anon:1234"),
        (b"u.1:1234", "u.1:1234"),
        (b"1.2.3.4:567890", "1.2.3.4:567890"),
        (b"1.2.3.4:", "1.2.3.4:"),
        (b"jo@example.com:17", "jo@example.com:17"),
        (b"2001:db8::1", "2001:db8::1"),
        (b"[2001:db8::1]", "2001:db8::1"),
        (b"[2001:db8::1]:443", "2001:db8::1"),
        (b"fe80::1%eth0", "fe80::1%eth0"),
        (b"::ffff:1.2.3.4", "1.2.3.4"),
        (b"::FFFF:1.2.3.4", "1.2.3.4"),
        (b"::abcd:1.2.3.4", "::abcd:1.2.3.4"),
        (b"client.example.com", "client.example.com"),
        (b"-", None),
    ],
)
def test_addresses(read_log: ReadLog, written: bytes, address: str | None) -> None:
    (row,) = read_log(GOOD.replace(b"83.149.9.216", written) + b"\n", format="combined")
    assert (row.reason, row.address) == ("none", address)


@pytest.mark.parametrize(
    ("written", "status"),
    [(b"404", 404), (b"TCP_MISS/200", 200), (b"NONE/000", -1), (b"200.0", 200), (b"999", 999)],
)
def test_statuses(read_log: ReadLog, written: bytes, status: int) -> None:
    (row,) = read_log(GOOD.replace(b" 200 ", b" " + written + b" ") + b"\n", format="combined")
    assert (row.reason, row.status) == ("none", status)


def test_a_last_line_without_newline_counts_if_it_is_whole(read_log: ReadLog) -> None:
    assert [row.reason for row in read_log(GOOD + b"\n" + GOOD)] == ["none", "none"]
    assert [row.reason for row in read_log(GOOD + b"\n" + GOOD[:-20])] == ["none", "truncated"]
    bad = GOOD.replace(b"GET", b"=")
    assert [row.reason for row in read_log(GOOD + b"\n" + bad)] == ["none", "bad_request"]


def test_in_a_broken_archive_the_last_line_never_counts() -> None:
    text = b'1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.0" 200 36'
    for cut, reason in ((False, Reject.NONE), (True, Reject.TRUNCATED)):
        block = Block(np.frombuffer(text, np.uint8), 1, last=True, cut=cut)
        records = parse(block, FORMATS["common"], LogSource(path="x"), Reading())
        assert records.reason.tolist() == [reason]
