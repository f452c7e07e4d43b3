"""The canonical URL of a page: the rule by which two logged URLs are the same page.

Here: the rule itself, what a site and a static resource are, and kernels that recognise URLs which
are canonical already. The rule is written down for users, with examples that are tested, in
`docs/canonical-urls.md`. Not here: where it is applied (`cleaning`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import unquote_to_bytes

import can_ada
import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.numerics.compiled import loop, readonly
from temporal_assets.core.text.texts import utf8
from temporal_assets.logs.read.kernels import (
    DOT,
    HASH,
    MINUS,
    NINE,
    PERCENT,
    QUESTION,
    SLASH,
    ZERO,
)
from temporal_assets.logs.read.records import Bytes, Offsets

if TYPE_CHECKING:  # crawlers use this module, and have no use for settings
    from temporal_assets.settings import Cleaning

Scheme = Literal["https", "http", "keep"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# --------------------------------------------------------------------------- what is dropped

SESSION_KEYS: Final = _names(
    "phpsessid phpsessionid jsessionid aspsessionid* asp.net_sessionid sid session_id sessionid "
    "cfid cftoken oscsid zenid xtcsid"
)
"""Query keys that name one visit, not one page. A trailing `*` stands for any continuation of the
name."""

TRACKING_KEYS: Final = _names(
    "utm_* mtm_* pk_campaign pk_kwd pk_source pk_medium pk_content pk_cid piwik_campaign piwik_kwd "
    "gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid _ga _gl "
    "fbclid fb_action_ids fb_action_types fb_source fb_ref igshid igsh "
    "msclkid yclid ysclid _openstat twclid ttclid li_fat_id epik ref_src ref_url "
    "mc_cid mc_eid mkt_tok _hsenc _hsmi __hssc __hstc __hsfp hsctatracking "
    "vero_id oly_anon_id oly_enc_id"
)
"""Query keys that say how a visitor came (campaigns, advertisements, newsletters)."""

ADDRESS_KEYS: Final = _names("ip ipaddr ip_address client_ip clientip remote_addr user_ip")
"""Query keys that hold the visitor's address, which must not be stored (docs/privacy.md)."""

PATH_PARAMETERS: Final = frozenset(("jsessionid", "sid", "phpsessid"))
"""Session keys that servers also write into the path, as `/page;jsessionid=1`."""

_NUMBERED_KEY: Final = "sid"
_RECORD_NUMBER: Final = re.compile(r"[0-9]{1,12}(?:(?:[/.-]|%2F)[0-9]{1,12})*", re.ASCII)
"""`sid` is a session to forums but the number of a story to PHP-Nuke (`sid=1234`) and Slashdot
(`sid=03/04/05/1234`); dropping it there would make one page of all their news. Tokens of
sessions have letters in them."""

# ------------------------------------------------------------------------------ static files

STATIC_EXTENSIONS: Final = frozenset(
    b"css js mjs map wasm json webmanifest "  # parts of a page
    b"avif bmp cur gif heic ico jfif jpe jpeg jpg jxl png svg svgz tif tiff webp "  # images
    b"eot otf ttf woff woff2 "  # fonts
    b"aac aiff avi f4v flac flv m3u8 m4a m4s m4v mid midi mkv mov mp2 mp3 mp4 mpeg mpg oga ogg "
    b"ogv opus ram rm swf ts wav weba webm wma wmv "  # sound and moving pictures
    b"7z apk bin bz2 cab class deb dmg exe gz ipa iso jar msi rar rpm tar tgz torrent xz zip zst "
    b"atom rss".split()  # downloads; feeds, which programs poll
)
"""Extensions of resources that are no page. Documents (pdf, doc, txt, csv, xml …) are pages: people
read them and link to them."""

SOURCE_EXTENSIONS: Final = frozenset((b"atom", b"gz", b"rss"))
"""Extensions of feeds and packed sitemaps: no pages in a log, but crawlers look for them."""

_MACHINE_FILE: Final = re.compile(
    rb"/(?:robots|ads|app-ads|humans|security)\.txt$"
    rb"|/sitemap[^/]*\.xml$"
    rb"|/(?:browserconfig|crossdomain|clientaccesspolicy)\.xml$"
    rb"|^/\.well-known(?:/|$)"
)
"""Files that only programs ask for. Compressed sitemaps fall to their `.gz`."""

