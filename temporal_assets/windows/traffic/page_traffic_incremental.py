"""Incremental update of `page_traffic`: changed pages are counted anew, all others are copied.

Pages have other positions in the later window, and links, which refer to pages by position, are
renumbered. The files are those that `page_traffic.write_traffic` makes, byte for byte.

Here: assembling the rows. Not here: the check that an earlier window can be used (`incremental`),
the changes since then (`changed_transits`), and the full count (`page_traffic`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets import contracts
from temporal_assets.core.numerics.arrays import Int64s
from temporal_assets.core.traffic.changed_traffic import ChangedTraffic
from temporal_assets.core.traffic.moved_links import LinkLists, moved_links
from temporal_assets.engines.batches import in_order
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.frame.incremental import Earlier
from temporal_assets.windows.frame.page_rows import ranges, site_runs
from temporal_assets.windows.traffic.changed_transits import changed_transits
from temporal_assets.windows.traffic.page_traffic_changes import COUNTED, Changes, span
from temporal_assets.windows.traffic.traffic_rows import (
    came_new,
    day_column,
    few_column,
    in_rows,
    links_column,
    page_numbers,
)


def go_on(
    job: Job, earlier: Earlier, parameters: Mapping[str, Any], at_once: int
) -> list[Path] | None:
    """Return files of `page_traffic`, or None where the two windows cannot be compared by numbers.

    `parameters` and `at_once` are those of `page_traffic.write_traffic`.
    """
    changes = changed_transits(job, earlier, parameters["least_clients"], at_once)
    return None if changes is None else _write(job, changes, parameters, at_once)


def _write(job: Job, changes: Changes, parameters: Mapping[str, Any], at_once: int) -> list[Path]:
    rows, count = _Rows(changes, parameters), len(changes.totals)

    def write(part: _Part) -> list[Path]:
        folder = job.out / f"pages-{part.first}"
        folder.mkdir()
        return job.engine.write(rows.table(part), contracts.PAGE_TRAFFIC.stored, folder)

    # The next rows are read while others are put together and written.
    parts = _read(changes, ranges(count, at_once))
    written = in_order(write, parts, job.settings.engine.used_threads)
    return [path for paths in written for path in paths]


@dataclass(frozen=True, slots=True)
class _Part:
    """Columns read for some pages."""

    first: int
    stop: int
    """Page after the last."""
    row: int
    """First earlier row."""
    pages: pa.Table
    before: pa.Table


def _read(changes: Changes, of_pages: Sequence[tuple[int, int]]) -> Iterator[_Part]:
    of_before = [span(changes.pages.before[first:stop]) for first, stop in of_pages]
    pages = changes.totals.in_ranges(of_pages, ("site", "total", "birth"))
    before = changes.before.in_ranges(of_before, (*COUNTED, "links"))
    for (first, stop), (row, _), now, then in zip(of_pages, of_before, pages, before, strict=True):
        yield _Part(first, stop, row, now, then)


def _table(traffic: ChangedTraffic) -> pa.Table:
    """Return the counts of the changed pages as columns of `page_traffic`."""
    few = few_column(traffic.few_bounds, traffic.few)
    counts = (traffic.visits, traffic.referred, traffic.referrals, traffic.clients)
    return pa.table(dict(zip(COUNTED, (*counts, few), strict=True)))


class _Rows:
    """Builder of rows of `page_traffic` from earlier rows and changes."""

    def __init__(self, changes: Changes, parameters: Mapping[str, Any]) -> None:
        self._pages = changes.pages
        self._parameters = parameters
        self._changed_pages = changes.pages.changed
        traffic = changes.traffic
        self._changed = _table(traffic)
        self._target = self._changed_pages[traffic.target]
        self._referrer = self._changed_pages[traffic.referrer]
        self._transits = traffic.transits
        self._labels = changes.labels

    def table(self, part: _Part) -> pa.Table:
        """Return the rows of a part's pages."""
        first, stop, pages, before = part.first, part.stop, part.pages, part.before
        here = self._pages.before[first:stop]
        row = np.where(here < 0, -1, here - part.row)
        columns = {
            "day": day_column(self._parameters, len(pages)),
            "site": pages["site"],
            "url": page_numbers(first, stop),
            **self._counted(before, row, first, stop),
            "links": self._links(before["links"], row, pages["site"], first, stop),
            "views": pages["total"],
            "birth": pages["birth"],
            "is_new": came_new(pages["birth"], pages["total"], self._parameters),
            "is_temporal": self._labels.column(first, stop),
        }
        return in_rows(columns)

    def _counted(
        self, before: pa.Table, row: Int64s, first: int, stop: int
    ) -> dict[str, pa.ChunkedArray]:
        low, high = np.searchsorted(self._changed_pages, (first, stop))
        changed = self._changed.slice(low, high - low)
        place = row.copy()
        place[self._changed_pages[low:high] - first] = len(before) + np.arange(high - low)
        both = pa.concat_tables(
            [before.select(COUNTED), changed.cast(before.select(COUNTED).schema)]
        )
        chosen = both.combine_chunks().take(pa.array(place))
        return {name: chosen[name] for name in COUNTED}

    def _links(
        self, before: pa.ChunkedArray, row: Int64s, sites: pa.ChunkedArray, first: int, stop: int
    ) -> pa.Array:
        lists = pa.concat_arrays(before.chunks)
        flat = lists.flatten()
        start = np.concatenate(([0], np.cumsum(pc.list_value_length(lists).to_numpy())))
        low, high = np.searchsorted(self._target, (first, stop))
        change = np.searchsorted(self._target[low:high], np.arange(first, stop + 1))
        origin, begin = self._begin(sites)
        links = moved_links(
            LinkLists(start, flat.field("page").to_numpy(), flat.field("transits").to_numpy()),
            row,
            origin,
            self._pages.renumbered,
            LinkLists(change, self._referrer[low:high], self._transits[low:high]),
            begin,
        )
        return links_column(links.bounds, links.page, links.transits)

    def _begin(self, sites: pa.ChunkedArray) -> tuple[Int64s, Int64s]:
        """Return, for each row, the first row of its site in the earlier and the later window."""
        runs = list(site_runs(sites.combine_chunks()))
        sizes = [stop - start for _, start, stop in runs]
        then = [self._pages.first_before.get(site, 0) for site, _, _ in runs]
        now = [self._pages.first[site] for site, _, _ in runs]
        return np.repeat(then, sizes), np.repeat(now, sizes)
