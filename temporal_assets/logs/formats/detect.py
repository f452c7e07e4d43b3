"""Detection of a log's format: by name, by its first lines, or an error that helps.

Here: detection and its messages. Not here: the formats (`formats`). A log shipper is a program that
puts lines of a log into its own (syslog, Docker, Fluent Bit).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import orjson

from temporal_assets.logs.counts.file_dates import clickstream_of, moment_of_file
from temporal_assets.logs.fields.layouts import COLUMN_NAMES, Kind, Slot
from temporal_assets.logs.fields.times import DAY
from temporal_assets.logs.formats import directives, tables
from temporal_assets.logs.formats.columns import (
    ColumnsError,
    by_number,
    check,
    is_counted,
    lacking,
    look_like_names,
    mapped,
    slots_of,
    suggested,
    suggested_by_names,
    told,
)
from temporal_assets.logs.formats.formats import (
    ALIASES,
    FORMATS,
    NAMED,
    SNOWPLOW_FIELDS,
    Format,
    Syntax,
    parse,
    regex_format,
    server_format,
    shipped,
    with_known_keys,
)
from temporal_assets.logs.formats.inference import (
    Inferred,
    captured,
    count_fields,
    infer,
    is_agent,
    is_host,
    is_target,
    is_url,
)
from temporal_assets.logs.formats.wrapped import (
    EVENT,
    VISIT,
    WRAPPERS,
    lines_within,
    may_hold_lines,
    place_of,
)
from temporal_assets.logs.privacy.pseudonyms import packed_address
from temporal_assets.logs.read import streams
from temporal_assets.logs.read.records import Block, Column, Records, Reject
from temporal_assets.settings import LogSource, Reading

_REGEX: Final = "regex:"
_SERVERS: Final = ("nginx", "apache")

_LINES: Final = 50
"""Lines that are read: enough that a few malformed ones at the beginning do not decide."""

_INFERRED_LINES: Final = 200
"""Lines whose values are looked at for inference: internal referrers are rare among robots."""

_MOST: Final = 0.8
"""Least share of lines, relative to a named format, that an inferred format must read."""

_EXTENDED: Final = ("gandi", "combined", "combined_vhost", "common", "common_vhost", "ovh")
"""Formats that servers write with a few fields more."""

_SHAPE_LENGTH: Final = 160
"""Characters of a line's shape that a message shows."""

_READING: Final = Reading()

_UNREADABLE: Final = (
    Reject.NOT_THE_FORMAT,
    Reject.BAD_TIME,
    Reject.TRUNCATED,
    Reject.TOO_LONG,
    Reject.NUL_BYTES,
)
"""Reasons of rejection that are evidence against a format; others occur in any."""

_EPOCH: Final = 20 * 365 * DAY
"""Earliest time of a log, 1990: a smaller number is a counter."""

_NO_LIMIT: Final = -(2**63)

_MASKED: Final = re.compile(rb"[0-9]{1,3}(\.[0-9xX*]{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:]*:[x:]*")
"""Expression for addresses of which a part was masked."""
_NAME: Final = re.compile(rb"(?=.*[A-Za-z\x80-\xff])[A-Za-z0-9_.\x80-\xff-]+(:\d+)?")
"""Expression for a host name in any alphabet, unlike an address."""
_DOTTED: Final = re.compile(
    rb"([A-Za-z0-9_\x80-\xff-]+\.)+(?=[0-9-]*[A-Za-z\x80-\xff])[A-Za-z0-9\x80-\xff-]+(:\d+)?"
)
"""Expression for a full host name, unlike a user of `identd` or a version (`TLSv1.3`)."""
_SERVED: Final = re.compile(rb"(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:.]+\]):(\d{1,5})")
"""Expression for an address with a port (`%v:%p`), which is a server's and no visitor's."""
_FIRST_PORT_OF_CLIENTS: Final = 32_768
"""Lowest port that Linux gives to clients; hardly a server listens above it."""

_SHIPPED: Final = range(1, 9)
"""Numbers of words that shippers put before a line: 2 for docker compose, 3 for a container's log
or syslog with ISO 8601 times, 5 for traditional syslog, 7 for RFC 5424."""

_ERROR_LOGS: Final = {
    "nginx": re.compile(rb"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[[a-z]+\] \d+#\d+: "),
    "Apache": re.compile(
        rb"\[[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d(\.\d+)? \d{4}\] \[[a-z0-9_:-]+\] "
    ),
}
"""Expressions for beginnings of error logs' lines; error logs lie in the folder of access logs."""

