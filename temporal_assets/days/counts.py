"""Counts of a day: page views from sources without clients, combined over all files.

Not here: reading them (`logs.counts`), publishing (`daily`), adding them to the views of clients
(`sql/days/counted_views.sql`, `windows.traffic`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.contracts import passing
from temporal_assets.engines.base import Engine
from temporal_assets.engines.batches import handed_on

_LATEST: Final = passing(
    "latest_counts",
    "day DATE, ts TIMESTAMP, url VARCHAR, referrer VARCHAR, site VARCHAR, source VARCHAR,"
    " views BIGINT, visitors BIGINT, transits BIGINT",
)

_UNCERTAIN: Final = (
    "SELECT DISTINCT site FROM counts"
    " WHERE views > 0 AND (clients IS NULL OR clients < views) ORDER BY site"
)
_MOST_SITES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class CountFile:
    """The counts of one file for a day."""

    serial: int
    """Number of the reading; later readings have higher numbers."""
    segments: Sequence[str]


@dataclass(frozen=True, slots=True)
class DayCounts:
    """The counts of a day from all files."""

    files: list[Path]
    superseded: int
    """Number of rows left out because a file that was read later has newer ones."""
    sites: list[str]
    """Sites with known views and unknown visitors."""


def make_counts(
    engine: Engine, groups: Sequence[Sequence[CountFile]], scratch: Path
) -> DayCounts | None:
    """Combine the counts of a day's files; return None if there are none.

    `groups` are lists of files; only files of one group overlap in time.
    """
    if not groups:
        return None
    segments: list[str] = []
    superseded = 0
    for n, group in enumerate(groups):
        rows = [path for file in group for path in file.segments]
        latest = _latest(engine, group, scratch / f"counts-{n}") if len(group) > 1 else rows
        superseded += _rows(rows) - _rows(latest)
        segments += latest
    folder = scratch / "counts"
    folder.mkdir()
    files = engine.query("counts", {"count_segments": segments}, {}, contracts.COUNTS, folder)
    counted = {"counts": [str(path) for path in files]}
    sites = [row["site"] for row in engine.rows(_UNCERTAIN, counted, _MOST_SITES)]
    return DayCounts(files, superseded, sites)


def _latest(engine: Engine, group: Sequence[CountFile], folder: Path) -> list[str]:
    """Return files with the rows of a group, each from the file that was read last."""
    folder.mkdir()
    read = pa.table(
        {
            "source": pa.array([_source(file) for file in group], pa.string()),
            "serial": pa.array([file.serial for file in group], pa.int64()),
        }
    )
    inputs = {
        "count_segments": [path for file in group for path in file.segments],
        "count_files": handed_on(read, folder / "count_files.parquet"),
    }
    return [str(path) for path in engine.query("latest_counts", inputs, {}, _LATEST, folder)]


def _source(file: CountFile) -> str:
    """Return the name of a file's reading in its rows."""
    first = pq.ParquetFile(file.segments[0]).iter_batches(1, columns=["source"])
    return str(next(first).column("source")[0].as_py())


def _rows(paths: Sequence[str]) -> int:
    return sum(pq.read_metadata(path).num_rows for path in paths)
