"""The formats access logs come in, by name, and how a block of one is parsed.

Here: the registry and the dispatch. Not here: recognising a format (`detect`), the loops
(`tokenize`).

Blocks may be parsed by parallel threads. What a block needs to know of those before it (the
header of a W3C log or a table) is a small state that `advance` carries on in the file's order:

    state = None
    for block in stream:
        pool.submit(parse, block, fmt, source, reading, state)
        state = advance(block, fmt, state, source)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from temporal_assets.logs.counts.counted import with_counts
from temporal_assets.logs.counts.wikipedia import as_clickstream, as_pageviews
from temporal_assets.logs.fields.addresses import drop_ports
from temporal_assets.logs.fields.assemble import (
    assemble,
    count_columns,
    known_times,
    line_text,
    reject_cut_line,
)
from temporal_assets.logs.fields.field_arrays import Fields, Lines
from temporal_assets.logs.fields.layouts import (
    COLUMN_NAMES,
    COUNTS,
    SKIP,
    Kind,
    Layout,
    Slot,
    after_words,
    layout,
)
from temporal_assets.logs.fields.lines import check_lines, find_lines
from temporal_assets.logs.fields.rewrite import (
    CLOUDFRONT_ENCODED,
    Decode,
    decode_percent,
    decoded,
    join,
    with_url_prefix,
)
from temporal_assets.logs.fields.times import BAD, last_repeated
from temporal_assets.logs.fields.tokenize import split_lines
from temporal_assets.logs.formats import directives, patterns, structured, tables
from temporal_assets.logs.formats.columns import (
    check,
    lacking,
    mapped,
    pieces_of,
    templates,
    told,
    with_first_parts,
)
from temporal_assets.logs.formats.server_formats import layout_of
from temporal_assets.logs.formats.structured import Path, dotted
from temporal_assets.logs.formats.wrapped import EVENT, VISIT, unwrapped
from temporal_assets.logs.read.kernels import NEWLINE
from temporal_assets.logs.read.records import Block, Records
from temporal_assets.settings import LogSource, Reading

_TAIL_BYTES: Final = 64 << 10
"""Bytes at the end of a block whose lines show whether clocks are being set back."""


@dataclass(frozen=True, slots=True)
class Before:
    """State of a file that earlier blocks pass on to the next one."""

    header: directives.Header = field(default_factory=directives.Header)
    names: tables.Names | None = None
    repeated: int = BAD
    """Result of `times.last_repeated` for the earlier lines."""


_REQUESTED: Final = frozenset({Slot.REQUEST, Slot.TARGET})
"""Fields that say what was asked for."""

State = Before | None
"""State of a file between two blocks; None at its beginning."""


class Syntax(Enum):
    """Syntax of a format's lines."""

    DELIMITED = "delimited"
    DIRECTIVES = "directives"
    TABLE = "table"
    JSON = "json"
    REGEX = "regex"
    PARQUET = "parquet"
    COUNTS = "counts"
    """Lines of words that each stand for many requests."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of access logs."""

    name: str
    description: str
    syntax: Syntax
    has_referrer: bool | None = None
    """True if lines tell where the visitor came from; None: the header or the columns decide."""
    layout: Layout | None = None
    paths: Mapping[Slot, tuple[Path, ...]] | None = None
    encoded: Mapping[str, Decode] = field(default_factory=dict)
    """Functions that undo the server's own encoding of some columns of `Records`."""
    separator: bytes = b""
    pattern: re.Pattern[bytes] | None = None
    by: str = ""
    """Columns that were chosen for a file, or other findings, to be shown beside the name."""
    wrapped: Path | None = None
    """Path of the lines in a JSON object, if a log shipper has put them into one."""
    moment: int | None = None
    """Microseconds since 1970 of the day or hour of all of a file's counts, if rows do not name
    theirs."""
    site: str = ""
    """Host of all pages, if the name of the file says so."""
    doubts: tuple[str, ...] = ()
    """Sentences on fields that were inferred from their values and should be looked at."""

    @property
    def label(self) -> str:
        """Text that tells people how a file was read."""
        return f"{self.name} by {self.by}" if self.by else self.name


def parse(
    block: Block, fmt: Format, source: LogSource, reading: Reading, state: State = None
) -> Records:
    """Parse one block into records; a pure function that any thread may call.

    Parquet has no blocks, see `parquet.read`.
    """
    joined = templates(source.columns)
    if joined:
        records = _parse_joined(block, fmt, source, reading, state, joined)
    else:
        records = _parse(block, fmt, source, reading, state)
    return with_url_prefix(records, source.url_prefix) if source.url_prefix else records


