"""The links of a window as integers: reading transits into `core.links`.

Here: the steps from transits of many days to a graph, and facts about its pages. Not here: hubs
(`hub_seeds`) and their judgement.

URLs are replaced by numbers in the engine, once; everything after that is small. The numbers live
within one run: they are the places of URLs in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.contracts import ColumnSpec, Table, Type
from temporal_assets.core.links import Links, links_of_rows
from temporal_assets.core.texts import Flags, Int64s
from temporal_assets.engines.base import Engine
from temporal_assets.logs.search_engines import search_engine_pattern
from temporal_assets.settings import Settings

LINK_SQL: Final = ("link_pages", "link_steps", "page_links", "link_clients")
"""The statements that make a graph."""

_ONE_KEY: Final = 10_000_000
"""Days of the period of a key that is never changed."""

_PAGE: Final = ColumnSpec("page", Type.BIGINT, "Number of the URL within this run.")

_LINK_PAGES: Final = Table(
    name="link_pages",
    version=1,
    description="URLs of the graph; lives within one run.",
    grain="url",
    columns=(
        _PAGE,
        ColumnSpec("url", Type.VARCHAR, "Canonical URL."),
        ColumnSpec("host", Type.VARCHAR, "Host of the URL, with its port."),
        ColumnSpec("is_opened", Type.BOOLEAN, "Somebody opened it."),
        ColumnSpec("is_external", Type.BOOLEAN, "Nobody opened any page of its host."),
    ),
)
_LINK_STEPS: Final = Table(
    name="link_steps",
    version=1,
    description="Transits by numbers; lives within one run.",
    grain="referrer, target, client, day",
    columns=(
        ColumnSpec("source", Type.BIGINT, "Page left; NULL for nowhere.", nullable=True),
        ColumnSpec("target", Type.BIGINT, "Page opened."),
        ColumnSpec("client", Type.BIGINT, "Pseudonym of the visitor."),
        ColumnSpec("period", Type.BIGINT, "Of the key of the pseudonym."),
    ),
)
_PAGE_LINKS: Final = Table(
    name="page_links",
    version=1,
    description="Links by numbers; lives within one run.",
    grain="source",
    columns=(
        ColumnSpec("source", Type.BIGINT, "Page with links."),
        ColumnSpec("targets", Type.INTEGERS, "Distinct pages it links to, ascending."),
    ),
)
_LINK_CLIENTS: Final = Table(
    name="link_clients",
    version=1,
    description="Clients of pages with links; lives within one run.",
    grain="page",
    columns=(_PAGE, ColumnSpec("clients", Type.BIGINT, "Distinct clients.")),
)


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Pages and their links within a window; arrays have one entry for every page."""

    pages: list[Path]
    """The table `link_pages`: URLs by number."""
    links: Links
    clients: Int64s
    """Of pages with links; 0 for others."""
    is_opened: Flags
    is_external: Flags
    is_search: Flags
    """Of a search engine's host."""

    def seeds(self, settings: Settings) -> Int64s:
        """Pages that may be published as seeds, ascending: enough clients, and reachable."""
        hubs = settings.hubs
        kept = self.clients >= settings.privacy.min_clients
        # A page of a host of ours that nobody opened was moved, or is none.
        kept &= self.is_opened | (self.is_external & (hubs.external == "keep"))
        if hubs.search_engines == "drop":
            kept &= ~self.is_search
        return np.flatnonzero(kept).astype(np.int64)


def read_links(engine: Engine, settings: Settings, transits: Sequence[str], out: Path) -> LinkGraph:
    """The graph of the transits in some files; intermediate tables are left in `out`."""
    pages = engine.query("link_pages", {"transits": transits}, {}, _LINK_PAGES, out)
    numbered = {"link_pages": _paths(pages)}
    rotation = {"rotation_days": settings.privacy.rotation_days or _ONE_KEY}
    steps = engine.query(
        "link_steps", {"transits": transits, **numbered}, rotation, _LINK_STEPS, out
    )
    walked = {"link_steps": _paths(steps)}
    links = engine.query("page_links", walked, {}, _PAGE_LINKS, out)
    clients = engine.query("link_clients", walked | numbered, {}, _LINK_CLIENTS, out)
    facts = pq.read_table(
        _paths(pages), columns=["host", "is_opened", "is_external"], read_dictionary=["host"]
    ).unify_dictionaries()
    return LinkGraph(
        pages,
        _links(links, len(facts)),
        _counts(clients, len(facts)),
        facts["is_opened"].to_numpy(),
        facts["is_external"].to_numpy(),
        _is_search(facts["host"].combine_chunks(), settings.hubs.more_search_engines),
    )


def _links(files: Sequence[Path], pages: int) -> Links:
    table = pq.read_table(_paths(files))
    targets = table["targets"]
    return links_of_rows(
        table["source"].to_numpy(),
        pc.list_value_length(targets).to_numpy(),
        pc.list_flatten(targets).to_numpy(),
        pages,
    )


def _counts(files: Sequence[Path], pages: int) -> Int64s:
    table = pq.read_table(_paths(files))
    counts = np.zeros(pages, np.int64)
    counts[table["page"].to_numpy()] = table["clients"].to_numpy()
    return counts


def _is_search(hosts: pc.DictionaryArray, more: Sequence[str]) -> Flags:
    pattern = search_engine_pattern(more)
    names = hosts.dictionary.to_pylist()
    known = np.array([bool(pattern.fullmatch(name.rpartition("@")[2])) for name in names], bool)
    flags: Flags = known[hosts.indices.to_numpy()] if names else np.zeros(0, np.bool_)
    return flags


def _paths(files: Sequence[Path]) -> list[str]:
    return [str(path) for path in files]
