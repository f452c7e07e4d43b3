"""Wanted pages: the temporal and young pages that hubs should lead to, with facts about each.

Here: the SQL statement with its parameters, and the same in arrays, in the order of the window.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.contracts import ColumnSpec, Type, passing
from temporal_assets.contracts.labels.early_labels import YOUNG_DAYS
from temporal_assets.core.hubs.yields import UNIT, known_births
from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.frame.days import observed_days
from temporal_assets.windows.frame.page_rows import read_in_step
from temporal_assets.windows.hubs.link_graph import paths
from temporal_assets.windows.pages.page_histories import least_views

_YOUNG_SHARE: Final = 32
"""A young page is wanted from this part (1 / 32) of the views of a reliable page on: a page opened
three times will hardly get a label, and there are many such pages."""

FACTS: Final = (
    ColumnSpec("worth", Type.BIGINT, "Probability that it is temporal, in millionths."),
    ColumnSpec("is_temporal", Type.BOOLEAN, "It is labelled so."),
    ColumnSpec("born", Type.BIGINT, "Day of the window, from 0; -1 if not known."),
    ColumnSpec("views", Type.BIGINT, "Views within the window, of temporal pages."),
    ColumnSpec("one_day", Type.BIGINT, "Of complete ones, views on the first day."),
    ColumnSpec("two_days", Type.BIGINT, "On the first two."),
    ColumnSpec("three_days", Type.BIGINT, "On the first three."),
    ColumnSpec("all_days", Type.BIGINT, "All of them."),
)
"""Columns of a wanted page."""

_WANTED: Final = passing("wanted_pages", "url VARCHAR", *FACTS)
_TABLES: Final = ("page_labels", "page_histories", "early_labels")
_HISTORY: Final = ("url", "birth", "total", "views")
_ROWS_AT_ONCE: Final = 65_536


def _known_births(job: Job) -> Flags:
    return known_births(observed_days(job))


def _parameters(job: Job) -> dict[str, Any]:
    return {
        "first": job.first,
        # One character a day: what every engine can look up.
        "known_births": "".join(
            "1" if is_known_day else "0" for is_known_day in _known_births(job)
        ),
        "least_views": -(-_least(job) // _YOUNG_SHARE),
        "complete_days": YOUNG_DAYS,
    }


def _least(job: Job) -> int:
    days = len(job.window("page_views").present)
    return least_views(job.settings.window.min_views_per_day, days)


def wanted_pages(job: Job) -> list[str]:
    """Return the files of the wanted pages, by URL."""
    inputs = {name: job.files(name) for name in _TABLES}
    return paths(job.engine.query("wanted_pages", inputs, _parameters(job), _WANTED, job.out))


class Wanted(NamedTuple):
    """Wanted pages of a window, in its order; the columns are those of `FACTS`."""

    place: Int64s
    """Position of each among all pages of the window."""
    worth: Int64s
    is_temporal: Flags
    born: Int64s
    views: Int64s
    one_day: Int64s
    two_days: Int64s
    three_days: Int64s
    all_days: Int64s


def wanted_by_place(job: Job) -> Wanted | None:
    """Return the wanted pages as arrays, or None where the tables do not have the same pages."""
    totals = ParquetRows(job.files("page_totals"))
    views, birth = totals.numbers("total", np.int64), totals.array(("birth",), _days, np.int64)
    reliable = np.flatnonzero(views >= _least(job))
    first_young = max(job.day - dt.timedelta(days=YOUNG_DAYS - 1), job.first)
    young = np.flatnonzero(birth >= _day_number(first_young))
    early = ParquetRows(job.files("early_labels"))
    if len(young) != len(early):
        return None
    worth = early.array(("probability",), _worth, np.int64)
    temporal = _temporal(job)
    if temporal is None or len(temporal.is_temporal) != len(reliable):
        return None
    return _joined(job, views, birth, reliable, young, worth, temporal)


class _Lives(NamedTuple):
    """Views in the first days of temporal pages, and which of all with a history these are."""

    is_temporal: Flags
    views: Int64s
    by_day: Int64s
    """Shape (pages, 3): views on the day of birth and the next two."""


def _temporal(job: Job) -> _Lives | None:
    days = job.settings.window.days
    files = {name: job.files(name) for name in ("page_labels", "page_histories")}
    columns = {"page_labels": ("url", "is_temporal"), "page_histories": _HISTORY}

    def read() -> Iterator[_Lives]:
        for labels, lives in read_in_step(files, columns, _ROWS_AT_ONCE):
            is_temporal = labels["is_temporal"].fill_null(False)
            temporal = lives.filter(is_temporal)
            by_day = temporal["views"].combine_chunks().flatten().to_numpy().reshape(-1, days)
            born = _days(temporal) - _day_number(job.first)
            padded = np.pad(by_day, ((0, 0), (0, 2)))
            first = np.take_along_axis(padded, born[:, None] + np.arange(3), axis=1)
            yield _Lives(
                is_temporal.to_numpy(),
                temporal["total"].to_numpy(),
                first.astype(np.int64),
            )

    parts = [*read()]
    if not parts:
        return None
    return _Lives(*(np.concatenate(some) for some in zip(*parts, strict=True)))


def _joined(
    job: Job,
    views: Int64s,
    birth: Int64s,
    reliable: Int64s,
    young: Int64s,
    worth: Int64s,
    lives: _Lives,
) -> Wanted:
    """Return temporal and young pages together, in the order of the window."""
    least = int(_parameters(job)["least_views"])
    is_wanted = np.zeros(len(views), np.bool_)
    is_wanted[reliable[lives.is_temporal]] = True
    counts = views[young] >= least
    is_wanted[young[counts]] = True
    place = np.flatnonzero(is_wanted)
    at = np.full(len(views), -1, np.int32)
    at[place] = np.arange(len(place), dtype=np.int32)
    worths = np.full(len(place), UNIT, np.int64)
    worths[at[young[counts]]] = worth[counts]
    temporal = at[reliable[lives.is_temporal]]
    is_temporal = np.zeros(len(place), np.bool_)
    is_temporal[temporal] = True
    day = birth[place] - _day_number(job.first)
    known_births = _known_births(job)
    is_known = known_births[day]
    is_complete = is_temporal & is_known & (day + YOUNG_DAYS <= len(known_births))
    total, first = np.zeros(len(place), np.int64), np.zeros((len(place), 3), np.int64)
    total[temporal] = lives.views
    first[temporal] = lives.by_day
    summed = np.where(is_complete[:, None], np.cumsum(first, axis=1), 0)
    return Wanted(
        place,
        worths,
        is_temporal,
        np.where(is_known, day, -1),
        total,
        summed[:, 0],
        summed[:, 1],
        summed[:, 2],
        np.where(is_complete, total, 0),
    )


def number_of_places(wanted: Wanted, pages: int) -> Int32s:
    """Return, for each page of the window, its number among the wanted pages, or -1."""
    number = np.full(pages, -1, np.int32)
    number[wanted.place] = np.arange(len(wanted.place), dtype=np.int32)
    return number


def _days(block: pa.Table) -> Int64s:
    return np.asarray(block["birth"].cast(pa.int32()).to_numpy(), np.int64)


def _worth(block: pa.Table) -> Int64s:
    filled = pc.fill_null(block["probability"], 0.5).to_numpy()
    # As SQL rounds: halves away from zero.
    return np.asarray(np.floor(filled * UNIT + 0.5), np.int64)


def _day_number(day: dt.date) -> int:
    return (day - dt.date(1970, 1, 1)).days
