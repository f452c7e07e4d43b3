"""Links of an HTML page, as a browser would follow them.

Here: `a` and `area` elements, resolved against `base` and the page; nofollow from the link or from
the page's robots meta. Not here: what is a page of the mirror (`mirror`). Forms, frames and scripts
are not followed.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import urljoin

import can_ada
from selectolax.lexbor import LexborHTMLParser

_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{1,40})", re.I)
_SNIFFED: Final = 1024
"""Bytes in which browsers look for a page's own word on its encoding."""

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks, which browsers trust more than any declaration."""
_READ_AS: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
"""Encodings that browsers read instead of a narrower one (WHATWG), by Python's names."""
_NOT_OF_PAGES: Final = frozenset(
    ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7")
)
"""Encodings that Python knows and browsers do not; a page in Punycode would take hours."""

_BLANK: Final = "".join(map(chr, range(33)))
_DROPPED: Final = str.maketrans("", "", "\t\n\r")
_PATH: Final = re.compile(r"[^?#]*")
_MANY_SLASHES: Final = re.compile(r"((?:https?:)?)/{3,}", re.I)

_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")
_WHOLE_TAG: Final = re.compile(r"<[A-Za-z](?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^'\">]++)*+")
_GAP: Final = re.compile(r"[\s/\"']+")
"""Expression for the gap between attributes."""
_LINKING: Final = re.compile(r"<(?:a|area|base|meta)\s[^<>]{0,5000}>", re.I)
_EMPTY: Final = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr")
)
"""Elements that are never closed."""

_MOST_DEPTH: Final = 5_000
"""Most nested elements. The parser looks through all that are open at every `<div>`: 5,000 take 0.2
s, 50,000 half a minute, and a page has room for a million. Browsers stop at 512."""

_LONG_TAG: Final = 4096
_MOST_GAPS: Final = 500
"""Most gaps of a tag that is longer. The parser compares each attribute with all before it: 100,000
in one tag take minutes."""

_MOST_BASE: Final = 2048
_MOST_HREF: Final = 8192
"""Most characters of a link. A long base is added to every link of the page."""

Link = tuple[str, bool]
"""Absolute URL, and True if it is nofollow."""


def html_links(url: str, html: bytes, charset: str | None = None) -> Iterator[Link]:
    """Yield the links of a page in order; `charset` is what the server declared."""
    tree = LexborHTMLParser(_flat(decoded(html, charset)))
    base = url
    for node in tree.css("base[href]"):
        base_url = absolute(node.attributes.get("href") or "", url)
        base = base_url if base_url and len(base_url) <= _MOST_BASE else url
        break
    page_says = any(
        is_nofollow(node.attributes.get("content") or "")
        for node in tree.css("meta[name=robots i]")
    )
    for node in tree.css("a[href], area[href]"):
        target = absolute(node.attributes.get("href") or "", base)
        if target is not None:
            rel = (node.attributes.get("rel") or "").lower().split()
            yield target, page_says or "nofollow" in rel


def is_nofollow(content: str) -> bool:
    """Return True if a robots meta says nofollow; `none` is `noindex, nofollow`."""
    return not {"nofollow", "none"}.isdisjoint(re.split(r"[\s,]+", content.lower()))


def _flat(text: str) -> str:
    """Return the page, reduced to what matters for links if it would keep a parser busy."""
    if (text.count("<") <= _MOST_DEPTH or _depth(text) <= _MOST_DEPTH) and not _is_crowded(text):
        return text
    return "".join(f"{tag[0]}</a>" for tag in _LINKING.finditer(text))


def _depth(text: str) -> int:
    """Return an upper bound of the nesting; elements that need no end tag count too."""
    depth = deepest = 0
    for tag in _TAG.finditer(text):
        if tag[2].lower() not in _EMPTY:
            depth += -1 if tag[1] else 1
            deepest = max(deepest, depth)
    return deepest


def _is_crowded(text: str) -> bool:
    """Return True if a tag has absurdly many attributes."""
    return len(text) > _LONG_TAG and any(
        len(tag[0]) > _LONG_TAG and len(_GAP.findall(tag[0])) > _MOST_GAPS
        for tag in _WHOLE_TAG.finditer(text)
    )


def absolute(href: str, base: str) -> str | None:
    """Return a reference resolved as browsers do; None unless it leads to the web.

    The parser of URLs takes no base, so references are joined after RFC 3986 first, with what the
    WHATWG asks for before that: blanks dropped, backslashes turned, two slashes before a host
    however many are written.
    """
    if len(href) > _MOST_HREF:
        return None
    reference = href.strip(_BLANK).translate(_DROPPED)
    path = _PATH.match(reference)
    if path is not None and "\\" in path[0]:
        reference = path[0].replace("\\", "/") + reference[path.end() :]
    slashes = _MANY_SLASHES.match(reference)
    if slashes is not None:
        reference = f"{slashes[1]}//{reference[slashes.end() :]}"
    try:
        resolved = str(can_ada.parse(urljoin(base, reference)).href)
    except (ValueError, UnicodeError):
        return None
    return resolved if resolved.startswith(("http://", "https://")) else None


def decoded(html: bytes, charset: str | None) -> str:
    """Return the text of a page: by byte order mark, server, its own declaration, or UTF-8."""
    for mark, encoding in _MARKS:
        if html.startswith(mark):
            return html[len(mark) :].decode(encoding, "replace")
    encoding = _encoding(charset or "") or _own_encoding(html) or "utf-8"
    return html.decode(encoding, "replace")


def _own_encoding(html: bytes) -> str | None:
    """Return the encoding that a page declares, or None.

    A page in which the word `utf-16` can be read is not UTF-16.
    """
    match = _CHARSET.search(html[:_SNIFFED])
    encoding = _encoding(match[1].decode("ascii")) if match else None
    return None if encoding and encoding.startswith("utf-16") else encoding


def _encoding(label: str) -> str | None:
    """Return Python's name of the encoding that a browser uses for a label, or None."""
    try:
        name = codecs.lookup(label).name
        b" ".decode(name, "replace")  # some of Python's codecs are not of text
    except (LookupError, ValueError):
        return None
    return None if name in _NOT_OF_PAGES else _READ_AS.get(name, name)
