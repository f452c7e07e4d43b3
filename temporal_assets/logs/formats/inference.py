"""Inference of the fields of log lines from their values in a sample.

Here: dividing sample lines, recognising values (addresses, times, requests, hosts, URLs, agents),
and writing the result as the `log_format` of nginx or Apache. Not here: choosing between that and a
format with a name (`detect`), reading whole logs (`tokenize`).

Servers are often configured to write a known format with a few more fields. Their positions and
meaning differ from server to server; values look the same everywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

import numpy as np

from temporal_assets.logs.fields.layouts import Slot
from temporal_assets.logs.fields.times import DAY
from temporal_assets.logs.fields.tokenize import Fields, interpret_fields
from temporal_assets.logs.privacy.pseudonyms import packed_address

_LONGEST: Final = 8192
"""Length above which a sample line is ignored."""

_MOST_FIELDS: Final = 80
"""Most fields of a line that are read; access logs have up to forty."""

_ALIKE: Final = 0.6
"""Share of lines that must be divided in the same way."""

_NEARLY_ALL: Final = 0.9
_MOST: Final = 0.5

_OLDEST: Final = 20 * 365 * DAY
_NEWEST: Final = 150 * 365 * DAY
"""Range of times, 1990 to 2120: other numbers are counters."""

_EMPTY: Final = (b"", b"-")

_MASKED: Final = re.compile(rb"[0-9]{1,3}(\.[0-9xX*]{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:]*:[x:]*")
_PORT: Final = re.compile(rb"(?:(\d{1,3}(?:\.\d{1,3}){3})|\[([0-9A-Fa-f:.]+)\]|(.+:.*:.+)):\d{1,5}")
_REQUEST: Final = re.compile(rb"[A-Za-z]{3,32} +\S.* +HTTP/[0-9.]+ *", re.DOTALL)
_METHOD: Final = re.compile(
    rb"GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE|PURGE|PROPFIND|REPORT|MKCOL|COPY|MOVE"
)
_PATH: Final = re.compile(rb"/.*", re.DOTALL)
_URL: Final = re.compile(rb"(?:https?|HTTPS?)://[^/ ]+.*", re.DOTALL)
_HOST: Final = re.compile(
    rb"(?=.{4,255}$)(?:[a-z0-9_\x80-\xff-]+\.)+(?:[a-z]{2,24}|xn--[a-z0-9-]+)\.?(?::\d{1,5})?",
    re.IGNORECASE,
)
_FILE: Final = re.compile(
    rb"\.(?:html?|php\d?|js|css|json|xml|txt|asp|aspx|jsp|png|jpe?g|gif|svg|pdf|cgi|sock|log|conf"
    rb"|local|internal|py|rb|pl|java|go|so|dll|exe)$",
    re.IGNORECASE,
)
"""Endings of file names and of internal machines, which are no hosts of a site."""
_AGENT: Final = re.compile(
    rb"Mozilla/\d|Opera/\d|[A-Za-z][\w .+-]*/v?\d[\w.+-]*(?:[ +(;]|$)|.*https?://"
)
_BARE_AGENT: Final = re.compile(rb"Mozilla/.*|.*[a-z].*(?:\+|%20).*", re.DOTALL)
_NO_AGENT: Final = re.compile(rb"HTTPS?/|TCP_|[a-z]+/[a-z.+-]+$|https?://")
_SCHEME: Final = re.compile(rb"https?", re.IGNORECASE)
_STATUS: Final = re.compile(rb"(?:[A-Z_]+/)?(\d{3})")
_DAY: Final = re.compile(rb"\d{4}[-/]\d\d[-/]\d\d")
_CLOCK: Final = re.compile(rb"\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?")
_NUMBER: Final = re.compile(rb"\d+(?:\.\d+)?")

_STATUSES: Final = frozenset(int(status) for status in HTTPStatus) | {444, 460, 463, 464, 499, 520}
"""Status codes of servers, and those that nginx and load balancers write for their own purposes."""

_FIRST_PORT_OF_CLIENTS: Final = 32_768

_NO_ANSWER: Final = (b"0", b"000", b"-1")


class Delimiter(Enum):
    """The way a field of a sample line is delimited."""

    WORD = "{}"
    BRACKETS = "[{}]"
    QUOTES = '"{}"'


@dataclass(frozen=True, slots=True)
class Inferred:
    """A log format that was inferred from values."""

    directive: str
    """The format as `nginx:…` or `apache:…`, as it can be given for a source."""
    doubts: tuple[str, ...] = ()
    """Sentences on ambiguous fields."""


Token = tuple[Delimiter, bytes]
Shape = tuple[Delimiter, ...]


@dataclass(frozen=True, slots=True)
class _Column:
    """Values of one field over all sample lines that are divided in the same way."""

    index: int
    kind: Delimiter
    values: tuple[bytes, ...]

    @property
    def filled(self) -> list[bytes]:
        return [value for value in self.values if value not in _EMPTY]

    def share(self, test: Callable[[bytes], bool], of_all: bool = False) -> float:
        """Return the share of non-empty values (or of all) that pass a test."""
        filled = self.filled
        size = len(self.values) if of_all else len(filled)
        return sum(map(test, filled)) / size if size else 0.0

    def is_mostly(self, test: Callable[[bytes], bool], least: float = _NEARLY_ALL) -> bool:
        return bool(self.filled) and self.share(test) >= least


def infer(sample: bytes, host: str | None = None) -> Inferred | None:
    """Return the format that the values of some lines indicate; None if too little is known.

    With `host`, which a person has named, a field counts as the host only if it has that value.
    """
    lines = [line.rstrip(b"\r") for line in sample.split(b"\n") if line.strip()]
    lines = [line for line in lines if len(line) <= _LONGEST]
    separator = b"\t" if _are_parted_by_tabs(lines) else b" "
    rows = [row for line in lines if (row := list(_tokens(line, separator)))]
    shape = _common_shape(rows, len(lines))
    if shape is None:
        return None
    alike = [row for row in rows if _has_shape(row, shape)]
    columns = [_Column(i, kind, tuple(row[i][1] for row in alike)) for i, kind in enumerate(shape)]
    roles = _Roles(columns, host.encode() if host else None)
    if not roles.are_enough():
        return None
    is_padded = separator == b" " and any(b"  " in _outside_quotes(line) for line in lines)
    return Inferred(_directive(columns, roles, separator, is_padded), tuple(roles.doubts))


def count_fields(line: bytes) -> int:
    """Return the number of fields of a line, separated by blanks."""
    return sum(1 for _ in _tokens(line.strip(), b" "))


# Dividing lines ------------------------------------------------------------------------------


def _are_parted_by_tabs(lines: Sequence[bytes]) -> bool:
    """Return True if lines have tabs, mostly the same number."""
    counts = Counter(line.count(b"\t") for line in lines)
    usual, often = counts.most_common(1)[0] if counts else (0, 0)
    return usual >= 3 and often >= _ALIKE * len(lines)


def _outside_quotes(line: bytes) -> bytes:
    return re.sub(rb'"(?:\\.|[^"\\])*"', b'""', line)


def _tokens(line: bytes, separator: bytes) -> Iterator[Token]:
    """Yield the fields of a line, divided as `tokenize` does; none where that is impossible."""
    at, count = 0, 0
    while at < len(line) and count < _MOST_FIELDS:
        if line[at : at + 1] == separator:
            at += 1  # runs of blanks separate once
            continue
        kind, start, stop, after = _token(line, at, separator)
        yield kind, line[start:stop]
        count += 1
        at = after + 1


def _token(line: bytes, at: int, separator: bytes) -> tuple[Delimiter, int, int, int]:
    """Return kind, start and stop of the field at a position, and where its separator is."""
    first = line[at : at + 1]
    if first == b"[":
        end = line.find(b"]", at)
        if end >= 0 and line[end + 1 : end + 2] in (separator, b""):
            return Delimiter.BRACKETS, at + 1, end, end + 1
    if first == b'"':
        end = _closing_quote(line, at + 1, separator)
        if end >= 0:
            return Delimiter.QUOTES, at + 1, end, end + 1
    end = line.find(separator, at)
    end = len(line) if end < 0 else end
    return Delimiter.WORD, at, end, end


def _closing_quote(line: bytes, at: int, separator: bytes) -> int:
    while at < len(line):
        if line[at : at + 1] == b"\\":
            at += 2
        elif line[at : at + 1] == b'"' and line[at + 1 : at + 2] in (separator, b""):
            return at
        else:
            at += 1
    return -1


def _common_shape(rows: Sequence[Sequence[Token]], lines: int) -> Shape | None:
    """Return the longest sequence of delimiters that most lines begin with, or None."""
    shapes = [tuple(kind for kind, _ in row) for row in rows]
    for length in range(max(map(len, shapes), default=0), 3, -1):
        by_length = Counter(shape[:length] for shape in shapes if len(shape) >= length)
        for shape, _ in by_length.most_common(3):
            if sum(_has_shape(row, shape) for row in rows) >= _ALIKE * lines:
                return shape
    return None


def _has_shape(row: Sequence[Token], shape: Shape) -> bool:
    """Return True if a line begins with these delimiters; `-` may stand without quotes."""
    return len(row) >= len(shape) and all(
        kind is wanted or (wanted is Delimiter.QUOTES and value == b"-")
        for (kind, value), wanted in zip(row, shape, strict=False)
    )


# Recognising values --------------------------------------------------------------------------


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
        and not _is_address(value)
        and not value.rpartition(b".")[2].isupper()
    )


def is_agent(value: bytes) -> bool:
    """Return True for a text that looks like a user agent."""
    return _AGENT.match(value) is not None and _NO_AGENT.match(value) is None


def _is_address(value: bytes) -> bool:
    if packed_address(value) is not None or _MASKED.fullmatch(value) is not None:
        return True
    match = _PORT.fullmatch(value)
    return match is not None and packed_address(match[1] or match[2] or match[3]) is not None


def _is_upstream(value: bytes) -> bool:
    """Return True for a private address with a port that no client has: an upstream server."""
    match = _PORT.fullmatch(value)
    own = match is not None and packed_address(match[1] or match[2] or match[3])
    if not own:
        return False
    return ip_address(own).is_private and int(value.rpartition(b":")[2]) < _FIRST_PORT_OF_CLIENTS


def _is_address_list(value: bytes) -> bool:
    first = value.split(b",")[0].strip()
    return _is_address(first) or first == b"unknown"


def _is_status(value: bytes) -> bool:
    match = _STATUS.fullmatch(value)
    return value in _NO_ANSWER or (match is not None and int(match[1]) in _STATUSES)


def _fully(pattern: re.Pattern[bytes]) -> Callable[[bytes], bool]:
    return lambda value: pattern.fullmatch(value) is not None


def _times(values: Sequence[bytes]) -> list[bool]:
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


# What each column is -------------------------------------------------------------------------


class _Roles:
    """Assignment of fields to columns, decided one field after another."""

    def __init__(self, columns: Sequence[_Column], host: bytes | None) -> None:
        self.columns = columns
        self.of: dict[int, Slot] = {}
        """Field of each column that has one, by column index."""
        self.doubts: list[str] = []
        self._set(Slot.TIME, self._time())
        self._request()
        self._set(Slot.STATUS, self._status())
        self._addresses()
        self._agent_and_referrer()
        self._set(Slot.HOST, self._host(host))
        self._set(Slot.SCHEME, self._first(_fully(_SCHEME)))
        self._forwarded_of_nobody()

    def are_enough(self) -> bool:
        """Return True if the assigned fields suffice to read lines."""
        there = set(self.of.values())
        is_requested = Slot.REQUEST in there or Slot.TARGET in there
        return {Slot.TIME, Slot.ADDRESS} <= there and is_requested

    def _set(self, slot: Slot, column: _Column | None) -> None:
        if column is not None:
            self.of[column.index] = slot

    def _at(self, *slots: Slot) -> int:
        """Return the first column that has one of some fields, or 0."""
        return min((i for i, slot in self.of.items() if slot in slots), default=0)

    def _free(self) -> Iterator[_Column]:
        return (column for column in self.columns if column.index not in self.of)

    def _first(self, test: Callable[[bytes], bool], least: float = _NEARLY_ALL) -> _Column | None:
        return next((column for column in self._free() if column.is_mostly(test, least)), None)

    def _time(self) -> _Column | None:
        """Return the time column; a date column before it is assigned too."""
        columns = [c for c in self.columns if sum(_times(c.values)) >= _NEARLY_ALL * len(c.values)]
        written = [c for c in columns if not c.is_mostly(_fully(_NUMBER))]
        bracketed = [c for c in written if c.kind is Delimiter.BRACKETS]
        for some in (bracketed, written):
            if some:
                return some[0]
        for date, clock in zip(self.columns, self.columns[1:], strict=False):
            if date.is_mostly(_fully(_DAY)) and clock.is_mostly(_fully(_CLOCK)):
                self._set(Slot.DATE, date)
                return clock
        return columns[0] if columns else None

    def _request(self) -> None:
        """Assign the request as a whole, or its method and target separately, or a URL alone."""
        request = self._first(_fully(_REQUEST), _MOST)
        if request is not None:
            return self._set(Slot.REQUEST, request)
        method = self._first(_fully(_METHOD))
        self._set(Slot.METHOD, method)
        place = method.index if method else -1
        columns = [column for column in self._free() if column.is_mostly(is_target)]
        behind = (column for column in columns if column.index > place)
        target = next(behind, columns[0] if columns else None)
        if method is None and target is not None and not target.is_mostly(is_url):
            target = None  # a path of whatever
        return self._set(Slot.TARGET, target)

    def _status(self) -> _Column | None:
        """Return the first status column behind the request, or else the first of all.

        A column of zeros is no status.
        """
        place = self._at(Slot.REQUEST, Slot.TARGET)
        columns = [
            column
            for column in self._free()
            if column.is_mostly(_is_status) and column.is_mostly(_fully(_STATUS), _MOST)
        ]
        behind = (column for column in columns if column.index > place)
        return next(behind, columns[0] if columns else None)

    def _addresses(self) -> None:
        """Assign the visitor's address and X-Forwarded-For."""
        columns = [
            column
            for column in self._free()
            if column.share(_is_address_list, of_all=True) >= _MOST
        ]
        columns = [
            column for column in columns if not column.is_mostly(_is_upstream, 1.0)
        ] or columns
        alone = [column for column in columns if column.kind is Delimiter.WORD] or columns
        if alone:
            visitor = self._visitor(alone)
            self._set(Slot.ADDRESS, visitor)
        elif self.columns[0].index not in self.of and self._is_followed_by_nothing():
            self._set(Slot.ADDRESS, self.columns[0])
        quoted = (column for column in self._free() if column.kind is Delimiter.QUOTES)
        forwarded = (
            column
            for column in quoted
            if column.is_mostly(_is_address_list) and not column.is_mostly(_is_upstream, _MOST)
        )
        self._set(Slot.FORWARDED, next(forwarded, None))

    def _visitor(self, columns: Sequence[_Column]) -> _Column:
        """Return the first address column, unless it hardly varies and a later one does.

        On a server of many sites, a later column that varies may be the sites' addresses.
        """
        first, most = columns[0], max(columns, key=lambda column: len(set(column.filled)))
        visitors, sites = len(set(most.filled)), self._most_hosts()
        if len(set(first.filled)) * 4 <= visitors and sites * 2 < visitors:
            self.doubts.append(
                f"field {first.index + 1} is an address that hardly changes: field"
                f" {most.index + 1} is taken for the visitor"
            )
            return most
        return first

    def _most_hosts(self) -> int:
        """Return the largest number of different hosts in any column."""
        hosts = (column for column in self._free() if column.is_mostly(is_host))
        return max((len(set(column.filled)) for column in hosts), default=0)

    def _is_followed_by_nothing(self) -> bool:
        """Return True if the first word is a visitor by name or pseudonym.

        An empty `identd` field follows it.
        """
        second = self.columns[1]
        return (
            self.columns[0].kind is Delimiter.WORD
            and not second.filled
            and len(self.columns[0].filled) == len(self.columns[0].values)
        )

    def _agent_and_referrer(self) -> None:
        agents = [column for column in self._free() if column.is_mostly(is_agent, _MOST)]
        quoted = [column for column in agents if column.kind is Delimiter.QUOTES]
        # Words with a slash are many things; agents are written with `+` or `%20` for blanks.
        bare = [column for column in agents if column.is_mostly(_fully(_BARE_AGENT), _MOST)]
        agent = max(quoted or bare, key=lambda column: len(set(column.filled)), default=None)
        self._set(Slot.AGENT, agent)
        links = [
            column
            for column in self._free()
            if column.is_mostly(is_url, _MOST) and not self._is_of_the_request(column)
        ]
        place = agent.index if agent else len(self.columns)
        if links:
            links.sort(key=lambda column: abs(place - column.index))
            return self._set(Slot.REFERRER, links[0])
        for column in self._free():
            is_quoted = column.kind is Delimiter.QUOTES
            if agent and is_quoted and not column.filled and column.index == place - 1:
                return self._set(Slot.REFERRER, column)
        return None

    def _forwarded_of_nobody(self) -> None:
        """Assign an empty quoted field behind the agent to X-Forwarded-For."""
        place = self._at(Slot.AGENT)
        if Slot.FORWARDED in self.of.values() or not place:
            return
        behind = self.columns[place + 1 : place + 2]
        is_quoted = [column.kind is Delimiter.QUOTES for column in behind] == [True]
        if is_quoted and behind[0].index not in self.of and not behind[0].filled:
            self._set(Slot.FORWARDED, behind[0])

    def _is_of_the_request(self, column: _Column) -> bool:
        """Return True if a column's URLs repeat the requests of the same lines."""
        place = next((i for i, s in self.of.items() if s in (Slot.REQUEST, Slot.TARGET)), None)
        if place is None:
            return False
        requests = self.columns[place].values
        same = sum(
            url.partition(b"://")[2].partition(b"/")[2] in request and url.count(b"/") > 3
            for url, request in zip(column.values, requests, strict=True)
        )
        return same > _MOST * len(column.filled)

    def _host(self, named: bytes | None) -> _Column | None:
        """Return the host column of the site: of several, the one that occurs in referrers most."""
        columns = [
            column
            for column in self._free()
            if column.is_mostly(is_host)
            and len(column.filled) >= _MOST * len(column.values)
            and not self._is_machine(column)
        ]
        if named is not None:
            return next((c for c in columns if named in map(_bare, c.filled)), None)
        if not columns:
            return None
        linking = _hosts_of(self._values(Slot.REFERRER))
        linking_count = {
            c.index: sum(linking[_bare(value)] for value in set(c.filled)) for c in columns
        }
        best = max(columns, key=lambda column: (linking_count[column.index], -column.index))
        if len(columns) > 1 and not linking_count[best.index]:
            others = ", ".join(str(c.index + 1) for c in columns if c is not best)
            self.doubts.append(
                f"field {best.index + 1} is taken for the host of the site; field {others} looks"
                " like one as well, and no referrer of the first lines tells"
            )
        return best

    def _is_machine(self, column: _Column) -> bool:
        """Return True if a host column is a log shipper's machine, by a time or tag beside it."""
        if column.index > self._at(Slot.ADDRESS):
            return False
        before, behind = self.columns[: column.index][-1:], self.columns[column.index + 1 :][:1]
        is_dated = any(sum(_times(c.values)) or c.is_mostly(_fully(_CLOCK)) for c in before)
        return is_dated or any(c.is_mostly(lambda value: value.endswith(b":")) for c in behind)

    def _values(self, slot: Slot) -> Iterable[bytes]:
        return (value for i, s in self.of.items() if s is slot for value in self.columns[i].filled)


