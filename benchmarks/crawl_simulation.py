"""How fast crawls are simulated, beside the same crawl in plain Python.

    python benchmarks/crawl_simulation.py [--pages 10000000] [--links 100000000]

A random graph without any locality, which is the worst case for memory; every page has its own
score, which is the worst case for the frontier. Plain Python (a heap, a set, lists) crawls a graph
of a hundredth of the size in the same run; both must fetch the same pages in the same order.
"""

from __future__ import annotations

import argparse
import heapq
import resource
import time

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.crawls.crawl_simulation import crawl
from temporal_assets.core.graph.link_graph import LinkGraph, link_graph
from temporal_assets.core.graph.page_rank import page_rank

SEED = 1


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--links", type=int, default=100_000_000)
    options = parser.parse_args()
    ratio = beside_python(max(options.pages // 100, 100), max(options.links // 100, 1000))
    started = time.perf_counter()
    graph = random_graph(options.pages, options.links)
    print(f"{options.pages:,} pages, {options.links:,} links, made in {since(started):.1f} s")
    scores = {
        "breadth first": np.zeros(options.pages),
        "100 patterns": np.random.default_rng(SEED).integers(0, 100, options.pages).astype(float),
        "a score a page": np.random.default_rng(SEED).random(options.pages),
    }
    for name, score in scores.items():
        started = time.perf_counter()
        fetched = len(crawl(graph, [0], score).fetched)
        print(f"{name}: {since(started):.1f} s, {fetched:,} pages fetched")
    started = time.perf_counter()
    score = page_rank(graph)
    computed = since(started)
    started = time.perf_counter()
    crawl(graph, [0], score)
    print(f"PageRank: {computed:.1f} s for the scores and {since(started):.1f} s to crawl")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"peak memory {peak:.1f} GB; {ratio:.0f} times as fast as plain Python")


def random_graph(pages: int, links: int) -> LinkGraph:
    """Every page has the next one as a link, so that all can be reached; the rest is chance."""
    rng = np.random.default_rng(SEED)
    chain = np.arange(pages, dtype=np.int32)
    source = np.concatenate((rng.integers(0, pages, links - pages, np.int32), chain))
    target = np.concatenate(
        (rng.integers(0, pages, links - pages, np.int32), (chain + np.int32(1)) % np.int32(pages))
    )
    return link_graph(pages, source, target)


def beside_python(pages: int, links: int) -> float:
    """How many times as fast as plain Python, on the same graph with the same result."""
    graph = random_graph(pages, links)
    score = np.random.default_rng(SEED).random(pages)
    crawl(graph, [0], score, most=1)  # compiled
    started = time.perf_counter()
    ours = crawl(graph, [0], score).fetched
    fast = since(started)
    neighbours = [graph.of(page).tolist() for page in range(pages)]
    started = time.perf_counter()
    theirs = plain_crawl(neighbours, score)
    slow = since(started)
    if ours.tolist() != theirs:
        raise SystemExit("the two crawls differ")
    print(f"{pages:,} pages, {links:,} links: {fast:.3f} s, plain Python {slow:.2f} s")
    return slow / fast


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


def since(started: float) -> float:
    """Seconds."""
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
