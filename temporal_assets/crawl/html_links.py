"""Links of an HTML page, as a browser would follow them.

Here: `a` and `area` elements, resolved against `base` and the page; nofollow from the link or from
the page's robots meta. Not here: what is a page of the mirror (`mirror`). Forms, frames and scripts
are not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import urljoin

import can_ada
from selectolax.lexbor import LexborHTMLParser

_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{1,40})", re.I)
_SNIFFED: Final = 1024
"""Bytes in which browsers look for a page's own word on its encoding."""

_BLANK: Final = "".join(map(chr, range(33)))
_DROPPED: Final = str.maketrans("", "", "\t\n\r")
_PATH: Final = re.compile(r"[^?#]*")

Link = tuple[str, bool]
"""Absolute URL, and whether it is nofollow."""


def html_links(url: str, html: bytes, charset: str | None = None) -> Iterator[Link]:
    """Links in the order they stand on the page; `charset` is what the server said."""
    tree = LexborHTMLParser(decoded(html, charset))
    base = url
    for node in tree.css("base[href]"):
        base = absolute(node.attributes.get("href") or "", url) or url
        break
    page_says = any(
        "nofollow" in (node.attributes.get("content") or "").lower()
        for node in tree.css("meta[name=robots i]")
    )
    for node in tree.css("a[href], area[href]"):
        target = absolute(node.attributes.get("href") or "", base)
        if target is not None:
            rel = (node.attributes.get("rel") or "").lower().split()
            yield target, page_says or "nofollow" in rel


def absolute(href: str, base: str) -> str | None:
    """A reference resolved as browsers do; None unless it leads to the web.

    The parser of URLs takes no base, so references are joined after RFC 3986 first, with what the
    WHATWG asks for before that: blanks dropped, backslashes turned.
    """
    reference = href.strip(_BLANK).translate(_DROPPED)
    path = _PATH.match(reference)
    if path is not None and "\\" in path[0]:
        reference = path[0].replace("\\", "/") + reference[path.end() :]
    try:
        resolved = str(can_ada.parse(urljoin(base, reference)).href)
    except (ValueError, UnicodeError):
        return None
    return resolved if resolved.startswith(("http://", "https://")) else None


def decoded(html: bytes, charset: str | None) -> str:
    """The text of a page: by what the server said, by what the page says, or as UTF-8."""
    own = _CHARSET.search(html[:_SNIFFED])
    for name in (charset, own[1].decode("ascii") if own else None):
        if name:
            try:
                return html.decode(name, "replace")
            except (LookupError, ValueError):
                continue  # an encoding nobody knows: the page's word, then UTF-8
    return html.decode("utf-8", "replace")
