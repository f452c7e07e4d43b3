"""The contract of `hub_evaluation`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.evaluation.trials import AT_FAULT, SITE_SHARE, sites_are_a_share
from temporal_assets.contracts.rules import (
    Rule,
    Severity,
    no_rows,
)
from temporal_assets.contracts.table import ColumnSpec, Table, Type

_FEWER: Final = "; NULL where there are not so many"
_FEWER_HUBS: Final = ", all of them where there are fewer; 0 where there are none"
_LINKS: Final = ("transits.referrer", "transits.target", "page_labels.is_temporal")


HUB_LISTS: Final = ("baseline", "paper", "greedy", "clicks", "recent", "ours")
"""Lists of seeds, by the first part of their columns' names."""
ENDING_LISTS: Final = ("greedy", "ours")
"""Lists that end where a further hub adds nothing."""
SIMPLE_LISTS: Final = ("clicks", "recent")
"""Lists that anybody can write down."""


def _reach(list_: str, what: str, fewer: str) -> tuple[ColumnSpec, ColumnSpec]:
    return (
        ColumnSpec(
            f"{list_}_one_hop",
            Type.BIGINT,
            f"Wanted pages that {what} link to{fewer}.",
            nullable=list_ not in ENDING_LISTS,
            sources=_LINKS,
        ),
        ColumnSpec(
            f"{list_}_two_hops",
            Type.BIGINT,
            "Wanted pages that these link to, or that are linked by a page these link to.",
            nullable=list_ not in ENDING_LISTS,
            sources=_LINKS,
        ),
    )


HUB_EVALUATION: Final = Table(
    name="hub_evaluation",
    version=4,
    description=(
        "How many temporal pages the first K seeds lead to (NP 6.2), for every K: those published,"
        " the homepages of the list in use, the paper's ranking, greedy coverage, and two orders"
        " that anybody can write down. No URL is in it."
    ),
    grain="one number of seeds on one trial: trial, k",
    columns=(
        ColumnSpec("day", Type.DATE, "Last day of the window that judges."),
        ColumnSpec("trial", Type.VARCHAR, "`in_sample` or `out_of_time`."),
        ColumnSpec("horizon_days", Type.BIGINT, "Days of births that are judged by; 0 in sample."),
        ColumnSpec("learned_until", Type.DATE, "Last day of the window that seeds are made from."),
        SITE_SHARE,
        ColumnSpec("k", Type.BIGINT, "Number of seeds."),
        *_reach("baseline", "the first k entries of the list in use", _FEWER),
        *_reach("paper", "the first k hubs by pages linked", _FEWER),
        *_reach("greedy", "the first k hubs by greedy coverage", _FEWER_HUBS),
        *_reach("clicks", "the first k pages by clicks out of them on the last day", _FEWER),
        *_reach(
            "recent",
            "the first k pages by distinct newly born pages they led to, each counted half as much"
            " a day earlier,",
            _FEWER,
        ),
        *_reach("ours", "the first k published hubs", _FEWER_HUBS),
        ColumnSpec(
            "lead",
            Type.BIGINT,
            "`ours_one_hop` less the larger of `clicks_one_hop` and `recent_one_hop`; NULL where"
            " either is.",
            nullable=True,
            sources=_LINKS,
        ),
        *(
            ColumnSpec(
                f"lead_{end}",
                Type.DOUBLE,
                f"{words} bound of `lead`; both hold with 95 % probability, over which pages there"
                " happened to be.",
                nullable=True,
                sources=_LINKS,
            )
            for end, words in (("low", "Lower"), ("high", "Upper"))
        ),
        ColumnSpec("wanted", Type.BIGINT, "Temporal pages, linked or not.", sources=_LINKS),
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
            remedy=AT_FAULT,
        ),
        no_rows(
            "lead_in_its_interval",
            "hub_evaluation",
            "lead_low > lead OR lead_high < lead OR (lead IS NULL) <> (lead_low IS NULL)"
            " OR (lead IS NULL) <> (lead_high IS NULL)",
            protects="A lead is told with what it may be by chance.",
            remedy=AT_FAULT,
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
