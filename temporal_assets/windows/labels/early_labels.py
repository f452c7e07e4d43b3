"""`early_labels`: probability that a page born in the last days will turn out temporal."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from temporal_assets import contracts
from temporal_assets.core.labels.early import Early, learn
from temporal_assets.engines.batches import in_order
from temporal_assets.settings import Settings
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.labels.first_days import (
    COMPLETE_DAYS,
    FIRST_DAYS,
    KnownPages,
    batches,
    first_days,
    missing_days,
    sections,
    views_of,
)
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS

_BATCH_PAGES: Final = 16_384


def learn_from(pages: KnownPages, settings: Settings) -> Early:
    """Learn the model of early labels from known pages, however few they are."""
    labels = settings.labels
    return learn(
        *(pages.first_views, pages.is_temporal, pages.sites, pages.sections),
        seen_days=pages.seen_days,
        cut=labels.q,
        n_days=math.ceil(labels.n),
    )


def judge_batch(
    batch: pa.RecordBatch, model: Early, day: dt.date, missing: NDArray[np.datetime64]
) -> pa.RecordBatch:
    """Return rows of `early_labels` for rows of FIRST_DAYS."""
    section = sections(batch.column("url"))
    prior = _prior(model, batch.column("site"), section)
    days = len(batch["views"][0]) if len(batch) else 0
    views = views_of(batch, days, missing)
    probability = model.given(views, batch.column("age").to_numpy(), prior)
    learned_from = model.learned_from
    unknown = np.full(len(batch), learned_from == 0)
    basis = "nothing" if learned_from == 0 else "views" if model.knows_views else "history"
    columns = {
        "day": pa.repeat(pa.scalar(day, pa.date32()), len(batch)),
        **{name: batch.column(name) for name in FIRST_DAYS.column_names if name != "views"},
        "section": section,
        "probability": pa.array(probability, mask=unknown),
        "prior": pa.array(prior, mask=unknown),
        "basis": pa.repeat(pa.scalar(basis), len(batch)),
        "learned_from": pa.repeat(pa.scalar(learned_from, pa.int64()), len(batch)),
    }
    schema = contracts.EARLY_LABELS.arrow_schema
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _prior(model: Early, sites: pa.Array, sections: pa.Array) -> NDArray[np.float64]:
    """Return the prior of each page, looked up once per section, because lookups are slow."""
    site, section = sites.dictionary_encode(), sections.dictionary_encode()
    pairs = section.indices.to_numpy().astype(np.int64) * len(site.dictionary)
    _, pages, of = np.unique(
        pairs + site.indices.to_numpy(), return_index=True, return_inverse=True
    )
    names = (
        np.array(texts.take(pa.array(pages)).to_pylist(), np.str_) for texts in (sites, sections)
    )
    return model.prior.of(*names)[of]


def _make(job: Job) -> Sequence[Path]:
    """Learn from known pages, judge young ones in batches, and write the table."""
    known_pages, young = first_days(job)
    model = learn_from(known_pages, job.settings)
    judge = partial(judge_batch, model=model, day=job.day, missing=missing_days(job))
    judged = in_order(judge, batches(young, _BATCH_PAGES), job.settings.engine.used_threads)
    table = job.asset.table
    return job.engine.write(
        pa.RecordBatchReader.from_batches(table.arrow_schema, judged), table, job.out
    )


EARLY_LABELS: Final = WindowAsset(
    "early_labels",
    _make,
    windows=("page_views",),
    tables=(PAGE_TOTALS, PAGE_LABELS),
    sql=("first_days",),
    settings=lambda settings: [
        settings.window.days,
        COMPLETE_DAYS,
        settings.labels.n,
        settings.labels.q,
        settings.labels.thresholds,
    ],
)
