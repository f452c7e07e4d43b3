"""Log lines within the JSON of a log shipper.

In: a block of JSON lines, and the path of the log's line in each. Out: a block of the log's lines.
Not here: which format the lines within have (`detection`).

Docker and Fluent Bit put a line under `log`, Vector and Filebeat under `message`, journald under
`MESSAGE`, Kafka Connect under `payload` or `value`; Cloud Logging under `textPayload` or as an
object under `jsonPayload`. OpenTelemetry has many records a line, each a text or a list of
attributes. Matomo has a visit a line, with its actions; Google Analytics has an event a line, with
its parameters in a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import orjson

from temporal_assets.logs.formats.structured import Path, dotted
from temporal_assets.logs.read.records import Block

_OTEL: Final = ("resourceLogs",)
VISIT: Final = ("actionDetails",)
"""Path of the actions of a visit, as Matomo's `Live.getLastVisitsDetails` has them."""
EVENT: Final = ("event_params",)
"""Path of the parameters of an event, as Google Analytics writes them into BigQuery."""

_OBJECT: Final = ("{}",)
"""Path that stands for the object of a line with its time outside, as in files of Fluent Bit and
Fluentd."""

_TEXT: Final = ('""',)
"""Path that stands for a line that is a string of JSON."""

WRAPPERS: Final[tuple[Path, ...]] = (
    _OTEL,
    *map(
        dotted,
        ["log", "message", "MESSAGE", "payload", "value", "line", "msg", "body", "event.original"],
    ),
    *map(dotted, ["textPayload", "jsonPayload"]),
    _OBJECT,
    _TEXT,
)
"""Paths at which shippers put a line, or an object that would have been one."""


def may_hold_lines(sample: bytes) -> bool:
    """Return True if lines may be within JSON."""
    return b"{" in sample or sample.startswith(b'"')


def place_of(path: Path) -> str:
    """Return the path of a line within its JSON, in words for people."""
    if path == _OBJECT:
        return "a record with its time outside"
    return "a string of JSON" if path == _TEXT else ".".join(path)


def unwrapped(block: Block, path: Path) -> Block:
    """Return a block of the lines within; a line without any stays, to be rejected."""
    lines = block.data.tobytes().split(b"\n")
    is_whole = not lines[-1]
    if is_whole:
        lines.pop()
    within = [text for line in lines for text in _within(line, path)]
    text = b"\n".join(within) + (b"\n" if is_whole else b"")
    return Block(np.frombuffer(text, np.uint8), block.first_line, block.last, block.cut)


def lines_within(sample: bytes, path: Path) -> bytes:
    """Return the lines within those of a sample; empty if most have none."""
    lines = [line for line in sample.splitlines() if line.strip()]
    texts_of_line = [(_texts(line, path) or []) for line in lines]
    if 2 * sum(map(bool, texts_of_line)) <= len(lines):
        return b""
    return b"".join(text + b"\n" for texts in texts_of_line for text in texts)


def _within(line: bytes, path: Path) -> list[bytes]:
    texts = _texts(line, path)
    return [line] if texts is None else texts


def _texts(line: bytes, path: Path) -> list[bytes] | None:
    """Return the lines within one line; None if there are none."""
    time, record = _record(line)
    if record is None:
        return None
    if path in _UNFOLDED:
        texts = list(_UNFOLDED[path](record))
        return texts or None
    value: Any = record
    if path == _OBJECT:
        value = None if time is None or not isinstance(record, dict) else {"date": time} | record
    elif path != _TEXT or not isinstance(record, str):
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
    text = _line_of(value)
    return None if text is None else [text]


def _record(line: bytes) -> tuple[Any, Any]:
    """Return the value of a line, and its time where that is outside of it; None for neither.

    Fluent Bit writes `tag: [time, {…}]` or `[[time, {}], {…}]` into a file, Fluentd the time, the
    tag and the object, with tabs between.
    """
    start = line.find(b"{")
    time: Any = None
    if line.startswith(b'"'):
        start = 0
    elif start > 0 and line.rstrip().endswith(b"]"):
        start = line.find(b"[")
    elif start > 0 and (outside := _FLUENTD.match(line)):
        time = outside[1].decode("utf-8", "replace")
    if start < 0:
        return None, None
    try:
        value: Any = orjson.loads(line[start:])
    except orjson.JSONDecodeError:
        return None, None
    if isinstance(value, list):
        if len(value) != 2:
            return None, None
        time, value = value[0][0] if isinstance(value[0], list) and value[0] else value[0], value[1]
    return time, value