def _parse_joined(
    block: Block,
    fmt: Format,
    source: LogSource,
    reading: Reading,
    state: State,
    joined: Mapping[Slot, str],
) -> Records:
    """Parse a block once for every column that a template joins, and join the columns."""
    columns = with_first_parts(source.columns)

    def read(name: str | None) -> Records:
        """Parse with a column in the place of the agent, whose values are not interpreted."""
        chosen = columns if name is None else {**columns, "agent": name}
        if name is None or fmt.paths is None:
            form = fmt
        else:
            form = replace(fmt, paths={**fmt.paths, Slot.AGENT: (dotted(name),)})
        other = source.model_copy(update={"columns": chosen})
        return _parse(block, form, other, reading, state)

    records = read(None)
    for slot, template in joined.items():
        pieces = [
            read(text).agent if is_column else text.encode()
            for is_column, text in pieces_of(template)
        ]
        records = replace(records, **{slot.name.lower(): join(pieces, len(records))})  # type: ignore[arg-type]
    return records


def _parse(block: Block, fmt: Format, source: LogSource, reading: Reading, state: State) -> Records:
    before = state or Before()
    repeated = before.repeated
    if fmt.wrapped is not None:
        block = unwrapped(block, fmt.wrapped)
    if fmt.syntax is Syntax.COUNTS:
        return _parse_counts(block, fmt, source, reading)
    if fmt.layout is not None:
        return _parse_delimited(block, fmt.layout, source, reading, repeated)
    if fmt.syntax is Syntax.DIRECTIVES:
        return directives.parse(block, before.header, source, reading, repeated)
    if fmt.syntax is Syntax.TABLE:
        names = before.names
        return tables.parse(block, names, fmt.separator, source, reading, repeated, fmt.moment)
    if fmt.pattern is not None:
        return patterns.parse(block, fmt.pattern, source, reading, repeated)
    if fmt.syntax is Syntax.JSON:
        certain = frozenset({Slot.REFERRER} if fmt.has_referrer else ())
        paths = fmt.paths if fmt.paths is not None else _mapped_paths(source)
        records = structured.parse(block, paths, source, reading, certain, repeated, fmt.moment)
        return decoded(records, fmt.encoded)
    raise ValueError(f"{fmt.name} is not read in blocks of lines")


def advance(block: Block, fmt: Format, state: State, source: LogSource) -> State:
    """Return the state after a block; cheap, and to be called in the order of the file."""
    before = after = state or Before()
    if fmt.syntax is Syntax.DIRECTIVES:
        after = replace(before, header=directives.advance(block, before.header))
    elif fmt.syntax is Syntax.TABLE:
        after = replace(before, names=tables.advance(block, before.names, fmt.separator, source))
    if source.timezone == "UTC":
        return after
    return replace(after, repeated=_repeated(block, fmt, source, before, after))


def likely_state(head: bytes, fmt: Format, source: LogSource) -> State:
    """Return the state that holds from the head of a file on, in most files."""
    lines = np.frombuffer(head[: head.rfind(b"\n") + 1], np.uint8)
    state = advance(Block(lines, first_line=1, last=False), fmt, None, source)
    return replace(state or Before(), repeated=BAD)


def _repeated(block: Block, fmt: Format, source: LogSource, before: Before, after: Before) -> int:
    """Return the last time in the hour that clocks show twice, or BAD for most blocks."""
    zone = ZoneInfo(source.timezone)
    reading = Reading()
    cut = max(len(block.data) - _TAIL_BYTES, 0)
    newlines = np.flatnonzero(block.data[cut:] == NEWLINE)
    if cut and newlines.size:
        tail = Block(block.data[cut + newlines[0] + 1 :], block.first_line, block.last)
        if last_repeated(known_times(parse(tail, fmt, source, reading, after)), zone) == BAD:
            return BAD
    return last_repeated(known_times(parse(block, fmt, source, reading, before)), zone)


def regex_format(pattern: str) -> Format:
    """The format of `regex:` followed by a pattern. Raises `PatternError` or `ColumnsError`."""
    compiled = patterns.compile_pattern(pattern)
    return Format(
        name="regex",
        description="your own pattern with named groups",
        syntax=Syntax.REGEX,
        has_referrer=Slot.REFERRER in patterns.groups(compiled).values(),
        pattern=compiled,
    )


