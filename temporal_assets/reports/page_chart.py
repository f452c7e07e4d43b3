"""A page's daily views and its interest curve, as text for a terminal and as PNG.

Here: drawing. Not here: finding the page, and why it has its labels (`cli.show.page`). The
URL is not drawn: a picture is passed on more easily than a page is known to many.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from temporal_assets.core.curves.daily_curve import expected_views
from temporal_assets.core.curves.lognormal import density

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT: Final = 10
"""Lines of the chart."""

_POINTS: Final = 800
"""Points of a drawn curve."""

_ROOM: Final = 1.25
"""Height of a picture over its highest day: a curve may rise far above it within an hour."""

_LEVELS: Final = " ▁▂▃▄▅▆▇█"
_CURVE: Final = "•"


@dataclass(frozen=True, slots=True)
class PageChart:
    """What is drawn; all days are those of the window, first day first."""

    first: dt.date
    views: Sequence[int]
    observed: Sequence[bool]
    """Whether the day is in the data."""
    expected: Sequence[float] | None
    """By the curve; None where there is none."""
    b: float | None
    """Activation: the first day of the window is from 0 to 1."""
    n: float
    phi_n: float | None
    title: str
    curve: tuple[Sequence[float], Sequence[float]] | None = None
    """Times and interest a day, finer than days; None where there is no curve."""


def chart_of(row: Mapping[str, Any], n: float, missing: Collection[str], title: str) -> PageChart:
    """The chart of a row of `page_histories` joined with `interest_curves`.

    `missing` are the days of the window that are not in the data, as text.
    """
    days = len(row["views"])
    first = row["day"] - dt.timedelta(days=days - 1)
    expected = curve = None
    if row["is_converged"]:
        fitted = [row[name] for name in ("amplitude", "base", "b", "mu", "sigma", "method")]
        expected = expected_views(days, *fitted).tolist()
        curve = _fine(days, *fitted[:-1])
    return PageChart(
        first=first,
        views=row["views"],
        observed=[str(first + dt.timedelta(days=day)) not in missing for day in range(days)],
        expected=expected,
        b=row["b"],
        n=n,
        phi_n=row["phi_n"],
        title=title,
        curve=curve,
    )


def _fine(
    days: int, amplitude: float, base: float, b: float, mu: float, sigma: float
) -> tuple[Sequence[float], Sequence[float]]:
    """The curve within the window, from its activation on."""
    times = np.linspace(max(b, 0.0), days, _POINTS)
    return times.tolist(), (amplitude * density(times - b, mu, sigma) + base).tolist()


def as_text(chart: PageChart) -> list[str]:
    """Lines of a bar chart, one column a day; a dot where the curve is."""
    top = max(1.0, *chart.views, *(chart.expected or ()))
    scale = _HEIGHT / top
    lines = []
    for line in range(_HEIGHT - 1, -1, -1):
        label = f"{top:,.0f}" if line == _HEIGHT - 1 else ""
        cells = (_cell(chart, day, line, scale) for day in range(len(chart.views)))
        lines.append(f"{label:>8} │{''.join(cells)}".rstrip())
    axis = "".join("─" if there else "x" for there in chart.observed)
    last = chart.first + dt.timedelta(days=len(chart.views) - 1)
    gap = " " * max(1, len(chart.views) - 2 * len(str(last)))
    return [*lines, f"{0:>8} └{axis}", f"{'':10}{chart.first}{gap}{last}"]


def _cell(chart: PageChart, day: int, line: int, scale: float) -> str:
    if chart.expected is not None:
        height = chart.expected[day] * scale
        # A curve that expects next to nothing is not drawn: it would underline the chart.
        if height >= 0.05 and line == min(int(height), _HEIGHT - 1):
            return _CURVE
    filled = chart.views[day] * scale - line
    if filled >= 1:
        return _LEVELS[-1]
    return _LEVELS[max(0, min(8, round(filled * 8)))]


def as_png(chart: PageChart) -> bytes:
    """The same as a picture; what accumulates within n days is shaded (TW figures 3 and 4)."""
    figure = _figure(9, 4)
    axes = figure.add_subplot()
    _draw(axes, chart)
    axes.set_xlabel(f"days since the beginning of {chart.first}")
    axes.set_ylabel("views")
    axes.legend(fontsize=8)
    return _png(figure)


def several_as_png(charts: Sequence[PageChart]) -> bytes:
    """Small charts side by side; with nothing to draw, an empty picture."""
    figure = _figure(6, 2)
    for place, chart in enumerate(charts, 1):
        axes = figure.add_subplot(1, len(charts), place)
        _draw(axes, chart)
        axes.tick_params(labelsize=7)
    return _png(figure)


def _draw(axes: Axes, chart: PageChart) -> None:
    # Day i is the time from i - 1 to i, and b is a time.
    days = [day - 0.5 for day in range(1, len(chart.views) + 1)]
    axes.bar(days, chart.views, color="#c3d3e4", label="views a day")
    if chart.expected is not None:
        born = [(day, height) for day, height in zip(days, chart.expected, strict=True) if height]
        axes.plot(
            [day for day, _ in born],
            [height for _, height in born],
            ".",
            color="#a23b3b",
            label="expected of the day",
        )
        axes.set_ylim(0, _ROOM * max(1, *chart.views, *chart.expected))
    if chart.curve is not None and chart.b is not None and chart.phi_n is not None:
        times, heights = np.array(chart.curve[0]), np.array(chart.curve[1])
        axes.plot(times, heights, color="#a23b3b", linewidth=1.2, label="interest curve")
        first = times <= chart.b + chart.n
        label = f"first {chart.n:g} days: Φ({chart.n:g}) = {chart.phi_n:.2f}"
        axes.fill_between(
            times[first], heights[first], color="#e8b04b", alpha=0.6, linewidth=0, label=label
        )
    missing = [day for day, there in zip(days, chart.observed, strict=True) if not there]
    if missing:
        axes.plot(missing, [0] * len(missing), "kx", markersize=4, label="no data")
    # Dollar signs would be read as formulas.
    axes.set_title(chart.title, fontsize=9, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)


def _figure(width: float, height: float) -> Figure:
    # The figure classes themselves, not pyplot: no global state, no display.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _png(figure: Figure) -> bytes:
    image = io.BytesIO()
    figure.savefig(image, format="png")
    return image.getvalue()
