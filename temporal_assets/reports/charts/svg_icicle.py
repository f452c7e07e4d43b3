"""Icicles: the folders of a site below each other, as wide as their pages, as SVG.

Here: drawing `prefix_tree.Section`. Each block is a link where `link` gives one; its colour is the
share of temporal pages. Not here: the tree as text and as a list (`prefix_tree`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import Final

from temporal_assets.core.text.readable import readable
from temporal_assets.reports.charts.svg_chart import escaped, framed
from temporal_assets.reports.prefix_tree import Section

_WIDTH: Final = 960
_ROW: Final = 30
_DEPTH: Final = 5
"""Number of levels that are drawn; deeper ones are a click away."""
_NARROWEST: Final = 4.0
_LETTER: Final = 7.8
_LEVELS: Final = 9


def icicle(root: Section, link: Callable[[Section], str], number: str) -> str:
    """Return the tree as SVG; `link` gives the address that a block leads to."""
    depth = min(_height(root), _DEPTH)
    inner = "".join(_blocks(root, 0.0, float(_WIDTH), 0, link))
    says = (
        f"{root.prefix}: {root.pages:,} pages, {root.temporal_pages:,} of them temporal; folders"
        " below each other, as wide as their pages, in stronger colour where more are temporal."
    )
    size = (_WIDTH, _ROW * depth)
    drawn = framed(inner, f"Folders of {root.name}", says, number, size, "icicle")
    # A picture has no parts for a screen reader; this one has links.
    return drawn.replace('role="img"', 'role="group"', 1)


def share_legend() -> str:
    """Return the scale of colours as HTML, from no temporal page to all temporal."""
    keys = "".join(
        f'<rect class="h{level}" x="{14 * level}" width="14" height="12"/>'
        for level in range(_LEVELS)
    )
    return (
        '<p class="scale">temporal pages: 0 % <svg aria-hidden="true" viewBox="0 0'
        f' {14 * _LEVELS} 12" width="{14 * _LEVELS}" height="12">{keys}</svg> 100 %</p>\n'
    )


def _height(section: Section) -> int:
    return 1 + max(map(_height, section.beneath), default=0)


def _blocks(
    section: Section, left: float, width: float, level: int, link: Callable[[Section], str]
) -> Iterator[str]:
    """Yield a section's block with its link and name, then its subsections below it."""
    if level >= _DEPTH or width < _NARROWEST:
        return
    share = section.temporal_pages / section.pages if section.pages else 0.0
    shade = min(int(_LEVELS * share), _LEVELS - 1)
    name = readable(section.name)
    letters = int((width - 8) / _LETTER)
    label = name if len(name) <= letters else f"{name[: max(letters - 1, 0)]}…"
    title = f"{section.prefix}: {section.temporal_pages:,} of {section.pages:,} pages temporal"
    dark = " light" if shade > 5 else ""
    yield (
        f'<a href="{escape(link(section))}"><title>{escaped(title)}</title>'
        f'<rect class="h{shade} block" x="{left:.1f}" y="{level * _ROW}" width="{width:.1f}"'
        f' height="{_ROW}"/>'
    )
    if letters > 2:
        y = level * _ROW + 20
        yield f'<text class="label{dark}" x="{left + 5:.1f}" y="{y}">{escaped(label)}</text>'
    yield "</a>"
    at = left
    for child in sorted(section.beneath, key=lambda below: (-below.pages, below.prefix)):
        part = width * child.pages / max(section.pages, 1)
        yield from _blocks(child, at, part, level + 1, link)
        at += part
