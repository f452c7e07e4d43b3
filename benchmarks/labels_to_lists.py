"""From labels and transits to scores, hubs and prefixes, at the papers' size, beside pandas.

    python -m benchmarks.labels_to_lists [--pages 975151] [--transits 20000000]

A web of sites with hubs: most transits lead from the hubs of a site to its pages, others from page
to page, and a fifth from nowhere. What is measured is everything from published labels and transits
to published scores, prefixes and seeds, without Dagster and checks, and what the seeds reach within
one and two hops; for a quarter of the pages and transits first, to show how it grows. pandas makes
the paper's order of hubs and the prefixes of the quarter, and no more; greedy coverage is compared
with a loop over Python sets.
"""

from __future__ import annotations

import argparse
import datetime as dt
import heapq
import os
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.sites_and_prefixes import make_pages
from benchmarks.window_builds import build, publish_rows
from temporal_assets import contracts
from temporal_assets.core.graph.link_graph import LinkGraph
from temporal_assets.core.graph.reach import reach
from temporal_assets.core.hubs.coverage import greedy_order
from temporal_assets.days.transits import make_transits, transit_inputs
from temporal_assets.engines.base import Engine
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.storage.manifest import Input, Manifest
from temporal_assets.storage.store import Store
from temporal_assets.windows.hubs.hub_seeds import HUB_SEEDS
from temporal_assets.windows.hubs.link_graph import link_tables, read_links
from temporal_assets.windows.lists.news_prefixes import NEWS_PREFIXES
from temporal_assets.windows.lists.page_flow import PAGE_FLOW
from temporal_assets.windows.lists.prefix_trees import PREFIX_TREES
from temporal_assets.windows.lists.section_scores import SECTION_SCORES
from temporal_assets.windows.lists.site_scores import SITE_SCORES
from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC

_SITES: Final = 2_000
_HUBS: Final = 20
"""Of each site."""
_BY_HUB: Final = 0.55
_BY_PAGE: Final = 0.25
_CLIENTS: Final = 1_000_000
_FIRST: Final = dt.date(2025, 3, 3)
_DAYS: Final = 60
_DAY: Final = _FIRST + dt.timedelta(days=_DAYS - 1)
_AS_PANDAS: Final = ("page_traffic", "hub_seeds", "prefix_trees", "news_prefixes")
"""What it takes to say what pandas says."""
_ASSETS: Final = (
    PAGE_FLOW,
    PAGE_TRAFFIC,
    PREFIX_TREES,
    SITE_SCORES,
    SECTION_SCORES,
    NEWS_PREFIXES,
    HUB_SEEDS,
)


@dataclass
class Run:
    """What came out of one size."""

    seconds: dict[str, float] = field(default_factory=dict)
    links: LinkGraph | None = None
    best: list[str] = field(default_factory=list)
    """First hubs of the paper's order."""
    prefixes: set[str] = field(default_factory=set)
    pandas: float = 0.0


