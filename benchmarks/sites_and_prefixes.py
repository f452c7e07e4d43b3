"""From labels to scores of sites and sections and to news prefixes, beside plain Python.

    python -m benchmarks.sites_and_prefixes [--pages 975151] [--sites 2000]

Both run here over the same pages, the number that TW and NP have; the prefixes and the scores of
sites are compared. Plain Python does what the papers say: dictionaries of folders, a recursive
walk, sums by site. The functions of `core` do the same and no more, from the same columns. The
assets read and publish Parquet, count clients and score every section besides,
without Dagster and checks; their times for a quarter of the pages show how they grow.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import resource
import tempfile
import time
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.transits import publish_transits
from benchmarks.window_builds import build, publish_rows
from temporal_assets import contracts
from temporal_assets.core.lists.prefix_tree import PAPER_RULE, score_sections
from temporal_assets.core.lists.site_scores import PAPER, Counts, score
from temporal_assets.core.text.url_sections import section_trees
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.engines.base import Engine
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.lists.news_prefixes import NEWS_PREFIXES
from temporal_assets.windows.lists.page_flow import PAGE_FLOW
from temporal_assets.windows.lists.prefix_trees import PREFIX_TREES
from temporal_assets.windows.lists.section_scores import SECTION_SCORES
from temporal_assets.windows.lists.site_scores import SITE_SCORES

_DAY = dt.date(2025, 5, 1)
_DAYS = 60
_ASSETS = (PAGE_FLOW, PREFIX_TREES, SITE_SCORES, SECTION_SCORES, NEWS_PREFIXES)
_SECTIONS = ("news/2025/{0}/", "china/{0}/", "guides/", "item.php?id=", "thread.php?page=2&id=")


def main() -> None:
    """Print seconds of both, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=975_151)
    parser.add_argument("--sites", type=int, default=2_000)
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores; {arguments.pages:,} pages of {arguments.sites:,} sites")
    quarter = _ours(make_pages(arguments.pages // 4, arguments.sites))
    pages = make_pages(arguments.pages, arguments.sites)
    ours = _ours(pages)
    started = time.perf_counter()
    prefixes, scores = plain_python(pages)
    plain = time.perf_counter() - started
    functions_of_core(pages.slice(0, 1000))  # compiled once, and kept for later processes
    started = time.perf_counter()
    compiled = functions_of_core(pages)
    core = time.perf_counter() - started
    print(f"{'':16}{'a quarter':>12}{'all':>10}{'ratio':>8}")
    for name, seconds in ours.seconds.items():
        before = quarter.seconds[name]
        print(f"{name:16}{before:>10.2f} s{seconds:>8.2f} s{seconds / before:>8.1f}")
    total = sum(ours.seconds.values())
    before = sum(quarter.seconds.values())
    print(f"{'all four':16}{before:>10.2f} s{total:>8.2f} s{total / before:>8.1f}")
    print(f"{'plain Python':16}{'':>12}{plain:>8.2f} s")
    print(f"{'core':16}{'':>12}{core:>8.2f} s   {plain / core:.1f} times as fast as plain Python")
    if compiled[0] != prefixes or any(
        abs(scores[site] - found) > 1e-9 for site, found in compiled[1].items()
    ):
        raise SystemExit("core and plain Python differ")
    if prefixes != ours.prefixes:
        raise SystemExit("the prefixes differ")
    if set(scores) != set(ours.scores) or any(
        abs(scores[site] - found) > 1e-9 for site, found in ours.scores.items()
    ):
        raise SystemExit("the scores differ")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(prefixes):,} prefixes, {len(scores):,} sites, equal; peak memory {peak:,.0f} MB")


class _Ours:
    """Seconds of each asset, and what came out."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.prefixes: list[str] = []
        self.scores: dict[str, float] = {}


def _ours(pages: pa.Table) -> _Ours:
    """The assets on an own store, by the papers' rule, so that both ways say the same."""
    result = _Ours()
    with tempfile.TemporaryDirectory() as folder:
        rules: dict[str, Any] = {
            "prefixes": {"rule": "paper", "threshold": PAPER_RULE.threshold},
            "privacy": {"min_clients": 1},
        }
        settings = load_settings(folder, **rules)
        store, engine = Store.open(settings), DuckDBEngine(settings)
        write(store, engine, pages)
        for asset in _ASSETS:
            started = time.perf_counter()
            build(store, engine, settings, asset, _DAY)
            result.seconds[asset.name] = time.perf_counter() - started
        found = store.read("news_prefixes", _DAY).column("prefix").to_pylist()
        result.prefixes = sorted(found)
        sites = store.read("site_scores", _DAY)
        scored = zip(sites["site"].to_pylist(), sites["score"].to_pylist(), strict=True)
        result.scores = {site: score for site, score in scored if score is not None}
    return result


def plain_python(pages: pa.Table) -> tuple[list[str], dict[str, float]]:
    """NP 5.2 and TW 4.3 with dictionaries."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    children: dict[str, set[str]] = defaultdict(set)
    sites: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    columns = (pages[name].to_pylist() for name in ("site", "url", "is_news", "is_temporal"))
    for site, url, news, temporal, total in zip(*columns, pages["total"].to_pylist(), strict=True):
        rest = url.split("://", 1)[1]
        path, question, _ = rest.partition("?")
        steps = path.split("/")
        sections = ["/".join(steps[: n + 1]) + "/" for n in range(len(steps) - 1)]
        if question:
            sections.append(path + "?")
        for above, section in zip([None, *sections], sections, strict=False):
            found = counts[section]
            found[0] += news
            found[1] += 1
            if above is not None:
                children[above].add(section)
        of_site = sites[site]
        of_site[0] += temporal
        of_site[1] += 1
        of_site[2] += total if temporal else 0
        of_site[3] += total
    prefixes: list[str] = []
    for site in sites:
        stack = [f"{site}/"]
        while stack:
            section = stack.pop()
            news, every = counts[section]
            if news / every > PAPER_RULE.threshold:
                prefixes.append(section)
            else:
                stack.extend(children[section])
    scores = {site: (3 * a / b + 2 * c / d) / 5 for site, (a, b, c, d) in sites.items()}
    return sorted(prefixes), scores


def functions_of_core(pages: pa.Table) -> tuple[list[str], dict[str, float]]:
    """The same, compiled: a root is a site, because these sites have one port each."""
    trees = section_trees(from_arrow(pages["url"].combine_chunks()))
    flags = {name: pages[name].to_numpy().astype(np.int64) for name in ("is_news", "is_temporal")}
    total = pages["total"].to_numpy()
    count = trees.total(np.ones(len(total), np.int64))
    found = score_sections(trees.parent, count, trees.total(flags["is_news"]), PAPER_RULE)
    roots = trees.parent < 0
    sums = (
        *(count, trees.total(flags["is_temporal"])),
        *(trees.total(total), trees.total(total * flags["is_temporal"])),
    )
    # The squares are for the bound, which the paper's rule has not.
    counts = Counts(*(one[roots] for one in sums), np.ones(int(roots.sum())))
    names = [trees.name(section) for section in np.flatnonzero(roots)]
    scores = score(counts, PAPER).score.tolist()
    sites = {name.removesuffix("/"): one for name, one in zip(names, scores, strict=True)}
    return sorted(trees.name(section) for section in np.flatnonzero(found.is_prefix)), sites


def make_pages(pages: int, sites: int) -> pa.Table:
    """Pages of sites of very different size, with news folders by day and lasting sections."""
    dice = np.random.default_rng(1)
    weights = np.arange(1, sites + 1) ** -0.7
    site = np.sort(dice.choice(sites, pages, p=weights / weights.sum()))
    kind = dice.choice(len(_SECTIONS), pages, p=(0.1, 0.06, 0.4, 0.24, 0.2))
    is_news = dice.random(pages) < np.where(kind < 2, 0.93, 0.1)
    day = dice.integers(1, 61, pages)
    hosts = [f"site{n}.example" for n in site]
    urls = [
        f"https://{host}/{_SECTIONS[k].format(f'{d:02d}')}{n:07d}"
        for n, (host, k, d) in enumerate(zip(hosts, kind.tolist(), day.tolist(), strict=True))
    ]
    total = 60 + dice.lognormal(3.0, 1.5, pages).astype(np.int64)
    columns = {"site": hosts, "url": urls, "is_news": is_news, "total": total}
    made = pa.table(columns | {"is_temporal": is_news})
    return made.sort_by([("site", "ascending"), ("url", "ascending")])


def write(store: Store, engine: Engine, pages: pa.Table) -> None:
    """Labels and histories of the pages, and days on which all of them are read once."""
    count = len(pages)
    day = pa.array([_DAY] * count)
    views = np.zeros((count, _DAYS), np.int32)
    views[:, -1] = pages["total"].to_numpy()
    fixed = {
        "phi_n": 0.5,
        "concentration": 1.0,
        "has_concentration": True,
        "is_sure": True,
        "n": 3.0,
        "q": 0.7,
        "m": 3,
        "p": 1.91,
        "is_born_before": False,
        "birth": _DAY,
        "referrer": None,
        "client": 1,
        "day": _DAY,
        "visits": 1,
        "referred": 0,
        "referrals": 0,
        "clients": 1,
        "few_clients": [1],
        "links": [],
        "is_new": False,
    }
    lists = pa.ListArray.from_arrays(
        pa.array(np.arange(count + 1, dtype=np.int32) * _DAYS), pa.array(views.ravel())
    )
    columns = {name: pages[name] for name in pages.column_names}
    columns |= {"day": day, "views": lists, "target": pages["url"]}
    for name in (
        "page_labels", "page_histories", "page_views", "transits", "early_labels", "page_traffic"
    ):  # fmt: skip
        schema = contracts.table(name).arrow_schema
        counted = name in ("page_views", "page_traffic")
        own = columns | ({"views": pages["total"]} if counted else {})
        arrays = [
            own[field.name].cast(field.type)
            if field.name in own
            else pa.array([fixed.get(field.name)], field.type).take(
                pa.array(np.zeros(count, np.int8))
            )
            for field in schema
        ]
        rows = pa.Table.from_arrays(arrays, schema=schema)
        # Nobody is young.
        rows = rows.slice(0, 0) if name == "early_labels" else rows
        if name == "transits":
            publish_transits(store, engine, _DAY, rows)
        else:
            publish_rows(store, engine, name, _DAY, rows, "site", "url")


if __name__ == "__main__":
    main()
