"""The registry of formats, and the document about them: every example in it is read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets.logs.detect.detection import likely_format
from temporal_assets.logs.detect.resolve import resolve
from temporal_assets.logs.formats.columns import by_number
from temporal_assets.logs.formats.format import Syntax, regex_format
from temporal_assets.logs.formats.known_formats import ALIASES, FORMATS
from temporal_assets.logs.formats.parsing import parse
from temporal_assets.logs.read.records import Block, Reject
from temporal_assets.settings import LogSource, Reading

ReadLog = Callable[..., list]

DOCUMENT = Path(__file__).parents[4] / "docs" / "log-formats.md"
OWN = ("regex", "apache")
"""Formats of the user's own, with an example; the other server's is a command of the shell."""
FENCE = re.compile(
    r"^```(\w+)(?: after \d words| within \w+)?\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


def examples() -> list[tuple[str, bytes, dict[str, Any]]]:
    """(format, lines, options of the TOML directly before them) of the document."""
    actual, options = [], {}
    for name, text in FENCE.findall(DOCUMENT.read_text()):
        if name == "toml":
            options = tomllib.loads(text)["sources"][0]
        elif name in FORMATS or name in OWN:
            actual.append((name, text.encode(), options))
            options = {}
    return actual


EXAMPLES = examples()


def test_every_format_has_an_example() -> None:
    # IIS writes the W3C example; Parquet has no lines to show.
    # Of dumps of counts, the name of the file tells the day (`logs.counts`); 131 columns are no
    # sight.
    dumps = {name for name, fmt in FORMATS.items() if fmt.syntax is Syntax.COUNTS} | {"snowplow"}
    assert {name for name, _, _ in EXAMPLES} == {*FORMATS, *OWN} - {"iis", "parquet"} - dumps


@pytest.mark.parametrize(("name", "text", "options"), EXAMPLES)
def test_examples_are_read_as_the_document_says(
    read_log: ReadLog, name: str, text: bytes, options: dict[str, Any]
) -> None:
    rows = read_log(text, **{**options, "format": options.get("format", name)})
    assert rows
    assert {row.reason for row in rows} == {"none"}
    assert all(re.search("/news/(a.html|b.html|[?](id=7|q=a,b))", row.target) for row in rows)
    assert all(row.address for row in rows)


@pytest.mark.parametrize(("name", "text", "options"), [e for e in EXAMPLES if e[0] not in OWN])
def test_examples_are_detected(name: str, text: bytes, options: dict[str, Any]) -> None:
    source = LogSource.model_validate({"path": "x", **options, "format": "auto"})
    assert resolve(source, text).name.split(" ")[0] == name
    if not options:
        assert (likely_format(text) or "").split(" ")[0] == name


def table() -> dict[str, tuple[str, str]]:
    rows = re.findall(r"^\| `([\w:…]+)` \| (.*?) \| (.*?) \|", DOCUMENT.read_text(), re.MULTILINE)
    return {name: (host, referrer) for name, host, referrer in rows if name in FORMATS}


def test_the_table_lists_every_format_in_full() -> None:
    assert set(table()) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_the_table_agrees_with_the_registry(name: str) -> None:
    _, referrer = table()[name]
    assert {"yes": True, "no": False}.get(referrer) == FORMATS[name].has_referrer


@pytest.mark.parametrize(("name", "text", "options"), EXAMPLES)
def test_table_and_registry_agree_with_what_is_read(
    name: str, text: bytes, options: dict[str, Any]
) -> None:
    source = LogSource.model_validate({"path": "x", "format": name, **options})
    fmt = resolve(source, text)
    records = parse(Block(np.frombuffer(text, np.uint8), 1, last=True), fmt, source, Reading())
    target = records.target.value(len(records) - 1) or b""
    host, _ = table().get(name, ("if a group", ""))
    if host in ("yes", "no: `--host`"):
        assert (host == "yes") == (records.host is not None or target.startswith(b"http"))
    if fmt.has_referrer is not None:
        assert fmt.has_referrer == (records.referrer is not None)


def test_every_reason_is_explained() -> None:
    explained = set(re.findall(r"^\| `(\w+)` \| [^|]+ \|$", DOCUMENT.read_text(), re.MULTILINE))
    assert {reason.label for reason in Reject if reason} <= explained


def test_other_names_lead_to_formats() -> None:
    assert set(ALIASES.values()) <= set(FORMATS)
    assert not set(ALIASES) & set(FORMATS)
    assert all(name == name.lower() for name in (*FORMATS, *ALIASES))


def test_a_pattern_says_what_it_names() -> None:
    fmt = regex_format(r"(?P<time>\S+) (?P<ip>\S+) (?P<url>\S+) (?P<referer>\S+)")
    assert fmt.has_referrer


def test_parquet_is_not_read_in_blocks() -> None:
    block = Block(np.frombuffer(b"PAR1", np.uint8), 1, last=True)
    with pytest.raises(ValueError, match="parquet is not read in blocks"):
        parse(block, FORMATS["parquet"], LogSource(path="x"), Reading())


@pytest.mark.parametrize(("name", "text", "options"), EXAMPLES)
def test_how_a_file_is_cut_into_blocks_changes_nothing(
    read_log: ReadLog, name: str, text: bytes, options: dict[str, Any]
) -> None:
    head = b"".join(
        line for line in text.splitlines(True) if line.startswith((b"#", b"T", b"time\t"))
    )
    body = text.removeprefix(head) * 3 if head else text * 3
    body = body.replace(text, text.removeprefix(head))
    lines = [head + body.splitlines(True)[0], *body.splitlines(True)[1:]]
    named = {**options, "format": options.get("format", name)}
    assert read_log(*lines, **named) == read_log(b"".join(lines), **named)


def test_a_repeated_hour_is_the_same_however_a_file_is_cut(read_log: ReadLog) -> None:
    clocks = ["01:59", "02:10", "02:50", "02:05", "02:40", "02:59", "03:00"]
    lines = [b"time,address,url\n"] + [
        f"2024-10-27 {clock}:00,a,/{i}\n".encode() for i, clock in enumerate(clocks)
    ]
    options = {"format": "csv", "timezone": "Europe/Berlin"}
    whole = read_log(b"".join(lines), **options)
    assert [row.time[11:16] for row in whole] == [
        *("23:59", "00:10", "00:50", "01:05", "01:40", "01:59", "02:00")
    ]
    for cut in range(1, len(lines)):
        assert read_log(b"".join(lines[:cut]), b"".join(lines[cut:]), **options) == whole
    assert read_log(*lines, **options) == whole


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(EXAMPLES))
def test_no_line_disappears_and_nothing_raises(
    generator: Random, example: tuple[str, bytes, dict[str, Any]]
) -> None:
    name, text, options = example
    head, *lines = text.splitlines(keepends=True)
    junk = [generator.randbytes(generator.randrange(40)).replace(b"#", b"") for _ in range(20)]
    for _ in range(40):
        line = bytearray(generator.choice(lines or [head]).rstrip(b"\n"))
        for _ in range(generator.randrange(4)):
            at = generator.randrange(len(line) + 1)
            line[at : at + generator.randrange(4)] = generator.randbytes(generator.randrange(3))
        junk.append(bytes(line).replace(b"#", b""))
    body = b"\n".join(junk) + generator.choice((b"", b"\n"))
    source = LogSource.model_validate({"path": "x", "format": name, **options})
    whole = head + body
    block = Block(np.frombuffer(whole, np.uint8), 1, last=True)
    fmt = resolve(source, text)
    records = parse(block, fmt, source, Reading())
    titles = 1 if fmt.syntax is Syntax.TABLE and not by_number(source.columns) else 0
    expected = [
        number
        for number, line in enumerate(whole.split(b"\n"), 1)
        if line.rstrip(b"\r").strip(b" \t") and not line.startswith(b"#") and number > titles
    ]
    assert records.line.tolist() == expected
    good = np.flatnonzero(records.reason == Reject.NONE)
    for column in (records.target, records.address, records.referrer, records.agent, records.host):
        if column is not None:
            present = good[column.start[good] >= 0]
            assert (column.stop[present] >= column.start[present]).all()
            assert (column.stop[present] <= len(column.data)).all()


def test_large_blocks_are_followed_through_a_repeated_hour_by_their_ends(read_log: ReadLog) -> None:
    def lines(day: int, clock: str, count: int = 4000) -> bytes:
        return f"2024-10-{day} {clock}:00,a,/page\n".encode() * count

    head = b"time,address,url\n"
    options = {"format": "csv", "timezone": "Europe/Berlin"}
    # A block ends in the second 02:30; the next one goes on there.
    rows = read_log(head + lines(27, "02:45") + lines(27, "02:05"), lines(27, "02:30"), **options)
    assert [rows[i].time[11:16] for i in (0, 4000, 8000)] == ["00:45", "01:05", "01:30"]
    # A block ends on another day; nothing is carried on.
    rows = read_log(head + lines(26, "02:45") + lines(26, "12:00"), lines(27, "02:30"), **options)
    assert [rows[i].time[8:16] for i in (0, 8000)] == ["26 00:45", "27 00:30"]


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("198.51.100.2", "198.51.100.2"),
        ("198.51.100.2, 10.0.0.1", "198.51.100.2"),
        (" [2001:db8::1]:443 ,10.0.0.1", "2001:db8::1"),
        ("unknown", "203.0.113.7"),
        ("-", "203.0.113.7"),
        ("", "203.0.113.7"),
        # What is no address is passed over; where none is left, the remote address counts.
        ("whoever", "203.0.113.7"),
        ("_hidden", "203.0.113.7"),
        ("for=_hidden", "203.0.113.7"),
        ("unknown, unknown", "203.0.113.7"),
        ("_hidden, 198.51.100.2:80, 10.0.0.1", "198.51.100.2:80"),
        ("unknown, 2001:db8::1", "2001:db8::1"),
        ("-,%20198.51.100.2", "198.51.100.2"),
        ("for=198.51.100.2;proto=http, for=10.0.0.1", "198.51.100.2"),
        ("::ffff:198.51.100.2", "198.51.100.2"),
        ("2001:db8::1%eth0", "2001:db8::1%eth0"),
        ("1:2:3", "203.0.113.7"),
        ("x" * 200, "203.0.113.7"),
    ],
)
def test_the_forwarded_address_where_there_is_one(
    read_log: ReadLog, forwarded: str, address: str
) -> None:
    line = '203.0.113.7 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "x"'
    text = f'{line} "{forwarded}"\n{line}\n'.encode()
    rows = read_log(text, format="combined", address="forwarded")
    assert [row.address for row in rows] == [address, "203.0.113.7"]
    assert [row.address for row in read_log(text, format="combined")] == ["203.0.113.7"] * 2
    # Formats without the header fall back to what they have.
    common = line.removesuffix(' "-" "x"').encode() + b"\n"
    (row,) = read_log(common, format="common", address="forwarded")
    assert row.address == "203.0.113.7"


def test_the_document_shows_what_is_inferred() -> None:
    match = re.search(
        r"^```nginx_inferred\n(.*?)^```\n+```\n(.*?)\n```$",
        DOCUMENT.read_text(),
        re.MULTILINE | re.DOTALL,
    )
    assert match
    assert resolve(LogSource(path="x"), match[1].encode()).name == match[2]