def main() -> None:
    """Print seconds of each part, how they grow, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=975_151)
    parser.add_argument("--transits", type=int, default=20_000_000)
    asked = parser.parse_args()
    print(f"{os.cpu_count()} cores; {asked.transits:,} transits, {asked.pages:,} labelled pages")
    run(10_000, 100_000, beside_pandas=False)  # loops are compiled
    quarter = run(asked.pages // 4, asked.transits // 4, beside_pandas=True)
    whole = run(asked.pages, asked.transits, beside_pandas=False)
    print(f"{'':20}{'a quarter':>12}{'all':>10}{'ratio':>8}")
    rows = [*whole.seconds, "in all"]
    whole.seconds["in all"] = sum(whole.seconds.values())
    quarter.seconds["in all"] = sum(quarter.seconds.values())
    for name in rows:
        before, after = quarter.seconds[name], whole.seconds[name]
        print(f"{name:20}{before:>10.2f} s{after:>8.2f} s{after / before:>8.1f}")
    same = sum(quarter.seconds[name] for name in _AS_PANDAS)
    print(
        f"pandas, hubs and prefixes of the quarter: {quarter.pandas:.1f} s beside {same:.1f} s, "
        f"{quarter.pandas / same:.1f} times"
    )
    compare_greedy(whole)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:,.0f} MB, pandas included")


def run(pages: int, transits: int, *, beside_pandas: bool) -> Run:
    """Everything of one size, on a store of its own."""
    found = Run()
    with tempfile.TemporaryDirectory() as folder:
        # As the papers have it, so that pandas can say the same.
        rules: dict[str, Any] = {
            "prefixes": {"rule": "paper", "quiet": "keep"},
        }
        settings = load_settings(folder, **rules)
        store, engine = Store.open(settings), DuckDBEngine(settings)
        write(store, engine, make_pages(pages, _SITES), transits)
        for asset in _ASSETS:
            started = time.perf_counter()
            build(store, engine, settings, asset, _DAY)
            found.seconds[asset.name] = time.perf_counter() - started
        seeds = store.read("hub_seeds", _DAY)
        started = time.perf_counter()
        found.links = reached(store, engine, seeds, Path(folder))
        found.seconds["one and two hops"] = time.perf_counter() - started
        found.best = seeds.sort_by("paper_rank")["url"].to_pylist()[:100]
        found.prefixes = set(store.read("news_prefixes", _DAY)["prefix"].to_pylist())
        engine.close()
        if beside_pandas:
            started = time.perf_counter()
            best, prefixes = with_pandas(store)
            found.pandas = time.perf_counter() - started
            if best != found.best or prefixes != found.prefixes:
                raise SystemExit("pandas and the assets differ")
    return found


def reached(store: Store, engine: DuckDBEngine, seeds: pa.Table, out: Path) -> LinkGraph:
    """The graph around the seeds, and what they reach, as `hub_evaluation` finds it."""
    labels = store.read("page_labels", _DAY, ["url", "is_temporal"])
    wanted = out / "wanted.parquet"
    pq.write_table(labels.filter(labels["is_temporal"]).select(["url"]), wanted)
    ranked = seeds.filter(pc.is_valid(seeds["rank"])).sort_by("rank")["url"]
    tables = link_tables(
        engine,
        transit_inputs(store, store.window("transits", _DAY, _DAYS, 1).manifests),
        store.files("page_totals", _DAY),
        [str(wanted)],
        _FIRST,
        out,
        ranked.to_pylist(),
    )
    links = read_links(tables)
    urls = pq.read_table(tables.pages, columns=["url"])["url"]
    is_wanted = pc.is_in(urls, pq.read_table(wanted)["url"]).to_numpy()
    found = reach(links, is_wanted, pc.index_in(ranked, urls.combine_chunks()).to_numpy())
    one, two = int(found.one_hop[-1]), int(found.two_hops[-1])
    print(f"{len(ranked):,} seeds lead to {one:,} temporal pages, in two hops to {two:,}")
    return links


def with_pandas(store: Store) -> tuple[list[str], set[str]]:
    """The paper's hubs and prefixes (NP 5.1, 5.2) from the same files."""
    labels = store.read("page_labels", _DAY, ["url", "is_news"]).to_pandas()
    visits = _transits_of_pandas(store, ["target", "client"]).drop_duplicates()
    clients = visits.groupby("target").size()
    known = clients.index[clients >= 5].to_series()
    return hubs_of_pandas(store, known)["referrer"].tolist()[:100], _prefixes(labels)


def hubs_of_pandas(store: Store, known: pd.Series[str]) -> pd.DataFrame:
    """The paper's order of hubs: temporal pages that known pages lead to (NP 5.1)."""
    labels = store.read("page_labels", _DAY, ["url", "is_temporal"]).to_pandas()
    links = _transits_of_pandas(store, ["referrer", "target"]).dropna().drop_duplicates()
    links = links[links["target"].isin(labels.loc[labels["is_temporal"], "url"])]
    counts = links.groupby("referrer").size()
    counts = counts[counts.index.isin(known)]
    return counts.reset_index(name="pages").sort_values(
        ["pages", "referrer"], ascending=[False, True], ignore_index=True
    )


def _transits_of_pandas(store: Store, columns: list[str]) -> pd.DataFrame:
    days = store.window("transits", _DAY, _DAYS, 1).present
    return store.read("transits", days, columns).to_pandas()


