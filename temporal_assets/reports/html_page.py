"""A self-contained HTML page: text, tables and charts, escaped and inlined.

Here: the frame and the parts of such a page. Not here: its content.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Final

from temporal_assets.reports.charts import svg_chart
from temporal_assets.reports.charts.picture import Drawn, drawing
from temporal_assets.reports.document import Chart
from temporal_assets.reports.text import shown

# Colours of the reader's system, light or dark, also in charts.
_STYLE: Final = (
    ":root{color-scheme:light dark}"
    "figure{margin:1.5rem 0}figcaption{font-weight:600}"
    "body{background:var(--paper);color:var(--ink);"
    "font:15px/1.5 system-ui,sans-serif;max-width:78rem;margin:2rem auto;padding:0 1rem}"
    "h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}.wide{overflow-x:auto}"
    "table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}"
    "th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid #8886}"
    "th{border-bottom:2px solid #888;vertical-align:bottom}td{white-space:nowrap}"
    ".text{text-align:left;white-space:normal}"
    "p{max-width:62rem}p,h1,h2,figcaption{overflow-wrap:anywhere}"
    "@media(max-width:34rem){th,td{padding:.25rem .4rem}.text{min-width:5rem}}"
    "@media print{.wide{overflow:visible}table{font-size:8pt}th,td{padding:.2rem .3rem}"
    "td{white-space:normal}}"
)

# Nothing on such a page runs, and nothing is fetched, whatever the logs have brought into it.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


_PLACES: Final = re.compile(r"(?<![:/])[/.](?=\w)")
"""Expression for positions in a URL after which a title may break into the next line."""

_TYPED: Final = re.compile(r"`([^`]+)`")
_NUMBER: Final = re.compile(r"[-+]?[\d.,]+%?( to [-+]?[\d.,]+%?)?")
_LEFT: Final = ' class="text"'


def page(title: str, parts: Iterable[str]) -> str:
    """Return a whole page; `parts` are HTML made by the functions below."""
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width"><title>{text(title)}</title>'
        f"<style>{_palette()}{_STYLE}</style>"
    )
    broken = _PLACES.sub(r"\g<0><wbr>", text(title))
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n'
        f"<h1>{broken}</h1>\n{body}\n</body></html>\n"
    )


@cache
def _palette() -> str:
    """Return the stylesheet with the report's colours and chart classes."""
    folder = files("temporal_assets.reports")
    colours = folder.joinpath("report.css").read_text("utf-8").partition("* { box-sizing")[0]
    return colours + folder.joinpath("charts/charts.css").read_text("utf-8")


def text(value: Any) -> str:
    """Return any text escaped: no markup, one line of visible characters."""
    return escape(shown("" if value is None else str(value)))


def heading(value: str) -> str:
    """Return a heading as HTML."""
    return f"<h2>{text(value)}</h2>"


def paragraph(value: str) -> str:
    """Return a paragraph as HTML; text between backticks becomes code."""
    inner = _TYPED.sub(r"<code>\g<1></code>", text(value))
    return f"<p>{inner}</p>"


def figure(block: Drawn) -> str:
    """Return a chart as HTML with its title and legend, in the colours of the page."""
    number = f"c{hashlib.sha256(repr(block).encode()).hexdigest()[:12]}"
    legend = svg_chart.legend(block.series) if isinstance(block, Chart) else ""
    caption = f"<figcaption>{text(block.title)}</figcaption>"
    return f"<figure>{caption}{legend}{drawing(block, number)}</figure>"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as HTML that scrolls where it is too wide; digits are grouped in thousands."""
    lines = [list(row) for row in rows]
    head = "".join(
        f"<th{_LEFT if any(_is_text(row[place]) for row in lines) else ''}>{text(name)}</th>"
        for place, name in enumerate(columns)
    )
    body = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in lines)
    return (
        f'<div class="wide" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n'
        "</tbody></table></div>"
    )


def _cell(value: Any) -> str:
    """Return a cell as HTML: numbers on the right, everything else on the left."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"<td{_LEFT if _is_text(value) else ''}>{text(value)}</td>"
    return f"<td>{value:,}</td>" if isinstance(value, int) else f"<td>{value:,.4g}</td>"


def _is_text(value: Any) -> bool:
    """Return True if a cell is neither empty nor a number, a share or an interval."""
    if value is None or isinstance(value, int | float):
        return isinstance(value, bool)
    return bool(str(value)) and _NUMBER.fullmatch(str(value)) is None