_MAPPED: Final = tuple(fmt.name for fmt in FORMATS.values() if fmt.syntax is Syntax.JSON)
"""JSON formats, the more specific first."""

_WORDS_OF_A_LINE: Final = 4
"""Number of blanks from which on a text within JSON is a log line rather than a word."""

_KEYS_SHOWN: Final = 30
"""Keys of a JSON line that a message names."""

_SEPARATORS: Final = (b",", b";", b"|")
"""Separators of CSV's columns."""

_PARQUET: Final = b"PAR1"

_ARRAY: Final = re.compile(rb"\[\s*(\{|$)")
"""Expression for the beginning of JSON that has all records in one list."""


class Address(Enum):
    """Kinds of address that lines must have to be in a format."""

    REAL = "an address"
    LOGGED = "an address, or nothing where it was not logged"
    ANY = "a name or a pseudonym too, where brackets and quotes say enough"
    NONE = "nothing, on every line, where brackets and quotes say enough"
    INFERRED = "anything or nothing: values have said enough"


class UnknownFormatError(ValueError):
    """Error: the lines fit no known format; the message shows their shape, never an address."""


def resolve(source: LogSource, head: bytes, name: str = "") -> Format:
    """Return the format of a source whose file is called `name` and begins with `head`.

    Without a head only the settings are checked. Raises `UnknownFormatError`, `PatternError`,
    `ServerFormatError` or `ColumnsError`.
    """
    dated = _Dated.of(source, head, name)
    named_format = _named(source, head)
    is_table = head.startswith(_PARQUET)  # whose bytes may look like any end of a line
    if named_format is None and (is_table or not _ends_lines_in_returns(head)):
        named_format = _detect(source, head, dated=dated)
    if named_format is None:
        raise UnknownFormatError(_why_unknown(source, head))
    named_format = dated.give(named_format, head)
    if source.format != "auto" and head.strip() and named_format.syntax in _WITHIN:
        named_format = _as_shipped(named_format, source, _without_comments(_sample(head)))
    if named_format.syntax is not Syntax.PARQUET and _ends_lines_in_returns(head):
        raise UnknownFormatError(_RETURNS)
    if named_format.name.split(" ")[0] == "haproxy":
        named_format = _with_captures(named_format, source, head)
    return _with_columns(named_format, source, head)


def _with_captures(fmt: Format, source: LogSource, head: bytes) -> Format:
    """Return HAProxy's format with captured headers, if these hold the host or the referrer."""
    if fmt.wrapped is not None:
        return fmt
    pattern = captured(_sample(head, _INFERRED_LINES), source.host or "")
    return fmt if pattern is None else replace(regex_format(pattern), name="haproxy by captures")


def likely_format(head: bytes) -> str | None:
    """Return the name of the format that lines seem to have, for messages about a wrong one."""
    if not _sample(head).strip():
        return None
    detected = _detect(LogSource(path=""), head)
    return detected.name if detected else None


def shape(line: bytes) -> str:
    """Return how a line is punctuated: runs of letters become `a`, of digits `9`.

    Reveals no content.
    """
    text = line.decode("utf-8", "replace")
    text = re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text))
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= _SHAPE_LENGTH else text[:_SHAPE_LENGTH] + "…"


# Named formats -------------------------------------------------------------------------------


def _named(source: LogSource, head: bytes) -> Format | None:
    """Return the format the settings name; None if it is to be detected."""
    if source.format.startswith(_REGEX):
        return regex_format(source.format[len(_REGEX) :])
    server, colon, directive = source.format.partition(":")
    if colon and server in _SERVERS:
        return server_format(server, directive)
    name = source.format.lower()
    if name == "auto":
        return None
    name = ALIASES.get(name, name)
    if name not in FORMATS:
        raise UnknownFormatError(
            f"format {source.format!r} is not known; known are "
            f"{', '.join((*FORMATS, *ALIASES))}, regex:PATTERN, nginx:LOG_FORMAT, "
            "apache:LOG_FORMAT and auto"
        )
    return _divided(FORMATS[name], head) if name == "csv" else FORMATS[name]


