"""The contract of `hub_seeds`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import (
    Drift,
    Rule,
    Severity,
    day_is_partition,
    no_rows,
    not_null,
    unique,
)
from temporal_assets.contracts.table import ColumnSpec, Table, Type

_KEY: Final = ("day", "url")

_IN_GREEDY: Final = ("gain", "covered", "coverage", "tier", "revisit_minutes")
_AT_FAULT: Final = "The transformation is at fault: report it with the rows shown here."
_TRANSITS: Final = ("transits.referrer", "transits.target")

HUB_SEEDS: Final = Table(
    name="hub_seeds",
    version=1,
    description=(
        "Pages to start crawling from: those that lead to the most temporal pages, in the order of"
        " the paper (NP 5.1) and by what each adds to those before it, with how often to visit"
        " them. Pages that too few clients opened are left out, and those gone quiet."
    ),
    grain="one hub",
    columns=(
        ColumnSpec("day", Type.DATE, "Last day of the window."),
        ColumnSpec(
            "url", Type.VARCHAR, "Canonical URL of the hub.", sources=("transits.referrer",)
        ),
        ColumnSpec("site", Type.VARCHAR, "Host of `url`.", sources=("transits.referrer",)),
        ColumnSpec(
            "is_external",
            Type.BOOLEAN,
            "Nobody opened a page of its host in these logs; such hubs are left out unless"
            " `hubs.external` keeps them.",
            sources=_TRANSITS,
        ),
        ColumnSpec(
            "clients",
            Type.BIGINT,
            "Distinct clients who opened the hub within the window, or came from it if it is"
            " external; the most that one key of the pseudonyms saw.",
            sources=("page_traffic.clients", "transits.client"),
        ),
        ColumnSpec(
            "temporal_pages",
            Type.BIGINT,
            "Distinct temporal pages that somebody reached from the hub directly.",
            sources=(*_TRANSITS, "page_labels.is_temporal"),
        ),
        ColumnSpec(
            "rank",
            Type.BIGINT,
            "Place in greedy order, 1 for the best; NULL where it adds nothing, or not enough.",
            nullable=True,
            sources=(*_TRANSITS, "page_labels.is_temporal"),
        ),
        ColumnSpec(
            "paper_rank",
            Type.BIGINT,
            "Place by `temporal_pages`, 1 for the most; ties by host and URL.",
            sources=(*_TRANSITS, "page_labels.is_temporal"),
        ),
        ColumnSpec(
            "gain",
            Type.BIGINT,
            "Temporal pages that no hub of a better `rank` leads to.",
            nullable=True,
            sources=(*_TRANSITS, "page_labels.is_temporal"),
        ),
        ColumnSpec(
            "covered",
            Type.BIGINT,
            "Temporal pages that this hub or one of a better `rank` leads to.",
            nullable=True,
            sources=(*_TRANSITS, "page_labels.is_temporal"),
        ),
        ColumnSpec(
            "coverage",
            Type.DOUBLE,
            "`covered` as a share of all temporal pages of the window.",
            nullable=True,
            sources=(*_TRANSITS, "page_labels.is_temporal"),
        ),
        ColumnSpec(
            "tier",
            Type.BIGINT,
            "1 for the hubs with the first half of what all seeds cover, 2 up to nine tenths, 3.",
            nullable=True,
            sources=(*_TRANSITS, "page_labels.is_temporal"),
        ),
        ColumnSpec(
            "new_per_day",
            Type.DOUBLE,
            "Temporal pages that are born a day and linked by the hub: a mean over the window in"
            " which a day counts half as much as one `hubs.rate_half_life_days` later. Days after"
            " one that is not there, whose pages may be older, and the last four, whose pages are"
            " too young for a label, are left out.",
            sources=("page_histories.birth",),
        ),
        ColumnSpec(
            "half_life_hours",
            Type.DOUBLE,
            "Typical age at which half of the interest in a temporal page of the hub is over.",
            sources=("interest_curves.mu",),
        ),
        ColumnSpec(
            "revisit_minutes",
            Type.BIGINT,
            "Suggested minutes between two visits of a crawler.",
            nullable=True,
            sources=("interest_curves.mu", "page_histories.birth", "page_histories.total"),
        ),
    ),
    key=_KEY,
    rules=(
        not_null(
            "hub_seeds",
            (
                *("url", "site", "is_external", "clients", "temporal_pages", "paper_rank"),
                *("new_per_day", "half_life_hours"),
            ),
        ),
        day_is_partition("hub_seeds"),
        unique("hub_seeds", _KEY),
        no_rows(
            "enough_clients",
            "hub_seeds",
            "clients < $min_clients",
            protects="A URL that few clients opened may be somebody's secret.",
            remedy="`privacy.min_clients` was raised since: materialise the day again.",
        ),
        no_rows(
            "url_is_canonical",
            "hub_seeds",
            "url NOT LIKE 'http%://_%/%' OR contains(url, '#')",
            protects="Crawlers load the URL as it is.",
            remedy=_AT_FAULT,
        ),
        Rule(
            name="seeds_are_reachable",
            measure=(
                "(SELECT count(*) FROM hub_seeds LEFT JOIN page_totals"
                " ON page_totals.url = hub_seeds.url"
                " WHERE page_totals.url IS NULL AND NOT hub_seeds.is_external)"
            ),
            maximum=0,
            reads=("page_totals",),
            protects="A seed that nobody opened may be gone, or never have been a page.",
            remedy="`page_totals` was made again since: materialise the day again.",
        ),
        no_rows(
            "greedy_is_whole",
            "hub_seeds",
            " OR ".join(f"({name} IS NULL) <> (rank IS NULL)" for name in _IN_GREEDY),
            protects="Whoever takes the seeds by rank takes all they need to know of them.",
            remedy=_AT_FAULT,
        ),
        no_rows(
            "coverage_in_range",
            "hub_seeds",
            "coverage < 0 OR coverage > 1 OR gain < 0 OR gain > temporal_pages OR gain > covered"
            " OR temporal_pages < 1 OR new_per_day < 0 OR isnan(new_per_day)"
            " OR NOT half_life_hours > 0 OR revisit_minutes < 1 OR tier < 1 OR tier > 3",
            protects="Rates and shares are compared between hubs and days.",
            remedy=_AT_FAULT,
        ),
        Rule(
            name="gains_sum_to_coverage",
            measure="abs(coalesce(sum(gain), 0) - coalesce(max(covered), 0))"
            " + abs(count(rank) - coalesce(max(rank), 0))",
            maximum=0,
            protects="Every temporal page is counted for exactly one hub.",
            remedy=_AT_FAULT,
        ),
        Rule(
            name="has_hubs",
            measure=(
                "CASE WHEN (SELECT count(*) FROM page_labels WHERE is_temporal) > 0"
                " THEN count(*) END"
            ),
            severity=Severity.WARN,
            minimum=1,
            reads=("page_labels",),
            needs_referrers=True,
            protects="Without hubs a crawler has nowhere to start.",
            remedy=(
                "See `referrers_known` of `transits`; in small logs `privacy.min_clients` may leave"
                " nothing."
            ),
        ),
    ),
    drifts=(
        Drift(
            name="coverage_is_usual",
            measure="max(coverage)",
            largest_difference=0.1,  # windows of neighbouring days share all days but one
            needs_referrers=True,
            protects="Hubs that no longer lead to new pages: a site has moved its front page.",
            remedy="Compare `hub_seeds` by site with the day before.",
        ),
    ),
)
