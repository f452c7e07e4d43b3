"""A grid of thresholds as a heat map: text for a terminal, and PNG.

Here: drawing. Not here: what the cells mean (`core.labels.calibration`).
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.settings import Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_SHADES: Final = " ░▒▓█"

_WIDEST: Final = 40
"""Columns of the text. A finer grid is thinned; marked columns stay."""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """What is drawn."""

    title: str
    days: Sequence[float]
    """One row each."""
    thresholds: Sequence[float]
    """One column each."""
    values: Floats
    """Performance: days x thresholds."""
    best: tuple[float, float]
    """(days, threshold) of the chosen cell."""
    used: tuple[float, float] | None
    """Of the cell that labels may use."""
    now: tuple[float, float]
    """Of the settings."""
    names: tuple[str, str]
    """Of the days and of the threshold: n and q, or m and p."""


def of_cells(labels: Labels, cells: Sequence[Mapping[str, Any]]) -> HeatMap:
    """The grid of one score from its rows of `calibration`, all of one scope."""
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
    """Lines: darker is better, from the worst to the best cell of the map in five steps."""
    low, high = float(heat.values.min()), float(heat.values.max())
    step = (high - low) / len(_SHADES) or 1.0
    columns = _columns(heat)
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


def _columns(heat: HeatMap) -> list[int]:
    count = len(heat.thresholds)
    marked = {cell[1] for cell in (heat.best, heat.used, heat.now) if cell}
    kept = set(np.linspace(0, count - 1, min(count, _WIDEST)).round().astype(int).tolist())
    return [k for k in range(count) if k in kept or heat.thresholds[k] in marked]


def _mark(heat: HeatMap, days: float, threshold: float) -> str:
    """The mark of a cell, empty for most."""
    marks = ((heat.best, "B"), (heat.used, "U"), (heat.now, "s"))
    return next((mark for cell, mark in marks if cell == (days, threshold)), "")


def as_png(maps: Sequence[HeatMap], dpi: int = 100) -> bytes:
    """Heat maps below each other; `dpi` for what the picture may weigh."""
    # The figure classes themselves, not pyplot: no global state, no display.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2 * max(len(maps), 1)), dpi=dpi, layout="constrained")
    FigureCanvasAgg(figure)
    for place, heat in enumerate(maps, 1):
        _draw(figure, figure.add_subplot(len(maps), 1, place), heat)
    image = io.BytesIO()
    figure.savefig(image, format="png")
    return image.getvalue()


def _draw(figure: Figure, axes: Axes, heat: HeatMap) -> None:
    image = axes.imshow(heat.values, aspect="auto", cmap="viridis", origin="lower")
    figure.colorbar(image, ax=axes, label="performance")
    every = max(1, len(heat.thresholds) // 12)
    shown = range(0, len(heat.thresholds), every)
    axes.set_xticks(list(shown), [f"{heat.thresholds[k]:g}" for k in shown], fontsize=8)
    axes.set_yticks(range(len(heat.days)), [f"{day:g}" for day in heat.days], fontsize=8)
    axes.set_ylabel(f"{heat.names[0]} (days)")
    axes.set_xlabel(heat.names[1])
    axes.set_title(heat.title, fontsize=9, loc="left", parse_math=False)
    marks = (
        (heat.now, "s", "settings", "#ffffff"),
        (heat.used, "D", "used by calibrated labels", "#e8b04b"),
        (heat.best, "*", "best", "#a23b3b"),
    )
    for cell, marker, label, colour in marks:
        if cell is None:
            continue
        x = list(heat.thresholds).index(cell[1])
        y = list(heat.days).index(cell[0])
        axes.plot(
            x, y, marker, color=colour, markeredgecolor="black", markersize=9, label=label,
            linestyle="none",
        )  # fmt: skip
    # Beside the title: within the map it would hide cells.
    axes.legend(fontsize=7, loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False)
