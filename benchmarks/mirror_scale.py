"""A mirror of ten million pages and a hundred million links: made, ranked and crawled.

    python benchmarks/mirror_scale.py FOLDER --make     # links.parquet, the mirror; minutes
    python benchmarks/mirror_scale.py FOLDER            # PageRank and crawls of it

The links are those of 100 sites: nine tenths stay on their site, where few pages are linked by
many. The second call also computes PageRank with networkx, igraph and scikit-network, as far as
they are installed, on a mirror of a hundredth of the size; networkx knows no larger one in
reasonable time.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from temporal_assets.core.crawls.crawl_simulation import crawl
from temporal_assets.core.graph.link_graph import LinkGraph, distinct_links
from temporal_assets.core.graph.page_rank import page_rank, page_rank_run
from temporal_assets.crawl.mirror.link_tables import mirror_of_tables
from temporal_assets.crawl.mirror.mirror import FOLDER, load, save
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.machine.scratch import scratch_folder
from temporal_assets.settings import load_settings

SITES = 100
FAR = 0.1
"""Links that leave their site."""
SEED = 1
MEMORY = "3GB"
"""Memory limit of the engine."""


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--links", type=int, default=100_000_000)
    options = parser.parse_args()
    if options.make:
        make(options.folder, options.pages, options.links)
    else:
        use(options.folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"peak memory of this process {peak:.1f} GB")


def make(folder: Path, pages: int, links: int) -> None:
    """The edge list, if it is not there, and its mirror."""
    table = folder / "links.parquet"
    if not table.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_links(table, pages, links)
    settings = load_settings(folder / "state", engine={"memory_limit": MEMORY})
    rules = UrlRules.from_settings(settings.cleaning)
    started = time.perf_counter()
    with scratch_folder(settings.state / "tmp") as scratch:
        mirror = mirror_of_tables(DuckDBEngine(settings), [table], rules, scratch)
        seconds = since(started)
        save(mirror, settings.state)
    size = sum(path.stat().st_size for path in (settings.state / FOLDER).rglob("*.*")) / 1e9
    print(
        f"{len(mirror):,} pages, {mirror.links.links:,} distinct links of {mirror.counts} in"
        f" {seconds:.0f} s; {size:.2f} GB on disk"
    )


def use(folder: Path) -> None:
    """PageRank and two policies on the mirror; PageRank of others on a smaller one."""
    beside_others(site_graph(100_000, 1_000_000))
    started = time.perf_counter()
    mirror = load(folder / "state" / FOLDER)
    print(f"loaded {len(mirror):,} pages, {mirror.links.links:,} links: {since(started):.1f} s")
    started = time.perf_counter()
    ranked = page_rank_run(mirror.links)
    print(
        f"PageRank: {since(started):.1f} s, {ranked.rounds} rounds, last movement"
        f" {ranked.movement:.1e}"
    )
    patterns = np.random.default_rng(SEED).integers(0, 100, len(mirror)).astype(float)
    homes = mirror.first[:-1]
    scores = {"breadth first": np.zeros(len(mirror)), "100 patterns": patterns}
    for name, score in (scores | {"PageRank": ranked.scores}).items():
        started = time.perf_counter()
        fetched = len(crawl(mirror.links, homes, score).fetched)
        print(f"crawl, {name}: {since(started):.1f} s, {fetched:,} pages fetched")


def write_links(path: Path, pages: int, links: int) -> None:
    """Links of one site after the other."""
    rng = np.random.default_rng(SEED)
    of_site, out = pages // SITES, links // pages
    schema = pa.schema({"source": pa.string(), "target": pa.string(), "nofollow": pa.bool_()})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for site in range(SITES):
            source, target = site_links(rng, site, of_site, out)
            known, number = np.unique(np.concatenate((source, target)), return_inverse=True)
            urls = pa.array([url_of(page, of_site) for page in known.tolist()], pa.string())
            ends = (
                pa.DictionaryArray.from_arrays(pa.array(part, pa.int32()), urls)
                for part in np.split(number, 2)
            )
            flags = pa.array(np.zeros(len(source), np.bool_))
            columns = [*(end.cast(pa.string()) for end in ends), flags]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def url_of(page: int, of_site: int) -> str:
    """A URL of about 50 characters."""
    site, rest = divmod(page, of_site)
    return f"https://site-{site:03d}.example/folder-{rest % 97:02d}/page-{rest:07d}.html"


def site_links(
    rng: np.random.Generator, site: int, of_site: int, out: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Links from the pages of one site; every page links the next, so that all can be reached."""
    source = np.repeat(np.arange(of_site), out)
    target = (of_site * rng.random(len(source)) ** 2).astype(np.int64) + site * of_site
    far = rng.random(len(source)) < FAR
    target[far] = rng.integers(0, SITES * of_site, int(far.sum()))
    target[::out] = (np.arange(of_site) + 1) % of_site + site * of_site
    return source + site * of_site, target


