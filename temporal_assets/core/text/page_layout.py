"""Similarity of the layouts of two HTML pages, whatever their text.

Here: pages as counts of tag paths (`html/body/div/p`), and their cosine. Not here: which pages to
compare (`pattern_quality`).

Tag paths need no training and no parameter, and two pages of one template differ in them only by
the length of their text. Counts are damped by a logarithm: forty comments make a page no other kind
of page than four.
"""

from __future__ import annotations

import re
from collections import Counter
from math import log1p, sqrt
from typing import Final

_VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"}
    | {"source", "track", "wbr"}
)
"""Names of elements without an end tag."""

_DEEPEST: Final = 64
"""Depth of nesting at which deeper elements are counted: unclosed tags nest without end."""


_TAG: Final = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<[!?][^>]*+"
    r"|<(?P<end>/?)(?P<name>[a-z][^\s/>]*+)"
    r"(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^'\">]++)*+(?P<whole>>?)",
    re.DOTALL,
)
"""A comment, a declaration or a tag, in lower case. Nothing is looked at twice, whatever is not
closed: `html.parser` takes minutes for 256 KiB of `<!--`."""

_OPAQUE: Final = frozenset({"script", "style"})
"""Names of elements whose content is not markup."""


class _Paths:
    """Counter of tag paths that tolerates unclosed tags."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._open: list[str] = []

    def feed(self, html: str) -> None:
        """Count the tags of a page."""
        text, place = html.lower(), 0
        while tag := _TAG.search(text, place):
            place = tag.end()
            name = tag["name"]
            if not name or not tag["whole"]:
                continue
            if tag["end"]:
                self._close(name)
                continue
            self.counts["/".join([*self._open, name])] += 1
            if text.endswith("/>", 0, place):
                continue
            if name not in _VOID and len(self._open) < _DEEPEST:
                self._open.append(name)
            if name in _OPAQUE:
                place = text.find(f"</{name}", place)
                if place < 0:
                    return

    def _close(self, name: str) -> None:
        if name in self._open:
            while self._open.pop() != name:
                pass


def tag_paths(html: str) -> dict[str, float]:
    """Return the weight of each tag path of a page: the logarithm of 1 + its count."""
    parser = _Paths()
    parser.feed(html)
    return {path: log1p(count) for path, count in parser.counts.items()}


def layout_similarity(a: dict[str, float], b: dict[str, float]) -> float:
    """Return the cosine of two pages, 0 to 1; 0 for a page without tags."""
    product = sum(weight * b[path] for path, weight in a.items() if path in b)
    lengths = sum(w * w for w in a.values()) * sum(w * w for w in b.values())
    return product / sqrt(lengths) if lengths else 0.0
