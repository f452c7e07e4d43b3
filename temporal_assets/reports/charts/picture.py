"""Pictures that stand alone: the charts of the report as SVG and PNG, with titles and legends.

Dagster's event log, `--png` and `--graph` show these pictures. The functions of the report draw
them, in the light colours of its stylesheet. Transparent pictures have lines that can be read on
white and on black, because Dagster's pages may be either. Not here: drawing itself
(`svg_chart`, `svg_map`, `svg_forest`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import as_file, files
from typing import Final

from temporal_assets.reports.charts import svg_chart, svg_forest, svg_map
from temporal_assets.reports.charts.svg_chart import WIDTH, escaped
from temporal_assets.reports.document import Chart, Forest, Graph, HeatMap

Drawn = Chart | HeatMap | Graph | Forest
"""Kinds of block that can be drawn."""

_MARGIN: Final = 12
_LINE: Final = 17
_LETTERS: Final = 66
"""Characters of a title in a line."""

_FONT: Final = "DejaVuSans.ttf"
_VARIABLE: Final = re.compile(r"var\(--([a-z0-9-]+)\)")
_DEFINED: Final = re.compile(r"--([a-z0-9-]+):\s*([^;]+);")
_SIZE: Final = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_PHONE: Final = re.compile(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")


def drawing(block: Drawn, number: str) -> str:
    """Return a block as SVG without title and legend for a page; `number` makes its ids unique."""
    if isinstance(block, Chart):
        return svg_chart.chart(block, number)
    if isinstance(block, HeatMap):
        return svg_map.heat_map(block, number)
    if isinstance(block, Graph):
        return svg_map.graph(block, number)
    return svg_forest.forest(block, number)


def as_svg(blocks: Sequence[Drawn], title: str = "", *, is_clear: bool = False) -> str:
    """Return one SVG file with the blocks below each other.

    `is_clear` leaves the ground transparent, with lines that show on white and on black.
    """
    parts: list[str] = []
    top = float(_MARGIN)
    for line in _lines(title, _LETTERS - 4) if title else ():
        top += _LINE
        parts.append(f'<text class="heading" x="{_MARGIN}" y="{top:g}">{escaped(line)}</text>')
    for place, block in enumerate(blocks):
        top = _block(block, place, top, parts)
    height = top + _MARGIN
    width = WIDTH + 2 * _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 {width} {height:g}"'
        f' width="{width}" height="{height:g}"><style>{_style(is_clear)}</style>'
        f'<rect class="ground" width="100%" height="100%"/>{"".join(parts)}</svg>'
    )


def as_png(
    blocks: Sequence[Drawn], title: str = "", zoom: float = 1.0, *, is_clear: bool = False
) -> bytes:
    """Return the picture of `as_svg` as PNG, 504 pixels wide at `zoom` 1."""
    import resvg_py

    with as_file(files("temporal_assets.reports.charts").joinpath(_FONT)) as font:
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=as_svg(blocks, title, is_clear=is_clear),
                font_files=[str(font)],
                # The same picture on every machine, whatever fonts it has.
                skip_system_fonts=True,
                font_family="DejaVu Sans",
                sans_serif_family="DejaVu Sans",
                zoom=zoom,
            )
        )


def _block(block: Drawn, place: int, top: float, parts: list[str]) -> float:
    """Append the SVG of a block at `top` to `parts`; return where it ends."""
    for line in _lines(block.title, _LETTERS):
        top += _LINE
        parts.append(f'<text class="title" x="{_MARGIN}" y="{top:g}">{escaped(line)}</text>')
    top += 8
    if isinstance(block, Chart):
        entries, height = svg_chart.legend_svg(block.series)
        parts.append(f'<g transform="translate({_MARGIN} {top:g})">{entries}</g>')
        top += height
    drawn = drawing(block, f"p{place}")
    size = _SIZE.search(drawn)
    height = float(size[2]) if size else 0.0
    where = f'<svg x="{_MARGIN}" y="{top:g}" width="{WIDTH}" height="{height:g}" '
    parts.append(drawn.replace("<svg ", where, 1))
    return top + height + _MARGIN


def _lines(text: str, letters: int) -> Iterator[str]:
    """Yield lines of a text of at most `letters` characters, broken at spaces if possible."""
    while len(text) > letters:
        at = text.rfind(" ", 1, letters)
        cut = at if at > 0 else letters
        yield text[:cut]
        text = text[cut:].lstrip()
    if text:
        yield text


@cache
def _style(is_clear: bool) -> str:
    """Return the stylesheet with light colours as values, since SVG renderers know no variables."""
    folder = files("temporal_assets.reports")
    palette = folder.joinpath("report.css").read_text("utf-8")
    colours = dict(_DEFINED.findall(palette[: palette.index("}")]))
    if is_clear:
        colours |= _CLEAR
    charts = _PHONE.sub("", folder.joinpath("charts/charts.css").read_text("utf-8"))
    ground = "none" if is_clear else "var(--paper)"
    halo = ".plot .value { stroke: none; }" if is_clear else ""
    own = f"{_OWN}.ground {{ fill: {ground}; }}{halo}"
    return _VARIABLE.sub(lambda match: colours[match[1]], charts + own)


_GREY: Final = "#6f7a87"
"""Colour with contrast 4.3 to white and 4.5 to the dark pages of Dagster."""
_CLEAR: Final = {"ink": _GREY, "muted": _GREY, "line": "rgba(125, 138, 152, .4)"}


_OWN: Final = (
    ".plot text { font-family: 'DejaVu Sans', sans-serif; }"
    ".plot .title { fill: var(--ink); font-size: 13px; }"
    ".plot .heading { fill: var(--ink); font-size: 15px; }"
)
