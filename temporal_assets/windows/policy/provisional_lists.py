"""`provisional_lists`: what to fetch where pages have no labels yet.

Labels need days of views and many readers. In the first days of an installation, and always on
small sites, only this is known: how many clients opened which page on which day, and how its URL is
built. It tells news from lasting pages on the second day already (`core.labels.fading`).

Here: which sites are judged so, and a kernel for their rows. Not here: the mathematics, and how the
policy uses the result (`windows.policy.crawl_policy`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from temporal_assets.contracts import PROVISIONAL_LISTS as TABLE
from temporal_assets.contracts import passing
from temporal_assets.core.labels.fading import LEAST_VIEWS, fading_evidence, fading_share
from temporal_assets.core.lists.dated_sections import dated_sections, passing_sections
from temporal_assets.core.lists.provisional import (
    URGENT_SHARE,
    pattern_shares,
    section_shares,
    sections_to_list,
)
from temporal_assets.core.numerics.arrays import Floats, Int64s
from temporal_assets.core.patterns.pattern_match import compile_matcher
from temporal_assets.core.patterns.pattern_rules import tree_of
from temporal_assets.core.text.texts import Texts
from temporal_assets.core.text.url_sections import section_trees
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.frame.window_end import USUAL_SHARE
from temporal_assets.windows.labels.page_labels import PAGE_LABELS
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from temporal_assets.windows.patterns.pattern_ranks import pattern_above
from temporal_assets.windows.patterns.url_patterns import URL_PATTERNS
from temporal_assets.windows.traffic.page_traffic import PAGE_TRAFFIC

ENOUGH_PAGES: Final = 5
"""Number of labelled pages from which on a site is judged by labels alone: with fewer, chance
decides, as with `FEWEST_PAGES`."""

_ROWS: Final = passing(
    "provisional_rows",
    "site VARCHAR, pattern BIGINT, parent BIGINT, rule VARCHAR, template VARCHAR,"
    " is_pattern BOOLEAN, url VARCHAR, clients BIGINT, views INTEGER[]",
)


@dataclass(frozen=True, slots=True)
class _Pages:
    """Pages of one site that are judged."""

    views: Floats
    """Views by page and day, shape (pages, published days)."""
    days: Int64s
    """Published days, as days since the first of the window."""
    clients: Int64s
    """Clients of each page."""
    probability: Floats
    """Probability that the interest in each page fades."""
    share: float
    """Expected share of fading pages of the site."""

    @property
    def fading_births(self) -> Floats:
        """Probability of each page first opened after the first day; 0 for all others."""
        born: Floats = self.probability * (self.views[:, 0] == 0)
        return born


def judge_sites(rows: pa.Table, day: dt.date, observed: Sequence[int]) -> pa.RecordBatch:
    """Return rows of `provisional_lists` for rows of `provisional_rows`; sites must be complete.

    Args:
        rows: The nodes of each site's tree, followed by its pages.
        day: Last day of the window.
        observed: Indices of the published days of the window.
    """
    rows = rows.combine_chunks()
    site_rows: list[dict[str, Any]] = []
    ends = pc.run_end_encode(rows["site"].combine_chunks()).run_ends.to_pylist() if rows else []
    for start, stop in pairwise([0, *ends]):
        site_rows += _of_site(rows.slice(start, stop - start), np.array(observed, np.int64))
    columns = {
        name: [row[name] for row in site_rows] for name in TABLE.column_names if name != "day"
    }
    table = pa.table({"day": [day] * len(site_rows), **columns}, TABLE.arrow_schema)
    (batch,) = table.combine_chunks().to_batches() or [
        pa.RecordBatch.from_pylist([], TABLE.arrow_schema)
    ]
    return batch


def _of_site(rows: pa.Table, observed: Int64s) -> Iterator[dict[str, Any]]:
    """Yield the rows of one site: the site itself, its sections and its patterns."""
    is_page = rows["url"].is_valid()
    nodes, page_rows = rows.filter(pc.invert(is_page)), rows.filter(is_page)
    pages = _pages(page_rows, observed)
    site = rows["site"][0].as_py()
    urls = from_arrow(page_rows["url"].combine_chunks())
    common = {"site": site, "days": len(pages.days)}
    everything = np.zeros(len(page_rows), np.int64)
    yield (
        common
        | {"kind": "site", "name": site, "pattern": -1}
        | _sums(pages, everything, 1)[0]
        | {
            "share": pages.share,
            "is_listed": bool(pages.share > URGENT_SHARE),
        }
    )
    yield from (common | row for row in _sections(urls, pages))
    yield from (common | row for row in _patterns(nodes, urls, pages))


def _pages(page_rows: pa.Table, observed: Int64s) -> _Pages:
    """Return a site's pages with the probability that interest in each fades."""
    flat = page_rows["views"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    width = len(flat) // len(page_rows) if len(page_rows) else int(observed[-1]) + 1
    views = np.asarray(flat.reshape(len(page_rows), width), np.float64)[:, observed]
    first = _first_usual(views.sum(axis=0))
    views, days = views[:, first:], observed[first:]
    says = views.sum(axis=1) >= LEAST_VIEWS
    evidence = np.zeros(len(views))
    evidence[says] = fading_evidence(views[says], days)
    share, probability = fading_share(evidence[says])
    chance = np.full(len(views), share)
    chance[says] = probability
    return _Pages(views, days, page_rows["clients"].to_numpy(), chance, share)


def _first_usual(traffic: Floats) -> int:
    """Return the index of the first day with usual traffic: a few early lines are no first day."""
    usual = USUAL_SHARE * float(np.median(traffic)) if len(traffic) else 0.0
    return int(np.argmax(traffic >= usual)) if traffic.any() else 0


def _sums(pages: _Pages, part: NDArray[np.int64], parts: int) -> list[dict[str, Any]]:
    """Return the counts of the pages of each part; pages of part -1 are left out."""
    has_part = part >= 0
    of, days = part[has_part], len(pages.days)
    count = np.bincount(of, minlength=parts)
    views = np.bincount(of, pages.views.sum(axis=1)[has_part], parts)
    born = np.bincount(of, pages.fading_births[has_part], parts)
    clients = np.zeros(parts, np.int64)
    np.maximum.at(clients, of, pages.clients[has_part])
    return [
        {
            "pages": int(count[n]),
            "views": int(views[n]),
            "clients": int(clients[n]),
            "new_per_day": float(born[n]) / (days - 1) if days > 1 else None,
        }
        for n in range(parts)
    ]


def _sections(urls: Texts, pages: _Pages) -> Iterator[dict[str, Any]]:
    """Yield a row for each section of a site."""
    trees = section_trees(urls)
    names = trees.names()
    count = trees.total(np.ones(len(urls), np.int64)).astype(np.float64)
    thousandths = np.rint(1000 * pages.probability).astype(np.int64)
    fading = trees.total(thousandths) / 1000
    share = section_shares(trees.parent, count, fading, pages.share)
    dated = dated_sections(names)
    listed = sections_to_list(trees.parent, count, share, dated, passing_sections(names))
    views = trees.total(pages.views.sum(axis=1).astype(np.int64))
    born = trees.total(np.rint(1000 * pages.fading_births).astype(np.int64)) / 1000
    clients = trees.most(pages.clients)
    days = len(pages.days)
    for n, name in enumerate(names):
        yield {
            "kind": "section",
            "name": name,
            "pattern": -1,
            "pages": int(count[n]),
            "share": float(share[n]),
            "new_per_day": float(born[n]) / (days - 1) if days > 1 else None,
            "views": int(views[n]),
            "clients": int(clients[n]),
            "is_listed": bool(listed[n]),
        }


def _patterns(nodes: pa.Table, urls: Texts, pages: _Pages) -> Iterator[dict[str, Any]]:
    """Yield a row for each pattern of a site."""
    above = pattern_above(nodes)
    part = np.full(len(urls), -1, np.int64)
    if len(urls):
        tree = tree_of(nodes["parent"].to_pylist(), nodes["rule"].to_pylist())
        matched = compile_matcher(tree).match(urls).astype(np.int64)
        part = np.where(matched >= 0, above[np.maximum(matched, 0)], -1)
    _, share = pattern_shares(part, pages.probability, len(nodes), pages.share)
    sums = _sums(pages, part, len(nodes))
    number, template = nodes["pattern"].to_pylist(), nodes["template"].to_pylist()
    for n in np.flatnonzero(nodes["is_pattern"].to_numpy(zero_copy_only=False)).tolist():
        yield sums[n] | {
            "kind": "pattern",
            "name": template[n],
            "pattern": number[n],
            "share": float(share[n]),
            "is_listed": bool(share[n] > URGENT_SHARE),
        }


def _make(job: Job) -> Sequence[Path]:
    """Write `provisional_lists`: select the rows by site, and judge each site."""
    present = job.present("page_views")
    window = job.settings.window
    inputs = {
        "page_views": list(job.window("page_views").files),
        **{name: job.files(name) for name in _TABLES},
    }
    parameters = {
        "first": job.first,
        "days": window.days,
        "least_views": LEAST_VIEWS,
        "enough_pages": ENOUGH_PAGES,
        "is_short": len(present) < window.min_days,
    }
    rows = job.engine.query("provisional_rows", inputs, parameters, _ROWS, job.out)
    observed = [(day - job.first).days for day in present]
    kernel = partial(judge_sites, day=job.day, observed=observed)
    groups = {_ROWS.name: [str(path) for path in rows]}
    return job.engine.apply_groups(kernel, groups, "site", job.asset.table, job.out, None)


_TABLES: Final = ("page_totals", "page_labels", "page_traffic", "url_patterns")

PROVISIONAL_LISTS: Final = WindowAsset(
    "provisional_lists",
    _make,
    windows=("page_views",),
    tables=(PAGE_TOTALS, PAGE_LABELS, PAGE_TRAFFIC, URL_PATTERNS),
    sql=("provisional_rows",),
    settings=lambda settings: [settings.window.days, settings.window.min_days],
)