def _bare(host: bytes) -> bytes:
    return host.lower().partition(b":")[0].rstrip(b".")


def _hosts_of(urls: Iterable[bytes]) -> Counter[bytes]:
    hosts: Counter[bytes] = Counter()
    for url in urls:
        try:
            host = urlsplit(url).hostname
        except ValueError:
            continue
        if host:
            hosts[host] += 1
    return hosts


# Writing it down -----------------------------------------------------------------------------

_NGINX: Final = {
    Slot.TIME: "$time_iso8601",
    Slot.ADDRESS: "$remote_addr",
    Slot.FORWARDED: "$http_x_forwarded_for",
    Slot.REQUEST: "$request",
    Slot.METHOD: "$request_method",
    Slot.TARGET: "$request_uri",
    Slot.HOST: "$host",
    Slot.SCHEME: "$scheme",
    Slot.STATUS: "$status",
    Slot.REFERRER: "$http_referer",
    Slot.AGENT: "$http_user_agent",
}
_APACHE: Final = {
    Slot.DATE: "%{%Y-%m-%d}t",
    Slot.TIME: "%{%H:%M:%S}t",
    Slot.ADDRESS: "%a",
    Slot.FORWARDED: "%{X-Forwarded-For}i",
    Slot.REQUEST: "%r",
    Slot.METHOD: "%m",
    Slot.TARGET: "%U%q",
    Slot.HOST: "%V",
    Slot.STATUS: "%>s",
    Slot.REFERRER: "%{Referer}i",
    Slot.AGENT: "%{User-Agent}i",
}


