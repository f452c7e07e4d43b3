"""Evaluation of crawl orders on every site of a mirror: learned on one period, scored on a later.

Here: BB 5.3 from traffic to curves. Not here: the orders (`core.crawls.crawl_policies`), the crawl
(`core.crawls.crawl_simulation`), where traffic comes from (`traffic`).

Sites are crawled one by one from their home pages and count the same in the average, as in the
paper. All shares are of the pages of the mirror and of their traffic: pages that are not in the
mirror count for no order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.core.crawls.crawl_curves import (
    CrawlCurve,
    curve_of,
    fetch_bound,
    mean_curve,
    seen_bound,
)
from temporal_assets.core.crawls.crawl_policies import (
    BASELINES,
    POLICIES,
    SCENARIOS,
    Scenario,
    SiteKnowledge,
    Training,
    policy_scores,
)
from temporal_assets.core.crawls.crawl_simulation import HostLimit, crawl, reachable
from temporal_assets.core.crawls.opic import opic_scores
from temporal_assets.core.graph.link_graph import LinkGraph, part
from temporal_assets.core.graph.page_rank import page_rank
from temporal_assets.core.numerics.arrays import Floats
from temporal_assets.core.patterns.pattern_match import compile_matcher
from temporal_assets.core.patterns.site_patterns import SiteTraffic, learn_patterns
from temporal_assets.crawl.mirror.mirror import Mirror
from temporal_assets.crawl.mirror.traffic import Learning, Traffic
from temporal_assets.engines.arrow_texts import from_arrow

ORACLE: Final = "oracle"
"""Name of the upper bound that no order can exceed (`core.crawls.crawl_curves`)."""

FEWEST_PAGES: Final = 50
"""Fewest pages of a site: with fewer, a curve is a matter of single pages."""

_DRAWS: Final = 1000
"""Number of bootstrap samples of sites."""
_SEED: Final = 2011

Curves = Mapping[str, Mapping[str, CrawlCurve]]
"""Curves by scenario, then by policy."""


@dataclass(frozen=True, slots=True)
class SiteResult:
    """Crawls of one site of the mirror."""

    site: str
    start: str
    pages: int
    reachable: int
    links: int
    patterns: int
    covered: float
    """Share of the mirror's pages that a pattern covers."""
    traffic: float
    """Traffic of the mirror's pages in the period of scoring."""
    visited: int
    """Number of pages of the mirror with such traffic."""
    in_mirror: float
    """Share of the site's traffic that is of pages of the mirror."""
    curves: Curves


