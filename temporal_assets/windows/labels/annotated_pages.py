"""Annotated pages in a window: their views and curves, and the pages without any.

Here: the lookup. Not here: reading the file of annotations (`logs.tables.annotations`), choosing
thresholds by them (`calibration`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from temporal_assets.contracts import passing
from temporal_assets.core.labels.score_grid import FittedCurves
from temporal_assets.core.text.page_section import SECTION
from temporal_assets.engines.parquet_rows import whole_table
from temporal_assets.logs.tables.annotations import AnnotatedPage
from temporal_assets.windows.frame.asset import Job

ANNOTATED_PAGES: Final = passing(
    "annotated_pages",
    "line BIGINT, url VARCHAR, section VARCHAR, is_temporal BOOLEAN, site VARCHAR,"
    " total BIGINT, views INTEGER[], mu DOUBLE, sigma DOUBLE, is_one_day BOOLEAN",
)

_ANNOTATED: Final = pa.schema({"line": pa.int64(), "url": pa.string(), "is_temporal": pa.bool_()})


@dataclass(frozen=True, slots=True)
class Found:
    """Annotated pages of a window; arrays have a row for each page with a history."""

    urls: tuple[str, ...]
    sites: tuple[str, ...]
    sections: tuple[str, ...]
    is_temporal: NDArray[np.bool_]
    views: NDArray[np.int64]
    curves: FittedCurves
    unread: tuple[str, ...]
    """Pages that nobody opened in the window."""
    rare: tuple[str, ...]
    """Pages with too few views to be relied on."""


def look_up(job: Job, pages: Sequence[AnnotatedPage]) -> Found:
    """Look the pages up in `page_totals`, `page_histories` and `interest_curves` of the job."""
    rows = [{"line": p.line, "url": p.url, "is_temporal": p.is_temporal} for p in pages]
    listed = job.out / "annotated.parquet"
    pq.write_table(pa.Table.from_pylist(rows, _ANNOTATED), listed)
    inputs = {
        "annotated": [str(listed)],
        **{name: job.files(name) for name in ("page_totals", "page_histories", "interest_curves")},
    }
    written = job.engine.query(
        "annotated_pages", inputs, {"section": SECTION}, ANNOTATED_PAGES, job.out
    )
    return _found(whole_table(written), job.settings.window.days)


def _found(table: pa.Table, days: int) -> Found:
    """Return annotated pages with their views and curves, and URLs of the rest."""
    viewed = table.filter(table.column("views").is_valid())
    views = viewed.column("views").combine_chunks().flatten().to_numpy(zero_copy_only=False)
    mu, sigma = (
        viewed.column(name).to_numpy().astype(np.float64)  # NULL becomes NaN
        for name in ("mu", "sigma")
    )
    is_one_day = viewed.column("is_one_day").to_numpy()
    rest = table.filter(table.column("views").is_null())
    return Found(
        urls=tuple(viewed.column("url").to_pylist()),
        sites=tuple(viewed.column("site").to_pylist()),
        sections=tuple(viewed.column("section").to_pylist()),
        is_temporal=viewed.column("is_temporal").to_numpy(),
        views=views.reshape(len(viewed), days).astype(np.int64),
        curves=FittedCurves(mu, sigma, is_one_day),
        unread=_urls(rest.filter(rest.column("total").is_null())),
        rare=_urls(rest.filter(rest.column("total").is_valid())),
    )


def _urls(table: pa.Table) -> tuple[str, ...]:
    return tuple(table.column("url").to_pylist())