def _with_columns(fmt: Format, source: LogSource, head: bytes) -> Format:
    """Return the format, noting columns that were chosen by their usual names.

    Raises early what every block would raise later: missing columns.
    """
    if fmt.syntax is Syntax.TABLE and head.strip():
        names = tables.columns_of(head, fmt.separator, source.columns)
        columns = mapped(source.columns, names)
        slots_of(columns, names, is_dated=fmt.moment is not None)
        if (taken := told(columns)) and columns != source.columns:
            return replace(fmt, by=taken)
    elif fmt.syntax is Syntax.JSON and fmt.name in NAMED:
        check(source.columns)
        sample = _sample(head)
        keys = _keys_of(sample)
        extended = with_known_keys(fmt, source, keys)
        is_machine = _OF_VECTOR in keys and _MACHINE.search(sample) and "host" not in source.columns
        return _without_machine(extended) if is_machine else extended
    elif fmt.syntax is Syntax.DIRECTIVES:
        header = directives.header_of(head)
        if header.fields and header.missing():
            raise ColumnsError(f"#Fields: of the log lacks {', '.join(header.missing())}")
    return fmt


# Detection -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Dated:
    """Day or hour of all of a file's counts, for rows that do not name theirs."""

    moment: int | None = None
    site: str = ""
    """Host of all pages, if the name of the file says so."""
    is_month: bool = False

    @classmethod
    def of(cls, source: LogSource, head: bytes, name: str) -> _Dated:
        """Return what the name and the beginning of a file say."""
        if month := clickstream_of(name):
            return cls(month[1], month[0], is_month=True)
        return cls(moment_of_file(name, head, ZoneInfo(source.timezone)))

    def give(self, fmt: Format, head: bytes) -> Format:
        """Return the format with this time. Raises `UnknownFormatError` if it is unknown."""
        if fmt.syntax is not Syntax.COUNTS:
            return replace(fmt, moment=None if self.is_month else self.moment)
        needs_month = fmt.name == "wikipedia_clickstream"
        if head.strip() and (self.moment is None or needs_month != self.is_month):
            raise UnknownFormatError(_NO_MONTH if needs_month else _NO_HOUR)
        return replace(fmt, moment=self.moment, site=self.site)


_NO_HOUR: Final = (
    "Wikipedia's pageviews do not say when they were made: leave the name that the dump has"
    " (pageviews-20240501-010000.gz, pageviews-20240501-user.bz2)"
)
_NO_MONTH: Final = (
    "Wikipedia's clickstream does not say of which wiki and month it is: leave the name that the"
    " dump has (clickstream-enwiki-2024-05.tsv.gz)"
)
_DUMPS: Final = {
    "wikipedia_pageviews": re.compile(rb"[a-z0-9.-]{1,40} [^ \t]* \d{1,12}( \d{1,18})?"),
    "wikipedia_days": re.compile(rb"[a-z0-9.-]{1,40} [^ \t]* (null|\d+) [a-z-]+ \d{1,12}( \S*)?"),
    "wikipedia_clickstream": re.compile(rb"[^\t]+\t[^\t]+\t(link|external|other)\t\d{1,12}"),
}
"""Expressions for lines of Wikipedia's dumps, by format."""


def _dump(lines: bytes) -> Format | None:
    """Return the format of one of Wikipedia's dumps."""
    some = lines.splitlines()
    for name, line in _DUMPS.items():
        if all(map(line.fullmatch, some)):
            return FORMATS[name]
    return None


def _detect(source: LogSource, head: bytes, dated: _Dated | None = None) -> Format | None:
    if head.startswith(_PARQUET):
        return FORMATS["parquet"]
    if not head.strip():
        # An empty log has any format; nothing will be read from it.
        return FORMATS["combined"]
    if streams.refusal(head):
        return None
    sample = _sample(head)
    header = directives.header_of(sample)
    if header.fields:
        return FORMATS["cloudfront" if header.cloudfront else "w3c"]
    lines = _without_comments(sample)
    if detected := _events(lines) or _json_format(source, lines) or _wrapped(source, lines):
        return detected
    if dump := _dump(lines):
        return dump
    named = _delimited(source, lines)
    is_dated = dated is not None and dated.moment is not None and not dated.is_month
    rows = _sample(tables.behind_preamble(head))
    if named is None and (table := _table(source, rows, is_dated=is_dated)):
        return table
    return _explaining_more(named, source, _without_comments(_sample(head, _INFERRED_LINES)))


