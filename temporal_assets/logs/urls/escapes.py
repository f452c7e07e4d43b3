"""Escapes in URLs: percent escapes in one spelling each, and the escapes that servers log.

In: a path or query, or the bytes of a logged field. Out: the same text without needless escapes.
Not here: compiled loops that recognise escapes (`plain_urls`).
"""

from __future__ import annotations

import re
from typing import Final

UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
"""Characters that a percent escape must not encode (RFC 3986, 2.3)."""

_TO_NORMALISE: Final = re.compile(r"%[0-9A-Fa-f]{2}|[%\[\]^|\\`{}]")
"""Percent escapes, percent signs that begin none, and the characters that the WHATWG parser
leaves alone although RFC 3986 wants them escaped."""


def _normal_form(text: str) -> str:
    if len(text) == 1:
        return f"%{ord(text):02X}"
    character = chr(int(text[1:], 16))
    return character if character in UNRESERVED else text.upper()


_HEX: Final = "0123456789ABCDEFabcdef"
_NORMAL: Final = {
    text: _normal_form(text) for text in [*(f"%{a}{b}" for a in _HEX for b in _HEX), *r"%[]^|\`{}"]
}
"""Replacement of every match of `_TO_NORMALISE`."""


def normalise(text: str) -> str:
    """Return path or query with one spelling per escape (RFC 3986, 6.2.2)."""
    return _TO_NORMALISE.sub(lambda match: _NORMAL[match[0]], text)


_LOG_ESCAPE: Final = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|([\"\\nrtbv]))")
"""Expression for an escape that a server has written into the log."""
_LOG_CHARACTER: Final = {
    b'"': b'"', b"\\": b"\\", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"v": b"\v",
}  # fmt: skip
"""Byte that each short escape stands for."""


def decode_escapes(raw: bytes) -> bytes:
    r"""Undo Apache's and nginx's escapes (`\"`, `\\`, `\n`, `\xHH` …); others stay as they are."""
    if b"\\" not in raw:
        return raw
    return _LOG_ESCAPE.sub(_log_character, raw)


def _log_character(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match[1].decode()) if match[1] else _LOG_CHARACTER[match[2]]
