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
from temporal_assets.core.curves import Curves, Options, Reason, fit
from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.days import observed_days
from temporal_assets.windows.page_histories import PAGE_HISTORIES

_BATCH_PAGES: Final = 4096
"""Pages a thread fits at once: a tenth of a second, and a few megabytes."""

_NAMES: Final = {"phi_n_low": "phi_low", "phi_n_high": "phi_high"}
"""Columns that have another name in `core`."""


def fit_batch(
    batch: pa.RecordBatch, options: Options, observed: NDArray[np.bool_]
) -> pa.RecordBatch:
    """Rows of `interest_curves` for rows of `page_histories`."""
    views = batch.column("views").flatten().to_numpy().reshape(len(batch), len(observed))
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
    kernel = partial(fit_batch, options=options, observed=observed_days(job))
    inputs = {"page_histories": job.files("page_histories")}
    return job.engine.apply(kernel, inputs, job.asset.table, job.out, _BATCH_PAGES)


INTEREST_CURVES: Final = WindowAsset(
    "interest_curves",
    _make,
    windows=("page_views",),  # which of the days are there
    tables=(PAGE_HISTORIES,),
    settings=lambda settings: [
        settings.window.days,
        settings.curves.method,
        settings.curves.base,
        settings.labels.n,
    ],
)
