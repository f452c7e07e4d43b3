"""The links of a window as integers: reading transits into `core.links`.

Here: the steps from transits of many days to a graph, and facts about its pages. Not here: hubs
(`hub_seeds`) and their judgement.

Strings are costly, and most links do not matter: no hub gets anything for a page that is not
temporal. So transits are cut down to the links that matter first, and these are numbered. The
numbers live within one run: they are the places of URLs in their order.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.contracts import ColumnSpec, Table, Type
from temporal_assets.core.links import Links, links_of_rows
from temporal_assets.core.texts import Flags, Int64s
from temporal_assets.engines.base import Engine
from temporal_assets.logs.search_engines import search_engine_pattern
from temporal_assets.settings import Settings

LINK_SQL: Final = ("page_links", "link_pages", "link_numbers")
"""The statements that make a graph."""

VISIT_SQL: Final = ("link_visits",)
"""The statement that counts who comes to its pages."""

_ONE_KEY: Final = 10_000_000
"""Days of the period of a key that is never changed."""

_URL: Final = ColumnSpec("url", Type.VARCHAR, "Canonical URL.")
_PAGE: Final = ColumnSpec("page", Type.BIGINT, "Number of the URL within this run.")
_IS_OPENED: Final = ColumnSpec("is_opened", Type.BOOLEAN, "Somebody opened it.")

_PAGE_LINKS: Final = Table(
    name="page_links",
    version=1,
    description="Links that matter; lives within one run.",
    grain="referrer, target",
    columns=(
        ColumnSpec("referrer", Type.VARCHAR, "Page with the link."),
        ColumnSpec("target", Type.VARCHAR, "Page it leads to."),
    ),
)
_LINK_PAGES: Final = Table(
    name="link_pages",
    version=1,
    description="URLs of the graph; lives within one run.",
    grain="url",
    columns=(
        _PAGE,
        _URL,
        ColumnSpec("host", Type.VARCHAR, "Host of the URL, with its port."),
        _IS_OPENED,
        ColumnSpec("is_external", Type.BOOLEAN, "Nobody opened any page of its host."),
    ),
)
_LINK_NUMBERS: Final = Table(
    name="link_numbers",
    version=1,
    description="Links by numbers; lives within one run.",
    grain="source",
    columns=(
        ColumnSpec("source", Type.BIGINT, "Page with links."),
        ColumnSpec("targets", Type.INTEGERS, "Distinct pages it links to, ascending."),
    ),
)
_LINK_VISITS: Final = Table(
    name="link_visits",
    version=1,
    description="Who came to some pages; lives within one run.",
    grain="page",
    columns=(
        _PAGE,
        ColumnSpec("clients", Type.BIGINT, "Distinct clients."),
        ColumnSpec("visits", Type.BIGINT, "Transits to it, or from it where it was not opened."),
        ColumnSpec("recent_visits", Type.BIGINT, "Those of the last days."),
    ),
)
_URLS: Final = pa.schema({"url": pa.string()})


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Pages and their links within a window; arrays have one entry for every page."""

    pages: list[Path]
    """The table `link_pages`: URLs by number."""
    links: Links
    """To wanted pages, and from seeds."""
    host: pa.DictionaryArray
    is_opened: Flags
    is_external: Flags

    def reachable(self, settings: Settings) -> Int64s:
        """Pages with links that a crawler can be sent to, ascending."""
        hubs = settings.hubs
        # A page of a host of ours that nobody opened was moved, or is none.
        kept = self.is_opened | (self.is_external & (hubs.external == "keep"))
        if hubs.search_engines == "drop":
            kept &= ~_is_search(self.host, hubs.more_search_engines)
        return np.flatnonzero(kept & (self.links.counts > 0)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Visits:
    """Who came to pages within the window; one entry for every page that was asked for."""

    clients: Int64s
    """While one key of the pseudonyms was in use, where that is several: the most."""
    total: Int64s
    recent: Int64s
    """Of the last days."""


def read_links(
    engine: Engine,
    transits: Sequence[str],
    page_totals: Sequence[str],
    wanted: Sequence[str],
    out: Path,
    seeds: Iterable[str] = (),
) -> LinkGraph:
    """The links to wanted pages and those from seeds; intermediate tables are left in `out`.

    `transits`, `page_totals` and `wanted` are files; `wanted` has a column `url`, as `seeds` are
    URLs.
    """
    named = out / "seeds.parquet"
    pq.write_table(pa.table([pa.array(seeds, pa.string())], schema=_URLS), named)
    inputs = {"transits": transits, "wanted": wanted, "seeds": [str(named)]}
    links = {"page_links": _paths(engine.query("page_links", inputs, {}, _PAGE_LINKS, out))}
    totals = {"page_totals": page_totals}
    pages = engine.query("link_pages", links | totals, {}, _LINK_PAGES, out)
    numbered = links | {"link_pages": _paths(pages)}
    numbers = engine.query("link_numbers", numbered, {}, _LINK_NUMBERS, out)
    facts = pq.read_table(
        _paths(pages), columns=["host", "is_opened", "is_external"], read_dictionary=["host"]
    ).unify_dictionaries()
    return LinkGraph(
        pages,
        _links(numbers, len(facts)),
        facts["host"].combine_chunks(),
        facts["is_opened"].to_numpy(),
        facts["is_external"].to_numpy(),
    )


def count_visits(
    engine: Engine,
    settings: Settings,
    transits: Sequence[str],
    graph: LinkGraph,
    pages: Int64s,
    day: dt.date,
    out: Path,
) -> Visits:
    """Who came to some pages of a graph, numbers ascending, in a window that ends with `day`."""
    urls = pq.read_table(_paths(graph.pages), columns=["page", "url", "is_opened"])
    chosen = out / "candidates.parquet"
    pq.write_table(urls.take(pa.array(pages)), chosen)
    recent = dt.timedelta(days=settings.sites.quiet_days - 1)
    parameters = {
        "rotation_days": settings.privacy.rotation_days or _ONE_KEY,
        "recent_from": day - recent,
    }
    inputs = {"transits": transits, "candidates": [str(chosen)]}
    rows = pq.read_table(_paths(engine.query("link_visits", inputs, parameters, _LINK_VISITS, out)))
    at = np.searchsorted(pages, rows["page"].to_numpy())

    def counted(name: str) -> Int64s:
        # A page that was only reloaded has no row.
        counts = np.zeros(len(pages), np.int64)
        counts[at] = rows[name].to_numpy()
        return counts

    return Visits(counted("clients"), counted("visits"), counted("recent_visits"))


def _links(files: Sequence[Path], pages: int) -> Links:
    table = pq.read_table(_paths(files))
    targets = table["targets"]
    return links_of_rows(
        table["source"].to_numpy(),
        pc.list_value_length(targets).to_numpy(),
        pc.list_flatten(targets).to_numpy(),
        pages,
    )


def _is_search(hosts: pa.DictionaryArray, more: Sequence[str]) -> Flags:
    pattern = search_engine_pattern(more)
    names = hosts.dictionary.to_pylist()
    known = np.array([bool(pattern.fullmatch(name.rpartition("@")[2])) for name in names], bool)
    flags: Flags = known[hosts.indices.to_numpy()] if names else np.zeros(0, np.bool_)
    return flags


def _paths(files: Sequence[Path]) -> list[str]:
    return [str(path) for path in files]
