"""A page's daily views and its interest curve, as text for a terminal and as PNG.

Here: drawing. Not here: finding the page, and why it has its labels (`cli.show.page`). The
URL is not drawn: a picture is passed on more easily than a page is known to many.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from temporal_assets.core.curves.daily_curve import expected_views
from temporal_assets.core.curves.lognormal import accumulated
from temporal_assets.reports.document import Axis, Chart, Series

_HEIGHT: Final = 10
"""Height of the text chart in lines."""

_POINTS: Final = 80
"""Number of points of a drawn curve in its first days, and in all others."""
_STEEP: Final = 6.0
"""Number of days after birth in which a curve may be steep."""

_LEVELS: Final = " ▁▂▃▄▅▆▇█"
_CURVE: Final = "•"


@dataclass(frozen=True, slots=True)
class PageChart:
    """Views and curve of a page, in arrays over the days of the window, the first day first."""

    first: dt.date
    views: Sequence[int]
    observed: Sequence[bool]
    """True for days that are in the data."""
    expected: Sequence[float] | None
    """Views by the curve; None without a curve."""
    b: float | None
    """Time of activation in days; the first day of the window is from 0 to 1."""
    n: float
    phi_n: float | None
    title: str
    curve: tuple[Sequence[float], Sequence[float]] | None = None
    """Times and the interest of the day around each; None without a curve."""


def chart_of(row: Mapping[str, Any], n: float, missing: Collection[str], title: str) -> PageChart:
    """Return the chart of a row of `page_histories` joined with `interest_curves`.

    `missing` are the days of the window that are not in the data, as text.
    """
    days = len(row["views"])
    first = row["day"] - dt.timedelta(days=days - 1)
    expected = curve = None
    if row["is_converged"]:
        fitted = [row[name] for name in ("amplitude", "b", "mu", "sigma", "method")]
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
    days: int, amplitude: float, b: float, mu: float, sigma: float
) -> tuple[Sequence[float], Sequence[float]]:
    """Return times and the interest of the day around each, from the first interest on.

    The density itself may rise far above every day within an hour; bars count a day.
    """
    start = max(b - 0.5, 0.0)
    steep = min(start + _STEEP, float(days))
    rest = np.linspace(steep, days, _POINTS + 1)[1:] if steep < days else np.empty(0)
    times = np.append(np.linspace(start, steep, _POINTS), rest)
    age = times - b
    within = accumulated(age + 0.5, mu, sigma) - accumulated(np.maximum(age - 0.5, 0.0), mu, sigma)
    return times.tolist(), (amplitude * within).tolist()


def as_text(chart: PageChart) -> list[str]:
    """Return lines of a bar chart, one column a day; a dot marks the curve."""
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
    """Return the character of a day at a height: the curve, a full block, or part of one."""
    if chart.expected is not None:
        height = chart.expected[day] * scale
        # A curve that expects next to nothing is not drawn: it would underline the chart.
        if height >= 0.05 and line == min(int(height), _HEIGHT - 1):
            return _CURVE
    filled = chart.views[day] * scale - line
    if filled >= 1:
        return _LEVELS[-1]
    return _LEVELS[max(0, min(8, round(filled * 8)))]


def as_chart(chart: PageChart, title: str = "") -> Chart:
    """Return the chart as a block; interest within n days is shaded (TW figures 3 and 4)."""
    first_day = float(chart.first.toordinal())
    days = tuple(first_day + day for day in range(len(chart.views)))
    series = [Series("views a day", "bars", 5, days, tuple(map(float, chart.views)))]
    heights: tuple[float, ...] = ()
    if chart.curve is not None and chart.b is not None and chart.phi_n is not None:
        times, heights = (tuple(part) for part in chart.curve)
        # A day's bar stands above its date, which is the middle of the day.
        start, end = first_day - 0.5, chart.b + chart.n
        dates = tuple(start + time for time in times)
        series.append(Series("interest curve", "line", 1, dates, heights))
        first = sum(time <= end for time in times)
        if first > 1:
            label = f"first {chart.n:g} days: Φ({chart.n:g}) = {chart.phi_n:.2f}"
            series.append(Series(label, "area", 3, dates[:first], heights[:first]))
    absent = tuple(day for day, there in zip(days, chart.observed, strict=True) if not there)
    if absent:
        series.append(Series("no data", "dots", 0, absent, (0.0,) * len(absent)))
    phi = "" if chart.phi_n is None else f" Φ({chart.n:g}) = {chart.phi_n:.2f}."
    return Chart(
        title or chart.title,
        f"Views a day, at most {max(chart.views, default=0):,}, and the interest curve.{phi}",
        Axis("", "date", first_day - 0.5, first_day + len(chart.views) - 0.5),
        Axis("views a day", "count", 0.0),
        tuple(series),
    )
