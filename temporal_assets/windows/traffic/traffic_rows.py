"""Columns of `page_traffic`, built in this process from counts per page.

Not here: the counts (`page_traffic_compiled`, `page_traffic_incremental`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from temporal_assets import contracts
from temporal_assets.core.numerics.arrays import Int64s
from temporal_assets.engines.arrow_texts import with_encoded

ROWS: Final = with_encoded(contracts.PAGE_TRAFFIC.stored.arrow_schema, "site")
"""Schema of the rows; sites are dictionary-encoded, so that their names are not copied per page."""

_EPOCH: Final = dt.date(1970, 1, 1)


def in_rows(columns: Mapping[str, Any]) -> pa.Table:
    """Return a table with the columns, given by name, in the order of `page_traffic`."""
    return pa.table([columns[field.name].cast(field.type) for field in ROWS], ROWS)


def few_column(bounds: Int64s, few: Int64s) -> pa.Array:
    """Return the column `few_clients`: row i has the clients `bounds[i]` to `bounds[i + 1]`."""
    return pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), pa.array(few))


def links_column(bounds: Int64s, page: Any, transits: Any) -> pa.Array:
    """Return the column `links`: row i has the links from `bounds[i]` to `bounds[i + 1]`."""
    kind = ROWS.field("links").type
    values = pa.StructArray.from_arrays([page, transits], fields=list(kind.value_type))
    return pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), values, type=kind)


def came_new(
    birth: pa.ChunkedArray, total: pa.ChunkedArray, parameters: Mapping[str, Any]
) -> pa.Array:
    """Return whether pages are new, by the rule and parameters of sql/traffic/page_traffic.sql."""
    born, views = birth.cast(pa.int32()).to_numpy(), total.to_numpy()
    day, new_from = ((parameters[name] - _EPOCH).days for name in ("day", "new_from"))
    # Of most pages the day of birth decides, and a power takes as long as all else.
    late = np.flatnonzero(born >= new_from)
    lived = day - born[late] + 1
    is_new = np.zeros(len(born), np.bool_)
    is_new[late] = np.power(lived / parameters["observed_days"], views[late]) < parameters["chance"]
    return pa.array(is_new)


def page_numbers(first: int, stop: int) -> pa.Array:
    """Return a column of the page numbers from `first` up to `stop`, which stand for their URLs."""
    return pa.array(np.arange(first, stop))


def day_column(parameters: Mapping[str, Any], rows: int) -> pa.Array:
    """Return a column that repeats the day of the window."""
    return pa.repeat(pa.scalar(parameters["day"], pa.date32()), rows)
