"""`page_traffic` from that of an earlier window: what changed is counted, the rest is copied.

Pages have other places now, and links, which name them by their place, are renumbered. The files
are those that `page_traffic.write_traffic` makes, byte for byte.

Here: putting rows together. Not here: whether there is a window to go on from (`onward`), what
has changed since (`page_traffic_changes`), and a window from all its days (`page_traffic`).
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.core.changed_traffic import ChangedTraffic
from temporal_assets.core.moved_links import LinkLists, moved_links
from temporal_assets.core.texts import Int64s
from temporal_assets.engines.arrow_texts import with_encoded
from temporal_assets.windows.asset import Job
from temporal_assets.windows.onward import Earlier
from temporal_assets.windows.page_traffic_changes import (
    COUNTED,
    Changes,
    find_changes,
    site_runs,
    span,
)

_SCHEMA: Final = with_encoded(contracts.PAGE_TRAFFIC.arrow_schema, "site")
"""What is put together: the names of sites are not copied for each of their pages."""


def go_on(
    job: Job, earlier: Earlier, parameters: Mapping[str, Any], at_once: int
) -> list[Path] | None:
    """Files of `page_traffic`; None where the tables of the two windows do not belong together.

    `parameters` and `at_once` are those of `page_traffic.write_traffic`.
    """
    changes = find_changes(job, earlier, parameters["least_clients"], at_once)
    if changes is None:
        return None
    rows, totals = _Rows(changes, parameters), changes.totals

    def write(first: int) -> list[Path]:
        folder = job.out / f"pages-{first}"
        folder.mkdir()
        table = rows.table(first, min(first + at_once, len(totals)))
        return job.engine.write(table, contracts.PAGE_TRAFFIC, folder)

    with ThreadPoolExecutor(job.settings.engine.used_threads) as pool:
        parts = pool.map(write, range(0, max(len(totals), 1), at_once))
        return [path for part in parts for path in part]


def _table(traffic: ChangedTraffic) -> pa.Table:
    """What is counted of the changed pages, as rows have it."""
    few = pa.ListArray.from_arrays(pa.array(traffic.few_bounds.astype(np.int32)), traffic.few)
    counts = (traffic.visits, traffic.referred, traffic.referrals, traffic.clients)
    return pa.table(dict(zip(COUNTED, (*counts, few), strict=True)))


class _Rows:
    """Rows of `page_traffic`, put together from rows of before and changes."""

    def __init__(self, changes: Changes, parameters: Mapping[str, Any]) -> None:
        self._totals, self._before, self._pages = changes.totals, changes.before, changes.pages
        self._parameters = parameters
        self._changed_pages = changes.pages.changed
        traffic = changes.traffic
        self._changed = _table(traffic)
        self._target = self._changed_pages[traffic.target]
        self._referrer = self._changed_pages[traffic.referrer]
        self._transits = traffic.transits
        labels = pq.read_table(changes.labels, columns=["is_temporal"], memory_map=False)
        self._is_temporal = labels["is_temporal"].to_numpy()

    def table(self, first: int, stop: int) -> pa.Table:
        """Of the pages from `first` to `stop`, without the latter."""
        pages = self._totals.read(first, stop, ("site", "url", "total", "birth"))
        here = self._pages.before[first:stop]
        low, high = span(here)
        before = self._before.read(low, high, (*COUNTED, "links"))
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
        return pa.table([columns[field.name].cast(field.type) for field in _SCHEMA], _SCHEMA)

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
        taken = both.combine_chunks().take(pa.array(place))
        return {name: taken[name] for name in COUNTED}

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
        runs = list(site_runs(sites.combine_chunks()))
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
