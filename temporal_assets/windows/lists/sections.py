"""Functions that the assets about sections share.

The sections of a page, and those above a section.

Here: kernels around `core.text.url_sections`, and the tables that live within one build. Not here:
the definition of a section (`core.text.url_sections`), sums and scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.contracts import Table, passing
from temporal_assets.core.text.url_sections import sections
from temporal_assets.engines.arrow_texts import from_arrow, to_arrow
from temporal_assets.engines.base import Engine, Inputs, Kernel

_BATCH_ROWS: Final = 65_536
"""Rows at a time: some megabytes of URLs."""

QUIET_DAYS: Final = 3
"""Days after which a site that is hardly visited leaves the list."""

QUIET_SHARE: Final = 0.05
"""A site is hardly visited on a day with less than this share of its usual views. The weekend of an
office site is a fifth of its weekday."""

_LABELS: Final = ("site", "url", "is_temporal", "is_news", "phi_n", "m", "p")

PAGE_SECTIONS: Final = passing(
    "page_sections",
    "site VARCHAR, url VARCHAR, section VARCHAR, is_temporal BOOLEAN, is_news BOOLEAN,"
    " phi_n DOUBLE, m BIGINT, p DOUBLE",
)

FLOW_SECTIONS: Final = passing(
    "flow_sections", "site VARCHAR, url VARCHAR, section VARCHAR, birth DATE, temporal DOUBLE"
)

SECTION_PATHS: Final = passing(
    "section_paths",
    "section VARCHAR, prefix VARCHAR, parent VARCHAR, depth BIGINT, is_program BOOLEAN",
)


def write_page_sections(engine: Engine, labels: list[str], out: Path) -> list[str]:
    """Return files of PAGE_SECTIONS from those of `page_labels`."""
    return _apply(engine, page_sections, {"page_labels": labels}, PAGE_SECTIONS, out)


def write_flow_sections(engine: Engine, flow: Sequence[str], out: Path) -> list[str]:
    """Return files of FLOW_SECTIONS from those of `page_flow`."""
    return _apply(engine, flow_sections, {"page_flow": flow}, FLOW_SECTIONS, out)


def write_section_paths(engine: Engine, inputs: Inputs, out: Path) -> list[str]:
    """Return files of SECTION_PATHS, from a table with a column `section` or `prefix`."""
    return _apply(engine, section_paths, inputs, SECTION_PATHS, out)


def page_sections(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows of PAGE_SECTIONS for rows of `page_labels`."""
    deepest = sections(from_arrow(batch.column("url"))).innermost()
    columns = {name: batch.column(name) for name in _LABELS}
    return _batch(PAGE_SECTIONS, columns | {"section": to_arrow(deepest)})


def flow_sections(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows of FLOW_SECTIONS for rows of `page_flow` that have no row in PAGE_SECTIONS."""
    few = batch.filter(pc.invert(batch.column("is_reliable")))
    deepest = sections(from_arrow(few.column("url"))).innermost()
    columns = {name: few.column(name) for name in ("site", "url", "birth", "temporal")}
    return _batch(FLOW_SECTIONS, columns | {"section": to_arrow(deepest)})


def section_paths(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows of SECTION_PATHS for rows with one section each."""
    name = "section" if "section" in batch.schema.names else "prefix"
    page_sections = sections(from_arrow(batch.column(name)))
    levels = np.diff(page_sections.first)
    prefix = to_arrow(page_sections.names())
    depth = np.arange(len(prefix)) - np.repeat(page_sections.first[:-1], levels)
    above = pa.array(np.arange(len(prefix)) - 1, mask=depth == 0)
    return _batch(
        SECTION_PATHS,
        {
            "section": batch.column(name).take(pa.array(np.repeat(np.arange(len(batch)), levels))),
            "prefix": prefix,
            "parent": prefix.take(above),
            "depth": pa.array(depth),
            "is_program": pa.array(page_sections.is_program),
        },
    )


def _apply(engine: Engine, kernel: Kernel, inputs: Inputs, table: Table, out: Path) -> list[str]:
    return [str(path) for path in engine.apply(kernel, inputs, table, out, _BATCH_ROWS)]


def _batch(table: Table, columns: dict[str, pa.Array]) -> pa.RecordBatch:
    schema = table.arrow_schema
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)
