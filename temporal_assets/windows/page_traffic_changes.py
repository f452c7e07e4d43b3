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

from temporal_assets.contracts import ColumnSpec, Table, Type
from temporal_assets.core.sorted_texts import Keys, Seeker, turned
from temporal_assets.core.texts import Flags, Int64s
from temporal_assets.engines.arrow_texts import from_arrow, from_repeated
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.engines.sql import sql_file
from temporal_assets.logs.urls import SITE
from temporal_assets.windows.asset import Job
from temporal_assets.windows.kept_pages import kept_pages
from temporal_assets.windows.onward import Earlier

COUNTED: Final = ("visits", "referred", "referrals", "clients", "few_clients")
"""What is copied from a row of before, or taken from a changed one."""

_Files = Mapping[str, list[str]]
"""Of all tables that were asked for."""

_ROWS_AT_ONCE: Final = 122_880
"""Rows that are put together at a time, as many as a group of a file has: memory for a million is
given back and cleared each time, which takes longer than to fill it."""

_SITES: Final = ("site",)
"""What is read of `ParquetRows` as dictionaries."""

_NOTHING: Final[dict[str, object]] = dict.fromkeys(COUNTED, 0) | {"few_clients": []}

_PAGE: Final = ColumnSpec("page", Type.BIGINT, "Its place among the changed pages, from 0.")
_COUNTS: Final = (
    ColumnSpec("visits", Type.BIGINT, "F_in of BB 2."),
    ColumnSpec("referred", Type.BIGINT, "Those that came from a page."),
    ColumnSpec("referrals", Type.BIGINT, "F_out of BB 2."),
    ColumnSpec("clients", Type.BIGINT, "Distinct clients."),
    ColumnSpec("few_clients", Type.BIGINTS, "Their pseudonyms, where they are few."),
)
_SITE: Final = ColumnSpec("site", Type.VARCHAR, "Host of `url`.")
_URL: Final = ColumnSpec("url", Type.VARCHAR, "The page.")

_TABLES: Final = {
    table.name: table
    for table in (
        Table(
            name="traced_pages",
            version=1,
            description="Pages of which all days must be known; lives within one build.",
            grain="url",
            columns=(_URL, ColumnSpec("is_new", Type.BOOLEAN, "No day of before knows it.")),
        ),
        Table(
            name="kept_transits",
            version=1,
            description="Transits of shared days that matter; lives within one build.",
            grain="none",
            columns=(
                ColumnSpec("referrer", Type.VARCHAR, "Where one came from.", nullable=True),
                ColumnSpec("target", Type.VARCHAR, "The page that was opened."),
                ColumnSpec("client", Type.BIGINT, "Pseudonym of the visitor."),
            ),
            is_read_often=True,
        ),
        Table(
            name="moved_pages",
            version=1,
            description="URLs of transits that matter, pages or not; lives within one build.",
            grain="url",
            columns=(_SITE, _URL),
            is_read_often=True,
        ),
        Table(
            name="known_labels",
            version=1,
            description="Labels of pages with a curve; lives within one build.",
            grain="url",
            columns=(_SITE, _URL, ColumnSpec("is_temporal", Type.BOOLEAN, "The label.")),
        ),
        Table(
            name="moved_transits",
            version=1,
            description="Transits that came, went or are asked for; lives within one build.",
            grain="none",
            columns=(
                ColumnSpec("referrer", Type.BIGINT, "A changed page.", nullable=True),
                ColumnSpec("is_referred", Type.BOOLEAN, "There was a referrer, page or not."),
                ColumnSpec("target", Type.BIGINT, "A changed page.", nullable=True),
                ColumnSpec("client", Type.BIGINT, "Pseudonym of the visitor."),
                ColumnSpec("is_within", Type.BOOLEAN, "Both are pages of one site."),
                ColumnSpec("is_now", Type.BIGINT, "1 where the later window has it, else 0."),
                ColumnSpec("was_visit", Type.BIGINT, "1 where the earlier one counted it there."),
                ColumnSpec("was_referral", Type.BIGINT, "And 1 where it did for the referrer."),
            ),
            is_read_often=True,
        ),
        Table(
            name="changed_traffic",
            version=1,
            description="Pages with changes, as they are now; lives within one build.",
            grain="page",
            columns=(_PAGE, *_COUNTS),
            is_read_often=True,
        ),
        Table(
            name="changed_links",
            version=1,
            description="Changes of links within sites; lives within one build.",
            grain="target, referrer",
            columns=(
                ColumnSpec("target", Type.BIGINT, "A changed page."),
                ColumnSpec("referrer", Type.BIGINT, "A changed page."),
                ColumnSpec("transits", Type.BIGINT, "How many more, or less."),
            ),
        ),
    )
}
"""What is asked in turn; each is made from what was asked before. The large ones are packed for
speed: they are gone before anybody counts their bytes."""

