"""The behaviour graph of a site as a picture: patterns and how people went between them.

Here: drawing. Not here: reading patterns (`windows.patterns.stored_patterns`).

A picture is passed on more easily than a table: patterns that few clients opened keep their place
and lose their name.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, log10, pi, sin, sqrt
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PATTERNS: Final = 16
"""More names than these overlap."""

_MOST_EDGES: Final = 40
_LONGEST_NAME: Final = 38


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One pattern."""

    pattern: int
    name: str
    is_public: bool
    visits: int
    temporal_share: float | None


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """People who went from one pattern to another."""

    source: int
    target: int
    transits: int


def as_image(
    nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], title: str, kind: str = "png"
) -> bytes:
    """The most visited patterns on a circle; `kind` is `png` or `svg`.

    A circle's area is its visits, an arrow's width its transits; red patterns have temporal pages.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # The figure classes themselves, not pyplot: no global state, no display.
    figure = Figure(figsize=(8, 6), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    shown = sorted(nodes, key=lambda one: (-one.visits, one.pattern))[:MOST_PATTERNS]
    place = {
        node.pattern: (sin(2 * pi * i / len(shown)), cos(2 * pi * i / len(shown)))
        for i, node in enumerate(shown)
    }
    among = [e for e in edges if e.source in place and e.target in place and e.source != e.target]
    _draw_edges(axes, sorted(among, key=lambda e: -e.transits)[:_MOST_EDGES], place)
    _draw_nodes(axes, shown, place)
    hidden = len(nodes) - len(shown)
    more = f"; {hidden:,} with fewer visits are not shown" if hidden else ""
    # Dollar signs would be read as formulas.
    axes.set_title(f"{title}{more}", fontsize=9, parse_math=False)
    axes.set_xlim(-2.1, 2.1)
    axes.set_ylim(-1.35, 1.3)
    axes.set_axis_off()
    image = io.BytesIO()
    # Without its date, the same graph is the same file.
    figure.savefig(image, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return image.getvalue()


def _draw_edges(
    axes: Axes, edges: Sequence[GraphEdge], place: dict[int, tuple[float, float]]
) -> None:
    from matplotlib.patches import FancyArrowPatch

    most = max((edge.transits for edge in edges), default=1)
    for edge in edges:
        share = edge.transits / most
        arrow = FancyArrowPatch(
            place[edge.source],
            place[edge.target],
            connectionstyle="arc3,rad=0.15",
            arrowstyle="-|>",
            mutation_scale=6 + 8 * share,
            linewidth=0.4 + 3.5 * share,
            color="#5b6f86",
            alpha=0.25 + 0.6 * sqrt(share),
            shrinkA=10,
            shrinkB=12,
        )
        axes.add_patch(arrow)


def _draw_nodes(
    axes: Axes, nodes: Sequence[GraphNode], place: dict[int, tuple[float, float]]
) -> None:
    most = max((node.visits for node in nodes), default=0) or 1
    for node in nodes:
        x, y = place[node.pattern]
        axes.scatter(
            [x],
            [y],
            s=40 + 900 * node.visits / most,
            color=_colour(node.temporal_share),
            edgecolor="#2f3b4a",
            linewidth=0.6,
            zorder=3,
        )
        far = 1.09 + 0.05 * log10(1 + 9 * node.visits / most)
        axes.text(
            far * x,
            far * y,
            f"{node.pattern}  {_name(node)}",
            fontsize=7,
            ha="left" if x > 0.1 else "right" if x < -0.1 else "center",
            va="bottom" if y > 0 else "top",
            parse_math=False,
            zorder=4,
        )


def _name(node: GraphNode) -> str:
    if not node.is_public:
        return "(few clients)"
    return node.name if len(node.name) <= _LONGEST_NAME else node.name[: _LONGEST_NAME - 1] + "…"


def _colour(temporal_share: float | None) -> str:
    """From blue (lasting) to red (temporal); grey where no page has a label."""
    if temporal_share is None:
        return "#c9cdd2"
    low, high = (0x9D, 0xB8, 0xD6), (0xC8, 0x4B, 0x3A)
    mixed = (round(a + (b - a) * temporal_share) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)
