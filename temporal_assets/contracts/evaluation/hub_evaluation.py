"""Contract of `hub_evaluation`: temporal pages that the first K seeds lead to."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.evaluation.trials import SITE_SHARE, sites_are_a_share
from temporal_assets.contracts.rules import Rule, Severity, no_rows
from temporal_assets.contracts.table import Table, columns

_LINKS: Final = "transits.referrer, transits.target, page_labels.is_temporal"


HUB_LISTS: Final = ("baseline", "paper", "greedy", "clicks", "recent", "ours")
"""Lists of seeds, by the first part of their columns' names."""
ENDING_LISTS: Final = ("greedy", "ours")
"""Lists that end where a further hub adds nothing."""
SIMPLE_LISTS: Final = ("clicks", "recent")
"""Lists that need no learning."""


HUB_EVALUATION: Final = Table(
    name="hub_evaluation",
    version=5,
    description=(
        "How many temporal pages the first K seeds lead to (NP 6.2), for every K: those published,"
        " the homepages of the list in use, the paper's ranking, greedy coverage, and two orders"
        " that anybody can write down. No URL is in it."
    ),
    grain="one number of seeds on one trial: trial, k",
    columns=(
        *columns("""
            day DATE: Last day of the window that judges.
            trial VARCHAR: `in_sample` or `out_of_time`.
            horizon_days BIGINT: Days of births that are judged by; 0 in sample.
            learned_until DATE: Last day of the window that seeds are made from.
            """),
        SITE_SHARE,
        *columns(f"""
            k BIGINT: Number of seeds.
            baseline_one_hop BIGINT NULL from {_LINKS}: Wanted pages that the first k entries of the
                list in use link to; NULL where there are not so many.
            baseline_two_hops BIGINT NULL from {_LINKS}: Wanted pages that these link to, or that
                are linked by a page these link to.
            paper_one_hop BIGINT NULL from {_LINKS}: Wanted pages that the first k hubs by pages
                linked link to; NULL where there are not so many.
            paper_two_hops BIGINT NULL from {_LINKS}: Wanted pages that these link to, or that are
                linked by a page these link to.
            greedy_one_hop BIGINT from {_LINKS}: Wanted pages that the first k hubs by greedy
                coverage link to, all of them where there are fewer; 0 where there are none.
            greedy_two_hops BIGINT from {_LINKS}: Wanted pages that these link to, or that are
                linked by a page these link to.
            clicks_one_hop BIGINT NULL from {_LINKS}: Wanted pages that the first k pages by clicks
                out of them on the last day link to; NULL where there are not so many.
            clicks_two_hops BIGINT NULL from {_LINKS}: Wanted pages that these link to, or that are
                linked by a page these link to.
            recent_one_hop BIGINT NULL from {_LINKS}: Wanted pages that the first k pages by
                distinct newly born pages they led to, each counted half as much a day earlier, link
                to; NULL where there are not so many.
            recent_two_hops BIGINT NULL from {_LINKS}: Wanted pages that these link to, or that are
                linked by a page these link to.
            ours_one_hop BIGINT from {_LINKS}: Wanted pages that the first k published hubs link to,
                all of them where there are fewer; 0 where there are none.
            ours_two_hops BIGINT from {_LINKS}: Wanted pages that these link to, or that are linked
                by a page these link to.
            lead BIGINT NULL from {_LINKS}: `ours_one_hop` less the larger of `clicks_one_hop` and
                `recent_one_hop`; NULL where either is.
            lead_low DOUBLE NULL from {_LINKS}: Lower bound of `lead`; both hold with 95 %
                probability, over which sites, days or pages there happened to be (`lead_unit`).
            lead_high DOUBLE NULL from {_LINKS}: Upper bound of `lead`; both hold with 95 %
                probability, over which sites, days or pages there happened to be (`lead_unit`).
            lead_unit VARCHAR: The kind of groups in which wanted pages stand or fall together:
                `sites`; with fewer than six `days of sites`, the pages born there on a day; with
                fewer than six of these `pages`, by which an interval promises too much.
            wanted BIGINT from {_LINKS}: Temporal pages, linked or not.
            """),
    ),
    key=("day", "trial", "horizon_days", "k"),
    own_rules=(
        sites_are_a_share("hub_evaluation"),
        no_rows(
            "hops_are_nested",
            "hub_evaluation",
            " OR ".join(
                f"{name}_one_hop < 0 OR {name}_one_hop > {name}_two_hops"
                f" OR {name}_two_hops > wanted"
                for name in HUB_LISTS
            ),
            protects="What one hop reaches, two hops reach.",
        ),
        no_rows(
            "lead_in_its_interval",
            "hub_evaluation",
            "lead_low > lead OR lead_high < lead OR (lead IS NULL) <> (lead_low IS NULL)"
            " OR (lead IS NULL) <> (lead_high IS NULL)"
            " OR lead_unit NOT IN ('sites', 'days of sites', 'pages')",
            protects="A lead is told with what it may be by chance.",
        ),
        Rule(
            name="published_order_is_ahead",
            measure=(
                "(SELECT count(*) FROM (SELECT sum(ours_one_hop) AS ours, sum(clicks_one_hop) AS"
                " clicks, sum(recent_one_hop) AS recent FROM hub_evaluation"
                " WHERE trial = 'out_of_time' AND clicks_one_hop IS NOT NULL"
                " AND recent_one_hop IS NOT NULL GROUP BY horizon_days) AS sums"
                " WHERE ours < 0.95 * clicks OR ours < 0.95 * recent)"
            ),
            maximum=0,
            severity=Severity.WARN,
            protects="A list that anybody can write down would lead to more new pages than ours.",
            remedy="Read docs/hubs.md: what is learned, and from which days.",
        ),
    ),
)
