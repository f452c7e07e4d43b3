"""Events of Google Analytics as BigQuery exports them to Parquet: their parameters are lists.

Here: taking them apart, some rows at a time. Not here: what the columns mean (`parquet`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets.logs.fields.layouts import Slot
from temporal_assets.logs.read.packed import MAX_EXPANSION
from temporal_assets.logs.tables.parquet_pages import PageError

_COLUMNS: Final = ("event_timestamp", "event_name", "user_pseudo_id", "event_params")

WANTED: Final = {
    Slot.TIME: "event_timestamp",
    Slot.ADDRESS: "user_pseudo_id",
    Slot.EVENT: "event_name",
    Slot.TARGET: "page_location",
    Slot.REFERRER: "page_referrer",
}
"""Columns of the batches, by what they are."""

_ROWS: Final = 4_096
"""Rows taken apart at once: an event has some thirty parameters."""

_SLACK_BYTES: Final = 64 << 20
"""Unpacked bytes that are never a bomb, as of text."""


def are_events(names: Collection[str]) -> bool:
    """Return whether a table with these columns is one of events."""
    return set(_COLUMNS) <= set(names)


def event_batches(path: Path, longest: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of texts. Raises `PageError` for a file that unpacks to very much."""
    most = MAX_EXPANSION * path.stat().st_size + _SLACK_BYTES
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(_ROWS, columns=list(_COLUMNS)):
            most -= batch.nbytes
            if most < 0:
                raise PageError(f"it unpacks to more than {MAX_EXPANSION} times its size: refused")
            rows = [_row(row, longest) for row in batch.to_pylist()]
            schema = pa.schema([(name, pa.string()) for name in WANTED.values()])
            yield pa.RecordBatch.from_pylist(rows, schema)


def _row(row: dict[str, Any], longest: int) -> dict[str, str | None]:
    named = dict(map(_parameter, _entries(row["event_params"])))
    values = row | {name: named.get(name) for name in ("page_location", "page_referrer")}
    return {name: _text(values[name], longest) for name in WANTED.values()}


def _entries(value: Any) -> list[Any]:
    """Return the entries of a list, which BigQuery writes as one or as a struct with one."""
    entries = value.get("list") if isinstance(value, dict) else value
    return [entry.get("element", entry) for entry in entries or () if isinstance(entry, dict)]


def _parameter(entry: dict[str, Any]) -> tuple[Any, Any]:
    value = entry.get("value")
    return entry.get("key"), value.get("string_value") if isinstance(value, dict) else None


def _text(value: Any, longest: int) -> str | None:
    return None if value is None else str(value)[: longest + 1]
