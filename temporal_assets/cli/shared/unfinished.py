"""Unfinished work of killed runs, as `status`, `doctor` and `doctor upgrade` show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from temporal_assets.cli.shared.console import counted
from temporal_assets.cli.shared.days import ranges
from temporal_assets.cli.shared.options import invocation

_SHOWN: Final = 3
"""Most assets that a sentence names."""

if TYPE_CHECKING:
    from pathlib import Path

    from temporal_assets.operate.leftovers import Unfinished


def unfinished_report(unfinished: Unfinished) -> dict[str, Any]:
    """Return what is unfinished, for JSON."""
    days = {name: list(days) for name, days in unfinished.days.items()}
    return {"days": days, "runs": unfinished.runs, "catalogue": unfinished.catalogue}


def unfinished_words(unfinished: Unfinished, state: Path) -> str:
    """Return a sentence on the unfinished work and what to do, empty if there is none."""
    if not unfinished:
        return ""
    parts = [f"{name} of {ranges(days, limit=3)}" for name, days in unfinished.days.items()]
    if len(parts) > _SHOWN:
        parts[_SHOWN:] = [counted(len(parts) - _SHOWN, "more asset")]
    judged = f"published and not judged, or not released: {', '.join(parts)}. " if parts else ""
    runs = f"{counted(unfinished.runs, 'run')} of Dagster not ended. " if unfinished.runs else ""
    behind = "catalogue.duckdb does not show what is published. " if unfinished.catalogue else ""
    return (
        f"{judged}{runs}{behind}A run is under way, or was killed; any next run finishes this"
        f" ({invocation('materialize', state)})"
    )
