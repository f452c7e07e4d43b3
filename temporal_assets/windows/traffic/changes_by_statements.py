"""What has changed since an earlier window of `page_traffic`, asked by statements.

Most days of two windows are the same. Their transits are read once more to find those that come
again, and few do; only of what has changed are URLs compared. Which row of before is which of now
is told by the days that pages were seen on, or, where that is not known, by a walk along both,
which tells of all others what has changed.

The way for windows with a day that has no numbers, made on a cluster or by an earlier release, and
for those of more days than pages have bits; others go another (`changes_by_numbers`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.contracts import ColumnSpec, Type, passing
from temporal_assets.core.numerics.arrays import Flags, Int64s
from temporal_assets.core.text.sorted_texts import Seeker, in_step, turned
from temporal_assets.core.traffic.changed_traffic import ChangedPages, Transits, changed_traffic
from temporal_assets.core.traffic.traffic import NOWHERE
from temporal_assets.engines.arrow_texts import from_repeated
from temporal_assets.engines.batches import in_order, spill
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.engines.sql import sql_file
from temporal_assets.logs.urls.urls import SITE
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.frame.kept_pages import kept_pages
from temporal_assets.windows.frame.onward import Earlier
from temporal_assets.windows.frame.page_rows import SITES, KnownLabels, first_rows, keys
from temporal_assets.windows.traffic.page_traffic_changes import (
    COUNTED,
    Changes,
    Pages,
    changed_pages,
    changed_parts,
    counted,
    last_shared,
    span,
)

_Files = Mapping[str, list[str]]
"""Of all tables that were asked for."""

_PAGE: Final = ColumnSpec("page", Type.BIGINT, "Its place among the changed pages, from 0.")
_SITE: Final = ColumnSpec("site", Type.VARCHAR, "Host of `url`.")
_URL: Final = ColumnSpec("url", Type.VARCHAR, "The page.")

_TABLES: Final = {
    table.name: table
    for table in (
        passing(
            name="traced_pages",
            description="Pages of which all days must be known.",
            grain="url",
            columns=(_URL, ColumnSpec("is_new", Type.BOOLEAN, "No day of before knows it.")),
        ),
        passing(
            name="kept_transits",
            description="Transits of shared days that matter.",
            grain="none",
            columns=(
                ColumnSpec("referrer", Type.VARCHAR, "Where one came from.", nullable=True),
                ColumnSpec("target", Type.VARCHAR, "The page that was opened."),
                ColumnSpec("client", Type.BIGINT, "Pseudonym of the visitor."),
            ),
        ),
        passing(
            name="moved_pages",
            description="URLs of transits that matter, pages or not.",
            grain="url",
            columns=(_SITE, _URL),
        ),
        passing(
            name="moved_transits",
            description="Transits that came, went or are asked for.",
            grain="none",
            columns=(
                ColumnSpec("referrer", Type.BIGINT, "Where one came from.", nullable=True),
                ColumnSpec("target", Type.BIGINT, "What was opened: a changed page, or below 0."),
                ColumnSpec("client", Type.BIGINT, "Pseudonym of the visitor."),
                ColumnSpec("windows", Type.BIGINT, "1 of the later window, 2 of the earlier one."),
            ),
        ),
    )
}
"""What is asked in turn; each is made from what was asked before."""

_CHANGED_PAGES: Final = passing(
    name="changed_pages",
    description="Pages with changes.",
    grain="url",
    columns=(_PAGE, _URL),
)

_ROWS_AT_ONCE: Final = 122_880
"""Names of changed pages in a group of their file."""

_NAMES: Final = ("traced_pages", "kept_transits", "moved_pages")
"""What is asked before the walk."""
_NUMBERS: Final = ("moved_transits",)
"""And after it, of pages that have numbers."""

STATEMENTS_SQL: Final = (*_NAMES, *_NUMBERS)
"""The statements of this way, in the order they run. What is counted in the end is no statement:
transits of a page are counted with those of its clients, in one pass
(`core.traffic.changed_traffic`)."""


def changes_by_statements(
    job: Job, earlier: Earlier, least_clients: int, at_once: int
) -> Changes | None:
    """None where the tables of the two windows do not belong together.

    `at_once` pages are held in memory with their lists.
    """
    last = last_shared(job, earlier)
    parameters = {"earlier_day": last, "least_clients": least_clients, "site": SITE}
    files = _given(job, earlier, last)
    _ask(job, _NAMES, files, parameters)
    totals, before = (ParquetRows(files[name], SITES) for name in ("page_totals", "earlier"))
    labels = KnownLabels(files["page_labels"])
    met = _meet(job, earlier, totals, before, labels, files)
    if met is None:
        return None
    pages, named = met
    moved = ParquetRows(files["moved_pages"], SITES)
    files[_CHANGED_PAGES.name], known = _changed_pages(job, moved, named, before, pages, at_once)
    _ask(job, _NUMBERS, files, parameters)
    traffic = changed_traffic(
        _transits(files), known, least_clients, job.settings.engine.used_threads
    )
    return Changes(totals, before, pages, traffic, labels)


def _given(job: Job, earlier: Earlier, last: dt.date) -> dict[str, list[str]]:
    """Files of everything that is asked."""
    days = job.window("transits").manifests
    return {
        "page_totals": job.files("page_totals"),
        "page_labels": job.files("page_labels"),
        "earlier": earlier.files,
        "entering": earlier.entering,
        "leaving": earlier.leaving,
        "kept": [path for one in days if one.day <= last for path in job.store.paths(one)],
    }


def _ask(
    job: Job, names: Sequence[str], files: dict[str, list[str]], parameters: Mapping[str, Any]
) -> None:
    """Run statements one after the other; `files` grows by what they make."""
    for name in names:
        statement = sql_file(name)
        made = job.engine.query(
            name,
            {table: files[table] for table in statement.inputs},
            {key: parameters[key] for key in statement.parameters},
            _TABLES[name],
            job.out,
        )
        files[name] = [str(path) for path in made]


def _meet(
    job: Job,
    earlier: Earlier,
    totals: ParquetRows,
    before: ParquetRows,
    labels: KnownLabels,
    made: _Files,
) -> tuple[Pages, Int64s] | None:
    """Walk along the pages of now; None where the two windows do not belong together.

    Also the rows of `moved_pages` that are pages.
    """
    sought = [ParquetRows(made["moved_pages"], SITES)]
    shown = 0
    with ThreadPoolExecutor() as pool:
        kept = pool.submit(kept_pages, job, earlier)
        new = pool.submit(_is_new, totals, last_shared(job, earlier))
        first, first_before = (pool.submit(first_rows, rows) for rows in (totals, before))
        if kept.result() is None:
            sought.append(before)
        seekers = [Seeker(keys(rows), len(rows)) for rows in sought]
        for block in keys(totals):
            look = partial(Seeker.look, shown=block, first=shown)
            list(pool.map(look, [labels.seeker, *seekers]))
            shown += len(block)
    of_moved, *walked = (seeker.places for seeker in seekers)
    is_new, flags = new.result(), kept.result()
    both = _walked(walked[0], is_new) if flags is None else in_step(flags, ~is_new)
    if both is None or len(both[0]) != len(before):
        return None
    named = np.flatnonzero(of_moved >= 0)
    pages = Pages(both[1], both[0], of_moved[named], first.result(), first_before.result())
    are_right = (
        labels.are_found
        # Of a new page nothing is known but what moved.
        and np.count_nonzero(is_new) == np.count_nonzero(is_new[pages.changed])
    )
    return (pages, named) if are_right else None


def _walked(places: Int64s, is_new: Flags) -> tuple[Int64s, Int64s] | None:
    """As `in_step`, of rows whose places were found.

    Nothing that was counted of a page whose days have all left is still true.
    """
    holds = places >= 0
    holds[holds] = ~is_new[places[holds]]  # of a window without pages there is no place to ask
    renumbered = np.where(holds, places, -1)
    of_before = turned(renumbered, len(is_new))
    return (renumbered, of_before) if (is_new == (of_before < 0)).all() else None


def _is_new(totals: ParquetRows, last: dt.date) -> Flags:
    """Which pages of now no day knows that both windows have."""

    def flags(block: pa.Table) -> Flags:
        return np.asarray(pc.greater(block.column("birth"), last).to_numpy())

    return totals.array(("birth",), flags, np.bool_)


def _changed_pages(
    job: Job, moved: ParquetRows, named: Int64s, before: ParquetRows, pages: Pages, at_once: int
) -> tuple[list[str], ChangedPages]:
    """The file of `changed_pages`, and what was counted of them in their rows of before."""
    schema = _CHANGED_PAGES.arrow_schema
    path = job.out / f"{_CHANGED_PAGES.name}.parquet"
    counts: list[pa.Table] = []

    def names() -> Iterator[pa.RecordBatch]:
        parts = _read_changed(moved, named, before, pages, at_once)
        for table in in_order(_ChangedPart.table, parts, job.settings.engine.used_threads):
            counts.append(table.drop_columns(schema.names))
            yield from table.select(schema.names).to_batches()

    spill(names(), schema, path, _ROWS_AT_ONCE)
    site = from_repeated(pa.chunked_array([c for part in counts for c in part["site"].chunks]))[1]
    return [str(path)], changed_pages(counts, site, pages.before[pages.changed] < 0)


@dataclass(frozen=True, slots=True)
class _ChangedPart:
    """What is read for some changed pages."""

    first: int
    """The first of them."""
    named: pa.Table
    """Rows of `moved_pages`, among which they are."""
    name: Int64s
    """The row of each."""
    before: pa.Table
    """Rows of before, among which theirs are."""
    row: Int64s
    """The row of each; -1 of those that are new."""

    def table(self) -> pa.Table:
        """Rows of `changed_pages`, with what was counted."""
        name = self.named.take(pa.array(self.name))
        count = counted(self.before, self.row)
        columns = {
            "page": pa.array(np.arange(self.first, self.first + len(self.row))),
            **{column: name[column] for column in ("site", "url")},
            **{column: count[column] for column in COUNTED},
        }
        return pa.table(columns)


def _read_changed(
    moved: ParquetRows, rows: Int64s, before: ParquetRows, pages: Pages, at_once: int
) -> Iterator[_ChangedPart]:
    """The changed pages among some pages at a time; `rows` are theirs of `moved_pages`."""
    here = pages.before[pages.changed]
    parts = changed_parts(pages, at_once)
    of_moved = [span(rows[low:high]) for low, high in parts]
    of_before = [span(here[low:high]) for low, high in parts]
    names = moved.in_ranges(of_moved, ("site", "url"))
    counts = before.in_ranges(of_before, COUNTED)
    for (low, high), (first, _), (start, _), named, then in zip(
        parts, of_moved, of_before, names, counts, strict=True
    ):
        was = here[low:high]
        row = np.where(was < 0, -1, was - start)
        yield _ChangedPart(low, named, rows[low:high] - first, then, row)


def _transits(files: _Files) -> Transits:
    def column(name: str) -> Int64s:
        # One after the other: memory that one was read into is there for the next.
        rows = pq.read_table(
            files["moved_transits"], columns=[name], memory_map=False, partitioning=None
        )
        values: Int64s = rows[name].fill_null(NOWHERE).to_numpy()
        return values

    return Transits(*map(column, ("target", "client", "referrer", "windows")))
