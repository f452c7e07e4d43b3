"""The contract of `url_patterns`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import (
    Rule,
    Severity,
    has_rows,
    no_rows,
)
from temporal_assets.contracts.table import ColumnSpec, Table, Type


def _divides(flag: str) -> str:
    """SQL: sites whose flagged nodes do not hold every URL of the site once."""
    return (
        f"(SELECT count(*) FROM (SELECT site, sum(CASE WHEN {flag} THEN volume ELSE 0 END)"  # noqa: S608 - names and numbers of the contract
        " AS volume FROM url_patterns GROUP BY site) AS found"
        " FULL JOIN (SELECT site, count(*) AS volume FROM page_traffic GROUP BY site) AS wanted"
        " ON wanted.site = found.site"
        " WHERE wanted.site IS NULL OR found.site IS NULL OR found.volume <> wanted.volume)"
    )


URL_PATTERNS: Final = Table(
    name="url_patterns",
    version=2,
    description=(
        "The pattern tree of every site: T_syn of BB 3.1, and which of its nodes are the leaves of"
        " T_visit and T_tran (BB 3.2). The patterns are the leaves of the tree that"
        " `patterns.cut` names. A site that could not be learned is a single pattern that holds"
        " everything, and says why."
    ),
    grain="one node of a site's pattern tree",
    columns=(
        ColumnSpec("day", Type.DATE, "Last day of the window."),
        ColumnSpec("site", Type.VARCHAR, "The host.", sources=("page_traffic.site",)),
        ColumnSpec(
            "pattern", Type.BIGINT, "Number of the node, 0 for the root; parents come first."
        ),
        ColumnSpec("parent", Type.BIGINT, "Number of the node above, -1 for the root."),
        ColumnSpec("depth", Type.BIGINT, "0 for the root."),
        ColumnSpec(
            "status",
            Type.VARCHAR,
            "Of the site: `learned`, or why it was not: `failed`, `timed_out`, `out_of_memory`.",
        ),
        ColumnSpec(
            "reason",
            Type.VARCHAR,
            "What went wrong, or that the site was learned from a sample of its URLs, in words;"
            " NULL for most.",
            nullable=True,
        ),
        ColumnSpec(
            "is_pattern", Type.BOOLEAN, "A leaf of the tree in use: every page is in one of these."
        ),
        ColumnSpec("is_syntax_leaf", Type.BOOLEAN, "A leaf of T_syn."),
        ColumnSpec("is_visit_leaf", Type.BOOLEAN, "A leaf of T_visit."),
        ColumnSpec("is_transit_leaf", Type.BOOLEAN, "A leaf of T_tran."),
        ColumnSpec(
            "is_public",
            Type.BOOLEAN,
            "At least `privacy.min_clients` clients opened pages of it. What is not public is never"
            " exported.",
            sources=("page_traffic.clients", "page_traffic.few_clients"),
        ),
        ColumnSpec(
            "template",
            Type.VARCHAR,
            "The pattern as people write it, like `/news/{year}/{slug}.html`. It names no value"
            " that fewer than `privacy.min_clients` clients asked for.",
            sources=("page_traffic.url",),
        ),
        ColumnSpec(
            "expression",
            Type.VARCHAR,
            "Anchored regular expression (RE2's class) over canonical URLs; expressions of"
            " patterns exclude each other. NULL for nodes that are no leaf of any tree.",
            nullable=True,
            sources=("page_traffic.url",),
        ),
        ColumnSpec(
            "key_values",
            Type.VARCHAR,
            "The pattern as key-values: a JSON object with null for ∅. NULL as above.",
            nullable=True,
            sources=("page_traffic.url",),
        ),
        ColumnSpec(
            "rule",
            Type.VARCHAR,
            "The node as the matcher reads it (`core.patterns.pattern_rules`).",
            sources=("page_traffic.url",),
        ),
        ColumnSpec(
            "volume",
            Type.BIGINT,
            "How many pages it has: the size of P.",
            sources=("page_traffic.url",),
        ),
        ColumnSpec("visits", Type.BIGINT, "F_in of its pages.", sources=("page_traffic.visits",)),
        ColumnSpec(
            "referred",
            Type.BIGINT,
            "Those of `visits` that came from a page.",
            sources=("page_traffic.referred",),
        ),
        ColumnSpec(
            "referrals", Type.BIGINT, "F_out of its pages.", sources=("page_traffic.referrals",)
        ),
        ColumnSpec("views", Type.BIGINT, "Views of its pages.", sources=("page_traffic.views",)),
        ColumnSpec(
            "labelled_pages",
            Type.BIGINT,
            "Pages with a label: those of whose interest enough is known.",
            sources=("page_traffic.is_temporal",),
        ),
        ColumnSpec(
            "temporal_pages",
            Type.BIGINT,
            "Those of them that are temporal.",
            sources=("page_traffic.is_temporal",),
        ),
        ColumnSpec(
            "new_pages",
            Type.BIGINT,
            "New pages of the later half of the window.",
            sources=("page_traffic.is_new",),
        ),
        ColumnSpec(
            "merged_by",
            Type.VARCHAR,
            "`visit` or `transit` where that cut made a leaf of an inner node of T_syn.",
            nullable=True,
        ),
        ColumnSpec(
            "saved_bits",
            Type.DOUBLE,
            "Merged by visits: bits that its best division would cost more.",
            nullable=True,
        ),
        ColumnSpec(
            "similarity",
            Type.DOUBLE,
            "Compared by transits: similarity of the least similar children, of the first that"
            " prevented a merge where they did not merge.",
            nullable=True,
        ),
        ColumnSpec(
            "links",
            Type.LINKS,
            "Patterns that people went to from here, and how many did; empty where `is_pattern` is"
            " false.",
            sources=("page_traffic.links",),
        ),
    ),
    key=("day", "site", "pattern"),
    own_rules=(
        Rule(
            name="patterns_divide_the_pages",
            measure=" + ".join(
                _divides(flag)
                for flag in ("is_pattern", "is_syntax_leaf", "is_visit_leaf", "is_transit_leaf")
            ),
            maximum=0,
            reads=("page_traffic",),
            protects="Every page is in one pattern and no page in two, in each of the three trees.",
            remedy="`page_traffic` was made again since: materialise the day again.",
        ),
        no_rows(
            "counts_in_range",
            "url_patterns",
            "volume < 1 OR visits < 0 OR referred > visits OR referrals < 0"
            " OR temporal_pages > labelled_pages OR labelled_pages > volume OR new_pages > volume"
            " OR parent >= pattern OR similarity < 0 OR similarity > 1.000001"
            " OR isnan(similarity) OR isnan(saved_bits)",
            protects="Shares of pages and visits lie between 0 and 1.",
        ),
        Rule(
            name="sites_are_learned",
            measure="count(DISTINCT CASE WHEN status <> 'learned' THEN site END)",
            severity=Severity.WARN,
            maximum=0,
            offenders="SELECT site, status, reason FROM url_patterns WHERE status <> 'learned'",
            protects="A site without patterns cannot tell a crawler which new page is worth it.",
            remedy=(
                "See `reason`. A site that needs more than 4 GiB is too large; report one that"
                " failed."
            ),
        ),
        has_rows("sites"),
    ),
)
