"""Contract of `pattern_ranks`: value and urgency of each URL pattern."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.patterns.url_patterns import URL_PATTERNS
from temporal_assets.contracts.rules import Rule, Severity, has_rows, no_rows
from temporal_assets.contracts.table import Table, columns

_BY_COUNT: Final = ("rank_volume", "rank_visits", "rank_average_visits")
_BY_REFERRALS: Final = ("rank_referrals", "rank_average_referrals")
_BY_GRAPH: Final = ("rank_fetch", "rank_discovery")
_RANKS: Final = (*_BY_COUNT, *_BY_REFERRALS, *_BY_GRAPH)


_ODD_LENGTHS: Final = (
    "(SELECT count(*) FROM (SELECT site, sum(authority * authority) AS authority,"
    " sum(hub * hub) AS hub FROM pattern_ranks WHERE authority IS NOT NULL GROUP BY site) AS sites"
    " WHERE abs(authority - 1) > 0.000001 OR abs(hub - 1) > 0.000001)"
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
        *columns("day DATE: Last day of the window."),
        *URL_PATTERNS.taken(
            "site", "pattern", "template", "is_public", "volume", "visits", "referrals"
        ),
        *columns("""
            authority DOUBLE NULL from url_patterns.links: Share of the behaviour graph's attention
                that arrives here (BB eq 10), of unit length over the site; NULL without transits.
            hub DOUBLE NULL from url_patterns.links: Share of the behaviour graph's attention that
                goes on from here (BB eq 10), on the same scale.
            fetch_score DOUBLE NULL from url_patterns.links: (authority + hub) / 2.
            rank_volume BIGINT: Place within the site by pages; 1 is the best.
            rank_visits BIGINT: Place within the site by overall visit, F_in; 1 is the best.
            rank_average_visits BIGINT: Place within the site by average visit, F_in a page; 1 is
                the best.
            rank_referrals BIGINT NULL: Place within the site by overall referral, F_out; 1 is the
                best.
            rank_average_referrals BIGINT NULL: Place within the site by average referral, F_out a
                page; 1 is the best.
            rank_fetch BIGINT NULL: Place within the site by the fetch score; 1 is the best.
            rank_discovery BIGINT NULL: Place within the site by hub; 1 is the best.
            missing_ranks VARCHAR NULL: Why ranks are NULL: `no_referrers` (none is logged for the
                site) or `no_transits` (no page of the site was reached from another).
            is_converged BOOLEAN: Of the site: authority and hub have settled.
            rounds BIGINT: Of the site: rounds of eq 10.
            movement DOUBLE: Of the site: movement of the last round.
            components BIGINT: Of the site: parts of the graph that no transit connects. With more
                than one, the graph says little about how patterns of different parts compare.
            is_isolated BOOLEAN: No transit within the site touches the pattern.
            """),
        *URL_PATTERNS.taken("labelled_pages"),
        *columns("""
            temporal_share DOUBLE NULL from url_patterns.temporal_pages,
                url_patterns.labelled_pages: Share of temporal pages among those with a label; NULL
                without any.
            new_pages_per_day DOUBLE NULL from url_patterns.new_pages: New pages a day in the later
                half of the window; NULL where it is a single day.
            flow_pages BIGINT from page_flow.url: Flow: its pages that were born in the observed
                part of the window, those with few views included while they are young.
            flow_temporal_pages DOUBLE from page_flow.temporal: How many of them are temporal; young
                ones count with their probability.
            flow_score DOUBLE NULL from page_flow.temporal, prefix_trees.flow_score: Expected share
                of temporal pages among its new ones, drawn towards that of the site, which it is
                where no page of it is known; NULL where none of the site is known. It decides what
                a crawler fetches now.
            """),
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
