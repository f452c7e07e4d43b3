"""What has changed since an earlier window of `page_traffic`, and which page is which row of it.

Most days of two windows are the same. Their transits are read once more to find those that come
again, and few do; only of what has changed are URLs compared. Pages lie in the same order in both
windows: which row of before is which of now is told by the days that pages were seen on, or, where
that is not known, by a walk along both, which tells of all others what has changed. So nothing is
joined with all pages.

Not here: the rows of the later window (`page_traffic_onward`).
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
from temporal_assets.core.changed_traffic import (
    ChangedPages,
    ChangedTraffic,
    Transits,
    changed_traffic,
)
from temporal_assets.core.sorted_texts import Seeker, in_step, turned
from temporal_assets.core.texts import Flags, Int64s
from temporal_assets.core.traffic import NOWHERE
from temporal_assets.engines.arrow_texts import from_repeated
from temporal_assets.engines.batches import in_order, spill
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.engines.sql import sql_file
from temporal_assets.logs.urls import SITE
from temporal_assets.windows.asset import Job
from temporal_assets.windows.kept_pages import kept_pages
from temporal_assets.windows.onward import Earlier
from temporal_assets.windows.page_rows import SITES, KnownLabels, first_rows, keys, ranges

COUNTED: Final = ("visits", "referred", "referrals", "clients", "few_clients")
"""What is copied from a row of before, or taken from a changed one."""

_Files = Mapping[str, list[str]]
"""Of all tables that were asked for."""

_NOTHING: Final[dict[str, object]] = dict.fromkeys(COUNTED, 0) | {"few_clients": []}

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

ONWARD_SQL: Final = (*_NAMES, *_NUMBERS)
"""The statements of this way, in the order they run. What is counted in the end is no statement:
transits of a page are counted with those of its clients, in one pass (`core.changed_traffic`)."""


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of both windows by number, and which is which."""

    before: Int64s
    """For each page of now, its row of before; -1 where nothing that was counted there holds."""
    renumbered: Int64s
    """For each row of before, its page now; -1 where nothing of it holds."""
    moved: Int64s
    """For each row of `moved_pages`, its page now; -1 where it is none."""
    first: Mapping[str, int]
    """The first page of each site now."""
    first_before: Mapping[str, int]
    """Its first row of before."""

    @property
    def changed(self) -> Int64s:
        """For each changed page, its page now; ascending."""
        return self.moved[self.moved >= 0]


@dataclass(frozen=True, slots=True)
class Changes:
    """Two windows, and what moved between them."""

    totals: ParquetRows
    """Pages of the later window."""
    before: ParquetRows
    """Rows of the earlier one."""
    pages: Pages
    traffic: ChangedTraffic
    """Of the changed pages."""
    labels: KnownLabels
    """Of the pages of the later window."""


def find_changes(job: Job, earlier: Earlier, least_clients: int, at_once: int) -> Changes | None:
    """None where the tables of the two windows do not belong together.

    `at_once` pages are held in memory with their lists.
    """
    last = _last_shared(job, earlier)
    parameters = {"earlier_day": last, "least_clients": least_clients, "site": SITE}
    files = _given(job, earlier, last)
    _ask(job, _NAMES, files, parameters)
    totals, before = (ParquetRows(files[name], SITES) for name in ("page_totals", "earlier"))
    labels = KnownLabels(files["page_labels"])
    pages = _meet(job, earlier, totals, before, labels, files)
    if pages is None:
        return None
    moved = ParquetRows(files["moved_pages"], SITES)
    files[_CHANGED_PAGES.name], known = _changed_pages(job, moved, before, pages, at_once)
    _ask(job, _NUMBERS, files, parameters)
    traffic = changed_traffic(
        _transits(files), known, least_clients, job.settings.engine.used_threads
    )
    return Changes(totals, before, pages, traffic, labels)


