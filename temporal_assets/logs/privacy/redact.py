r"""Samples of rejected lines that are safe to store.

A line nobody could parse may hold an address, a name or a password anywhere, in any notation.
So nothing here knows formats: what looks like something private is replaced by a word in
brackets, rather too much than too little. Not here: which lines are sampled (`cleaning`,
`tally`).

Everything is looked for in the line as it is and with its escapes decoded (`%3A`, `%253A`, `\x3a`,
`\u003a`, `\"`). Every pattern is linear in what it looks at, which is
bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

SAMPLE_CHARACTERS: Final = 500
"""Length of a sample: enough to see what is wrong with a line."""

_SCANNED: Final = 8192
"""Most bytes of a line that are read."""

_MARGIN: Final = 512
"""Bytes dropped at the end of a line that is longer: an address or a name that the cut goes
through would not be recognised. Longer than both, with escapes."""


@dataclass(frozen=True, slots=True, order=True)
class _Span:
    start: int
    stop: int
    word: str


def redact(line: bytes, private_values: Sequence[bytes] = ()) -> str:
    """Return printable text of a line, at most SAMPLE_CHARACTERS long, without anything private.

    `private_values` are private whatever they look like: the client's address field.
    """
    raw = line[:_SCANNED]
    spans = [*_private(raw, private_values)]
    for escapes in _readings(raw):
        decoded, origin = _decoded(raw, escapes)
        spans += [
            _Span(origin[span.start], origin[span.stop], span.word)
            for span in _private(decoded, private_values)
        ]
    end = len(raw) - _MARGIN if len(line) > _SCANNED else len(raw)
    text = "".join(_pieces(raw[:end], sorted(spans)))
    if len(text) > SAMPLE_CHARACTERS or end < len(line):
        return text[: SAMPLE_CHARACTERS - 1] + "…"
    return text


def _pieces(raw: bytes, spans: Iterable[_Span]) -> Iterator[str]:
    """Yield printable text between the spans, and one word for spans that touch or overlap."""
    at = 0
    for span in spans:
        if span.start >= len(raw):
            break
        if span.start > at or at == 0:
            yield _printable(raw[at : span.start])
            yield f"[{span.word}]"
        at = max(at, span.stop)
    yield _printable(raw[at:])


def _printable(raw: bytes) -> str:
    text = raw.decode("utf-8", "surrogateescape")
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(ord(c)) for c in text)


def _escaped(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


# --------------------------------------------------------------------------------- escapes

_ESCAPE: Final = re.compile(
    rb"%(?:25)*([0-9A-Fa-f]{2})|(?<!\\)\\++(?:x([0-9A-Fa-f]{2})|u00([0-9A-Fa-f]{2})|([^\\%]))"
)
"""Percent escapes, encoded any number of times; backslash escapes of servers and of JSON."""


_SEPARATORS: Final = b".:-@"
"""Characters that join the parts of an address."""


def _readings(raw: bytes) -> Iterator[Sequence[re.Match[bytes]]]:
    """Yield the sets of escapes to decode: only the separators of addresses, then all.

    After a stray percent sign (`%10%2E0%2E0%2E1`) a digit looks like part of an escape.
    """
    escapes = [*_ESCAPE.finditer(raw)]
    separators = [match for match in escapes if _character(match) in _SEPARATORS]
    if separators and len(separators) < len(escapes):
        yield separators
    if escapes:
        yield escapes


def _character(escape: re.Match[bytes]) -> bytes:
    code = escape[1] or escape[2] or escape[3]
    return bytes.fromhex(code.decode()) if code else escape[4]


def _decoded(raw: bytes, escapes: Iterable[re.Match[bytes]]) -> tuple[bytes, list[int]]:
    """Return the line without escapes, and the position in `raw` of each byte and of the end."""
    out = bytearray()
    widths: list[int] = []
    at = 0
    for match in escapes:
        out += raw[at : match.start()]
        widths += [1] * (match.start() - at)
        out += _character(match)
        widths.append(match.end() - match.start())
        at = match.end()
    out += raw[at:]
    widths += [1] * (len(raw) - at)
    return bytes(out), [*accumulate(widths, initial=0)]


# ------------------------------------------------------------------------- what is private


def _private(text: bytes, private_values: Sequence[bytes]) -> Iterator[_Span]:
    """Yield the ranges of a line that look private, of each kind in turn."""
    for line in _LINE.finditer(text):
        yield from _clients(line[0], line.start())
    yield from _private_spans(text, private_values)
    yield from _addresses(text)
    yield from _spans(_USER_INFO, text, "credentials")
    yield from _spans(_EMAIL, text, "email")
    yield from _spans(_COOKIES, text, "cookie")
    yield from _values(text)


def _spans(pattern: re.Pattern[bytes], text: bytes, word: str) -> Iterator[_Span]:
    return (_Span(*match.span(), word) for match in pattern.finditer(text))


_HEAD: Final = re.compile(rb'(?!\d{4}[-/])[^\["{]{1,1024}(?=\[)')
_HEAD_FIELDS: Final = 6
"""Common log lines have 3 fields before the time, 4 with the virtual host, and somebody's own
may have more; a line that begins with a date is another kind of log."""

_LINE: Final = re.compile(rb"[^\r]++")
"""Expression for a line: a file with bare carriage returns is one line to the reader."""

_FIELD: Final = re.compile(rb"[^\s-]\S*|-\S+")
_FIRST_NAME: Final = re.compile(rb"[\w-]+(?:\.[\w-]+)+(?=\s|\Z)")


def _clients(line: bytes, start: int) -> Iterator[_Span]:
    """Yield the fields before the time of a common log line; else a host name that begins the line.

    These fields are the client (by its name, if the server looks names up), the user who is logged
    in, and the virtual host before them. `start` is where the line begins in its text.
    """
    head = _HEAD.match(line)
    fields = [*_FIELD.finditer(head[0])] if head else []
    if not 0 < len(fields) <= _HEAD_FIELDS:
        name = _FIRST_NAME.match(line)
        fields = [name] if name else []
    for field in fields:
        yield _Span(start + field.start(), start + field.end(), "client")


_SHORT: Final = 4


def _private_spans(text: bytes, private_values: Sequence[bytes]) -> Iterator[_Span]:
    """Yield every occurrence of the known values, and of the members of lists among them."""
    for value in {
        part for whole in private_values for part in (whole, *re.split(rb"[\s,]+", whole))
    }:
        if value in (b"", b"-"):
            continue
        pattern = re.escape(value)
        if len(value) < _SHORT:  # client 7 is not every 7 of the line
            pattern = rb"(?<!\w)" + pattern + rb"(?!\w)"
        yield from _spans(re.compile(pattern, re.IGNORECASE), text, "client")


_IPV4: Final = re.compile(
    rb"(?<![0-9])[0-9]++(?:\.[0-9]{1,3}+){2}\.[0-9]++(?:\.[0-9]++)*"
    rb"|(?<![0-9])[0-9]++(?:-[0-9]{1,3}+){2}-[0-9]++(?:[.-][0-9]++)*"
)
"""Digits may touch the outer numbers, but not the inner ones: `Chrome/99.0.4844.51` is none.
With hyphens addresses occur in names of hosts (`ip-192-0-2-1.example.net`). Nothing is possessive
that may fail in its middle: Python before 3.11.5 does not go back to where that began."""

_IPV6_LIKE: Final = re.compile(rb"[0-9A-Fa-f:]{3,}+")
"""Expression for runs of hexadecimal digits and colons."""
_HEX_DIGIT: Final = re.compile(rb"[0-9A-Fa-f]")
_IPV6_COLONS: Final = 6
"""An address without `::` has 7 colons, or 6 before an IPv4 address; times have up to 3."""

_CUT_ADDRESS: Final = re.compile(
    rb"(?<![0-9.])(?:[0-9]{1,3}\.){2}[0-9]{0,3}\.?\Z"
    rb"|(?<![0-9A-Fa-f:])(?!\d{4}:\d\d:\d\d:)(?:[0-9A-Fa-f]{1,4}:){3,7}[0-9A-Fa-f]{0,4}\Z"
)
"""Remains of an address at the end of a file's last line, where it was cut; not a time."""


