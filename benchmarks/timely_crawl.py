"""Comparison of crawlers that arrive in time: five strategies on the demo's truth.

    python benchmarks/timely_crawl.py [--pages 6000] [--seed 1]

A corpus of 60 days is made. The crawler knows all pages of the first 30; our policy has learned
from the transits of these days. On the other 30 pages are born, hubs show their newest, and every
strategy has the same budget. Births and interest are the truth; no strategy sees them.
"""

from __future__ import annotations

import argparse
import datetime as dt
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from temporal_assets.core.crawls.timely_simulation import (
    NEVER,
    TimelyWorld,
    simulate_timely,
)
from temporal_assets.core.crawls.timely_strategies import Knowledge, strategies
from temporal_assets.core.graph.link_graph import LinkGraph, link_graph
from temporal_assets.core.numerics.arrays import Floats
from temporal_assets.demo import DemoOptions, generate

LEARN_DAYS = 30
SHOWN = {"front": 40, "index": 60, "hot": 30}
"""Newest pages that a hub of the demo's mirror lists."""
BUDGETS = (1.0, 2.0, 5.0, 10.0)
"""Fetches an hour for a thousand pages that exist at the end."""
NAMES = {
    "baseline": "baseline list",
    "breadth_first": "breadth first",
    "page_rank": "PageRank",
    "nutch": "adaptive, as Nutch",
    "ours": "ours",
}


