"""The days by which two successive windows differ, with the pages that their URLs are.

Here: the pages of both windows and how they correspond, the days that enter or leave, and the pages
of the URLs from which people came on these days. A URL that nobody opened on its own day may still
be a page of the window, so its text is looked up; no other text is read but that of new pages.

Not here: the days that both windows share (`shared_transits`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.text.sorted_texts import Keys, Seeker, in_step
from temporal_assets.core.text.text_numbers import text_numbers
from temporal_assets.core.text.texts import take
from temporal_assets.core.traffic.moved_visits import Visits
from temporal_assets.core.traffic.seen_days import pages_by_day
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.engines.batches import in_order
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.storage.manifest import Manifest
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.frame.day_numbers import DayFiles, DayNumbers, PageCountMismatch
from temporal_assets.windows.frame.incremental import Earlier, days_seen
from temporal_assets.windows.frame.page_rows import PAGE, SITES, KnownLabels, keys, keys_of

LATER: Final = 1
EARLIER: Final = 2
"""Bits that mark which of the two windows a day belongs to."""


@dataclass(frozen=True, slots=True)
class WindowPair:
    """The pages of the later and the earlier window, and how they correspond."""

    moved: int
    """Days between the ends of the two windows."""
    totals: ParquetRows
    """`page_totals` of the later window."""
    before: ParquetRows
    """`page_traffic` of the earlier window."""
    seen: Int64s
    """Days of the later window on which each of its pages was seen, as bits."""
    seen_before: Int64s
    """The same of the earlier window."""
    is_new: Flags
    """True for pages of the later window that were seen on no day that both windows share."""
    of_before: Int64s
    """Earlier row of each later page; -1 for new pages (`Pages.before`)."""
    renumbered: Int64s
    """Later page of each earlier row; -1 for pages that are gone (`Pages.renumbered`)."""

    @classmethod
    def read(cls, job: Job, earlier: Earlier, then: Manifest) -> WindowPair:
        """Read both windows; `then` is `page_totals` of the earlier one.

        Raises `PageCountMismatch` where the tables do not have the same pages.
        """
        totals, before = (
            ParquetRows(files, SITES) for files in (job.files("page_totals"), earlier.files)
        )
        with ThreadPoolExecutor(2) as pool:
            tables = (totals, ParquetRows(job.store.paths(then)))
            seen, seen_before = pool.map(days_seen, tables)
        shared = (1 << (job.settings.window.days - earlier.moved)) - 1
        is_new = (seen & shared) == 0
        both = in_step((seen_before >> earlier.moved) != 0, ~is_new)
        if both is None or len(seen_before) != len(before):
            raise PageCountMismatch
        return cls(earlier.moved, totals, before, seen, seen_before, is_new, both[1], both[0])


@dataclass(frozen=True, slots=True)
class MovedDay:
    """A day that enters or leaves the window. Arrays have a value for each of its URLs."""

    windows: int
    """Bit of the window that it belongs to."""
    visits: Visits
    row: Int32s
    """Page in that window; -1 for URLs that are no page of it."""
    page: Int32s
    """Page of the later window; -1 for URLs that are no page of it any more."""
    source: Int64s
    """Numbers of the URLs that people came from, ascending."""
    referrers: pa.Table
    """Sites and URLs of `source`."""
    opened: int
    """Number of `source` URLs that were opened: these are sorted, and so are the others behind
    them."""


def moved_days(job: Job, both: WindowPair, earlier: Earlier) -> list[MovedDay]:
    """Return the days that enter or leave, those that enter first."""
    days = [(day, LATER) for day in earlier.entered]
    days += [(day, EARLIER) for day in earlier.left]
    threads = job.settings.engine.used_threads
    return [*in_order(partial(_moved_day, job, both), days, threads)]


def _moved_day(job: Job, both: WindowPair, day_and_windows: tuple[Manifest, int]) -> MovedDay:
    day, windows = day_and_windows
    first = job.first if windows == LATER else job.first - dt.timedelta(days=both.moved)
    (rows,) = pages_by_day(
        both.seen if windows == LATER else both.seen_before, [(day.day - first).days]
    )
    files = DayFiles.of(job.store, day)
    numbers = DayNumbers.of(files, rows)
    nothing = np.full(len(numbers.strangers), -1, np.int32)
    row = np.concatenate((rows, nothing))
    page = rows if windows == LATER else both.renumbered[rows].astype(np.int32)
    visits = numbers.visits()
    came = np.zeros(len(row), np.bool_)
    came[visits.referrer[visits.referrer >= 0]] = True
    return MovedDay(
        windows,
        visits,
        row,
        np.concatenate((page, nothing)),
        np.flatnonzero(came),
        ParquetRows(files.urls, SITES).columns(PAGE).filter(pa.array(came)),
        int(np.count_nonzero(came[: numbers.opened])),
    )


class PagesOfTexts(NamedTuple):
    """Pages by the hash of their URL."""

    text: Int64s
    page: Int64s
    """Page of each hash; -1 if it is no page."""


def pages_of_texts(
    both: WindowPair, labels: KnownLabels, moved: Sequence[MovedDay]
) -> list[PagesOfTexts]:
    """Return the pages of the referrers of each moved day, and at the end those of new pages.

    One walk over the pages of the later window finds them, and notes which pages have labels.
    """
    parts = [(day.referrers.slice(0, day.opened), day.referrers.slice(day.opened)) for day in moved]
    seekers = [Seeker([keys_of(part)], len(part)) for both_of in parts for part in both_of]
    new = [np.empty(0, np.int64)]
    shown = 0
    with ThreadPoolExecutor() as pool:
        for block in keys(both.totals):
            look = partial(Seeker.look, shown=block, first=shown)
            done = pool.map(look, [labels.seeker, *seekers])
            new.append(_numbers_of_new(block, both.is_new[shown : shown + len(block)]))
            list(done)
            shown += len(block)
    texts_of_days = [
        PagesOfTexts(
            text_numbers(from_arrow(day.referrers["url"])),
            np.concatenate((opened.places, others.places)),
        )
        for day, opened, others in zip(moved, seekers[::2], seekers[1::2], strict=True)
    ]
    return [*texts_of_days, PagesOfTexts(np.concatenate(new), np.flatnonzero(both.is_new))]


def _numbers_of_new(block: Keys, is_new: Flags) -> Int64s:
    at, urls = np.flatnonzero(is_new), block.second
    return text_numbers(take(urls.data, urls.offsets[at], urls.offsets[at + 1]))
