"""Published patterns of one site, and matching URLs to them.

Here: reading a site's rows of `url_patterns` and of the tables about its patterns, and its tree.
Not here: learning (`pattern_nodes`), showing (`cli.show.patterns`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Int64s
from temporal_assets.core.patterns.pattern_match import NOWHERE, PatternMatcher, compile_matcher
from temporal_assets.core.patterns.pattern_rules import tree_of
from temporal_assets.core.patterns.pattern_tree import MOST_PARTS, PatternTree
from temporal_assets.core.patterns.site_patterns import CUTS, Cut
from temporal_assets.core.text.texts import texts
from temporal_assets.engines.base import Engine
from temporal_assets.engines.sql import literal
from temporal_assets.reports.document import Graph
from temporal_assets.reports.sections import patterns
from temporal_assets.reports.sections.wording import counted
from temporal_assets.storage.store import Store

Row = dict[str, Any]

_ALL_ROWS: Final = 10_000_000

_SIZES: Final = ",".join(
    f" CAST(sum(CASE WHEN is_{cut}_leaf THEN 1 ELSE 0 END) AS BIGINT) AS {cut}_leaves,"
    f" max(CASE WHEN is_{cut}_leaf THEN depth END) AS {cut}_height"
    for cut in CUTS
)

_SITES: Final = (
    "SELECT site, max(status) AS status, max(reason) AS reason,"  # noqa: S608 - columns by names of ours
    " CAST(sum(CASE WHEN parent < 0 THEN volume END) AS BIGINT) AS pages,"
    " CAST(sum(CASE WHEN parent < 0 THEN visits END) AS BIGINT) AS visits,"
    " max(CASE WHEN parent < 0 THEN referred END) > 0 AS has_referrers,"
    " bool_or(is_public) AS is_public,"
    f"{_SIZES} FROM url_patterns GROUP BY site ORDER BY visits DESC, site"
)
"""Statement for BB Table 3, one row per site."""


def sites_of(store: Store, engine: Engine, day: dt.date, limit: int = _ALL_ROWS) -> list[Row]:
    """Return every site with leaves and height of its three trees, the most visited first."""
    return engine.rows(_SITES, {"url_patterns": store.files("url_patterns", day)}, limit)


def read_patterns(store: Store, engine: Engine, day: dt.date, site: str) -> StoredPatterns | None:
    """Return the published patterns of a site, or None."""

    def rows(name: str, order: str) -> list[Row]:
        query = f"SELECT * FROM {name} WHERE site = {literal(site)} ORDER BY {order}"  # noqa: S608 - the site is a literal
        return engine.rows(query, {name: store.files(name, day)}, _ALL_ROWS)

    nodes = rows("url_patterns", "pattern")
    if not nodes:
        return None
    ranks = {row["pattern"]: row for row in rows("pattern_ranks", "pattern")}
    return StoredPatterns(site, nodes, ranks, rows("behaviour_graph", "source, target"))


@dataclass(frozen=True)
class StoredPatterns:
    """Published patterns of one site; a pattern is identified by the number of its node."""

    site: str
    nodes: list[Row]
    """Rows of `url_patterns`, by number."""
    ranks: dict[int, Row]
    """Rows of `pattern_ranks`, by pattern."""
    edges: list[Row]
    """Rows of `behaviour_graph`."""

    @property
    def status(self) -> str:
        """Return whether the site was learned."""
        return str(self.nodes[0]["status"])

    @cached_property
    def tree(self) -> PatternTree:
        """T_syn, without URLs."""
        return tree_of([row["parent"] for row in self.nodes], [row["rule"] for row in self.nodes])

    @cached_property
    def matcher(self) -> PatternMatcher:
        """Matches URLs to nodes of T_syn."""
        return compile_matcher(self.tree)

    def leaves(self, cut: Cut) -> Flags:
        """Return flags of the nodes that are leaves of one of the three trees."""
        return np.array([row[f"is_{cut}_leaf"] for row in self.nodes], np.bool_)

    def pattern_holding(self, node: int) -> int | None:
        """Return the pattern that holds the URLs whose most specific node is `node`, or None."""
        pattern = self.pattern_of(node)
        if pattern is None or self.tree.hierarchy.is_leaf[node]:
            return pattern
        parts = self.tree.hierarchy.is_leaf[pattern : int(self.tree.hierarchy.end[pattern])]
        return pattern if parts.sum() > MOST_PARTS else None

    def nodes_of(self, urls: Sequence[str]) -> list[int | None]:
        """Return the most specific node of each canonical URL; None for URLs of another form."""
        matched = self.matcher.match(texts(urls))
        return [None if node == NOWHERE else int(node) for node in matched]

    def pattern_of(self, node: int) -> int | None:
        """Return the pattern that a node is, or is part of; None for nodes above the patterns."""
        at = node
        while at >= 0:
            if self.nodes[at]["is_pattern"]:
                return at
            at = self.nodes[at]["parent"]
        return None

    def under(self, node: int) -> Int64s:
        """Return a node and all nodes below it."""
        return np.arange(node, int(self.tree.hierarchy.end[node]))

    def partners(self, node: int, *, inward: bool) -> list[tuple[int, int]]:
        """Return the patterns that people came from (or went to), with transits, most first.

        For a node that holds several patterns, these are the partners of all of them.
        """
        here, there = ("target", "source") if inward else ("source", "target")
        end = int(self.tree.hierarchy.end[node])
        counts: dict[int, int] = {}
        for edge in self.edges:
            if node <= edge[here] < end:
                counts[edge[there]] = counts.get(edge[there], 0) + edge["transits"]
        return sorted(counts.items(), key=lambda partner: (-partner[1], partner[0]))


def graph_of(stored: StoredPatterns) -> Graph:
    """Return the behaviour graph of the most visited patterns of a site."""
    ranked = sorted(stored.ranks.values(), key=lambda row: (-row["visits"], row["pattern"]))
    graph = patterns.graph_of(stored.site, ranked[: patterns.MOST_PATTERNS], stored.edges)
    hidden = len(ranked) - len(graph.nodes)
    more = f"; not drawn: {counted(hidden, 'pattern')} with fewer visits" if hidden else ""
    return replace(graph, title=f"{graph.title}{more}")
