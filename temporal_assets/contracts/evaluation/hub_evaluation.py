"""Contract of `hub_evaluation`: temporal pages that the first K seeds lead to."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.evaluation.trials import SITE_SHARE, sites_are_a_share
from temporal_assets.contracts.rules import Rule, Severity, no_rows
from temporal_assets.contracts.table import ColumnSpec, Table, columns

_LINKS: Final = "transits.referrer, transits.target, page_labels.is_temporal"


_SEEDS: Final = {
    "baseline": "entries of the list in use",
    "paper": "hubs by number of wanted pages they link to (the paper's order)",
    "greedy": "hubs by greedy coverage (each adds the most wanted pages not yet covered)",
    "clicks": "pages by clicks out of them on the last day",
    "recent": (
        "pages by number of newly born pages they led to (a day earlier counts half as much)"
    ),
    "ours": "published hubs",
}
"""Seeds of each list, by the first part of its columns' names."""

HUB_LISTS: Final = tuple(_SEEDS)
"""Lists of seeds that are compared."""
ENDING_LISTS: Final = ("greedy", "ours")
"""Lists that end where a further hub adds nothing."""
SIMPLE_LISTS: Final = ("clicks", "recent")
"""Lists that need no learning."""


def _hops(name: str) -> tuple[ColumnSpec, ...]:
    """Return the two columns of a list: pages one link, and at most two links, from its seeds."""
    if name in ENDING_LISTS:
        null, shorter = "", "by all of them where there are fewer; 0 where there are none"
    else:
        null, shorter = " NULL", "NULL where there are fewer"
    return columns(f"""
        {name}_one_hop BIGINT{null} from {_LINKS}: Number of wanted pages that the first k
            {_SEEDS[name]} link to; {shorter}.
        {name}_two_hops BIGINT{null} from {_LINKS}: Number of wanted pages that are at most two
            links from the seeds of `{name}_one_hop`.
        """)


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
        *columns("k BIGINT: Number of seeds."),
        *(column for name in HUB_LISTS for column in _hops(name)),
        *columns(f"""
            lead BIGINT NULL from {_LINKS}: `ours_one_hop` less the larger of `clicks_one_hop` and
                `recent_one_hop`; NULL where either is.
            lead_low DOUBLE NULL from {_LINKS}: Lower bound of the 95 % confidence interval of
                `lead`, from a bootstrap over the groups that `lead_unit` names.
            lead_high DOUBLE NULL from {_LINKS}: Upper bound of the 95 % confidence interval of
                `lead`, from a bootstrap over the groups that `lead_unit` names.
            lead_unit VARCHAR: Kind of groups of wanted pages that the interval of `lead` draws:
                `sites`; with fewer than six sites `days of sites`, the pages of a site born on one
                day; with fewer than six of those `pages`, which makes the interval too narrow.
            wanted BIGINT from {_LINKS}: Number of wanted pages: all temporal ones, linked or not.
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
            protects="Every lead lies in its own interval.",
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
