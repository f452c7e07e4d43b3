"""Contract of `hub_seeds`: pages to start crawling from, with visit intervals."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import Drift, Rule, Severity, no_rows
from temporal_assets.contracts.table import Table, columns

_OF_SEEDS: Final = ("gain", "covered", "coverage", "tier", "new_per_visit", "revisit_minutes")
_TRANSITS: Final = "transits.referrer, transits.target"
_EXPECTED: Final = (
    f"{_TRANSITS}, page_totals.birth, page_labels.is_temporal, early_labels.probability"
)

HUB_SEEDS: Final = Table(
    name="hub_seeds",
    version=4,
    description=(
        "Pages to start crawling from: those that new temporal pages are expected on, by how many"
        " that will be, with how often to visit them; the order of the paper (NP 5.1) and greedy"
        " coverage are beside it. Pages that too few clients opened are left out."
    ),
    grain="one hub",
    columns=columns(f"""
        day DATE: Last day of the window.
        url VARCHAR from transits.referrer: Canonical URL of the hub.
        site VARCHAR from transits.referrer: Host of `url`.
        clients BIGINT from page_traffic.clients, transits.client: Distinct clients who opened the
            hub within the window; the most that one key of the pseudonyms saw.
        temporal_pages BIGINT from {_TRANSITS}, page_labels.is_temporal: Distinct temporal pages
            that somebody reached from the hub directly.
        rank BIGINT NULL from {_EXPECTED}: Place by `new_per_day`, 1 for the most; NULL for hubs
            that are not listed: they led to nothing new, or are known for another order only.
        paper_rank BIGINT NULL from {_TRANSITS}, page_labels.is_temporal: Place by `temporal_pages`,
            1 for the most; NULL where there are none.
        greedy_rank BIGINT NULL from {_TRANSITS}, page_labels.is_temporal: Place in greedy order, in
            which each hub adds the most temporal pages to those before it, among all hubs of this
            table; NULL where it adds nothing.
        gain BIGINT NULL from {_TRANSITS}, page_labels.is_temporal: Temporal pages that no hub of a
            better `rank` leads to.
        covered BIGINT NULL from {_TRANSITS}, page_labels.is_temporal: Temporal pages that this hub
            or one of a better `rank` leads to.
        coverage DOUBLE NULL from {_TRANSITS}, page_labels.is_temporal: `covered` as a share of all
            temporal pages of the window.
        tier BIGINT NULL from {_EXPECTED}: 1 for the hubs with the first half of what all seeds are
            expected to lead to, 2 up to nine tenths, 3.
        is_entrance BOOLEAN from {_EXPECTED}: The best hub of its site, which is listed however far
            behind it stands.
        basis VARCHAR from transits.referrer, page_traffic.url: `links`; `front_page`: of a site
            with temporal pages where nobody followed a link from an opened page to any of them, or
            of any site where there is neither a temporal page nor a hub; where nobody opened it,
            the page that most people came from; `clicks`: nobody saw it lead to a new page, but
            clicks led on from it on the last day (without any, in the whole window), and the list
            is short.
        new_per_day DOUBLE from {_EXPECTED}: New temporal pages to expect a day that the hub links
            to: its decayed count of the past, drawn towards that of all hubs. Half-life and
            strength are learned from the window's own days.
        new_per_day_low DOUBLE from {_EXPECTED}: Lower bound of `new_per_day`; both hold with 95 %
            probability.
        new_per_day_high DOUBLE from {_EXPECTED}: Upper bound of `new_per_day`.
        new_per_visit DOUBLE NULL from {_EXPECTED}: New temporal pages to expect at one visit, at
            the suggested interval: those since the visit before whose links have not left.
        half_life_hours DOUBLE from page_histories.views: Age at which half of the interest in
            temporal pages of the hub is over, from the views of their first day and their first
            three.
        interest_missed DOUBLE from page_histories.views, {_TRANSITS}: Share of the interest in
            these pages that comes after their link has left the hub.
        revisit_minutes BIGINT NULL from page_histories.views, page_histories.total, {_TRANSITS}:
            Suggested minutes between two visits of a crawler.
        """),
    key=("day", "url"),
    own_rules=(
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
        ),
        Rule(
            name="seeds_are_reachable",
            measure=(
                "(SELECT count(*) FROM hub_seeds LEFT JOIN page_totals"
                " ON page_totals.url = hub_seeds.url"
                " WHERE page_totals.url IS NULL AND hub_seeds.basis <> 'front_page')"
            ),
            maximum=0,
            reads=("page_totals",),
            protects="A seed that nobody opened may be gone, or never have been a page.",
            remedy="`page_totals` was made again since: materialise the day again.",
        ),
        no_rows(
            "seeds_are_whole",
            "hub_seeds",
            " OR ".join(f"({name} IS NULL) <> (rank IS NULL)" for name in _OF_SEEDS),
            protects="Whoever takes the seeds by rank takes all they need to know of them.",
        ),
        no_rows(
            "coverage_in_range",
            "hub_seeds",
            "coverage < 0 OR coverage > 1 OR gain < 0 OR gain > temporal_pages OR gain > covered"
            " OR temporal_pages < 0 OR new_per_day < 0 OR isnan(new_per_day)"
            " OR new_per_day_low < 0 OR new_per_day_low > new_per_day"
            " OR new_per_day > new_per_day_high OR isnan(new_per_day_high) OR new_per_visit < 0"
            " OR NOT half_life_hours > 0 OR interest_missed < 0 OR interest_missed > 1"
            " OR revisit_minutes < 1 OR tier < 1 OR tier > 3"
            " OR basis NOT IN ('links', 'front_page', 'clicks')",
            protects="Rates and shares are compared between hubs and days.",
        ),
        Rule(
            name="gains_sum_to_coverage",
            measure="abs(coalesce(sum(gain), 0) - coalesce(max(covered), 0))"
            " + abs(count(rank) - coalesce(max(rank), 0))",
            maximum=0,
            protects="Every temporal page is counted for exactly one hub.",
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
            whole="max(covered / nullif(CAST(coverage AS DOUBLE), 0))",
            largest_difference=0.1,  # windows of neighbouring days share all days but one
            needs_referrers=True,
            protects="Hubs that no longer lead to new pages: a site has moved its front page.",
            remedy="Compare `hub_seeds` by site with the day before.",
        ),
    ),
)
