"""`early_labels`: whether pages born in the last days will turn out temporal."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from temporal_assets import contracts
from temporal_assets.contracts import ColumnSpec, Type, passing
from temporal_assets.contracts.early_labels import YOUNG_DAYS
from temporal_assets.core.early import COPIES, Early, learn
from temporal_assets.core.page_section import sections_of
from temporal_assets.engines.arrow_texts import from_arrow, to_arrow
from temporal_assets.engines.base import Kernel
from temporal_assets.engines.batches import even, in_order
from temporal_assets.storage.manifest import Manifest
from temporal_assets.windows.asset import Job, WindowAsset
from temporal_assets.windows.complete_pages import CompletePages, complete_pages
from temporal_assets.windows.days import observed_days
from temporal_assets.windows.page_days import PageDays, born_from, lists, walk
from temporal_assets.windows.page_histories import PAGE_HISTORIES
from temporal_assets.windows.page_labels import PAGE_LABELS
from temporal_assets.windows.page_totals import PAGE_TOTALS

_BATCH_PAGES: Final = 16_384

YOUNG_PAGES: Final = passing(
    name="young_pages",
    description="Pages born in the last days with their views.",
    grain="url",
    columns=(
        ColumnSpec("site", Type.VARCHAR, "Host of `url`."),
        ColumnSpec("url", Type.VARCHAR, "Canonical URL of the page."),
        ColumnSpec("birth", Type.DATE, "First day with views."),
        ColumnSpec("age", Type.BIGINT, "Days seen so far."),
        ColumnSpec("total", Type.BIGINT, "Views so far."),
        ColumnSpec("views", Type.INTEGERS, "By day of life."),
    ),
)


def learn_from(pages: CompletePages) -> Early:
    """What complete pages teach; with few of them, no more than the shares of their sites."""
    return learn(pages.first_views, pages.is_temporal, pages.sites, pages.sections, copies=COPIES)


def judge_batch(
    batch: pa.RecordBatch, model: Early, learned_from: int, day: dt.date
) -> pa.RecordBatch:
    """Rows of `early_labels` for rows of `young_pages`."""
    sections = to_arrow(sections_of(from_arrow(batch.column("url"))))
    prior = _prior(model, batch.column("site"), sections)
    views = batch.column("views").flatten().to_numpy(zero_copy_only=False)
    probability = model.given(
        views.reshape(len(batch), YOUNG_DAYS), batch.column("age").to_numpy(), prior
    )
    unknown = np.full(len(batch), learned_from == 0)
    basis = "nothing" if learned_from == 0 else "views" if model.knows_views else "history"
    columns = {
        "day": pa.repeat(pa.scalar(day, pa.date32()), len(batch)),
        **{name: batch.column(name) for name in YOUNG_PAGES.column_names if name != "views"},
        "section": sections,
        "probability": pa.array(probability, mask=unknown),
        "prior": pa.array(prior, mask=unknown),
        "basis": pa.repeat(pa.scalar(basis), len(batch)),
        "learned_from": pa.repeat(pa.scalar(learned_from, pa.int64()), len(batch)),
    }
    schema = contracts.EARLY_LABELS.arrow_schema
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _prior(model: Early, sites: pa.Array, sections: pa.Array) -> NDArray[np.float64]:
    """The prior of each page, asked for once a section: names are slow to find."""
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
    observed = observed_days(job)
    inputs = {name: job.files(name) for name in ("page_histories", "page_labels")}
    days = job.settings.early.complete_days
    pages = complete_pages(job.engine, inputs, observed, job.first, days, job.out)
    kernel = partial(judge_batch, model=learn_from(pages), learned_from=len(pages), day=job.day)
    made = _walked(job, kernel)
    if made is not None:
        return made
    young = {"young_pages": [str(path) for path in _young(job, observed)]}
    return job.engine.apply(kernel, young, job.asset.table, job.out, _BATCH_PAGES)


def _walked(job: Job, kernel: Kernel) -> Sequence[Path] | None:
    """Judged as they are found on a walk along the window; None where it cannot be walked."""
    last = _last_days(job)
    found = walk(job, last, born_from(_first_young(job)))
    if found is None:
        return None
    rows = partial(_rows, days=np.array([one.day for one in last], "datetime64[D]"))
    batches = (batch for table in map(rows, found) for batch in table.to_batches())
    some = (one.combine_chunks() for one in even(batches, YOUNG_PAGES.arrow_schema, _BATCH_PAGES))
    each = (batch for table in some for batch in table.to_batches())
    judged = in_order(kernel, each, job.settings.engine.used_threads)
    table = job.asset.table
    reader = pa.RecordBatchReader.from_batches(table.arrow_schema, judged)
    made = job.engine.write(reader, table, job.out)
    return made if found.agrees else None


def _rows(found: PageDays, days: NDArray[np.datetime64]) -> pa.Table:
    """Rows of `young_pages`; missing days are none of `days`, which views are given of."""
    pages = found.pages
    start = np.searchsorted(days, pages["birth"].to_numpy())
    lived = np.pad(found.views, ((0, 0), (0, YOUNG_DAYS)))
    views = np.take_along_axis(lived, start[:, None] + np.arange(YOUNG_DAYS), axis=1)
    columns = {
        **{name: pages[name] for name in ("url", "birth", "total")},
        "site": pages["site"].cast(pa.string()),
        "age": len(days) - start,
        "views": lists(views),
    }
    return pa.table(columns, YOUNG_PAGES.arrow_schema)


def _first_young(job: Job) -> dt.date:
    return max(job.day - dt.timedelta(days=YOUNG_DAYS - 1), job.first)  # windows can be short


def _last_days(job: Job) -> list[Manifest]:
    """Days that are read, and no more: older pages are not young."""
    first = _first_young(job)
    return [one for one in job.window("page_views").manifests if one.day >= first]


def _young(job: Job, observed: np.ndarray) -> Sequence[Path]:
    """From a statement: on a cluster, and for windows longer than the bits of `seen`."""
    first = _first_young(job)
    young_days = (job.day - first).days + 1
    inputs = {
        "page_totals": job.files("page_totals"),
        "page_views": [path for one in _last_days(job) for path in job.store.paths(one)],
    }
    parameters = {
        "born_from": first,
        # One character a day: what every engine can count parts of.
        "observed": "".join("1" if there else "0" for there in observed[-young_days:]),
        "days": YOUNG_DAYS,
    }
    return job.engine.query("young_pages", inputs, parameters, YOUNG_PAGES, job.out)


EARLY_LABELS: Final = WindowAsset(
    "early_labels",
    _make,
    windows=("page_views",),
    tables=(PAGE_TOTALS, PAGE_HISTORIES, PAGE_LABELS),
    sql=("complete_pages", "young_pages"),
    settings=lambda settings: [settings.window.days, settings.early.complete_days],
)
