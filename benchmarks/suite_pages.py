"""Labelled pages for lines of the benchmark suite about sites and prefixes, also in plain Python.

Plain Python does what the papers say: dictionaries of folders, a recursive walk, sums by site. The
functions of `core` do the same and no more, from the same columns.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict

import numpy as np
import pyarrow as pa

from benchmarks.transits import publish_transits
from benchmarks.window_builds import publish_rows
from temporal_assets import contracts
from temporal_assets.core.lists.prefix_tree import PAPER_RULE, score_sections
from temporal_assets.core.lists.site_scores import PAPER, Counts, score
from temporal_assets.core.text.url_sections import section_trees
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.engines.base import Engine
from temporal_assets.storage.store import Store

_DAY = dt.date(2025, 5, 1)
_DAYS = 60
_SECTIONS = ("news/2025/{0}/", "china/{0}/", "guides/", "item.php?id=", "thread.php?page=2&id=")


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
            counted = counts[section]
            counted[0] += news
            counted[1] += 1
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
    section_scores = score_sections(trees.parent, count, trees.total(flags["is_news"]), PAPER_RULE)
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
    return sorted(
        trees.name(section) for section in np.flatnonzero(section_scores.is_prefix)
    ), sites


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
    pages_made = pa.table(columns | {"is_temporal": is_news})
    return pages_made.sort_by([("site", "ascending"), ("url", "ascending")])


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
        "seen": 1,
        "number": 0,
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
        "page_labels", "page_histories", "page_views", "transits", "early_labels",
        "page_totals", "page_traffic",
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
