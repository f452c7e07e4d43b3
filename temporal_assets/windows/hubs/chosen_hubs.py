"""The chosen hubs and their links: the common result of both ways to choose them.

Not here: the choice (`hub_choice_compiled`, `hub_choice`), and what is published of it
(`hub_list`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from temporal_assets.contracts import ColumnSpec, Type
from temporal_assets.core.graph.link_graph import LinkGraph, links_of_rows
from temporal_assets.core.hubs.yields import HubYield
from temporal_assets.core.numerics.arrays import Flags, Int64s
from temporal_assets.core.numerics.rounding import rounded_down
from temporal_assets.settings import Hubs

HOURS: Final = 24.0
FACTS: Final = (
    ColumnSpec("evidence", Type.BIGINT, "Decayed count of new temporal pages."),
    ColumnSpec("temporal_pages", Type.BIGINT, "Temporal pages it links to."),
    ColumnSpec("wanted_pages", Type.BIGINT, "These, and pages too young for a label."),
    ColumnSpec("views", Type.BIGINT, "Views of the temporal ones."),
    ColumnSpec("one_day", Type.BIGINT, "Of the complete ones, views on their first day."),
    ColumnSpec("three_days", Type.BIGINT, "The same on their first three days."),
    ColumnSpec("all_days", Type.BIGINT, "All their views."),
    ColumnSpec("shown", Type.BIGINT, "Those from the first day of the link on."),
    ColumnSpec("missed", Type.BIGINT, "Those after the last day of the link."),
)
"""Columns of facts about a possible hub that are learned from its links."""

HUB_COLUMNS: Final = (
    ColumnSpec("page", Type.BIGINT, "Number of the URL within this run."),
    ColumnSpec("url", Type.VARCHAR, "Canonical URL."),
    ColumnSpec("clients", Type.BIGINT, "Distinct clients under one key of the pseudonyms."),
    *FACTS,
    ColumnSpec("place", Type.BIGINT, "By evidence, from 1."),
    ColumnSpec("paper_place", Type.BIGINT, "In the order of the paper, from 1."),
    ColumnSpec("is_entrance", Type.BOOLEAN, "The best hub of its site."),
)
"""Columns of a hub that is published."""


@dataclass(frozen=True, slots=True)
class HubLinks:
    """Links of hubs to pages, both numbered from 0; hub n is row n of a table of hubs."""

    temporal: LinkGraph
    """Links to temporal pages."""
    wanted: LinkGraph
    """Links to temporal pages and to pages too young for a label."""
    evidence: Int64s
    """Evidence that each link of `wanted` adds to its hub (`core.hubs`)."""


def hub_links(
    hubs: Int64s, source: Int64s, target: Int64s, is_temporal: Flags, evidence: Int64s
) -> HubLinks:
    """Return the links of some hubs, whose number is replaced by their row in `hubs`."""
    order = np.argsort(hubs)
    row = order[np.searchsorted(hubs[order], source)] if len(source) else source
    by_row = np.argsort(row, kind="stable")
    row, target, is_temporal = row[by_row], target[by_row], is_temporal[by_row]
    pages = max(len(hubs), int(target.max(initial=-1)) + 1)

    def of(rows: Int64s, targets: Int64s) -> LinkGraph:
        return links_of_rows(*np.unique(rows, return_counts=True), targets, pages)

    return HubLinks(of(row[is_temporal], target[is_temporal]), of(row, target), evidence[by_row])


@dataclass(frozen=True, slots=True)
class ChosenHubs:
    """The hubs that either order (by evidence, or the paper's) ranks among the first."""

    hubs: pa.Table
    """Table with a row of `HUB_COLUMNS` for each hub, in the order of `place`."""
    links: HubLinks
    """Links of each row of `hubs`."""
    temporal_pages: int
    """Number of temporal pages in the window."""
    model: HubYield


def most_hubs(hubs: Hubs) -> int:
    """Return how many hubs the settings allow: no more than the budget can visit at all."""
    if hubs.visits_per_day is None:
        return hubs.top_k
    most = rounded_down(hubs.visits_per_day * hubs.longest_hours / HOURS)
    return min(hubs.top_k, int(most))


def without_links(urls: pa.Array, clients: pa.Array, *, is_entrance: bool = True) -> pa.Table:
    """Return rows of hubs for pages without a link to a wanted page, as entrances by default."""
    columns = {
        "url": urls,
        "clients": clients,
        "is_entrance": np.full(len(urls), is_entrance),
    }
    nothing = np.zeros(len(urls), np.int64)
    schema = pa.schema([(column.name, column.type.arrow) for column in HUB_COLUMNS])
    return pa.table(
        {column.name: columns.get(column.name, nothing) for column in HUB_COLUMNS}, schema
    )
