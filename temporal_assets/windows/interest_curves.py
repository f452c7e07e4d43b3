"""`interest_curves`: the curve of every page with a history (TW 4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from temporal_assets import contracts
from temporal_assets.contracts import ColumnSpec, Table, Type
from temporal_assets.core.curves import Curves, Options, Reason, fit
from temporal_assets.core.weekdays import weekday_factors
from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.days import observed_days
from temporal_assets.windows.page_histories import PAGE_HISTORIES

BATCH_PAGES: Final = 4096
"""Pages a thread fits at once: a tenth of a second, and a few megabytes."""

SITE_DAYS: Final = Table(
    name="site_days",
    version=1,
    description="Views of sites by day of the window; lives within one build.",
    grain="site, place",
    columns=(
        ColumnSpec("site", Type.VARCHAR, "Host."),
        ColumnSpec("place", Type.BIGINT, "Day of the window, from 0."),
        ColumnSpec("views", Type.BIGINT, "Views of its reliable pages."),
    ),
)

_NAMES: Final = {"phi_n_low": "phi_low", "phi_n_high": "phi_high"}
"""Columns that have another name in `core`."""


def fit_batch(
    batch: pa.RecordBatch,
    options: Options,
    observed: NDArray[np.bool_],
    weekdays: Mapping[str, NDArray[np.float64]],
) -> pa.RecordBatch:
    """Rows of `interest_curves` for rows of `page_histories`.

    `weekdays` are, by site, the factors its views are divided by on each day of the window; a site
    without any keeps them.
    """
    views = batch.column("views").flatten().to_numpy().reshape(len(batch), len(observed))
    if weekdays:
        even = np.ones(len(observed))
        views = views / np.array([weekdays.get(s, even) for s in batch.column("site").to_pylist()])
    # The engine has threads of its own.
    curves = fit(views, options, observed=observed, workers=1)
    columns = {
        "day": batch.column("day"),
        "site": batch.column("site"),
        "url": batch.column("url"),
        **_numbers(curves),
        "is_converged": pa.array(curves.converged),
        "reason": pa.array([Reason(code).name.lower() for code in curves.reason], pa.string()),
        "method": pa.repeat(pa.scalar(options.method), len(batch)),
    }
    schema = contracts.INTEREST_CURVES.arrow_schema
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _numbers(curves: Curves) -> dict[str, pa.Array]:
    """A curve that is no best one is NULL; what all views on one day say of interest is not."""
    told = curves.converged | (curves.reason == Reason.ONE_DAY)
    of_curve = ("amplitude", "base", "b", "mu", "sigma", "objective", "goodness")
    of_interest = ("phi_1", "phi_n", "phi_n_low", "phi_n_high")
    known = dict.fromkeys(of_curve, curves.converged) | dict.fromkeys(of_interest, told)
    return {
        name: pa.array(getattr(curves, _NAMES.get(name, name)), mask=~rows)
        for name, rows in known.items()
    }


def _make(job: Job) -> Sequence[Path]:
    settings = job.settings
    options = Options(settings.curves.method, settings.curves.base, settings.labels.n)
    observed = observed_days(job)
    weekdays = _weekdays(job, observed) if settings.curves.weekdays == "remove" else {}
    kernel = partial(fit_batch, options=options, observed=observed, weekdays=weekdays)
    inputs = {"page_histories": job.files("page_histories")}
    return job.engine.apply(kernel, inputs, job.asset.table, job.out, BATCH_PAGES)


def _weekdays(job: Job, observed: NDArray[np.bool_]) -> dict[str, NDArray[np.float64]]:
    """By site, its weekday factor on each day of the window."""
    inputs = {"page_histories": job.files("page_histories")}
    written = job.engine.query("site_days", inputs, {"days": len(observed)}, SITE_DAYS, job.out)
    table = pq.read_table(written)
    # Every site has a row for every day.
    total = table.column("views").to_numpy().reshape(-1, len(observed))
    sites = table.column("site").to_pylist()[:: len(observed)]
    first = job.first.weekday()
    weekday = (first + np.arange(len(observed))) % 7
    return {
        site: weekday_factors(views, first, observed=observed)[weekday]
        for site, views in zip(sites, total, strict=True)
    }


INTEREST_CURVES: Final = WindowAsset(
    "interest_curves",
    _make,
    windows=("page_views",),  # which of the days are there
    tables=(PAGE_HISTORIES,),
    sql=("site_days",),
    settings=lambda settings: [
        settings.window.days,
        settings.curves.method,
        settings.curves.base,
        settings.curves.weekdays,
        settings.labels.n,
    ],
)
