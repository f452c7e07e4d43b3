"""Sitemaps, news sitemaps and indexes of them (sitemaps.org), packed or not.

Here: from the bytes of a sitemap to its links. The document is never in memory as a tree: it is
unpacked and parsed piece by piece, and each entry is dropped when it was read, so that neither a
bomb nor a million entries take more than the limits say. Entities are not resolved and nothing is
fetched. Not here: what kind a document is (`reading`).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, Final

from lxml import etree

from temporal_assets.crawl.sources.entries import MOST_ENTRIES, Entry, Shown, entry, seconds_of

MOST_BYTES: Final = 52_428_800
"""Most bytes of an unpacked sitemap, by the protocol."""

SITEMAP: Final = "sitemap"

_GZIP: Final = b"\x1f\x8b"
_PIECE: Final = 1 << 16
_NEWS: Final = "http://www.google.com/schemas/sitemap-news/"


def read_sitemap(url: str, body: bytes) -> Shown:
    """Return the pages of a sitemap, or the sitemaps of an index."""
    shown = Shown(SITEMAP)
    parser = etree.XMLPullParser(
        events=("end",), recover=True, resolve_entities=False, no_network=True, load_dtd=False,
        huge_tree=False, remove_comments=True, remove_pis=True, collect_ids=False,
    )  # fmt: skip
    try:
        for piece in _pieces(body, shown):
            parser.feed(piece)
            if not _take(parser, url, shown):
                shown.faults.append(f"sitemap: only the first {MOST_ENTRIES} entries were read")
                return shown
    except etree.XMLSyntaxError as error:
        shown.faults.append(f"sitemap: {str(error)[:200]}")
    return shown


def read_list(url: str, body: bytes) -> Shown:
    """Return the pages of a plain-text sitemap, with one URL a line."""
    shown = Shown(SITEMAP)
    text = b"".join(_pieces(body, shown)).decode("utf-8-sig", "replace")
    for line in text.splitlines()[:MOST_ENTRIES]:
        if line.startswith(("http://", "https://")) and (
            new_entry := entry(line.strip(), url, None, published=False)
        ):
            shown.entries.append(new_entry)
    return shown


def unpacked_beginning(body: bytes) -> bytes:
    """Return the first bytes of a document, unpacked if it is compressed."""
    return next(_pieces(body[:_PIECE], Shown(SITEMAP)), b"")[:2048]


def _take(parser: Any, url: str, shown: Shown) -> bool:
    """Read the entries that are complete; return False if there are too many."""
    for _, element in parser.read_events():
        name = _name(element)
        if name not in ("url", "sitemap"):
            continue
        child_by_name = {_name(child): child for child in element if isinstance(child.tag, str)}
        new_entry = _entry(child_by_name, url, shown)
        _drop(element)
        if new_entry is not None:
            (shown.children if name == "sitemap" else shown.entries).append(new_entry)
        if len(shown.entries) + len(shown.children) >= MOST_ENTRIES:
            return False
    return True


def _entry(child_by_name: dict[str, Any], url: str, shown: Shown) -> Entry | None:
    """Return the entry of a page or a sitemap; a news sitemap is noted in `shown`."""
    published = None
    news = child_by_name.get("news")
    if news is not None and str(news.tag).startswith(f"{{{_NEWS}"):
        shown.is_news = True
        dates = [child.text for child in news if _name(child) == "publication_date"]
        published = seconds_of(dates[0]) if dates else None
    changed = seconds_of(_text(child_by_name.get("lastmod")))
    time = published or changed
    return entry(_text(child_by_name.get("loc")), url, time, published=published is not None)


def _text(element: Any) -> str | None:
    return None if element is None or element.text is None else str(element.text).strip()


def _name(element: Any) -> str:
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def _drop(element: Any) -> None:
    """Free an element that was read, and those before it."""
    element.clear()
    parent = element.getparent()
    if parent is not None:
        while element.getprevious() is not None:
            del parent[0]


def _pieces(body: bytes, shown: Shown) -> Iterator[bytes]:
    """Yield the unpacked document in pieces, within the limit."""
    left = MOST_BYTES
    source = _inflated(body, shown) if body.startswith(_GZIP) else _sliced(body)
    for piece in source:
        if len(piece) > left:
            shown.faults.append(f"sitemap: only its first {MOST_BYTES} bytes were read")
            yield piece[:left]
            return
        left -= len(piece)
        yield piece


def _sliced(body: bytes) -> Iterator[bytes]:
    for at in range(0, len(body), _PIECE):
        yield body[at : at + _PIECE]


def _inflated(body: bytes, shown: Shown) -> Iterator[bytes]:
    """Yield what gzip holds, member after member, a piece at a time."""
    packed = body
    while packed.startswith(_GZIP):
        unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
        try:
            piece = unpacker.decompress(packed, _PIECE)
            while piece or unpacker.unconsumed_tail:
                yield piece
                piece = unpacker.decompress(unpacker.unconsumed_tail, _PIECE)
        except zlib.error as error:
            shown.faults.append(f"sitemap: {error}")
            return
        if not unpacker.eof:
            shown.faults.append("sitemap: its archive breaks off")
            return
        packed = unpacker.unused_data
