"""Transits of a day by numbers, and which pages of a window these numbers are.

Beside the rows of a day lie the places of their URLs among all of the day, in the order of pages
(`days.places`). The pages among these are the pages of `page_views`, and the days that a
page of a window was seen on tell which of them it is: no URL is compared, or read.

Not here: what is done with them (`changed_transits`, `wanted_links`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from temporal_assets.contracts.pages.page_totals import SEEN_BITS
from temporal_assets.core.numerics.arrays import Int32s, Int64s
from temporal_assets.core.traffic.moved_visits import Visits
from temporal_assets.core.traffic.seen_days import pages_by_day
from temporal_assets.engines.base import Result
from temporal_assets.engines.batches import in_order
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.storage.manifest import Input, Manifest
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import Job

Scalar = TypeVar("Scalar", bound=np.generic)

DAYS_AT_ONCE: Final = 4
"""Days whose pages are found in one walk along a window: 50 MB at the papers' size."""

_BESIDE: Final = 2
"""Files: places of transits, and URLs."""


class OtherPages(ValueError):
    """A day has not as many pages as a window says."""


@dataclass(frozen=True, slots=True)
class DayNumbers:
    """The URLs of a day, numbered in the order of pages."""

    rows: Sequence[str]
    places: Sequence[str]
    strangers: Int64s
    """Number of each URL's text; 0 of a page that was opened."""
    opened: Int64s
    """Positions of the URLs that are pages that were opened."""

    @classmethod
    def of(cls, store: Store, transits: Manifest) -> DayNumbers:
        """Return those of a day, which must have them."""
        places, urls = store.paths_beside(transits)
        (strangers,) = _read([urls], "stranger")
        opened = np.flatnonzero(strangers == 0)
        return cls(store.paths(transits), [places], strangers, opened)

    def where_pages(self, values: NDArray[Scalar], other: int) -> NDArray[Scalar]:
        """Return, for each URL, the value of its page out of `values`; others have `other`."""
        if len(self.opened) != len(values):
            raise OtherPages
        found = np.full(len(self.strangers), other, values.dtype)
        found[self.opened] = values
        return found

    def links(self) -> tuple[Int32s, Int32s]:
        """URLs that were opened, and those people came from, of each row; -1 is nowhere."""
        target, referrer = _read(self.places, "target", "referrer")
        return target, referrer

    def visits(self) -> Visits:
        """The same with clients."""
        return Visits(*self.links(), *_read(self.rows, "client"))


def _read(paths: Sequence[str], *names: str) -> list[Any]:
    rows = ParquetRows(paths).columns(names)
    return [rows[name].to_numpy() for name in names]


def of_days(
    job: Job, days: Sequence[Manifest], seen: Int64s, make: Callable[[DayNumbers, Int32s], Result]
) -> Iterator[Result]:
    """Yield what `make` returns for the numbers of each day and its pages."""

    def some(part: Sequence[Manifest]) -> list[Result]:
        pages = pages_by_day(seen, [(one.day - job.first).days for one in part])
        numbers = (DayNumbers.of(job.store, one) for one in part)
        return [make(*both) for both in zip(numbers, pages, strict=True)]

    parts = [days[at : at + DAYS_AT_ONCE] for at in range(0, len(days), DAYS_AT_ONCE)]
    for part in in_order(some, parts, job.settings.engine.used_threads):
        yield from part


def are_numbered(job: Job, totals: Manifest, days: Iterable[Manifest]) -> bool:
    """Return True if days of `transits` have numbers of the pages of `page_totals`."""
    # Of longer windows, pages do not tell every day.
    is_told = job.settings.window.days <= SEEN_BITS
    return is_told and all(_is_numbered(job.store, totals, one) for one in days)


def has_numbers(transits: Manifest) -> bool:
    """Return whether a day has any; of which pages is another question."""
    return len(transits.beside) == _BESIDE


def _is_numbered(store: Store, totals: Manifest, transits: Manifest) -> bool:
    views = store.intact("page_views", transits.day)
    return (
        has_numbers(transits)
        and views is not None
        and views.inputs == transits.inputs
        and Input(f"page_views/day={views.day}", views.digest) in totals.inputs
    )