def site_graph(pages: int, links: int) -> LinkGraph:
    """The same graph in memory, every link once: networkx knows no other."""
    rng = np.random.default_rng(SEED)
    parts = [site_links(rng, site, pages // SITES, links // pages) for site in range(SITES)]
    source, target = (np.concatenate(part).astype(np.int32) for part in zip(*parts, strict=True))
    return distinct_links(pages, source, target, np.zeros(len(source), np.bool_))[0]


def beside_others(graph: LinkGraph) -> None:
    """Seconds of others as multiples of ours; the scores must agree."""
    page_rank(graph)  # compiled
    started = time.perf_counter()
    ours = page_rank(graph)
    fast = since(started)
    print(f"PageRank of {len(graph):,} pages and {graph.links:,} links: {fast:.3f} s")
    for name, other in OTHERS.items():
        if find_spec(name) is None:
            print(f"  {name} is not installed")
            continue
        seconds, theirs = other(graph)
        difference = float(np.abs(theirs - ours).sum())
        print(
            f"  {name}: {seconds:.2f} s, {seconds / fast:.0f} times as long; |difference|"
            f" {difference:.0e}"
        )


def by_networkx(graph: LinkGraph) -> tuple[float, NDArray[np.float64]]:
    """`networkx.pagerank`, on scipy."""
    import networkx as nx

    world = nx.DiGraph()
    world.add_nodes_from(range(len(graph)))
    source = np.repeat(np.arange(len(graph)), np.diff(graph.first))
    world.add_edges_from(zip(source.tolist(), graph.target.tolist(), strict=True))
    started = time.perf_counter()
    scores = nx.pagerank(world, alpha=0.85, tol=1e-6 / len(graph))
    return since(started), np.array([scores[page] for page in range(len(graph))])


def by_igraph(graph: LinkGraph) -> tuple[float, NDArray[np.float64]]:
    """`Graph.pagerank`, PRPACK in C."""
    import igraph

    source = np.repeat(np.arange(len(graph)), np.diff(graph.first))
    world = igraph.Graph(
        len(graph), list(zip(source.tolist(), graph.target.tolist(), strict=True)), directed=True
    )
    started = time.perf_counter()
    scores = world.pagerank(damping=0.85)
    return since(started), np.array(scores)


def by_sknetwork(graph: LinkGraph) -> tuple[float, NDArray[np.float64]]:
    """`PageRank(solver="piteration")`, compiled."""
    from sknetwork.ranking import PageRank

    ones = np.ones(graph.links)
    world = sparse.csr_matrix((ones, graph.target, graph.first), shape=(len(graph),) * 2)
    started = time.perf_counter()
    scores = PageRank(solver="piteration", n_iter=100, tol=1e-6).fit_predict(world)
    return since(started), np.asarray(scores)


OTHERS: dict[str, Callable[[LinkGraph], tuple[float, NDArray[np.float64]]]] = {
    "networkx": by_networkx,
    "igraph": by_igraph,
    "sknetwork": by_sknetwork,
}


def since(started: float) -> float:
    """Seconds."""
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
