"""The user's map from our field names to columns, JSON paths or groups of their log.

Here: checking it, with errors that say what there is. Not here: reading the columns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from temporal_assets.logs.layouts import COLUMN_NAMES, Slot

_NAME: Final = re.compile(r"[^\W\d][\w .:()\[\]/@-]{0,63}")
"""What a column may be called. Fields of a record (addresses, times) begin otherwise."""


class ColumnsError(ValueError):
    """The column map does not fit; the message says which names would."""


def mapped(columns: Mapping[str, str], present: Iterable[str]) -> dict[str, str]:
    """The map, or without one the columns that are named like our fields."""
    return dict(columns) or {name: name for name in present if name in COLUMN_NAMES}


def slots_of(columns: Mapping[str, str], present: Collection[str] | None) -> dict[Slot, str]:
    """Slot -> column. Raises `ColumnsError` for names unknown here or, given `present`, there."""
    unknown = sorted(set(columns) - set(COLUMN_NAMES))
    if unknown:
        raise ColumnsError(
            f"columns: unknown field {', '.join(unknown)}; known are {', '.join(COLUMN_NAMES)}"
        )
    if present is not None:
        missing = sorted(set(columns.values()) - set(present))
        if missing:
            raise ColumnsError(
                f"columns: the log has no {', '.join(missing)}; {_what_there_is(present)}"
            )
    slots = {COLUMN_NAMES[name]: column for name, column in columns.items()}
    require(slots)
    return slots


def require(slots: Collection[Slot]) -> None:
    """Raise unless there are time, address and target."""
    lacking = [slot.name.lower() for slot in (Slot.TIME, Slot.ADDRESS) if slot not in slots]
    if Slot.TARGET not in slots and Slot.REQUEST not in slots:
        lacking.append("target (or url, or request)")
    if lacking:
        raise ColumnsError(f"columns: nothing is named for {', '.join(lacking)}")


def _what_there_is(present: Collection[str]) -> str:
    """The columns, unless they are the fields of a first record: those are nobody's business."""
    if present and all(_NAME.fullmatch(name) for name in present):
        return f"it has {', '.join(present)}"
    return "its first line does not look like column names: add a line that names them"
