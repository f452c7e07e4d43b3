"""Contract of `crawl_simulation`: traffic covered by simulated crawls in different orders."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import Rule, Severity, no_rows
from temporal_assets.contracts.table import Table, columns

_CURVE: Final = "trial, scenario, crawl_order"
_TRAFFIC: Final = "transits.target, transits.referrer, transits.client"

_FALLS: Final = (
    "(SELECT count(*) FROM (SELECT traffic_share - lag(traffic_share) OVER ("  # noqa: S608 - names and numbers of the contract
    f"PARTITION BY {_CURVE} ORDER BY throughput) AS gain FROM crawl_simulation) AS steps"
    " WHERE gain < -0.000000001)"
)
_ABOVE_ORACLE: Final = (
    "(SELECT count(*) FROM crawl_simulation AS one INNER JOIN crawl_simulation AS oracle"
    " ON oracle.trial = one.trial AND oracle.scenario = one.scenario"
    " AND oracle.throughput = one.throughput AND oracle.crawl_order = 'oracle'"
    " WHERE one.traffic_share > oracle.traffic_share + 0.000000001)"
)


CRAWL_SIMULATION: Final = Table(
    name="crawl_simulation",
    version=2,
    description=(
        "Crawls of the mirror in every order of BB 5.3 and ours: how much of the traffic is"
        " fetched, or seen, after how many of the pages. The curves are the mean of the sites. No"
        " URL and no site is named in it."
    ),
    grain="one point of one curve: trial, scenario, crawl_order, throughput",
    columns=columns(f"""
        day DATE: Last day of the window.
        trial VARCHAR: `in_sample`: orders are learned from all days of the window and scored by the
            same; `out_of_time`: learned from its first days, scored by those after them.
        scenario VARCHAR: `fetch`: traffic of pages downloaded (BB 5.3.1); `discovery`: of pages
            seen, fetched or linked by a fetched one (BB 5.3.2).
        crawl_order VARCHAR: `combined` (ours), `behaviour_graph`, `average_visit`, `overall_visit`,
            `volume`, `average_referral`, `overall_referral`, `page_counts`, `page_rank`, `opic`,
            `breadth_first`, `random`, or `oracle`, which is a bound and no order.
        throughput DOUBLE: Pages fetched, as a share of the pages of the mirror: 0, 0.01, ... 1.
        traffic_share DOUBLE from {_TRAFFIC}: Traffic fetched or seen after them, as a share of the
            traffic of the mirror's pages.
        best_baseline VARCHAR: The order of `page_counts`, `page_rank`, `opic`, `breadth_first` and
            `random` with the largest `traffic_share` here, chosen with hindsight.
        traffic_less_best DOUBLE from {_TRAFFIC}: `traffic_share` here, less that of the best
            baseline.
        traffic_less_best_low DOUBLE NULL from {_TRAFFIC}: The lower end of its 95 % interval when
            sites are drawn again; NULL for one site.
        traffic_less_best_high DOUBLE NULL from {_TRAFFIC}: The upper end of its 95 % interval when
            sites are drawn again; NULL for one site.
        area DOUBLE from {_TRAFFIC}: Area under the curve, the mean of `traffic_share` over all
            throughputs. This and the columns after it are those of the curve and the same in all of
            its rows.
        pages_50 DOUBLE NULL from {_TRAFFIC}: Share of the pages that the curve needs for 50 % of
            the traffic; NULL where it never has as much.
        pages_80 DOUBLE NULL from {_TRAFFIC}: Share of the pages that the curve needs for 80 % of
            the traffic; NULL where it never has as much.
        pages_90 DOUBLE NULL from {_TRAFFIC}: Share of the pages that the curve needs for 90 % of
            the traffic; NULL where it never has as much.
        pages_80_less_breadth_first DOUBLE NULL from {_TRAFFIC}: `pages_80`, less that of breadth
            first.
        pages_80_less_page_rank DOUBLE NULL from {_TRAFFIC}: `pages_80`, less that of page rank.
        sites_ahead_of_breadth_first BIGINT from {_TRAFFIC}: Sites of which the order needs fewer
            pages for 80 % of the traffic than breadth first.
        sites_ahead_of_page_rank BIGINT from {_TRAFFIC}: The same against PageRank.
        sites BIGINT: Sites that were crawled.
        left_out BIGINT: Sites of the mirror that were not: too few pages or too many, or no traffic
            to learn from or to be scored by.
        pages BIGINT: Pages of the sites that were crawled.
        visited_pages BIGINT from {_TRAFFIC}: Those of them that have traffic in the days that
            score.
        links BIGINT: Links within these sites.
        mirror VARCHAR: `stored`: made by `temporal-assets evaluate mirror`; `transits`: of what
            users did in the window, so that no page is without traffic.
        learned_from DATE: First day that orders are learned from.
        learned_until DATE: Last day that orders are learned from.
        scored_from DATE: First day whose traffic scores.
        scored_until DATE: Last day whose traffic scores.
        """),
    key=("day", "trial", "scenario", "crawl_order", "throughput"),
    own_rules=(
        no_rows(
            "shares_in_range",
            "crawl_simulation",
            "isnan(traffic_share) OR traffic_share < 0 OR traffic_share > 1.000000001"
            " OR throughput < 0 OR throughput > 1 OR isnan(area) OR area < 0 OR area > 1"
            " OR pages_50 > pages_80 OR pages_80 > pages_90 OR pages_90 > 1 OR pages_50 < 0",
            protects="Curves are compared between orders, sites and days.",
        ),
        Rule(
            name="curves_rise",
            measure=_FALLS,
            maximum=0,
            protects="What is fetched stays fetched.",
        ),
        Rule(
            name="nothing_exceeds_the_oracle",
            measure=_ABOVE_ORACLE,
            maximum=0,
            protects="A bound that is exceeded is none: a crawl has fetched what it cannot reach.",
        ),
        no_rows(
            "learned_before_scored",
            "crawl_simulation",
            "learned_until < learned_from OR scored_until < scored_from"
            " OR (trial = 'out_of_time' AND scored_from <= learned_until)",
            protects="An order that has seen the traffic it is scored by promises too much.",
        ),
        Rule(
            name="ours_is_not_behind",
            measure=(
                "count(CASE WHEN trial = 'out_of_time' AND crawl_order = 'combined'"
                " AND traffic_less_best_high < -0.005 THEN 1 END)"
            ),
            maximum=0,
            severity=Severity.WARN,
            protects="An order that is surely half a point behind a simple one helps nobody.",
            remedy="See `temporal-assets evaluate crawls` for the sites on which it falls behind.",
        ),
    ),
)
