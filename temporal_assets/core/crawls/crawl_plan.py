"""Scores of a crawl that knows the links: pages on the way to valuable pages come early.

Here: from the value of every page and the links of a mirror to scores to crawl by. Not here: what a
page is worth (`expected_traffic`), the crawl (`crawl_simulation`).

A page that nobody opens can be the only way to pages that many open. Scores by traffic alone fetch
it last. A plan looks for ways first: each page gets a parent, a page that leads to it, which makes
the site a tree. In a tree the order with the most value at every moment is known: a page is worth
the best mean value of a block of pages that begins with it and goes on to its descendants (Horn
1972, "Single-machine job sequencing with treelike precedence ordering"). A crawl by these scores
shows which page leads to which first, and the tree of these first ways is planned once more.

A fetch pays by the page itself, or, for discovery, by the pages that it is the first to show.
"""

from __future__ import annotations

import heapq
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from temporal_assets.core.crawls.crawl_simulation import crawl
from temporal_assets.core.graph.link_graph import LinkGraph
from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import loop

_WORTHWHILE: Final = 10.0
"""A page of ten times the mean value is fetched anyway, so a way through it costs next to nothing.
Chosen on the sets of `benchmarks.crawl_orders` that are not reported; 3 to 10 do alike."""
_LEAST_COST: Final = 0.02
"""Cost of a worthwhile page, so that of two ways the shorter one is taken."""
_EARLIER: Final = 1e-9
"""Relative excess of the first score over the last, so that of equal pages the earlier comes
first."""


def fetch_plan(links: LinkGraph, start: ArrayLike, value: Floats) -> Floats:
    """Return scores by which a crawl fetches the most value early; -1 for unreachable pages."""
    starts = np.asarray(start, np.int32)
    mean = float(value.mean()) if len(value) else 0.0
    share = value / (_WORTHWHILE * mean) if mean > 0 else value
    parent, order = _ways(links.first, links.target, starts, np.maximum(1.0 - share, _LEAST_COST))
    score: Floats = _block_means(parent, order, value)
    order = crawl(links, starts, score).fetched
    parent = _first_ways(links.first, links.target, starts, order)
    best: Floats = np.maximum(score, _block_means(parent, order, value))
    return best


def discovery_plan(links: LinkGraph, start: ArrayLike, value: Floats) -> Floats:
    """Return scores by which a crawl shows the most value early; -1 for unreachable pages."""
    starts = np.asarray(start, np.int32)
    parent, order = _ways(links.first, links.target, starts, np.ones(len(links)))
    score: Floats = _block_means(parent, order, _shown(parent, value))
    order = crawl(links, starts, score).fetched
    parent = _first_ways(links.first, links.target, starts, order)
    return np.asarray(_block_means(parent, order, _shown(parent, value)))


def greedy_discovery(links: LinkGraph, start: ArrayLike, value: Floats) -> Floats:
    """Return scores of the order that always fetches the page that shows the most new value.

    What a page still shows only falls, so that its last value bounds it from above, and few values
    are computed again (Minoux 1978). A score is the most that this page or a later one shows, so
    that scores of several sites can be compared; of equal ones the earlier page comes first.
    """
    starts = np.asarray(start, np.int32)
    order = _greedy(links.first, links.target, starts, value)
    shown = _shown(_first_ways(links.first, links.target, starts, order), value)[order]
    most = np.maximum.accumulate(shown[::-1])[::-1]
    scores = np.zeros(len(links))
    scores[order] = most * np.linspace(1.0 + _EARLIER, 1.0, len(order))
    return scores


def _shown(parent: Int32s, value: Floats) -> Floats:
    """Return the sum of the values of each page's children in the tree."""
    has_parent = parent >= 0
    return np.bincount(parent[has_parent], value[has_parent], len(value)).astype(np.float64)


@loop
def _ways(first: Int64s, target: Int32s, start: Int32s, cost: Floats) -> tuple[Int32s, Int32s]:
    """Return the parent of each page on its cheapest way, and the pages from near to far."""
    pages = len(first) - 1
    total = np.full(pages, np.inf)
    parent = np.full(pages, -1, np.int32)
    order = np.empty(pages, np.int32)
    is_done = np.zeros(pages, np.bool_)
    heap = [(0.0, np.int64(0), np.int32(0))]
    heap.pop()
    done, pushed = 0, 0
    for page in start:
        total[page] = cost[page]
        heapq.heappush(heap, (total[page], np.int64(pushed), page))
        pushed += 1
    while len(heap) > 0:
        page = heapq.heappop(heap)[2]
        if is_done[page]:
            continue
        is_done[page] = True
        order[done] = page
        done += 1
        for link in range(first[page], first[page + 1]):
            goal = target[link]
            way = total[page] + cost[goal]
            if not is_done[goal] and way < total[goal]:
                total[goal], parent[goal] = way, page
                heapq.heappush(heap, (way, np.int64(pushed), goal))
                pushed += 1
    return parent, order[:done].copy()


