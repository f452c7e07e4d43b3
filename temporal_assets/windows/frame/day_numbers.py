"""Transits of a day by numbers, and which pages of a window these numbers are.

URLs that were opened come first among those of a day, in the order of `page_views`. The days that a
page of a window was seen on tell which of them it is: no URL is compared, or read. URLs that people
only came from may be pages of other days: these are looked for by the numbers of their texts.

Not here: what is done with them (`page_traffic_compiled`, `changed_transits`, `wanted_links`).
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


class OtherPages(ValueError):
    """A day has not as many pages as a window says."""


@dataclass(frozen=True, slots=True)
class DayFiles:
    """The files of a day of `transits`."""

    day: dt.date
    rows: Sequence[str]
    urls: Sequence[str]

    @classmethod
    def of(cls, store: Store, transits: Manifest) -> DayFiles:
        """Return those of a partition."""
        return cls(transits.day, store.paths(transits), store.paths_beside(transits))


@dataclass(frozen=True, slots=True)
class DayNumbers:
    """The numbers of a day's URLs: those that were opened, and behind them the others."""

    rows: ParquetRows
    """Transits, in the order of their targets."""
    opened: int
    """How many were opened."""
    strangers: Int64s
    """Number of the text of each of the others."""

    @classmethod
    def of(cls, files: DayFiles) -> DayNumbers:
        """Return those of a day."""
        urls = ParquetRows(files.urls)
        opened = int(urls.array(("is_opened",), _is_opened, np.bool_).sum())
        (others,) = urls.in_ranges([(opened, len(urls))], ("url",))
        return cls(ParquetRows(files.rows), opened, text_numbers(from_arrow(others["url"])))

    def require(self, pages: Int32s) -> Int32s:
        """Return pages, unless they are not as many as were opened on the day."""
        if len(pages) != self.opened:
            raise OtherPages
        return pages

    def sources(self, pages: Int32s, strangers: Int32s) -> Int64s:
        """Return the page of each URL, as where one came from; the last is that of nowhere.

        What is no page is less than 0, by its text.
        """
        others = np.where(strangers < 0, -self.strangers, strangers)
        return np.concatenate((pages, others, [NOWHERE]), dtype=np.int64)

    def links(self) -> tuple[Int32s, Int32s]:
        """URLs that were opened, and those people came from, of each row; -1 is nowhere."""
        rows = self.rows.columns(VISITS[:2])
        return rows["target"].to_numpy(), rows["referrer"].fill_null(-1).to_numpy()

    def visits(self) -> Visits:
        """All transits."""
        return visits_of(self.rows.columns(VISITS))


def visits_of(rows: pa.Table) -> Visits:
    """Transits as arrays; a referrer of -1 is nowhere."""
    target, referrer, client = (rows[name] for name in VISITS)
    return Visits(target.to_numpy(), referrer.fill_null(-1).to_numpy(), client.to_numpy())


def _is_opened(block: pa.Table) -> np.ndarray:
    return np.asarray(block["is_opened"].to_numpy(), np.bool_)


def of_days(
    job: Job, days: Sequence[Manifest], seen: Int64s, make: Callable[[DayNumbers, Int32s], Result]
) -> Iterator[Result]:
    """Yield what `make` returns for the numbers of each day and its pages."""

    def some(part: Sequence[Manifest]) -> list[Result]:
        pages = pages_by_day(seen, [(manifest.day - job.first).days for manifest in part])
        numbers = [DayNumbers.of(DayFiles.of(job.store, manifest)) for manifest in part]
        return [
            make(manifest, manifest.require(page))
            for manifest, page in zip(numbers, pages, strict=True)
        ]

    parts = [days[at : at + DAYS_AT_ONCE] for at in range(0, len(days), DAYS_AT_ONCE)]
    for part in in_order(some, parts, job.settings.engine.used_threads):
        yield from part


def are_numbered(job: Job, totals: Manifest, days: Iterable[Manifest]) -> bool:
    """Return True if the pages of `page_totals` tell which URLs of days of `transits` they are."""
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