def _directive(columns: Sequence[_Column], roles: _Roles, separator: bytes, is_padded: bool) -> str:
    """Return the inferred format as a directive of nginx or Apache, without any value."""
    is_dated = Slot.DATE in roles.of.values()
    server, names = ("apache", _APACHE) if is_dated else ("nginx", _NGINX)
    last = max(roles.of)
    parts = []
    for column in columns[: last + 1]:
        slot = roles.of.get(column.index)
        name = "-" if slot is None else _name(column, slot, names)
        before_brackets = (
            column.index < last and columns[column.index + 1].kind is Delimiter.BRACKETS
        )
        if slot is None and before_brackets and column.kind is Delimiter.WORD and column.index:
            name = "%u" if is_dated else "$remote_user"
        parts.append(column.kind.value.format(name))
    if separator == b"\t":
        return f"{server}:" + "\\t".join(parts)
    gap = "  " if is_padded else " "  # any run of blanks separates
    return f"{server}:" + gap.join((parts[0], " ".join(parts[1:])))


def _name(column: _Column, slot: Slot, names: dict[Slot, str]) -> str:
    """Return the variable of the server for a field; for times there are several."""
    if slot is Slot.ADDRESS and _has_ports(column):
        return "$remote_addr:$remote_port" if names is _NGINX else "%a:%{remote}p"
    if slot is Slot.TIME and names is _NGINX:
        if column.is_mostly(_fully(_NUMBER)):
            return "$msec"
        if column.kind is not Delimiter.WORD:
            return "$time_local"
    return names.get(slot, "-")


