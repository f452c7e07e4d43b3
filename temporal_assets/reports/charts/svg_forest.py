"""Forest plots: values with their intervals below each other, as SVG in the page's colours.

Here: drawing `document.Forest`. Names stand above their interval, where they have the whole width.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from temporal_assets.reports.charts.svg_chart import (
    COLOURS,
    WIDTH,
    Scale,
    escaped,
    framed,
    written,
)
from temporal_assets.reports.document import Forest, Interval, Series

_TOP, _BOTTOM = 4, 40
_ROW: Final = 36
_SIDE: Final = 10
_LETTERS: Final = {"wide": 6.9, "narrow": 9.0}
"""Width of a character, estimated generously: on a screen, and on phones and panels."""


def forest(figure: Forest, number: str) -> str:
    """Return a forest plot as SVG; `number` makes its ids unique on the page."""
    height = _TOP + _ROW * len(figure.rows) + _BOTTOM
    ends = tuple(v for row in figure.rows for v in (row.low, row.value, row.high))
    scale = Scale(figure.axis, (Series("", "dots", 0, ends, ends),), "x", (_SIDE, WIDTH - _SIDE))
    foot = height - _BOTTOM
    inner = [
        *_axis(figure, scale, foot),
        *(_row(row, n, scale) for n, row in enumerate(figure.rows)),
    ]
    return framed("".join(inner), figure.title, figure.shows, number, (WIDTH, height))


def _axis(figure: Forest, scale: Scale, foot: float) -> Iterator[str]:
    """Yield the grid lines, their labels, and the name of the axis below all rows."""
    for value, name in scale.ticks():
        at = scale.at(value)
        anchor = "start" if at < 2 * _SIDE else "end" if at > WIDTH - 2 * _SIDE else "middle"
        yield f'<path class="grid" d="M{at:.1f} {_TOP}V{foot}"/>'
        yield f'<text class="tick" x="{at:.1f}" y="{foot + 16}" text-anchor="{anchor}">'
        yield f"{escaped(name)}</text>"
    yield f'<text class="label" x="{WIDTH / 2:g}" y="{foot + 34}" text-anchor="middle">'
    yield f"{escaped(figure.axis.label)}</text>"


def _row(row: Interval, place: int, scale: Scale) -> str:
    """Return one row: name, value with its interval in words, and the drawn interval."""
    top = _TOP + place * _ROW
    at, colour = top + 26, f"c{row.colour % COLOURS}"
    low, high, middle = scale.at(row.low), scale.at(row.high), scale.at(row.value)
    kind = scale.axis.kind
    label = f"{_short(row.value, kind)} ({_short(row.low, kind)} to {_short(row.high, kind)})"
    return (
        f"{_name(row.name, top + 14, len(label))}"
        f'<text class="value" x="{WIDTH - _SIDE}" y="{top + 14}" text-anchor="end">{label}</text>'
        f'<path class="line {colour}" d="M{low:.1f} {at - 4}v8m0 -4H{high:.1f}m0 -4v8"/>'
        f'<circle class="fill {colour}" cx="{middle:.1f}" cy="{at}" r="5"/>'
    )


def _name(name: str, at: int, beside: int) -> str:
    """Return a name cut to fit beside the value, once per letter size; the stylesheet selects one.

    The table below the figure has whole names.
    """
    texts = {kind: _cut(name, letter, beside) for kind, letter in _LETTERS.items()}
    if len(set(texts.values())) == 1:
        return f'<text class="label" x="{_SIDE}" y="{at}">{escaped(name)}</text>'
    return "".join(
        f'<text class="label {kind}" x="{_SIDE}" y="{at}">{escaped(text)}</text>'
        for kind, text in texts.items()
    )


def _cut(name: str, letter: float, beside: int) -> str:
    most = int((WIDTH - 2 * _SIDE) / letter) - beside
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _short(value: float, kind: str) -> str:
    """Return a value as text with two digits after the point, which suffice to compare lists."""
    if kind == "share":
        return written(round(value, 3), "share")
    return f"{value:,.2f}"
