"""Heat maps and graphs as SVG that takes its colours from the page.

Here: drawing `document.HeatMap` and `document.Graph`. Not here: charts (`svg_chart`), the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import ceil, cos, isfinite, pi, sin, sqrt
from typing import Final

from temporal_assets.reports.charts.svg_chart import LEFT, NAME_AT, WIDTH, framed
from temporal_assets.reports.document import Graph, HeatMap
from temporal_assets.reports.text import shown

_TOP, _BOTTOM = 8, 48
_ROW: Final = 26
_LEVELS: Final = 9
"""Shades from the worst to the best cell: classes h0 to h8 of the page."""

_CENTRE: Final = (240.0, 200.0)
_RADIUS: Final = 150.0
_LONGEST_NAME: Final = 26


def heat_map(one: HeatMap, number: str) -> str:
    """Darker is more, in `_LEVELS` shades from the lowest to the highest."""
    rows, columns = len(one.values), len(one.values[0]) if one.values else 0
    wide = (WIDTH - LEFT - 10) / max(columns, 1)
    height = _TOP + _ROW * rows + _BOTTOM
    inner = "".join([*_cells(one, wide), *_names(one, wide, height), *_marks(one, wide)])
    return framed(inner, one.title, one.shows, number, (WIDTH, height))


def _cells(one: HeatMap, wide: float) -> Iterator[str]:
    known = [v for row in one.values for v in row if isfinite(v)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    span = high - low or 1.0
    for r, row in enumerate(one.values):
        for c, value in enumerate(row):
            level = min(int(_LEVELS * (value - low) / span), _LEVELS - 1)
            yield (
                f'<rect class="h{level}" x="{LEFT + c * wide:.1f}" y="{_TOP + r * _ROW}"'
                f' width="{wide + 0.3:.1f}" height="{_ROW}"/>'
            )


def _names(one: HeatMap, wide: float, height: float) -> Iterator[str]:
    for r, name in enumerate(one.rows.ticks):
        at = _TOP + (r + 0.5) * _ROW + 4
        yield f'<text class="tick" x="{LEFT - 6}" y="{at:.1f}" text-anchor="end">{_t(name)}</text>'
    every = max(1, ceil(len(one.columns.ticks) / 9))
    foot = height - _BOTTOM + 15
    for c, name in list(enumerate(one.columns.ticks))[::every]:
        at = LEFT + (c + 0.5) * wide
        yield f'<text class="tick" x="{at:.1f}" y="{foot:g}" text-anchor="middle">{_t(name)}</text>'
    yield f'<text class="label" x="{WIDTH / 2}" y="{height - 8:g}" text-anchor="middle">'
    yield f"{_t(one.columns.label)}</text>"
    middle = (height - _BOTTOM) / 2
    yield f'<text class="label" transform="translate({NAME_AT} {middle:g}) rotate(-90)"'
    yield f' text-anchor="middle">{_t(one.rows.label)}</text>'


def _marks(one: HeatMap, wide: float) -> Iterator[str]:
    """Initials; those of one cell stand beside each other."""
    cells: dict[tuple[int, int], str] = {}
    for r, c, what in one.marks:
        cells[r, c] = cells.get((r, c), "") + what[:1]
    for (r, c), initials in cells.items():
        x, y = LEFT + (c + 0.5) * wide, _TOP + (r + 0.5) * _ROW
        half = 10 + 5 * (len(initials) - 1)
        yield f'<rect class="marked" x="{x - half:.1f}" y="{y - 10:.1f}" width="{2 * half}"'
        yield ' height="20" rx="10"/>'
        yield f'<text class="mark" x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">'
        yield f"{_t(initials)}</text>"


def graph(one: Graph, number: str) -> str:
    """Areas are sizes, widths are weights; from cold to warm by share, grey where unknown."""
    count = max(len(one.nodes), 1)
    places = [
        (
            _CENTRE[0] + _RADIUS * sin(2 * pi * i / count),
            _CENTRE[1] - _RADIUS * cos(2 * pi * i / count),
        )
        for i in range(len(one.nodes))
    ]
    inner = "".join([*_edges(one, places), *_nodes(one, places)])
    return framed(
        inner, one.title, one.shows, number, (2 * _CENTRE[0], 2 * _CENTRE[1]), "plot graph"
    )


def _edges(one: Graph, places: list[tuple[float, float]]) -> Iterator[str]:
    most = max((weight for *_, weight in one.edges), default=1.0) or 1.0
    for source, target, weight in sorted(one.edges, key=lambda edge: edge[2]):
        (ax, ay), (bx, by) = places[source], places[target]
        # Bent towards one side, so that both directions can be seen.
        cx, cy = (ax + bx) / 2 - 0.15 * (by - ay), (ay + by) / 2 + 0.15 * (bx - ax)
        length = sqrt((bx - cx) ** 2 + (by - cy) ** 2) or 1.0
        end = (bx - 11 * (bx - cx) / length, by - 11 * (by - cy) / length)
        share = weight / most
        yield (
            f'<path class="edge" d="M{ax:.1f} {ay:.1f}Q{cx:.1f} {cy:.1f} {end[0]:.1f} {end[1]:.1f}"'
            f' stroke-width="{0.5 + 5 * share:.2f}" stroke-opacity="{0.25 + 0.6 * sqrt(share):.2f}"'
            "/>"
        )
        yield _arrow((cx, cy), end, 4 + 5 * share)


def _arrow(start: tuple[float, float], end: tuple[float, float], size: float) -> str:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = sqrt(dx * dx + dy * dy) or 1.0
    dx, dy = size * dx / length, size * dy / length
    points = (
        (end[0] + dx, end[1] + dy),
        (end[0] - 0.6 * dy, end[1] + 0.6 * dx),
        (end[0] + 0.6 * dy, end[1] - 0.6 * dx),
    )
    return f'<path class="head" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}Z"/>'


def _nodes(one: Graph, places: list[tuple[float, float]]) -> Iterator[str]:
    most = max((node.size for node in one.nodes), default=1.0) or 1.0
    for place, (node, (x, y)) in enumerate(zip(one.nodes, places, strict=True), 1):
        radius = 4 + 12 * sqrt(node.size / most)
        level = "none" if node.share is None else str(min(int(_LEVELS * node.share), _LEVELS - 1))
        yield f'<circle class="node t{level}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'
        outward = radius + 6
        side = (x - _CENTRE[0]) / _RADIUS
        anchor = "start" if side > 0.1 else "end" if side < -0.1 else "middle"
        tx, ty = x + side * outward, y + (y - _CENTRE[1]) / _RADIUS * (outward + 4) + 4
        name = node.name if len(node.name) <= _LONGEST_NAME else f"{node.name[:_LONGEST_NAME]}…"
        yield f'<text class="tick" x="{tx:.1f}" y="{ty:.1f}" text-anchor="{anchor}">'
        yield f'{place}<tspan class="name"> {_t(name)}</tspan></text>'


def _t(value: str) -> str:
    return escape(shown(value))
