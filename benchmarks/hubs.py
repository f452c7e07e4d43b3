"""Hub seeds of a window of the papers' size, beside a greedy choice in plain Python.

    python benchmarks/hubs.py [--transits 20000000] [--pages 975151] [--days 60]

A web of sites with hubs: most transits lead from the hubs of a site to its pages, others from page
to page, and a fifth from nowhere. What is measured is everything from the Parquet files of
`transits` to both orders of hubs and what they reach within one and two hops; then, on the same
links, greedy coverage compiled and as a loop over Python sets with a heap.
"""

from __future__ import annotations

import argparse
import heapq
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.core.hub_coverage import greedy_order, paper_order
from temporal_assets.core.links import Links, reach
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.windows.link_graph import read_links

_SITES = 2_000
_HUBS = 20
"""Of each site."""
_BY_HUB, _BY_PAGE = 0.55, 0.25
_CLIENTS = 1_000_000
_TEMPORAL = 0.14
"""Of the pages (TW 4.2)."""
_SEEDS = 1_542
_FIRST = np.datetime64("2025-03-03")


def main() -> None:
    """Print seconds of each part, and the ratio of both greedy choices."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--transits", type=int, default=20_000_000)
    parser.add_argument("--pages", type=int, default=975_151)
    parser.add_argument("--days", type=int, default=60)
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores; {arguments.transits:,} transits, {arguments.pages:,} pages")
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(folder)
        files = list(write_transits(Path(folder), **vars(arguments)))
        started = time.perf_counter()
        graph = read_links(DuckDBEngine(settings), settings, files, Path(folder))
        read = time.perf_counter()
        wanted = np.random.default_rng(2).random(graph.links.pages) < _TEMPORAL
        links, candidates = graph.links.only_to(wanted), graph.seeds(settings)
        # The first call of a compiled loop is that of the compiler.
        for order in (paper_order, greedy_order):
            reach(graph.links, wanted, order(links, candidates[:10], 1).hub)
        chosen = time.perf_counter()
        paper = paper_order(links, candidates, _SEEDS)
        greedy = greedy_order(links, candidates, _SEEDS)
        ordered = time.perf_counter()
        found = [reach(graph.links, wanted, one.hub) for one in (paper, greedy)]
        reached = time.perf_counter()
        print(f"{len(graph.links.target):,} links of {graph.links.pages:,} URLs")
        print(f"transits to links {read - started:8.2f} s")
        print(f"both orders       {ordered - chosen:8.2f} s")
        print(f"one and two hops  {reached - ordered:8.2f} s")
        print(f"in all            {read - started + reached - chosen:8.2f} s")
        one, two = (int(part[-1]) for part in (found[1].one_hop, found[1].two_hops))
        print(f"{len(greedy):,} seeds lead to {one:,} temporal pages, in two hops to {two:,}")
    again = time.perf_counter()
    greedy_order(links, candidates, _SEEDS)
    compiled = time.perf_counter() - again
    plain = in_python(links, candidates.tolist(), _SEEDS, greedy.gain.tolist())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"greedy {compiled:.3f} s, in plain Python {plain:.2f} s: {plain / compiled:.0f} times")
    print(f"peak memory {peak:,.0f} MB")


def in_python(links: Links, candidates: list[int], most: int, gains: list[int]) -> float:
    """Seconds of lazy greedy over sets, from the same arrays."""
    started = time.perf_counter()
    start, target = links.start.tolist(), links.target.tolist()
    pages = {hub: set(target[start[hub] : start[hub + 1]]) for hub in candidates}
    heap = [(-len(found), hub) for hub, found in pages.items() if found]
    heapq.heapify(heap)
    covered: set[int] = set()
    found: list[int] = []
    while heap and len(found) < most:
        _, hub = heapq.heappop(heap)
        gain = len(pages[hub] - covered)
        if heap and gain < -heap[0][0]:
            heapq.heappush(heap, (-gain, hub))
        elif gain == 0:
            break
        else:
            covered |= pages[hub]
            found.append(gain)
    seconds = time.perf_counter() - started
    # Ties may be broken in another way; what is reached differs by next to nothing.
    if abs(sum(found) - sum(gains)) > 0.001 * sum(gains):
        raise SystemExit("the two ways reach different numbers of pages")
    return seconds


def write_transits(folder: Path, transits: int, pages: int, days: int) -> Iterator[str]:
    """Files of `transits`, one a day."""
    dice = np.random.default_rng(1)
    site = np.sort(dice.integers(0, _SITES, pages))
    urls = pa.array(
        [f"https://site{s:04d}.example/news/{n % 97}/{n:07d}.html" for n, s in enumerate(site)]
        + [f"https://site{n // _HUBS:04d}.example/{n % _HUBS}/" for n in range(_SITES * _HUBS)]
    )
    # A few pages have most of the readers.
    share = np.cumsum(dice.lognormal(0, 1.8, pages))
    schema = contracts.TRANSITS.arrow_schema
    for day in range(days):
        count = transits // days
        target = np.searchsorted(share, dice.random(count) * share[-1])
        way = dice.random(count)
        # Low numbers are the front page and the large sections.
        hub = (dice.random(count) ** 3 * _HUBS).astype(np.int64)
        source = np.where(way < _BY_HUB, pages + site[target] * _HUBS + hub, 0)
        near = np.clip(target + dice.integers(1, 4, count), 0, pages - 1)
        source = np.where((way >= _BY_HUB) & (way < _BY_HUB + _BY_PAGE), near, source)
        nowhere = way >= _BY_HUB + _BY_PAGE
        # Those who come from nowhere open a hub as often as a page.
        target = np.where(nowhere & (hub % 2 == 0), pages + site[target] * _HUBS + hub, target)
        columns = [
            pa.repeat(pa.scalar((_FIRST + day).astype(object), pa.date32()), count),
            urls.take(pa.array(source, mask=nowhere)),
            urls.take(pa.array(target)),
            pa.array(dice.integers(0, _CLIENTS, count)),
        ]
        path = folder / f"transits-{day:03d}.parquet"
        table = pa.Table.from_arrays(columns, schema=schema)
        pq.write_table(table, path, compression="zstd", compression_level=1)
        yield str(path)


if __name__ == "__main__":
    main()
