"""Charts as SVG that takes its colours from the page: light and dark alike, sharp at every size.

Here: drawing `document.Chart`. Not here: heat maps and graphs (`svg_map`), intervals
(`svg_forest`), the page. No attribute `style` and no script, which the page's policy forbids; every
text is escaped.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, isfinite, log10, sqrt
from typing import Final

from temporal_assets.reports.document import Axis, Chart, Kind, Series
from temporal_assets.reports.text import shown

WIDTH: Final = 480
"""Width of every chart, in pixels of a screen that has them: text has one size everywhere."""
HEIGHT: Final = 270
LEFT: Final = 76
"""Width for the name of the y axis and its ticks, also in the larger letters of a phone."""

NAME_AT: Final = 16
"""Position of the name of the y axis."""

_RIGHT, _TOP, _BOTTOM = 28, 12, 48
_NAME: Final = 22
"""Height of the name of the x axis."""
_TICKS: Final = 5
"""Approximate number of ticks on an axis."""

COLOURS: Final = 8
"""Number of colours: classes c0 to c7 of the page."""

_NAMED: Final = 8
"""Largest number of named places on an axis: more overlap on a phone."""

_LONGEST_TICK: Final = 14
_TICK_LETTER: Final = 11.0
"""Approximate width of a character of a tick on a phone, by which the last tick moves in."""
_DOTS: Final = 24
"""Largest number of points of a line that are shown as dots."""


def chart(figure: Chart, number: str) -> str:
    """Return a chart as SVG; `number` makes its ids unique on the page."""
    x, y = Scale(figure.x, figure.series, "x"), Scale(figure.y, figure.series, "y")
    inner = [
        *_frame(x, y, figure),
        *(_mark(series, x, y) for series in _back_to_front(figure.series)),
    ]
    height = HEIGHT if figure.x.label else HEIGHT - _NAME
    return framed("".join(inner), figure.title, figure.shows, number, (WIDTH, height))


def framed(
    inner: str, title: str, shows: str, number: str, size: tuple[float, float], kind: str = "plot"
) -> str:
    """Wrap drawn parts in an SVG element with name and description for screen readers."""
    return (
        f'<svg class="{kind}" viewBox="0 0 {size[0]:g} {size[1]:g}" role="img"'
        f' aria-labelledby="{number}-t {number}-d"><title id="{number}-t">{escaped(title)}</title>'
        f'<desc id="{number}-d">{escaped(shows)}</desc>{inner}</svg>'
    )


def legend(series: Sequence[Series]) -> str:
    """Return the legend as HTML; empty for a single series."""
    items = "".join(
        f'<li><svg class="key" viewBox="0 0 22 12" aria-hidden="true">{_key(curve)}</svg>'
        f"{escaped(curve.name)}</li>"
        for curve in _named(series)
    )
    return f'<ul class="legend">{items}</ul>' if items else ""


def legend_svg(series: Sequence[Series]) -> tuple[str, float]:
    """Return the legend as SVG, and its height."""
    parts, x, y = [], 0.0, 0.0
    for curve in _named(series):
        width = 34 + _LETTER * len(curve.name)
        if x and x + width > WIDTH:
            x, y = 0.0, y + _LEGEND_LINE
        parts.append(
            f'<g transform="translate({x:g} {y:g})">{_key(curve)}'
            f'<text class="label" x="27" y="10">{escaped(curve.name)}</text></g>'
        )
        x += width
    return "".join(parts), y + _LEGEND_LINE if parts else 0.0


_LETTER: Final = 7.0
"""Approximate width of a character of a legend."""
_LEGEND_LINE: Final = 18.0


def _named(series: Sequence[Series]) -> list[Series]:
    """Return the series that have a name in the legend.

    Dots on a line of their colour are points of it, and dashes named after a line of their colour
    (`ours, two hops` after `ours`) are explained by it.
    """
    if len(series) < 2:
        return []
    lines = {curve.colour: curve.name for curve in series if curve.mark == "line"}
    drawn = {curve.colour for curve in series if curve.mark not in ("dots", "diamonds")}

    def is_explained(curve: Series) -> bool:
        if curve.mark == "dashes":
            return curve.name.startswith(f"{lines.get(curve.colour, curve.name)},")
        return curve.mark == "dots" and curve.colour in drawn

    return [curve for curve in series if not is_explained(curve)]


def _key(series: Series) -> str:
    """Return the small drawing of a series that stands before its name in the legend."""
    colour = f"c{series.colour % COLOURS}"
    if series.mark in ("bars", "area"):
        inner = f'<rect class="fill {colour}" x="1" y="2" width="20" height="8"/>'
    elif series.mark == "diamonds":
        inner = f'<path class="fill diamond {colour}" d="M11 1l5 5l-5 5l-5 -5Z"/>'
    elif series.mark == "dots":
        inner = f'<circle class="fill {colour}" cx="11" cy="6" r="4"/>'
    else:
        dashes = " dashes" if series.mark == "dashes" else ""
        inner = f'<path class="line {colour}{dashes}" d="M1 6H21"/>'
    return inner


class Scale:
    """A scale that maps values of an axis to positions in the picture."""

    def __init__(
        self,
        axis: Axis,
        series: Sequence[Series],
        name: str,
        ends: tuple[float, float] | None = None,
    ) -> None:
        self.axis, self.is_x = axis, name == "x"
        frame = (LEFT, WIDTH - _RIGHT) if self.is_x else (HEIGHT - _BOTTOM, _TOP)
        self.ends = ends or frame
        values = [v for curve in series for v in getattr(curve, name) if isfinite(v)]
        low = min(values, default=0.0) if axis.low is None else axis.low
        high = max(values, default=1.0) if axis.high is None else axis.high
        if axis.is_log:
            low = log10(max(low, 1e-9))
            high = log10(max(high, 1e-9))
        bars = [curve for curve in series if curve.mark == "bars" and curve.x]
        if self.is_x and bars:
            half = _bar_width(bars[0]) / 2
            first, last = min(bars[0].x), max(bars[0].x)
            low, high = min(low, first - half), max(high, last + half)
        self.low, self.high = low, high if high > low else low + 1.0
        if not axis.is_log and not axis.ticks and not self.is_x:
            step = _step(self.high - self.low, axis.kind)
            if axis.low is None:
                self.low = step * floor(self.low / step + 1e-9)
            if axis.high is None:
                self.high = step * ceil(self.high / step - 1e-9)

    def at(self, value: float) -> float:
        """Return the position of a value, within the frame."""
        number = log10(max(value, 1e-9)) if self.axis.is_log else value
        share = min(max((number - self.low) / (self.high - self.low), 0.0), 1.0)
        start, end = self.ends
        return start + share * (end - start)

    def ticks(self) -> list[tuple[float, str]]:
        """Return the values that are written beside the axis."""
        if self.axis.ticks:
            every = max(1, ceil(len(self.axis.ticks) / _NAMED))
            named = list(enumerate(self.axis.ticks))[::every]
            return [(float(n), _short(name)) for n, name in named]
        if self.axis.is_log:
            powers = range(ceil(self.low - 1e-9), floor(self.high + 1e-9) + 1)
            return [(10.0**n, written(10.0**n, self.axis.kind)) for n in powers]
        if self.axis.kind == "date":
            return self._days()
        step = _step(self.high - self.low, self.axis.kind)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [(n * step, written(n * step, self.axis.kind)) for n in range(first, last + 1)]

    def _days(self) -> list[tuple[float, str]]:
        """Return ticks on whole days, counted back from the last one."""
        first, last = ceil(self.low - 1e-9), floor(self.high + 1e-9)
        step = next(
            (width for width in _DAY_STEPS if (last - first) / width <= _TICKS), _DAY_STEPS[-1]
        )
        days = range(last, first - 1, -step)
        return [(float(day), written(day, "date")) for day in reversed(days)]


_DAY_STEPS: Final = (1, 2, 7, 14, 28, 56, 91, 182, 364)


def written(value: float, kind: Kind) -> str:
    """Return a number as text for an axis."""
    if kind == "date":
        day = dt.date.fromordinal(max(round(value), 1))
        return f"{day.day} {day:%b}"
    if kind == "share":
        return f"{100 * value:.4g} %"
    return f"{value:,.0f}" if abs(value) >= 1 and value == round(value) else f"{value:,.4g}"


def _step(span: float, kind: Kind) -> float:
    """Return a round distance between ticks; whole for counts."""
    raw = span / _TICKS
    if kind == "count":
        raw = max(raw, 1.0)
    power = 10.0 ** floor(log10(raw))
    steps = (1, 2, 5, 10) if kind == "count" else (1, 2, 2.5, 5, 10)
    return float(next(m * power for m in steps if m * power >= raw - 1e-12))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TICK else f"{text[: _LONGEST_TICK - 1]}…"


def _frame(x: Scale, y: Scale, figure: Chart) -> Iterator[str]:
    """Yield the axes of a chart with ticks, names and grid lines as SVG."""
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    for value, name in y.ticks():
        at = y.at(value)
        yield f'<path class="grid" d="M{LEFT} {at:.1f}H{right}"/>'
        yield f'<text class="tick" x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">'
        yield f"{escaped(name)}</text>"
    for value, name in x.ticks():
        at = x.at(value)
        yield f'<path class="axis" d="M{at:.1f} {bottom}v4"/>'
        middle = min(at, WIDTH - _TICK_LETTER * len(name) / 2)
        yield f'<text class="tick below" x="{middle:.1f}" y="{bottom + 17}" text-anchor="middle">'
        yield f"{escaped(name)}</text>"
    yield f'<path class="axis" d="M{LEFT} {bottom}H{right}"/>'
    middle = (LEFT + right) / 2
    if figure.x.label:
        yield f'<text class="label" x="{middle:g}" y="{HEIGHT - 8}" text-anchor="middle">'
        yield f"{escaped(figure.x.label)}</text>"
    centre = (bottom + _TOP) / 2
    yield f'<text class="label" transform="translate({NAME_AT} {centre:g}) rotate(-90)"'
    yield f' text-anchor="middle">{escaped(figure.y.label)}</text>'
    if figure.has_diagonal:
        ends = (x.at(x.low), y.at(y.low), x.at(x.high), y.at(y.high))
        yield '<path class="axis dashes" d="M{:.1f} {:.1f}L{:.1f} {:.1f}"/>'.format(*ends)
    for threshold in figure.thresholds:
        at = x.at(threshold.at)
        anchor, gap = ("end", -5) if at > middle else ("start", 5)
        yield f'<path class="threshold" d="M{at:.1f} {_TOP}V{bottom}"/>'
        yield f'<text class="label" x="{at + gap:.1f}" y="{_TOP + 11}" text-anchor="{anchor}">'
        yield f"{escaped(threshold.name)}</text>"


def _back_to_front(series: Sequence[Series]) -> list[Series]:
    # A line shows through the dashes of an equal one; beneath it they would not be seen at all.
    order = {"bars": 0, "area": 1, "line": 2, "dashes": 3, "dots": 4, "diamonds": 5}
    return sorted(series, key=lambda curve: order[curve.mark])


def _mark(series: Series, x: Scale, y: Scale) -> str:
    """Return a series drawn by its marks; values that are not finite are left out."""
    colour = f"c{series.colour % COLOURS}"
    points = [
        (x.at(a), y.at(b))
        for a, b in zip(series.x, series.y, strict=True)
        if isfinite(a) and isfinite(b)
    ]
    if not points:
        return ""
    if series.mark == "bars":
        return _bars(series, x, y, colour)
    if series.mark == "dots":
        return "".join(_dot(place, colour, 4) for place in points)
    if series.mark == "diamonds":
        return "".join(_diamond(place, colour) for place in points)
    if series.mark == "area":
        foot = y.at(y.low)
        path = f"M{points[0][0]:.1f} {foot:.1f}L{_path(points)}L{points[-1][0]:.1f} {foot:.1f}Z"
        return f'<path class="fill area {colour}" d="{path}"/>'
    dashes = " dashes" if series.mark == "dashes" else ""
    parts = _unbroken(points, x) if x.axis.kind == "date" else [points]
    path = "".join(f"M{_path(part)}" for part in parts)
    line = f'<path class="line {colour}{dashes}" d="{path}"/>'
    dots = _weighed(points, series.weights, colour) if len(points) <= _DOTS else []
    return line + "".join(dots)


def _unbroken(points: Sequence[tuple[float, float]], x: Scale) -> list[list[tuple[float, float]]]:
    """Split points of a line over days into parts without a missing day."""
    day = x.at(x.low + 1.0) - x.at(x.low)
    parts: list[list[tuple[float, float]]] = []
    for point in points:
        if not parts or point[0] - parts[-1][-1][0] > 1.5 * day:
            parts.append([])
        parts[-1].append(point)
    return parts


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "L".join(f"{a:.1f} {b:.1f}" for a, b in points)


def _weighed(
    points: Sequence[tuple[float, float]], weights: Sequence[float], colour: str
) -> list[str]:
    """Return dots on a line as SVG, their areas by weight if there are weights."""
    if len(weights) != len(points):
        return [_dot(place, colour, 2) for place in points]
    most = max(weights, default=1.0) or 1.0
    radii = [max(2.0, 7.0 * sqrt(weight / most)) for weight in weights]
    return [_dot(place, colour, radius) for place, radius in zip(points, radii, strict=True)]


def _dot(place: tuple[float, float], colour: str, radius: float) -> str:
    return (
        f'<circle class="fill {colour}" cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="{radius:.3g}"/>'
    )


def _diamond(place: tuple[float, float], colour: str) -> str:
    x, y = place
    return f'<path class="fill diamond {colour}" d="M{x:.1f} {y - 8:.1f}l8 8l-8 8l-8 -8Z"/>'


def _bar_width(series: Series) -> float:
    gaps = [b - a for a, b in zip(series.x, series.x[1:], strict=False)]
    return min(gaps, default=1.0)


def _bars(series: Series, x: Scale, y: Scale, colour: str) -> str:
    """Return one SVG path for all bars: two numbers a bar instead of a hundred characters."""
    foot, half = y.at(max(y.low, 0.0) if not y.axis.is_log else y.low), 0.42 * _bar_width(series)
    parts = []
    for a, b in zip(series.x, series.y, strict=True):
        left, right, top = x.at(a - half), x.at(a + half), y.at(b)
        if foot - top > 0.05:
            parts.append(f"M{left:.1f} {foot:.1f}V{top:.1f}H{right:.1f}V{foot:.1f}Z")
    return f'<path class="fill {colour}" d="{"".join(parts)}"/>'


def escaped(value: str) -> str:
    """Return any text escaped for SVG."""
    return escape(shown(value))
