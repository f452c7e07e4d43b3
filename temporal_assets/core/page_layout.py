"""How alike two pages are built, whatever they say.

Here: pages as counts of tag paths (`html/body/div/p`), and their cosine. Not here: which pages to
compare (`pattern_quality`).

Tag paths need no training and no parameter, and two pages of one template differ in them only by
the length of their text. Counts are damped by a logarithm: forty comments make a page no other
kind of page than four.
"""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser
from math import log1p, sqrt
from typing import Final

_VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"}
    | {"source", "track", "wbr"}
)
"""Elements without an end tag."""

_DEEPEST: Final = 64
"""Deeper elements count where this depth is: unclosed tags nest without end."""


class _Paths(HTMLParser):
    """Counts tag paths; forgiving about what is not closed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.counts: Counter[str] = Counter()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.counts["/".join([*self._open, tag])] += 1
        if tag not in _VOID and len(self._open) < _DEEPEST:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass


def tag_paths(html: str) -> dict[str, float]:
    """Weight of each tag path of a page: the logarithm of 1 + its count."""
    parser = _Paths()
    parser.feed(html)
    parser.close()
    return {path: log1p(count) for path, count in parser.counts.items()}


def layout_similarity(a: dict[str, float], b: dict[str, float]) -> float:
    """Cosine of two pages, 0 to 1. A page without tags is like no other."""
    product = sum(weight * b[path] for path, weight in a.items() if path in b)
    lengths = sum(w * w for w in a.values()) * sum(w * w for w in b.values())
    return product / sqrt(lengths) if lengths else 0.0
