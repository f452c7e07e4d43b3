"""Quality of the URL patterns on the logs at hand: BB 5.2 on the published days.

Here: learning on the first days, judging on later ones and on a mirror, over all sites together.
Not here: the measures (`core.patterns.pattern_quality`), showing them
(`cli.reports.pattern_quality`).

Coverage of later days (Figure 6) is out of time: nothing was learned from these days. The
divergence of traffic (Table 4) is in sample, on the days that were learned from; a mirror has pages
of any day.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.contracts.pages.page_totals import SEEN_BITS
from temporal_assets.core.numerics.arrays import Flags
from temporal_assets.core.numerics.distinct import distinct_numbers
from temporal_assets.core.patterns.pattern_match import NOWHERE, PatternMatcher, compile_matcher
from temporal_assets.core.patterns.pattern_quality import (
    LayoutSimilarity,
    layout_consistency,
    traffic_divergence,
    tree_size,
)
from temporal_assets.core.patterns.site_patterns import CUTS, SiteTraffic
from temporal_assets.core.text.page_layout import tag_paths
from temporal_assets.core.text.texts import texts
from temporal_assets.crawl.mirror.traffic import traffic_of
from temporal_assets.days.transits import transit_inputs
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.engines.base import Engine
from temporal_assets.settings import Settings
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.day_numbers import DayFiles
from temporal_assets.windows.pages.page_totals import whole_window
from temporal_assets.windows.patterns.pattern_nodes import learn
from temporal_assets.windows.patterns.url_patterns import pattern_options
from temporal_assets.windows.traffic.page_traffic import CHANCE, write_traffic

URLS: Final = "urls"
"""Name of the baseline of single URLs: what a crawler without patterns knows."""

METHODS: Final = (*CUTS, URLS)

_LAYOUT_PAIRS: Final = 500
_LAYOUT_PAGES: Final = 30
"""Pages of a pattern that are parsed: enough for pairs, and a second for a thousand pages."""


@dataclass(slots=True)
class Share:
    """A part of a whole, counted in URLs and in visits."""

    urls: int = 0
    known_urls: int = 0
    visits: float = 0.0
    known_visits: float = 0.0

    def add(self, is_known: Flags, visits: np.ndarray) -> None:
        """Count more URLs."""
        self.urls += len(is_known)
        self.known_urls += int(is_known.sum())
        self.visits += float(visits.sum())
        self.known_visits += float(visits[is_known].sum())

    @property
    def by_urls(self) -> float | None:
        """Return the share of the URLs that are known; None without URLs."""
        return self.known_urls / self.urls if self.urls else None

    @property
    def by_visits(self) -> float | None:
        """Return the share of the visits that are to known URLs; None without visits."""
        return self.known_visits / self.visits if self.visits else None


@dataclass(slots=True)
class MethodQuality:
    """Quality of one method over all sites: a row of BB Tables 3 and 4 and a line of Figure 6."""

    leaves: int = 0
    height: int = 0
    """Height of the highest tree."""
    divergence: float | None = None
    """Jensen-Shannon divergence in bits on the days learned from; mean over sites by their
    visits."""
    mirror: Share = field(default_factory=Share)
    layout: LayoutSimilarity | None = None
    later: list[Share] = field(default_factory=list)
    """Shares of URLs and visits that are covered, one for each period."""


@dataclass(frozen=True, slots=True)
class PatternQuality:
    """The quality of patterns, and the days on which they were learned."""

    learned: tuple[dt.date, dt.date]
    periods: tuple[tuple[dt.date, dt.date], ...]
    """First and last day of each period that the patterns are judged on."""
    sites: int
    methods: dict[str, MethodQuality]


@dataclass(frozen=True, slots=True)
class _Site:
    """Patterns of a site as they were learned on the first days."""

    traffic: SiteTraffic
    matchers: dict[str, PatternMatcher]
    known: pa.Array


def assess(
    store: Store,
    engine: Engine,
    settings: Settings,
    days: Sequence[dt.date],
    periods: int,
    mirror: pa.Table | None = None,
    sites: Collection[str] = (),
) -> PatternQuality:
    """Learn on the first of `periods` equal parts of the days and judge on the others.

    Args:
        store: The published tables.
        engine: Engine of the queries.
        settings: Settings of the installation.
        days: Published days, ascending.
        periods: Number of equal parts.
        mirror: Column `url` of a crawl, and perhaps `html`, which may be NULL.
        sites: Sites to judge; all if empty.
    """
    parts = [part.tolist() for part in np.array_split(np.array(days, object), periods)]
    methods = {name: MethodQuality(later=[Share() for _ in parts[1:]]) for name in METHODS}
    learned: dict[str, _Site] = {}
    divergences = defaultdict[str, list[tuple[float, float]]](list)
    with store.scratch() as scratch:
        for name, rows in _sites(_traffic(store, engine, settings, parts[0], scratch, sites)):
            learned[name] = _learn(rows, settings, methods, divergences)
    for name, values in divergences.items():
        weights = [weight for weight, _ in values]
        methods[name].divergence = float(
            np.average([value for _, value in values], weights=weights)
        )
    for number, part in enumerate(parts[1:]):
        _judge(
            store,
            engine,
            part,
            learned,
            {name: quality_of_method.later[number] for name, quality_of_method in methods.items()},
        )
    if mirror is not None:
        _judge_mirror(mirror, learned, methods)
    spans = tuple((part[0], part[-1]) for part in parts)
    return PatternQuality(spans[0], spans[1:], len(learned), methods)


def _traffic(
    store: Store,
    engine: Engine,
    settings: Settings,
    days: Sequence[dt.date],
    scratch: Path,
    sites: Collection[str],
) -> pa.Table:
    """Return `page_traffic` of some days, counted as the asset counts a window."""
    labels = scratch / "page_labels.parquet"
    pq.write_table(contracts.PAGE_LABELS.arrow_schema.empty_table(), labels)
    views = {"page_views": _files(store, "page_views", days)}
    window = whole_window(days[0], days[-1])
    totals = engine.query("page_totals", views, window, contracts.PAGE_TOTALS, scratch)
    tables = {"page_totals": [str(path) for path in totals], "page_labels": [str(labels)]}
    transits = [store.require("transits", day) for day in days]
    store.verify_all(transits)
    parameters = {
        "day": days[-1],
        "new_from": days[-1],
        "observed_days": (days[-1] - days[0]).days + 1,
        "chance": CHANCE,
        "least_clients": settings.privacy.min_clients,
    }
    files = [DayFiles.of(store, day) for day in transits]
    written = write_traffic(engine, files, _first(store, transits), tables, parameters, scratch)
    rows = pq.read_table(written, filters=_among(sites), partitioning=None)
    urls = pq.read_table(tables["page_totals"], columns=["url"], partitioning=None)["url"]
    at = rows.column_names.index("url")
    return rows.set_column(at, "url", urls.take(rows["url"]))


def _first(store: Store, transits: Sequence[Manifest]) -> dt.date | None:
    """Return the first day; None if `seen` has too few bits, or views are of other requests."""
    first = transits[0].day
    has_bits = (transits[-1].day - first).days < SEEN_BITS and all(
        store.require("page_views", manifest.day).inputs == manifest.inputs for manifest in transits
    )
    return first if has_bits else None


def _among(sites: Collection[str]) -> pc.Expression | None:
    return pc.field("site").isin(sorted(sites)) if sites else None


def _files(store: Store, asset: str, days: Sequence[dt.date]) -> list[str]:
    return [path for day in days for path in store.files(asset, day)]


def _sites(rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Yield the rows of each site; they must be consecutive."""
    if not len(rows):
        return
    runs = pc.run_end_encode(rows.column("site").combine_chunks())
    start = 0
    for name, stop in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        yield name, rows.slice(start, stop - start)
        start = stop