def _explaining_more(named: Format | None, source: LogSource, lines: bytes) -> Format | None:
    """Return the format that explains more of the lines: a named or an inferred one.

    Formats ignore what stands behind their last field, and take a host for a referrer where a
    server was told to write one more field.
    """
    by_name = None if named is None else _Explained.by(named, lines)
    if named is not None and by_name is not None and _is_all_of(named, by_name, lines):
        return named
    better = infer(lines, source.host)
    if better is None:
        return named
    inferred = _written_as(better)
    if by_name is None:
        return inferred if _fits(inferred, source, lines, Address.INFERRED) else None
    by_value = _Explained.by(inferred, lines)
    is_better = by_value.score > by_name.score and by_value.records >= _MOST * by_name.records
    return inferred if is_better else named


def _written_as(inference: Inferred) -> Format:
    """Return the format of an inferred directive, named as it can be given for a source."""
    server, _, directive = inference.directive.partition(":")
    return replace(
        server_format(server, directive), name=inference.directive, doubts=inference.doubts
    )


@dataclass(frozen=True, slots=True)
class _Explained:
    """Measure of how well a format explains some lines."""

    lines: int
    records: int
    """Number of lines that are complete records."""
    right: int
    """Number of targets, hosts, referrers and agents in them that look right."""
    wrong: int
    """Number of values that look wrong; of hosts and agents only clear cases."""
    is_doubtful: bool
    """True if most values of any of these fields look wrong."""

    @property
    def score(self) -> int:
        """Score for comparison; higher is better."""
        return self.records + self.right - self.wrong

    @classmethod
    def by(cls, fmt: Format, lines: bytes) -> _Explained:
        """Return how much `fmt` explains."""
        block = Block(np.frombuffer(lines, np.uint8), 1, last=True)
        records = parse(block, fmt, LogSource(path=""), _READING)
        rows = np.flatnonzero(records.reason == Reject.NONE).tolist()
        right = wrong = 0
        is_doubtful = False
        for column, is_right, is_other in (
            (records.target, is_target, is_host),
            (records.host, is_host, is_url),
            (records.referrer, is_url, bool),
            (records.agent, is_agent, lambda value: is_url(value) or is_host(value)),
        ):
            values = [value for row in rows if (value := _value(column, row)) not in (b"", b"-")]
            good = sum(map(is_right, values))
            right += good
            wrong += sum(is_other(value) for value in values if not is_right(value))
            # Sites of an own network have short names, where the format has them first.
            is_short = column is records.host and fmt.name in _EXTENDED
            is_doubtful |= not is_short and 2 * good < len(values)
            is_doubtful |= column is not None and column is not records.referrer and not values
        return cls(len(records), len(rows), right, wrong, is_doubtful)


def _is_all_of(fmt: Format, explained: _Explained, lines: bytes) -> bool:
    """Return True if lines have no more fields than the format, and these look right.

    Formats with special fields of their own are accepted regardless of the number of fields.
    """
    if explained.is_doubtful:
        return False
    if " after " in fmt.name:
        return False  # one of the words may be the host
    if fmt.name not in _EXTENDED:
        return explained.records >= _MOST * explained.lines
    kinds = () if fmt.layout is None else fmt.layout.kinds
    fields = kinds.index(Kind.TO_QUOTE) if Kind.TO_QUOTE in kinds else len(kinds)
    first = lines.split(b"\n", _LINES)[:_LINES]
    return not explained.wrong and all(count_fields(line) <= fields for line in first)


def _sample(head: bytes, most: int = _LINES) -> bytes:
    """Return the first lines that are not empty, whole unless there is only one."""
    lines = [line for line in head.split(b"\n") if line.strip()]
    if len(lines) > 1 and not head.endswith(b"\n"):
        lines.pop()
    return b"".join(line + b"\n" for line in lines[:most])


def _without_comments(sample: bytes) -> bytes:
    """Return the lines that do not begin with `#`, unless all do."""
    lines = sample.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(b"#")) or sample


def _json_format(source: LogSource, sample: bytes) -> Format | None:
    if b"{" not in sample:
        return None
    if source.columns:
        return FORMATS["jsonl"]
    extended = with_known_keys(FORMATS["jsonl"], source, _keys_of(sample))
    return _first_that_fits((*(FORMATS[name] for name in _MAPPED), extended), source, sample)


_OF_VECTOR: Final = "source_type"
"""Key that Vector puts beside those of a line, as it does `host`, the name of the machine."""