_ORIGIN: Final = re.compile(rb"^[A-Za-z]+://[^/?#]*")
_AFTER_PATH: Final = re.compile(rb"[?#;]")
"""Path parameters (`/logo.png;jsessionid=1`) hide an extension as much as a query does."""

# -------------------------------------------------------------------------------- characters

_NON_ASCII: Final = re.compile(rb"[\x80-\xff]")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
"""Characters that a percent escape must not encode (RFC 3986, 2.3)."""

_TO_NORMALISE: Final = re.compile(r"%[0-9A-Fa-f]{2}|[%\[\]^|\\`{}]")
"""Percent escapes, percent signs that begin none, and the characters that the WHATWG parser
leaves alone although RFC 3986 wants them escaped."""


def _normal_form(text: str) -> str:
    if len(text) == 1:
        return f"%{ord(text):02X}"
    character = chr(int(text[1:], 16))
    return character if character in _UNRESERVED else text.upper()


_HEX: Final = "0123456789ABCDEFabcdef"
_NORMAL: Final = {
    text: _normal_form(text) for text in [*(f"%{a}{b}" for a in _HEX for b in _HEX), *r"%[]^|\`{}"]
}
"""Replacement of every match of `_TO_NORMALISE`."""

_PARTS: Final = re.compile(
    r"(?P<scheme>https?)://"
    r"(?:[^/?#@]*@)?"
    r"(?P<host>[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|\[[0-9a-f:]+\])\.?"
    r"(?::(?P<port>[0-9]+))?"
    r"(?P<path>/[^?#]*)"
    r"(?:\?(?P<query>[^#]*))?"
)
"""An `href` of the WHATWG parser whose host can exist in the DNS (lengths: RFC 1035, 2.3.4)."""

_MAX_HOST: Final = 253
"""Characters of a host name without its final dot (RFC 1035: 255 bytes in its wire form)."""

_DEFAULT_PORT: Final = {"http": "80", "https": "443"}
_DOT_SEGMENT: Final = re.compile(r"/\.\.?(?:/|$)")


def _normalise(text: str) -> str:
    """Return path or query with one spelling per escape (RFC 3986, 6.2.2)."""
    return _TO_NORMALISE.sub(lambda match: _NORMAL[match[0]], text)


# ----------------------------------------------------------------------------------- the rule


def _any_key(keys: frozenset[str]) -> str:
    """Return an expression for key names; `(?!)`, which matches nothing, if there are none."""
    return f"(?:{'|'.join(map(_key_pattern, sorted(keys))) or '(?!)'})"


def _key_pattern(key: str) -> str:
    return re.escape(_key_text(key)) + (".*" if key.endswith("*") else "")


def _key_text(key: str) -> str:
    """Return a key without its asterisk, as the WHATWG parser and `_normalise` leave it."""
    query = can_ada.parse(f"https://host/?{key.removesuffix('*').replace('#', '%23')}").search
    return _normalise(query.removeprefix("?"))


_MARKS: Final = 1 << 14
"""Size of the hash table in which key names are marked. With a hundred names, one in 150 others is
a false positive."""

_KEYS_KNOWN: Final = 1024
"""Names of query keys that are remembered: a site has some dozens, and a log repeats them."""

_NAME: Final = 1
_BEGINNING: Final = 2

_FNV_BASIS: Final = np.uint64(0xCBF29CE484222325)
_FNV_PRIME: Final = np.uint64(0x100000001B3)


def _suspects(keys: frozenset[str]) -> NDArray[np.uint8]:
    """Return marks at the hashes of key names, and of the beginnings of names with a `*`."""
    marks = np.zeros(_MARKS, np.uint8)
    for key in keys:
        state = int(_FNV_BASIS)
        for byte in _key_text(key).lower().encode():
            state = (state ^ byte) * int(_FNV_PRIME) & (1 << 64) - 1
        marks[state & (_MARKS - 1)] |= _BEGINNING if key.endswith("*") else _NAME
    return marks


