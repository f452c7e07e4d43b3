"""Which hubs to watch: the order of NP 5.1, and maximum coverage by lazy greedy.

Here: two orders of hubs, and what each hub of an order adds. Not here: the graph (`links`), how
often to visit a hub (`revisits`).

The paper ranks hubs by the distinct news pages they link to. The front page of a site and the
index of its news link to much the same pages, and both stand high. Greedy takes the hub that adds
the most pages that no hub before it links to; with `again`, those that some do link to count a
little for it. It is lazy (Minoux 1978): what a hub adds can only
fall as others are taken, so the number from an earlier round is a bound, and mostly only a few
hubs have to be counted again.

What is promised, without `again`, of the first K hubs in sample: at least 1 - (1 - 1/K)^K of what
the best K hubs reach (Nemhauser, Wolsey, Fisher 1978), hence of what the paper's do: all for K = 1,
three quarters for K = 2, never less than 1 - 1/e = 63 %. They are the same whatever K is. At K = 1
and K = 2 they reach no fewer pages than the paper's, because both begin with the same hub, and so
at the K where nothing is left. In between they may reach fewer (tests have a graph): an order that
never does would have to give up at small K what it wins at large ones. In what we measured it never
was behind in sample; out of time nobody can promise anything (docs/evaluation.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from temporal_assets.core.links import Links
from temporal_assets.core.texts import Int32s, Int64s

_WHOLE: Final = 1000
"""A page that no hub leads to yet; integers, so that equal gains are equal."""

_TIMES: Final = 16
"""Hubs before, after which a page is worth no less, and next to nothing."""


@dataclass(frozen=True, slots=True)
class HubOrder:
    """Hubs, best first."""

    hub: Int64s
    """Numbers of the pages."""
    gain: Int64s
    """Pages linked by the hub and by none before it."""

    @property
    def covered(self) -> Int64s:
        """Pages linked by the first 1, 2, ... hubs."""
        return np.cumsum(self.gain)

    def __len__(self) -> int:
        return len(self.hub)


def paper_order(links: Links, candidates: ArrayLike, limit: int | None = None) -> HubOrder:
    """Candidates by the pages they link to (NP 5.1), most first; ties by number.

    Candidates that link to nothing are left out.
    """
    known = np.unique(np.asarray(candidates, np.int64))
    counts = links.counts[known]
    order = np.argsort(-counts, kind="stable")
    hub = known[order[: np.count_nonzero(counts)]][:limit]
    return HubOrder(hub, gains(links, hub))


def greedy_order(
    links: Links, candidates: ArrayLike, limit: int | None = None, again: float = 0.0
) -> HubOrder:
    """Candidates by what they add to those before them; ties in the order of the paper.

    `again`, at least 0 and below 1, is what a page is worth to a hub for every hub before it that
    leads there: 0 counts each page once. Ends where no candidate adds anything.
    """
    if not 0 <= again < 1:
        raise ValueError(f"again must be at least 0 and below 1, not {again}")
    ranked = paper_order(links, candidates).hub
    most = len(ranked) if limit is None else min(limit, len(ranked))
    worth = np.round(_WHOLE * again ** np.arange(_TIMES)).astype(np.int64)
    hub = _greedy(links.start, links.target, ranked, most, worth)
    return HubOrder(hub, gains(links, hub))


def gains(links: Links, hubs: ArrayLike) -> Int64s:
    """Pages that each hub of a list links to and none before it does."""
    return _gains(links.start, links.target, np.asarray(hubs, np.int64))


@njit(nogil=True, cache=True)
def _gains(start: Int64s, target: Int32s, hubs: Int64s) -> Int64s:
    covered = np.zeros(start.size - 1, np.bool_)
    gain = np.zeros(hubs.size, np.int64)
    for n in range(hubs.size):
        for i in range(start[hubs[n]], start[hubs[n] + 1]):
            gain[n] += not covered[target[i]]
            covered[target[i]] = True
    return gain


@njit(nogil=True, cache=True)
def _greedy(start: Int64s, target: Int32s, ranked: Int64s, most: int, worth: Int64s) -> Int64s:
    """`ranked` is in the order of the paper: the first gains fall along it."""
    count = ranked.size
    hub = np.zeros(most, np.int64)
    if most == 0:
        return hub
    times = np.zeros(start.size - 1, np.int64)  # hubs taken that lead to the page
    last = worth.size - 1
    top = (start[ranked[0] + 1] - start[ranked[0]]) * worth[0]
    # Smallest key first: the largest gain, then the place in the paper's order.
    heap = np.empty(count, np.int64)
    for place in range(count):
        bound = (start[ranked[place] + 1] - start[ranked[place]]) * worth[0]
        heap[place] = (top - bound) * count + place
    taken = 0
    nothing = top * count  # the key of a gain of 0: of hubs that were taken, and of needless ones
    while taken < most and heap[0] < nothing:
        place = heap[0] % count
        page = ranked[place]
        adds = 0
        for i in range(start[page], start[page + 1]):
            adds += worth[min(times[target[i]], last)]
        key = (top - adds) * count + place
        if key == heap[0]:
            for i in range(start[page], start[page + 1]):
                times[target[i]] += 1
            hub[taken] = page
            taken += 1
            key = nothing + place
        heap[0] = key
        _sink(heap)
    return hub[:taken]


@njit(nogil=True, cache=True)
def _sink(heap: Int64s) -> None:
    """Put the first key of a heap, which has grown, where it belongs."""
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