_CHANGED_PAGES: Final = Table(
    name="changed_pages",
    version=1,
    description="Pages with changes, as they were; lives within one build.",
    grain="url",
    columns=(
        _PAGE,
        _SITE,
        _URL,
        ColumnSpec("is_new", Type.BOOLEAN, "No shared day knows it."),
        *_COUNTS,
    ),
    is_read_often=True,
)

_NAMES: Final = ("traced_pages", "kept_transits", "moved_pages", "known_labels")
"""What is asked before the walk."""
_NUMBERS: Final = ("moved_transits", "changed_traffic", "changed_links")
"""And after it, of pages that have numbers."""

ONWARD_SQL: Final = (*_NAMES, *_NUMBERS)
"""The statements of this way, in the order they run."""


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of both windows by number, and which is which."""

    before: Int64s
    """For each page of now, its row of before; -1 where nothing that was counted there holds."""
    renumbered: Int64s
    """For each row of before, its page now; -1 where nothing of it holds."""
    moved: Int64s
    """For each row of `moved_pages`, its page now; -1 where it is none."""
    labelled: Int64s
    """For each page with a label, its page now; ascending."""
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
    files: Mapping[str, list[str]]
    """Of all tables that were asked for."""


def find_changes(job: Job, earlier: Earlier, least_clients: int) -> Changes | None:
    """None where the tables of the two windows do not belong together."""
    last = _last_shared(job, earlier)
    parameters = {"earlier_day": last, "least_clients": least_clients, "site": SITE}
    files = _given(job, earlier, last)
    _ask(job, _NAMES, files, parameters)
    totals, before = (ParquetRows(files[name], _SITES) for name in ("page_totals", "earlier"))
    pages = _meet(job, earlier, totals, before, files)
    if pages is None:
        return None
    changes = Changes(totals, before, pages, files)
    files[_CHANGED_PAGES.name] = _changed_pages(job, changes)
    _ask(job, _NUMBERS, files, parameters)
    return changes


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
    job: Job, earlier: Earlier, totals: ParquetRows, before: ParquetRows, made: _Files
) -> Pages | None:
    """Walk along the pages of now; None where the two windows do not belong together."""
    moved, labels = (ParquetRows(made[name], _SITES) for name in ("moved_pages", "known_labels"))
    sought = [moved, labels]
    kept = kept_pages(job, earlier)
    if kept is None:
        sought.append(before)
    seekers = [Seeker(_keys(rows), len(rows)) for rows in sought]
    shown = 0
    with ThreadPoolExecutor(len(seekers) + 1) as pool:
        asked = pool.submit(_is_new, totals, _last_shared(job, earlier))
        for keys in _keys(totals):
            look = partial(Seeker.look, shown=keys, first=shown)
            list(pool.map(look, seekers))
            shown += len(keys)
    of_moved, of_labels = (seeker.places for seeker in seekers[:2])
    is_new = asked.result()
    renumbered = seekers[2].places if kept is None else _one_by_one(kept, is_new)
    if len(renumbered) != len(before):
        return None
    # Nothing that was counted of a page whose days have all left is still true.
    renumbered[is_new[renumbered]] = -1
    of_before = turned(renumbered, len(totals))
    pages = Pages(
        of_before, renumbered, of_moved, of_labels, _first_rows(totals), _first_rows(before)
    )
    are_right = (
        (of_labels >= 0).all()
        and (is_new[:-1] == (of_before < 0)).all()
        # Of a new page nothing is known but what moved.
        and np.count_nonzero(is_new) == np.count_nonzero(is_new[pages.changed])
    )
    return pages if are_right else None


def _one_by_one(kept: Flags, is_new: Flags) -> Int64s:
    """For each page of before, its page now; of none where there are more of one than of the other.

    `is_new` has one more False at the end.
    """
    rows, pages = np.flatnonzero(kept), np.flatnonzero(~is_new[:-1])
    if len(rows) != len(pages):
        return rows[:0]
    renumbered = np.full(len(kept), -1, np.int64)
    renumbered[rows] = pages
    return renumbered


def _keys(rows: ParquetRows) -> Iterator[Keys]:
    """What pages are sorted by."""
    return rows.blocks(("site", "url"), _of_block)


def _of_block(block: pa.Table) -> Keys:
    sites, urls = (block.column(name).combine_chunks() for name in ("site", "url"))
    return Keys(*from_repeated(sites), from_arrow(urls))


def _first_rows(rows: ParquetRows) -> dict[str, int]:
    """The first row of each site."""
    first: dict[str, int] = {}
    number = 0
    for sites in rows.blocks(_SITES, lambda block: block.column("site").combine_chunks()):
        for site, start, _ in site_runs(sites):
            first.setdefault(site, number + start)
        number += len(sites)
    return first


def site_runs(sites: pa.DictionaryArray) -> Iterator[tuple[str, int, int]]:
    """Each site that rows have, with its first row and the one after its last."""
    found = pc.run_end_encode(sites.indices)
    ends = found.run_ends.to_pylist()
    names = sites.dictionary.take(found.values).to_pylist()
    return zip(names, [0, *ends][:-1], ends, strict=True)


def _is_new(totals: ParquetRows, last: dt.date) -> Flags:
    """Which pages of now no day knows that both windows have, and one more False at the end."""

    def flags(block: pa.Table) -> Flags:
        return np.asarray(pc.greater(block.column("birth"), last).to_numpy())

    return np.concatenate((*totals.blocks(("birth",), flags), [False]))


def _changed_pages(job: Job, changes: Changes) -> list[str]:
    """The file of `changed_pages`: what was counted of them is taken from their rows of before."""
    made = pa.RecordBatchReader.from_batches(
        _CHANGED_PAGES.arrow_schema,
        (batch for table in _tables_of_changed(changes) for batch in table.to_batches()),
    )
    return [str(path) for path in job.engine.write(made, _CHANGED_PAGES, job.out)]


def _tables_of_changed(changes: Changes) -> Iterator[pa.Table]:
    """Rows of `changed_pages`, those of some pages at a time."""
    pages = changes.pages
    moved, here = np.flatnonzero(pages.moved >= 0), pages.before[pages.changed]
    ranges = [np.searchsorted(pages.changed, one).tolist() for one in parts(0, len(changes.totals))]
    of_moved = [span(moved[low:high]) for low, high in ranges]
    of_before = [span(here[low:high]) for low, high in ranges]
    names = ParquetRows(changes.files["moved_pages"]).in_ranges(of_moved, ("site", "url"))
    counts = changes.before.in_ranges(of_before, COUNTED)
    for (low, high), (first, _), (row, _), named, counted in zip(
        ranges, of_moved, of_before, names, counts, strict=True
    ):
        name = named.take(pa.array(moved[low:high] - first))
        count = _counted(counted, np.where(here[low:high] < 0, len(counted), here[low:high] - row))
        columns = {
            "page": pa.array(np.arange(low, high)),
            "is_new": pa.array(here[low:high] < 0),
            **{column: name[column] for column in ("site", "url")},
            **{column: count[column] for column in COUNTED},
        }
        yield (
            pa.table(columns).select(_CHANGED_PAGES.column_names).cast(_CHANGED_PAGES.arrow_schema)
        )


def _counted(before: pa.Table, row: Int64s) -> pa.Table:
    """Rows of before, and of the one behind the last, in which nothing was."""
    nothing = pa.Table.from_pylist([_NOTHING], before.schema)
    return pa.concat_tables([before, nothing]).combine_chunks().take(pa.array(row))


def parts(first: int, stop: int) -> list[tuple[int, int]]:
    """The rows from `first` to `stop` in ranges, one at least, as rows are put together."""
    starts = range(first, max(stop, first + 1), _ROWS_AT_ONCE)
    return [(start, min(start + _ROWS_AT_ONCE, stop)) for start in starts]


def span(rows: Int64s) -> tuple[int, int]:
    """First and last of ascending rows, but for those that are -1; the latter not included."""
    there = rows[rows >= 0]
    return (int(there[0]), int(there[-1]) + 1) if len(there) else (0, 0)
