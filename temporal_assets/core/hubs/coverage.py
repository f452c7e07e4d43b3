"""Coverage of a list of hubs: each hub counts for the pages that no earlier hub leads to.

Here: what each hub of an order adds, one order of the hubs of several sites, and that of lazy
greedy maximum coverage. Not here: the graph (`core.graph.link_graph`), the expected yield of a hub
(`yields`).

Greedy takes the hub that adds the most pages that no hub before it links to. It is lazy (Minoux
1978): what a hub adds can only fall as others are taken, so the number from an earlier round is a
bound, and mostly only a few hubs have to be counted again. In sample its first K hubs reach at
least 1 - (1 - 1/K)^K of what the best K hubs reach (Nemhauser, Wolsey, Fisher 1978). Out of time it
is behind the order by expected new pages (docs/hubs.md), and no more than a column beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from temporal_assets.core.graph.link_graph import LinkGraph
from temporal_assets.core.numerics.arrays import Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import loop
from temporal_assets.core.numerics.distinct import distinct_numbers

_AGAIN: Final = 0.1
"""Weight of a link to a page that a better hub leads to as well."""


@dataclass(frozen=True, slots=True)
class HubOrder:
    """Hubs in an order, best first."""

    hub: Int64s
    """Page number of each hub."""
    gain: Int64s
    """Pages linked by the hub and by none before it."""

    @property
    def covered(self) -> Int64s:
        """Pages linked by the first 1, 2, ... hubs."""
        return np.cumsum(self.gain)

    def __len__(self) -> int:
        return len(self.hub)


def paper_order(links: LinkGraph, candidates: ArrayLike, limit: int | None = None) -> HubOrder:
    """Return the candidates by the pages they link to (NP 5.1), most first; ties by number.

    Candidates that link to nothing are left out.
    """
    hubs = distinct_numbers(np.asarray(candidates, np.int64))
    counts = links.counts[hubs]
    order = np.argsort(-counts, kind="stable")
    hub = hubs[order[: np.count_nonzero(counts)]][:limit]
    return HubOrder(hub, gains(links, hub))


def greedy_order(links: LinkGraph, candidates: ArrayLike, limit: int | None = None) -> HubOrder:
    """Return the candidates in greedy order, by the pages each adds; ties in the paper's order.

    Ends where no candidate adds anything.
    """
    ranked = paper_order(links, candidates).hub
    most = len(ranked) if limit is None else min(limit, len(ranked))
    taken, gain = _greedy(links.first, links.target, ranked, most)
    return HubOrder(ranked[taken], gain)


def gains(links: LinkGraph, hubs: ArrayLike) -> Int64s:
    """Return how many pages each hub of a list links to that no hub before it does."""
    return _gains(links.first, links.target, np.asarray(hubs, np.int64))


def across_sites(links: LinkGraph, evidence: Int64s, sites: Sequence[str]) -> Int64s:
    """Return one order of the hubs 0, 1, ... of several sites, keeping the order within each site.

    Of the hubs of one site the second leads to much the same pages as the first, and the first of
    another site to none of them. So a hub counts for the evidence (one number a link) that it adds
    to the hubs before it, and for a tenth of all its evidence, because not all that was linked
    twice will be. Where a hub of a site counts more than the one before it, both count their mean.
    """
    hubs = len(sites)
    added, whole = _added(links.first, links.target, evidence, hubs)
    worth = added + _AGAIN * whole
    _, site = np.unique(np.array(sites, np.str_), return_inverse=True)
    for site_number in range(int(site.max(initial=-1)) + 1):
        of_site = np.flatnonzero(site == site_number)
        worth[of_site] = isotonic_regression(worth[of_site], increasing=False).x
    return np.asarray(np.argsort(-worth, kind="stable"), np.int64)


def first_shares(links: LinkGraph, evidence: Int64s, hubs: int) -> Floats:
    """Return, for each hub of a list, the share of its evidence that no earlier hub has.

    A link to a page that an earlier hub leads to as well counts a tenth. The share is 1 for hubs
    without evidence.
    """
    added, whole = _added(links.first, links.target, evidence, hubs)
    own = added + _AGAIN * (whole - added)
    return np.asarray(np.divide(own, whole, out=np.ones(hubs), where=whole > 0))


@loop
def _added(start: Int64s, target: Int32s, evidence: Int64s, hubs: int) -> tuple[Floats, Floats]:
    """Return each hub's evidence for pages that no hub before it leads to, and all its evidence."""
    covered = np.zeros(start.size - 1, np.bool_)
    added, whole = np.zeros(hubs), np.zeros(hubs)
    for hub in range(hubs):
        for i in range(start[hub], start[hub + 1]):
            whole[hub] += evidence[i]
            if not covered[target[i]]:
                added[hub] += evidence[i]
                covered[target[i]] = True
    return added, whole


@loop
def _gains(start: Int64s, target: Int32s, hubs: Int64s) -> Int64s:
    covered = np.zeros(start.size - 1, np.bool_)
    gain = np.zeros(hubs.size, np.int64)
    for n in range(hubs.size):
        for i in range(start[hubs[n]], start[hubs[n] + 1]):
            gain[n] += not covered[target[i]]
            covered[target[i]] = True
    return gain


@loop
def _greedy(start: Int64s, target: Int32s, hubs: Int64s, most: int) -> tuple[Int64s, Int64s]:
    """Return the indices of the hubs taken, and the number of pages that each adds.

    The heap holds a key for every hub, smallest first: by the most it can add, and then by index.
    """
    count = hubs.size
    taken = np.zeros(most, np.int64)
    gain = np.zeros(most, np.int64)
    chosen = 0
    if count == 0:
        return taken[:0], gain[:0]
    bounds = start[hubs + 1] - start[hubs]
    top = bounds.max()
    nothing = top * count
    heap = np.sort((top - bounds) * count + np.arange(count))
    covered = np.zeros(start.size - 1, np.bool_)
    while chosen < most and heap[0] < nothing:
        place = heap[0] % count
        first, last = start[hubs[place]], start[hubs[place] + 1]
        adds = 0
        for i in range(first, last):
            adds += not covered[target[i]]
        key = (top - adds) * count + place
        if key == heap[0]:
            for i in range(first, last):
                covered[target[i]] = True
            taken[chosen] = place
            gain[chosen] = adds
            chosen += 1
            key = nothing + place
        heap[0] = key
        _sink(heap)
    return taken[:chosen], gain[:chosen]


@loop
def _sink(heap: Int64s) -> None:
    """Restore the heap after its first key has grown."""
    key = heap[0]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= heap.size:
            break
        if child + 1 < heap.size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = key
