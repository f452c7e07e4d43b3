"""The published list of hubs: which pages are on it, in which order, how often to visit each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.core.hubs.coverage import across_sites, first_shares, gains, greedy_order
from temporal_assets.core.hubs.interest import HubInterest, interest_of
from temporal_assets.core.hubs.revisits import found_share, intervals, priced_intervals
from temporal_assets.core.numerics.arrays import Flags, Floats, Int64s
from temporal_assets.core.numerics.rounding import rounded_up
from temporal_assets.logs.urls.canonical import site_of
from temporal_assets.settings import Hubs
from temporal_assets.windows.hubs.chosen_hubs import (
    FACTS,
    HOURS,
    ChosenHubs,
    most_hubs,
    without_links,
)

_MINUTES: Final = 24.0 * 60

_TIERS: Final = (0.5, 0.9)
"""Shares of the pages that all seeds are expected to lead to; tier 1 ends at the first, 2 at the
next."""

_PRICE: Final = 0.005
"""Share of the interest in a new page that a visit must save to be worth it, where no budget says
how many visits there are. Chosen on seeds 11 and 12 of the demo (docs/hubs.md)."""

SHORTEST_MINUTES: Final = 10
"""Shortest interval between visits of a hub: the servers are not ours."""

_HOURLY: Final = 60
"""Minutes between visits of a front page of which nothing is known, where there is no budget."""

_ENTRANCES: Final = 0.5
"""Largest share of the list for hubs that are on it only because their site would have none."""

FILLED: Final = 500
"""Length up to which a short list is filled with the pages from which most clicks led on the last
day. These pages are visited at the longest interval: 71 visits a day for 500, by default."""

_LINKS, _FRONT_PAGE, _CLICKS = "links", "front_page", "clicks"
"""Bases of a hub: the evidence that it is a candidate by."""


@dataclass(frozen=True, slots=True)
class _Candidates:
    """All pages that may be listed, pages with links first."""

    rows: pa.Table
    """Table with a row of `HUB_COLUMNS` for each candidate."""
    basis: pa.Array
    """Evidence that makes each page a candidate: links, being a front page, or clicks."""
    clicks: Int64s
    """Clicks that led from each page on the last day."""
    order: Int64s
    """Row numbers of the candidates, the best first."""

    def column(self, name: str) -> Int64s:
        """Return a column of `rows`."""
        return np.asarray(self.rows[name].to_numpy())

    def has_basis(self, basis: str) -> Flags:
        """Return flags of the candidates with this basis."""
        return np.asarray(pc.equal(self.basis, basis))


@dataclass(frozen=True, slots=True)
class _Places:
    """The ranked list: which candidates are on it, and at which rank."""

    is_listed: Flags
    """True for each candidate that is on the list."""
    order: Int64s
    """Row numbers of the listed candidates, the best first."""
    rank: Int64s
    """Rank of each candidate from 1; meaningless for candidates that are not listed."""

    def column(self, in_order: Int64s | Floats) -> pa.Array:
        """Return a column over all candidates, given a value for each rank of the list.

        Candidates that are not listed get NULL.
        """
        values = in_order[self.rank - 1] if len(in_order) else self.rank
        return self.of_listed(values)

    def of_listed(self, values: Int64s | Floats) -> pa.Array:
        """Return a column over all candidates; NULL where a candidate is not listed."""
        return pa.array(values, mask=~self.is_listed)


def published(chosen: ChosenHubs, fronts: pa.Table, clicked: pa.Table, settings: Hubs) -> pa.Table:
    """Return the rows of `hub_seeds` that follow from the chosen hubs.

    Args:
        chosen: Hubs with links to wanted pages, and the model of their yields.
        fronts: Front pages of sites without any hub.
        clicked: `url`, `clients` and `clicks` of pages that people left by a click; they fill the
            list up. Where the model learned nothing, clicks order all candidates.
        settings: Length of the list and its budget.
    """
    candidates = _candidates(chosen, fronts, clicked)
    places = _places(candidates, most_hubs(settings))
    expected = chosen.model.expected(candidates.column("evidence"))
    sites = pa.array(map(site_of, candidates.rows["url"].to_pylist()), pa.string())
    return pa.table(
        {
            "url": candidates.rows["url"],
            "site": sites,
            "clients": candidates.rows["clients"],
            "temporal_pages": candidates.rows["temporal_pages"],
            "is_entrance": candidates.rows["is_entrance"],
            "basis": candidates.basis,
            "tier": places.column(_tiers(expected[places.order])),
            **_ranks(chosen, candidates, places),
            **_visits(chosen, candidates, places, expected, settings),
        }
    )


def _candidates(chosen: ChosenHubs, fronts: pa.Table, clicked: pa.Table) -> _Candidates:
    """Return the candidates: hubs with links, front pages without, and pages left by a click."""
    hubs = pa.concat_tables([chosen.hubs, fronts])
    more = clicked.filter(pc.invert(pc.is_in(clicked["url"], value_set=hubs["url"])))
    urls, clients = (more[name].combine_chunks() for name in ("url", "clients"))
    rows = pa.concat_tables([hubs, without_links(urls, clients, is_entrance=False)])
    bases = (_LINKS, _FRONT_PAGE, _CLICKS)
    basis = np.repeat(bases, (len(chosen.hubs), len(fronts), len(more)))
    clicks = _clicks(rows["url"], clicked)
    sites = [site_of(url) for url in chosen.hubs["url"].to_pylist()]
    order = across_sites(chosen.links.wanted, chosen.links.evidence, sites)
    order = np.append(order, np.arange(len(chosen.hubs), len(rows)))
    if chosen.model.outcomes == 0:
        order = order[np.argsort(-clicks[order], kind="stable")]
    return _Candidates(rows, pa.array(basis, pa.string()), clicks, order)


def _clicks(urls: pa.ChunkedArray, clicked: pa.Table) -> Int64s:
    """Return the clicks that led from each page on the last day; 0 for pages not in `clicked`."""
    place = pc.index_in(urls, value_set=clicked["url"])
    return np.asarray(pc.fill_null(clicked["clicks"].take(place), 0).to_numpy(), np.int64)


def _places(candidates: _Candidates, most: int) -> _Places:
    """Return the list with at most `most` candidates."""
    order = candidates.order
    evidence = candidates.column("evidence")
    is_entrance = candidates.column("is_entrance").astype(np.bool_)
    is_listed = np.empty(len(order), np.bool_)
    is_listed[order] = _listed(evidence[order], is_entrance[order], most)
    _fill(is_listed, order, candidates.clicks, min(most, FILLED))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.cumsum(is_listed[order])
    return _Places(is_listed, order[is_listed[order]], rank)


def _listed(evidence: Int64s, is_entrance: Flags, most: int) -> Flags:
    """Return flags of the first hubs with evidence, and of the best hub of each other site."""
    places = np.arange(len(evidence))
    entrances = places[is_entrance & ((evidence == 0) | (places >= most))]
    entrances = entrances[: int(most * _ENTRANCES)]
    listed = np.zeros(len(evidence), np.bool_)
    listed[places[evidence > 0][: max(most - len(entrances), 0)]] = True
    listed[entrances[: most - int(listed.sum())]] = True
    return listed


def _fill(is_listed: Flags, order: Int64s, clicks: Int64s, most: int) -> None:
    """Add the first unlisted pages with clicks to the list, until it has `most` hubs."""
    more = order[~is_listed[order] & (clicks[order] > 0)]
    is_listed[more[: max(most - int(is_listed.sum()), 0)]] = True


def _tiers(expected: Floats) -> Int64s:
    """Return the tier of each hub, 1 to 3, by its place in the expected yield of all (`_TIERS`)."""
    before = np.cumsum(expected) - expected
    total = float(expected.sum())
    return np.asarray(1 + np.searchsorted(np.array(_TIERS) * total, before, "right"), np.int64)


def _ranks(chosen: ChosenHubs, candidates: _Candidates, places: _Places) -> dict[str, pa.Array]:
    """Return the columns of ranks (ours, the paper's, greedy) and of the pages they cover."""
    temporal, linked = chosen.links.temporal, len(chosen.hubs)
    gain = np.zeros(len(places.order), np.int64)
    gain[places.order < linked] = gains(temporal, places.order[places.order < linked])
    covered = np.cumsum(gain)
    greedy = greedy_order(temporal, np.arange(linked)).hub
    greedy_rank = np.zeros(len(places.rank), np.int64)
    greedy_rank[greedy] = np.arange(1, len(greedy) + 1)
    is_temporal = candidates.column("temporal_pages") > 0
    return {
        "rank": places.of_listed(places.rank),
        "paper_rank": pa.array(candidates.column("paper_place"), mask=~is_temporal),
        "greedy_rank": pa.array(greedy_rank, mask=greedy_rank == 0),
        "gain": places.column(gain),
        "covered": places.column(covered),
        "coverage": places.column(covered / max(chosen.temporal_pages, 1)),
    }


def _visits(
    chosen: ChosenHubs, candidates: _Candidates, places: _Places, expected: Floats, settings: Hubs
) -> dict[str, pa.Array | Floats]:
    """Return the columns of what visits are expected to find, and how often to visit."""
    low, high = chosen.model.interval(expected)
    interest = interest_of({fact.name: candidates.column(fact.name) for fact in FACTS})
    # Share of each candidate's new pages that no better hub leads to.
    own = np.ones(len(expected))
    own[: len(chosen.hubs)] = first_shares(
        chosen.links.wanted, chosen.links.evidence, len(chosen.hubs)
    )
    listed = places.is_listed
    minutes = np.zeros(len(expected), np.int64)
    minutes[listed] = _revisit_minutes(expected[listed], own[listed], interest.of(listed), settings)
    if settings.visits_per_day is None:
        is_unknown = listed & candidates.has_basis(_FRONT_PAGE)
        minutes[is_unknown] = _HOURLY
    days = minutes / _MINUTES
    return {
        "new_per_day": expected,
        "new_per_day_low": low,
        "new_per_day_high": high,
        "new_per_visit": places.of_listed(expected * days * found_share(interest.leave, days)),
        "half_life_hours": interest.half_life * HOURS,
        "interest_missed": interest.missed,
        "revisit_minutes": places.of_listed(minutes),
    }


def _revisit_minutes(expected: Floats, own: Floats, interest: HubInterest, hubs: Hubs) -> Int64s:
    """Return whole minutes between visits, rounded up so that the budget is kept.

    Without a budget, a visit must be worth its price by the share of new pages (`own`) that no
    better hub leads to.
    """
    shortest, longest = SHORTEST_MINUTES / _MINUTES, hubs.longest_hours / HOURS
    views, half_life, leave = interest.views, interest.half_life, interest.leave
    if hubs.visits_per_day is None:
        facts = (expected * own, views, half_life)
        days = priced_intervals(*facts, _PRICE, shortest, longest, leave)
    else:
        facts = (expected, views, half_life)
        days = intervals(*facts, hubs.visits_per_day, shortest, longest, leave)
    return rounded_up(days * _MINUTES)
