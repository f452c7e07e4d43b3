"""JSON lines by the compiled pass, against reading every line as an object."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets.logs.fields.layouts import Slot
from temporal_assets.logs.fields.lines import find_lines
from temporal_assets.logs.formats import structured
from temporal_assets.logs.formats.json_keys import Path, Paths, keys_of
from temporal_assets.logs.formats.json_scan import scan
from temporal_assets.logs.formats.known_formats import FORMATS
from temporal_assets.logs.read.records import Block, Reject
from temporal_assets.settings import LogSource, Reading
from tests.fuzz import mutate
from tests.unit.conftest import rows_of

SOURCE = LogSource(path="x", host="a.example")
READING = Reading().model_copy(update={"max_line_bytes": 2000})
PATHS: dict[str, Paths] = {
    **{name: FORMATS[name].paths or {} for name in ("caddy_json", "traefik_json", "nginx_json")},
    "mapped": {
        Slot.TIME: (("t",), ("when", "at")),
        Slot.TARGET: (("list", "1"), ("list",), ("when",)),
        Slot.ADDRESS: (("who", "ip"),),
        Slot.STATUS: (("",),),
    },
}


Values = dict[Slot, bytes]


def slow(line: bytes, paths: Paths) -> Values | None:
    """The values of a line's fields, None if it is no object."""
    try:
        record, latin = orjson.loads(line), False
    except orjson.JSONDecodeError:
        text = re.sub(rb"(?<!\\)((?:\\\\)*)\\x([0-9A-Fa-f]{2})", rb"\1\\u00\2", line)
        try:
            record, latin = orjson.loads(text.decode("latin-1")), True
        except orjson.JSONDecodeError:
            return None
    if not isinstance(record, dict):
        return None
    actual = {}
    for slot, options in paths.items():
        value = first_of([walk(record, path) for path in options])
        if isinstance(value, list):
            value = value[0] if value else ""
        if isinstance(value, str):
            try:
                actual[slot] = value.encode("latin-1" if latin else "utf-8")
            except UnicodeEncodeError:
                actual[slot] = value.encode()
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            actual[slot] = str(value).encode()
    return actual


def first_of(values: list[Any]) -> Any:
    there = [value for value in values if not isinstance(value, (dict, bool, type(None)))]
    return next((value for value in there if value not in ("", "-")), there[0] if there else None)


def walk(record: dict[str, Any], path: Path) -> Any:
    if path[0] not in record:
        return record.get(".".join(path))
    value: Any = record
    for key in path:
        if isinstance(value, list):
            value = value[int(key)] if key.isdecimal() and int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def fast(line: bytes, paths: Paths) -> Values | None:
    """Return the values that the compiled pass reads of a line, None if it leaves it to others."""
    block = Block(np.frombuffer(line + b"\n", np.uint8), 1, last=True)
    lines = find_lines(block)
    if not len(lines):
        return None
    keys = keys_of(paths)
    actual = scan(block.data, lines, np.zeros(len(lines), np.uint8), keys, _is_utf8(line))
    if not actual.read[0]:
        return None
    values = {}
    for slot in Slot:
        if actual.start[slot, 0] >= 0:
            raw = line[actual.start[slot, 0] : actual.stop[slot, 0]]
            values[slot] = {
                2: lambda raw=raw: raw,
                3: lambda raw=raw: orjson.loads(b'"' + raw + b'"').encode(),
                4: lambda raw=raw: str(orjson.loads(raw)).encode(),
            }[int(actual.kind[slot, 0])]()
    return values


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


SCALARS = [
    *("null", "true", "false", "0", "-0", "-1", "200", "01", "1e5", "1E400", "NaN", "Infinity"),
    *("1743466140.630", "1743466140.5241024", "0.00001", "5.00", "-0.0", "1.", ".5", "+1", "--1"),
    *("12345678901234567890", "123456789012345.0", "1" * 40, "0." + "1" * 40, "9" * 15, "1" * 16),
    *(
        '""',
        '"-"',
        r'"\u002d"',
        r'"\u002D"',
        r'"\ud800"',
        r'"\ud83d\ude00"',
        r'"\u0000"',
        r'"\x2d"',
    ),
    *(r'"a\"b"', r'"\/a\\"', r'"\u00e9"', '"é"', '"\t"', r'"\"', '"a', '"\x7f"', "nul", "tru", ""),
    *(
        '"2026-03-02T10:00:00Z"',
        '"GET /a HTTP/1.1"',
        '"192.0.2.1"',
        '"/x?y=1"',
        '"' + "a" * 70 + '"',
    ),
]
KEYS = sorted(
    {key for paths in PATHS.values() for options in paths.values() for p in options for key in p}
    | {".".join(p) for paths in PATHS.values() for options in paths.values() for p in options}
    | {"other", "é", r"\u0074s", "ts\\", "0", "00"}
)
blanks = st.sampled_from(["", "", "", " ", "  ", "\t", "\r"])
scalars = st.sampled_from(SCALARS)


