"""Metadata of `calibration`: the choices, and heat maps of the grids.

No URL is shown here: a section is named as the policy would name it, a page never.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import dagster as dg

from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata.metadata import grid
from temporal_assets.reports.heat_map import as_block, of_cells
from temporal_assets.reports.plots import drawn

_UNCALIBRATED: Final = (
    "no annotated file is configured (`calibration.annotated`): labels use the thresholds of the"
    " settings"
)

_CHOICES: Final = (
    "SELECT scope, name, score, days, threshold, pages, hit, miss, false_alarm, performance,"
    " cross_validated_hit, is_best, is_used FROM calibration WHERE is_best OR is_used"
    " ORDER BY score DESC, scope, name, is_best DESC"
)

_CELLS: Final = "SELECT * FROM calibration WHERE scope = 'all'"

_MOST_ROWS: Final = 100_000
"""Most rows that are read: more than the cells of the largest grids that settings allow."""

_Metadata = dict[str, Any]


def details(installation: Installation, day: dt.date, plots: bool) -> _Metadata:
    """Return the chosen thresholds, and a heat map of each grid."""
    rows = _rows(installation, day, _CHOICES)
    if not rows:
        file = installation.settings.calibration.annotated
        return {"calibrated": _UNCALIBRATED if file is None else "no annotated page has a history"}
    kinds = {str: "string", int: "int", float: "float", bool: "bool"}
    shown: _Metadata = {
        "annotated_pages": rows[0]["pages"],
        "choices": grid(rows, {name: kinds[type(value)] for name, value in rows[0].items()}),
    }
    if not plots:
        return shown
    cells = _rows(installation, day, _CELLS)
    for score in ("interest", "concentration"):
        own = [row for row in cells if row["score"] == score]
        block = as_block(
            of_cells(installation.settings.labels, own),
            f"Labels right by thresholds, {score}, {day}",
        )
        shown[f"heat_map_of_{score}"] = dg.MetadataValue.md(drawn(block))
    return shown


def _rows(installation: Installation, day: dt.date, query: str) -> list[_Metadata]:
    inputs = {"calibration": installation.store.files("calibration", day)}
    return installation.engine.rows(query, inputs, limit=_MOST_ROWS)
