"""A real set in the hands of its judges: what was published on a day, and what came of it.

Here: what the parts of `real_predictions` share. Not here: what they ask.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmarks.real_lives import Lives, lives_of
from benchmarks.real_sets import Built, RealSet, edges_of
from benchmarks.real_visits import times_of

Int64s = NDArray[np.int64]
Flags = NDArray[np.bool_]

MIN_CLIENTS: Final = 5
"""Baselines publish no more than we do: `privacy.min_clients`."""


@dataclass(frozen=True, slots=True)
class Links:
    """Clicks between pages, as rows of the lives."""

    referrer: Int64s
    target: Int64s
    day: Int64s
    clients: Int64s

    def take(self, rows: Flags) -> Links:
        """Return some of them."""
        return Links(self.referrer[rows], self.target[rows], self.day[rows], self.clients[rows])


@dataclass
class Judged:
    """A set, built."""

    real: RealSet
    built: Built
    visits: pa.Table
    lives: Lives
    data: Path
    _made: set[tuple[str, dt.date]] = field(default_factory=set)
    _links: Links | None = None

    @property
    def window_days(self) -> int:
        """Length of the window."""
        return self.built.settings.window.days

    def decisions(self, most: int | None = None) -> Sequence[dt.date]:
        """Return the days on which something is decided, evenly fewer where there are too many."""
        days = self.built.decisions
        if most is None or len(days) <= most:
            return days
        places = np.unique(np.round(np.linspace(0, len(days) - 1, most)).astype(int))
        return [days[place] for place in places]

    def table(self, name: str, day: dt.date) -> pa.Table:
        """Return the published rows of a window asset, made on the first request."""
        if (name, day) not in self._made:
            self._made |= {
                (asset_day, day) for asset_day in self.built.make([name], day, self._made)
            }
        return self.built.store.read(name, day)

    def day(self, day: dt.date) -> int:
        """Return the number of a day, from 0."""
        return self.lives.day_number(day)

    def first(self, day: dt.date) -> int:
        """Return the number of the first day of its window; not before there is data."""
        return max(self.day(day) - self.window_days + 1, 0)

    def born_after(self, day: dt.date) -> Flags:
        """Return which pages were born in the days of the horizon, and have a known truth."""
        ahead = self.lives.birth - self.day(day)
        return (ahead > 0) & (ahead <= self.real.horizon) & self.lives.is_known

    @property
    def links(self) -> Links:
        """All clicks from page to page."""
        if self._links is None:
            edges = edges_of(self.visits)
            ends = (self.lives.find(edges.referrer), self.lives.find(edges.target))
            are_pages = (ends[0] >= 0) & (ends[1] >= 0)
            self._links = Links(*ends, edges.day, edges.clients).take(are_pages)
        return self._links

    def public_pages(self, day: dt.date) -> Flags:
        """Return which pages enough clients opened within the window."""
        time = times_of(self.visits).astype("datetime64[D]")
        number = (time - np.datetime64(self.lives.first_day)).astype(np.int64)
        inside = (number >= self.first(day)) & (number <= self.day(day))
        rows = self.visits.filter(pa.array(inside)).group_by("url")
        counted = rows.aggregate([("client", "count_distinct")])
        public = counted.filter(pc.greater_equal(counted["client_count_distinct"], MIN_CLIENTS))
        result = np.zeros(len(self.lives.urls), np.bool_)
        result[self.lives.find(public["url"].to_pylist())] = True
        return result

    def units(self, page: Int64s) -> Int64s:
        """Return a number for the site and the day of birth of each page.

        Pages of one site that were born on one day meet the same readers, front page and news, and
        stand or fall together.
        """
        names, site = np.unique(self._sites, return_inverse=True)
        return np.asarray(self.lives.birth[page] * len(names) + site[page])

    @cached_property
    def _sites(self) -> NDArray[np.str_]:
        return np.array([site_of(url) for url in self.lives.urls.tolist()], np.str_)

    def labelled(self, day: dt.date, column: str = "is_temporal") -> tuple[Int64s, Flags]:
        """Return pages of the day's `page_labels` and one of its flags."""
        rows = self.table("page_labels", day)
        page = self.lives.find(rows["url"].to_pylist())
        return page, rows[column].to_numpy(zero_copy_only=False).astype(np.bool_)


@contextmanager
def judged(real: RealSet, data: Path, keep: Path | None = None) -> Iterator[Judged]:
    """Build a set and follow its pages."""
    visits = real.visits(data)
    with real.built(data, keep) as built:
        yield Judged(real, built, visits, lives_of(visits), data)


def folder_of(url: str) -> str:
    """Return the host and first folder of a URL, as one writes it in a line."""
    parts = url.split("/")
    return "/".join(parts[2:4]) if len(parts) > 4 else parts[2]


def site_of(url: str) -> str:
    """Return the host of a URL."""
    return url.split("/")[2]