@dataclass(frozen=True, slots=True)
class Gain:
    """Difference of two curves at some shares of the pages, with its 95 % interval over sites."""

    mean: Floats
    low: Floats | None
    """Lower bound, as `high` the upper one; None where there is one site only."""
    high: Floats | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Results of all sites, and sites that could not be judged."""

    sites: tuple[SiteResult, ...]
    skipped: Mapping[str, str]
    """Reason for each skipped site."""

    def mean(self, scenario: str) -> dict[str, CrawlCurve]:
        """Return the average curve of every policy, the best of ours first."""
        names = self.sites[0].curves[scenario] if self.sites else ()
        return {
            name: mean_curve([site.curves[scenario][name] for site in self.sites]) for name in names
        }

    def best_baseline(self, scenario: str, throughputs: Floats) -> list[str]:
        """Return the simple order with the most traffic at each share of the pages.

        The order is chosen with hindsight, which flatters it.
        """
        curves = self.mean(scenario)
        shares = np.array([curves[name].at(throughputs) for name in BASELINES])
        return [BASELINES[row] for row in np.argmax(np.round(shares, 12), axis=0)]

    def gain(self, scenario: str, name: str, others: Sequence[str], throughputs: Floats) -> Gain:
        """Return the lead of a policy over another, which is given for each share of the pages.

        Sites are drawn again with replacement for the interval; one site has none.
        """
        rows = []
        for site in self.sites:
            curves = site.curves[scenario]
            theirs = {other: curves[other].at(throughputs) for other in set(others)}
            beside = [theirs[other][i] for i, other in enumerate(others)]
            rows.append(curves[name].at(throughputs) - np.array(beside))
        differences = np.array(rows)
        if len(rows) < 2:
            return Gain(differences.mean(axis=0), None, None)
        drawn = np.random.default_rng(_SEED).multinomial(
            len(rows), np.full(len(rows), 1 / len(rows)), _DRAWS
        )
        low, high = np.quantile(drawn @ differences / len(rows), (0.025, 0.975), axis=0)
        return Gain(differences.mean(axis=0), low, high)

    def sites_ahead(self, scenario: str, name: str, other: str, wanted: float = 0.8) -> int:
        """Return on how many sites a policy needs fewer pages than another for a share of traffic.

        A policy that never has it needs more than any that does.
        """
        needed = (
            [site.curves[scenario][order_name].pages_for(wanted) for order_name in (name, other)]
            for site in self.sites
        )
        return sum(
            mine is not None and (theirs is None or mine < theirs) for mine, theirs in needed
        )


def evaluate(
    mirror: Mirror,
    learned: Learning,
    scored: pa.Table,
    only: Collection[str] = (),
    seed: int = 1,
    on_site: Callable[[int], None] = lambda _: None,
) -> Evaluation:
    """Crawl the sites of a mirror under every policy.

    Args:
        mirror: Pages and links.
        learned: Traffic of the period to learn from.
        scored: Site, url and visits of the later period.
        only: Sites to crawl, all if empty.
        seed: Seed of random orders.
        on_site: Function that is told how many sites are done.
    """
    logs, sent = _Logs.of(learned), _by_site(scored)
    sites: list[SiteResult] = []
    skipped: dict[str, str] = {}
    for i, site in enumerate(mirror.sites):
        if only and site not in only:
            continue
        pages = int(mirror.first[i + 1] - mirror.first[i])
        if pages < FEWEST_PAGES:
            skipped[site] = f"fewer than {FEWEST_PAGES} pages in the mirror"
        elif site not in logs.whole.pages:
            skipped[site] = "no traffic to learn from"
        elif site not in sent:
            skipped[site] = "no traffic to be scored by"
        else:
            result = _site(mirror, i, logs, sent[site], seed)
            if result.traffic > 0:
                sites.append(result)
            else:
                skipped[site] = "no page of the mirror has traffic to be scored by"
        on_site(i + 1)
    return Evaluation(tuple(sites), skipped)


@dataclass(frozen=True, slots=True)
class Politeness:
    """Most pages of a host in a number of fetches (`core.crawls.crawl_simulation.HostLimit`)."""

    pages: int
    fetches: int


def evaluate_together(
    mirror: Mirror,
    learned: Learning,
    scored: pa.Table,
    politeness: Politeness | None = None,
    seed: int = 1,
) -> Evaluation:
    """Crawl all sites of a mirror as one, from all their home pages, as a crawler does.

    PageRank is that of the whole mirror. Ranks of patterns are ranks within a site, so that the
    best patterns of all sites come first; pages of sites without traffic to learn from come last.
    """
    logs = _Logs.of(learned)
    traffic = _aligned(mirror.urls, scored, "visits")
    if not traffic.any():
        return Evaluation((), {"all sites": "no page of the mirror has traffic to be scored by"})
    parts = [(int(a), int(b)) for a, b in pairwise(mirror.first)]
    knowledge_of_part = [
        logs.knowledge(site, mirror.urls[a:b]) if site in logs.whole.pages else None
        for site, (a, b) in zip(mirror.sites, parts, strict=True)
    ]
    homes = [a + _home(mirror.urls[a:b]) for a, b in parts]
    host = np.repeat(np.arange(len(parts), dtype=np.int32), np.diff(mirror.first))
    limit = None if politeness is None else HostLimit(host, politeness.pages, politeness.fetches)
    pages, total = len(mirror), float(traffic.sum())
    scores_of_all = {
        "page_rank": page_rank(mirror.links),
        "opic": opic_scores(mirror.links, homes),
        "breadth_first": np.zeros(pages),
        "random": np.random.default_rng(seed).random(pages),
    }
    curves: dict[str, dict[str, CrawlCurve]] = {}
    for scenario in SCENARIOS:
        scores = _scores_by_site(mirror, knowledge_of_part, scenario, seed) | scores_of_all
        curves[scenario] = _curves(mirror.links, homes, scores, traffic, scenario, limit)
    learned_sites = [entry for entry in knowledge_of_part if entry is not None]
    result = SiteResult(
        site=f"all {len(parts)} sites",
        start="their home pages",
        pages=pages,
        reachable=len(reachable(mirror.links, homes)),
        links=mirror.links.links,
        patterns=sum(len(site_knowledge.graph.volume) for site_knowledge in learned_sites),
        covered=sum(int((entry.pattern >= 0).sum()) for entry in learned_sites) / pages,
        traffic=total,
        visited=int((traffic > 0).sum()),
        in_mirror=total / max(float(pc.sum(scored.column("visits")).as_py() or 0), 1.0),
        curves=curves,
    )
    return Evaluation((result,), {})


def _scores_by_site(
    mirror: Mirror, knowledge_of_site: Sequence[SiteKnowledge | None], scenario: Scenario, seed: int
) -> dict[str, Floats]:
    """Return scores of all pages by order, each site's from its own knowledge; NaN without any."""
    scores = {name: np.full(len(mirror), np.nan) for name in POLICIES[scenario]}
    for site_knowledge, (a, b) in zip(knowledge_of_site, pairwise(mirror.first), strict=True):
        if site_knowledge is not None:
            links, home = part(mirror.links, int(a), int(b)), _home(mirror.urls[int(a) : int(b)])
            for name, score in policy_scores(site_knowledge, links, scenario, seed, [home]).items():
                scores[name][a:b] = score
    return scores


