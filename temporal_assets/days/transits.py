"""Steps between pages (`transits`) of a day, and the table of its URLs by number.

URLs are dictionary-encoded: the table `urls` gives each distinct URL of a day a number
(`sql/days/urls.sql`), and rows hold numbers. Every engine deduplicates, sorts and stores rows as
integers, and windows read them as integers. Here: making a day, and passing days to an engine. Not
here: which days are made (`daily`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from temporal_assets.contracts import COUNTS, NUMBERED_COUNTS, TRANSITS, URLS, Table
from temporal_assets.engines.base import Statement
from temporal_assets.engines.batches import write_empty
from temporal_assets.engines.statements import Steps
from temporal_assets.logs.urls.canonical import SITE
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.store import Store


@dataclass(frozen=True, slots=True)
class DayTransits:
    """Paths of the files of a day."""

    rows: list[Path]
    urls: list[Path]
    counts: list[Path]
    """File of counts without clients, with numbers of URLs; empty if the day has none."""


def make_transits(
    requests: Sequence[str], out: Path, counts: Sequence[str] = ()
) -> Steps[DayTransits]:
    """Write a day's `transits` and `urls` into folder `out`, from its requests and counts."""
    named = {"requests": requests, "counts": counts or no_counts(COUNTS, out)}
    urls = yield Statement(URLS.name, named, {"site": SITE}, URLS, out)
    by_number = {"urls": [str(path) for path in urls]}
    both = {"requests": requests} | by_number
    rows = yield Statement(TRANSITS.name, both, {}, TRANSITS.stored, out)
    if not counts:
        return DayTransits(rows, urls, [])
    numbered = {"counts": counts} | by_number
    counted = yield Statement("numbered_counts", numbered, {}, NUMBERED_COUNTS, out)
    return DayTransits(rows, urls, counted)


def transit_inputs(store: Store, days: Iterable[Manifest]) -> dict[str, list[str]]:
    """Return the tables `transits` and `urls` of some days, for SQL statements."""
    inputs: dict[str, list[str]] = {TRANSITS.name: [], URLS.name: []}
    for day in days:
        inputs[TRANSITS.name] += store.paths(day)
        inputs[URLS.name] += store.paths_beside(day)
    return inputs


def count_inputs(store: Store, days: Iterable[Manifest], out: Path) -> dict[str, list[str]]:
    """Return the table of `counts` of some days of `transits`; empty if there are none."""
    files = [path for day in days for path in store.paths_of_counts(day)]
    return {COUNTS.name: files or no_counts(NUMBERED_COUNTS, out)}


def no_counts(table: Table, out: Path) -> list[str]:
    """Write an empty file of a table into `out`, for statements that read the table."""
    return [str(write_empty(table.arrow_schema, out / f"no_{table.name}.parquet"))]
