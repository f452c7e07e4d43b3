"""Strategies of crawlers that want to fetch new pages in time: four that exist, and two of ours.

Here: from what is known at the start of a crawl to a `Strategy` for each. Not here: the crawl
(`timely_simulation`), how often hubs should be visited (`revisits`), the source of the knowledge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from temporal_assets.core.crawls.timely_simulation import NEVER, SHORTEST, Strategy, TimelyWorld
from temporal_assets.core.graph.link_graph import LinkGraph, link_graph
from temporal_assets.core.graph.page_rank import page_rank
from temporal_assets.core.hubs.revisits import intervals, split
from temporal_assets.core.numerics.arrays import Flags, Floats, Int64s

NUTCH_HOURS: Final = 24.0
"""First interval of the adaptive schedule. Nutch's own default of 30 days would fetch nothing twice
in the time we look at."""

_LEAST_FOR_HUBS: Final = 0.2
"""Least share of the budget for hubs, however many pages are born: without hubs none of them is
found."""


_HOURS: Final = 24.0
_LONGEST_DAYS: Final = 7.0
"""Longest interval between visits of a hub, in days."""


@dataclass(frozen=True, slots=True)
class HubFacts:
    """Facts about hubs, one entry per hub."""

    page: Int64s
    rate: Floats
    """New pages per day."""
    views: Floats
    """Views of such a page over its life."""
    half_life: Floats
    """Half-life of the interest in such a page, in days."""
    leave: Floats
    """Rate per day at which links leave the hub."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A crawler's knowledge at the start of the simulation; arrays have one entry per page."""

    hub_hours: Floats
    """Suggested hours between visits of hubs, `NEVER` for other pages. Only their ratios count, and
    only where `hubs` is not known."""
    expected: Floats
    """Views that a page is expected to draw when it is new."""
    new_per_hour: float
    """Pages that are born where the crawler goes."""
    fronts: Flags | None = None
    """Front pages of the list in use; None where there is no list."""
    listed: Flags | None = None
    """All pages of its sites."""
    hubs: HubFacts | None = None
    """Facts that intervals follow from; None if only `hub_hours` is known."""


def strategies(world: TimelyWorld, knowledge: Knowledge, budget: float) -> dict[str, Strategy]:
    """Return all strategies by name, each with a budget of so many fetches an hour.

    * `baseline`: the front pages of the listed sites, as often as the budget allows, and what they
      link on these sites;
    * `breadth_first`: one queue, all pages again and again;
    * `page_rank`: pages are fetched again as often as their score says, by the links between pages
      that are there at the start; new ones in the order in which they are seen;
    * `nutch`: its adaptive schedule, one queue by time due;
    * `ours`: hubs at the best intervals (`revisits.intervals`) for what new pages leave of the
      budget, new pages by what they are expected to draw;
    * `split`: visits of hubs and fetches of pages both up to the price at which a further fetch
      gains the same everywhere (`revisits.split`). Level with `ours` (docs/hubs.md).
    """
    pages = len(world.birth)
    everything, nothing = np.ones(pages, np.bool_), np.zeros(pages)
    rank = page_rank(_links_at_start(world))
    hubs = max(budget - knowledge.new_per_hour, _LEAST_FOR_HUBS * budget)
    by_name = {
        "breadth_first": Strategy(nothing, nothing, False, False, everything),
        "page_rank": Strategy(1.0 / (rank * budget), nothing, True, False, everything),
        "nutch": Strategy(np.full(pages, NUTCH_HOURS), nothing, False, True, everything),
        "ours": Strategy(_hub_hours(knowledge, hubs), knowledge.expected, True, False, everything),
    }
    if knowledge.hubs is not None:
        by_name["split"] = _split(knowledge, knowledge.hubs, budget)
    if knowledge.fronts is None or knowledge.listed is None:
        return by_name
    every = knowledge.fronts.sum() / budget
    fronts = np.where(knowledge.fronts, every, NEVER)
    return {"baseline": Strategy(fronts, nothing, True, False, knowledge.listed)} | by_name


def _links_at_start(world: TimelyWorld) -> LinkGraph:
    """Return the links between pages that exist at hour 0; nobody can rank by later ones."""
    pages = len(world.birth)
    source = np.repeat(np.arange(pages, dtype=np.int32), np.diff(world.links.first))
    target = world.links.target
    is_there = (world.birth[source] < 0) & (world.birth[target] < 0)
    return link_graph(pages, source[is_there], target[is_there])


def _hub_hours(knowledge: Knowledge, visits: float) -> Floats:
    """Return the hours between visits of each hub, for a total of `visits` an hour."""
    facts = knowledge.hubs
    if facts is None:
        return stretched(knowledge.hub_hours, visits)
    shortest, a_day = SHORTEST / _HOURS, visits * _HOURS
    days = intervals(
        *(facts.rate, facts.views, facts.half_life, a_day, shortest, _LONGEST_DAYS, facts.leave)
    )
    hours = np.full(len(knowledge.hub_hours), NEVER)
    hours[facts.page] = days * _HOURS
    return hours


def stretched(hours: Floats, visits: float) -> Floats:
    """Return intervals scaled by one factor, for a total of `visits` an hour.

    Where interest fades slowly against the intervals, the best ones for another number of visits
    are these (`revisits`: P(2, x) is x²/2 for small x).
    """
    there = np.isfinite(hours)
    if not there.any():
        return hours
    now = float((1.0 / hours[there]).sum())
    return np.where(there, np.maximum(hours * now / visits, SHORTEST), NEVER)


def _split(knowledge: Knowledge, hubs: HubFacts, budget: float) -> Strategy:
    """Return the strategy of `revisits.split`: its hub intervals, and new pages worth its price."""
    pages = len(knowledge.hub_hours)
    best = split(
        hubs.rate,
        hubs.views,
        hubs.half_life,
        hubs.leave,
        budget * _HOURS,
        SHORTEST / _HOURS,
        _LONGEST_DAYS,
    )
    hours = np.full(pages, NEVER)
    hours[hubs.page] = best.interval * _HOURS
    is_worth = (knowledge.expected == 0) | (knowledge.expected >= best.price)
    return Strategy(hours, knowledge.expected, True, False, is_worth)
