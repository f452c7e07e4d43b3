"""Hubs that were chosen, with what they lead to and how often to visit them.

Here: what both ways to choose them hand on. Not here: the choice (`hub_numbers`, `hub_seeds`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from temporal_assets.core.hub_coverage import HubOrder
from temporal_assets.core.revisits import intervals
from temporal_assets.core.rounding import rounded_down, rounded_up
from temporal_assets.core.texts import Floats, Int64s
from temporal_assets.settings import Hubs

HOURS: Final = 24.0
_MINUTES: Final = 24.0 * 60

_SHORTEST_HALF_LIFE: Final = 1 / HOURS
"""In days. Views are known by day: a shorter life cannot be told from this."""

_UNKNOWN_HALF_LIFE: Final = 1.0
"""In days, where no page of the window has a curve: news (TW figure 5)."""

BILLION: Final = 1_000_000_000
"""Sums of mu are of integers, so that they do not depend on the order of rows."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What `core.revisits` needs to know of hubs; one entry for each."""

    rate: Floats
    """New temporal pages a day."""
    views: Floats
    """Of such a page."""
    half_life: Floats
    """Days."""


@dataclass(frozen=True, slots=True)
class ChosenHubs:
    """The hubs of either order."""

    hubs: pa.Table
    """A row of `hub_order.HUB_COLUMNS` for each, by number."""
    taken: HubOrder
    """The seeds among them."""
    demand: Demand
    """Of each hub."""
    temporal_pages: int
    """Of the window."""


def usual_mu(curves: int, billionths: int) -> float:
    """The mu of hubs none of whose pages has a curve: that of all temporal pages of the graph."""
    return billionths / BILLION / curves if curves else float(np.log(_UNKNOWN_HALF_LIFE))


def demand(rows: pa.Table, weight: Floats, unknown: float, days: int) -> Demand:
    """Of each hub of `hub_demand`, in ascending order.

    `weight` is what a page that was born on each day of the window adds to the new pages to expect
    a day; `unknown` is the mu of hubs none of whose pages has a curve; `days` is the longest life.
    """
    _, start = np.unique(rows["page"].to_numpy(), return_index=True)
    age = rows["age"].fill_null(-1).to_numpy()
    newness = np.where(age >= 0, weight[::-1][age], 0.0)
    counts = {name: rows[name].to_numpy() for name in ("pages", "views", "curves", "billionths")}

    def summed(values: Any) -> Any:
        return np.add.reduceat(values, start) if len(start) else values[:0]

    curves = summed(counts["curves"])
    mu = np.full(len(start), unknown)
    np.divide(summed(counts["billionths"]) / BILLION, curves, out=mu, where=curves > 0)
    return Demand(
        rate=summed(counts["pages"] * newness),
        views=summed(counts["views"]) / summed(counts["pages"]),
        # The median age of a view of one page is exp(mu) (TW 4.1).
        half_life=np.clip(np.exp(mu), _SHORTEST_HALF_LIFE, days),
    )


def revisit_minutes(wanted: Demand, hubs: Hubs) -> Int64s:
    """Whole minutes between visits; rounded up, so that the budget is kept."""
    visits = len(wanted.rate) * HOURS if hubs.visits_per_day is None else hubs.visits_per_day
    shortest, longest = hubs.shortest_minutes / _MINUTES, hubs.longest_hours / HOURS
    days = intervals(wanted.rate, wanted.views, wanted.half_life, visits, shortest, longest)
    return rounded_up(days * _MINUTES)


def most_hubs(hubs: Hubs) -> int:
    """How many hubs the settings allow: no more than the budget can visit at all."""
    if hubs.visits_per_day is None:
        return hubs.top_k
    most = rounded_down(hubs.visits_per_day * hubs.longest_hours / HOURS)
    return min(hubs.top_k, int(most))
