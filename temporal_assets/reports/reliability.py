"""The reliability plot: promised probabilities against what happened.

Here: drawing. Not here: counting (`core.numerics.metrics`).
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Final

from temporal_assets.core.numerics.metrics import Reliability

_COLOURS: Final = ("#4f7cac", "#a23b3b", "#e8b04b", "#5a8f5a", "#7a5a8f")


def as_png(curves: Mapping[str, Reliability], title: str) -> bytes:
    """One line a name; the dots grow with the pages behind them. On the diagonal is honest."""
    # The figure classes themselves, not pyplot: no global state, no display.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Five lines of many dots at 500 by 400 pixels were more than metadata may hold.
    figure = Figure(figsize=(4.5, 3.4), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle="--")
    most = max((int(one.pages.max()) for one in curves.values()), default=1)
    for number, (name, one) in enumerate(curves.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        axes.plot(one.promised, one.observed, color=colour, linewidth=1.2, label=name)
        axes.scatter(one.promised, one.observed, s=4 + 60 * one.pages / most, color=colour)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_xlabel("promised probability", fontsize=8)
    axes.set_ylabel("share that was temporal", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.set_title(title, fontsize=8, parse_math=False)
    if curves:
        axes.legend(fontsize=7, loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
    image = io.BytesIO()
    figure.savefig(image, format="png")
    return image.getvalue()
