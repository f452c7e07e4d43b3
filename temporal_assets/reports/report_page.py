"""The evaluation report as one self-contained and safe HTML page.

Here: how a report looks. Not here: its content (`sections`), its charts (`charts`).

Texts come from logs, which strangers write: every one is escaped, and the page's policy forbids all
scripts and styles but its own two, by their digests, and every connexion. Without scripts nothing
is lost but searching and sorting.
"""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import groupby
from math import ceil, isfinite
from typing import Final

from temporal_assets.reports import prefix_tree
from temporal_assets.reports.charts import svg_chart
from temporal_assets.reports.charts.picture import drawing
from temporal_assets.reports.document import (
    LONGEST_TEXT,
    Axis,
    Block,
    Branch,
    Cell,
    Chart,
    Column,
    Figures,
    Forest,
    Graph,
    HeatMap,
    Kind,
    Report,
    Section,
    Series,
    Table,
    Tree,
    Trial,
)
from temporal_assets.reports.sections.wording import FRONT
from temporal_assets.reports.text import shown

_TRIALS: Final[dict[Trial, str]] = {
    "in_sample": "in sample",
    "out_of_time": "out of time",
    "both": "in sample and out of time",
}
_DRAWN: Final = (Chart, HeatMap, Graph, Forest)
"""Kinds of block that stand side by side where there is room."""

_COUNTED_ROWS: Final = 12
"""Number of rows above which a table scrolls in its box and shows its number of rows."""

PAPER_ROWS: Final = 40
"""Number of rows of a table that are printed on paper; the stylesheet has it too."""

_MOST_POINTS: Final = 60
"""Largest number of rows of the table behind a chart; longer series are thinned evenly."""

_PAPERS: Final = (
    "TW: Identifying temporal websites (IJCNLP 2008). NP: News page discovery policy for instant"
    " crawlers (AIRS 2008). BB: crawling by users' browsing behaviour (CIKM 2011)."
)
_TRIALS_SENTENCE: Final = (
    "In sample: learned and judged on the same window, as in the papers. Out of time: judged on"
    " days or pages that nothing was learned from. Numbers that a paper printed stand on a tinted"
    " ground; they are of its data, not of these logs."
)


def page(report: Report) -> str:
    """Return the report as a whole page."""
    style = stylesheet()
    script = _resource("report.js")
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest(style)}';"
        f" script-src 'sha256-{digest(script)}'; base-uri 'none'; form-action 'none';"
        " require-trusted-types-for 'script'"
    )
    return "".join(
        (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            '<meta name="referrer" content="no-referrer"><meta name="color-scheme"'
            f' content="light dark"><title>{_text(report.title)}</title>',
            f"<style>{style}</style></head>\n<body>",
            '<a class="skip" href="#content">Skip to the report</a>',
            *_body(report),
            f"<script>{script}</script></body></html>\n",
        )
    )


@cache
def _resource(name: str) -> str:
    return files("temporal_assets.reports").joinpath(name).read_text("utf-8")


def _body(report: Report) -> Iterator[str]:
    """Yield the page: front, facts on the data, contents, then all sections by part."""
    front = [section for section in report.sections if section.part == FRONT]
    rest = [section for section in report.sections if section.part != FRONT]
    yield f"<header><h1>{_text(report.title)}</h1></header>\n"
    yield '<main id="content" tabindex="-1">'
    for section in front:
        yield from _front(section)
    yield '<details class="data" open><summary>The data</summary><dl class="facts">'
    for name, value in report.facts:
        yield f"<div><dt>{_text(name)}</dt><dd>{broken(value)}</dd></div>"
    yield "</dl></details>\n"
    yield from _contents(rest)
    yield f'<p class="note">{_text(_TRIALS_SENTENCE)}</p>\n'
    part = ""
    for number, section in enumerate(rest):
        if section.part != part:
            part = section.part
            yield f"<h2>{_text(part)}</h2>\n"
        yield from _section(section, f"s{number}")
    yield f'</main>\n<footer><p class="note">{_text(_PAPERS)}</p></footer>\n'


def front_page(section: Section) -> str:
    """Return the front page as an HTML fragment, for other pages with the report's stylesheet."""
    return "".join(_front(section))


def block(figure: Block, number: str) -> str:
    """Return a block as an HTML fragment; `number` makes its ids unique."""
    return "".join(_block(figure, number))


