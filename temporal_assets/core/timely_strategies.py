"""How crawlers that want to be in time spend their fetches: four that exist, and ours.

Here: from what is known at the start of a crawl to a `Strategy` for each. Not here: the crawl
(`timely_simulation`), how often hubs should be visited (`revisits`), where knowledge comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from temporal_assets.core.page_rank import page_rank
from temporal_assets.core.texts import Flags, Floats
from temporal_assets.core.timely_simulation import NEVER, SHORTEST, Strategy, TimelyWorld

NUTCH_HOURS: Final = 24.0
"""First interval of the adaptive schedule. Nutch's own default of 30 days would fetch nothing twice
in the time we look at."""

_LEAST_FOR_HUBS: Final = 0.2
"""Of the budget, however many pages are born: without hubs none of them is found."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known at the start; arrays have an entry a page."""

    hub_hours: Floats
    """Suggested hours between visits of hubs, `NEVER` for other pages. Only their ratios count."""
    expected: Floats
    """Views that a page is expected to draw when it is new."""
    new_per_hour: float
    """Pages that are born where the crawler goes."""
    fronts: Flags | None = None
    """Front pages of the list in use; None where there is no list."""
    listed: Flags | None = None
    """All pages of its sites."""


def strategies(world: TimelyWorld, known: Knowledge, budget: float) -> dict[str, Strategy]:
    """By name, each with a budget of so many fetches an hour.

    * `baseline`: the front pages of the listed sites, as often as the budget allows, and what they
      link on these sites;
    * `breadth_first`: one queue, all pages again and again;
    * `page_rank`: pages are fetched again as often as their score says, new ones by score;
    * `nutch`: its adaptive schedule, one queue by time due;
    * `ours`: hubs only, new pages by what they are expected to draw.
    """
    pages = len(world.birth)
    everything, nothing = np.ones(pages, np.bool_), np.zeros(pages)
    rank = page_rank(world.links)
    hubs = max(budget - known.new_per_hour, _LEAST_FOR_HUBS * budget)
    made = {
        "breadth_first": Strategy(nothing, nothing, False, False, everything),
        "page_rank": Strategy(1.0 / (rank * budget), rank, True, False, everything),
        "nutch": Strategy(np.full(pages, NUTCH_HOURS), nothing, False, True, everything),
        "ours": Strategy(stretched(known.hub_hours, hubs), known.expected, True, False, everything),
    }
    if known.fronts is None or known.listed is None:
        return made
    every = known.fronts.sum() / budget
    fronts = np.where(known.fronts, every, NEVER)
    return {"baseline": Strategy(fronts, nothing, True, False, known.listed)} | made


def stretched(hours: Floats, visits: float) -> Floats:
    """The intervals in the same ratios, with so many visits an hour to all of them together.

    Where interest fades slowly against the intervals, the best ones for another number of visits
    are these (`revisits`: P(2, x) is x²/2 for small x).
    """
    there = np.isfinite(hours)
    if not there.any():
        return hours
    now = float((1.0 / hours[there]).sum())
    return np.where(there, np.maximum(hours * now / visits, SHORTEST), NEVER)
