"""Scores of sums, as site scores and section scores both need them.

Here: the kernel around `core.lists.site_scores` and the table of its results, which lives within
one build. Not here: ranking (`sql/lists/site_scores.sql`, `sql/lists/section_scores.sql`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from temporal_assets.contracts import ColumnSpec, Table, passing
from temporal_assets.core.lists.dated_sections import dated_sections, passing_sections
from temporal_assets.core.lists.site_scores import Counts, Scoring, score
from temporal_assets.core.numerics.arrays import Floats
from temporal_assets.core.numerics.proportions import PLAIN, chance_of_less, share
from temporal_assets.settings import Settings
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.lists.flow_shares import Flow, flow_counts, flow_of

_BATCH_ROWS: Final = 65_536

_WEIGHTS: Final = 5.0
"""Sum of alpha and beta (TW 4.3)."""

CONFIDENCE: Final = 0.95
"""Confidence of the lower bound that ranks sites by their stock (Wilson's, one-sided)."""

FEWEST_PAGES: Final = 5
"""Reliable pages of a site, or of a section, that the stock ranks: with fewer, chance decides."""

SPLIT_CONFIDENCE: Final = 0.8
"""Confidence with which a section must be below the threshold to split the one above it, and that
of the lower bound by which prefixes are chosen from the stock (Wilson's, one-sided)."""

SPLITTING_PAGES: Final = 3
"""Pages of a section that splits the one above it, and of one that is chosen from the stock: with
fewer, chance decides."""

_DIGITS: Final = 9
"""Digits of a merit: merits that differ by rounding only must be equal, to be ordered by other
columns."""

_SCORES: Final = (
    "score_1 DOUBLE, score_2 DOUBLE, score DOUBLE, bound DOUBLE, merit DOUBLE,"
    # `chance` is that of so little flow that is temporal, were it worth a place.
    " weight DOUBLE, chance DOUBLE"
)


def scoring_of(settings: Settings) -> Scoring:
    """Return how sites are scored under the settings."""
    sites = settings.sites
    plain = sites.rule == "paper"
    return Scoring(
        sites.alpha,
        _WEIGHTS - sites.alpha,
        confidence=PLAIN if plain else CONFIDENCE,
        min_pages=1 if plain else FEWEST_PAGES,
    )


@dataclass(frozen=True, slots=True)
class Merit:
    """Value of sites or sections by their flow, which ranks a list."""

    flow: Flow

    def of(self, pages: Floats, score: Floats) -> Floats:
        """Return expected new temporal pages, less the number that makes these pages worth a place.

        A list of the first K by this has the largest F of all lists with K entries
        (core.lists.flow).
        """
        merit: Floats = np.round(pages * (score - self.flow.worth), _DIGITS)
        return merit


def merit_of(job: Job) -> Merit | None:
    """Return the merit of a flow ranking, or None if the settings rank by the stock."""
    if job.settings.sites.rule != "flow":
        return None
    return Merit(flow_of(job))


def with_scores(name: str, columns: Sequence[ColumnSpec]) -> Table:
    """Return the contract of a table of sums with columns for the scores added."""
    return passing(name, *columns, _SCORES)


def write_scores(job: Job, sums: Sequence[str], table: Table, merit: Merit | None) -> list[str]:
    """Return files of `table` made from its sums, ranked by `merit` or else by the lower bound."""
    kernel = partial(score_batch, table=table, scoring=scoring_of(job.settings), merit=merit)
    written: Sequence[Path] = job.engine.apply(kernel, {"sums": sums}, table, job.out, _BATCH_ROWS)
    return [str(path) for path in written]


def score_batch(
    batch: pa.RecordBatch, table: Table, scoring: Scoring, merit: Merit | None
) -> pa.RecordBatch:
    """Return the rows of a batch with their scores."""
    counted = ("pages", "temporal_pages", "views", "temporal_views", "view_squares")
    counts = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in counted}
    for name in ("temporal_pages", "temporal_views"):
        if f"young_{name}" in batch.schema.names:
            counts[name] = counts[name] + batch.column(f"young_{name}").to_numpy()
    scores = score(Counts(**counts), scoring)
    new_columns = {
        "score_1": pa.array(scores.score_1),
        "score_2": pa.array(scores.score_2),
        "score": pa.array(scores.score),
        "bound": pa.array(scores.bound),
        **_merits(batch, scores.bound, merit),
    }
    schema = table.arrow_schema
    columns = [
        new_columns[name] if name in new_columns else batch.column(name) for name in schema.names
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _merits(batch: pa.RecordBatch, bound: Floats, merit: Merit | None) -> dict[str, pa.Array]:
    """Return the merit of each row, and the chance that so little of its flow is temporal."""
    chance = np.ones(len(batch))
    if merit is None:
        return {"merit": pa.array(bound), "weight": pa.array(chance), "chance": pa.array(chance)}
    pages, temporal = flow_counts(batch, merit.flow)
    score = batch.column("flow_score").to_numpy(zero_copy_only=False)
    merits = np.where(pages > 0, merit.of(pages, np.nan_to_num(score)), 0.0)
    if "prefix" in batch.schema.names:
        names = batch.column("prefix").to_pylist()
        merits = np.where(passing_sections(names), np.minimum(merits, 0.0), merits)
        chance = chance_of_less(share(temporal, pages), pages, merit.flow.worth)
        # A chance of one splits nothing.
        chance[dated_sections(names)] = 1.0
        chance[pages < SPLITTING_PAGES] = 1.0
    return {"merit": pa.array(merits), "weight": pa.array(pages), "chance": pa.array(chance)}
