"""Pictures in Dagster's metadata: charts as PNG within Markdown, and small bar charts.

Not here: drawing (`charts`).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Final

from temporal_assets.reports.charts.picture import Drawn, as_png
from temporal_assets.reports.document import Axis, Chart, Series
from temporal_assets.reports.text import shown

_MARKUP: Final = re.compile(r"([\\\[\]<>`])")
"""Expression for characters that could end the text of a picture, or begin HTML in it."""

MAX_PNG_BYTES: Final = 50_000
"""Largest picture in metadata: they live in Dagster's event log and are sent with every page that
lists them."""


_ZOOMS: Final = (1.0, 0.75, 0.5)


def bars(title: str, labels: Sequence[str], heights: Sequence[float], x: str, y: str) -> Chart:
    """Return a bar chart of named counts; `x` and `y` name the axes."""
    places = tuple(map(float, range(len(heights))))
    return Chart(
        title,
        title,
        Axis(x, ticks=tuple(labels)),
        Axis(y, "count", 0.0),
        (Series(y, "bars", 0, places, tuple(map(float, heights))),),
    )


def drawn(block: Drawn) -> str:
    """Return a chart as Markdown with its picture, at a smaller size if it would be too big."""
    for zoom in _ZOOMS:
        png = as_png([block], zoom=zoom, is_clear=True)
        if len(png) <= MAX_PNG_BYTES:
            break
    return as_markdown(png, block.title)


def as_markdown(png: bytes, alt: str) -> str:
    """Return an image inlined in Markdown, or a sentence if it is too big."""
    alt = _MARKUP.sub(r"\\\1", shown(alt))  # titles name sites
    if len(png) > MAX_PNG_BYTES:
        return f"({alt}: {len(png)} bytes are too many to keep with the run)"
    return f"![{alt}](data:image/png;base64,{base64.b64encode(png).decode()})"