def _learn(
    rows: pa.Table,
    settings: Settings,
    methods: dict[str, MethodQuality],
    divergences: dict[str, list[tuple[float, float]]],
) -> _Site:
    traffic, learned = learn(rows, pattern_options(settings))
    visits = float(traffic.visits.sum())
    for name, tree in learned.trees.items():
        size = tree_size(tree)
        methods[name].leaves += size.leaves
        methods[name].height = max(methods[name].height, size.height)
        if visits > 0:
            number = tree.pattern_of_url()
            divergences[name].append((visits, traffic_divergence(number, traffic.visits)))
    methods[URLS].leaves += len(traffic.urls)
    matchers = {str(name): compile_matcher(tree) for name, tree in learned.trees.items()}
    return _Site(traffic, matchers, rows.column("url").combine_chunks())


def _judge(
    store: Store,
    engine: Engine,
    days: Sequence[dt.date],
    sites: dict[str, _Site],
    shares: dict[str, Share],
) -> None:
    """Count the URLs of later days that are covered, and the visits to them."""
    if not sites:
        return
    with store.scratch() as scratch:
        transits = transit_inputs(store, [store.require("transits", day) for day in days])
        rows = traffic_of(engine, transits, scratch, sites).pages
    for name, part in _sites(rows):
        if name in sites:
            visits = part.column("visits").to_numpy().astype(np.float64)
            for method, is_known in _covered(sites[name], part.column("url")).items():
                shares[method].add(is_known, visits)


