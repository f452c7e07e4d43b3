"""Hubs that were chosen, with what they will lead to and how often to visit them.

Here: what both ways to choose them hand on, and the rows that are published. Not here: the choice
(`hub_choice_compiled`, `hub_choice`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.contracts import ColumnSpec, Type
from temporal_assets.core.graph.link_graph import LinkGraph, links_of_rows
from temporal_assets.core.hubs.coverage import (
    across_sites,
    first_shares,
    gains,
    greedy_order,
)
from temporal_assets.core.hubs.interest import HubInterest, interest_of
from temporal_assets.core.hubs.revisits import found_share, intervals, priced_intervals
from temporal_assets.core.hubs.yields import HubYield
from temporal_assets.core.numerics.arrays import Flags, Floats, Int64s
from temporal_assets.core.numerics.rounding import rounded_down, rounded_up
from temporal_assets.logs.urls.urls import site_of
from temporal_assets.settings import Hubs

HOURS: Final = 24.0
_MINUTES: Final = 24.0 * 60

_TIERS: Final = (0.5, 0.9)
"""Shares of what all seeds are expected to lead to at which the first and the second tier end."""

_PRICE: Final = 0.005
"""Share of the interest in a new page that a visit must save to be worth it, where no budget says
how many visits there are. Chosen on seeds 11 and 12 of the demo (docs/hubs.md)."""

_HOURLY: Final = 60
"""Minutes between visits of a front page of which nothing is known, where there is no budget."""

_ENTRANCES: Final = 0.5
"""Largest share of hubs that are listed only because their site would have none."""

FILLED: Final = 500
"""Hubs up to which a short list is filled with the pages from which most clicks led on the last
day. They are visited at the longest interval: 71 visits a day for 500, by default."""

PAGE: Final = ColumnSpec("page", Type.BIGINT, "Number of the URL within this run.")
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
"""Facts that links tell about a page that may be a hub."""

HUB_COLUMNS: Final = (
    PAGE,
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
    """Links of hubs; pages are numbered anew, and hubs are the rows of a table."""

    temporal: LinkGraph
    """Temporal pages."""
    wanted: LinkGraph
    """Links to temporal pages and to pages too young for a label."""
    evidence: Int64s
    """Evidence that each link of `wanted` adds to its hub."""


def hub_links(
    hubs: Int64s, source: Int64s, target: Int64s, is_temporal: Flags, evidence: Int64s
) -> HubLinks:
    """Links of some hubs, each given by its number, by the rows of these."""
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
    """The hubs of either order."""

    hubs: pa.Table
    """A row of `HUB_COLUMNS` for each, by `place`."""
    links: HubLinks
    """Links of each row."""
    temporal_pages: int
    """Temporal pages of the window."""
    model: HubYield


def most_hubs(hubs: Hubs) -> int:
    """Return how many hubs the settings allow: no more than the budget can visit at all."""
    if hubs.visits_per_day is None:
        return hubs.top_k
    most = rounded_down(hubs.visits_per_day * hubs.longest_hours / HOURS)
    return min(hubs.top_k, int(most))


def without_links(urls: pa.Array, clients: pa.Array, *, is_entrance: bool = True) -> pa.Table:
    """Rows of pages with no link to a wanted page: by default the last entrances of their sites."""
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


def published(chosen: ChosenHubs, fronts: pa.Table, clicked: pa.Table, settings: Hubs) -> pa.Table:
    """The hubs with everything known of them.

    `fronts` have no links; nor have pages of `clicked` (`url`, `clients`, `clicks`) that are no
    hubs yet, which fill the list up. Where nothing could be learned of hubs, clicks order them all.
    """
    hubs, links = chosen.hubs, chosen.links
    sites = [site_of(url) for url in hubs["url"].to_pylist()]
    order = across_sites(links.wanted, links.evidence, sites)
    place = np.append(order, np.arange(len(hubs), len(hubs) + len(fronts)))
    hubs = pa.concat_tables([hubs, fronts])
    is_new = pc.invert(pc.is_in(clicked["url"], value_set=hubs["url"]))
    filled = clicked.filter(is_new)
    ends = (filled[name].combine_chunks() for name in ("url", "clients"))
    hubs = pa.concat_tables([hubs, without_links(*ends, is_entrance=False)])
    place = np.append(place, np.arange(len(place), len(hubs)))
    clicks = _clicks(hubs["url"], clicked)
    if chosen.model.outcomes == 0:
        place = place[np.argsort(-clicks[place], kind="stable")]
    evidence, pages = (hubs[name].to_numpy() for name in ("evidence", "temporal_pages"))
    is_listed = np.empty(len(hubs), np.bool_)
    is_entrance = hubs["is_entrance"].to_numpy()
    most = most_hubs(settings)
    is_listed[place] = _listed(evidence[place], is_entrance[place], most)
    _fill(is_listed, place, clicks, min(most, FILLED))
    rank = np.empty(len(hubs), np.int64)
    rank[place] = np.cumsum(is_listed[place])
    in_order = place[is_listed[place]]
    is_front = np.zeros(len(hubs), np.bool_)
    is_front[len(chosen.hubs) : len(chosen.hubs) + len(fronts)] = True
    expected = chosen.model.expected(evidence)
    low, high = chosen.model.interval(expected)
    interest = interest_of(
        {name_of_fact.name: hubs[name_of_fact.name].to_numpy() for name_of_fact in FACTS}
    )
    minutes = np.zeros(len(hubs), np.int64)
    own = np.ones(len(hubs))
    own[: len(chosen.hubs)] = first_shares(links.wanted, links.evidence, len(chosen.hubs))
    minutes[is_listed] = _revisit_minutes(
        expected[is_listed], own[is_listed], interest.of(is_listed), settings
    )
    if settings.visits_per_day is None:
        is_unknown = is_listed & is_front
        minutes[is_unknown] = max(_HOURLY, settings.shortest_minutes)
    has_links = np.arange(len(hubs)) < len(chosen.hubs)
    gain = np.zeros(len(in_order), np.int64)
    gain[has_links[in_order]] = gains(links.temporal, in_order[has_links[in_order]])
    greedy = greedy_order(links.temporal, np.arange(len(chosen.hubs))).hub
    greedy_rank = np.zeros(len(hubs), np.int64)
    greedy_rank[greedy] = np.arange(1, len(greedy) + 1)
    basis = np.where(has_links, "links", np.where(is_front, "front_page", "clicks"))

    def of_seeds(values: Int64s | Floats) -> pa.Array:
        return pa.array(values[rank - 1] if len(values) else rank, mask=~is_listed)

    visited = minutes / _MINUTES
    return pa.table(
        {
            "url": hubs["url"],
            "site": pa.array(map(site_of, hubs["url"].to_pylist()), pa.string()),
            "clients": hubs["clients"],
            "temporal_pages": pages,
            "rank": pa.array(rank, mask=~is_listed),
            "paper_rank": pa.array(hubs["paper_place"].to_numpy(), mask=pages == 0),
            "greedy_rank": pa.array(greedy_rank, mask=greedy_rank == 0),
            "gain": of_seeds(gain),
            "covered": of_seeds(np.cumsum(gain)),
            "coverage": of_seeds(np.cumsum(gain) / max(chosen.temporal_pages, 1)),
            "tier": of_seeds(_tiers(expected[in_order])),
            "is_entrance": hubs["is_entrance"],
            "basis": pa.array(basis, pa.string()),
            "new_per_day": expected,
            "new_per_day_low": low,
            "new_per_day_high": high,
            "new_per_visit": pa.array(
                expected * visited * found_share(interest.leave, visited), mask=~is_listed
            ),
            "half_life_hours": interest.half_life * HOURS,
            "interest_missed": interest.missed,
            "revisit_minutes": pa.array(minutes, mask=~is_listed),
        }
    )


def _listed(evidence: Int64s, is_entrance: Flags, most: int) -> Flags:
    """The first hubs with any evidence, and the best hub of each site however far behind."""
    places = np.arange(len(evidence))
    entrances = places[is_entrance & ((evidence == 0) | (places >= most))]
    entrances = entrances[: int(most * _ENTRANCES)]
    listed = np.zeros(len(evidence), np.bool_)
    listed[places[evidence > 0][: max(most - len(entrances), 0)]] = True
    listed[entrances[: most - int(listed.sum())]] = True
    return listed


def _clicks(urls: pa.ChunkedArray, clicked: pa.Table) -> Int64s:
    """Clicks that led from each page on the last day; 0 of those that are not told."""
    place = pc.index_in(urls, value_set=clicked["url"])
    return np.asarray(pc.fill_null(clicked["clicks"].take(place), 0).to_numpy(), np.int64)


def _fill(is_listed: Flags, place: Int64s, clicks: Int64s, most: int) -> None:
    """List the first unlisted pages with clicks as well, until the list has `most` hubs."""
    more = place[~is_listed[place] & (clicks[place] > 0)]
    is_listed[more[: max(most - int(is_listed.sum()), 0)]] = True


def _tiers(expected: Floats) -> Int64s:
    """1 for the first with half of what all are expected to lead to, 2 up to nine tenths, 3."""
    before = np.cumsum(expected) - expected
    total = float(expected.sum())
    return np.asarray(1 + np.searchsorted(np.array(_TIERS) * total, before, "right"), np.int64)


def _revisit_minutes(expected: Floats, own: Floats, interest: HubInterest, hubs: Hubs) -> Int64s:
    """Whole minutes between visits; rounded up, so that the budget is kept.

    Where there is no budget, a visit must be worth it: for the share of the new pages (`own`) that
    no better hub leads to.
    """
    shortest, longest = hubs.shortest_minutes / _MINUTES, hubs.longest_hours / HOURS
    views, half_life, leave = interest.views, interest.half_life, interest.leave
    if hubs.visits_per_day is None:
        facts = (expected * own, views, half_life)
        days = priced_intervals(*facts, _PRICE, shortest, longest, leave)
    else:
        facts = (expected, views, half_life)
        days = intervals(*facts, hubs.visits_per_day, shortest, longest, leave)
    return rounded_up(days * _MINUTES)
