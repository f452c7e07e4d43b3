"""Which hubs to watch: the order of NP 5.1, and maximum coverage by lazy greedy.

Here: two orders of hubs, and what each hub of an order adds. Not here: the graph (`links`), how
often to visit a hub (`revisits`).

The paper ranks hubs by the distinct news pages they link to. The front page of a site and the
index of its news link to much the same pages, and both stand high. Greedy takes the hub that adds
the most pages that no hub before it links to; with `again`, those that some do link to count a
little for it. It is lazy (Minoux 1978): what a hub adds can only
fall as others are taken, so the number from an earlier round is a bound, and mostly only a few
hubs have to be counted again. For the same reason most hubs need not be in memory (`Greedy`).

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

from temporal_assets.core.distinct import distinct_numbers, numbered_apart
from temporal_assets.core.links import Links
from temporal_assets.core.texts import Int32s, Int64s

WHOLE: Final = 1000
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
    known = distinct_numbers(np.asarray(candidates, np.int64))
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
    worth = worths(again)
    ranked = paper_order(links, candidates).hub
    most = len(ranked) if limit is None else min(limit, len(ranked))
    heap, nothing = _keys(links.counts[ranked] * WHOLE)
    times = np.zeros(links.pages, np.int64)
    taken, gain = _greedy(
        links.start, links.target, ranked, heap, most, worth, times, nothing, nothing
    )
    return HubOrder(ranked[taken], gain)


def worths(again: float) -> Int64s:
    """What a page is worth to a hub after 0, 1, 2, ... hubs that lead there."""
    if not 0 <= again < 1:
        raise ValueError(f"again must be at least 0 and below 1, not {again}")
    return np.asarray(np.round(WHOLE * again ** np.arange(_TIMES)), np.int64)


@dataclass(frozen=True, slots=True)
class HubPart:
    """The best of the hubs that are left, with an entry for each; worth something, all of them."""

    hub: Int64s
    """Numbers of the pages."""
    place: Int64s
    """In the order of the paper."""
    bound: Int64s
    """What the hub adds now, by `worths`."""
    count: Int64s
    """Pages it leads to."""
    target: Int64s
    """Numbers of these, those of one hub after those of another."""
    is_all: bool
    """No other hubs are left. Otherwise those come after these by bound, and then by place."""


class Greedy:
    """The order of `greedy_order`, from as many hubs at a time as fit into memory.

    A part holds the hubs that add most now. One of them is taken while it adds at least as much as
    the last of the part did at first, for what was not read could never add more. Each part has one
    such hub at least; then the next part begins with what is left. Memory is that of a part, and of
    the pages that hubs taken lead to.
    """

    def __init__(self, limit: int, again: float = 0.0) -> None:
        self.limit = limit
        self._worth = worths(again)
        self._hubs: list[Int64s] = []
        self._gains: list[Int64s] = []
        self.pages: Int64s = np.zeros(0, np.int64)
        """Pages that hubs taken lead to, ascending."""
        self._times: Int64s = np.zeros(0, np.int64)

    @property
    def order(self) -> HubOrder:
        """What was taken so far."""
        none = np.zeros(0, np.int64)
        return HubOrder(np.concatenate([none, *self._hubs]), np.concatenate([none, *self._gains]))

    @property
    def is_full(self) -> bool:
        """No more hubs are wanted."""
        return sum(map(len, self._hubs)) >= self.limit

    @property
    def worth(self) -> Int64s:
        """What each of `pages` is worth to one more hub."""
        return np.asarray(self._worth[np.minimum(self._times, _TIMES - 1)])

    def extend(self, part: HubPart) -> None:
        """Take the hubs of a part that would be taken next from all of them."""
        hubs = np.argsort(part.place)  # ties go to the first in the order of the paper
        pages, target = numbered_apart(part.target)
        start = np.concatenate(([0], np.cumsum(part.count)))
        times = self._times_of(pages)
        heap, nothing = _keys(part.bound[hubs])
        # The last of the part: nothing that was not read comes before it.
        last = nothing if part.is_all else int(heap[-1])
        most = self.limit - len(self.order)
        taken, gain = _greedy(start, target, hubs, heap, most, self._worth, times, last, nothing)
        self._hubs.append(part.hub[hubs[taken]])
        self._gains.append(gain)
        self._keep(pages, times)

    def _times_of(self, pages: Int64s) -> Int64s:
        times = np.zeros(len(pages), np.int64)
        known = np.isin(pages, self.pages, assume_unique=True)
        times[known] = self._times[np.searchsorted(self.pages, pages[known])]
        return times

    def _keep(self, pages: Int64s, times: Int64s) -> None:
        older = ~np.isin(self.pages, pages, assume_unique=True)
        both = np.concatenate((self.pages[older], pages[times > 0]))
        counts = np.concatenate((self._times[older], times[times > 0]))
        order = np.argsort(both)
        self.pages, self._times = both[order], counts[order]


def _keys(bound: Int64s) -> tuple[Int64s, int]:
    """A heap, and the key of a gain of 0; smallest first: the largest bound, then the place."""
    count = len(bound)
    top = int(bound.max(initial=0))
    return np.sort((top - bound) * count + np.arange(count)), top * count


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
def _greedy(
    start: Int64s,
    target: Int32s,
    hubs: Int64s,
    heap: Int64s,
    most: int,
    worth: Int64s,
    times: Int64s,
    last: int,
    nothing: int,
) -> tuple[Int64s, Int64s]:
    """Places of the hubs taken, and the pages that are new with each.

    `heap` holds the key of every hub, `hubs` its row of `start`; keys above `last` are not taken.
    `times` counts, for each page, the hubs taken that lead there, and goes on with them.
    """
    count = hubs.size
    taken = np.zeros(most, np.int64)
    gain = np.zeros(most, np.int64)
    found = 0
    if count == 0:
        return taken[:0], gain[:0]
    top = nothing // count
    most_times = worth.size - 1
    while found < most and heap[0] < nothing:
        place = heap[0] % count
        row = hubs[place]
        adds = 0
        for i in range(start[row], start[row + 1]):
            adds += worth[min(times[target[i]], most_times)]
        key = (top - adds) * count + place
        if key == heap[0]:
            if key > last:
                break
            for i in range(start[row], start[row + 1]):
                gain[found] += times[target[i]] == 0
                times[target[i]] += 1
            taken[found] = place
            found += 1
            key = nothing + place  # of hubs that were taken, and of needless ones
        heap[0] = key
        _sink(heap)
    return taken[:found], gain[:found]


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
