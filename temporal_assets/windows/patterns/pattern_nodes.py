"""The kernel for one site: from its rows of `page_traffic` to its rows of `url_patterns`.

Here: the kernel that a process runs for each site, and the row for a site that cannot be learned.
Not here: learning (`core.patterns.site_patterns`), and running it for all sites (`url_patterns`).
The module is loaded in a process of its own, so it imports nothing that only the pipeline needs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.contracts.patterns.url_patterns import URL_PATTERNS
from temporal_assets.core.numerics.arrays import Flags, Floats, Int64s
from temporal_assets.core.patterns.pattern_rules import rules_of
from temporal_assets.core.patterns.pattern_text import pattern_texts
from temporal_assets.core.patterns.pattern_tree import PatternTree
from temporal_assets.core.patterns.site_patterns import (
    Cut,
    SitePatterns,
    SiteTraffic,
    learn_patterns,
)
from temporal_assets.core.patterns.syntax.tree_builder import Salience, TreeOptions
from temporal_assets.core.traffic.audience import public_nodes
from temporal_assets.windows.patterns.site_traffic import audience_of, floats, site_traffic

_NO_RULE: Final = '{"branch":null,"split":null,"bit":0,"tests":[],"keys":[]}'
"""Rule of a root without keys, which matches no URL: for a site that could not be learned."""

TREE: Final = TreeOptions()
"""Options of every site's tree; `patterns.salience` sets the rest."""

CUT: Final[Cut] = "transit"
"""Tree whose leaves are the patterns: T_tran. BB Table 4 and Figure 6 are best for it."""

TRANSIT_THRESHOLD: Final = 0.8
"""Similarity of in- and out-links above which sibling patterns are merged. BB do not give a value
(docs/url-patterns.md)."""


@dataclass(frozen=True, slots=True)
class PatternOptions:
    """Options from `patterns` and `privacy`, for a process that does not read settings."""

    salience: Salience
    least_clients: int


def learn(rows: pa.Table, options: PatternOptions) -> tuple[SiteTraffic, SitePatterns]:
    """Return the traffic of a site, given its rows of `page_traffic`, and its patterns."""
    traffic = site_traffic(rows, audience_of(rows, options.least_clients))
    return traffic, _patterns(traffic, options)


def _patterns(traffic: SiteTraffic, options: PatternOptions) -> SitePatterns:
    return learn_patterns(
        traffic,
        replace(TREE, salience=options.salience),
        TRANSIT_THRESHOLD,
    )


def site_nodes(rows: pa.Table, options: PatternOptions) -> pa.RecordBatch:
    """Return rows of `url_patterns` for one site."""
    audience = audience_of(rows, options.least_clients)
    site_patterns = _patterns(site_traffic(rows, audience), options)
    tree = site_patterns.by_syntax
    leaves = leaf_flags(site_patterns)
    count = len(tree)
    columns: dict[str, Any] = {
        "day": pa.repeat(rows.column("day")[0], count),
        "site": pa.repeat(rows.column("site")[0].cast(pa.string()), count),
        "pattern": pa.array(np.arange(count)),
        "parent": pa.array(tree.hierarchy.parent.astype(np.int64)),
        "depth": pa.array(tree.hierarchy.depth.astype(np.int64)),
        "status": pa.repeat(pa.scalar("learned"), count),
        "reason": pa.repeat(pa.scalar(_sampled(len(rows)), pa.string()), count),
        "is_pattern": pa.array(leaves[CUT]),
        **{f"is_{cut}_leaf": pa.array(flags) for cut, flags in leaves.items()},
        "is_public": pa.array(public_nodes(audience, tree.hierarchy, tree.leaf_of_url())),
        **_texts(tree, leaves["syntax"] | leaves["visit"] | leaves["transit"]),
        "volume": pa.array(tree.sizes),
        **_sums(tree, rows),
        **_reasons(site_patterns, leaves),
        "links": _links(site_patterns, np.flatnonzero(leaves[CUT]), count),
    }
    return _batch(columns)


def _sampled(urls: int) -> str | None:
    """Return the note on a site that was learned from a sample of its URLs."""
    if urls <= TREE.most_urls:
        return None
    return f"learned from a sample of {TREE.most_urls:,} of its {urls:,} URLs"


def leaf_flags(site_patterns: SitePatterns) -> dict[Cut, Flags]:
    """Return, for each of the three trees, flags of the nodes of T_syn that are its leaves."""
    syntax = site_patterns.by_syntax.hierarchy
    of_visit = np.flatnonzero(syntax.cut(site_patterns.visit_cut.is_pattern))
    by_transit = np.zeros(len(syntax), np.bool_)
    by_transit[of_visit[site_patterns.transit_cut.is_pattern]] = True
    return {
        "syntax": syntax.is_leaf,
        "visit": site_patterns.visit_cut.is_pattern,
        "transit": by_transit,
    }