@st.composite
def objects(draw: Callable[..., Any], inner: st.SearchStrategy[str]) -> str:
    parts = draw(st.lists(st.tuples(st.sampled_from(KEYS), inner, blanks, blanks), max_size=6))
    comma = draw(st.sampled_from([",", ",", ",", ",,", " ,"]))
    end = draw(st.sampled_from(["}", "}", "}", "}", ",}", "]", ""]))
    return "{" + comma.join(f'{a}"{key}"{b}:{a}{value}{b}' for key, value, a, b in parts) + end


@st.composite
def lists(draw: Callable[..., Any], inner: st.SearchStrategy[str]) -> str:
    end = draw(st.sampled_from(["]", "]", "]", ",]", "}"]))
    return "[" + ",".join(draw(st.lists(inner, max_size=3))) + end


values = st.recursive(scalars, lambda inner: objects(inner) | lists(inner), max_leaves=12)
texts = objects(values)


@given(text=texts, name=st.sampled_from(sorted(PATHS)), end=blanks)
@settings(max_examples=100)
def test_what_the_pass_reads_is_what_the_object_says(text: str, name: str, end: str) -> None:
    line = (text + end).encode()
    actual = fast(line, PATHS[name])
    assert actual is None or actual == slow(line, PATHS[name])


@given(text=texts, name=st.sampled_from(sorted(PATHS)), bad=st.binary(max_size=2))
@settings(max_examples=40)
def test_a_block_is_read_as_its_lines_are(text: str, name: str, bad: bytes) -> None:
    """Whole records, with the lines that the pass leaves to others and what rejects a line."""
    good = b'{"ts":1743466140.5,"time":"2026-03-02T10:00:00Z","request":{"uri":"/a"},"other":[1]}'
    lines = [good, text.encode(), good[:20] + bad + good[20:], text.encode("latin-1"), good]
    assert_alike(b"\n".join(lines) + b"\n", PATHS[name])


def assert_alike(data: bytes, paths: Paths) -> None:
    """The same records whether the pass reads what it can or nothing."""
    block = Block(np.frombuffer(data, np.uint8), 1, last=True)
    by_pass = structured.parse(block, paths, SOURCE, READING)
    for row in rows_of(by_pass):
        wanted = slow(data.split(b"\n")[row.line - 1].strip(b" \t\r"), paths)
        if row.reason in ("not_the_format", "none"):
            assert (wanted is None) == (row.reason == "not_the_format")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(structured, "scan", _nothing)
        assert rows_of(structured.parse(block, paths, SOURCE, READING)) == rows_of(by_pass)


def _nothing(data: Any, lines: Any, reason: Any, keys: Any, is_utf8: bool) -> Any:
    return scan(data, lines, np.full(len(reason), Reject.BAD_TIME, np.uint8), keys, is_utf8)


GOOD = orjson.dumps(
    {
        "ts": 1743466140.63,
        "request": {
            "remote_ip": "2001:db8::1",
            "method": "GET",
            "host": "a.example",
            "uri": "/a",
            "headers": {"User-Agent": ["x"], "Referer": ["https://b.example/"]},
        },
        "status": 200,
    }
)


def test_damaged_lines_are_read_alike() -> None:
    dice = np.random.default_rng(5)
    seeds = [GOOD + b"\n", GOOD.replace(b"GET", b"G\\u0045T") + b"\n"]
    assert_alike(mutate.block(seeds, 1_000, dice).tobytes(), PATHS["caddy_json"])


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (GOOD, True),
        (GOOD.replace(b"/a", "/ü".encode()), True),
        (GOOD.replace(b"/a", b"/\xfc"), False),
        (GOOD.replace(b"/a", rb"/\u00fc\n\/"), True),
        (GOOD.replace(b"/a", rb"/\x41"), False),
        (GOOD.replace(b'"status"', b'"uri":1,"ts":2,"status"'), True),
        (GOOD.replace(b'"status"', b'"request":1,"status"'), False),
        (GOOD.replace(b":200", b":[[[[1]]]]"), False),
        (GOOD.replace(b'"status"', b'"x":[[[[1]]]],"status"'), True),
        (GOOD.replace(b'"status"', b'"x":' + b"[" * 20 + b"]" * 20 + b',"status"'), False),
        (GOOD.replace(b"63,", b"63 ,\t"), False),
        (b"{}", True),
        (b"[]", False),
        (b'{"a":1}}', False),
        (b'{"a":1,}', False),
        (b'{"a":[1,]}', False),
        (b'{"a":nulL}', False),
    ],
)
def test_which_lines_the_pass_reads(line: bytes, read: bool) -> None:
    actual = fast(line, PATHS["caddy_json"])
    assert (actual is not None) == read
    assert actual is None or actual == slow(line, PATHS["caddy_json"])


def test_the_last_of_equal_keys_counts() -> None:
    line = GOOD.replace(b'"status":200', b'"status":200,"status":null,"status":404')
    assert (fast(line, PATHS["caddy_json"]) or {})[Slot.STATUS] == b"404"


def test_numbers_as_python_writes_them() -> None:
    paths = {Slot.TIME: (("t",),)}
    cases = {b"1.50": b"1.5", b"2.00": b"2.0", b"0.00001": b"1e-05", b"-0": b"0", b"7": b"7"}
    for text, wanted in cases.items():
        assert fast(b'{"t":' + text + b"}", paths) == {Slot.TIME: wanted}
