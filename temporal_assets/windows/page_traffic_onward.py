"""`page_traffic` from that of an earlier window: what changed is counted, the rest is copied.

Most days of two windows are the same. Their transits are read once more to find those that come
again, and few do; only of what has changed are URLs compared and rows made anew. Pages lie in the
same order in both windows: one walk along both tells which row of before is which of now, and
links, which name pages by their place, are renumbered by it. The files are those that
`page_traffic.write_traffic` makes, byte for byte.

Here: the changes, and putting rows together. Not here: whether there is a window to go on from
(`onward`), and a window from all its days (`page_traffic`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.contracts import ColumnSpec, Table, Type
from temporal_assets.core.moved_links import LinkLists, moved_links
from temporal_assets.core.sorted_texts import Keys, Seeker, turned
from temporal_assets.core.texts import Flags, Int64s
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.engines.sql import sql_file
from temporal_assets.windows.asset import Job
from temporal_assets.windows.onward import Earlier
from temporal_assets.windows.parquet_rows import ParquetRows

_COUNTED: Final = ("visits", "referred", "referrals", "clients", "few_clients")
"""What is copied from a row of before, or taken from a changed one."""

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
        Table(
            name="known_labels",
            version=1,
            description="Labels of pages with a curve; lives within one build.",
            grain="url",
            columns=(_SITE, _URL, ColumnSpec("is_temporal", Type.BOOLEAN, "The label.")),
        ),
    )
}
"""What is asked in turn; each is made from what was asked before. The large ones are packed for
speed: they are gone before anybody counts their bytes."""

ONWARD_SQL: Final = tuple(_TABLES)
"""The statements of this way, in the order they run."""


@dataclass(frozen=True, slots=True)
class _Pages:
    """The pages of both windows by number, and which is which."""

    before: Int64s
    """For each page of now, its row of before; -1 where nothing that was counted there holds."""
    renumbered: Int64s
    """For each row of before, its page now; -1 where nothing of it holds."""
    changed: Int64s
    """For each changed page, its page now; ascending."""
    labelled: Int64s
    """For each page with a label, its page now; ascending."""
    first: Mapping[str, int]
    """The first page of each site now."""
    first_before: Mapping[str, int]
    """Its first row of before."""


def go_on(
    job: Job, earlier: Earlier, parameters: Mapping[str, Any], at_once: int
) -> list[Path] | None:
    """Files of `page_traffic`; None where the tables of the two windows do not belong together.

    `parameters` and `at_once` are those of `page_traffic.write_traffic`.
    """
    totals, before = ParquetRows(job.files("page_totals")), ParquetRows(earlier.files)
    made = _changes(job, earlier, parameters["least_clients"])
    pages = _meet(totals, before, made, _last_day(job, earlier))
    if pages is None:
        return None
    rows = _Rows(totals, before, made, pages, parameters)

    def write(first: int) -> list[Path]:
        folder = job.out / f"pages-{first}"
        folder.mkdir()
        table = rows.table(first, min(first + at_once, len(totals)))
        return job.engine.write(table, contracts.PAGE_TRAFFIC, folder)

    with ThreadPoolExecutor(job.settings.engine.used_threads) as pool:
        parts = pool.map(write, range(0, max(len(totals), 1), at_once))
        return [path for part in parts for path in part]


def _last_day(job: Job, earlier: Earlier) -> dt.date:
    return job.day - dt.timedelta(days=earlier.moved)


def _changes(job: Job, earlier: Earlier, least_clients: int) -> dict[str, list[str]]:
    """Files of everything that was asked and of all tables of `_TABLES`."""
    last = _last_day(job, earlier)
    days = job.window("transits").manifests
    files = {
        "page_totals": job.files("page_totals"),
        "page_labels": job.files("page_labels"),
        "earlier": earlier.files,
        "entering": earlier.entering,
        "leaving": earlier.leaving,
        "kept": [path for one in days if one.day <= last for path in job.store.paths(one)],
    }
    parameters = {"earlier_day": last, "least_clients": least_clients}
    for name in _TABLES:
        statement = sql_file(name)
        made = job.engine.query(
            name,
            {table: files[table] for table in statement.inputs},
            {key: parameters[key] for key in statement.parameters},
            _TABLES[name],
            job.out,
        )
        files[name] = [str(path) for path in made]
    return files


def _meet(
    totals: ParquetRows, before: ParquetRows, made: Mapping[str, list[str]], last: dt.date
) -> _Pages | None:
    """Walk along the pages of both windows; None where they do not belong together."""
    first: dict[str, int] = {}
    first_before: dict[str, int] = {}
    changed, labels = (ParquetRows(made[name]) for name in ("changed_pages", "known_labels"))
    seekers = [
        Seeker(_keys(before, first_before), len(before)),
        Seeker(_keys(changed, {}), len(changed)),
        Seeker(_keys(labels, {}), len(labels)),
    ]
    shown = 0
    with ThreadPoolExecutor(len(seekers) + 1) as pool:
        asked = pool.submit(_is_new, totals, last)
        for keys in _keys(totals, first):
            look = partial(Seeker.look, shown=keys, first=shown)
            list(pool.map(look, seekers))
            shown += len(keys)
    renumbered, of_changed, of_labels = (seeker.places for seeker in seekers)
    is_new = asked.result()
    # Nothing that was counted of a page whose days have all left is still true.
    renumbered[is_new[renumbered]] = -1
    of_before = turned(renumbered, len(totals))
    is_lost = np.concatenate((of_changed, of_labels)) < 0
    if is_lost.any() or (is_new[:-1] != (of_before < 0)).any():
        return None
    return _Pages(of_before, renumbered, of_changed, of_labels, first, first_before)


def _keys(rows: ParquetRows, first: dict[str, int]) -> Iterator[Keys]:
    """What pages are sorted by; notes where sites begin."""
    number = 0
    for keys, sites in rows.blocks(("site", "url"), _of_block):
        for site, start in sites:
            first.setdefault(site, number + start)
        number += len(keys)
        yield keys


def _of_block(block: pa.Table) -> tuple[Keys, list[tuple[str, int]]]:
    """Sites and URLs; each site and the first row that has it."""
    sites, urls = (block.column(name).combine_chunks() for name in ("site", "url"))
    keys = Keys(from_arrow(sites), from_arrow(urls))
    return keys, [(site, start) for site, start, _ in _runs(sites)]


def _runs(sites: pa.Array) -> Iterator[tuple[str, int, int]]:
    """Each site that rows have, with its first row and the one after its last."""
    runs = pc.run_end_encode(sites)
    ends = runs.run_ends.to_pylist()
    return zip(runs.values.to_pylist(), [0, *ends][:-1], ends, strict=True)


def _is_new(totals: ParquetRows, last: dt.date) -> Flags:
    """Which pages of now no day knows that both windows have, and one more False at the end."""

    def flags(block: pa.Table) -> Flags:
        return np.asarray(pc.greater(block.column("birth"), last).to_numpy())

    return np.concatenate((*totals.blocks(("birth",), flags), [False]))


class _Rows:
    """Rows of `page_traffic`, put together from rows of before and changes."""

    def __init__(
        self,
        totals: ParquetRows,
        before: ParquetRows,
        made: Mapping[str, list[str]],
        pages: _Pages,
        parameters: Mapping[str, Any],
    ) -> None:
        self._totals, self._before, self._pages = totals, before, pages
        self._parameters = parameters
        self._changed = ParquetRows(made["changed_traffic"])
        links = pq.read_table(made["changed_links"], memory_map=False)
        self._target = pages.changed[links["target"].to_numpy()]
        self._referrer = pages.changed[links["referrer"].to_numpy()]
        self._transits = links["transits"].to_numpy()
        labels = pq.read_table(made["known_labels"], columns=["is_temporal"], memory_map=False)
        self._is_temporal = labels["is_temporal"].to_numpy()

    def table(self, first: int, stop: int) -> pa.Table:
        """Of the pages from `first` to `stop`, without the latter."""
        pages = self._totals.read(first, stop, ("site", "url", "total", "birth"))
        here = self._pages.before[first:stop]
        low, high = _range(here)
        before = self._before.read(low, high, (*_COUNTED, "links"))
        row = np.where(here < 0, -1, here - low)
        columns = {
            "day": pa.repeat(pa.scalar(self._parameters["day"], pa.date32()), len(pages)),
            "site": pages["site"],
            "url": pages["url"],
            **self._counted(before, row, first, stop),
            "links": self._links(before["links"], row, pages["site"], first, stop),
            "views": pages["total"],
            "is_new": self._came_new(pages["birth"], pages["total"]),
            "is_temporal": self._label(first, stop),
        }
        schema = contracts.PAGE_TRAFFIC.arrow_schema
        return pa.table([columns[field.name].cast(field.type) for field in schema], schema)

    def _counted(
        self, before: pa.Table, row: Int64s, first: int, stop: int
    ) -> dict[str, pa.ChunkedArray]:
        low, high = np.searchsorted(self._pages.changed, (first, stop))
        changed = self._changed.read(int(low), int(high), _COUNTED)
        place = row.copy()
        place[self._pages.changed[low:high] - first] = len(before) + np.arange(high - low)
        both = pa.concat_tables(
            [before.select(_COUNTED), changed.cast(before.select(_COUNTED).schema)]
        )
        taken = both.combine_chunks().take(pa.array(place))
        return {name: taken[name] for name in _COUNTED}

    def _links(
        self, before: pa.ChunkedArray, row: Int64s, sites: pa.ChunkedArray, first: int, stop: int
    ) -> pa.Array:
        lists = pa.concat_arrays(before.chunks)
        flat = lists.flatten()
        start = np.concatenate(([0], np.cumsum(pc.list_value_length(lists).to_numpy())))
        low, high = np.searchsorted(self._target, (first, stop))
        change = np.searchsorted(self._target[low:high], np.arange(first, stop + 1))
        origin, begin = self._begin(sites)
        made = moved_links(
            LinkLists(start, flat.field("page").to_numpy(), flat.field("transits").to_numpy()),
            row,
            origin,
            self._pages.renumbered,
            LinkLists(change, self._referrer[low:high], self._transits[low:high]),
            begin,
        )
        kind = contracts.PAGE_TRAFFIC.arrow_schema.field("links").type
        values = pa.StructArray.from_arrays(
            [made.page, made.transits], fields=list(kind.value_type)
        )
        return pa.ListArray.from_arrays(pa.array(made.bounds.astype(np.int32)), values, type=kind)

    def _begin(self, sites: pa.ChunkedArray) -> tuple[Int64s, Int64s]:
        """For each row, where its site begins before and now."""
        runs = list(_runs(pa.concat_arrays(sites.chunks)))
        sizes = [stop - start for _, start, stop in runs]
        then = [self._pages.first_before.get(site, 0) for site, _, _ in runs]
        now = [self._pages.first[site] for site, _, _ in runs]
        return np.repeat(then, sizes), np.repeat(now, sizes)

    def _came_new(self, birth: pa.ChunkedArray, total: pa.ChunkedArray) -> pa.Array:
        """As sql/page_traffic.sql has it."""
        known = self._parameters
        born, views = birth.to_numpy(), total.to_numpy()
        lived = (np.datetime64(known["day"], "D") - born).astype(np.int64) + 1
        chance = np.power(lived / known["observed_days"], views)
        return pa.array((born >= np.datetime64(known["new_from"])) & (chance < known["chance"]))

    def _label(self, first: int, stop: int) -> pa.Array:
        low, high = np.searchsorted(self._pages.labelled, (first, stop))
        at = self._pages.labelled[low:high] - first
        label, is_unknown = np.zeros(stop - first, np.bool_), np.ones(stop - first, np.bool_)
        label[at], is_unknown[at] = self._is_temporal[low:high], False
        return pa.array(label, mask=is_unknown)


def _range(rows: Int64s) -> tuple[int, int]:
    """First and last of ascending rows, but for those that are -1; the latter not included."""
    there = rows[rows >= 0]
    return (int(there[0]), int(there[-1]) + 1) if len(there) else (0, 0)
