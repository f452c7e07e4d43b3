"""The order of OPIC (Abiteboul, Preda, Cobena 2003): importance computed while crawling.

Here: the order in which a crawl by OPIC fetches pages. Not here: the crawl that is compared
(`crawl_simulation`).

Every page that is seen has one unit of cash. A fetched page gives its cash in equal parts to the
pages it links, and the crawler fetches the page with the most cash next; of equal ones, that seen
first. No link of a page that was not fetched is ever used, unlike PageRank, which is given the
whole graph.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import ArrayLike

from temporal_assets.core.graph.link_graph import LinkGraph
from temporal_assets.core.numerics.arrays import Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import loop


def opic_scores(graph: LinkGraph, start: ArrayLike) -> Floats:
    """Return scores by which a crawl fetches pages in the order of OPIC.

    OPIC decides while it crawls. A crawl by these scores, which stay the same, repeats it: the page
    it fetches at some step has been seen by then, and has the best score of what is left.
    """
    order = _order(graph.first, graph.target, np.asarray(start, np.int32))
    scores = np.zeros(len(graph))
    scores[order] = np.arange(len(order), 0, -1)
    return scores


@loop
def _order(first: Int64s, target: Int32s, start: Int32s) -> Int32s:
    """Return pages as fetched: a fetched page shares its cash among the pages it links."""
    pages = len(first) - 1
    cash = np.zeros(pages)
    place = np.full(pages, -1, np.int64)  # in the order of being seen
    is_fetched = np.zeros(pages, np.bool_)
    fetched = np.empty(pages, np.int32)
    heap = [(0.0, np.int64(-1), np.int32(-1))]
    heap.pop()
    seen = 0
    for page in start:
        if place[page] < 0:
            place[page], cash[page] = seen, 1.0
            heapq.heappush(heap, (-cash[page], place[page], page))
            seen += 1
    done = 0
    while len(heap) > 0:
        owed, _, page = heapq.heappop(heap)
        if is_fetched[page] or -owed != cash[page]:
            continue  # an entry from before the page received more
        is_fetched[page] = True
        fetched[done] = page
        done += 1
        links = first[page + 1] - first[page]
        for link in range(first[page], first[page + 1]):
            goal = target[link]
            if is_fetched[goal]:
                continue
            if place[goal] < 0:
                place[goal], cash[goal] = seen, 1.0
                seen += 1
            cash[goal] += cash[page] / links
            heapq.heappush(heap, (-cash[goal], place[goal], goal))
    return fetched[:done].copy()