_FLUENTD: Final = re.compile(rb"(\d{4}-\d\d-\d\d[T ][^\t]+)\t[^\t{]*\t\{")
"""Expression for the time and the tag that Fluentd writes before the object."""


def _line_of(value: Any) -> bytes | None:
    if isinstance(value, dict):
        return orjson.dumps(value)
    if not isinstance(value, str):
        return None
    return value.strip("\r\n").replace("\n", " ").encode()


def _otel(record: Any) -> Iterator[bytes]:
    """Yield records of OTLP as JSON: the text of each, or its attributes with its time."""
    for resource in _list(record, "resourceLogs"):
        for scope in _list(resource, "scopeLogs"):
            for entry in _list(scope, "logRecords"):
                if not isinstance(entry, dict):
                    continue
                yield from _otel_line(entry)


def _otel_line(entry: dict[str, Any]) -> Iterator[bytes]:
    """Yield the text of a record, or its attributes with its time where these name the page."""
    body, fields = _any_value(entry.get("body")), _attributes(entry)
    if isinstance(body, dict):
        body = next((body[key] for key in _OTEL_TEXTS if isinstance(body.get(key), str)), body)
    is_named = isinstance(body, str) and body.count(" ") < _BLANKS and _OTEL_PAGES & fields.keys()
    if isinstance(body, str) and body and not is_named:
        yield _line_of(body) or b""
    elif fields or isinstance(body, dict):
        inner = body if isinstance(body, dict) else {}
        yield orjson.dumps({"timeUnixNano": entry.get("timeUnixNano")} | inner | fields)


_OTEL_TEXTS: Final = ("log", "message", "MESSAGE")
"""Keys of a record's body that hold the line, as Fluent Bit and Fluentd hand it on."""

_OTEL_PAGES: Final = frozenset({"url.path", "url.full", "url.original", "http.target", "http.url"})
"""Attributes that name the page, by OpenTelemetry's conventions."""

_BLANKS: Final = 6
"""Number of blanks below which a body is a name or a message, and no line of an access log."""


def _visit(record: Any) -> Iterator[bytes]:
    """Yield actions of a visit in their order; a page was reached from the one before it."""
    came_from = record.get("referrerUrl") if isinstance(record, dict) else None
    for action in _list(record, VISIT[0]):
        if not isinstance(action, dict):
            continue
        is_page = action.get("type") == "action"
        yield orjson.dumps(
            {
                "time": action.get("timestamp"),
                "visitor": record.get("visitorId") or record.get("visitIp"),
                "event": "page_view" if is_page else action.get("type"),
                "url": action.get("url"),
                "referrer": came_from,
            }
        )
        came_from = action.get("url") if is_page else came_from


def _event(record: Any) -> Iterator[bytes]:
    """Yield an event with what its parameters say of the page."""
    pairs = [pair for pair in _list(record, EVENT[0]) if isinstance(pair, dict)]
    if not pairs or "event_name" not in record:
        return
    named = {pair.get("key"): pair.get("value") for pair in pairs}
    url, referrer = (
        value.get("string_value") if isinstance(value := named.get(name), dict) else None
        for name in ("page_location", "page_referrer")
    )
    yield orjson.dumps(
        {
            "time": record.get("event_timestamp"),
            "visitor": record.get("user_pseudo_id"),
            "event": record["event_name"],
            "url": url,
            "referrer": referrer,
        }
    )


def _list(value: Any, key: str) -> list[Any]:
    entries = value.get(key) if isinstance(value, dict) else None
    return entries if isinstance(entries, list) else []


def _attributes(entry: Any) -> dict[str, Any]:
    pairs = [pair for pair in _list(entry, "attributes") if isinstance(pair, dict)]
    return {str(pair.get("key")): _any_value(pair.get("value")) for pair in pairs}


_UNFOLDED: Final = {_OTEL: _otel, VISIT: _visit, EVENT: _event}
"""Functions for objects that hold several lines, by path."""


def _any_value(value: Any) -> Any:
    """Return what an AnyValue of OTLP holds: a text, a number, or the first of a list."""
    if not isinstance(value, dict):
        return None
    if "kvlistValue" in value:
        pairs = [pair for pair in _list(value["kvlistValue"], "values") if isinstance(pair, dict)]
        return {str(pair.get("key")): _any_value(pair.get("value")) for pair in pairs}
    if "arrayValue" in value:
        return next(map(_any_value, _list(value["arrayValue"], "values")), None)
    return next((value[k] for k in ("stringValue", "intValue", "doubleValue") if k in value), None)