@dataclass(frozen=True, slots=True)
class UrlRules:
    """Rules of canonical URLs that users may choose."""

    scheme: Scheme = "https"
    """The scheme all pages are stored under."""
    dropped_keys: frozenset[str] = SESSION_KEYS | TRACKING_KEYS | ADDRESS_KEYS
    """Query keys, any case. A trailing `*` stands for any continuation of the name."""
    kept_keys: frozenset[str] = frozenset()
    """Exceptions to `dropped_keys`, written in the same way."""

    _dropped: Callable[[str], re.Match[str] | None] = field(init=False, repr=False, compare=False)
    _parameters: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _suspects: NDArray[np.uint8] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kept = _any_key(self.kept_keys)
        dropped = f"(?!{kept}\\Z){_any_key(self.dropped_keys)}"
        exception = re.compile(kept, re.IGNORECASE | re.ASCII)
        parameters = sorted(key for key in PATH_PARAMETERS if not exception.fullmatch(key))
        is_dropped = re.compile(dropped, re.IGNORECASE | re.ASCII).fullmatch
        object.__setattr__(self, "_dropped", lru_cache(_KEYS_KNOWN)(is_dropped))
        object.__setattr__(
            self,
            "_parameters",
            re.compile(f";(?:{'|'.join(parameters) or '(?!)'})=[^;/]*", re.IGNORECASE | re.ASCII),
        )
        object.__setattr__(self, "_suspects", _suspects(self.dropped_keys))

    def __reduce__(self) -> tuple[type[UrlRules], tuple[Scheme, frozenset[str], frozenset[str]]]:
        """Return what was chosen.

        What was remembered of keys does not travel to other processes.
        """
        return UrlRules, (self.scheme, self.dropped_keys, self.kept_keys)

    @classmethod
    def from_settings(cls, cleaning: Cleaning) -> UrlRules:
        """Return the built-in list with the user's additions and exceptions."""
        return cls(
            scheme=cleaning.scheme,
            dropped_keys=SESSION_KEYS
            | TRACKING_KEYS
            | ADDRESS_KEYS
            | frozenset(cleaning.drop_query_keys),
            kept_keys=frozenset(cleaning.keep_query_keys),
        )

    def drops(self, key: str, value: str) -> bool:
        """Return True if a query field (in canonical escapes) does not belong to the page."""
        if self._dropped(key) is None:
            return False
        return key.lower() != _NUMBERED_KEY or _RECORD_NUMBER.fullmatch(value) is None

    def without_parameters(self, path: str) -> str:
        """Return the path without session parameters."""
        return self._parameters.sub("", path)


DEFAULT: Final = UrlRules()


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
    if parts is None or len(parts["host"]) > _MAX_HOST:
        return None
    given, host, port, path, query = parts.group("scheme", "host", "port", "path", "query")
    scheme = given if rules.scheme == "keep" else rules.scheme
    # The parser has dropped the port that was the given scheme's default; one that is the new
    # scheme's default must go as well, or a second pass would drop it.
    if port is None or port == _DEFAULT_PORT[scheme]:
        origin = f"{scheme}://{host}"
    else:
        origin = f"{scheme}://{host}:{port}"
    path = _canonical_path(path, rules)
    query = _canonical_query(query, rules) if query else ""
    return f"{origin}{path}?{query}" if query else f"{origin}{path}"


SITE: Final = r"^https?://([^/:\[]+|\[[^\]]*\])"
"""Regular expression whose first group is the site of a canonical URL, as `site_of` returns it."""


def site_of(url: str) -> str:
    """The site of a canonical URL: its host, without the port; IPv6 addresses in brackets."""
    host = url.split("/", 3)[2]
    if host.endswith("]"):
        return host
    return host.rpartition(":")[0] if ":" in host else host


