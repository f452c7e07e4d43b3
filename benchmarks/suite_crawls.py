"""A random graph for the line `simulation` of the benchmark suite, and its crawl in plain Python.

The graph has no locality, which is the worst case for memory.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.graph.link_graph import LinkGraph, link_graph

SEED = 1


def random_graph(pages: int, links: int) -> LinkGraph:
    """Every page has the next one as a link, so that all can be reached; the rest is chance."""
    rng = np.random.default_rng(SEED)
    chain = np.arange(pages, dtype=np.int32)
    source = np.concatenate((rng.integers(0, pages, links - pages, np.int32), chain))
    target = np.concatenate(
        (rng.integers(0, pages, links - pages, np.int32), (chain + np.int32(1)) % np.int32(pages))
    )
    return link_graph(pages, source, target)


def plain_crawl(neighbours: list[list[int]], score: NDArray[np.float64]) -> list[int]:
    """The crawl as one would write it."""
    scores = score.tolist()
    frontier = [(-scores[0], 0, 0)]
    seen = {0}
    fetched = []
    while frontier:
        page = heapq.heappop(frontier)[2]
        fetched.append(page)
        for target in neighbours[page]:
            if target not in seen:
                seen.add(target)
                heapq.heappush(frontier, (-scores[target], len(seen), target))
    return fetched
