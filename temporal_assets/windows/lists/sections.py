"""What the lists of sites and sections share: quiet sites, and the sections above each section.

Not here: the definition of a section (`core.text.url_sections`), sums (`tree_sums`) and scores
(`scored`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from temporal_assets.contracts import passing
from temporal_assets.core.text.url_sections import sections
from temporal_assets.engines.arrow_texts import from_arrow, to_arrow
from temporal_assets.engines.base import Engine, Inputs

_BATCH_ROWS: Final = 65_536
"""Rows at a time: some megabytes of URLs."""

QUIET_DAYS: Final = 3
"""Days after which a site that is hardly visited leaves the list."""

QUIET_SHARE: Final = 0.05
"""A site is hardly visited on a day with less than this share of its usual views. The weekend of an
office site is a fifth of its weekday."""

SECTION_PATHS: Final = passing("section_paths", "section VARCHAR, prefix VARCHAR")


def write_section_paths(engine: Engine, inputs: Inputs, out: Path) -> list[str]:
    """Return files of SECTION_PATHS, from a table with a column `prefix`."""
    paths = engine.apply(section_paths, inputs, SECTION_PATHS, out, _BATCH_ROWS)
    return [str(path) for path in paths]


def section_paths(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return each section of a batch with itself and every section above it."""
    names = batch.column("prefix")
    above = sections(from_arrow(names))
    section = np.repeat(np.arange(len(batch)), np.diff(above.first))
    columns = [names.take(pa.array(section)), to_arrow(above.names())]
    return pa.RecordBatch.from_arrays(columns, schema=SECTION_PATHS.arrow_schema)
