"""Transits of a day as pairs of integers, and the pages of a window that these integers stand for.

A *number* is the row of a URL among the URLs of its day; a *page* is a row in the `page_totals` of
the window. If pages 0, 2 and 5 were opened on a day, they have the numbers 0, 1 and 2 on that day,
and the first URL that was only a referrer has the number 3.

A day of `transits` stores its URLs once, numbered; URLs that somebody opened come first, in the
order of `page_views`. For each page of a window, `page_totals` has the days on which it was seen,
so that the number of a URL on a day is matched with its page by counting, and no URL is compared or
read. URLs that were only referrers on that day may be pages of other days: these are matched by the
hashes of their text.

Not here: counting (`page_traffic_compiled`), incremental updates (`changed_transits`), links
(`wanted_links`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from temporal_assets.contracts.pages.page_totals import SEEN_BITS
from temporal_assets.core.numerics.arrays import Int32s, Int64s
from temporal_assets.core.text.text_numbers import text_numbers
from temporal_assets.core.traffic.moved_visits import Visits
from temporal_assets.core.traffic.seen_days import pages_by_day
from temporal_assets.core.traffic.traffic import NOWHERE
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.engines.base import Result
from temporal_assets.engines.batches import in_order
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.storage.manifest import Input, Manifest
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import Job

DAYS_AT_ONCE: Final = 4
"""Days whose pages are found in one walk along a window: 50 MB at the papers' size."""

VISITS: Final = ("target", "referrer", "client")
"""Columns of `visits_of`."""


class PageCountMismatch(ValueError):
    """Error: a day has more or fewer pages than the window expects."""


@dataclass(frozen=True, slots=True)
class DayFiles:
    """The files of a day of `transits`."""

    day: dt.date
    rows: Sequence[str]
    urls: Sequence[str]

    @classmethod
    def of(cls, store: Store, transits: Manifest) -> DayFiles:
        """Return the files of a partition of `transits`."""
        return cls(transits.day, store.paths(transits), store.paths_beside(transits))


@dataclass(frozen=True, slots=True)
class DayNumbers:
    """The numbers of a day's URLs: opened URLs first, then URLs that were only referrers."""

    rows: ParquetRows
    """Transits of the day, in the order of their targets."""
    opened: int
    """Number of URLs that somebody opened."""
    strangers: Int64s
    """Hash of the text of each URL that was only a referrer."""

    @classmethod
    def of(cls, files: DayFiles, pages: Int32s) -> DayNumbers:
        """Return the numbers of a day whose opened URLs are these pages of the window.

        Raises `PageCountMismatch` where the day has another number of opened URLs.
        """
        urls, opened = ParquetRows(files.urls), len(pages)
        if opened > len(urls):
            raise PageCountMismatch
        # From the last opened URL on: where it and the next are as they must be, so are all others.
        before = min(opened, 1)
        (rows,) = urls.in_ranges([(opened - before, len(urls))], ("is_opened", "url"))
        is_opened = rows["is_opened"].to_numpy()
        if not is_opened[:before].all() or is_opened[before:].any():
            raise PageCountMismatch
        strangers = text_numbers(from_arrow(rows["url"].slice(before)))
        return cls(ParquetRows(files.rows), opened, strangers)

    def referrer_pages(self, pages: Int32s, strangers: Int32s) -> Int64s:
        """Return the page of each URL as a referrer; the last entry stands for no referrer.

        URLs that are no page of the window have negative numbers, made from the hash of their text.
        """
        others = np.where(strangers < 0, -self.strangers, strangers)
        return np.concatenate((pages, others, [NOWHERE]), dtype=np.int64)

    def targets_and_referrers(self) -> tuple[Int32s, Int32s]:
        """Return the opened URL and the referrer of each row; the referrer -1 stands for none."""
        rows = self.rows.columns(VISITS[:2])
        return rows["target"].to_numpy(), rows["referrer"].fill_null(-1).to_numpy()

    def visits(self) -> Visits:
        """Return all transits of the day."""
        return visits_of(self.rows.columns(VISITS))


def visits_of(rows: pa.Table) -> Visits:
    """Return transits as arrays; the referrer -1 stands for none."""
    target, referrer, client = (rows[name] for name in VISITS)
    return Visits(target.to_numpy(), referrer.fill_null(-1).to_numpy(), client.to_numpy())


def map_days(
    job: Job, days: Sequence[Manifest], seen: Int64s, make: Callable[[DayNumbers, Int32s], Result]
) -> Iterator[Result]:
    """Yield what `make` returns for the numbers of each day and its pages.

    `seen` has the days on which each page was seen, as bits: bit 0 is the window's first day.
    """

    def some(part: Sequence[Manifest]) -> list[Result]:
        pages = pages_by_day(seen, [(manifest.day - job.first).days for manifest in part])
        return [
            make(DayNumbers.of(DayFiles.of(job.store, manifest), page), page)
            for manifest, page in zip(part, pages, strict=True)
        ]

    parts = [days[at : at + DAYS_AT_ONCE] for at in range(0, len(days), DAYS_AT_ONCE)]
    for part in in_order(some, parts, job.settings.engine.used_threads):
        yield from part


def are_numbered(job: Job, totals: Manifest, days: Iterable[Manifest]) -> bool:
    """Return True if the numbers in `transits` on these days can be matched with `page_totals`."""
    # Of longer windows, pages do not tell every day.
    is_told = job.settings.window.days <= SEEN_BITS
    return is_told and all(_is_of_pages(job.store, totals, manifest) for manifest in days)


def _is_of_pages(store: Store, totals: Manifest, transits: Manifest) -> bool:
    """Return True if views and transits of a day were made from the same requests."""
    views = store.intact("page_views", transits.day)
    return (
        views is not None
        and views.inputs == transits.inputs
        and Input(f"page_views/day={views.day}", views.digest) in totals.inputs
    )