def _last_shared(job: Job, earlier: Earlier) -> dt.date:
    """The last day of the earlier window, which both have."""
    return job.day - dt.timedelta(days=earlier.moved)


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
) -> Pages | None:
    """Walk along the pages of now; None where the two windows do not belong together."""
    sought = [ParquetRows(made["moved_pages"], SITES)]
    shown = 0
    with ThreadPoolExecutor() as pool:
        kept = pool.submit(kept_pages, job, earlier)
        new = pool.submit(_is_new, totals, _last_shared(job, earlier))
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
    pages = Pages(both[1], both[0], of_moved, first.result(), first_before.result())
    are_right = (
        labels.are_found
        # Of a new page nothing is known but what moved.
        and np.count_nonzero(is_new) == np.count_nonzero(is_new[pages.changed])
    )
    return pages if are_right else None


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
    job: Job, moved: ParquetRows, before: ParquetRows, pages: Pages, at_once: int
) -> tuple[list[str], ChangedPages]:
    """The file of `changed_pages`, and what was counted of them in their rows of before."""
    schema = _CHANGED_PAGES.arrow_schema
    path = job.out / f"{_CHANGED_PAGES.name}.parquet"
    counted: list[pa.Table] = []

    def named() -> Iterator[pa.RecordBatch]:
        parts = _read_changed(moved, before, pages, at_once)
        for table in in_order(_ChangedPart.table, parts, job.settings.engine.used_threads):
            counted.append(table.drop_columns(schema.names))
            yield from table.select(schema.names).to_batches()

    spill(named(), schema, path, _ROWS_AT_ONCE)
    return [str(path)], _known(pa.concat_tables(counted))


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
        is_new = self.row < 0
        count = _counted(self.before, np.where(is_new, len(self.before), self.row))
        columns = {
            "page": pa.array(np.arange(self.first, self.first + len(self.row))),
            **{column: name[column] for column in ("site", "url")},
            "is_new": pa.array(is_new),
            **{column: count[column] for column in COUNTED},
        }
        return pa.table(columns)


def _read_changed(
    moved: ParquetRows, before: ParquetRows, pages: Pages, at_once: int
) -> Iterator[_ChangedPart]:
    """The changed pages among some pages at a time."""
    changed, rows = pages.changed, np.flatnonzero(pages.moved >= 0)
    here = pages.before[changed]
    parts = [
        (int(low), int(high))
        for low, high in np.searchsorted(changed, ranges(len(pages.before), at_once))
    ]
    of_moved = [span(rows[low:high]) for low, high in parts]
    of_before = [span(here[low:high]) for low, high in parts]
    names = moved.in_ranges(of_moved, ("site", "url"))
    counts = before.in_ranges(of_before, COUNTED)
    for (low, high), (first, _), (start, _), named, counted in zip(
        parts, of_moved, of_before, names, counts, strict=True
    ):
        was = here[low:high]
        row = np.where(was < 0, -1, was - start)
        yield _ChangedPart(low, named, rows[low:high] - first, counted, row)


def _counted(before: pa.Table, row: Int64s) -> pa.Table:
    """Rows of before, and of the one behind the last, in which nothing was."""
    nothing = pa.Table.from_pylist([_NOTHING], before.schema)
    return pa.concat_tables([before, nothing]).combine_chunks().take(pa.array(row))


def _transits(files: _Files) -> Transits:
    def column(name: str) -> Int64s:
        # One after the other: memory that one was read into is there for the next.
        rows = pq.read_table(
            files["moved_transits"], columns=[name], memory_map=False, partitioning=None
        )
        values: Int64s = rows[name].fill_null(NOWHERE).to_numpy()
        return values

    return Transits(*map(column, ("target", "client", "referrer", "windows")))


def _known(known: pa.Table) -> ChangedPages:
    few = pa.concat_arrays(known["few_clients"].chunks)
    return ChangedPages(
        from_repeated(known["site"])[1],
        known["is_new"].to_numpy(),
        known["visits"].to_numpy(),
        known["referred"].to_numpy(),
        known["referrals"].to_numpy(),
        known["clients"].to_numpy(),
        np.concatenate(([0], np.cumsum(pc.list_value_length(few).to_numpy()))),
        few.flatten().to_numpy(),
    )


def span(rows: Int64s) -> tuple[int, int]:
    """First and last of ascending rows, but for those that are -1; the latter not included."""
    there = rows[rows >= 0]
    return (int(there[0]), int(there[-1]) + 1) if len(there) else (0, 0)