def _addresses(text: bytes) -> Iterator[_Span]:
    yield from _spans(_IPV4, text, "address")
    for match in _IPV6_LIKE.finditer(text):
        colons = match[0].count(b":")
        if colons >= _IPV6_COLONS or (b"::" in match[0] and _HEX_DIGIT.search(match[0])):
            yield _Span(*match.span(), "address")
    yield from _spans(_CUT_ADDRESS, text, "address")


_USER_INFO: Final = re.compile(rb"(?<=://)[^/?#\s\"<>\\]*@")
"""`user:password@` of a URL; a password may have an `@` of its own."""

_LOCAL_PART: Final = rb"\w.!#$%&'*+/=?^`{|}~\x80-\xff-"
_EMAIL: Final = re.compile(
    rb"(?<![" + _LOCAL_PART + rb"])[" + _LOCAL_PART + rb"]++@[\w.\x80-\xff-]+"
)
"""Expression for an e-mail address."""

_PAIR: Final = rb"[\w.!$*~%-]++=[^;\"\s]*+"
"""Expression for a name and a value of a cookie."""
_COOKIES: Final = re.compile(
    rb"(?<![\w.!$*~%=-])" + _PAIR + rb"(?:;(?:[ +]|%20)*+" + _PAIR + rb")+" + rb"|(?<=\")" + _PAIR
)
"""Several `name=value` after one another, or one alone in quotes: no other field is like that."""

_NAME: Final = re.compile(rb"(?<![\w.-])([\w.-]++)(?:\[\w*+\])*[\"']?\s*+[:=]\s*+\[?\s*+")
_PRIVATE_NAME: Final = re.compile(
    rb"pass(?!enger)|pwd|secret|token|auth|credential|cookie|sess|\bs?id\b|[sug]uid|userid|user_id"
    rb"|jwt|bearer|signature|\bsig\b|api.?key|access.?key|\bkey\b|\bpin\b|\botp\b|csrf|xsrf"
    rb"|user(?!.?agent)|login|account|mail|phone|\btel\b|(?:first|last|sur|full)_?name"
    rb"|addr|\bip\b|(?:client|user|remote|real|source|forwarded)_?(?:ip|host|for)|_ip\b",
    re.IGNORECASE,
)
"""Keys whose values are nobody's business, in queries, headers and JSON."""

_QUOTED: Final = re.compile(rb"\"(?:[^\"\\]|\\.)*|'[^']*+", re.DOTALL)
_BARE: Final = re.compile(rb"(?:(?:bearer|basic|digest)[\s+]++)?[^&;,\s\"'<>)}\]]*+", re.IGNORECASE)


def _values(text: bytes) -> Iterator[_Span]:
    """Yield values of keys that are private by their name."""
    done = 0
    for match in _NAME.finditer(text):
        at = match.end()
        if at < done or _PRIVATE_NAME.search(match[1]) is None:
            continue
        value = _QUOTED.match(text, at) or _BARE.match(text, at)
        if value and value.end() > at:
            start = at + 1 if text[at : at + 1] in (b'"', b"'") else at
            done = value.end()
            yield _Span(start, done, "secret")
