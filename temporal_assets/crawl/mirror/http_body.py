"""The bytes of a page from the bytes that came over the wire, within a limit.

Here: chunks and compression. Many archives keep the headers of a transfer and undo the transfer
itself, so what a header says is believed only where the bytes agree.
"""

from __future__ import annotations

import codecs
import re
import zlib
from typing import Final

MAX_HTML: Final = 8 << 20
"""Most bytes of a page that are read: browsers show more, but nobody links that far down."""

_CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]{0,1000})?\r?\n")
_GZIP: Final = b"\x1f\x8b"
_ZLIB_OR_GZIP: Final = 32 + zlib.MAX_WBITS


class UnknownEncoding(ValueError):
    """Error: the body has a compression that is not supported (Brotli, Zstandard)."""


def page_bytes(body: bytes, transfer: str, encoding: str, most: int) -> bytes:
    """Return the first `most` bytes of the page, or what can be read of a body that breaks off.

    `transfer` and `encoding` are the headers Transfer-Encoding and Content-Encoding.
    """
    if "chunked" in transfer.lower() and _CHUNK.match(body):
        body = _joined(body)
    name = encoding.strip().lower()
    is_page = body.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<")
    if body.startswith(_GZIP) or (name == "deflate" and not is_page):
        return _inflated(body, most)
    if name in ("br", "zstd") and not is_page:
        raise UnknownEncoding(name)
    return body[:most]


def _joined(body: bytes) -> bytes:
    parts, at = [], 0
    while (head := _CHUNK.match(body, at)) and (size := int(head[1], 16)):
        parts.append(body[head.end() : head.end() + size])
        at = head.end() + size + 1
        if body[at - 1 : at + 1] == b"\r\n":
            at += 1
    return b"".join(parts)


def _inflated(body: bytes, most: int) -> bytes:
    for bits in (_ZLIB_OR_GZIP, -zlib.MAX_WBITS):  # some servers' deflate has no header
        unpacker = zlib.decompressobj(bits)
        try:
            return unpacker.decompress(body, most)
        except zlib.error:
            continue
    return b""