def is_static(target: bytes) -> bool:
    """Return whether a request target is a resource or a file for programs, not a page.

    Targets are judged as logged: origin or absolute form, with or without query.
    """
    logged = _ORIGIN.sub(b"", target, count=1)
    path = _AFTER_PATH.split(logged, maxsplit=1)[0].lower()
    if b"%" in path:
        path = unquote_to_bytes(path).lower()
    _, dot, extension = path.rpartition(b"/")[2].rpartition(b".")
    if dot and extension in STATIC_EXTENSIONS:  # `/map` and `/rss` are pages
        return True
    return _MACHINE_FILE.search(path) is not None


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
    path = _normalise(path)
    if ";" in path:
        path = rules.without_parameters(path)
    # The parser has resolved dot segments, but `/..;sid=1/` has become one just now, and it
    # overlooks those that follow a segment like `.git` (github.com/ada-url/ada/issues/935).
    return _without_dots(path) if _DOT_SEGMENT.search(path) else path


def _without_dots(path: str) -> str:
    """Return the path with `.` and `..` resolved; empty segments count, as in a browser."""
    *folders, last = path[1:].split("/")
    kept: list[str] = []
    for segment in [*folders, last]:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    return "/".join(["", *kept, *([""] if last in (".", "..") else [])])


def _canonical_query(query: str, rules: UrlRules) -> str:
    """Return the fields that belong to the page, sorted by key; repeated keys keep their order."""
    fields = []
    for text in _normalise(query).split("&"):
        key, _, value = text.partition("=")
        if text and not rules.drops(key, value):
            fields.append((key, text))
    fields.sort(key=itemgetter(0))
    return "&".join([text for _, text in fields])


# ------------------------------------------------------------------------- escapes of the log