def server_format(server: str, directive: str) -> Format:
    """Return the format of `nginx:` or `apache:` followed by a log format directive.

    Raises `ServerFormatError`.
    """
    form = layout_of(server, directive)
    return Format(
        name=f"{server}'s own",
        description=f"as the configuration of {server} says",
        syntax=Syntax.DELIMITED,
        has_referrer=form.has(Slot.REFERRER),
        layout=form,
    )


def shipped(fmt: Format, words: int) -> Format:
    """Return a delimited format after a number of leading words (syslog, a container's log)."""
    if fmt.layout is None:
        raise ValueError(f"{fmt.name} has no layout")
    return replace(
        fmt, name=f"{fmt.name} after {words} words", layout=after_words(fmt.layout, words)
    )


def _parse_delimited(
    block: Block, form: Layout, source: LogSource, reading: Reading, before: int
) -> Records:
    fields, lines = _fields(block, form, reading)
    text = line_text(block, lines)
    return assemble(fields, lines.number, text, source, escaped=form.escaped, before=before)


def _fields(block: Block, form: Layout, reading: Reading) -> tuple[Fields, Lines]:
    lines = find_lines(block)
    fields = Fields.empty(block.data, len(lines), set(form.slots))
    check_lines(fields, lines, reading.max_line_bytes)
    split_lines(fields, lines, form, 0, len(lines))
    if form.has_ports:
        drop_ports(fields)
    reject_cut_line(fields, lines, block)
    return fields, lines


def _parse_counts(block: Block, fmt: Format, source: LogSource, reading: Reading) -> Records:
    """Return records of one of Wikipedia's dumps."""
    form = fmt.layout
    if form is None:
        raise ValueError(f"{fmt.name} has no layout")
    fields, lines = _fields(block, form, reading)
    records = assemble(fields, lines.number, line_text(block, lines), source, escaped=False)
    zone = ZoneInfo(source.timezone)
    records = with_counts(records, count_columns(fields), zone, fmt.moment)
    if form.has(Slot.REFERRER):
        return as_clickstream(records, fmt.site or source.host or "")
    return as_pageviews(records)


def with_known_keys(fmt: Format, source: LogSource, keys: Collection[str]) -> Format:
    """Return a JSON format extended by the usual names of fields among the given keys.

    Such keys are used for fields that have no other path, from the user or the format.
    """
    paths = _mapped_paths(source) if fmt.paths is None else fmt.paths
    there = {slot for slot, options in paths.items() if any(path[0] in keys for path in options)}
    if there & _REQUESTED:
        there |= _REQUESTED  # a target beside a whole request would be another one
    more = {
        COLUMN_NAMES[field]: name
        for field, name in mapped(source.columns, keys).items()
        if field not in source.columns and COLUMN_NAMES[field] not in there
    }
    if not more:
        return fmt
    more_paths = {slot: (*paths.get(slot, ()), (name,)) for slot, name in more.items()}
    taken = told({slot.name.lower(): name for slot, name in more.items()})
    return replace(fmt, paths={**paths, **more_paths}, by=taken)


def _mapped_paths(source: LogSource) -> Mapping[Slot, tuple[Path, ...]]:
    """Return the paths of generic JSON lines: the user's, and usual keys for what they lack."""
    check(source.columns)
    columns = with_first_parts(source.columns)
    given = {COLUMN_NAMES[field]: (dotted(name),) for field, name in columns.items()}
    if not lacking(given):
        return given
    paths = dict(FORMATS["nginx_json"].paths or {})
    for name, slot in reversed(COLUMN_NAMES.items()):
        if slot in COUNTS or slot is Slot.EVENT:
            continue  # beside a client counts say nothing of requests; events may be any
        paths[slot] = ((name,), *paths.get(slot, ()))
    return {**paths, **given}


def _delimited(
    name: str, description: str, notation: str, *, collapse: bool = False, escaped: bool = True
) -> Format:
    form = layout(notation, collapse=collapse, escaped=escaped)
    return Format(
        name=name,
        description=description,
        syntax=Syntax.DELIMITED,
        has_referrer=form.has(Slot.REFERRER),
        layout=form,
    )


