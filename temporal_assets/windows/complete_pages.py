"""Pages whose kind is known by now: what early labels are learned from.

Here: finding them, and their first days as arrays. Not here: what is learned (`core.early`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from temporal_assets.contracts import ColumnSpec, Type, passing
from temporal_assets.contracts.early_labels import YOUNG_DAYS
from temporal_assets.core.page_section import sections_of
from temporal_assets.engines.arrow_texts import from_arrow, to_arrow
from temporal_assets.engines.base import Engine

_UNSEEN_DAYS: Final = 7
"""A page counts as born when nobody opened it on the first days of the window; one that was read
before with pauses of more than a week passes for new now as then."""

FIRST_DAYS: Final = 2 * YOUNG_DAYS
"""Days of a life that are kept: thinned copies may begin later than their pages."""

_MOST: Final = 20_000
"""Pages learned from, chosen by a digest of their URL: more change nothing but the time."""

COMPLETE_PAGES: Final = passing(
    name="complete_pages",
    description="Reliable pages seen long enough for their labels.",
    grain="url",
    columns=(
        ColumnSpec("site", Type.VARCHAR, "Host of `url`."),
        ColumnSpec("url", Type.VARCHAR, "Canonical URL of the page."),
        ColumnSpec("born", Type.BIGINT, "Day of birth; 0 is the first of the window."),
        ColumnSpec("views", Type.INTEGERS, "By day of the window."),
        ColumnSpec("is_temporal", Type.BOOLEAN, "By curve."),
        ColumnSpec("q", Type.DOUBLE, "Accumulated interest above which it is temporal."),
        ColumnSpec("m", Type.BIGINT, "First days that concentration compares."),
        ColumnSpec("p", Type.DOUBLE, "Concentration above which it is news."),
    ),
)


@dataclass(frozen=True, slots=True)
class CompletePages:
    """One row per page, in the order of their births."""

    first_views: NDArray[np.float64]
    """pages x FIRST_DAYS, from the day of birth on, missing days left out."""
    born: NDArray[np.int64]
    is_temporal: NDArray[np.bool_]
    sites: NDArray[Any]
    sections: NDArray[Any]
    q: NDArray[np.float64]
    m: NDArray[np.int64]
    p: NDArray[np.float64]

    def __len__(self) -> int:
        """Pages."""
        return len(self.born)

    def take(self, rows: slice) -> CompletePages:
        """Some of them."""
        return CompletePages(*(getattr(self, one.name)[rows] for one in fields(self)))


def complete_pages(
    engine: Engine,
    inputs: Mapping[str, Sequence[str]],
    observed: NDArray[np.bool_],
    first: dt.date,
    complete_days: int,
    out: Path,
) -> CompletePages:
    """Pages of a window that have been seen for at least `complete_days` days.

    Args:
        engine: What runs the query.
        inputs: `page_histories` and `page_labels` of one day.
        observed: For each day of the window, whether it is there.
        first: First day of the window.
        complete_days: Days from birth to the end of the window, inclusive.
        out: A folder for files that are not published.
    """
    last = first + dt.timedelta(days=len(observed) - 1)
    parameters = {
        "first": first,
        "born_from": first + dt.timedelta(days=_UNSEEN_DAYS),
        "born_until": last - dt.timedelta(days=max(complete_days, FIRST_DAYS) - 1),
        "most": _MOST,
    }
    written = engine.query("complete_pages", inputs, parameters, COMPLETE_PAGES, out)
    table = pq.read_table(written, partitioning=None).sort_by(
        [("born", "ascending"), ("url", "ascending")]
    )
    return _pages(table, observed)


def _pages(table: pa.Table, observed: NDArray[np.bool_]) -> CompletePages:
    views = table.column("views").combine_chunks().flatten().to_numpy(zero_copy_only=False)
    born = table.column("born").to_numpy()
    urls = table.column("url").combine_chunks()
    return CompletePages(
        _first_days(views.reshape(len(table), len(observed)), born, observed),
        born,
        table.column("is_temporal").to_numpy(),
        np.array(table.column("site").to_pylist(), np.str_),
        np.array(to_arrow(sections_of(from_arrow(urls))).to_pylist(), np.str_),
        *(table.column(name).to_numpy() for name in ("q", "m", "p")),
    )


def _first_days(
    views: NDArray[np.int32], born: NDArray[np.int64], observed: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Views on the first observed days of each life; 0 beyond the end of the window."""
    there = np.pad(views[:, observed], ((0, 0), (0, FIRST_DAYS)))
    start = np.append(0, np.cumsum(observed))[born]
    columns = start[:, None] + np.arange(FIRST_DAYS)
    return there[np.arange(len(views))[:, None], columns].astype(np.float64)
