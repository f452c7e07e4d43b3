"""Evaluation of crawl orders on every site of a mirror: learned on one period, scored on a later.

Here: section 5.3 of the paper BB, from traffic to curves. Not here: the orders
(`core.crawls.crawl_policies`), the crawl (`core.crawls.crawl_simulation`), where traffic comes from
(`traffic`), what is learned from it (`site_knowledge`), averages of sites (`evaluation_results`).

Sites are crawled one by one from their home pages and count the same in the average, as in the
paper. All shares are of the pages of the mirror and of their traffic: pages that are not in the
mirror count for no order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.core.crawls.crawl_curves import (
    CrawlCurve,
    curve_of,
    fetch_bound,
    seen_bound,
)
from temporal_assets.core.crawls.crawl_policies import (
    POLICIES,
    SCENARIOS,
    Scenario,
    SiteKnowledge,
    policy_scores,
)
from temporal_assets.core.crawls.crawl_simulation import HostLimit, crawl, reachable
from temporal_assets.core.crawls.opic import opic_scores
from temporal_assets.core.graph.link_graph import LinkGraph, part
from temporal_assets.core.graph.page_rank import page_rank
from temporal_assets.core.numerics.arrays import Floats
from temporal_assets.crawl.evaluation_results import ORACLE, Evaluation, SiteResult
from temporal_assets.crawl.mirror.mirror import Mirror
from temporal_assets.crawl.mirror.traffic import Learning
from temporal_assets.crawl.site_knowledge import PeriodLogs, aligned, by_site

FEWEST_PAGES: Final = 50
"""Fewest pages of a site: with fewer, a curve is a matter of single pages."""


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
    logs, sent = PeriodLogs.of(learned), by_site(scored)
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
    logs = PeriodLogs.of(learned)
    traffic = aligned(mirror.urls, scored, "visits")
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


def _site(mirror: Mirror, i: int, logs: PeriodLogs, sent: pa.Table, seed: int) -> SiteResult:
    """Return the curves of all crawl orders on one site of the mirror."""
    start, stop = int(mirror.first[i]), int(mirror.first[i + 1])
    urls = mirror.urls[start:stop]
    links = part(mirror.links, start, stop)
    site_knowledge = logs.knowledge(mirror.sites[i], urls)
    traffic = aligned(urls, sent, "visits")
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


def _home(urls: pa.Array) -> int:
    """Return the front page, or the first of the shortest URLs if it is missing."""
    lengths = np.asarray(pc.utf8_length(urls))
    return int(np.argmin(lengths))