@loop
def _first_ways(first: Int64s, target: Int32s, start: Int32s, order: Int32s) -> Int32s:
    """Return the page that is the first in the order to show each page."""
    parent = np.full(len(first) - 1, -1, np.int32)
    is_seen = np.zeros(len(first) - 1, np.bool_)
    for page in start:
        is_seen[page] = True
    for page in order:
        for link in range(first[page], first[page + 1]):
            goal = target[link]
            if not is_seen[goal]:
                is_seen[goal] = True
                parent[goal] = page
    return parent


@loop
def _block_means(parent: Int32s, order: Int32s, value: Floats) -> Floats:
    """Return the best mean value of a block that begins at each page; parents stand first.

    From the leaves up, a block takes the best block below it for as long as that has a better mean
    than itself. The blocks below wait in a leftist heap, so that two heaps merge in logarithmic
    time.
    """
    pages = len(value)
    total, size = value.copy(), np.ones(pages)
    left, right = np.full(pages, -1, np.int32), np.full(pages, -1, np.int32)
    rank, below = np.zeros(pages, np.int32), np.full(pages, -1, np.int32)
    path = np.empty(pages, np.int32)
    mean = np.full(pages, -1.0)
    for i in range(len(order) - 1, -1, -1):
        page = order[i]
        while below[page] >= 0:
            best = below[page]
            if total[best] * size[page] <= total[page] * size[best]:
                break
            rest = _merged(left[best], right[best], left, right, rank, path, total, size)
            below[page] = _merged(rest, below[best], left, right, rank, path, total, size)
            total[page] += total[best]
            size[page] += size[best]
        mean[page] = total[page] / size[page]
        above = parent[page]
        if above >= 0:
            left[page], right[page], rank[page] = -1, -1, 1
            below[above] = _merged(below[above], page, left, right, rank, path, total, size)
    return mean


@loop
def _merged(
    a: int,
    b: int,
    left: Int32s,
    right: Int32s,
    rank: Int32s,
    path: Int32s,
    total: Floats,
    size: Floats,
) -> int:
    """Merge two leftist heaps of blocks, the best mean on top, and return the root."""
    depth = 0
    while a >= 0 and b >= 0:
        if total[b] * size[a] > total[a] * size[b]:
            a, b = b, a
        path[depth] = a
        depth += 1
        a = right[a]
    root = a if a >= 0 else b
    for i in range(depth - 1, -1, -1):
        node = path[i]
        near = rank[left[node]] if left[node] >= 0 else 0
        far = rank[root] if root >= 0 else 0
        right[node] = root
        if near < far:
            left[node], right[node] = root, left[node]
        rank[node] = min(near, far) + 1
        root = node
    return root


@loop
def _greedy(first: Int64s, target: Int32s, start: Int32s, value: Floats) -> Int32s:
    """Return pages as fetched, each time the one that shows the most value not seen yet."""
    pages = len(first) - 1
    is_seen = np.zeros(pages, np.bool_)
    seen, fetched = np.empty(pages, np.int32), np.empty(pages, np.int32)
    heap = [(0.0, np.int64(0), np.int32(0))]
    heap.pop()
    count, queued, done = 0, 0, 0
    for page in start:
        if not is_seen[page]:
            is_seen[page] = True
            seen[count] = page
            count += 1
    while True:
        while queued < count:
            page = seen[queued]
            gain = _gain(first, target, page, is_seen, value)
            heapq.heappush(heap, (-gain, np.int64(queued), page))
            queued += 1
        if len(heap) == 0:
            return fetched[:done].copy()
        before, place, page = heapq.heappop(heap)
        gain = _gain(first, target, page, is_seen, value)
        if -gain > before and len(heap) > 0 and (-gain, place) > (heap[0][0], heap[0][1]):
            heapq.heappush(heap, (-gain, place, page))
            continue
        fetched[done] = page
        done += 1
        for link in range(first[page], first[page + 1]):
            goal = target[link]
            if not is_seen[goal]:
                is_seen[goal] = True
                seen[count] = goal
                count += 1


@loop
def _gain(first: Int64s, target: Int32s, page: np.int32, is_seen: Flags, value: Floats) -> float:
    """Return the value of the pages that a page links and that were not seen yet."""
    gain = 0.0
    for link in range(first[page], first[page + 1]):
        if not is_seen[target[link]]:
            gain += value[target[link]]
    return gain