_MACHINE: Final = re.compile(rb'"host": ?"[^".]*"')


def _without_machine(fmt: Format) -> Format:
    """Return a format of JSON lines whose `host` is no site."""
    paths = dict(fmt.paths or {})
    paths[Slot.HOST] = tuple(path for path in paths.get(Slot.HOST, ()) if path != ("host",))
    return replace(fmt, paths=paths)


def _events(sample: bytes) -> Format | None:
    """Return the format of an analytics tool's events that name visitors, or None."""
    if b"{" in sample:
        for name, path in (("matomo_json", VISIT), ("ga4_json", EVENT)):
            if f'"{path[0]}"'.encode() in sample and lines_within(sample, path):
                return FORMATS[name]
    lines = sample.splitlines()
    return FORMATS["snowplow"] if all(map(_SNOWPLOW.fullmatch, lines)) else None


_SNOWPLOW: Final = re.compile(
    rb"([^\t]*\t){3}\d{4}-\d\d-\d\d [\d:.]+\t[^\t]*\t[a-z_]+\t"
    rb"([^\t]*\t){%d}[^\t]*" % (SNOWPLOW_FIELDS - 7)
)


def _wrapped(source: LogSource, sample: bytes) -> Format | None:
    """Return the format of lines within a shipper's JSON, perhaps several times."""
    for path in WRAPPERS if may_hold_lines(sample) and not source.columns else ():
        within = lines_within(sample, path)
        inner = _detect(source, within) if within and within != sample else None
        if inner is not None and inner.wrapped is None and inner.syntax in _WITHIN:
            return replace(inner, name=f"{inner.name} within {place_of(path)}", wrapped=path)
    return None


_WITHIN: Final = (Syntax.DELIMITED, Syntax.JSON)
"""Syntaxes that lines within others may have: no header is needed to read them."""


def _keys_of(sample: bytes) -> list[str]:
    """Return the keys of all objects in some lines, in the order they come in."""
    keys: dict[str, None] = {}
    for line in sample.splitlines():
        try:
            record = orjson.loads(line[line.find(b"{") :])
        except orjson.JSONDecodeError:
            continue
        if isinstance(record, dict):
            keys |= dict.fromkeys(record)
    return list(keys)


def _delimited(source: LogSource, sample: bytes) -> Format | None:
    candidates = [fmt for fmt in FORMATS.values() if fmt.syntax is Syntax.DELIMITED]
    return (
        _first_that_fits(candidates, source, sample)
        or _first_that_fits(_all_shipped(candidates), source, sample, Address.REAL)
        or _first_that_fits(candidates, source, sample, Address.ANY)
        or _first_that_fits(_all_anonymous(), source, sample, Address.NONE)
    )


def _all_anonymous() -> Iterator[Format]:
    return (FORMATS[name] for name in ("combined", "common"))


def _as_shipped(fmt: Format, source: LogSource, sample: bytes) -> Format:
    """Return a configured format, extended by the words that a shipper puts before lines.

    Other lines may be in the log of a whole machine.
    """
    if _fits(fmt, source, sample):
        return fmt
    for path in WRAPPERS if may_hold_lines(sample) else ():
        within = lines_within(sample, path)
        if within and _fits(fmt, source, within):
            return replace(fmt, name=f"{fmt.name} within {place_of(path)}", wrapped=path)
    if not _may_be_shipped(fmt):
        return fmt
    candidates = [fmt, *_all_shipped([fmt])]
    return max(
        candidates, key=lambda candidate: _plausible(candidate, source, sample, Address.REAL)[0]
    )


def _all_shipped(candidates: Iterable[Format]) -> Iterator[Format]:
    some = [fmt for fmt in candidates if _may_be_shipped(fmt)]
    return (shipped(fmt, words) for words in _SHIPPED for fmt in some)


def _may_be_shipped(fmt: Format) -> bool:
    """Return True for formats that shippers put words before, and that do not fit otherwise."""
    return _has_user(fmt) or fmt.name in ("haproxy", "envoy")


def _has_user(fmt: Format) -> bool:
    """Return True if words before the time would be taken for a user."""
    return fmt.layout is not None and Kind.USER in fmt.layout.kinds


def _table(source: LogSource, sample: bytes, *, is_dated: bool) -> Format | None:
    """Return CSV or TSV if the first line names the columns that are wanted."""
    for fmt in _tables(sample):
        names = tables.columns_of(sample, fmt.separator, source.columns)
        try:
            slots_of(mapped(source.columns, names), names, is_dated=is_dated)
        except ColumnsError:
            continue
        return fmt
    return None