def stylesheet() -> str:
    """Return the stylesheet of the report."""
    # The rules of the report come last: on paper they change those of charts.
    return _resource("charts/charts.css") + _resource("report.css")


def digest(content: str) -> str:
    """Return the digest by which a content security policy allows a style or a script."""
    return base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _front(section: Section) -> Iterator[str]:
    """Yield the HTML of the first screen: key figures in a row, the rest side by side."""
    yield f'<section id="{_text(section.id)}" class="front" aria-label="{_text(section.part)}">'
    yield "".join(f'<p class="lead">{prose(sentence)}</p>' for sentence in section.says)
    first, rest = section.blocks[:1], section.blocks[1:]
    for block in first:
        yield from _block(block, "f0")
    yield '<div class="panels">'
    for place, block in enumerate(rest, 1):
        yield '<div class="panel">'
        yield from _block(block, f"f{place}")
        yield "</div>"
    yield "</div></section>\n"


def _contents(sections: Sequence[Section]) -> Iterator[str]:
    """Yield the list of contents, sections that are missing in grey."""
    yield '<nav aria-label="Contents"><details open><summary>Contents</summary><ul>\n'
    part = ""
    for section in sections:
        if section.part != part:
            yield ("</ul></li>" if part else "") + f"<li>{_text(section.part)}<ul>"
            part = section.part
        off = ' class="off"' if section.missing else ""
        source = f"{section.source}: " if section.source else ""
        yield f'<li{off}><a href="#{_text(section.id)}">{_text(source + section.title)}</a></li>\n'
    yield "</ul></li></ul></details></nav>\n" if part else "</ul></details></nav>\n"


def _section(section: Section, number: str) -> Iterator[str]:
    """Yield a section: its sentences, then its tables and figures side by side."""
    source = f'<span class="source">{_text(section.source)}</span> ' if section.source else ""
    yield f'<section id="{_text(section.id)}"><h3>{source}{_text(section.title)}</h3>\n'
    if section.missing:
        yield f'<p class="missing">{prose(section.missing)}</p></section>\n'
        return
    if section.trial in _TRIALS:
        yield f'<p class="trial {section.trial}">{_TRIALS[section.trial]}</p>'
    for place, sentence in enumerate(section.says):
        lead = ' class="lead"' if place == 0 else ""
        yield f"<p{lead}>{prose(sentence)}</p>\n"
    if section.about:
        yield f'<p class="note">{prose(section.about)}</p>\n'
    numbered = [(block, f"{number}b{place}") for place, block in enumerate(section.blocks)]
    for is_drawn, blocks in groupby(
        numbered, key=lambda numbered_block: isinstance(numbered_block[0], _DRAWN)
    ):
        yield '<div class="figures">' if is_drawn else "<div>"
        for block, name in blocks:
            yield from _block(block, name)
        yield "</div>\n"
    yield "</section>\n"


def prose(sentence: str) -> str:
    """Return one of our sentences as HTML; text between backticks becomes code."""
    parts = _DATE.sub(r'<span class="whole">\g<0></span>', _text(sentence)).split("`")
    if len(parts) % 2 == 0:
        return "`".join(parts)
    return "".join(f"<code>{text}</code>" if k % 2 else text for k, text in enumerate(parts))


def _block(block: Block, number: str) -> Iterator[str]:
    """Yield a table, a figure with its numbers, or a tree."""
    if isinstance(block, Table) and block.is_folded:
        yield f"<details><summary>{_text(block.title)}: all columns</summary>"
        yield from _table(block)
        yield "</details>\n"
    elif isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, Chart):
        drawn = svg_chart.legend(block.series) + drawing(block, number)
        yield from _figure(drawn, block.title, _numbers(block))
    elif isinstance(block, HeatMap):
        yield from _figure(drawing(block, number), block.title, _values(block))
    elif isinstance(block, Graph):
        yield from _figure(drawing(block, number), block.title, _edges(block))
    elif isinstance(block, Forest):
        yield from _figure(drawing(block, number), block.title, _intervals(block))
    elif isinstance(block, Figures):
        yield from _figures(block)
    elif isinstance(block, Tree):
        roots = [_grown(root) for root in block.roots]
        yield f"<h4>{_text(block.title)}</h4>{prefix_tree.as_html(roots)}"