def _covered(site: _Site, urls: pa.ChunkedArray) -> dict[str, Flags]:
    """Return, by method, flags of the URLs that are covered."""
    flat = from_arrow(urls)
    known_by_method: dict[str, Flags] = {
        name: matcher.match_leaves(flat) != NOWHERE for name, matcher in site.matchers.items()
    }
    known_by_method[URLS] = pc.is_in(urls, value_set=site.known).to_numpy()
    return known_by_method


def _judge_mirror(
    mirror: pa.Table, sites: dict[str, _Site], methods: dict[str, MethodQuality]
) -> None:
    """Measure the coverage of a crawl's pages, and how alike the pages of a pattern are built."""
    hosts = pc.struct_field(
        pc.extract_regex(mirror.column("url"), r"^[a-z]+://(?P<host>[^/:?]+)"), "host"
    )
    groups = {str(cut): dict[tuple[int, int], list[dict[str, float]]]() for cut in CUTS}
    for number, (name, site) in enumerate(sorted(sites.items())):
        part = mirror.filter(pc.fill_null(pc.equal(hosts, name), False))
        if not len(part):
            continue
        nothing = np.zeros(len(part))
        for method, is_known in _covered(site, part.column("url")).items():
            methods[method].mirror.add(is_known, nothing)
        if "html" in part.column_names:
            for cut, group in groups.items():
                _group_pages(part, number, site.matchers[cut], group)
    if "html" in mirror.column_names:
        for cut, group in groups.items():
            methods[cut].layout = layout_consistency(group, _LAYOUT_PAIRS, seed=0)


def _group_pages(
    pages: pa.Table,
    site: int,
    matcher: PatternMatcher,
    groups: dict[tuple[int, int], list[dict[str, float]]],
) -> None:
    """Add the tag paths of a site's pages to the groups of its patterns."""
    urls, html = pages.column("url").to_pylist(), pages.column("html")
    leaves = matcher.match_leaves(texts(urls))
    leaves[html.is_null().to_numpy()] = NOWHERE  # a mirror keeps the HTML of some of its pages
    for leaf in distinct_numbers(leaves[leaves != NOWHERE]).tolist():
        members = np.flatnonzero(leaves == leaf)[:_LAYOUT_PAGES].tolist()
        groups[site, leaf] = [tag_paths(html[member].as_py()) for member in members]
