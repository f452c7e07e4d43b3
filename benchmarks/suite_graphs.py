"""Lines of the benchmark suite about graphs: PageRank, hubs and authorities, crawls.

Making the other programs' graphs is not counted. Not here: which pages lead to news
(`suite_lists`).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy import sparse

from benchmarks.suite_job import Done, Job, Setup, Sized

_PAGES: Final[Sized] = {"small": 20_000, "medium": 200_000, "paper": 1_000_000}
_LINKS_A_PAGE: Final = 10


def ranks_of(way: str) -> Setup:
    """PageRank of a mirror of a hundred sites."""

    def setup(_: Path, size: str) -> Job:
        from benchmarks import mirror_scale
        from temporal_assets.core.graph.page_rank import page_rank

        graph = mirror_scale.site_graph(_PAGES[size], _LINKS_A_PAGE * _PAGES[size])
        if way == "ours":
            page_rank(graph)
            return lambda: (graph.links, float(page_rank(graph).max()))
        other = mirror_scale.OTHERS[way]

        def job() -> Done:
            seconds, scores = other(graph)
            return graph.links, float(scores.max()), seconds

        return job

    return setup


# Hubs and authorities ------------------------------------------------------------------------


@cache
def _web(pages: int) -> sparse.csr_array:
    """Links that prefer pages of low number, each once."""
    dice = np.random.default_rng(1)
    links = _LINKS_A_PAGE * pages
    target = (pages * dice.random(links) ** 2).astype(np.int64)
    links_by_number = np.unique(dice.integers(0, pages, links) * pages + target)
    ends = (links_by_number // pages, links_by_number % pages)
    return sparse.csr_array((np.ones(len(links_by_number)), ends), shape=(pages, pages))


def hits_by_us(_: Path, size: str) -> Job:
    """BB's ranks of patterns with every share 1: HITS, and all seven ranks."""
    from temporal_assets.core.patterns.behaviour_graph import BehaviourGraph, rank_patterns

    web = _web(_PAGES[size])
    ones = np.ones(web.shape[0])
    graph = BehaviourGraph(np.ones(web.shape[0], np.int64), ones, ones, web)
    rank_patterns(graph)
    return lambda: (web.nnz, _highest(rank_patterns(graph).authority))


def hits_by_networkx(_: Path, size: str) -> Job:
    """`networkx.hits`, on scipy."""
    import networkx as nx

    web = _web(_PAGES[size])
    world = nx.DiGraph()
    world.add_nodes_from(range(web.shape[0]))
    world.add_edges_from(_pairs(web))

    def job() -> Done:
        _, authority = nx.hits(world)
        return web.nnz, _highest(np.array(list(authority.values())))

    return job


def hits_by_igraph(_: Path, size: str) -> Job:
    """`authority_score` and `hub_score`, ARPACK."""
    import igraph

    web = _web(_PAGES[size])
    world = igraph.Graph(web.shape[0], _pairs(web), directed=True)

    def job() -> Done:
        authority = np.array(world.authority_score())
        world.hub_score()
        return web.nnz, _highest(authority)

    return job


def hits_by_sknetwork(_: Path, size: str) -> Job:
    """`sknetwork.ranking.HITS`, ARPACK."""
    from sknetwork.ranking import HITS

    web = _web(_PAGES[size])
    world = sparse.csr_matrix(web)
    return lambda: (web.nnz, _highest(HITS().fit(world).scores_col_))


def _pairs(web: sparse.csr_array) -> list[tuple[int, int]]:
    source = np.repeat(np.arange(web.shape[0]), np.diff(web.indptr))
    return list(zip(source.tolist(), web.indices.tolist(), strict=True))


def _highest(scores: Any) -> float:
    """The largest share: others scale their scores in other ways."""
    return float(scores.max() / scores.sum())


# Crawls --------------------------------------------------------------------------------------


def crawl_by_us(_: Path, size: str) -> Job:
    """The simulator, every page with a score of its own."""
    from benchmarks.suite_crawls import random_graph
    from temporal_assets.core.crawls.crawl_simulation import crawl

    graph = random_graph(_PAGES[size], _LINKS_A_PAGE * _PAGES[size])
    score = np.random.default_rng(1).random(len(graph))
    crawl(graph, [0], score, most=1)

    def job() -> Done:
        fetched = crawl(graph, [0], score).fetched
        return len(fetched), int(fetched[len(fetched) // 2])

    return job


def crawl_by_python(_: Path, size: str) -> Job:
    """A heap and a set."""
    from benchmarks.suite_crawls import plain_crawl, random_graph

    graph = random_graph(_PAGES[size], _LINKS_A_PAGE * _PAGES[size])
    score = np.random.default_rng(1).random(len(graph))
    neighbours = [graph.of(page).tolist() for page in range(len(graph))]

    def job() -> Done:
        fetched = plain_crawl(neighbours, score)
        return len(fetched), fetched[len(fetched) // 2]

    return job
