"""Log lines of a day that are no requests: their numbers and samples, by file and reason.

In: the records of the day's log files, and what only shows over all of them (robots, repeated
lines). Out: the table `rejects`, or an error if so many lines are malformed that the log was
probably read in a wrong format. Not here: publishing (`daily`), judging a line (`logs.clean`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.days.counts import DayCounts
from temporal_assets.days.requests import DayRequests
from temporal_assets.engines.batches import write_empty
from temporal_assets.landing.landed_files import LandedFile
from temporal_assets.logs.read.records import remedy
from temporal_assets.settings import Settings

ALL_FILES: Final = "(all files of the day)"
"""Name in the place of a file's, for reasons that only show over all files of the day."""


class TooManyRejects(ValueError):
    """Error: so many lines are malformed that the log was probably read in a wrong format."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Number of lines that are not requests, by file (or the whole day) and reason."""

    file: str
    kind: str
    reason: str
    lines: int
    samples: tuple[tuple[int, str], ...] = ()
    """Examples as (line number, redacted text)."""


def losses_of_file(file: LandedFile, names: Mapping[str, str], day: dt.date) -> list[Loss]:
    """Return what a file lost on a day, under the name that tells it from other files."""
    name = names[file.id]
    return [
        Loss(name, row["kind"], row["reason"], row["lines"], tuple(map(tuple, row["samples"])))
        for row in file.days[day].losses
    ]


def losses_of_day(day_requests: DayRequests, counts: DayCounts | None) -> list[Loss]:
    """Return losses that only show over all files of the day."""
    losses = [
        Loss(ALL_FILES, "dropped", reason, pages) for reason, pages in day_requests.robots.items()
    ]
    if day_requests.repeated:
        losses.append(Loss(ALL_FILES, "dropped", "duplicate_in_other_file", day_requests.repeated))
    if counts and counts.superseded:
        losses.append(Loss(ALL_FILES, "dropped", "counted_in_later_file", counts.superseded))
    return losses


def write_rejects(day: dt.date, losses: Sequence[Loss], scratch: Path) -> Path:
    """Write the rows of `rejects` as Parquet and return the path."""
    path = scratch / "rejects.parquet"
    schema = contracts.table("rejects").arrow_schema
    if not losses:
        return write_empty(schema, path, "zstd")
    ordered = sorted(losses, key=lambda loss: (loss.file, loss.kind, loss.reason, loss.lines))
    rows = [
        {
            "day": day,
            "file": loss.file,
            "kind": loss.kind,
            "reason": loss.reason,
            "lines": loss.lines,
            "sample_line": loss.samples[0][0] if loss.samples else None,
            "sample": "\n".join(f"{line}: {text}" for line, text in loss.samples) or None,
        }
        for loss in ordered
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema), path, compression="zstd", store_schema=False)
    return path


def by_reason(losses: Sequence[Loss]) -> list[tuple[str, str, int]]:
    """Return the number of lines by kind and reason, sorted."""
    total: dict[tuple[str, str], int] = {}
    for loss in losses:
        key = (loss.kind, loss.reason)
        total[key] = total.get(key, 0) + loss.lines
    return [(kind, reason, lines) for (kind, reason), lines in sorted(total.items())]


def refuse_wrong_format(
    settings: Settings, day: dt.date, losses: Sequence[tuple[Loss, LandedFile]], lines: int
) -> None:
    """Raise `TooManyRejects` if more lines are malformed than the settings allow."""
    # With their files: several may have one name, which is only the end of a path.
    rejects = [(loss, file) for loss, file in losses if loss.kind == "rejected"]
    rejected = sum(loss.lines for loss, _ in rejects)
    limit = settings.reading.max_reject_share
    if rejected <= limit * lines:
        return
    worst, file = max(rejects, key=lambda item: item[0].lines)
    line, text = worst.samples[0] if worst.samples else (1, "")
    hint = f" The file looks like `{file.likely_format}`." if file.likely_format else ""
    raise TooManyRejects(
        f"{day}: {rejected:,} of {lines:,} log lines ({rejected / lines:.0%}) cannot be read, more "
        f"than reading.max_reject_share = {limit:.0%} allows. Most are in {worst.file}, read as "
        f"`{file.format}`: {worst.reason}, for example line {line}: {text!r}.{hint} "
        f"{remedy(worst.reason)}, or raise the limit; what was published before is unchanged."
    )
