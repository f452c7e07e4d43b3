"""`interest_curves`: the curve of every page with a history (TW 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from temporal_assets import contracts
from temporal_assets.contracts import passing
from temporal_assets.core.curves.curves import Curves, Options, Reason, fit
from temporal_assets.core.curves.weekdays import weekday_factors
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.frame.days import observed_days
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES

BATCH_PAGES: Final = 4096
"""Pages a thread fits at once: a tenth of a second, and a few megabytes."""

_DAY_BIT: Final = 40
"""In `site_days`, the low 40 bits hold the views of the site, the higher bits the index of the
day."""

_WEEKLY_HISTORIES: Final = passing(
    "weekly_histories", "day DATE, site VARCHAR, url VARCHAR, views INTEGER[], site_days BIGINT[]"
)

_REASONS: Final = [reason.name.lower() for reason in Reason]
"""Names of the reasons, indexed by their codes."""

_NAMES: Final = {"phi_n_low": "phi_low", "phi_n_high": "phi_high"}
"""Columns that have another name in `core`."""


def fit_batch(
    batch: pa.RecordBatch, options: Options, observed: NDArray[np.bool_], first_weekday: int
) -> pa.RecordBatch:
    """Fit the curves of a batch of pages and return their rows of `interest_curves`.

    Args:
        batch: Rows of `page_histories`; of `weekly_histories`, if views are to be divided by the
            weekday factors of their sites first.
        options: Method and n of the fit.
        observed: For each day of the window, True if it is published.
        first_weekday: Weekday of the window's first day, 0 for Monday.
    """
    views = batch.column("views").flatten().to_numpy().reshape(len(batch), len(observed))
    if "site_days" in batch.schema.names:
        views = views / _weekdays(batch, observed, first_weekday)
    # The engine has threads of its own.
    curves = fit(views, options, observed=observed, workers=1)
    columns = {
        "day": batch.column("day"),
        "site": batch.column("site"),
        "url": batch.column("url"),
        **_numbers(curves),
        "is_converged": pa.array(curves.converged),
        "reason": pa.array(_REASONS).take(pa.array(curves.reason)),
        "method": pa.repeat(pa.scalar(options.method), len(batch)),
    }
    schema = contracts.INTEREST_CURVES.arrow_schema
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _numbers(curves: Curves) -> dict[str, pa.Array]:
    """Return the numeric columns; parameters of a curve that did not converge are NULL.

    Interest is known without a curve where all views are on one day, and is kept there.
    """
    of_curve = ("amplitude", "b", "mu", "sigma", "objective", "goodness")
    of_interest = ("phi_1", "phi_n", "phi_n_low", "phi_n_high")
    certain_rows = dict.fromkeys(of_curve, curves.converged) | dict.fromkeys(
        of_interest, curves.tells_interest
    )
    return {
        name: pa.array(getattr(curves, _NAMES.get(name, name)), mask=~rows)
        for name, rows in certain_rows.items()
    }


def _make(job: Job) -> Sequence[Path]:
    """Fit the curves of all histories, without weekdays if the settings say so."""
    settings = job.settings
    options = Options(settings.curves.method, settings.labels.n)
    observed = observed_days(job)
    kernel = partial(
        fit_batch, options=options, observed=observed, first_weekday=job.first.weekday()
    )
    inputs = {"page_histories": job.files("page_histories")}
    if settings.curves.weekdays == "remove":
        written = job.engine.query(
            "weekly_histories", inputs, {"days": len(observed)}, _WEEKLY_HISTORIES, job.out
        )
        inputs = {"weekly_histories": [str(path) for path in written]}
    return job.engine.apply(kernel, inputs, job.asset.table, job.out, BATCH_PAGES)


def _weekdays(
    batch: pa.RecordBatch, observed: NDArray[np.bool_], first_weekday: int
) -> NDArray[np.float64]:
    """Return the weekday factor of each page's site on each day, shape (pages, days)."""
    sites = batch.column("site").to_numpy(zero_copy_only=False)
    _, pages, of = np.unique(sites, return_index=True, return_inverse=True)
    days = batch.column("site_days").take(pa.array(pages)).flatten().to_numpy()
    totals = (days & ((1 << _DAY_BIT) - 1)).reshape(len(pages), len(observed))
    weekday = (first_weekday + np.arange(len(observed))) % 7
    factors = [
        weekday_factors(views_of_page, first_weekday, observed=observed)[weekday]
        for views_of_page in totals
    ]
    return np.array(factors).reshape(totals.shape)[of]


INTEREST_CURVES: Final = WindowAsset(
    "interest_curves",
    _make,
    days=("page_views",),
    tables=(PAGE_HISTORIES,),
    sql=("weekly_histories",),
    settings=lambda settings: [
        settings.window.days,
        settings.curves.method,
        settings.curves.weekdays,
        settings.labels.n,
    ],
)
