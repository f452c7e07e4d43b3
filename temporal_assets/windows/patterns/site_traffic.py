"""Conversion of the rows of `page_traffic` of one site into the arrays that patterns need.

Here: Arrow columns to arrays. Not here: learning (`pattern_nodes`), and which site it is.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.core.numerics.arrays import Floats, Int64s
from temporal_assets.core.patterns.site_patterns import SiteTraffic
from temporal_assets.core.traffic.audience import Audience
from temporal_assets.engines.arrow_texts import from_arrow


def site_traffic(rows: pa.Table, audience: Audience) -> SiteTraffic:
    """Return the traffic of a site as arrays.

    Args:
        rows: All rows of the site in `page_traffic`, in their order.
        audience: The clients of its pages, see `audience_of`.
    """
    pages, transits, counts = links(rows, "links")
    return SiteTraffic(
        urls=from_arrow(rows.column("url")),
        visits=floats(rows, "visits"),
        referrals=floats(rows, "referrals"),
        referrer=pages,
        target=np.repeat(np.arange(len(rows)), counts),
        transits=transits.astype(np.float64),
        audience=audience,
        born=rows.column("birth").cast(pa.int32()).fill_null(-1).to_numpy(),
    )


def audience_of(rows: pa.Table, least_clients: int) -> Audience:
    """Return the number of clients of each page, and the clients themselves where they are few."""
    counts, few = _lists(rows, "few_clients")
    bounds = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return Audience(least_clients, rows.column("clients").to_numpy(), few.to_numpy(), bounds)


def floats(rows: pa.Table, name: str) -> Floats:
    """Return a column of counts as an array of floats."""
    values: Floats = rows.column(name).to_numpy().astype(np.float64)
    return values


def links(rows: pa.Table, name: str) -> tuple[Int64s, Int64s, Int64s]:
    """Return page, transits and number of the links that a column of lists holds.

    The first two have one value for each link, row after row; the third has one for each row. The
    page is the other end of the link: referrer or target, depending on the column.
    """
    counts, flat = _lists(rows, name)
    pages = flat.field("page").to_numpy().astype(np.int64)
    return pages, flat.field("transits").to_numpy(), counts


def _lists(rows: pa.Table, name: str) -> tuple[Int64s, pa.Array]:
    """Return the lengths of the lists of a column, and all their elements."""
    array = pa.concat_arrays(rows.column(name).chunks)
    return pc.list_value_length(array).to_numpy().astype(np.int64), array.flatten()
