"""Requests of a day: the records of all its log files without duplicates and robots.

Not here: lines that show by themselves that they are no request (`logs.clean.cleaning`), publishing
(`daily`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.contracts import Table, passing
from temporal_assets.engines.base import Inputs, Statement
from temporal_assets.engines.batches import write_empty
from temporal_assets.engines.parquet_rows import whole_table
from temporal_assets.engines.statements import Steps
from temporal_assets.landing.segments import SCHEMA

BEHAVIOURAL_BOTS: Final = passing("behavioural_bots", "client BIGINT, reason VARCHAR, pages BIGINT")

REPEATED_SEGMENTS: Final = passing("repeated_segments", "ts TIMESTAMP, client BIGINT")


class RobotLimits(NamedTuple):
    """Limits on a client's requests; clients above them count as robots."""

    pages_per_minute: int
    """Most pages in any minute of a clock."""
    pages_without_referrer: int
    """Most pages of a day if none was reached by a link; 0 is no limit."""


@dataclass(frozen=True, slots=True)
class DayRequests:
    """The requests of a day, not written yet: logs may turn out to be misread."""

    segments: list[str]
    bots: list[str]
    """Table of the clients left out (`BEHAVIOURAL_BOTS`)."""
    repeated: int
    """Number of records left out because another log has them too."""

    @property
    def robots(self) -> Mapping[str, int]:
        """Number of pages left out, by reason, sorted by reason."""
        clients = whole_table(self.bots, ["reason", "pages"])
        if not len(clients):
            return {}
        pages = clients.group_by("reason").aggregate([("pages", "sum")]).to_pylist()
        return dict(sorted((row["reason"], row["pages_sum"]) for row in pages))

    def write(self, out: Path) -> Steps[list[Path]]:
        """Write files of the contract, sorted by time, client, url and referrer."""
        inputs = {"segments": self.segments, "behavioural_bots": self.bots}
        return (yield Statement("requests", inputs, {}, contracts.REQUESTS, out))


def sort_out(
    groups: Sequence[Sequence[str]], limits: RobotLimits, scratch: Path
) -> Steps[DayRequests]:
    """Return the requests among the records of a day.

    `groups` are lists of record files; only files of one group overlap in time. Without any, the
    result has no rows.
    """
    segments, repeated = yield from _segments(groups, scratch)
    folder = scratch / "bots"
    folder.mkdir()
    bots = yield Statement(
        "behavioural_bots", {"segments": segments}, limits._asdict(), BEHAVIOURAL_BOTS, folder
    )
    return DayRequests(segments, [str(path) for path in bots], repeated)


def _segments(groups: Sequence[Sequence[str]], scratch: Path) -> Steps[tuple[list[str], int]]:
    """Return the day's records, and how many were in several files.

    Only files whose times overlap can share lines, so only they are compared.
    """
    if not groups:
        return [str(write_empty(SCHEMA, scratch / "empty.parquet"))], 0
    paths: list[str] = []
    for n, group in enumerate(groups):
        is_alone = len(group) == 1
        paths += group if is_alone else (yield from _once(group, scratch / f"group-{n}"))
    return paths, _rows([path for group in groups for path in group]) - _rows(paths)


def _once(segments: Sequence[str], scratch: Path) -> Steps[Sequence[str]]:
    """Return records of a group of files, counting once those that several files hold."""
    inputs = {"segments": segments}
    repeated = yield from _run("repeated_segments", inputs, REPEATED_SEGMENTS, scratch)
    if not _rows(repeated):
        return segments
    both = {**inputs, "repeated_segments": repeated}
    return (yield from _run("distinct_segments", both, contracts.REQUESTS, scratch))


def _run(sql: str, inputs: Inputs, table: Table, scratch: Path) -> Steps[list[str]]:
    folder = scratch / sql
    folder.mkdir(parents=True)
    files = yield Statement(sql, inputs, {}, table, folder)
    return [str(path) for path in files]


def _rows(paths: Sequence[str]) -> int:
    return sum(pq.read_metadata(path).num_rows for path in paths)
