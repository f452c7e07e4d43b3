"""Contract of `behaviour_graph`: transits between patterns of a site."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.patterns.url_patterns import URL_PATTERNS
from temporal_assets.contracts.rules import Drift, Rule, no_rows
from temporal_assets.contracts.table import Table, columns

BEHAVIOUR_GRAPH: Final = Table(
    name="behaviour_graph",
    version=1,
    description=(
        "How people go from pattern to pattern within a site (BB 4.2). A site without referrers,"
        " or whose pages do not link each other, has no row."
    ),
    grain="one pair of patterns with transits",
    columns=(
        *columns("day DATE: Last day of the window."),
        *URL_PATTERNS.taken("site"),
        *columns("""
            source BIGINT from url_patterns.pattern: Pattern that people came from.
            target BIGINT from url_patterns.links: Pattern that people went to.
            transits BIGINT from url_patterns.links: F_trans(source, target).
            out_share DOUBLE from url_patterns.referrals: p_out: share of all that leaves the
                source.
            in_share DOUBLE from url_patterns.visits: p_in: share of all that reaches the target.
            """),
    ),
    key=("day", "site", "source", "target"),
    own_rules=(
        no_rows(
            "shares_in_range",
            "behaviour_graph",
            "transits < 1 OR NOT (out_share > 0 AND out_share <= 1)"
            " OR NOT (in_share > 0 AND in_share <= 1)",
            protects="Authority and hub are iterated over these shares (BB eq 10).",
        ),
        Rule(
            name="edges_complete",
            measure=(
                "abs(count(*) - (SELECT coalesce(sum(array_length(links)), 0) FROM url_patterns"
                " WHERE is_pattern))"
            ),
            maximum=0,
            reads=("url_patterns",),
            protects="The graph is that of the patterns that are published.",
            remedy="`url_patterns` was made again since: materialise the day again.",
        ),
    ),
    drifts=(
        Drift(
            name="has_transits",
            measure="count(*)",
            least=1,
            needs_referrers=True,
            needs_past=True,
            protects="Without transits, patterns are ranked by their visits alone.",
            remedy="See whether `transits` of the window have referrers of the same site.",
        ),
    ),
)