def _tables(sample: bytes) -> tuple[Format, Format]:
    """Return the table formats, TSV before CSV: URLs may have commas, and no tabs."""
    return FORMATS["tsv"], _divided(FORMATS["csv"], sample)


def _divided(csv: Format, sample: bytes) -> Format:
    """Return CSV with the separator that occurs first: with decimal commas it is a semicolon."""
    first = sample.lstrip().partition(b"\n")[0]
    there = [separator for separator in _SEPARATORS if separator in first]
    return replace(csv, separator=min(there, key=first.index, default=csv.separator))


def _first_that_fits(
    candidates: Iterable[Format],
    source: LogSource,
    sample: bytes,
    address: Address = Address.LOGGED,
) -> Format | None:
    return next((fmt for fmt in candidates if _fits(fmt, source, sample, address)), None)


def _fits(
    fmt: Format,
    source: LogSource,
    sample: bytes,
    address: Address = Address.LOGGED,
    oldest: int = _EPOCH,
) -> bool:
    """Return True if most lines have the format and their fields look right."""
    good, lines = _plausible(fmt, source, sample, address, oldest)
    return 2 * good > lines


def _plausible(
    fmt: Format, source: LogSource, sample: bytes, address: Address, oldest: int = _EPOCH
) -> tuple[int, int]:
    """Return the number of lines that fit, and of all lines."""
    block = Block(np.frombuffer(sample, np.uint8), 1, last=True)
    records = parse(block, fmt, LogSource(path=source.path), _READING)
    rows = np.flatnonzero(~np.isin(records.reason, _UNREADABLE))
    good = sum(_is_plausible(fmt, records, int(row), address, oldest) for row in rows)
    return good, len(records)


def _is_plausible(fmt: Format, records: Records, row: int, wanted: Address, oldest: int) -> bool:
    """Return True if host and address of a row look right, which distinguishes similar formats."""
    address = records.address.value(row)
    if records.time[row] < oldest:
        return False
    if records.counts is not None:
        return True
    if wanted is Address.INFERRED:
        return True
    if wanted is Address.NONE or not address:
        return wanted is Address.NONE and not address
    if fmt.layout is None:
        # A shipper's own time and host beside a line of a log are no record of a page.
        return fmt.syntax is not Syntax.JSON or bool(records.target.value(row))
    if wanted is Address.ANY and fmt.name in _ANY_ADDRESS:
        words = (records.text.value(row) or b"").split(b" ", 3)
        if not fmt.layout.has(Slot.HOST):
            return _is_name(address, words)
        return words[2:3] == [b"-"] and _DOTTED.fullmatch(_value(records.host, row)) is not None
    if fmt.name == "squid":
        # Nothing but words: only whole records, of URLs, tell it from other tables.
        is_url = b":" in (records.target.value(row) or b"")
        return is_url and bool(records.reason[row] == Reject.NONE)
    if not _is_address(address, wanted):
        return False
    if not _has_user(fmt) or not fmt.layout.has(Slot.HOST):
        return True
    host = _value(records.host, row)
    is_full = fmt.name == "ovh" or wanted is Address.REAL
    return bool((_DOTTED if is_full else _NAME).fullmatch(host)) or _is_served(host, address)


def _is_served(host: bytes, address: bytes) -> bool:
    """Return True if the address of a server stands before that of a visitor."""
    match = _SERVED.fullmatch(host)
    is_server = match is not None and int(match[2]) < _FIRST_PORT_OF_CLIENTS
    return is_server and _is_address(address, Address.REAL)


_ANY_ADDRESS: Final = ("combined_vhost", "combined", "common_vhost", "common")
"""Formats recognised by brackets and quotes; servers may write client names or pseudonyms."""


def _is_name(value: bytes, words: Sequence[bytes]) -> bool:
    """Return True if a line begins with a visitor rather than with a shipper's words.

    Behind a visitor stands the `identd` field, which is usually empty.
    """
    return words[1:2] == [b"-"] or _DOTTED.fullmatch(value) is not None


def _is_address(value: bytes, wanted: Address) -> bool:
    if value == b"-":
        return wanted is not Address.REAL
    return packed_address(value) is not None or _MASKED.fullmatch(value) is not None