def lost_site(rows: pa.Table, status: str, reason: str) -> pa.RecordBatch:
    """Return the row of `url_patterns` of a site that could not be learned: one pattern for all."""
    pages = pa.array([len(rows)])
    flag = pa.array([True])
    sums = {name: pa.array([int(values.sum())]) for name, values in _counted(rows).items()}
    return _batch(
        {
            "day": pa.array([rows.column("day")[0].as_py()], pa.date32()),
            "site": pa.array([rows.column("site")[0].as_py()], pa.string()),
            "pattern": pa.array([0]),
            "parent": pa.array([-1]),
            "depth": pa.array([0]),
            "status": pa.array([status]),
            "reason": pa.array([reason]),
            **{f"is_{name}_leaf": flag for name in ("syntax", "visit", "transit")},
            "is_pattern": flag,
            # Nothing is exported of a site that was not learned.
            "is_public": pa.array([False]),
            "template": pa.array(["/{**}"]),
            "expression": pa.nulls(1, pa.string()),
            "key_values": pa.nulls(1, pa.string()),
            "rule": pa.array([_NO_RULE]),
            "volume": pages,
            **sums,
            "merged_by": pa.nulls(1, pa.string()),
            "saved_bits": pa.nulls(1, pa.float64()),
            "similarity": pa.nulls(1, pa.float64()),
            "links": pa.array([[]], URL_PATTERNS.arrow_schema.field("links").type),
        }
    )


def _texts(tree: PatternTree, written: Flags) -> dict[str, pa.Array]:
    """Return each node's template, and its expression if it is a pattern in some tree."""
    texts = pattern_texts(tree, written)
    shown = list(zip(texts, written.tolist(), strict=True))
    return {
        "template": pa.array([text.template() for text in texts], pa.string()),
        "expression": pa.array(
            [text.expression() if wanted else None for text, wanted in shown], pa.string()
        ),
        "key_values": pa.array(
            [_json(text.key_values()) if wanted else None for text, wanted in shown], pa.string()
        ),
        "rule": pa.array(rules_of(tree), pa.string()),
    }


_json: Final = json.JSONEncoder(ensure_ascii=False).encode


def _counted(rows: pa.Table) -> dict[str, Floats]:
    """Return the counts per URL that are summed over the URLs of a node."""
    label = rows.column("is_temporal")
    return {
        **{name: floats(rows, name) for name in ("visits", "referred", "referrals", "views")},
        "labelled_pages": pc.is_valid(label).to_numpy().astype(np.float64),
        "temporal_pages": pc.fill_null(label, False).to_numpy().astype(np.float64),
        "new_pages": rows.column("is_new").to_numpy().astype(np.float64),
    }


def _sums(tree: PatternTree, rows: pa.Table) -> dict[str, pa.Array]:
    return {
        name: pa.array(np.rint(tree.totals(values)).astype(np.int64))
        for name, values in _counted(rows).items()
    }


def _reasons(site_patterns: SitePatterns, leaves: dict[Cut, Flags]) -> dict[str, pa.Array]:
    """Return the columns that explain why nodes were merged or kept apart."""
    tree = site_patterns.by_syntax.hierarchy
    saved, similarity = np.full(len(tree), np.nan), np.full(len(tree), np.nan)
    saved[site_patterns.visit_cut.merged] = site_patterns.visit_cut.saved_bits
    of_visit = np.flatnonzero(tree.cut(site_patterns.visit_cut.is_pattern))
    for decision in site_patterns.transit_cut.decisions:
        similarity[of_visit[decision.node]] = decision.similarity
    by_visit = leaves["visit"] & ~leaves["syntax"]
    by_transit = leaves["transit"] & ~leaves["visit"]
    merged = np.where(by_visit, "visit", np.where(by_transit, "transit", ""))
    return {
        "merged_by": pa.array(merged.tolist(), pa.string(), mask=merged == ""),
        "saved_bits": pa.array(saved, mask=np.isnan(saved)),
        "similarity": pa.array(similarity, mask=np.isnan(similarity)),
    }


def _links(site_patterns: SitePatterns, nodes: Int64s, count: int) -> pa.ListArray:
    """Return, for each node, the patterns that people went to from it."""
    transits = site_patterns.graph.transits
    if not transits.has_sorted_indices:
        transits = transits.sorted_indices()
    lengths = np.zeros(count, np.int64)
    lengths[nodes] = np.diff(transits.indptr)
    field = URL_PATTERNS.arrow_schema.field("links").type
    ends = pa.array(nodes[transits.indices].astype(np.int32))
    times = pa.array(np.rint(transits.data).astype(np.int64))
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    values = pa.StructArray.from_arrays([ends, times], fields=list(field.value_type))
    return pa.ListArray.from_arrays(pa.array(offsets), values, type=field)


def _batch(columns: dict[str, Any]) -> pa.RecordBatch:
    schema = URL_PATTERNS.arrow_schema
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)