def hub_intervals(value: Floats, rate: float) -> Floats:
    """Hours between visits of hubs that lose the least interest with `rate` visits an hour.

    Value v arrives at a hub per hour and waits half an interval T on average: sum(v * T / 2) is
    least under sum(1 / T) = rate where T is in proportion to 1 / sqrt(v). Hubs of no value are
    not visited.
    """
    root = np.sqrt(np.maximum(value, 0.0))
    if root.sum() == 0:
        return np.full(len(root), NEVER)
    return np.where(root > 0, root.sum() / (rate * np.where(root > 0, root, 1.0)), NEVER)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=6_000)
    parser.add_argument("--requests", type=int, default=400_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        generate(
            DemoOptions(seed=options.seed, pages=options.pages, requests=options.requests), corpus
        )
        world, knowledge = read(corpus)
    born = (world.birth >= 0).sum()
    print(f"{len(world.birth):,} pages, {born:,} born in the {60 - LEARN_DAYS} days of crawling")
    print(
        "| fetches an hour | strategy | interest to come | that of temporal pages "
        "| temporal pages fetched | median delay | 90 % within | wasted |"
    )
    print("|---:|---|---:|---:|---:|---:|---:|---:|")
    for budget in BUDGETS:
        rate = budget * options.pages / 1_000
        for name, strategy in strategies(world, knowledge, rate).items():
            done = simulate_timely(world, strategy, rate, (60 - LEARN_DAYS) * 24.0)
            print(
                f"| {rate:.0f} | {NAMES[name]} | {done.remaining:.1%} |"
                f" {done.temporal_remaining:.1%} |"
                f" {done.temporal_fetched:.1%} | {hours(done.median_delay)} |"
                f" {hours(done.delay_90)} |"
                f" {done.wasted / max(done.fetches, 1):.0%} of {done.fetches:,} |"
            )


def hours(delay: float) -> str:
    """A delay; none where no temporal page was fetched."""
    return "none" if np.isnan(delay) else f"{delay:.1f} h"


def read(corpus: Path) -> tuple[TimelyWorld, Knowledge]:
    """The world from the truth of a corpus, and what the transits of the first days say."""
    pages = pq.read_table(corpus / "truth" / "pages.parquet")
    urls = pages.column("url").combine_chunks()
    number = {url: i for i, url in enumerate(urls.to_pylist())}
    is_hub = np.array(pages.column("kind").to_pylist()) == "hub"
    days = pages.column("birth").to_numpy().astype(np.float64)
    birth = np.where(is_hub, -1e9, (days - LEARN_DAYS) * 24.0)
    hubs = pq.read_table(corpus / "truth" / "hubs.parquet").to_pylist()
    world = TimelyWorld(
        _links(corpus, pages, hubs, number, birth, is_hub),
        _shown(hubs, number),
        birth,
        _filled(pages, "mu", 0.0),
        _filled(pages, "sigma", 1.0),
        _filled(pages, "amplitude", 0.0),
        np.array(pages.column("is_temporal").to_pylist()),
    )
    referrer, target = _learned(corpus, urls)
    is_new = (days >= 0) & ~is_hub
    followed = (referrer >= 0) & is_new[target]
    value = np.bincount(referrer[followed], minlength=len(urls)) / (LEARN_DAYS * 24.0)
    visits = np.bincount(target, minlength=len(urls)).astype(np.float64)
    site = np.array(pages.column("site").to_pylist(), object)
    fronts = {hub["url"] for hub in hubs if hub["role"] == "front"}
    listed = np.isin(site, list(_baseline(corpus)))
    is_front = np.array([url in fronts for url in urls.to_pylist()])
    return world, Knowledge(
        # Only the ratios of intervals count.
        hub_intervals(np.where(is_hub, value, 0.0), 1.0),
        _by_section(pages, visits, is_new & (visits > 0)),
        float((is_new & (visits > 0)).sum()) / (LEARN_DAYS * 24.0),
        is_front & listed,
        listed,
    )


def _links(
    corpus: Path,
    pages: pa.Table,
    hubs: list[dict[str, str]],
    number: dict[str, int],
    birth: NDArray[np.float64],
    is_hub: NDArray[np.bool_],
) -> LinkGraph:
    """Lists of hubs and links of other pages, those of a page in the order of birth."""
    mirror = pq.read_table(corpus / "mirror" / "links.parquet")
    ends = [_numbers(pages.column("url").combine_chunks(), mirror.column(c)) for c in (0, 1)]
    plain = ~is_hub[ends[0]]
    source, target = [ends[0][plain]], [ends[1][plain]]
    sites, sections = (np.array(pages.column(c).to_pylist()) for c in ("site", "section"))
    is_news = np.array(pages.column("is_news").to_pylist())
    for hub in hubs:
        of = ~is_hub & (sites == hub["site"])
        if hub["role"] == "index":
            of &= sections == hub["section"]
        elif hub["role"] == "hot":
            of &= is_news
        rows = np.flatnonzero(of)
        source.append(np.full(len(rows), number[hub["url"]]))
        target.append(rows)
    flat = [np.concatenate(parts).astype(np.int32) for parts in (source, target)]
    order = np.argsort(birth[flat[1]], kind="stable")
    return link_graph(len(number), flat[0][order], flat[1][order])


def _shown(hubs: list[dict[str, str]], number: dict[str, int]) -> NDArray[np.int64]:
    """Return the number of links that each page shows."""
    shown = np.zeros(len(number), np.int64)
    for hub in hubs:
        shown[number[hub["url"]]] = SHOWN[hub["role"]]
    return shown


def _filled(pages: pa.Table, column: str, missing: float) -> NDArray[np.float64]:
    return np.asarray(pc.fill_null(pages.column(column), missing)).astype(np.float64)


def _learned(corpus: Path, urls: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Referrer (-1: none of ours) and target of the transits of the first days."""
    transits = pq.read_table(corpus / "truth" / "transits.parquet")
    first = pc.min(transits.column("day")).as_py()
    early = transits.filter(pc.less(transits.column("day"), first + dt.timedelta(LEARN_DAYS)))
    referrer, target = (_numbers(urls, early.column(c)) for c in ("referrer", "target"))
    return referrer[target >= 0], target[target >= 0]


def _numbers(urls: pa.Array, wanted: pa.ChunkedArray) -> NDArray[np.int64]:
    places = pc.index_in(wanted, value_set=urls)
    return np.asarray(pc.fill_null(places, -1)).astype(np.int64)


def _by_section(
    pages: pa.Table, visits: NDArray[np.float64], counted: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the mean traffic of new pages in each page's section, as the policy has it."""
    columns = (pages.column(name).to_pylist() for name in ("site", "section"))
    names = ["".join(pair) for pair in zip(*columns, strict=True)]
    _, section = np.unique(names, return_inverse=True)
    total = np.bincount(section[counted], visits[counted], minlength=section.max() + 1)
    count = np.bincount(section[counted], minlength=section.max() + 1)
    return (total / np.maximum(count, 1))[section]


def _baseline(corpus: Path) -> set[str]:
    """Sites of the list, as people write them."""
    text = (corpus / "baseline.txt").read_text("utf-8")
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return {line.lower().split("//")[-1].strip("/") for line in lines if line}


if __name__ == "__main__":
    main()
