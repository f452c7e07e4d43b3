"""The canonical URL of a page: the rule by which two logged URLs are the same page.

In: an absolute URL as logged, and the rules that users chose. Out: its canonical form, or None if
it is no page on the web; and the site of a canonical URL. The rule is written down for users, with
examples that are tested, in `docs/canonical-urls.md`. Not here: what users may choose
(`url_rules`), URLs that are recognised as canonical without this (`plain_urls`), what is no page
(`static_files`), where URLs of a log come from (`cleaning`).
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Final

import can_ada

from temporal_assets.core.text.texts import utf8
from temporal_assets.logs.urls.escapes import normalise
from temporal_assets.logs.urls.url_rules import DEFAULT, UrlRules

_NON_ASCII: Final = re.compile(rb"[\x80-\xff]")

_PARTS: Final = re.compile(
    r"(?P<scheme>https?)://"
    r"(?:[^/?#@]*@)?"
    r"(?P<host>[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|\[[0-9a-f:]+\])\.?"
    r"(?::(?P<port>[0-9]+))?"
    r"(?P<path>/[^?#]*)"
    r"(?:\?(?P<query>[^#]*))?"
)
"""An `href` of the WHATWG parser whose host can exist in the DNS (lengths: RFC 1035, 2.3.4)."""

MAX_HOST: Final = 253
"""Characters of a host name without its final dot (RFC 1035: 255 bytes in its wire form)."""

_DEFAULT_PORT: Final = {"http": "80", "https": "443"}
"""Port of each scheme that no URL needs to name."""
_DOT_SEGMENT: Final = re.compile(r"/\.\.?(?:/|$)")


def canonical_url(url: str | bytes, rules: UrlRules = DEFAULT) -> str | None:
    """Return the canonical form of an absolute URL; None if it is no page on the web.

    `url` is as logged, with the log's own escapes already decoded (`decode_escapes`). The result is
    pure ASCII, and its own canonical form.
    """
    try:
        href = can_ada.parse(_ascii(url)).href
    except ValueError:
        return None
    parts = _PARTS.match(href)
    if parts is None or len(parts["host"]) > MAX_HOST:
        return None
    logged_scheme, host, port, path, query = parts.group("scheme", "host", "port", "path", "query")
    scheme = logged_scheme if rules.scheme == "keep" else rules.scheme
    # The parser has dropped the port that was the logged scheme's default; one that is the new
    # scheme's default must go as well, or a second pass would drop it.
    if port is None or port == _DEFAULT_PORT[scheme]:
        origin = f"{scheme}://{host}"
    else:
        origin = f"{scheme}://{host}:{port}"
    path = _canonical_path(path, rules)
    query = canonical_query(query, rules) if query else ""
    return f"{origin}{path}?{query}" if query else f"{origin}{path}"


SITE: Final = r"^https?://([^/:\[]+|\[[^\]]*\])"
"""Regular expression whose first group is the site of a canonical URL, as `site_of` returns it."""


def site_of(url: str) -> str:
    """The site of a canonical URL: its host, without the port; IPv6 addresses in brackets."""
    host = url.split("/", 3)[2]
    if host.endswith("]"):
        return host
    return host.rpartition(":")[0] if ":" in host else host


def _ascii(url: str | bytes) -> str:
    """Return the URL with every byte beyond ASCII percent-encoded.

    This is what the WHATWG parser does to UTF-8 outside the host; inside the host it decodes
    percent escapes itself. So bytes that are not UTF-8 survive in the path, and are refused in the
    host.
    """
    raw = url if isinstance(url, bytes) else utf8(url)
    if raw.isascii():
        return raw.decode("ascii")
    return _NON_ASCII.sub(lambda match: b"%%%02X" % match[0][0], raw).decode("ascii")


def _canonical_path(path: str, rules: UrlRules) -> str:
    path = normalise(path)
    if ";" in path:
        path = rules.without_parameters(path)
    # The parser has resolved dot segments, but `/..;sid=1/` has become one just now, and it
    # overlooks those that follow a segment like `.git` (github.com/ada-url/ada/issues/935).
    return _without_dots(path) if _DOT_SEGMENT.search(path) else path


def _without_dots(path: str) -> str:
    """Return the path with `.` and `..` resolved; empty segments count, as in a browser."""
    *folders, last = path[1:].split("/")
    resolved: list[str] = []
    for segment in [*folders, last]:
        if segment == "..":
            del resolved[-1:]
        elif segment != ".":
            resolved.append(segment)
    return "/".join(["", *resolved, *([""] if last in (".", "..") else [])])


def canonical_query(query: str, rules: UrlRules) -> str:
    """Return the fields that belong to the page, sorted by key; repeated keys keep their order."""
    fields = []
    for text in normalise(query).split("&"):
        key, _, value = text.partition("=")
        if text and not rules.drops(key, value):
            fields.append((key, text))
    fields.sort(key=itemgetter(0))
    return "&".join([text for _, text in fields])