def _value(values: Column | None, row: int) -> bytes:
    return (values.value(row) if values else None) or b""


def _ends_lines_in_returns(head: bytes) -> bool:
    """Return True if lines end in carriage returns alone: all would count as one line."""
    return b"\n" not in head and b"\r" in head.rstrip(b"\r")


def _fits_but_for_time(source: LogSource, head: bytes) -> str | None:
    """Return the name of the format that lines fit but for their times, which are before 1990."""
    lines = _without_comments(_sample(head))
    for fmt in FORMATS.values():
        # A small number at the beginning of words is a counter rather than a time of Squid.
        if fmt.syntax is not Syntax.DELIMITED or fmt.name == "squid":
            continue
        if _fits(fmt, source, lines, Address.ANY, _NO_LIMIT):
            return fmt.name
    return None


# Messages ------------------------------------------------------------------------------------

_RETURNS: Final = (
    "its lines end in carriage returns alone, which makes them one line: convert the file"
    " (tr '\\r' '\\n')"
)
_ADVICE: Final = (
    "Name the format, give the server's own (`nginx:` or `apache:` and its log format), or "
    "describe the lines with `regex:` and named groups (docs/log-formats.md)"
)
_ONE_A_LINE: Final = "write one object a line (jq -c '{}' FILE)"
_UNNAMED: Final = (
    "a table whose first line names no columns needs their numbers"
    " (--column time=1 --column address=2 --column url=3)"
)


def _is_binary(head: bytes) -> bool:
    """Return True if one byte in twenty is a control character that no text has."""
    return 20 * len(head.translate(None, _NO_CONTROLS)) > len(head)


_NO_CONTROLS: Final = bytes(b for b in range(256) if b >= ord(" ") or b in b"\t\r\n\x1b")


_UNDATED: Final = (
    "counts of views that do not say of which day they are (the columns are {}). Export them with a"
    " column of the date, or a day a file with the date in its name, like pages-2024-05-01.csv"
    " (docs/counts.md)"
)


def _why_another(source: LogSource, sample: bytes) -> str | None:
    """Return the message for error logs and for undated counts, None for other files."""
    lines = sample.splitlines()
    for server, beginning in _ERROR_LOGS.items():
        if beginning.match(lines[0]):
            return (
                f"an error log of {server}, which does not say what was served: let the path of the"
                " source name access logs alone, as `access.log*` does"
            )
    first = lines[0]
    names = _keys_of(first) if first.startswith(b"{") else []
    for fmt in () if names else _tables(first):
        if fmt.separator in first:
            names = list(tables.columns_of(first, fmt.separator, source.columns))
            break
    if not names or not look_like_names(names):
        return None
    fields = {COLUMN_NAMES[field] for field in mapped(source.columns, names)}
    if not is_counted(fields) or lacking(fields) != ["time"]:
        return None
    return _UNDATED.format(", ".join(names[:_KEYS_SHOWN]))


def _why_unknown_json(line: bytes) -> str:
    """Return the message on what an object lacks, with its keys, which are hardly ever private."""
    if line == b"{":
        return f"JSON over several lines: {_ONE_A_LINE.format('.')}"
    needs = (
        "JSON lines need a time, an address and a target under names that are known "
        f"({', '.join(_MAPPED[:-1])}) or given by `columns`"
    )
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return f"the first line is no JSON, though it looks like it; {needs}. {_ADVICE}"
    for path in WRAPPERS:
        within = lines_within(line, path).split(b"\n")[0]
        if within.count(b" ") >= _WORDS_OF_A_LINE:
            return (
                f"lines of a log within `{place_of(path)}`, and these fit no known format: they"
                f" look like `{shape(within)}` (letters are a, digits 9). {_ADVICE}"
            )
    for key, value in record.items():
        if key.isidentifier() and isinstance(value, list) and value and isinstance(value[0], dict):
            return f"a JSON object with a list of all records: {_ONE_A_LINE.format(f'.{key}[]')}"
    keys = list(_keys(record))
    shown = ", ".join(keys[:_KEYS_SHOWN]) + (", …" if len(keys) > _KEYS_SHOWN else "")
    return f"{needs}; here the keys are {shown or 'none'}. {_ADVICE}"


