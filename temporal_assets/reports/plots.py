"""Small plots for the UI, as PNG. Matplotlib is imported when one is drawn: it is slow to load."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Sequence
from typing import Final

from temporal_assets.reports.text import shown

_MARKUP: Final = re.compile(r"([\\\[\]<>`])")
"""What could end the text of a picture, or begin HTML in it."""

MAX_PNG_BYTES: Final = 50_000
"""Plots in metadata live in Dagster's event log and are sent with every page that lists them."""


def bars(title: str, labels: Sequence[str], heights: Sequence[float]) -> bytes:
    """A bar chart, about 600 by 200 pixels; every third label is written."""
    # The figure classes themselves, not pyplot: no global state, no display.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 2), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.bar(range(len(heights)), heights, color="#4f7cac")
    axes.set_xticks(range(0, len(labels), 3), labels[::3], fontsize=7)
    axes.tick_params(axis="y", labelsize=7)
    axes.set_title(title, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    image = io.BytesIO()
    figure.savefig(image, format="png")
    return image.getvalue()


def as_markdown(png: bytes, alt: str) -> str:
    """The image inlined in Markdown, or a sentence in its place when it is too big."""
    alt = _MARKUP.sub(r"\\\1", shown(alt))  # titles name sites
    if len(png) > MAX_PNG_BYTES:
        return f"({alt}: {len(png)} bytes are too many to keep with the run)"
    return f"![{alt}](data:image/png;base64,{base64.b64encode(png).decode()})"
