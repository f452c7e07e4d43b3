"""A grid of thresholds as a heat map: text for a terminal, and a picture.

Here: drawing. Not here: what the cells mean (`core.labels.calibration`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.reports.document import Axis
from temporal_assets.reports.document import HeatMap as Block
from temporal_assets.settings import Labels

Floats = NDArray[np.float64]

_SHADES: Final = " ░▒▓█"

_WIDEST: Final = 40
"""Largest number of columns in text. A finer grid is thinned; marked columns stay."""

_MOST_DRAWN: Final = 30
"""Largest number of columns in a picture."""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Performance of labels for each pair of days and threshold."""

    title: str
    days: Sequence[float]
    """Numbers of days, one for each row."""
    thresholds: Sequence[float]
    """Thresholds, one for each column."""
    values: Floats
    """Performance: days x thresholds."""
    best: tuple[float, float]
    """(days, threshold) of the chosen cell."""
    used: tuple[float, float] | None
    """Days and threshold of the cell that `calibrated` thresholds use."""
    now: tuple[float, float]
    """Days and threshold of the settings."""
    names: tuple[str, str]
    """Symbols of the days and of the threshold: n and q, or m and p."""


def of_cells(labels: Labels, cells: Sequence[Mapping[str, Any]]) -> HeatMap:
    """Return the heat map of one label from its rows of `calibration`, all of one scope."""
    days = sorted({row["days"] for row in cells})
    thresholds = sorted({row["threshold"] for row in cells})
    by_cell = {(row["days"], row["threshold"]): row for row in cells}
    by_curve = cells[0]["score"] == "interest"
    return HeatMap(
        title="temporal by curve" if by_curve else "news by concentration",
        days=days,
        thresholds=thresholds,
        values=np.array([[by_cell[d, t]["performance"] for t in thresholds] for d in days]),
        best=next(cell for cell, row in by_cell.items() if row["is_best"]),
        used=next((cell for cell, row in by_cell.items() if row["is_used"]), None),
        now=(labels.n, labels.q) if by_curve else (float(labels.m), labels.p),
        names=("n", "q") if by_curve else ("m", "p"),
    )


def as_text(heat: HeatMap) -> list[str]:
    """Return lines of text; darker is better, in five steps from the worst to the best cell."""
    low, high = float(heat.values.min()), float(heat.values.max())
    step = (high - low) / len(_SHADES) or 1.0
    columns = _columns(heat, _WIDEST)
    name_days, name_threshold = heat.names
    lines = [f"{name_days:>6} │ {name_threshold} from {heat.thresholds[0]:g} on"]
    for d, days in enumerate(heat.days):
        cells = "".join(
            _mark(heat, days, heat.thresholds[c])
            or _SHADES[min(int((heat.values[d, c] - low) / step), len(_SHADES) - 1)]
            for c in columns
        )
        lines.append(f"{days:>6g} │{cells}│ {heat.values[d].max():,.6g}")
    ends = f"{heat.thresholds[0]:g}".ljust(len(columns) - 1) + f"{heat.thresholds[-1]:g}"
    return [
        *lines,
        f"{'':6}  {ends}",
        f"{'':6}  B best, U used by calibrated labels, s settings; {low:,.6g} (blank) to"
        f" {high:,.6g} (█); on the right the best of the row",
    ]


def _columns(heat: HeatMap, most: int) -> list[int]:
    count = len(heat.thresholds)
    marked = {cell[1] for cell in (heat.best, heat.used, heat.now) if cell}
    kept = set(np.linspace(0, count - 1, min(count, most)).round().astype(int).tolist())
    return [k for k in range(count) if k in kept or heat.thresholds[k] in marked]


def _mark(heat: HeatMap, days: float, threshold: float) -> str:
    """Return the mark of a cell; empty for most."""
    marks = ((heat.best, "B"), (heat.used, "U"), (heat.now, "s"))
    return next((mark for cell, mark in marks if cell == (days, threshold)), "")


def as_block(heat: HeatMap, title: str) -> Block:
    """Return the map as a block of the report; a finer grid is thinned, marked columns stay."""
    columns = _columns(heat, _MOST_DRAWN)
    levels = [heat.thresholds[k] for k in columns]
    marks = tuple(
        (list(heat.days).index(cell[0]), levels.index(cell[1]), what)
        for cell, what in ((heat.now, "settings"), (heat.used, "used"), (heat.best, "best"))
        if cell and cell[0] in heat.days and cell[1] in levels
    )
    return Block(
        title,
        "Darker cells label more pages right; b is the best, u used by calibrated labels, s the"
        " settings.",
        Axis(f"{heat.names[0]} (days)", ticks=tuple(f"{day:g}" for day in heat.days)),
        Axis(heat.names[1], ticks=tuple(f"{level:g}" for level in levels)),
        tuple(tuple(float(row[k]) for k in columns) for row in heat.values),
        marks,
    )