def _counts(name: str, description: str, notation: str, separator: bytes = b" ") -> Format:
    form = replace(layout(notation), separator=separator)
    has_referrer = form.has(Slot.REFERRER)
    return Format(name, description, Syntax.COUNTS, has_referrer=has_referrer, layout=form)


def _json(
    name: str,
    description: str,
    paths: dict[Slot, str] | None,
    has_referrer: bool | None = None,
    encoded: Mapping[str, Decode] = {},
) -> Format:
    return Format(
        name=name,
        description=description,
        syntax=Syntax.JSON,
        has_referrer=has_referrer,
        paths=None
        if paths is None
        else {
            slot: tuple(dotted(path) for path in options.split()) for slot, options in paths.items()
        },
        encoded=encoded,
    )


_TAIL: Final = '[time] "request" status -'
_AGENT: Final = '"referrer" "agent" ? ... "forwarded"'

_NGINX: Final = {
    Slot.TIME: "time_iso8601 @timestamp timestamp start_time time_start time_local time msec date"
    " ts",
    Slot.ADDRESS: "remote_addr client_ip clientip clientIp clientIP remote_ip remoteIp remoteIP ip"
    " client downstream_remote_address",
    Slot.FORWARDED: "http_x_forwarded_for x_forwarded_for x-forwarded-for x_forward_for"
    " x-forward-for xff",
    Slot.REQUEST: "request",
    Slot.METHOD: "request_method requestMethod method verb",
    Slot.TARGET: "request_uri requestUri uri path url",
    Slot.QUERY: "args query_string request_query query",
    Slot.HOST: "host http_host authority server_name vhost domain",
    Slot.SCHEME: "scheme",
    Slot.STATUS: "status response status_code statusCode response_status response_code",
    Slot.REFERRER: "http_referer http_referrer request_referer referrer referer",
    Slot.AGENT: "http_user_agent request_user_agent user_agent userAgent agent",
}
_FLUENT: Final = {
    Slot.TIME: "time date @timestamp timestamp",
    # Apache's parser calls the visitor `host`; nginx's calls it `remote`, and has no `host`.
    Slot.ADDRESS: "remote host",
    Slot.FORWARDED: "http_x_forwarded_for",
    Slot.METHOD: "method",
    Slot.TARGET: "path",
    Slot.STATUS: "code status",
    Slot.REFERRER: "referer referrer",
    Slot.AGENT: "agent",
}
_CADDY: Final = {
    Slot.TIME: "ts",
    Slot.ADDRESS: "request.client_ip request.remote_ip request.remote_addr",
    Slot.FORWARDED: "request.headers.X-Forwarded-For.0",
    Slot.METHOD: "request.method",
    Slot.TARGET: "request.uri",
    Slot.HOST: "request.host",
    Slot.STATUS: "status",
    Slot.REFERRER: "request.headers.Referer.0",
    Slot.AGENT: "request.headers.User-Agent.0",
}
_TRAEFIK: Final = {
    Slot.TIME: "StartUTC StartLocal time",
    Slot.ADDRESS: "ClientHost ClientAddr",
    Slot.FORWARDED: "request_X-Forwarded-For",
    Slot.METHOD: "RequestMethod",
    Slot.TARGET: "RequestPath",
    Slot.HOST: "RequestHost",
    Slot.SCHEME: "RequestScheme",
    Slot.STATUS: "DownstreamStatus",
    Slot.REFERRER: "request_Referer",
    Slot.AGENT: "request_User-Agent",
}
_CLOUDFLARE: Final = {
    Slot.TIME: "EdgeStartTimestamp",
    Slot.ADDRESS: "ClientIP",
    Slot.METHOD: "ClientRequestMethod",
    Slot.TARGET: "ClientRequestURI ClientRequestPath",
    Slot.HOST: "ClientRequestHost",
    Slot.SCHEME: "ClientRequestScheme",
    Slot.STATUS: "EdgeResponseStatus",
    Slot.REFERRER: "ClientRequestReferer",
    Slot.AGENT: "ClientRequestUserAgent",
}
_CLOUDFRONT: Final = {
    Slot.DATE: "date",
    Slot.TIME: "time timestamp(ms) timestamp",
    Slot.ADDRESS: "c-ip",
    Slot.FORWARDED: "x-forwarded-for",
    Slot.METHOD: "cs-method",
    Slot.TARGET: "cs-uri-stem",
    Slot.QUERY: "cs-uri-query",
    Slot.HOST: "x-host-header cs(Host)",
    Slot.SCHEME: "cs-protocol",
    Slot.STATUS: "sc-status",
    Slot.REFERRER: "cs(Referer)",
    Slot.AGENT: "cs(User-Agent)",
}
_AKAMAI: Final = {
    Slot.TIME: "reqTimeSec",
    Slot.ADDRESS: "cliIP",
    Slot.FORWARDED: "xForwardedFor",
    Slot.METHOD: "reqMethod",
    Slot.TARGET: "reqPath",
    Slot.QUERY: "queryStr",
    Slot.HOST: "reqHost",
    Slot.STATUS: "statusCode",
    Slot.REFERRER: "referer",
    Slot.AGENT: "UA",
}
_GOOGLE: Final = {
    Slot.TIME: "timestamp",
    Slot.ADDRESS: "httpRequest.remoteIp",
    Slot.METHOD: "httpRequest.requestMethod",
    Slot.TARGET: "httpRequest.requestUrl",
    Slot.STATUS: "httpRequest.status",
    Slot.REFERRER: "httpRequest.referer",
    Slot.AGENT: "httpRequest.userAgent",
}
_AZURE: Final = {
    Slot.TIME: "time timeStamp",
    Slot.ADDRESS: "properties.clientIp properties.clientIP",
    Slot.METHOD: "properties.httpMethod",
    # What a gateway has rewritten is no address that anybody could fetch.
    Slot.TARGET: "properties.originalRequestUriWithArgs properties.requestUri",
    Slot.HOST: "properties.originalHost properties.hostName properties.host",
    Slot.STATUS: "properties.httpStatusCode properties.httpStatus",
    Slot.REFERRER: "properties.referer",
    Slot.AGENT: "properties.userAgent",
}