def _figure(drawn: str, title: str, numbers: Table) -> Iterator[str]:
    yield f"<figure><figcaption>{broken(title)}</figcaption>{drawn}"
    yield f'<details><summary>Numbers<span class="aside">: {_text(title)}</span></summary>'
    yield from _table(numbers)
    yield "</details></figure>\n"


def _figures(block: Figures) -> Iterator[str]:
    yield f'<dl class="key-figures" aria-label="{_text(block.title)}">'
    for figure in block.figures:
        yield f'<div class="{figure.tone}"><dt>{_text(figure.name)}</dt>'
        yield f"<dd><b>{_text(figure.value)}</b> <span>{prose(figure.note)}</span></dd></div>"
    yield "</dl>\n"


def _table(table: Table) -> Iterator[str]:
    """Yield a table as HTML; long ones scroll in a box."""
    name = _text(table.title)
    is_long = len(table.rows) > _COUNTED_ROWS
    box = "scroll tall" if is_long else "scroll"
    yield f'<div class="{box}" role="region" tabindex="0" aria-label="{name}"><table>'
    count = f" ({len(table.rows):,} rows)" if is_long else ""
    yield f"<caption>{_text(table.title)}{count}</caption>"
    if not table.rows:
        yield f'</table><p class="note">{_text(table.note or "Nothing.")}</p></div>\n'
        return
    yield "<thead><tr>"
    for column in table.columns:
        kind = "" if column.kind == "text" else ' class="n"'
        yield f'<th scope="col"{kind}>{_text(column.name)}</th>'
    yield "</tr></thead><tbody>\n"
    decimals = [
        _decimals(row[place] for row in table.rows) if column.kind == "number" else None
        for place, column in enumerate(table.columns)
    ]
    for place, row in enumerate(table.rows):
        yield '<tr class="paper">' if place < table.paper_rows else "<tr>"
        for value, column, digits in zip(row, table.columns, decimals, strict=True):
            kind = "" if column.kind == "text" else ' class="n"'
            text = written(value, column.kind, digits)
            yield f"<td{kind}>{broken(text) if column.kind == 'text' else _text(text)}</td>"
        yield "</tr>\n"
    yield "</tbody></table></div>\n"
    if len(table.rows) > PAPER_ROWS:
        yield '<p class="note paper-only">On paper: the first '
        yield f"{PAPER_ROWS} of {len(table.rows):,} rows.</p>\n"
    if table.note:
        yield f'<p class="note">{_text(table.note)}</p>\n'


def _decimals(values: Iterable[Cell]) -> int:
    """Return the number of digits after the point for a column of numbers."""
    numbers = [abs(value) for value in values if isinstance(value, int | float)]
    if all(value == round(value) for value in numbers):
        return 0
    most = max(numbers, default=0.0)
    return 1 if most >= 10 else 2 if most >= 1 else 3


