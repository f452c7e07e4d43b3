"""`page_histories`: views by day of the reliable pages, those with enough views."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets import contracts
from temporal_assets.engines.arrow_texts import with_encoded
from temporal_assets.engines.batches import in_order
from temporal_assets.storage.reader import Window
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.pages.page_days import PageDays, lists, walk, with_views
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS

_SCHEMA: Final = with_encoded(contracts.PAGE_HISTORIES.arrow_schema, "site")
"""Schema of the result; sites are dictionary-encoded, so that their names are not copied per
page."""


def least_views(per_day: float, days: int) -> int:
    """Return the total views that a page needs in `days` days for an average of `per_day`."""
    # Exactly what is written: 0.1 a day are 3 views in 30 days, and not a little more than 3.
    return ceil(Decimal(repr(per_day)) * days)


def _make(job: Job) -> Sequence[Path]:
    return _walked(job) or _asked(job)


def _walked(job: Job) -> Sequence[Path] | None:
    """Return the files made by a walk along the window; None if there is no such walk."""
    window = job.window("page_views")
    page_days = walk(job, window.manifests, with_views(_least(job, window)))
    if page_days is None:
        return None
    rows = partial(_rows, job=job, observed_from=window.present[0])
    tables = in_order(rows, page_days, job.settings.engine.used_threads)
    reader = pa.RecordBatchReader.from_batches(
        _SCHEMA, (batch for table in tables for batch in table.to_batches())
    )
    written = job.engine.write(reader, job.asset.table, job.out)
    return written if page_days.agrees else None


def _rows(page_days: PageDays, job: Job, observed_from: dt.date) -> pa.Table:
    """Return the rows of some pages, with 0 views on days that are missing."""
    pages, days = page_days.pages, job.settings.window.days
    views = np.zeros((len(pages), days), np.int32)
    views[:, [(day - job.first).days for day in job.present("page_views")]] = page_days.views
    columns = {
        "day": pa.repeat(pa.scalar(job.day, pa.date32()), len(pages)),
        **{name: pages[name] for name in ("site", "url", "birth", "total")},
        "views": lists(views),
        "is_born_before": pc.less_equal(pages["birth"], pa.scalar(observed_from)),
    }
    return pa.table(columns, _SCHEMA)


def _least(job: Job, window: Window) -> int:
    # A missing day is no day without readers.
    return least_views(job.settings.window.min_views_per_day, len(window.present))


def _asked(job: Job) -> Sequence[Path]:
    """Return files made by SQL: on a cluster, and for windows longer than the bits of `seen`."""
    window = job.window("page_views")
    inputs = {"page_totals": job.files("page_totals"), "page_views": list(window.files)}
    parameters: dict[str, Any] = {
        "day": job.day,
        "first": job.first,
        "observed_from": window.present[0],
        "days": job.settings.window.days,
        "least": _least(job, window),
    }
    return job.engine.query("page_histories", inputs, parameters, job.asset.table, job.out)


PAGE_HISTORIES: Final = WindowAsset(
    "page_histories",
    _make,
    windows=("page_views",),
    tables=(PAGE_TOTALS,),
    sql=("page_histories",),
    settings=lambda settings: [settings.window.days, settings.window.min_views_per_day],
)
