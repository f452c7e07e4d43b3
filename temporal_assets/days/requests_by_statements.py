"""Requests of a day sorted out by statements: on a cluster, or where memory is too small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.contracts import ColumnSpec, Table, Type, passing
from temporal_assets.core.traffic.daily_cleaning import RobotLimits
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.landing.segments import SCHEMA

BEHAVIOURAL_BOTS: Final = passing(
    name="behavioural_bots",
    description="Clients of a day that do not behave like readers.",
    grain="client",
    columns=(
        ColumnSpec("client", Type.BIGINT, "Pseudonym of the visitor."),
        ColumnSpec("reason", Type.VARCHAR, "`bot_rate` or `bot_no_referrer`."),
        ColumnSpec("pages", Type.BIGINT, "Page requests of the day."),
    ),
)

REPEATED_SEGMENTS: Final = passing(
    name="repeated_segments",
    description="Records of a day that stand in several log files.",
    grain="ts, client",
    columns=(
        ColumnSpec("ts", Type.TIMESTAMP, "When the request was logged."),
        ColumnSpec("client", Type.BIGINT, "Pseudonym of the visitor."),
    ),
)


@dataclass(frozen=True, slots=True)
class _AskedRequests:
    """See `requests.DayRequests`."""

    engine: Engine
    segments: list[str]
    bots: list[str]
    """`BEHAVIOURAL_BOTS`."""
    repeated: int

    @property
    def robots(self) -> Mapping[str, int]:
        found = pq.read_table(self.bots, columns=["reason", "pages"], partitioning=None)
        pages = found.group_by("reason").aggregate([("pages", "sum")]).sort_by("reason")
        return {row["reason"]: row["pages_sum"] for row in pages.to_pylist()}

    def write(self, out: Path) -> list[Path]:
        inputs = {"segments": self.segments, "behavioural_bots": self.bots}
        return self.engine.query("requests", inputs, {}, contracts.REQUESTS, out)


def requests_by_statements(
    engine: Engine, groups: Sequence[Sequence[str]], limits: RobotLimits, scratch: Path
) -> _AskedRequests:
    """See `requests.sort_out`."""
    segments, repeated = _segments(engine, groups, scratch)
    folder = scratch / "bots"
    folder.mkdir()
    found = engine.query(
        "behavioural_bots", {"segments": segments}, limits._asdict(), BEHAVIOURAL_BOTS, folder
    )
    return _AskedRequests(engine, segments, [str(path) for path in found], repeated)


def _segments(
    engine: Engine, groups: Sequence[Sequence[str]], scratch: Path
) -> tuple[list[str], int]:
    """The day's records, and how many were in several files.

    Only files whose times overlap can share lines, so only they pay for the comparison.
    """
    if not groups:
        empty = scratch / "empty.parquet"
        pq.write_table(SCHEMA.empty_table(), empty, store_schema=False)
        return [str(empty)], 0
    paths: list[str] = []
    for n, group in enumerate(groups):
        paths += _once(engine, group, scratch / f"group-{n}") if len(group) > 1 else group
    return paths, _rows([path for group in groups for path in group]) - _rows(paths)


def _once(engine: Engine, segments: Sequence[str], scratch: Path) -> Sequence[str]:
    """Segments with the records that several files hold counted once; untouched without any."""

    def made(table: Table, sql: str, inputs: Inputs) -> list[str]:
        folder = scratch / sql
        folder.mkdir(parents=True)
        return [str(path) for path in engine.query(sql, inputs, {}, table, folder)]

    inputs = {"segments": segments}
    repeated = made(REPEATED_SEGMENTS, "repeated_segments", inputs)
    if not _rows(repeated):
        return segments
    both = {**inputs, "repeated_segments": repeated}
    return made(contracts.REQUESTS, "distinct_segments", both)


def _rows(paths: Sequence[str]) -> int:
    return sum(pq.read_metadata(path).num_rows for path in paths)
