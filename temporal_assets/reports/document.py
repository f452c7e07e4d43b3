"""The evaluation report as data: sections with sentences, tables and charts, and their JSON.

Here: the shapes, and both ways between them and JSON. Not here: what is said (`sections`), how it
looks (`report_page`). `report.schema.json` describes the JSON.

Everything is drawn and tabulated from these numbers, so that page and JSON cannot disagree.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from math import isfinite
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from temporal_assets.reports.text import shown

FORMAT: Final = "temporal-assets/evaluation-report/1"
"""Name and number of the JSON format; the number is raised when a field changes its meaning."""

_DIGITS: Final = 6
"""Significant digits of a number: more mean nothing, and double the page."""

_LARGE: Final = 10_000
"""Numbers from which on only two digits after the point are kept."""

LONGEST_TEXT: Final = 2_000
"""Longest text in characters: a paragraph. Names from logs are cut far earlier (`sections`)."""

Cell = str | int | float | bool | None
Kind = Literal["text", "count", "share", "score", "number", "date"]
"""Notation of values of a column or axis: shares in percent, scores with three digits; a date is
the number of its day (`datetime.date.toordinal`)."""
Mark = Literal["line", "dashes", "dots", "diamonds", "bars", "area"]
"""Shape of a series. Diamonds, drawn over everything else, are what others are compared with."""
Trial = Literal["in_sample", "out_of_time", "both", "no_judgement"]
"""Kind of test of numbers; `no_judgement` is for descriptions of data."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns; the first `paper_rows` are numbers that a paper printed."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    paper_rows: int = 0
    note: str = ""
    is_folded: bool = False
    """True if it is shown on request only: a picture beside it says the same."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a chart. Without ends it spans its values; `ticks` names positions 0, 1, ..."""

    label: str
    kind: Kind = "number"
    low: float | None = None
    high: float | None = None
    is_log: bool = False
    ticks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together. The same `colour` means the same thing in all charts."""

    name: str
    mark: Mark
    colour: int
    x: tuple[float, ...]
    y: tuple[float, ...]
    weights: tuple[float, ...] = ()
    """Weight of each point, shown as the area of its dot. Empty if all are equal."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A decisive value on the x axis, drawn as a line with its name."""

    at: float
    name: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: series on one pair of axes."""

    title: str
    shows: str
    """Description in words, for those who cannot see it."""
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    has_diagonal: bool = False
    thresholds: tuple[Threshold, ...] = ()


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its confidence interval; `colour` as in `Series`."""

    name: str
    value: float
    low: float
    high: float
    colour: int


@dataclass(frozen=True, slots=True)
class Forest:
    """Values with their intervals below each other, on one axis."""

    title: str
    shows: str
    axis: Axis
    rows: tuple[Interval, ...]


Tone = Literal["plain", "good", "bad"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A key number, with what it is to be compared with."""

    name: str
    value: str
    note: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Figures:
    """Key figures."""

    title: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A value for every pair of a row and a column; marks are (row, column, meaning)."""

    title: str
    shows: str
    rows: Axis
    columns: Axis
    values: tuple[tuple[float, ...], ...]
    marks: tuple[tuple[int, int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a graph; `share` is shown as colour, `size` as area."""

    name: str
    size: float
    share: float | None


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes on a circle; edges are (source, target, weight) with indices of nodes."""

    title: str
    shows: str
    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """A folder or program with everything below it; see `prefix_tree.Section`."""

    name: str
    prefix: str
    pages: int
    news_pages: int
    temporal_pages: int
    is_prefix: bool
    beneath: tuple[Branch, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class Tree:
    """Prefix trees of sites."""

    title: str
    roots: tuple[Branch, ...]


Block = Table | Chart | HeatMap | Graph | Tree | Forest | Figures

_BLOCKS: Final[Mapping[str, type[Any]]] = {
    "table": Table,
    "chart": Chart,
    "heat_map": HeatMap,
    "graph": Graph,
    "tree": Tree,
    "forest": Forest,
    "figures": Figures,
}
_NAMES: Final = {kind: name for name, kind in _BLOCKS.items()}


@dataclass(frozen=True, slots=True)
class Section:
    """A table or figure of a paper, or one of our own, computed from the data at hand."""

    id: str
    part: str
    """Heading that the section stands under."""
    source: str
    """Origin, as `TW Table 1`; empty where no paper has it."""
    title: str
    trial: Trial
    says: tuple[str, ...]
    """Sentences that state the result, the most important first."""
    blocks: tuple[Block, ...] = ()
    about: str = ""
    """Description of the section and how to read it."""
    missing: str = ""
    """Why the section is not available, and what to do; empty if it is."""


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report."""

    day: dt.date
    title: str
    facts: tuple[tuple[str, str], ...]
    """Context of the numbers: window, missing days, pages, settings, versions."""
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a result is not available, and what would make it so."""

    why: str
    todo: str


def unavailable(
    id: str,  # noqa: A002 - the name of the field
    part: str,
    source: str,
    title: str,
    why: str,
    todo: str,
) -> Section:
    """Return a section that is not available, with the reason and the remedy."""
    missing = f"Not available: {why}. To get it: {todo}."
    return Section(id, part, source, title, "no_judgement", (), missing=missing)


def as_json(report: Report) -> str:
    """Return the report as JSON text; equal reports are equal texts."""
    content = {
        "format": FORMAT,
        "day": report.day.isoformat(),
        "title": report.title,
        "data": dict(report.facts),
        "sections": [section_content(section) for section in report.sections],
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def section_content(section: Section) -> dict[str, Any]:
    """Return a section as values for JSON."""
    content = _plain(section)
    content["blocks"] = [{"type": _NAMES[type(block)], **_plain(block)} for block in section.blocks]
    return dict(content)


def section_of(content: Mapping[str, Any]) -> Section:
    """Return the section of values from JSON."""
    blocks = tuple(map(_block, content["blocks"]))
    section: Section = _reader("section").validate_python({**content, "blocks": blocks})
    return section


def _block(content: Mapping[str, Any]) -> Block:
    block: Block = _reader(content["type"]).validate_python(
        {name: value for name, value in content.items() if name != "type"}
    )
    return block


@cache
def _reader(name: str) -> TypeAdapter[Any]:
    """Return the validator of a section, or of a block with this name: lists become tuples."""
    return TypeAdapter(_BLOCKS.get(name, Section))


def _plain(value: Any) -> Any:
    """Convert a value to those of JSON: texts without control characters, shortened numbers."""
    if isinstance(value, str):
        return shown(value, LONGEST_TEXT)
    if isinstance(value, bool) or value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        if not isfinite(value):
            return None
        # Days of dates have six digits before the point.
        return round(value, 2) if abs(value) >= _LARGE else float(f"{value:.{_DIGITS}g}")
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
