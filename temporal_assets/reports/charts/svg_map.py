"""Heat maps and graphs as SVG that takes its colours from the page.

Here: drawing `document.HeatMap` and `document.Graph`. Not here: charts (`svg_chart`), the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import chain
from math import ceil, cos, isfinite, pi, sin, sqrt
from typing import Final

from temporal_assets.reports.charts.svg_chart import LEFT, NAME_AT, WIDTH, framed
from temporal_assets.reports.document import Graph, HeatMap, Node
from temporal_assets.reports.text import shown

_TOP, _BOTTOM = 34, 48
_ROW: Final = 26
_LEVELS: Final = 9
"""Number of shades from the worst to the best cell: classes h0 to h8 of the page."""
_SHADE: Final = 14
"""Width of a shade in the legend."""
_SCALE_LETTER: Final = 11
"""Width of a digit beside the legend, in the larger letters of a phone."""

_CENTRE: Final = (WIDTH / 2, 182.0)
_RADIUS: Final = 140.0
_NAME_LINE: Final = 19
_NAME_LETTERS: Final = 50
"""Characters of a name in a line, in the larger letters of a phone."""


def heat_map(figure: HeatMap, number: str) -> str:
    """Return a heat map as SVG: darker is more, in `_LEVELS` shades from least to most."""
    rows, columns = len(figure.values), len(figure.values[0]) if figure.values else 0
    wide = (WIDTH - LEFT - 10) / max(columns, 1)
    height = _TOP + _ROW * rows + _BOTTOM
    parts = (
        _scale(figure),
        _cells(figure, wide),
        _names(figure, wide, height),
        _marks(figure, wide),
    )
    inner = "".join(chain.from_iterable(parts))
    return framed(inner, figure.title, figure.shows, number, (WIDTH, height))


def _scale(figure: HeatMap) -> Iterator[str]:
    """Yield the SVG of the legend above the map: meaning of shades and marks."""
    low, high = _span(figure)
    right = WIDTH - 10
    left = right - _SHADE * _LEVELS - _SCALE_LETTER * len(f"{high:,.4g}") - 8
    yield f'<text class="tick" x="{left - 6}" y="18" text-anchor="end">{low:,.4g}</text>'
    for level in range(_LEVELS):
        x = left + _SHADE * level
        yield f'<rect class="h{level}" x="{x}" y="8" width="{_SHADE}" height="12"/>'
    yield f'<text class="tick" x="{right}" y="18" text-anchor="end">{high:,.4g}</text>'
    x = 0
    for what in dict.fromkeys(what for _, _, what in figure.marks):
        yield f'<text class="label" x="{x}" y="18"><tspan class="letter">{_t(what[:1])}</tspan>'
        yield f" {_t(what)}</text>"
        x += 34 + 8 * len(what)


def _span(figure: HeatMap) -> tuple[float, float]:
    values = [v for row in figure.values for v in row if isfinite(v)]
    return min(values, default=0.0), max(values, default=1.0)


def _cells(figure: HeatMap, wide: float) -> Iterator[str]:
    """Yield the coloured cells of a heat map; values that are not finite stay empty."""
    low, high = _span(figure)
    span = high - low or 1.0
    for r, row in enumerate(figure.values):
        for c, value in enumerate(row):
            if not isfinite(value):
                continue
            level = min(int(_LEVELS * (value - low) / span), _LEVELS - 1)
            yield (
                f'<rect class="h{level}" x="{LEFT + c * wide:.1f}" y="{_TOP + r * _ROW}"'
                f' width="{wide + 0.3:.1f}" height="{_ROW}"/>'
            )


def _names(figure: HeatMap, wide: float, height: float) -> Iterator[str]:
    """Yield the labels of rows and columns (nine at most), and the names of both axes."""
    for r, name in enumerate(figure.rows.ticks):
        at = _TOP + (r + 0.5) * _ROW + 4
        yield f'<text class="tick" x="{LEFT - 6}" y="{at:.1f}" text-anchor="end">{_t(name)}</text>'
    every = max(1, ceil(len(figure.columns.ticks) / 9))
    foot = height - _BOTTOM + 15
    for c, name in list(enumerate(figure.columns.ticks))[::every]:
        at = LEFT + (c + 0.5) * wide
        yield f'<text class="tick" x="{at:.1f}" y="{foot:g}" text-anchor="middle">{_t(name)}</text>'
    yield f'<text class="label" x="{WIDTH / 2}" y="{height - 8:g}" text-anchor="middle">'
    yield f"{_t(figure.columns.label)}</text>"
    middle = (height - _BOTTOM) / 2
    yield f'<text class="label" transform="translate({NAME_AT} {middle:g}) rotate(-90)"'
    yield f' text-anchor="middle">{_t(figure.rows.label)}</text>'


def _marks(figure: HeatMap, wide: float) -> Iterator[str]:
    """Yield the SVG of marks: initials in their cells, side by side if several share one."""
    cells: dict[tuple[int, int], str] = {}
    for r, c, what in figure.marks:
        cells[r, c] = cells.get((r, c), "") + what[:1]
    for (r, c), initials in cells.items():
        x, y = LEFT + (c + 0.5) * wide, _TOP + (r + 0.5) * _ROW
        half = 10 + 5 * (len(initials) - 1)
        yield f'<rect class="marked" x="{x - half:.1f}" y="{y - 10:.1f}" width="{2 * half}"'
        yield ' height="20" rx="10"/>'
        yield f'<text class="mark" x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">'
        yield f"{_t(initials)}</text>"


def graph(figure: Graph, number: str) -> str:
    """Return a graph as SVG: areas show sizes, widths weights, colours shares (grey if unknown)."""
    count = max(len(figure.nodes), 1)
    places = [
        (
            _CENTRE[0] + _RADIUS * sin(2 * pi * i / count),
            _CENTRE[1] - _RADIUS * cos(2 * pi * i / count),
        )
        for i in range(len(figure.nodes))
    ]
    radii = _radii(figure)
    foot = _CENTRE[1] + _RADIUS + 44
    names, height = _list(figure, foot)
    inner = "".join([*_edges(figure, places, radii), *_nodes(figure, places, radii), *names])
    return framed(inner, figure.title, figure.shows, number, (WIDTH, height), "plot graph")


def _radii(figure: Graph) -> list[float]:
    most = max((node.size for node in figure.nodes), default=1.0) or 1.0
    return [4 + 12 * sqrt(node.size / most) for node in figure.nodes]


def _edges(figure: Graph, places: list[tuple[float, float]], radii: list[float]) -> Iterator[str]:
    """Yield the edges of a graph, thin ones first, as bent arrows as wide as their weight."""
    most = max((weight for *_, weight in figure.edges), default=1.0) or 1.0
    for source, target, weight in sorted(figure.edges, key=lambda edge: edge[2]):
        (ax, ay), (bx, by) = places[source], places[target]
        # Bent towards one side, so that both directions can be seen.
        cx, cy = (ax + bx) / 2 - 0.15 * (by - ay), (ay + by) / 2 + 0.15 * (bx - ax)
        length = sqrt((bx - cx) ** 2 + (by - cy) ** 2) or 1.0
        share = weight / most
        head = 5 + 5 * share
        # The tip touches the circle of the target; the line ends where the head begins.
        dx, dy, gap = (bx - cx) / length, (by - cy) / length, radii[target] + 1
        tip = (bx - gap * dx, by - gap * dy)
        end = (tip[0] - head * dx, tip[1] - head * dy)
        yield (
            f'<path class="edge" d="M{ax:.1f} {ay:.1f}Q{cx:.1f} {cy:.1f} {end[0]:.1f} {end[1]:.1f}"'
            f' stroke-width="{0.5 + 5 * share:.2f}" stroke-opacity="{0.25 + 0.6 * sqrt(share):.2f}"'
            "/>"
        )
        yield _arrow(end, tip)


def _arrow(end: tuple[float, float], tip: tuple[float, float]) -> str:
    dx, dy = 0.6 * (tip[0] - end[0]), 0.6 * (tip[1] - end[1])
    points = (tip, (end[0] - dy, end[1] + dx), (end[0] + dy, end[1] - dx))
    return f'<path class="head" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}Z"/>'


def _nodes(figure: Graph, places: list[tuple[float, float]], radii: list[float]) -> Iterator[str]:
    for place, (node, (x, y), radius) in enumerate(
        zip(figure.nodes, places, radii, strict=True), 1
    ):
        yield f'<circle class="node {_heat(node)}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'
        far = (_RADIUS + radius + 12) / _RADIUS
        tx, ty = _CENTRE[0] + far * (x - _CENTRE[0]), _CENTRE[1] + far * (y - _CENTRE[1]) + 4
        yield f'<text class="label" x="{tx:.1f}" y="{ty:.1f}" text-anchor="middle">{place}</text>'


def _list(figure: Graph, top: float) -> tuple[list[str], float]:
    """Return the SVG of whole names below the circle, under their numbers."""
    parts: list[str] = []
    y = top
    for place, node in enumerate(figure.nodes, 1):
        parts.append(f'<circle class="node {_heat(node)}" cx="9" cy="{y - 4:g}" r="5"/>')
        parts.append(f'<text class="label" x="38" y="{y:g}" text-anchor="end">{place}</text>')
        for cut in range(0, max(len(node.name), 1), _NAME_LETTERS):
            piece = _t(node.name[cut : cut + _NAME_LETTERS])
            parts.append(f'<text class="label" x="46" y="{y:g}">{piece}</text>')
            y += _NAME_LINE
    return parts, y


def _heat(node: Node) -> str:
    if node.share is None:
        return "tnone"
    return f"t{min(int(_LEVELS * node.share), _LEVELS - 1)}"


def _t(value: str) -> str:
    return escape(shown(value))