_LOG_ESCAPE: Final = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|([\"\\nrtbv]))")
_LOG_CHARACTER: Final = {
    b'"': b'"', b"\\": b"\\", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"v": b"\v",
}  # fmt: skip


def decode_escapes(raw: bytes) -> bytes:
    r"""Undo Apache's and nginx's escapes (`\"`, `\\`, `\n`, `\xHH` …); others stay as they are."""
    if b"\\" not in raw:
        return raw
    return _LOG_ESCAPE.sub(_log_character, raw)


def _log_character(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match[1].decode()) if match[1] else _LOG_CHARACTER[match[2]]


# ---------------------------------------------------------------------------------- fast paths

_PLAIN: Final = np.zeros(256, np.bool_)
"""Bytes that neither the WHATWG parser nor the rule above ever changes in a path."""
_PLAIN[np.frombuffer(b"".join(sorted(c.encode() for c in _UNRESERVED)), np.uint8)] = True
_PLAIN[np.frombuffer(b"!$&'()*+,:=@/", np.uint8)] = True

NOT_PLAIN: Final = 0
PLAIN_HTTP: Final = 1
PLAIN_HTTPS: Final = 2

_HTTP: Final = np.frombuffer(b"http://", np.uint8)
_HTTPS: Final = np.frombuffer(b"https://", np.uint8)
_PUNYCODE: Final = np.frombuffer(b"xn--", np.uint8)
_A: Final = ord("a")
_UPPER_A: Final = ord("A")
_UPPER_F: Final = ord("F")
_TO_UPPER: Final = 0xDF
"""Mask of a letter: all bits but the one that lower case has."""
_Z: Final = ord("z")
_UPPER_Z: Final = ord("Z")
_AND: Final = ord("&")
_EQUALS: Final = ord("=")
_SEMICOLON: Final = ord(";")
_EXCLAMATION: Final = ord("!")
"""The first byte that is neither control nor blank."""
_MAX_LABEL: Final = 63


def plain_targets(
    data: Bytes, start: Offsets, stop: Offsets, rules: UrlRules = DEFAULT
) -> NDArray[np.bool_]:
    """Return flags of request targets that are canonical paths, with or without a query.

    True for i means `canonical_url(origin + target, rules) == origin + target` for every canonical
    origin. False says nothing. Values are `data[start[i]:stop[i]]`; `start[i] < 0` is no value.
    """
    return _plain_targets(data, start, stop, _PLAIN, _PLAIN_QUERY, rules._suspects)


def plainly_spelled(data: Bytes, start: Offsets, stop: Offsets) -> NDArray[np.bool_]:
    """Return flags of request targets that need no parser, at most a change of their fields.

    True for i means `canonical_url(origin + target, rules) == origin + tidied(target, rules)` for
    every canonical origin. False says nothing. Values as in `plain_targets`.
    """
    return _plainly_spelled(data, start, stop, _PLAIN, _PLAIN_QUERY)


def tidied(target: bytes, rules: UrlRules = DEFAULT) -> bytes:
    """Return a plainly spelled target with only the fields that belong to the page, sorted."""
    path, _, query = target.decode("ascii").partition("?")
    query = _canonical_query(query, rules) if query else ""
    return (f"{path}?{query}" if query else path).encode()


def sure_pages(data: Bytes, start: Offsets, stop: Offsets) -> NDArray[np.bool_]:
    """Return flags of request targets that are surely pages: True means `not is_static(target)`.

    False says nothing. Values as in `plain_targets`. `is_static` takes 5 microseconds a target, 20
    if it has escapes, and nearly all pages are decided here, in a fiftieth of that.
    """
    return _sure_pages(data, start, stop, _OTHER_EXTENSIONS)


def plain_pages(data: Bytes, start: Offsets, stop: Offsets, rules: UrlRules) -> NDArray[np.uint8]:
    """Return which absolute URLs are canonical, except perhaps for their scheme.

    PLAIN_HTTP or PLAIN_HTTPS: `canonical_url(url, rules)` is `url` under the scheme of the rules.
    NOT_PLAIN says nothing. A query must be sorted, plain, and without keys to be dropped; a key
    that only resembles one of `rules.dropped_keys` makes a URL NOT_PLAIN, and most keys do not.
    """
    return _plain_pages(
        data, readonly(start), readonly(stop), _PLAIN, _PLAIN_QUERY, rules._suspects
    )


_PLAIN_QUERY: Final = _PLAIN.copy()
"""Bytes that are never changed in a query: the apostrophe is escaped there, a question mark is
not."""
_PLAIN_QUERY[ord("'")] = False
_PLAIN_QUERY[ord("?")] = True


@loop
def _mix(state: np.uint64, byte: int) -> np.uint64:
    """Return the FNV-1a hash after one more byte; `_suspects` computes the same in Python."""
    return (state ^ np.uint64(byte)) * _FNV_PRIME


@loop
def _begins(data: Bytes, at: int, stop: int, word: Bytes) -> bool:
    if stop - at < word.size:
        return False
    same = True
    for i in range(word.size):
        same &= data[at + i] == word[i]
    return same


@loop
def _plain_path(data: Bytes, at: int, stop: int, plain: NDArray[np.bool_]) -> bool:
    """Return whether `data[at:stop]` is `/`, then plain bytes and escapes, without dot segments."""
    if at >= stop or data[at] != SLASH:
        return False
    dots = 0  # length of the segment so far if it has nothing but dots, else -1
    for i in range(at + 1, stop):
        byte = data[i]
        if byte == PERCENT:
            if not _plain_escape(data, i, stop, plain):
                return False
        elif not plain[byte]:
            return False
        if byte == SLASH:
            if dots == 1 or dots == 2:
                return False
            dots = 0
        elif byte == DOT and dots >= 0:
            dots += 1
        else:
            dots = -1
    return dots != 1 and dots != 2


@loop
def _plain_escape(data: Bytes, at: int, stop: int, plain: NDArray[np.bool_]) -> bool:
    """Return whether `%XX` in upper case stands at `at`, for a byte that must be escaped."""
    if at + 2 >= stop:
        return False
    high, low = _hex_digit(data[at + 1]), _hex_digit(data[at + 2])
    # Some plain bytes, such as `/`, may stay escaped as well; those are left to the parser.
    return high >= 0 and low >= 0 and not plain[16 * high + low]


@loop
def _hex_digit(byte: int) -> int:
    if ZERO <= byte <= NINE:
        return int(byte) - ZERO
    if _UPPER_A <= byte <= _UPPER_F:
        return int(byte) - _UPPER_A + 10
    return -1


@loop
def _plain_host(data: Bytes, at: int, stop: int) -> int:
    """Return where the host that begins at `at` ends; -1 unless it is surely canonical.

    Labels of lower-case letters, digits and inner hyphens; the last one begins with a letter
    (else it may be an IPv4 address); none is punycode, which the parser validates.
    """
    label = at
    for i in range(at, min(stop, at + _MAX_HOST + 1)):
        byte = data[i]
        if byte in (DOT, SLASH):
            if not _plain_label(data, label, i):
                return -1
            if byte == SLASH:
                return i if _A <= data[label] <= _Z else -1
            label = i + 1
        elif not (_A <= byte <= _Z or ZERO <= byte <= NINE or byte == MINUS):
            return -1
    return -1


@loop
def _plain_label(data: Bytes, at: int, stop: int) -> bool:
    if at == stop or stop - at > _MAX_LABEL or data[at] == MINUS or data[stop - 1] == MINUS:
        return False
    return not _begins(data, at, stop, _PUNYCODE)


@loop
def _plain_targets(
    data: Bytes,
    start: Offsets,
    stop: Offsets,
    plain: NDArray[np.bool_],
    plain_query: NDArray[np.bool_],
    suspects: NDArray[np.uint8],
) -> NDArray[np.bool_]:
    """Return True for each target that is a plain page (`_plain_page`)."""
    out = np.zeros(start.size, np.bool_)
    for i in range(start.size):
        out[i] = start[i] >= 0 and _plain_page(
            data, start[i], stop[i], plain, plain_query, suspects
        )
    return out


@loop
def _plain_page(
    data: Bytes,
    path: int,
    stop: int,
    plain: NDArray[np.bool_],
    plain_query: NDArray[np.bool_],
    suspects: NDArray[np.uint8],
) -> bool:
    """Return whether `data[path:stop]` is a plain path, and a plain query if it has one."""
    query = path
    while query < stop and data[query] != QUESTION:
        query += 1
    if not _plain_path(data, path, query, plain):
        return False
    return query == stop or _plain_query(data, query + 1, stop, plain_query, suspects)


@loop
def _plainly_spelled(
    data: Bytes,
    start: Offsets,
    stop: Offsets,
    plain: NDArray[np.bool_],
    plain_query: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Return True for each target whose path and query have plain characters only."""
    out = np.zeros(start.size, np.bool_)
    for i in range(start.size):
        query = start[i]
        while 0 <= query < stop[i] and data[query] != QUESTION:
            query += 1
        out[i] = (
            query >= 0
            and _plain_path(data, start[i], query, plain)
            and _plain_text(data, query + 1, stop[i], plain_query)
        )
    return out


@loop
def _plain_text(data: Bytes, at: int, stop: int, plain: NDArray[np.bool_]) -> bool:
    """Return whether all of it is plain, or escaped because it must be."""
    good = True
    for i in range(at, stop):
        byte = data[i]
        good &= _plain_escape(data, i, stop, plain) if byte == PERCENT else plain[byte]
    return good


_LONGEST_EXTENSION: Final = 8
"""Bytes that a number holds; longer extensions are left to `is_static`."""

_OTHER_EXTENSIONS: Final = np.array(
    sorted(
        int.from_bytes(extension, "big")
        for extension in (*STATIC_EXTENSIONS, b"txt", b"xml")  # `_MACHINE_FILE` has these two
        if len(extension) <= _LONGEST_EXTENSION
    ),
    np.uint64,
)
"""Extensions that pages do not have, or not all files that have them."""


@loop
def _sure_pages(
    data: Bytes, start: Offsets, stop: Offsets, others: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    out = np.zeros(start.size, np.bool_)
    for i in range(start.size):
        out[i] = start[i] >= 0 and _sure_page(data, start[i], stop[i], others)
    return out


@loop
def _sure_page(data: Bytes, at: int, stop: int, others: NDArray[np.uint64]) -> bool:
    """Return True if a target in origin form surely has no extension of a resource.

    Escapes are decoded.
    """
    if at >= stop or data[at] != SLASH:
        return False
    length = -1  # of the extension, -1 before the first dot of the segment
    extension = np.uint64(0)
    place = 0
    while at < stop and data[at] not in (QUESTION, _SEMICOLON, HASH):
        byte = int(data[at])
        if byte == PERCENT:
            byte = _escaped_byte(data, at, stop)
            at += 2
        at += 1
        if byte < _EXCLAMATION or (byte == DOT and place == 1):  # `/.well-known`
            return False
        place += 1
        if byte == SLASH:
            length = -1
        elif byte == DOT:
            length, extension = 0, np.uint64(0)
        elif length >= 0:
            length += 1
            upper = _UPPER_A <= byte <= _UPPER_Z
            lower = np.uint64(byte + (_A - _UPPER_A if upper else 0))
            extension = extension << np.uint64(8) | lower
    if length <= 0:
        return True
    if length > _LONGEST_EXTENSION:
        return False
    position = np.searchsorted(others, extension)
    return bool(position == others.size or others[position] != extension)


@loop
def _escaped_byte(data: Bytes, at: int, stop: int) -> int:
    """Return the byte that `%XX` at `at` stands for, in either case; -1 if there is no `XX`."""
    if at + 2 >= stop:
        return -1
    first, second = int(data[at + 1]), int(data[at + 2])
    high = _hex_digit(first & _TO_UPPER if first >= _A else first)
    low = _hex_digit(second & _TO_UPPER if second >= _A else second)
    return 16 * high + low if high >= 0 and low >= 0 else -1


@loop
def _plain_pages(
    data: Bytes,
    start: Offsets,
    stop: Offsets,
    plain: NDArray[np.bool_],
    plain_query: NDArray[np.bool_],
    suspects: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Return PLAIN_HTTP or PLAIN_HTTPS for each URL that is canonical as it is, else 0."""
    out = np.zeros(start.size, np.uint8)
    for i in range(start.size):
        if start[i] < 0:
            continue
        if _begins(data, start[i], stop[i], _HTTP):
            kind, host = PLAIN_HTTP, start[i] + _HTTP.size
        elif _begins(data, start[i], stop[i], _HTTPS):
            kind, host = PLAIN_HTTPS, start[i] + _HTTPS.size
        else:
            continue
        path = _plain_host(data, host, stop[i])
        if path >= 0 and _plain_page(data, path, stop[i], plain, plain_query, suspects):
            out[i] = kind
    return out


@loop
def _plain_query(
    data: Bytes, at: int, stop: int, plain: NDArray[np.bool_], suspects: NDArray[np.uint8]
) -> bool:
    """Return True if `data[at:stop]` is plain fields sorted by name, none to be dropped."""
    if suspects[np.int64(_FNV_BASIS & np.uint64(_MARKS - 1))] & _BEGINNING:
        return False  # all keys are dropped
    before = name_stop = at  # the name of the field before; empty at first
    while True:
        name_end, end = _plain_field(data, at, stop, plain, suspects)
        if end <= at or not _in_order(data, before, name_stop, at, name_end):
            return False
        if end == stop:
            return True
        before, name_stop = at, name_end
        at = end + 1


@loop
def _plain_field(
    data: Bytes, start: int, stop: int, plain: NDArray[np.bool_], suspects: NDArray[np.uint8]
) -> tuple[int, int]:
    """Return the ends of the name and of the field that begin at `start`; -1 if it is not plain."""
    state = _FNV_BASIS
    name_end = -1
    at = start
    while at < stop and data[at] != _AND:
        byte = data[at]
        if not (_plain_escape(data, at, stop, plain) if byte == PERCENT else plain[byte]):
            return -1, -1
        if byte == _EQUALS and name_end < 0:
            name_end = at
        elif name_end < 0:
            upper = _UPPER_A <= byte <= _UPPER_Z
            state = _mix(state, byte + (_A - _UPPER_A if upper else 0))
            if suspects[np.int64(state & np.uint64(_MARKS - 1))] & _BEGINNING:
                return -1, -1
        at += 1
    if suspects[np.int64(state & np.uint64(_MARKS - 1))] & _NAME:
        return -1, -1
    return (at if name_end < 0 else name_end), at


@loop
def _in_order(data: Bytes, first: int, first_stop: int, second: int, second_stop: int) -> bool:
    """Return True if the first text does not come after the second."""
    shared = min(first_stop - first, second_stop - second)
    for i in range(shared):
        if data[first + i] != data[second + i]:
            return bool(data[first + i] < data[second + i])
    return first_stop - first <= second_stop - second
