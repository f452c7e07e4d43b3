"""Knowledge about the pages of a site, learned from the traffic of one period.

Goes in: URLs of the mirror, and the traffic by site. Comes out: `SiteKnowledge`, which crawl orders
rank pages by. Not here: the orders (`core.crawls.crawl_policies`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.core.crawls.crawl_policies import SiteKnowledge, Training
from temporal_assets.core.numerics.arrays import Floats
from temporal_assets.core.patterns.pattern_match import compile_matcher
from temporal_assets.core.patterns.site_patterns import SiteTraffic, learn_patterns
from temporal_assets.crawl.mirror.traffic import Learning, Traffic
from temporal_assets.engines.arrow_texts import from_arrow


@dataclass(frozen=True, slots=True)
class _Log:
    """Traffic by site."""

    pages: Mapping[str, pa.Table]
    transits: Mapping[str, pa.Table]

    @classmethod
    def of(cls, traffic: Traffic) -> _Log:
        return cls(by_site(traffic.pages), by_site(traffic.transits))

    def knowledge(self, site: str, urls: pa.Array) -> SiteKnowledge:
        """Return what this log says about the pages of a site."""
        return knowledge(urls, self.pages[site], self.transits.get(site))


@dataclass(frozen=True, slots=True)
class PeriodLogs:
    """Traffic of the learning period by site, and of its two parts if it has them."""

    whole: _Log
    earlier: _Log | None
    later: _Log | None

    @classmethod
    def of(cls, learned: Learning) -> PeriodLogs:
        """Return the traffic of a learning period by site."""
        halves = (
            None if half is None else _Log.of(half) for half in (learned.earlier, learned.later)
        )
        return cls(_Log.of(learned.whole), *halves)

    def knowledge(self, site: str, urls: pa.Array) -> SiteKnowledge:
        """Return the knowledge from the whole period, and from its parts."""
        site_knowledge = self.whole.knowledge(site, urls)
        if self.earlier is None or self.later is None:
            return site_knowledge
        if site not in self.earlier.pages or site not in self.later.pages:
            return site_knowledge
        later = self.later.pages[site]
        training = Training(
            earlier=self.earlier.knowledge(site, urls),
            visits=aligned(urls, later, "visits"),
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
            urls=from_arrow(log_urls),
            visits=in_log.column("visits").to_numpy().astype(np.float64),
            referrals=in_log.column("referrals").to_numpy().astype(np.float64),
            referrer=referrer,
            target=target,
            transits=clients,
        )
    )
    leaves = learned.by_transit.leaves
    leaf = compile_matcher(learned.by_transit).match_leaves(from_arrow(urls))
    row = np.where(leaf >= 0, np.searchsorted(leaves, leaf), -1).astype(np.int32)
    return SiteKnowledge(
        pattern=row,
        graph=learned.graph,
        ranks=learned.ranks,
        visits=aligned(urls, in_log, "visits"),
        referrals=aligned(urls, in_log, "referrals"),
    )


def aligned(urls: pa.Array, table: pa.Table, column: str) -> Floats:
    """Return a column of the table for each URL, 0 where it has none."""
    at = _numbers(table.column("url").combine_chunks(), urls)
    values = table.column(column).to_numpy().astype(np.float64)
    return np.where(at >= 0, values[np.maximum(at, 0)], 0.0) if len(values) else np.zeros(len(urls))


def _numbers(among: pa.Array, urls: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the position of each URL in `among`, -1 where it is missing."""
    positions = pc.index_in(urls.cast(pa.large_string()), value_set=among.cast(pa.large_string()))
    return np.asarray(pc.fill_null(positions, -1)).astype(np.int64)


def by_site(table: pa.Table) -> dict[str, pa.Table]:
    """Return the rows of each site."""
    ordered = table.take(pc.sort_indices(table.column("site")))  # stable
    parts: dict[str, pa.Table] = {}
    at = 0
    for entry in pc.value_counts(ordered.column("site").combine_chunks()):
        count = entry["counts"].as_py()
        parts[entry["values"].as_py()] = ordered.slice(at, count)
        at += count
    return parts
