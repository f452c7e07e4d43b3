"""The prefix tree of a site, as text for a terminal and as HTML that opens and closes.

Here: drawing. Not here: finding the sections (`cli.show.tree`). Names come from URLs, which
strangers write; they are escaped for where they are shown. Sections that fewer clients know than
are needed to publish a name are only counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from temporal_assets.reports.text import shown

_WIDTH: Final = 60
"""Most characters of a name; longer ones are cut so that numbers are aligned."""

_LEAST: Final = 20

_HEADINGS: Final = ("pages", "news", "share", "temporal")

_NUMBER: Final = 10
"""Characters of a number."""

_MARK: Final = "  news prefix"


@dataclass(frozen=True, slots=True)
class Section:
    """A folder or program of a site with everything below it."""

    name: str
    """Its part of the URL: `news/`, `list.php?`; for a root the host."""
    prefix: str
    pages: int
    news_pages: int
    temporal_pages: int
    is_prefix: bool
    """True for a news prefix."""
    beneath: tuple[Section, ...]
    hidden: int
    """Number of sections directly below it that too few clients know to be named."""

    @property
    def share(self) -> float:
        """Share of news among its labelled pages; 0 without any."""
        return self.news_pages / max(self.pages, 1)


def trees_of(rows: Sequence[Mapping[str, Any]], min_clients: int) -> list[Section]:
    """Return trees from rows of `prefix_trees`, sorted by `prefix`, with column `is_prefix`.

    Sections below a hidden one are hidden with it.
    """
    children: dict[str | None, list[Mapping[str, Any]]] = {}
    for row in rows:
        children.setdefault(row["parent"], []).append(row)

    # From the last row to the first: whatever is beneath a section comes after it.
    section_of_prefix: dict[str, Section] = {}
    for row in reversed(rows):
        inner = children.get(row["prefix"], [])
        shown = [child for child in inner if child["clients"] >= min_clients]
        section_of_prefix[row["prefix"]] = Section(
            name=row["prefix"].removeprefix(row["parent"] or ""),
            prefix=row["prefix"],
            pages=row["pages"],
            news_pages=row["news_pages"],
            temporal_pages=row["temporal_pages"],
            is_prefix=row["is_prefix"],
            beneath=tuple(section_of_prefix[child["prefix"]] for child in shown),
            hidden=len(inner) - len(shown),
        )
    roots = children.get(None, [])
    return [
        section_of_prefix[child["prefix"]] for child in roots if child["clients"] >= min_clients
    ]


def as_lines(trees: Iterable[Section], depth: int, room: int = 200) -> list[str]:
    """Return lines with the numbers of each section; sections below `depth` are only counted.

    Names are cut so that lines fit into `room` characters, as far as that leaves some of them.
    """
    width = room - _NUMBER * len(_HEADINGS) - len(_MARK)
    width = min(max(width, _LEAST), _WIDTH)
    lines = [" " * width + "".join(f"{heading:>{_NUMBER}}" for heading in _HEADINGS)]
    for root in trees:
        lines += _lines(root, "", "", depth, width)
    return lines


def _lines(section: Section, first: str, rest: str, depth: int, width: int) -> Iterator[str]:
    """Yield the lines of a section and of those beneath, down to a depth."""
    name = shown(first + section.name, width - 2)
    numbers = (f"{section.pages:,}", f"{section.news_pages:,}", f"{section.share:.0%}")
    cells = "".join(f"{cell:>{_NUMBER}}" for cell in (*numbers, f"{section.temporal_pages:,}"))
    yield f"{name:{width}}{cells}{_MARK if section.is_prefix else ''}"
    if depth == 0 and section.beneath:
        yield f"{rest}└─ … {_counted(_size(section) - 1)} beneath"
        return
    notes = [f"{_counted(section.hidden)} that few clients know"] if section.hidden else []
    last = len(section.beneath) + len(notes) - 1
    for place, child in enumerate(section.beneath):
        mine, below = ("└─ ", "   ") if place == last else ("├─ ", "│  ")
        yield from _lines(child, rest + mine, rest + below, depth - 1, width)
    for note in notes:
        yield f"{rest}└─ {note}"


def as_html(trees: Iterable[Section]) -> str:
    """Return HTML without scripts; open at the roots and where news prefixes are."""
    inner = "".join(_html(root, is_open=True) for root in trees)
    return f'<div class="prefix-tree">\n{inner}</div>\n'


STYLE: Final = """
.prefix-tree { font: 14px/1.5 system-ui, sans-serif; }
.prefix-tree details, .prefix-tree p { margin: 0 0 0 1.4em; }
.prefix-tree summary, .prefix-tree p { padding: .1em 0; }
.prefix-tree code { font-size: 13px; }
.prefix-tree .leaf { padding-left: 1.05em; }
.prefix-tree .numbers { opacity: .75; }
.prefix-tree .prefix code { background: #ffe9b8; color: #222; padding: 0 .3em; border-radius: 3px; }
.prefix-tree meter { width: 5em; height: .8em; vertical-align: middle; }
"""
"""CSS of this HTML, for the page it is put in."""


def _html(section: Section, *, is_open: bool = False) -> str:
    """Return a section as HTML that opens if a news prefix lies beneath."""
    kind = ' class="prefix"' if section.is_prefix else ""
    label = (
        f'<span{kind}><code title="{escape(shown(section.prefix))}">'
        f"{escape(shown(section.name))}</code></span> "
        f'<meter min="0" max="1" value="{section.share:.3f}">{section.share:.0%}</meter> '
        f'<span class="numbers">{_numbers(section)}</span>'
    )
    inner = "".join(map(_html, section.beneath))
    if section.hidden:
        inner += f'<p class="numbers leaf">{_counted(section.hidden)} that few clients know</p>\n'
    if not inner:
        return f'<p class="leaf">{label}</p>\n'
    state = " open" if is_open or any(map(_leads_to_prefix, section.beneath)) else ""
    return f"<details{state}><summary>{label}</summary>\n{inner}</details>\n"


def _numbers(section: Section) -> str:
    mark = ", news prefix" if section.is_prefix else ""
    return (
        f"{section.news_pages:,} of {section.pages:,} news ({section.share:.0%}),"
        f" {section.temporal_pages:,} temporal{mark}"
    )


def _leads_to_prefix(section: Section) -> bool:
    return section.is_prefix or any(map(_leads_to_prefix, section.beneath))


def _size(section: Section) -> int:
    return 1 + sum(map(_size, section.beneath))


def _counted(sections: int) -> str:
    return f"{sections:,} section" if sections == 1 else f"{sections:,} sections"