def _prefixes(labels: pd.DataFrame) -> set[str]:
    """Sections level by level: whoever is good enough is taken, and what lies beneath is not."""
    rest = labels["url"].str.split("://", n=1).str[1]
    path, news = rest.str.split("?", n=1).str[0], labels["is_news"]
    steps = path.str.split("/")
    found: set[str] = set()
    taken = pd.Series(False, index=labels.index)
    programs = rest.str.contains("?", regex=False)
    deepest = steps.str.len() - 1
    for depth in range(1, int(deepest.max()) + 2):
        section = steps.str[:depth].str.join("/") + "/"
        section = section.where(depth <= deepest, path + "?")
        here = ~taken & ((depth <= deepest) | ((depth == deepest + 1) & programs))
        good = news[here].groupby(section[here]).mean()
        chosen = set(good.index[good > 0.8])
        found |= chosen
        taken |= here & section.isin(chosen)
    return found


def compare_greedy(whole: Run) -> None:
    """Greedy coverage over the same links, compiled and over Python sets."""
    if whole.links is None:
        raise SystemExit("there is no graph")
    links = whole.links
    candidates = np.flatnonzero(links.counts)
    started = time.perf_counter()
    greedy = greedy_order(links, candidates, 1542)
    compiled = time.perf_counter() - started
    plain = in_python(links, candidates.tolist(), 1542, int(greedy.gain.sum()))
    print(f"greedy {compiled:.3f} s, in plain Python {plain:.2f} s: {plain / compiled:.0f} times")


def in_python(links: LinkGraph, candidates: list[int], most: int, covers: int) -> float:
    """Seconds of lazy greedy over sets, from the same arrays."""
    started = time.perf_counter()
    start, target = links.first.tolist(), links.target.tolist()
    pages = {hub: set(target[start[hub] : start[hub + 1]]) for hub in candidates}
    heap = [(-len(found), hub) for hub, found in pages.items() if found]
    heapq.heapify(heap)
    covered: set[int] = set()
    taken = 0
    while heap and taken < most:
        _, hub = heapq.heappop(heap)
        gain = len(pages[hub] - covered)
        if heap and gain < -heap[0][0]:
            heapq.heappush(heap, (-gain, hub))
        elif gain == 0:
            break
        else:
            covered |= pages[hub]
            taken += 1
    seconds = time.perf_counter() - started
    # Ties may be broken in another way; what is reached differs by next to nothing.
    if abs(len(covered) - covers) > 0.001 * covers:
        raise SystemExit("the two ways reach different numbers of pages")
    return seconds


