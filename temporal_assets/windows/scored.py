"""Scores beside sums: what site and section scores share.

Here: the kernel around `core.site_scores` and the table of its results, which lives within one
build. Not here: ranking (`sql/site_scores.sql`, `sql/section_scores.sql`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa

from temporal_assets.contracts import ColumnSpec, Table, Type, passing
from temporal_assets.core.proportions import PLAIN
from temporal_assets.core.site_scores import Counts, Scoring, score
from temporal_assets.settings import Settings
from temporal_assets.windows.asset import Job

_BATCH_ROWS: Final = 65_536

_SCORES: Final = (
    ColumnSpec("score_1", Type.DOUBLE, "Share of pages."),
    ColumnSpec("score_2", Type.DOUBLE, "Share of views."),
    ColumnSpec("score", Type.DOUBLE, "Both, weighted."),
    ColumnSpec("bound", Type.DOUBLE, "Lower bound of `score`."),
)


def scoring_of(settings: Settings) -> Scoring:
    """How sites are scored under the settings."""
    sites = settings.sites
    plain = sites.rule == "paper"
    return Scoring(
        sites.alpha,
        sites.beta,
        sites.page_share_weight,
        PLAIN if plain else sites.confidence,
        1 if plain else sites.min_pages,
    )


def with_scores(name: str, columns: Sequence[ColumnSpec]) -> Table:
    """The table of sums, with their scores."""
    return passing(
        name=name,
        description="Sums with their scores.",
        grain="site or section",
        columns=(*columns, *_SCORES),
    )


def write_scores(job: Job, sums: Sequence[str], table: Table) -> list[str]:
    """Files of `table` from those of its sums."""
    kernel = partial(score_batch, table=table, scoring=scoring_of(job.settings))
    made: Sequence[Path] = job.engine.apply(kernel, {"sums": sums}, table, job.out, _BATCH_ROWS)
    return [str(path) for path in made]


def score_batch(batch: pa.RecordBatch, table: Table, scoring: Scoring) -> pa.RecordBatch:
    """Rows with their scores."""
    counted = ("pages", "temporal_pages", "views", "temporal_views", "view_squares")
    counts = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in counted}
    for name in ("temporal_pages", "temporal_views"):
        if f"young_{name}" in batch.schema.names:
            counts[name] = counts[name] + batch.column(f"young_{name}").to_numpy()
    scores = score(Counts(**counts), scoring)
    made = {
        "score_1": pa.array(scores.score_1),
        "score_2": pa.array(scores.score_2),
        "score": pa.array(scores.score),
        "bound": pa.array(scores.bound),
    }
    schema = table.arrow_schema
    columns = [made[name] if name in made else batch.column(name) for name in schema.names]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
