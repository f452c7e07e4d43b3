"""Charts of the report as small PNGs, for the UI: its event log takes pictures and no SVG.

Here: drawing `document.Chart` small. Not here: the report's own charts (`svg_chart`).
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

from temporal_assets.reports.document import Axis, Chart, Series
from temporal_assets.reports.text import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS: Final = (
    *("#1b6fb3", "#c4442c", "#2c7f5c", "#9a6700", "#7a52a8", "#5b6675", "#b33a7a", "#00797f"),
)
_DPI: Final = 80
"""With at most some ten lines, a picture has 15 to 30 kB."""


def as_png(chart: Chart) -> bytes:
    """About 480 by 290 pixels."""
    # The figure classes themselves, not pyplot: no global state, no display.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for series in chart.series:
        _draw(axes, series)
    _scale(axes, chart.x, "x")
    _scale(axes, chart.y, "y")
    axes.set_title(_text(chart.title), fontsize=8)
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    if len(chart.series) > 1:
        axes.legend(fontsize=6)
    image = io.BytesIO()
    figure.savefig(image, format="png")
    return image.getvalue()


def _text(text: str) -> str:
    """As it is: what stands between dollar signs would be read as a formula."""
    return shown(text).replace("$", r"\$")


def _draw(axes: Axes, series: Series) -> None:
    colour = _COLOURS[series.colour % len(_COLOURS)]
    # A name that begins with an underscore would be left out.
    label = f" {_text(series.name)}"
    if series.mark == "bars":
        gaps = [b - a for a, b in zip(series.x, series.x[1:], strict=False)]
        axes.bar(series.x, series.y, 0.84 * min(gaps, default=1.0), color=colour, label=label)
    elif series.mark == "area":
        axes.fill_between(series.x, series.y, color=colour, alpha=0.4, label=label)
    elif series.mark == "dots":
        axes.plot(series.x, series.y, "o", color=colour, markersize=4, label=label)
    else:
        line = "--" if series.mark == "dashes" else "-"
        axes.plot(series.x, series.y, line, color=colour, linewidth=1.2, label=label)


def _scale(axes: Axes, axis: Axis, name: str) -> None:
    from matplotlib.ticker import PercentFormatter

    own = getattr(axes, f"{name}axis")
    own.set_label_text(_text(axis.label), fontsize=7)
    if axis.is_log:
        getattr(axes, f"set_{name}scale")("log")
    if axis.ticks:
        own.set_ticks(range(len(axis.ticks)), labels=[_text(one) for one in axis.ticks])
    elif axis.kind == "share":
        own.set_major_formatter(PercentFormatter(1.0, decimals=0))
    getattr(axes, f"set_{name}lim")(axis.low, axis.high)
