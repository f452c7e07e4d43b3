"""Pictures of an evaluation: precision against recall, and what seeds reach. Numbers, no URL.

Here: drawing rows of `seed_evaluation` and `hub_evaluation`. Not here: the rows.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.contracts.evaluation.hub_evaluation import HUB_LISTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = Mapping[str, Any]

_TITLE: Final = 80
"""Characters in a line of a title."""

_COLOURS: Final = {
    "baseline": "#777777",
    "sites": "#c98a2b",
    "sections": "#7d5ba6",
    "prefixes": "#2f7d5b",
    "policy": "#a33c3c",
    "paper": "#c98a2b",
    "greedy": "#7d5ba6",
    "clicks": "#4a90c2",
    "recent": "#b0507a",
    "ours": "#2f7d5b",
}


_BASELINES: Final = {
    "list": "list in use",
    "everything": "everything",
    "majority": "majority of the top folder",
}


def precision_recall(rows: Sequence[Row], title: str) -> bytes:
    """Curves over the length of lists and over the threshold of prefixes; dots are what is used."""

    def draw(axes: Axes) -> None:
        for method, rule in dict.fromkeys((row["method"], row["rule"]) for row in rows):
            own = [row for row in rows if (row["method"], row["rule"]) == (method, rule)]
            line = "--" if rule == "paper" else "-"
            name = _BASELINES[rule] if method == "baseline" else f"{method}, {rule}"
            points = sorted(own, key=lambda row: row["setting"] or 0)
            recall = [row["recall"] for row in points]
            precision = [row["precision"] for row in points]
            axes.plot(recall, precision, line, color=_COLOURS[method], label=name, linewidth=1.2)
            used = [row for row in own if row["is_used"]]
            marker = "D" if method == "baseline" else "o" if rule == "confident" else "s"
            axes.plot(
                [row["recall"] for row in used],
                [row["precision"] for row in used],
                marker,
                color=_COLOURS[method],
            )
        axes.set_xlim(0, 1.02)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("recall", fontsize=8)
        axes.set_ylabel("precision", fontsize=8)
        axes.legend(fontsize=7, loc="lower left")

    return _drawn(title, draw)


def seeds_reached(rows: Sequence[Row], title: str) -> bytes:
    """Wanted pages that the first K seeds lead to, in one hop (line) and in two (dots)."""

    def draw(axes: Axes) -> None:
        for name in HUB_LISTS:
            for hops, line in (("one_hop", "-"), ("two_hops", ":")):
                there = [row for row in rows if row[f"{name}_{hops}"] is not None]
                if not there:
                    continue
                axes.plot(
                    [row["k"] for row in there],
                    [row[f"{name}_{hops}"] for row in there],
                    line,
                    color=_COLOURS[name],
                    label=f"{name}, {hops.replace('_', ' ')}",
                    marker="." if len(there) < 3 else "",
                )
        axes.axhline(max((row["wanted"] for row in rows), default=0), color="#cccccc", linewidth=1)
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("seeds", fontsize=8)
        axes.set_ylabel("temporal pages", fontsize=8)
        axes.legend(fontsize=7, loc="lower right")

    return _drawn(title, draw)


def _drawn(title: str, draw: Any) -> bytes:
    # The figure classes themselves, not pyplot: no global state, no display.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    draw(axes)
    axes.tick_params(labelsize=7)
    axes.set_title(textwrap.fill(title, _TITLE), fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    image = io.BytesIO()
    figure.savefig(image, format="png")
    return image.getvalue()