def _has_ports(column: _Column) -> bool:
    """Return True if a port follows every IPv4 address; with IPv6 alone that cannot be decided."""
    dotted = [value for value in column.filled if b"." in value]
    return bool(dotted) and all(map(_fully(_PORT), dotted))


_HAPROXY: Final = re.compile(
    rb"(?:.* )?\S+:\d+ \[[^\]]+\] \S+ \S+ \S+ -?\d+ \S+ \S+ \S+ \S+ \S+ \S+"
    rb" \{(.*?)\}(?: \{.*?\})? \"[^\"]*\"?"
)
"""Expression for a line of HAProxy with captured headers, separated by bars."""

_HAPROXY_BEFORE: Final = (
    r"(?:.* )?(?P<address>\S+):\d+ \[(?P<time>[^\]]+)\] \S+ \S+ \S+ (?P<status>-?\d+)"
    r" \S+ \S+ \S+ \S+ \S+ \S+"
)


def captured(lines: bytes, host: str) -> str | None:
    """Return a pattern for HAProxy lines with captured headers, `{host|referrer|agent}`.

    None if neither a host was captured, nor referrers for a known `host`: nothing else is worth a
    pattern, which Python matches slowly.
    """
    matches = [match for line in lines.splitlines() if (match := _HAPROXY.match(line))]
    rows = [match[1].split(b"|") for match in matches]
    sizes = Counter(map(len, rows))
    if not rows or sizes.most_common(1)[0][1] < len(rows):
        return None  # a bar within a header moves those behind it
    slots = [_slot_of(column) for column in zip(*rows, strict=True)]
    if slots.count("host") != 1 and not (host and slots.count("referrer") == 1):
        return None
    groups = [
        "[^|]*?" if slot is None or slots.count(slot) > 1 else f"(?P<{slot}>[^|]*?)"
        for slot in slots
    ]
    headers = r"\|".join(groups)
    return rf'{_HAPROXY_BEFORE} \{{{headers}\}}(?: \{{.*?\}})? "(?P<request>[^"]*)'


def _slot_of(values: Sequence[bytes]) -> str | None:
    """Return the field that all values of a captured header are, or None."""
    there = [value for value in values if value not in (b"", b"-")]
    looks = (("host", is_host), ("referrer", is_url), ("agent", is_agent))
    return next((name for name, is_one in looks if there and all(map(is_one, there))), None)