def _keys(record: dict[str, Any], above: str = "") -> Iterator[str]:
    """Yield the dotted paths to all values of a record, as the option `columns` takes them."""
    for key, value in record.items():
        # Objects may be keyed by what they are about.
        path = above + ("[address]" if packed_address(key.encode()) is not None else key)
        if isinstance(value, dict) and value:
            yield from _keys(value, f"{path}.")
        else:
            yield "".join(c if c.isprintable() else "?" for c in path[:_SHAPE_LENGTH])


_YEARLESS: Final = re.compile(
    rb"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?: +\d{1,2} +|:)\d\d:\d\d"
)
_WITH_YEAR: Final = re.compile(rb"[-/ ](?:19|20)\d\d[:\s\]]|\b(?:19|20)\d\d-\d\d")
_NO_YEAR: Final = (
    "their times have no year, so that no line can be given to its day: have the server write it"
    " (nginx: $time_iso8601; Apache: %t)"
)


def _why_unknown(source: LogSource, head: bytes) -> str:
    """Return the message with what detection saw and tried."""
    refused = streams.refusal(head)
    if refused:
        return f"{refused}. {_ADVICE}"
    if _is_binary(head):
        return f"no text but binary, or UTF-16 without a mark: no log that is known. {_ADVICE}"
    if _ends_lines_in_returns(head):
        return _RETURNS
    if old := _fits_but_for_time(source, head):
        return (
            f"the lines look like `{old}`, but their times lie before 1990: the clock of the server"
            " was not set, and no line can be given to its day. Remove the file from the source,"
            " or correct its times"
        )
    first = _without_comments(_sample(head)).split(b"\n")[0].rstrip()
    if other := _why_another(source, _without_comments(_sample(tables.behind_preamble(head)))):
        return other
    if fmt := _detect(source, first + b"\n"):
        return (
            f"the first line is one of `{fmt.name}`, but most of those behind it are not. Where"
            f" they are to be counted as rejected, name the format (--format {fmt.name})"
        )
    what = f"no known format fits: lines look like `{shape(first)}` (letters are a, digits 9)"
    if _YEARLESS.search(first) and not _WITH_YEAR.search(first):
        return f"{what}; {_NO_YEAR}"
    tried = ", ".join(FORMATS)
    sample = _without_comments(_sample(head, _INFERRED_LINES))
    if first.startswith(b"{"):
        return _why_unknown_json(first) + _by_values(_values_of_json(sample))
    if _ARRAY.match(first):
        return f"a JSON array: {_ONE_A_LINE.format('.[]')}"
    for fmt in _tables(first):
        if first.count(fmt.separator) > 1:
            why = _why_no_table(source, first, fmt.separator)
            values = tables.values_of(sample, fmt.separator)
            names = tables.columns_of(first, fmt.separator, source.columns)
            hint = why and (_by_values(values) or _by_names(source, names, values))
            return f"{why}{hint}" if why else f"{what}; {_UNNAMED}. {_ADVICE}"
    return f"{what}; tried {tried}. {_ADVICE}"


def _by_values(values: Mapping[str, Sequence[str]]) -> str:
    """Return options to try, inferred from the values of columns, or an empty text."""
    options = suggested(values)
    return f". By their values: {options} (--dry-run shows what comes of it)" if options else ""


def _by_names(source: LogSource, names: Sequence[str], values: Mapping[str, Sequence[str]]) -> str:
    """Return options to try, inferred from the names of columns, or an empty text."""
    if by_number(source.columns):
        return ""
    options = suggested_by_names(source.columns, names, values)
    return f". By their names: {options} (--dry-run shows what comes of it)" if options else ""


def _values_of_json(sample: bytes) -> dict[str, list[str]]:
    """Return the values of each path in some objects, as texts."""
    values: dict[str, list[str]] = {}
    for line in sample.splitlines():
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        for path, value in _leaves(record) if isinstance(record, dict) else ():
            values.setdefault(path, []).append("" if value is None else str(value))
    return values


def _leaves(record: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        if packed_address(key.encode()) is not None:
            continue  # it is content, which no message shows
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield above + key, value


def _why_no_table(source: LogSource, first: bytes, separator: bytes) -> str | None:
    """Return the message on missing columns.

    None if the first line does not name any, and no numbers are given.
    """
    names = tables.columns_of(first, separator, source.columns)
    if not by_number(source.columns) and not look_like_names(names):
        return None
    try:
        slots_of(mapped(source.columns, names), names)
    except ColumnsError as error:
        return f"{error} (docs/log-formats.md)"
    return None