def write(store: Store, engine: Engine, pages: pa.Table, transits: int) -> None:
    """Labels, histories and curves of the pages; views and transits of every day."""
    dice = np.random.default_rng(1)
    site = np.array([int(name[4:-8]) for name in pages["site"].to_pylist()])
    hubs = [f"https://site{n // _HUBS}.example/hub/{n % _HUBS}" for n in range(_SITES * _HUBS)]
    urls = pa.concat_arrays([pages["url"].combine_chunks(), pa.array(hubs)])
    site = np.concatenate([site, np.repeat(np.arange(_SITES), _HUBS)])
    names = pa.array([f"site{n}.example" for n in range(_SITES)])
    total = np.zeros(len(urls), np.int64)
    birth = np.full(len(urls), -1)
    days_seen = np.zeros(len(urls), np.int64)
    opened: list[Input] = []
    share = np.cumsum(dice.lognormal(0, 1.8, len(pages)))  # a few pages have most of the readers
    for n in range(_DAYS):
        day = _FIRST + dt.timedelta(days=n)
        once = np.arange(n, len(pages), _DAYS)  # of a page that nobody opened there is no label
        source, target, client = _steps(dice, transits // _DAYS, once, site, share)
        columns = {
            "day": pa.repeat(pa.scalar(day), len(target)),
            "referrer": urls.take(pa.array(source, mask=source < 0)),
            "url": urls.take(pa.array(target)),
            "client": pa.array(client),
        }
        _write_transits(store, engine, day, pa.table(columns))
        page, views = np.unique(target, return_counts=True)
        total[page] += views
        birth[page] = np.where(birth[page] < 0, n, birth[page])
        days_seen[page] |= 1 << n
        columns = {"site": names.take(pa.array(site[page])), "url": urls.take(pa.array(page))}
        made = publish(store, engine, "page_views", day, columns | {"views": pa.array(views)})
        opened.append(Input(f"page_views/day={day}", made.digest))
    born = pa.array(np.datetime64(_FIRST) + np.maximum(birth, 0))
    seen = pa.array(np.flatnonzero(birth >= 0))
    every = {"site": names.take(pa.array(site)), "url": urls, "birth": born}
    every["total"] = pa.array(np.maximum(total, 1))
    totals = every | {"seen": pa.array(days_seen)}
    totals = {name: column.take(seen) for name, column in totals.items()}
    publish(store, engine, "page_totals", _DAY, totals, opened)
    known = {name: column.slice(0, len(pages)) for name, column in every.items()}
    _write_labels(store, engine, pages, known)


def _write_transits(store: Store, engine: Engine, day: dt.date, requests: pa.Table) -> None:
    """As the asset makes them."""
    with store.scratch() as scratch:
        path = scratch / "requests.parquet"
        pq.write_table(requests, path)
        made = make_transits(engine, [str(path)], scratch)
        store.publish("transits", day, made.rows, inputs=[], settings_digest="", beside=made.urls)


def _write_labels(
    store: Store, engine: Engine, pages: pa.Table, known: dict[str, pa.Array]
) -> None:
    count = len(pages)
    views = np.zeros((count, _DAYS), np.int32)
    views[:, -1] = pages["total"].to_numpy()
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * _DAYS)
    lists = pa.ListArray.from_arrays(offsets, pa.array(views.ravel()))
    columns = known | {name: pages[name] for name in ("is_news", "is_temporal", "total")}
    columns |= {"mu": pa.array(np.full(count, 0.5)), "views": lists}
    for name in ("page_labels", "page_histories", "interest_curves"):
        publish(store, engine, name, _DAY, columns)
    publish(store, engine, "early_labels", _DAY, {"url": pa.array([], pa.string())})


def _steps(
    dice: np.random.Generator,
    count: int,
    once: np.ndarray,
    site: np.ndarray,
    share: np.ndarray,
) -> Sequence[np.ndarray]:
    """Referrers (-1 for nowhere), targets and clients of one day, by number.

    Pages that are opened at least `once` are, from hubs.
    """
    pages = len(share)
    target = np.searchsorted(share, dice.random(count) * share[-1])
    way = dice.random(count)
    target[: len(once)], way[: len(once)] = once, 0
    # Low numbers are the front page and the large sections.
    hub = (dice.random(count) ** 3 * _HUBS).astype(np.int64)
    hub_page = pages + site[target] * _HUBS + hub
    near = np.clip(target + dice.integers(1, 4, count), 0, pages - 1)
    nowhere = way >= _BY_HUB + _BY_PAGE
    source = np.where(way < _BY_HUB, hub_page, np.where(nowhere, -1, near))
    # Those who come from nowhere open a hub as often as a page.
    target = np.where(nowhere & (hub % 2 == 0), hub_page, target)
    return source, target, dice.integers(0, _CLIENTS, count)


def publish(
    store: Store,
    engine: Engine,
    name: str,
    day: dt.date,
    columns: dict[str, Any],
    inputs: Sequence[Input] = (),
) -> Manifest:
    """A partition with the columns there are, and zeros or nothing for the others."""
    schema = contracts.table(name).arrow_schema
    count = len(next(iter(columns.values())))
    fixed = {pa.bool_(): False, pa.string(): "", pa.date32(): day}
    arrays = []
    for column in schema:
        if column.name in columns and column.name != "day":
            arrays.append(columns[column.name].cast(column.type))
        else:
            scalar = pa.scalar(fixed.get(column.type, 0), column.type)
            arrays.append(pa.repeat(scalar, count))
    rows = pa.Table.from_arrays(arrays, schema=schema)
    return publish_rows(store, engine, name, day, rows, "site", "url", inputs=inputs)


if __name__ == "__main__":
    main()
