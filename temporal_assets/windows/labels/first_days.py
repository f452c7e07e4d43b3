"""The first days of pages: young pages to be judged, and known pages to learn from.

Young pages were born in the last days. Known pages were born in the window, not at its start, and
have been seen for some days since: what they really did is their true label, whether many opened
them or few.

Here: finding both, with their views by day of life. Not here: learning (`core.labels.early`),
judging the young (`early_labels`).
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from temporal_assets.contracts import passing
from temporal_assets.contracts.labels.early_labels import YOUNG_DAYS
from temporal_assets.core.labels.early import filled
from temporal_assets.core.numerics.arrays import Flags
from temporal_assets.core.text.page_section import sections_of
from temporal_assets.engines.arrow_texts import from_arrow, to_arrow
from temporal_assets.engines.parquet_rows import ParquetRows, whole_table
from temporal_assets.storage.manifest import Manifest
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.frame.days import observed_days
from temporal_assets.windows.pages.page_days import PageDays, lists, walk

_UNSEEN_DAYS: Final = 7
"""First days of the window with data on which births do not count, at most a quarter of them: an
old page that was not opened for a while looks new there."""

COMPLETE_DAYS: Final = 7
"""Days of observation that a known page needs. Later views change the share of its first days
little; fewer days give more, and more recent, pages to learn from."""

LEAST_VIEWS: Final = 3
"""Total views that a known page needs: with fewer, the share of its first days says nothing."""

MOST_KNOWN: Final = 20_000
"""Approximate number of known pages to learn from; of more, an even sample is taken."""

_RECENT_DAYS: Final = 28
"""Most recent days that are read; earlier ones are read only if these have too few known pages."""

FIRST_DAYS: Final = passing(
    "first_days", "site VARCHAR, url VARCHAR, birth DATE, age BIGINT, total BIGINT, views INTEGER[]"
)


@dataclass(frozen=True, slots=True)
class KnownPages:
    """Known pages, one row per page, in the order of their births."""

    first_views: NDArray[np.float64]
    """Shape (pages, first days); missing days are filled in from those around them."""
    born: NDArray[np.datetime64]
    seen_days: NDArray[np.int64]
    """Days since the birth, including the day of birth."""
    is_temporal: NDArray[np.bool_]
    """True label: more than q of all views fell in the first n days."""
    sites: NDArray[Any]
    sections: NDArray[Any]

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.born)

    def take(self, rows: slice) -> KnownPages:
        """Return the given rows."""
        return KnownPages(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class _Plan:
    """Pages and days to read."""

    known_from: dt.date
    known_until: dt.date
    young_from: dt.date
    step: int
    """Step of the sample: every `step`-th known page is taken."""
    n_days: int
    """Number of first days whose share of the views makes a page temporal."""
    observed: Flags
    """True for each day from `known_from` on that is published."""

    @property
    def days(self) -> int:
        """Number of first days of life that are read."""
        return max(YOUNG_DAYS, self.n_days)


def first_days(job: Job) -> tuple[KnownPages, pa.Table]:
    """Return the known pages, and rows of FIRST_DAYS for the young ones.

    `job` reads `page_views`, `page_totals` and, where thresholds are calibrated, `page_labels`.
    """
    plan = _plan_of(job)
    rows = _walked(job, plan)
    if rows is None:
        rows = _asked(job, plan)
    is_known = _is_known(rows, plan)
    young = rows.filter(pc.greater_equal(rows["birth"], pa.scalar(plan.young_from)))
    return _known_pages(job, rows.filter(pa.array(is_known)), plan), young


def _plan_of(job: Job) -> _Plan:
    """Return which pages and days to read: recent births alone if there are enough of them.

    Of more known pages than `MOST_KNOWN`, an even sample is read.
    """
    observed = observed_days(job)
    start = int(np.argmax(observed))
    unseen = min(_UNSEEN_DAYS, (len(observed) - start) // 4)
    n_days = math.ceil(job.settings.labels.n)
    lived = max(COMPLETE_DAYS, n_days + 1)
    one_day = dt.timedelta(days=1)
    known_from, known_until = (
        job.first + (start + unseen) * one_day,
        job.day - (lived - 1) * one_day,
    )
    young_from = max(job.day - (YOUNG_DAYS - 1) * one_day, job.first)
    recent = max(job.day - (_RECENT_DAYS - 1) * one_day, known_from)
    counted = "SELECT count(*) AS pages, coalesce(sum(CASE WHEN birth >= {} THEN 1 ELSE 0 END), 0)"
    counted += " AS recent FROM page_totals WHERE birth >= {} AND birth <= {} AND total >= {}"
    dates = [f"CAST('{day}' AS DATE)" for day in (recent, known_from, known_until)]
    totals = {"page_totals": job.files("page_totals")}
    (row,) = job.engine.rows(counted.format(*dates, LEAST_VIEWS), totals)
    pages = int(row["pages"])
    if int(row["recent"]) >= MOST_KNOWN:
        known_from, pages = recent, int(row["recent"])
    known_from = min(known_from, young_from)
    return _Plan(
        known_from,
        known_until,
        young_from,
        max(-(-pages // MOST_KNOWN), 1),
        n_days,
        observed[(known_from - job.first).days :],
    )


def _days_read(job: Job, plan: _Plan) -> list[Manifest]:
    """Return days to read: from the first birth that counts on, as views before do not matter."""
    return [
        manifest
        for manifest in job.window("page_views").manifests
        if manifest.day >= plan.known_from
    ]


def _walked(job: Job, plan: _Plan) -> pa.Table | None:
    """Return rows of FIRST_DAYS by a walk over the window, or None where rows have no order."""
    days = _days_read(job, plan)
    passed = 0

    def choose(rows: pa.Table) -> Flags:
        nonlocal passed
        born = rows["birth"].to_numpy()
        is_known = (born >= np.datetime64(plan.known_from)) & (
            rows["total"].to_numpy() >= LEAST_VIEWS
        )
        is_known &= born <= np.datetime64(plan.known_until)
        number = passed + np.cumsum(is_known) - 1
        passed += int(is_known.sum())
        chosen: Flags = is_known & (number % plan.step == 0)
        chosen |= born >= np.datetime64(plan.young_from)
        return chosen

    page_days = walk(job, days, choose)
    if page_days is None:
        return None
    dates = np.array([manifest.day for manifest in days], "datetime64[D]")
    tables = [_rows(walked, dates, plan.days) for walked in page_days]
    if not page_days.agrees:
        return None
    return pa.concat_tables([FIRST_DAYS.arrow_schema.empty_table(), *tables])


def _rows(page_days: PageDays, dates: NDArray[np.datetime64], days: int) -> pa.Table:
    """Return rows of FIRST_DAYS from the views of pages on `dates`; missing days have no views."""
    pages = page_days.pages
    number = (dates - dates[0]).astype(np.int64)
    start = (pages["birth"].to_numpy() - dates[0]).astype(np.int64)
    lived = np.zeros((len(pages), number[-1] + 1 + days), page_days.views.dtype)
    lived[:, number] = page_days.views
    views = np.take_along_axis(lived, start[:, None] + np.arange(days), axis=1)
    columns = {
        **{name: pages[name] for name in ("url", "birth", "total")},
        "site": pages["site"].cast(pa.string()),
        "age": number[-1] + 1 - start,
        "views": lists(views),
    }
    return pa.table(columns, FIRST_DAYS.arrow_schema)


def _asked(job: Job, plan: _Plan) -> pa.Table:
    """Return rows of FIRST_DAYS by SQL: on a cluster, and for windows too long for `seen`."""
    inputs = {
        "page_totals": job.files("page_totals"),
        "page_views": [
            path for manifest in _days_read(job, plan) for path in job.store.paths(manifest)
        ],
    }
    parameters = {
        "known_from": plan.known_from,
        "known_until": plan.known_until,
        "young_from": plan.young_from,
        "least": LEAST_VIEWS,
        "step": plan.step,
        "day": job.day,
        "days": plan.days,
    }
    written = job.engine.query("first_days", inputs, parameters, FIRST_DAYS, job.out)
    return whole_table(written)


def _is_known(rows: pa.Table, plan: _Plan) -> Flags:
    """Return flags of the pages that can be learned from: none of their first n days is missing."""
    born = rows["birth"].to_numpy()
    before = np.append(0, np.cumsum(plan.observed))
    is_old_enough = (born <= np.datetime64(plan.known_until)) & (
        rows["total"].to_numpy() >= LEAST_VIEWS
    )
    place = (born - np.datetime64(plan.known_from)).astype(np.int64)
    last = np.minimum(place + plan.n_days, len(plan.observed))
    is_whole: Flags = before[last] - before[place] == plan.n_days
    is_whole &= is_old_enough
    return is_whole


def _known_pages(job: Job, pages: pa.Table, plan: _Plan) -> KnownPages:
    """Return the pages to learn from, with views by day and what they turned out."""
    pages = pages.sort_by([("birth", "ascending"), ("url", "ascending")])
    views = views_of(pages, plan.days, missing_days(job))
    total = pages["total"].to_numpy()
    urls = pages["url"].combine_chunks()
    share = views[:, : plan.n_days].sum(axis=1) / np.maximum(total, 1)
    return KnownPages(
        views,
        pages["birth"].to_numpy(),
        pages["age"].to_numpy(),
        share > _cuts(job, urls),
        np.array(pages["site"].to_pylist(), np.str_),
        np.array(to_arrow(sections_of(from_arrow(urls))).to_pylist(), np.str_),
    )


def missing_days(job: Job) -> NDArray[np.datetime64]:
    """Return the days of the window without data, after the first with data."""
    observed = observed_days(job)
    missing = np.flatnonzero(~observed)
    return np.datetime64(job.first) + missing[missing > np.argmax(observed)]


def views_of(
    pages: pa.Table | pa.RecordBatch, days: int, missing: NDArray[np.datetime64]
) -> NDArray[np.float64]:
    """Return the views of rows of FIRST_DAYS, shape (pages, days), with missing days filled in."""
    lists_of_views = pages["views"]
    if isinstance(lists_of_views, pa.ChunkedArray):
        lists_of_views = lists_of_views.combine_chunks()
    numbers = lists_of_views.flatten().to_numpy(zero_copy_only=False)
    views = np.asarray(numbers.reshape(len(pages), days), np.float64)
    births = pages["birth"].to_numpy(zero_copy_only=False).astype("datetime64[D]")
    for birth in np.unique(births) if len(missing) else ():
        observed = ~np.isin(birth + np.arange(days), missing)
        if not observed.all():
            views[births == birth] = filled(views[births == birth], observed)
    return views


def _cuts(job: Job, urls: pa.Array) -> NDArray[np.float64]:
    """Return the threshold q of each page; where thresholds are calibrated, that of its label."""
    labels = job.settings.labels
    cuts = np.full(len(urls), labels.q)
    if labels.thresholds == "calibrated":
        for block in ParquetRows(job.files("page_labels")).blocks(("url", "q"), _kept):
            place = pc.index_in(block["url"], value_set=urls)
            here = place.is_valid().to_numpy(zero_copy_only=False)
            cuts[place.drop_null().to_numpy()] = block["q"].to_numpy()[here]
    return cuts


def _kept(block: pa.Table) -> pa.Table:
    return block.combine_chunks()


def sections(urls: pa.Array) -> pa.Array:
    """Return the section of each URL."""
    return to_arrow(sections_of(from_arrow(urls)))


def batches(table: pa.Table, rows: int) -> Sequence[pa.RecordBatch]:
    """Return the rows of a table in batches of `rows`."""
    cut: list[pa.RecordBatch] = table.combine_chunks().to_batches(max_chunksize=rows)
    return cut