def _curves(
    links: LinkGraph,
    homes: Sequence[int],
    scores: Mapping[str, Floats],
    traffic: Floats,
    scenario: Scenario,
    limit: HostLimit | None = None,
) -> dict[str, CrawlCurve]:
    """Return the curve of the best order and of crawls by each score."""
    is_fetch = scenario == "fetch"
    pages, total = len(traffic), float(traffic.sum())
    bound = (fetch_bound if is_fetch else seen_bound)(links, homes, traffic)
    curves = {ORACLE: curve_of(bound, pages, total)}
    for name, score in scores.items():
        done = crawl(links, homes, score, limit)
        gained = done.fetched_traffic(traffic) if is_fetch else done.seen_traffic(traffic)
        curves[name] = curve_of(gained, pages, total)
    return curves


def _site(mirror: Mirror, i: int, logs: _Logs, sent: pa.Table, seed: int) -> SiteResult:
    """Return the curves of all crawl orders on one site of the mirror."""
    start, stop = int(mirror.first[i]), int(mirror.first[i + 1])
    urls = mirror.urls[start:stop]
    links = part(mirror.links, start, stop)
    site_knowledge = logs.knowledge(mirror.sites[i], urls)
    traffic = _aligned(urls, sent, "visits")
    home = _home(urls)
    total = float(traffic.sum())
    curves: dict[str, dict[str, CrawlCurve]] = {}
    for scenario in SCENARIOS:
        scores = policy_scores(site_knowledge, links, scenario, seed, [home])
        curves[scenario] = _curves(links, [home], scores, traffic, scenario)
    return SiteResult(
        site=mirror.sites[i],
        start=urls[home].as_py(),
        pages=len(urls),
        reachable=len(reachable(links, [home])),
        links=links.links,
        patterns=len(site_knowledge.graph.volume),
        covered=float((site_knowledge.pattern >= 0).mean()),
        traffic=total,
        visited=int((traffic > 0).sum()),
        in_mirror=total / max(float(pc.sum(sent.column("visits")).as_py() or 0), 1.0),
        curves=curves,
    )