def written(value: Cell, kind: Kind, decimals: int | None = None) -> str:
    """Return the text of a cell, with a number of digits after the point if given."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if kind == "share":
        return f"{value:.1%}".replace("-0.0%", "0.0%")
    if kind == "score":
        return f"{value:.3f}"
    if kind == "date":
        return dt.date.fromordinal(max(round(value), 1)).isoformat()
    if decimals is not None:
        return f"{value:,.{decimals}f}"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g}" if abs(value) >= 1 else f"{value:.3g}"


def _text(value: str) -> str:
    """Return any text escaped: no markup, one line of visible characters."""
    return escape(shown(value, LONGEST_TEXT))


_PLACES: Final = re.compile(r"([/?&=]+|[._]+(?=[^\W\d]))")
"""Expression for positions at which a host, path or name may break; not the point of a number."""
_DATE: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_LONGEST_PIECE: Final = 24
"""Longest piece in characters that stays whole; longer ones break anywhere."""


def broken(value: str) -> str:
    """Return any text as HTML of a narrow cell: URLs break after their separators, not in words."""
    pieces = _PLACES.split(shown(value, LONGEST_TEXT))
    marked = (
        f"{escape(piece)}<wbr>"
        if k % 2
        else f'<span class="long">{escape(piece)}</span>'
        if len(piece) > _LONGEST_PIECE and " " not in piece
        else _whole(piece)
        for k, piece in enumerate(pieces)
    )
    return "".join(marked)


_HYPHENATED: Final = re.compile(r"[^\s-]+(?:-+[^\s-]+)+")


def _whole(piece: str) -> str:
    """Return a piece of text whose hyphens do not break: labels of hosts, dates."""
    return _HYPHENATED.sub(r'<span class="whole">\g<0></span>', escape(piece))


# Tables behind pictures -------------------------------------------------------------------------


def _numbers(chart: Chart) -> Table:
    """Return the points of a chart as a table, side by side if all series share their places."""
    if len({curve.x for curve in chart.series}) == 1 and not any(
        curve.weights for curve in chart.series
    ):
        columns = (_column(chart.x), *(Column(curve.name, chart.y.kind) for curve in chart.series))
        kept = _thinned(len(chart.series[0].x))
        rows = [
            (_place(chart.x, chart.series[0].x[k]), *(_cell(curve.y[k]) for curve in chart.series))
            for k in kept
        ]
        return Table(chart.title, columns, tuple(rows))
    weighed = any(curve.weights for curve in chart.series)
    columns = (
        *(Column("series"), _column(chart.x), Column(chart.y.label, chart.y.kind)),
        *((Column("pages", "count"),) if weighed else ()),
    )
    each = ceil(_MOST_POINTS / max(len(chart.series), 1))
    return Table(
        chart.title,
        columns,
        tuple(row for curve in chart.series for row in _points(chart.x, curve, each)),
    )


def _points(axis: Axis, series: Series, most: int) -> Iterator[tuple[Cell, ...]]:
    for k in _thinned(len(series.x), most):
        weight = (_cell(series.weights[k]),) if series.weights else ()
        yield series.name, _place(axis, series.x[k]), _cell(series.y[k]), *weight


def _thinned(count: int, most: int = _MOST_POINTS) -> Sequence[int]:
    if count <= most:
        return range(count)
    return sorted({round(k * (count - 1) / (most - 1)) for k in range(most)})


def _column(axis: Axis) -> Column:
    # Dates need no name on an axis; a column that is read aloud does.
    name = axis.label or ("day" if axis.kind == "date" else "place")
    return Column(name, "text" if axis.ticks else axis.kind)


def _place(axis: Axis, value: float) -> Cell:
    if axis.ticks and value == round(value) and 0 <= value < len(axis.ticks):
        return axis.ticks[round(value)]
    return _cell(value)


def _cell(value: float) -> Cell:
    if not isfinite(value):
        return None
    return int(value) if value == round(value) and abs(value) < 1e15 else value


def _values(heat: HeatMap) -> Table:
    """Return a heat map's numbers as a table, for readers who cannot see its colours."""
    columns = (Column(heat.rows.label), *(Column(name, "number") for name in heat.columns.ticks))
    rows = tuple(
        (name, *map(_cell, row)) for name, row in zip(heat.rows.ticks, heat.values, strict=True)
    )
    marks = (
        f"{what}: {heat.rows.label} {heat.rows.ticks[r]},"
        f" {heat.columns.label} {heat.columns.ticks[c]}"
        for r, c, what in heat.marks
    )
    return Table(heat.title, columns, rows, note="; ".join(marks))


def _intervals(plot: Forest) -> Table:
    names = (plot.axis.label, "at least", "at most")
    columns = (Column("list"), *(Column(name, plot.axis.kind) for name in names))
    rows = ((row.name, row.value, row.low, row.high) for row in plot.rows)
    return Table(plot.title, columns, tuple(rows))


def _edges(drawn_graph: Graph) -> Table:
    columns = (Column("from"), Column("to"), Column("transits", "count"))
    names = [f"{place} {node.name}" for place, node in enumerate(drawn_graph.nodes, 1)]
    rows = [(names[a], names[b], _cell(w)) for a, b, w in drawn_graph.edges]
    return Table(drawn_graph.title, columns, tuple(rows))


def _grown(branch: Branch) -> prefix_tree.Section:
    """Return a branch of the report's data as a section of a prefix tree."""
    beneath = tuple(_grown(child) for child in branch.beneath)
    return prefix_tree.Section(
        branch.name,
        branch.prefix,
        branch.pages,
        branch.news_pages,
        branch.temporal_pages,
        branch.is_prefix,
        beneath,
        branch.hidden,
    )
