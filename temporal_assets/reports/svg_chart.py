"""Charts as SVG that takes its colours from the page: light and dark alike, sharp at every size.

Here: drawing `document.Chart`. Not here: heat maps and graphs (`svg_map`), the page. No attribute
`style` and no script, which the page's policy forbids; every text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, isfinite, log10
from typing import Final

from temporal_assets.reports.document import Axis, Chart, Kind, Series
from temporal_assets.reports.text import shown

WIDTH: Final = 520
HEIGHT: Final = 290
LEFT: Final = 78
"""Room for the name of an axis and its ticks, also in the larger letters of a phone."""

NAME_AT: Final = 16
"""Where its name stands there."""

_RIGHT, _TOP, _BOTTOM = 18, 12, 48
_TICKS: Final = 5
"""About so many on an axis."""

COLOURS: Final = 8
"""Classes c0 to c7 of the page."""

_NAMED: Final = 8
"""At most so many places of an axis are named: more overlap on a phone."""

_LONGEST_TICK: Final = 14
_DOTS: Final = 40
"""Lines with no more points show them."""


def chart(one: Chart, number: str) -> str:
    """The SVG; `number` makes its ids unique on the page."""
    x, y = _Scale(one.x, one.series, "x"), _Scale(one.y, one.series, "y")
    inner = [*_frame(x, y, one), *(_mark(series, x, y) for series in _back_to_front(one.series))]
    return framed("".join(inner), one.title, one.shows, number, (WIDTH, HEIGHT))


def framed(
    inner: str, title: str, shows: str, number: str, size: tuple[float, float], kind: str = "plot"
) -> str:
    """An SVG with name and description for those who cannot see it."""
    return (
        f'<svg class="{kind}" viewBox="0 0 {size[0]:g} {size[1]:g}" role="img"'
        f' aria-labelledby="{number}-t {number}-d"><title id="{number}-t">{_text(title)}</title>'
        f'<desc id="{number}-d">{_text(shows)}</desc>{inner}</svg>'
    )


def legend(series: Sequence[Series]) -> str:
    """Names beside their colours; nothing for a single series."""
    if len(series) < 2:
        return ""
    lines = {one.colour for one in series if one.mark != "dots"}
    # Dots on a line of their colour are points of it.
    named = [one for one in series if one.mark != "dots" or one.colour not in lines]
    items = "".join(f"<li>{_key(one)}{_text(one.name)}</li>" for one in named)
    return f'<ul class="legend">{items}</ul>'


def _key(series: Series) -> str:
    colour = f"c{series.colour % COLOURS}"
    if series.mark in ("bars", "area"):
        inner = f'<rect class="fill {colour}" x="1" y="2" width="20" height="8"/>'
    elif series.mark == "dots":
        inner = f'<circle class="fill {colour}" cx="11" cy="6" r="4"/>'
    else:
        dashes = " dashes" if series.mark == "dashes" else ""
        inner = f'<path class="line {colour}{dashes}" d="M1 6H21"/>'
    return f'<svg class="key" viewBox="0 0 22 12" aria-hidden="true">{inner}</svg>'


class _Scale:
    """From values of an axis to places in the picture."""

    def __init__(self, axis: Axis, series: Sequence[Series], name: str) -> None:
        self.axis, self.is_x = axis, name == "x"
        values = [v for one in series for v in getattr(one, name) if isfinite(v)]
        low = min(values, default=0.0) if axis.low is None else axis.low
        high = max(values, default=1.0) if axis.high is None else axis.high
        if axis.is_log:
            low = log10(max(low, 1e-9))
            high = log10(max(high, 1e-9))
        bars = [one for one in series if one.mark == "bars"]
        if self.is_x and bars:
            half = _bar_width(bars[0]) / 2
            low, high = min(low, min(values) - half), max(high, max(values) + half)
        self.low, self.high = low, high if high > low else low + 1.0
        if not axis.is_log and not axis.ticks and not self.is_x and axis.high is None:
            step = _step(self.high - self.low)
            self.high = step * ceil(self.high / step - 1e-9)

    def at(self, value: float) -> float:
        """A place, within the frame."""
        number = log10(max(value, 1e-9)) if self.axis.is_log else value
        share = min(max((number - self.low) / (self.high - self.low), 0.0), 1.0)
        if self.is_x:
            return LEFT + share * (WIDTH - LEFT - _RIGHT)
        return HEIGHT - _BOTTOM - share * (HEIGHT - _BOTTOM - _TOP)

    def ticks(self) -> list[tuple[float, str]]:
        """Values that are written beside the axis."""
        if self.axis.ticks:
            every = max(1, ceil(len(self.axis.ticks) / _NAMED))
            named = list(enumerate(self.axis.ticks))[::every]
            return [(float(n), _short(name)) for n, name in named]
        if self.axis.is_log:
            powers = range(ceil(self.low - 1e-9), floor(self.high + 1e-9) + 1)
            return [(10.0**n, written(10.0**n, self.axis.kind)) for n in powers]
        step = _step(self.high - self.low)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [(n * step, written(n * step, self.axis.kind)) for n in range(first, last + 1)]


def written(value: float, kind: Kind) -> str:
    """A number on an axis."""
    if kind == "share":
        return f"{100 * value:.4g} %"
    return f"{value:,.0f}" if abs(value) >= 1 and value == round(value) else f"{value:,.4g}"


def _step(span: float) -> float:
    """A round distance between ticks."""
    raw = span / _TICKS
    power = 10.0 ** floor(log10(raw))
    return float(next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw - 1e-12))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TICK else f"{text[: _LONGEST_TICK - 1]}…"


def _frame(x: _Scale, y: _Scale, one: Chart) -> Iterator[str]:
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    for value, name in y.ticks():
        at = y.at(value)
        yield f'<path class="grid" d="M{LEFT} {at:.1f}H{right}"/>'
        yield f'<text class="tick" x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">'
        yield f"{_text(name)}</text>"
    for value, name in x.ticks():
        at = x.at(value)
        yield f'<path class="axis" d="M{at:.1f} {bottom}v4"/>'
        anchor = "end" if at > right - 4 and len(name) > 3 else "middle"
        yield f'<text class="tick" x="{at:.1f}" y="{bottom + 17}" text-anchor="{anchor}">'
        yield f"{_text(name)}</text>"
    yield f'<path class="axis" d="M{LEFT} {bottom}H{right}"/>'
    middle = (LEFT + right) / 2
    yield f'<text class="label" x="{middle:g}" y="{HEIGHT - 8}" text-anchor="middle">'
    yield f"{_text(one.x.label)}</text>"
    centre = (bottom + _TOP) / 2
    yield f'<text class="label" transform="translate({NAME_AT} {centre:g}) rotate(-90)"'
    yield f' text-anchor="middle">{_text(one.y.label)}</text>'
    if one.has_diagonal:
        ends = (x.at(x.low), y.at(y.low), x.at(x.high), y.at(y.high))
        yield '<path class="axis dashes" d="M{:.1f} {:.1f}L{:.1f} {:.1f}"/>'.format(*ends)


def _back_to_front(series: Sequence[Series]) -> list[Series]:
    order = {"area": 1, "bars": 0, "dashes": 2, "line": 3, "dots": 4}
    return sorted(series, key=lambda one: order[one.mark])


def _mark(series: Series, x: _Scale, y: _Scale) -> str:
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
    if series.mark == "area":
        foot = y.at(y.low)
        path = f"M{points[0][0]:.1f} {foot:.1f}L{_path(points)}L{points[-1][0]:.1f} {foot:.1f}Z"
        return f'<path class="fill area {colour}" d="{path}"/>'
    dashes = " dashes" if series.mark == "dashes" else ""
    line = f'<path class="line {colour}{dashes}" d="M{_path(points)}"/>'
    dots = [_dot(place, colour, 2) for place in points] if len(points) <= _DOTS else []
    return line + "".join(dots)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "L".join(f"{a:.1f} {b:.1f}" for a, b in points)


def _dot(place: tuple[float, float], colour: str, radius: int) -> str:
    return f'<circle class="fill {colour}" cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="{radius}"/>'


def _bar_width(series: Series) -> float:
    gaps = [b - a for a, b in zip(series.x, series.x[1:], strict=False)]
    return min(gaps, default=1.0)


def _bars(series: Series, x: _Scale, y: _Scale, colour: str) -> str:
    """One path for all bars: two numbers a bar instead of a hundred characters."""
    foot, half = y.at(max(y.low, 0.0) if not y.axis.is_log else y.low), 0.42 * _bar_width(series)
    parts = []
    for a, b in zip(series.x, series.y, strict=True):
        left, right, top = x.at(a - half), x.at(a + half), y.at(b)
        if foot - top > 0.05:
            parts.append(f"M{left:.1f} {foot:.1f}V{top:.1f}H{right:.1f}V{foot:.1f}Z")
    return f'<path class="fill {colour}" d="{"".join(parts)}"/>'


def _text(value: str) -> str:
    return escape(shown(value))
