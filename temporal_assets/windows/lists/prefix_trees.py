"""`prefix_trees`: every folder and program with the counts of what is beneath it (NP 5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.contracts import ColumnSpec, Type, passing
from temporal_assets.engines.base import Inputs
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.frame.days import window_days
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.lists.flow_shares import COUNTED_TREES, write_flow_shares
from temporal_assets.windows.lists.page_flow import PAGE_FLOW
from temporal_assets.windows.lists.tree_sums import SUMS_SQL, by_statements
from temporal_assets.windows.lists.tree_sums_counted import MOST_PAGES, counted
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES
from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC

_SECTION_CLIENTS: Final = passing(
    name="section_clients",
    description="Clients of sections that may have few.",
    grain="prefix",
    columns=(
        ColumnSpec("prefix", Type.VARCHAR, "The section."),
        ColumnSpec("clients", Type.BIGINT, "So many at least over the window."),
    ),
)


def _make(job: Job) -> Sequence[Path]:
    inputs = {name: job.files(name) for name in ("page_labels", "page_histories", "page_flow")}
    parameters = {
        "recent": min(job.settings.sites.quiet_days, job.settings.window.days),
        "enough": job.settings.privacy.min_clients,
        **window_days(job),
    }
    few_enough = len(ParquetRows(inputs["page_labels"])) <= MOST_PAGES
    if job.engine.spread is None and few_enough:
        rows, few = counted(inputs, parameters, job.out)
        known = pq.read_table(_clients(job, few), partitioning=None) if few else None
        trees: Sequence[Path] = job.engine.write(
            _put_together(job, rows, known), COUNTED_TREES, job.out
        )
    else:
        trees = _by_statements(job, inputs, parameters)
    return write_flow_shares(job, [str(path) for path in trees], job.asset.table)


def _by_statements(job: Job, inputs: Inputs, parameters: Mapping[str, Any]) -> Sequence[Path]:
    """Files of COUNTED_TREES, as a cluster makes them."""
    sums, few = by_statements(job.engine, inputs, parameters, job.out)
    made = {"tree_sums": sums, "section_clients": _clients(job, few)}
    return job.engine.query("counted_trees", made, {"day": job.day}, COUNTED_TREES, job.out)


def _clients(job: Job, few: list[str]) -> list[str]:
    """Files that say how many came to sections of which the files `few` have the pages."""
    inputs = {"few_pages": few, "page_traffic": job.files("page_traffic")}
    made = job.engine.query("section_clients", inputs, {}, _SECTION_CLIENTS, job.out)
    return [str(path) for path in made]


def _put_together(job: Job, sums: pa.Table, known: pa.Table | None) -> pa.Table:
    """As sql/counted_trees.sql has it, which a cluster runs."""
    if known is not None:
        place = pc.index_in(sums["prefix"], value_set=known["prefix"].combine_chunks())
        clients = pc.max_element_wise(sums["clients"], known["clients"].take(place))
        sums = sums.set_column(sums.column_names.index("clients"), "clients", clients)
    days = pa.repeat(pa.scalar(job.day, pa.date32()), len(sums))
    return sums.append_column("day", days).select(COUNTED_TREES.column_names)


PREFIX_TREES: Final = WindowAsset(
    "prefix_trees",
    _make,
    days=("page_views",),
    tables=(PAGE_HISTORIES, PAGE_LABELS, PAGE_FLOW, PAGE_TRAFFIC),
    sql=(*SUMS_SQL, "section_clients", "counted_trees", "flow_evidence"),
    settings=lambda settings: [
        settings.window.days,
        settings.privacy.min_clients,
        settings.sites.quiet_days,
    ],
)
