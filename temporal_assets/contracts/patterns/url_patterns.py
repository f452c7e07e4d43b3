"""Contract of `url_patterns`: the nodes of each site's pattern tree."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import Rule, Severity, has_rows, no_rows
from temporal_assets.contracts.table import Table, columns


def _divides(flag: str) -> str:
    """Return SQL for sites whose flagged nodes do not hold every URL of the site once."""
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
        " T_visit and T_tran (BB 3.2). The patterns are the leaves of T_tran, which"
        " is best in BB Table 4 and Figure 6. A site that could not be learned is a single pattern"
        " that holds everything, and says why."
    ),
    grain="one node of a site's pattern tree",
    columns=columns("""
        day DATE: Last day of the window.
        site VARCHAR from page_traffic.site: The host.
        pattern BIGINT: Number of the node, 0 for the root; parents come first.
        parent BIGINT: Number of the node above, -1 for the root.
        depth BIGINT: 0 for the root.
        status VARCHAR: Of the site: `learned`, or why it was not: `failed`, `timed_out`,
            `out_of_memory`.
        reason VARCHAR NULL: What went wrong, or that the site was learned from a sample of its
            URLs, in words; NULL for most.
        is_pattern BOOLEAN: A leaf of the tree in use: every page is in one of these.
        is_syntax_leaf BOOLEAN: A leaf of T_syn.
        is_visit_leaf BOOLEAN: A leaf of T_visit.
        is_transit_leaf BOOLEAN: A leaf of T_tran.
        is_public BOOLEAN from page_traffic.clients, page_traffic.few_clients: At least
            `privacy.min_clients` clients opened pages of it. What is not public is never exported.
        template VARCHAR from page_traffic.url: The pattern as people write it, like
            `/news/{year}/{slug}.html`. It names no value that fewer than `privacy.min_clients`
            clients asked for.
        expression VARCHAR NULL from page_traffic.url: Anchored regular expression (RE2's class)
            over canonical URLs; expressions of patterns exclude each other. NULL for nodes that are
            no leaf of any tree.
        key_values VARCHAR NULL from page_traffic.url: The pattern as key-values: a JSON object with
            null for ∅. NULL as above.
        rule VARCHAR from page_traffic.url: The node as the matcher reads it
            (`core.patterns.pattern_rules`).
        volume BIGINT from page_traffic.url: How many pages it has: the size of P.
        visits BIGINT from page_traffic.visits: F_in of its pages.
        referred BIGINT from page_traffic.referred: Visits that came from a page.
        referrals BIGINT from page_traffic.referrals: F_out of its pages.
        views BIGINT from page_traffic.views: Views of its pages.
        labelled_pages BIGINT from page_traffic.is_temporal: Pages with a label: those of whose
            interest enough is known.
        temporal_pages BIGINT from page_traffic.is_temporal: Labelled pages that are temporal.
        new_pages BIGINT from page_traffic.is_new: New pages of the later half of the window.
        merged_by VARCHAR NULL: `visit` or `transit` where that cut made a leaf of an inner node of
            T_syn.
        saved_bits DOUBLE NULL: Merged by visits: bits that its best division would cost more.
        similarity DOUBLE NULL: Compared by transits: similarity of the least similar children, of
            the first that prevented a merge where they did not merge.
        links STRUCT(page INTEGER, transits BIGINT)[] from page_traffic.links: Patterns that people
            went to from here, and how many did; empty where `is_pattern` is false.
        """),
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
