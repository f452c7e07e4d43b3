"""Tests of a single value of a log line: is it an address, a time, a request, a host, an agent?

In: the bytes of one field. Out: True or False. Servers place fields differently, but values look
the same everywhere. Not here: which column of a log holds what (`column_roles`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from http import HTTPStatus
from ipaddress import ip_address
from typing import Final

import numpy as np

from temporal_assets.logs.fields.field_arrays import Fields
from temporal_assets.logs.fields.interpretation import interpret_fields
from temporal_assets.logs.fields.layouts import Slot
from temporal_assets.logs.fields.times import DAY
from temporal_assets.logs.privacy.pseudonyms import packed_address

_OLDEST: Final = 20 * 365 * DAY
"""Earliest time of a log, at the end of 1989: smaller numbers are counters."""
_NEWEST: Final = 150 * 365 * DAY
"""Latest time of a log, in 2119: larger numbers are counters."""

_MASKED: Final = re.compile(rb"[0-9]{1,3}(\.[0-9xX*]{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:]*:[x:]*")
"""Expression for addresses of which a part was masked."""
PORT: Final = re.compile(rb"(?:(\d{1,3}(?:\.\d{1,3}){3})|\[([0-9A-Fa-f:.]+)\]|(.+:.*:.+)):\d{1,5}")
"""Expression for an address of either kind with a port."""
REQUEST: Final = re.compile(rb"[A-Za-z]{3,32} +\S.* +HTTP/[0-9.]+ *", re.DOTALL)
"""Expression for a request line: method, target and protocol."""
METHOD: Final = re.compile(
    rb"GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE|PURGE|PROPFIND|REPORT|MKCOL|COPY|MOVE"
)
"""Expression for a method of HTTP or WebDAV."""
_PATH: Final = re.compile(rb"/.*", re.DOTALL)
"""Expression for the path of a request, with its query."""
_URL: Final = re.compile(rb"(?:https?|HTTPS?)://[^/ ]+.*", re.DOTALL)
"""Expression for an absolute URL."""
_HOST: Final = re.compile(
    rb"(?=.{4,255}$)(?:[a-z0-9_\x80-\xff-]+\.)+(?:[a-z]{2,24}|xn--[a-z0-9-]+)\.?(?::\d{1,5})?",
    re.IGNORECASE,
)
"""Expression for a full host name with a top-level domain, with or without a port."""
_FILE: Final = re.compile(
    rb"\.(?:html?|php\d?|js|css|json|xml|txt|asp|aspx|jsp|png|jpe?g|gif|svg|pdf|cgi|sock|log|conf"
    rb"|local|internal|py|rb|pl|java|go|so|dll|exe)$",
    re.IGNORECASE,
)
"""Endings of file names and of internal machines, which are no hosts of a site."""
_AGENT: Final = re.compile(
    rb"Mozilla/\d|Opera/\d|[A-Za-z][\w .+-]*/v?\d[\w.+-]*(?:[ +(;]|$)|.*https?://"
)
"""Expression for the beginning of a user agent: a product with a version, or a link."""
BARE_AGENT: Final = re.compile(rb"Mozilla/.*|.*[a-z].*(?:\+|%20).*", re.DOTALL)
"""Expression for a user agent whose blanks are written as `+` or `%20`."""
_NO_AGENT: Final = re.compile(rb"HTTPS?/|TCP_|[a-z]+/[a-z.+-]+$|https?://")
"""Expression for values that look like a product and are none: protocols, media types."""
SCHEME: Final = re.compile(rb"https?", re.IGNORECASE)
"""Expression for the scheme of a request."""
STATUS: Final = re.compile(rb"(?:[A-Z_]+/)?(\d{3})")
"""Expression for a status code, also behind a word of a cache."""
DAY_TEXT: Final = re.compile(rb"\d{4}[-/]\d\d[-/]\d\d")
"""Expression for a date in a field of its own."""
CLOCK_TEXT: Final = re.compile(rb"\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?")
"""Expression for a time of day in a field of its own, with or without a zone."""
NUMBER: Final = re.compile(rb"\d+(?:\.\d+)?")
"""Expression for a number, such as seconds since 1970."""

_STATUSES: Final = frozenset(int(status) for status in HTTPStatus) | {444, 460, 463, 464, 499, 520}
"""Status codes of servers, and those that nginx and load balancers write for their own purposes."""

_FIRST_PORT_OF_CLIENTS: Final = 32_768
"""Lowest port that Linux gives to clients."""

_NO_ANSWER: Final = (b"0", b"000", b"-1")
"""Statuses that servers log for requests whose client left before an answer."""


def is_url(value: bytes) -> bool:
    """Return True for an absolute http(s) URL."""
    return _URL.fullmatch(value) is not None


def is_target(value: bytes) -> bool:
    """Return True for a path or an absolute URL."""
    return _PATH.fullmatch(value) is not None or is_url(value)


def is_host(value: bytes) -> bool:
    """Return True for a full host name, with or without a port."""
    return (
        _HOST.fullmatch(value) is not None
        and _FILE.search(value) is None
        and not is_address(value)
        and not value.rpartition(b".")[2].isupper()
    )


def is_agent(value: bytes) -> bool:
    """Return True for a text that looks like a user agent."""
    return _AGENT.match(value) is not None and _NO_AGENT.match(value) is None


def is_address(value: bytes) -> bool:
    """Return True for an IP address, whole or masked, with or without a port."""
    if packed_address(value) is not None or _MASKED.fullmatch(value) is not None:
        return True
    match = PORT.fullmatch(value)
    return match is not None and packed_address(match[1] or match[2] or match[3]) is not None


def is_upstream(value: bytes) -> bool:
    """Return True for a private address with a port that no client has: an upstream server."""
    match = PORT.fullmatch(value)
    own = match is not None and packed_address(match[1] or match[2] or match[3])
    if not own:
        return False
    return ip_address(own).is_private and int(value.rpartition(b":")[2]) < _FIRST_PORT_OF_CLIENTS


def is_address_list(value: bytes) -> bool:
    """Return True for the value of X-Forwarded-For: addresses, the first of them a client's."""
    first = value.split(b",")[0].strip()
    return is_address(first) or first == b"unknown"


def is_status(value: bytes) -> bool:
    """Return True for a status code, also within a word of a cache (`TCP_HIT/200`)."""
    match = STATUS.fullmatch(value)
    return value in _NO_ANSWER or (match is not None and int(match[1]) in _STATUSES)


def fully(pattern: re.Pattern[bytes]) -> Callable[[bytes], bool]:
    """Return a test of whether a pattern matches a whole value."""
    return lambda value: pattern.fullmatch(value) is not None


def are_times(values: Sequence[bytes]) -> list[bool]:
    """Return flags of the values that are times in the range of logs."""
    data = np.frombuffer(b"\n".join(values) + b"\n", np.uint8)
    fields = Fields.empty(data, len(values), {int(Slot.TIME), int(Slot.TARGET)})
    lengths = np.array([len(value) for value in values], np.int64)
    stops = np.cumsum(lengths + 1) - 1
    fields.start[:] = fields.stop[:] = -1
    for slot in (Slot.TIME, Slot.TARGET):
        fields.start[slot], fields.stop[slot] = stops - lengths, stops
    interpret_fields(fields)
    return [bool(_OLDEST <= time <= _NEWEST) for time in fields.time]
