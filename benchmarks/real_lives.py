"""Lives of real pages: the truth that every decision is judged by.

A page's life begins with its first visit in the whole set and is followed for `LIFE` days, or as
long as the set lasts. It is temporal if more than 70 % of the views of that life (distinct clients
of a day) fell within its first three days: by calendar days, as the product counts, or within
exactly 72 hours of its first visit. A life of fewer than `LEAST_DAYS` days says nothing.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.real_visits import times_of

LIFE: Final = 28
LEAST_DAYS: Final = 7
N: Final = 3
Q: Final = 0.7
MANY: Final = 20
"""Views in a life from which on a page is one of the main tables."""
FEW: Final = 3
"""Views in a life below which a share of them says nothing at all."""

Int64s = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Lives:
    """All pages of a set, in the order of their URLs."""

    first_day: dt.date
    days: int
    urls: NDArray[np.str_]
    birth: Int64s
    """Day of the first visit, from 0."""
    views: Int64s
    """pages x LIFE, by day of life; 0 after the end of the set."""
    within_hours: Int64s
    """Views within exactly 72 hours of the first visit."""

    @property
    def lived(self) -> Int64s:
        """Days of life that can be seen, LIFE at most."""
        return np.minimum(self.days - self.birth, LIFE)

    @property
    def total(self) -> Int64s:
        """Views of the life."""
        return np.asarray(self.views.sum(axis=1))

    @property
    def is_known(self) -> Flags:
        """Return whether the life is long enough to tell, with views enough to be counted."""
        return (self.lived >= LEAST_DAYS) & (self.total >= FEW)

    @property
    def has_many(self) -> Flags:
        """Return whether there are views enough for the main tables."""
        return self.total >= MANY

    @property
    def by_days(self) -> Flags:
        """Temporal by calendar days."""
        return np.asarray(self.views[:, :N].sum(axis=1) > Q * self.total)

    @property
    def by_hours(self) -> Flags:
        """Temporal by exactly 72 hours."""
        return self.within_hours > Q * self.total

    def day_number(self, day: dt.date) -> int:
        """Return the number of a day, from 0."""
        return (day - self.first_day).days

    def find(self, urls: Any) -> Int64s:
        """Return the row of each URL, -1 for those that are not there."""
        wanted = np.asarray(urls, np.str_)
        if not len(wanted):
            return np.zeros(0, np.int64)
        place = np.minimum(np.searchsorted(self.urls, wanted), len(self.urls) - 1)
        return np.where(self.urls[place] == wanted, place, -1)


def lives_of(visits: pa.Table) -> Lives:
    """Follow every page of a set."""
    time = times_of(visits)
    first = time[0].astype("datetime64[D]")
    day = (time.astype("datetime64[D]") - first).astype(np.int64)
    url, client = (visits[name].combine_chunks().dictionary_encode() for name in ("url", "client"))
    names = np.array(url.dictionary.to_pylist(), np.str_)
    order = np.argsort(names)
    page = np.argsort(order)[url.indices.to_numpy()]
    # The first visit of each client to each page on each day is its view.
    keys = (page * (int(day.max()) + 1) + day) * len(client.dictionary) + client.indices.to_numpy()
    _, rows = np.unique(keys, return_index=True)
    page, day, time = page[rows], day[rows], time[rows]
    opened = np.full(len(names), time.max(), time.dtype)
    np.minimum.at(opened, page, time)
    birth = (opened.astype("datetime64[D]") - first).astype(np.int64)
    age = day - birth[page]
    inside = age < LIFE
    views = np.zeros((len(names), LIFE), np.int64)
    np.add.at(views, (page[inside], age[inside]), 1)
    soon = time - opened[page] < np.timedelta64(N, "D").astype("timedelta64[us]")
    within = np.bincount(page[soon], minlength=len(names))
    return Lives(first.astype(dt.date), int(day.max()) + 1, names[order], birth, views, within)
