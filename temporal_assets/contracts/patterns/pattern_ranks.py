"""The contract of `pattern_ranks`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.patterns.url_patterns import URL_PATTERNS
from temporal_assets.contracts.rules import (
    Rule,
    Severity,
    has_rows,
    no_rows,
)
from temporal_assets.contracts.table import ColumnSpec, Table, Type

_BY_COUNT: Final = ("rank_volume", "rank_visits", "rank_average_visits")
_BY_REFERRALS: Final = ("rank_referrals", "rank_average_referrals")
_BY_GRAPH: Final = ("rank_fetch", "rank_discovery")
_RANKS: Final = (*_BY_COUNT, *_BY_REFERRALS, *_BY_GRAPH)


_ODD_LENGTHS: Final = (
    "(SELECT count(*) FROM (SELECT site, sum(authority * authority) AS authority,"
    " sum(hub * hub) AS hub FROM pattern_ranks WHERE authority IS NOT NULL GROUP BY site) AS sites"
    " WHERE abs(authority - 1) > 0.000001 OR abs(hub - 1) > 0.000001)"
)


def _rank(name: str, of: str) -> ColumnSpec:
    return ColumnSpec(
        name,
        Type.BIGINT,
        f"Place within the site by {of}; 1 is the best.",
        nullable=name not in _BY_COUNT,
    )


PATTERN_RANKS: Final = Table(
    name="pattern_ranks",
    version=2,
    description=(
        "How much the pages of a pattern are worth, for pages never seen before: how valuable"
        " (the ranks of BB 4.1 and 4.2), how urgent (share of temporal pages, in the"
        " stock and in the flow), how productive (new"
        " pages a day)."
    ),
    grain="one pattern",
    columns=(
        ColumnSpec("day", Type.DATE, "Last day of the window."),
        *URL_PATTERNS.taken(
            "site", "pattern", "template", "is_public", "volume", "visits", "referrals"
        ),
        ColumnSpec(
            "authority",
            Type.DOUBLE,
            "Share of the behaviour graph's attention that arrives here (BB eq 10), of unit length"
            " over the site; NULL without transits.",
            nullable=True,
            sources=("url_patterns.links",),
        ),
        ColumnSpec(
            "hub",
            Type.DOUBLE,
            "The same for attention that goes on from here.",
            nullable=True,
            sources=("url_patterns.links",),
        ),
        ColumnSpec(
            "fetch_score",
            Type.DOUBLE,
            "(authority + hub) / 2.",
            nullable=True,
            sources=("url_patterns.links",),
        ),
        _rank("rank_volume", "pages"),
        _rank("rank_visits", "overall visit, F_in"),
        _rank("rank_average_visits", "average visit, F_in a page"),
        _rank("rank_referrals", "overall referral, F_out"),
        _rank("rank_average_referrals", "average referral, F_out a page"),
        _rank("rank_fetch", "the fetch score"),
        _rank("rank_discovery", "hub"),
        ColumnSpec(
            "missing_ranks",
            Type.VARCHAR,
            "Why ranks are NULL: `no_referrers` (none is logged for the site) or `no_transits` (no"
            " page of the site was reached from another).",
            nullable=True,
        ),
        ColumnSpec("is_converged", Type.BOOLEAN, "Of the site: authority and hub have settled."),
        ColumnSpec("rounds", Type.BIGINT, "Of the site: rounds of eq 10."),
        ColumnSpec("movement", Type.DOUBLE, "Of the site: movement of the last round."),
        ColumnSpec(
            "components",
            Type.BIGINT,
            "Of the site: parts of the graph that no transit connects. With more than one, the"
            " graph says little about how patterns of different parts compare.",
        ),
        ColumnSpec("is_isolated", Type.BOOLEAN, "No transit within the site touches the pattern."),
        *URL_PATTERNS.taken("labelled_pages"),
        ColumnSpec(
            "temporal_share",
            Type.DOUBLE,
            "Share of temporal pages among those with a label; NULL without any.",
            nullable=True,
            sources=("url_patterns.temporal_pages", "url_patterns.labelled_pages"),
        ),
        ColumnSpec(
            "new_pages_per_day",
            Type.DOUBLE,
            "New pages a day in the later half of the window; NULL where it is a single day.",
            nullable=True,
            sources=("url_patterns.new_pages",),
        ),
        ColumnSpec(
            "flow_pages",
            Type.BIGINT,
            "Flow: its pages that were born in the observed part of the window, those with few"
            " views included while they are young.",
            sources=("page_flow.url",),
        ),
        ColumnSpec(
            "flow_temporal_pages",
            Type.DOUBLE,
            "How many of them are temporal; young ones count with their probability.",
            sources=("page_flow.temporal",),
        ),
        ColumnSpec(
            "flow_score",
            Type.DOUBLE,
            "Expected share of temporal pages among its new ones, drawn towards that of the site,"
            " which it is where no page of it is known; NULL where none of the site is known."
            " It decides what a crawler fetches now.",
            nullable=True,
            sources=("page_flow.temporal", "prefix_trees.flow_score"),
        ),
    ),
    key=("day", "site", "pattern"),
    own_rules=(
        no_rows(
            "scores_in_range",
            "pattern_ranks",
            " OR ".join(
                f"{score} < 0 OR {score} > 1.000000001 OR isnan({score})"
                for score in ("authority", "hub", "fetch_score", "temporal_share", "flow_score")
            )
            + " OR new_pages_per_day < 0 OR isnan(new_pages_per_day)"
            " OR flow_temporal_pages < 0 OR flow_temporal_pages > flow_pages + 0.000001",
            protects="Scores are compared between patterns and days.",
        ),
        Rule(
            name="scores_have_unit_length",
            measure=_ODD_LENGTHS,
            maximum=0,
            protects="Authority and hub of a site are directions (BB 4.2).",
        ),
        Rule(
            name="ranks_are_places",
            measure=" + ".join(
                f"(SELECT count(*) FROM (SELECT count(DISTINCT {rank}) AS places,"  # noqa: S608 - names and numbers of the contract
                f" max({rank}) AS last, count({rank}) AS patterns FROM pattern_ranks"
                " GROUP BY site) AS sites"
                " WHERE places <> patterns OR coalesce(last, 0) <> patterns)"
                for rank in _RANKS
            ),
            maximum=0,
            protects="A crawler takes patterns in the order of their ranks.",
            remedy="The transformation is at fault: report it.",
        ),
        no_rows(
            "missing_ranks_are_explained",
            "pattern_ranks",
            "(authority IS NULL) <> (missing_ranks IS NOT NULL)"
            " OR (rank_fetch IS NULL) <> (authority IS NULL)",
            protects="A rank that is not there says why.",
        ),
        Rule(
            name="patterns_complete",
            measure="abs(count(*) - (SELECT count(*) FROM url_patterns WHERE is_pattern))",
            maximum=0,
            reads=("url_patterns",),
            protects="Every pattern that is published has its ranks.",
            remedy="`url_patterns` was made again since: materialise the day again.",
        ),
        Rule(
            name="scores_converged",
            measure="count(DISTINCT CASE WHEN NOT is_converged THEN site END)",
            severity=Severity.WARN,
            maximum=0,
            offenders="SELECT DISTINCT site, rounds, movement, components FROM pattern_ranks"
            " WHERE NOT is_converged",
            protects="Scores that still move are not those that BB define.",
            remedy=(
                "Parts of a site that few transits connect converge slowly; parts of equal strength"
                " never do. Use the ranks by visits and referrals for these sites."
            ),
        ),
        has_rows("patterns"),
    ),
)
