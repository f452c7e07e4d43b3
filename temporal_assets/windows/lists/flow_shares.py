"""Expected share of temporal pages among the new pages of each section ("flow share").

The flow is the pages born in the window; the stock is all its reliable pages. Here: learning how
strongly shares are shrunk, the kernel that shrinks those of a site, and the share from which a
section is worth a place in a list. Not here: the mathematics (`core.lists.flow`), the counts
(`tree_sums`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.contracts import Table, passing
from temporal_assets.core.lists.flow import (
    BASES,
    Evidence,
    FlowPrior,
    fit_prior,
    flow_shares,
    stock_weight,
    worth,
)
from temporal_assets.core.numerics.arrays import Floats
from temporal_assets.engines.parquet_rows import whole_table
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.lists.tree_sums import SUMS

CONFIDENCE: Final = 0.95
"""Confidence of `flow_bound`, one-sided."""

_MOST_SECTIONS: Final = 10_000
"""Sections that the prior is learned from, of roots and of others: more do not change it."""

COUNTED_TREES: Final = passing("counted_trees", "day DATE", SUMS)

_EVIDENCE: Final = passing(
    "flow_evidence",
    "is_root BOOLEAN, flow_pages BIGINT, flow_thousandths BIGINT, old_pages BIGINT,"
    " old_temporal_pages BIGINT, above_flow_pages BIGINT, above_flow_thousandths BIGINT",
)

_TOTALS: Final = (
    "SELECT CAST(coalesce(sum(flow_pages), 0) AS BIGINT) AS flow_pages,"
    " CAST(coalesce(sum(flow_thousandths), 0) AS BIGINT) AS flow_thousandths,"
    " CAST(coalesce(sum(old_pages), 0) AS BIGINT) AS old_pages,"
    " CAST(coalesce(sum(old_temporal_pages), 0) AS BIGINT) AS old_temporal_pages"
    " FROM counted_trees WHERE depth = 0"
)

_WORTH: Final = (
    "SELECT round(flow_score, 3) AS share, CAST(sum(own_flow_pages) AS BIGINT) AS flow_pages,"
    " CAST(sum(own_old_pages) AS BIGINT) AS old_pages"
    " FROM prefix_trees GROUP BY round(flow_score, 3) ORDER BY share DESC"
)
"""Statement that counts pages by the share of their section, in at most a thousand rows."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Facts about the flow of a window that hold for all its sections."""

    worth: float
    """Share of temporal pages from which a section is worth a place in a list."""
    stock_weight: float
    """Weight of an older page in units of new ones: small where there is much flow."""


def write_flow_shares(job: Job, counted: Sequence[str], table: Table) -> Sequence[Path]:
    """Write the rows of COUNTED_TREES in the files `counted` with their flow shares."""
    trees = {COUNTED_TREES.name: list(counted)}
    written = job.engine.query("flow_evidence", trees, {"most": _MOST_SECTIONS}, _EVIDENCE, job.out)
    evidence = whole_table(written)
    (total,) = job.engine.rows(_TOTALS, trees)
    prior = learn_prior(evidence, pa.Table.from_pylist([total]))
    kernel = partial(with_flow_shares, prior=prior, table=table)
    return job.engine.apply_groups(kernel, trees, "site", table, job.out, None)


def learn_prior(evidence: pa.Table, total: pa.Table) -> FlowPrior:
    """Return the most likely prior, given rows of `flow_evidence` and the sums over all roots."""
    is_root = evidence["is_root"]
    beneath = evidence.filter(pc.invert(is_root))
    above = beneath.select(["above_flow_pages", "above_flow_thousandths"])
    above = above.rename_columns(["flow_pages", "flow_thousandths"])
    return fit_prior(
        _evidence(evidence.filter(is_root)), _evidence(beneath), _evidence(above), _evidence(total)
    )


def with_flow_shares(rows: pa.Table, prior: FlowPrior, table: Table) -> pa.RecordBatch:
    """Return rows of `prefix_trees` for rows of COUNTED_TREES; sites must be complete."""
    rows = rows.combine_chunks()
    # Sections above come first, whatever order the rows lie in.
    order = np.argsort(rows["depth"].to_numpy(), kind="stable")
    sorted_rows = rows.take(pa.array(order))
    prefixes = sorted_rows["prefix"].combine_chunks()
    parent = pc.index_in(sorted_rows["parent"].combine_chunks(), value_set=prefixes)
    shares = flow_shares(
        pc.fill_null(parent, -1).to_numpy(zero_copy_only=False).astype(np.int32),
        _evidence(sorted_rows),
        prior,
        CONFIDENCE,
    )
    back = np.argsort(order, kind="stable")
    new_columns = {
        "flow_temporal_pages": pa.array(rows["flow_thousandths"].to_numpy() / 1000),
        "flow_score": pa.array(shares.score[back]),
        "flow_bound": pa.array(shares.bound[back]),
        "flow_basis": pa.array(BASES).take(pa.array(shares.basis[back])),
    }
    schema = table.arrow_schema
    columns = [new_columns[name] if name in new_columns else rows[name] for name in schema.names]
    (batch,) = pa.table(columns, schema=schema).combine_chunks().to_batches()
    return batch


def flow_of(job: Job) -> Flow:
    """Return the facts that hold for all sections of the `prefix_trees` of a window."""
    rows = job.engine.rows(_WORTH, {"prefix_trees": job.files("prefix_trees")}, 2000)
    share, flow, old = (
        np.array([row[name] for row in rows], np.float64)
        for name in ("share", "flow_pages", "old_pages")
    )
    weight = stock_weight(float(flow.sum()), float(old.sum()))
    return Flow(worth(share, flow + weight * old), weight)


def flow_counts(batch: pa.RecordBatch, flow: Flow) -> tuple[Floats, Floats]:
    """Return the weighted pages of each section, and the temporal ones among them.

    New pages count fully, old pages with `Flow.stock_weight`.
    """
    born, born_temporal, old, old_temporal = (
        batch.column(name).to_numpy(zero_copy_only=False).astype(np.float64)
        for name in ("flow_pages", "flow_temporal_pages", "old_pages", "old_temporal_pages")
    )
    weight = flow.stock_weight
    return born + weight * old, born_temporal + weight * old_temporal


def _evidence(rows: pa.Table) -> Evidence:
    names = ("flow_pages", "flow_thousandths", "old_pages", "old_temporal_pages")
    pages, thousandths, stock, stock_temporal = (
        _floats(rows, name) if name in rows.column_names else np.zeros(len(rows)) for name in names
    )
    return Evidence(pages, thousandths / 1000, stock, stock_temporal)


def _floats(rows: pa.Table, name: str) -> Floats:
    values: Floats = rows[name].to_numpy().astype(np.float64)
    return values
