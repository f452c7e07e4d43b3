"""The links of a window as integers: reading transits into `core.graph.link_graph`.

Here: the steps from transits of many days to links between numbered pages, and a graph of them. Not
here: hubs (`hub_choice`) and their judgement.

Strings are costly, and most links do not matter: no hub gets anything for a page that is not
temporal. So transits are cut down to the links that matter first, and these are numbered. The
numbers live within one run: they are the places of URLs in the order of hosts and URLs.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets.contracts import NUMBERED_COUNTS, passing
from temporal_assets.core.graph.link_graph import LinkGraph, links_of_rows
from temporal_assets.days.transits import no_counts
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.engines.parquet_rows import whole_table

LINK_SQL: Final = ("page_links", "link_pages", "link_numbers")
"""Names of the statements that make links from transits."""


_PAGE_LINKS: Final = passing(
    "page_links", "referrer VARCHAR, target VARCHAR, first_day DATE, last_day DATE"
)
_LINK_PAGES: Final = passing("link_pages", "page BIGINT, url VARCHAR, host VARCHAR, number BIGINT")
_LINK_NUMBERS: Final = passing(
    "link_numbers", "source BIGINT, target BIGINT, first_day BIGINT, last_day BIGINT"
)
_URLS: Final = pa.schema({"url": pa.string()})


@dataclass(frozen=True, slots=True)
class LinkTables:
    """Files of the links of a window."""

    pages: list[str]
    """The table `link_pages`: URLs by number."""
    numbers: list[str]
    """The table `link_numbers`."""


def link_tables(
    engine: Engine,
    transits: Inputs,
    page_totals: Sequence[str],
    wanted: Sequence[str],
    first: dt.date,
    out: Path,
    seeds: Iterable[str] = (),
) -> LinkTables:
    """Return the links to wanted pages and those from seeds; intermediate tables are left in `out`.

    `transits` are the tables `transits`, `urls` and, where there are any, `counts`. `page_totals`
    and `wanted` are files; `wanted` has a column `url`, as `seeds` are URLs. `first` is the first
    day of the window.
    """
    named = out / "seeds.parquet"
    pq.write_table(pa.table([pa.array(seeds, pa.string())], schema=_URLS), named)
    followed = {"counts": no_counts(NUMBERED_COUNTS, out), **transits}
    inputs = {**followed, "wanted": wanted, "seeds": [str(named)]}
    links = {"page_links": paths(engine.query("page_links", inputs, {}, _PAGE_LINKS, out))}
    totals = {"page_totals": page_totals}
    pages = paths(engine.query("link_pages", links | totals, {}, _LINK_PAGES, out))
    numbered = links | {"link_pages": pages}
    numbered_links = engine.query("link_numbers", numbered, {"first": first}, _LINK_NUMBERS, out)
    return LinkTables(pages, paths(numbered_links))


def read_links(tables: LinkTables) -> LinkGraph:
    """Read all links into memory: 4 bytes a link and 8 a page; 16 a link while reading."""
    pages = sum(pq.read_metadata(path).num_rows for path in tables.pages)
    return links_in(tables.numbers, pages)


def links_in(files: Sequence[str], pages: int) -> LinkGraph:
    """Return the links of files with the columns `source` and `target`, both ascending."""
    rows = whole_table(files, ["source", "target"])
    source, count = np.unique(rows["source"].to_numpy(), return_counts=True)
    return links_of_rows(source, count, rows["target"].to_numpy(), pages)


def paths(files: Sequence[Path]) -> list[str]:
    """Return the paths as engines take them for inputs."""
    return [str(path) for path in files]