_EVENTS: Final = {
    Slot.TIME: "time",
    Slot.ADDRESS: "visitor",
    Slot.EVENT: "event",
    Slot.TARGET: "url",
    Slot.REFERRER: "referrer",
}
"""Paths of the fields of an event after unwrapping (`wrapped`)."""

_SNOWPLOW_COLUMNS: Final = {
    4: Slot.TIME,
    6: Slot.EVENT,
    14: Slot.ADDRESS,
    16: Slot.ADDRESS,
    30: Slot.TARGET,
    32: Slot.REFERRER,
    78: Slot.AGENT,
}
"""Columns of Snowplow's enriched events, from 1: the time at the collector; the address or, where
there is one, the id in the site's cookie; and others."""

SNOWPLOW_FIELDS: Final = 131

_SNOWPLOW: Final = Layout(
    kinds=(int(Kind.CSV),) * SNOWPLOW_FIELDS,
    slots=tuple(
        int(_SNOWPLOW_COLUMNS.get(number, SKIP)) for number in range(1, SNOWPLOW_FIELDS + 1)
    ),
    required=SNOWPLOW_FIELDS - 1,
    separator=b"\t",
)

_ALL: Final = (
    _delimited(
        "gandi",
        "Gandi simple hosting: combined with host and duration",
        f'host address - user [time] - - "request" status - {_AGENT}',
    ),
    _delimited(
        "combined_vhost",
        "Apache vhost_combined (`%v:%p` or `%v` first), nginx with $host first, Matomo's "
        "common_complete",
        f"host address - user {_TAIL} {_AGENT}",
    ),
    _delimited("ovh", "OVH: combined with the host second", f"address host user {_TAIL} {_AGENT}"),
    _delimited(
        "combined",
        "Apache and nginx combined, NCSA extended, Icecast; trailing fields are ignored",
        f"address - user {_TAIL} {_AGENT}",
    ),
    _delimited("common_vhost", "common with the host first", f"host address - user {_TAIL}"),
    _delimited("common", "common log format: no referrer, no agent", f"address - user {_TAIL}"),
    _delimited(
        "s3",
        "Amazon S3 server access log; the host is the Host header, else the bucket",
        '- host [time] address - - - - "request" status - - - - - "referrer" "agent" '
        "? - - - - - host",
        escaped=False,
    ),
    _delimited(
        "alb",
        "AWS application load balancer: no referrer",
        '- time - address:port - - - - status - - - "request" "agent" ?',
    ),
    _delimited(
        "elb",
        "AWS classic load balancer: no referrer",
        'time - address:port - - - - status - - - "request" ? "agent"',
    ),
    _delimited(
        "squid",
        "Squid native: no referrer, no agent",
        "time - address status - method target - - -",
        collapse=True,
        escaped=False,
    ),
    _delimited(
        "haproxy",
        "HAProxy HTTP log, also behind the words of syslog: no referrer, no agent",
        'address:port [time] - - - status - - - - - - ... "request"',
        collapse=True,
        escaped=False,
    ),
    _delimited(
        "envoy",
        "Envoy's own format: the visitor is X-Forwarded-For; no referrer",
        '[time] "request" status - - - - - "address" "agent" "-" "host" ?',
    ),
    Format("cloudfront", "Amazon CloudFront standard log", Syntax.DIRECTIVES),
    Format("w3c", "W3C extended log with a #Fields: header", Syntax.DIRECTIVES),
    Format("iis", "Microsoft IIS: W3C extended", Syntax.DIRECTIVES),
    _json("caddy_json", "Caddy's JSON access log", _CADDY, has_referrer=True),
    _json("traefik_json", "Traefik's JSON access log", _TRAEFIK),
    _json("cloudflare_json", "Cloudflare Logpush, HTTP requests", _CLOUDFLARE),
    _json(
        "cloudfront_json",
        "Amazon CloudFront standard log (v2) as JSON",
        _CLOUDFRONT,
        encoded=CLOUDFRONT_ENCODED,
    ),
    _json(
        "akamai_json",
        "Akamai DataStream 2 as JSON",
        _AKAMAI,
        encoded={"referrer": decode_percent, "agent": decode_percent},
    ),
    _json("google_json", "Google Cloud load balancer, as Cloud Logging exports it", _GOOGLE),
    _json("azure_json", "Azure Front Door and Application Gateway access log", _AZURE),
    replace(
        _json("matomo_json", "Matomo's visits with their actions, of its Live API", _EVENTS),
        wrapped=VISIT,
    ),
    replace(
        _json("ga4_json", "Google Analytics 4, its events in BigQuery as JSON lines", _EVENTS),
        wrapped=EVENT,
    ),
    _json("nginx_json", "nginx with a JSON log_format of the usual keys", _NGINX),
    _json("fluent_json", "Fluent Bit's and Fluentd's parsers of nginx and Apache", _FLUENT),
    _counts(
        "wikipedia_pageviews",
        "Wikipedia's pageviews of an hour, which is in the name of the file: counts of views",
        "host target views ?",
    ),
    _counts(
        "wikipedia_days",
        "Wikipedia's complete pageviews of a day, which is in the name of the file: counts of"
        " views",
        "host target - - views ?",
    ),
    _counts(
        "wikipedia_clickstream",
        "Wikipedia's clickstream of a month, which is in the name of the file: counts of transits",
        "referrer target - transits",
        separator=b"\t",
    ),
    Format(
        "snowplow",
        "Snowplow's enriched events: 131 columns without names",
        Syntax.DELIMITED,
        has_referrer=True,
        layout=_SNOWPLOW,
    ),
    _json("jsonl", "JSON lines, with our fields by `columns` as dotted paths", None),
    Format("csv", "comma-separated; its first line names columns", Syntax.TABLE, separator=b","),
    Format("tsv", "tab-separated; its first line names columns", Syntax.TABLE, separator=b"\t"),
    Format("parquet", "Parquet", Syntax.PARQUET),
)

FORMATS: Final[Mapping[str, Format]] = {fmt.name: fmt for fmt in _ALL}
"""Formats by name, in the order in which detection tries them: more specific ones first."""

NAMED: Final = frozenset({"nginx_json", "jsonl", "csv", "tsv", "parquet"})
"""Formats whose fields have names that the user chooses."""

ALIASES: Final[Mapping[str, str]] = {
    "apache": "combined",
    "traefikclf": "combined",
    "nginx": "combined",
    "ncsa_extended": "combined",
    "icecast2": "combined",
    "common_complete": "combined_vhost",
    "vhost_combined": "combined_vhost",
    "vcombined": "combined_vhost",
    "vcommon": "common_vhost",
    "awsalb": "alb",
    "awselb": "elb",
    "awss3": "s3",
    "w3c_extended": "w3c",
    "amazon_cloudfront": "cloudfront",
    "incapsula_w3c": "w3c",
    "netscaler": "w3c",
    "shoutcast": "w3c",
    "caddy": "caddy_json",
    "traefik": "traefik_json",
    "json": "jsonl",
}
"""Other names of formats."""
