"""Wanted pages within one and two hops of a list of seeds, and the lead of one list over another.

Wanted pages are those that a crawl should find, mostly new temporal ones. Not here: which seeds to
take (`hubs.coverage`), and where links come from (`windows.hubs.link_graph`).

Pages are numbered from 0. A link is a transit between two pages (NP 4.2): links that nobody clicked
are not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from temporal_assets.core.graph.link_graph import LinkGraph
from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import loop


@dataclass(frozen=True, slots=True)
class Reach:
    """Number of wanted pages within reach of the first 1, 2, ... seeds."""

    one_hop: Int64s
    """Wanted pages that one of the seeds links to."""
    two_hops: Int64s
    """Wanted pages that a seed links to, or a page that a seed links to."""
    linked_by: Int64s
    """Rank (from 1) of the first seed that links to each page of the graph, or 0."""


@dataclass(frozen=True, slots=True)
class Lead:
    """Lead of the first 1, 2, ... seeds of one list over as many of another, in wanted pages."""

    pages: Int64s
    low: Floats
    high: Floats
    """Bounds of the lead that hold with 95 % probability over samples of wanted pages."""


_NORMAL: Final = 1.959964
"""Quantile of the normal distribution for bounds of 95 %."""


def lead(ours: Int64s, theirs: Int64s, longest: int) -> Lead:
    """Return the lead of the list `ours` over the list `theirs`, for up to `longest` seeds.

    Both arguments have, for each wanted page, the rank of the first seed that links to it (0:
    none), as in `Reach.linked_by`. Only pages that one list alone links to tell which is better;
    half a page is added on either side, so that the interval stays open where there are none
    (Agresti and Min 2005).
    """
    by_ours, by_theirs = _linked(ours, longest), _linked(theirs, longest)
    by_both = _linked(np.where((ours > 0) & (theirs > 0), np.maximum(ours, theirs), 0), longest)
    only_ours, only_theirs = by_ours - by_both + 0.5, by_theirs - by_both + 0.5
    difference = only_ours - only_theirs
    variance = only_ours + only_theirs - difference**2 / (len(ours) + 2)
    margin = _NORMAL * np.sqrt(np.maximum(variance, 0.0))
    return Lead(by_ours - by_theirs, difference - margin, difference + margin)


def _linked(places: Int64s, longest: int) -> Int64s:
    """Return how many wanted pages the first 1, 2, ... seeds link to, from their ranks."""
    there = places[(places > 0) & (places <= longest)]
    return np.cumsum(np.bincount(there, minlength=longest + 1))[1:]


def reach(links: LinkGraph, wanted: Flags, seeds: ArrayLike) -> Reach:
    """Return how many wanted pages a crawler finds from the first 1, 2, ... seeds (NP 5.1).

    The time is linear: whatever the seeds, every link is followed at most twice, once as the first
    hop and once as the second.
    """
    order = np.asarray(seeds, np.int64)
    return Reach(*_reach(links.first, links.target, wanted, order))


@loop
def _reach(
    start: Int64s, target: Int32s, wanted: Flags, seeds: Int64s
) -> tuple[Int64s, Int64s, Int64s]:
    """Return wanted pages within one and two hops of the first n seeds, and `linked_by`."""
    pages = start.size - 1
    is_seed = np.zeros(pages, np.bool_)
    linked_by = np.zeros(pages, np.int64)
    near = np.zeros(pages, np.bool_)
    one_hop = np.zeros(seeds.size, np.int64)
    two_hops = np.zeros(seeds.size, np.int64)
    by_one = 0
    by_two = 0
    for n in range(seeds.size):
        seed = seeds[n]
        first, last = (0, 0) if is_seed[seed] else (start[seed], start[seed + 1])
        is_seed[seed] = True
        for i in range(first, last):
            page = target[i]
            if linked_by[page]:
                continue
            linked_by[page] = n + 1
            by_one += wanted[page]
            by_two += wanted[page] and not near[page]
            near[page] = True
            for j in range(start[page], start[page + 1]):
                second = target[j]
                by_two += wanted[second] and not near[second]
                near[second] = True
        one_hop[n] = by_one
        two_hops[n] = by_two
    return one_hop, two_hops, linked_by