@dataclass(frozen=True, slots=True)
class _Log:
    """Traffic by site."""

    pages: Mapping[str, pa.Table]
    transits: Mapping[str, pa.Table]

    @classmethod
    def of(cls, traffic: Traffic) -> _Log:
        return cls(_by_site(traffic.pages), _by_site(traffic.transits))

    def knowledge(self, site: str, urls: pa.Array) -> SiteKnowledge:
        """Return what this log says about the pages of a site."""
        return knowledge(urls, self.pages[site], self.transits.get(site))


@dataclass(frozen=True, slots=True)
class _Logs:
    """Traffic of the learning period by site, and of its two parts if it has them."""

    whole: _Log
    earlier: _Log | None
    later: _Log | None

    @classmethod
    def of(cls, learned: Learning) -> _Logs:
        parts = (
            None if part is None else _Log.of(part) for part in (learned.earlier, learned.later)
        )
        return cls(_Log.of(learned.whole), *parts)

    def knowledge(self, site: str, urls: pa.Array) -> SiteKnowledge:
        """Return the knowledge from the whole period, and from its parts."""
        site_knowledge = self.whole.knowledge(site, urls)
        if self.earlier is None or self.later is None:
            return site_knowledge
        if site not in self.earlier.pages or site not in self.later.pages:
            return site_knowledge
        later = self.later.pages[site]
        training = Training(
            self.earlier.knowledge(site, urls),
            _aligned(urls, later, "visits"),
        )
        return replace(site_knowledge, training=training)


def knowledge(urls: pa.Array, in_log: pa.Table, between: pa.Table | None) -> SiteKnowledge:
    """Return patterns and counts of one site's pages, from the log of the site.

    Args:
        urls: Pages of the mirror.
        in_log: Columns url, visits, referrals.
        between: Columns referrer, target, clients, of the links that somebody followed.
    """
    log_urls = in_log.column("url").combine_chunks()
    if between is None:
        referrer = target = np.zeros(0, np.int64)
        clients = np.zeros(0)
    else:
        referrer = _numbers(log_urls, between.column("referrer").combine_chunks())
        target = _numbers(log_urls, between.column("target").combine_chunks())
        clients = between.column("clients").to_numpy().astype(np.float64)
    learned = learn_patterns(
        SiteTraffic(
            from_arrow(log_urls),
            in_log.column("visits").to_numpy().astype(np.float64),
            in_log.column("referrals").to_numpy().astype(np.float64),
            referrer,
            target,
            clients,
        )
    )
    leaves = learned.by_transit.leaves
    leaf = compile_matcher(learned.by_transit).match_leaves(from_arrow(urls))
    row = np.where(leaf >= 0, np.searchsorted(leaves, leaf), -1).astype(np.int32)
    return SiteKnowledge(
        row,
        learned.graph,
        learned.ranks,
        _aligned(urls, in_log, "visits"),
        _aligned(urls, in_log, "referrals"),
    )


def _home(urls: pa.Array) -> int:
    """Return the front page, or the first of the shortest URLs if it is missing."""
    lengths = np.asarray(pc.utf8_length(urls))
    return int(np.argmin(lengths))


def _aligned(urls: pa.Array, table: pa.Table, column: str) -> Floats:
    """Return a column of the table for each URL, 0 where it has none."""
    at = _numbers(table.column("url").combine_chunks(), urls)
    values = table.column(column).to_numpy().astype(np.float64)
    return np.where(at >= 0, values[np.maximum(at, 0)], 0.0) if len(values) else np.zeros(len(urls))


def _numbers(among: pa.Array, urls: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    positions = pc.index_in(urls.cast(pa.large_string()), value_set=among.cast(pa.large_string()))
    return np.asarray(pc.fill_null(positions, -1)).astype(np.int64)


def _by_site(table: pa.Table) -> dict[str, pa.Table]:
    """Return the rows of each site."""
    ordered = table.take(pc.sort_indices(table.column("site")))  # stable
    parts: dict[str, pa.Table] = {}
    at = 0
    for entry in pc.value_counts(ordered.column("site").combine_chunks()):
        count = entry["counts"].as_py()
        parts[entry["values"].as_py()] = ordered.slice(at, count)
        at += count
    return parts
