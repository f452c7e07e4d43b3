"""The formats of access logs that are known by name, as data.

`FORMATS` has each with the layout of its words or the JSON paths of its fields, in the order in
which detection tries them. A server's new format is a new entry here. Not here: what a `Format` is
(`format`), recognising one (`detection`), parsing by it (`parsing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from temporal_assets.logs.fields.layouts import (
    SKIP,
    Kind,
    Layout,
    Slot,
    layout,
)
from temporal_assets.logs.fields.rewrite import (
    CLOUDFRONT_ENCODED,
    Decode,
    decode_percent,
)
from temporal_assets.logs.formats.format import Format, Syntax
from temporal_assets.logs.formats.shipped_lines import EVENT, VISIT
from temporal_assets.logs.formats.structured import dotted


def _delimited(
    name: str, description: str, notation: str, *, collapse: bool = False, escaped: bool = True
) -> Format:
    """Return a format of words, brackets and quotes, written as in `layouts`."""
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
    """Return a format of JSON lines; a field has paths parted by blanks, the likeliest first."""
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
"""End of the common log format, in the notation of `layouts`."""
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
"""Paths of the fields of an event after unwrapping (`shipped_lines`)."""

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
"""Number of columns of an enriched event."""

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
"""All formats, more specific ones first."""

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
