"""Contract of `site_changes`: sites that entered, left or moved in the list."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import Drift, Rule, no_rows
from temporal_assets.contracts.table import Table, columns

SITE_CHANGES: Final = Table(
    name="site_changes",
    version=1,
    description=(
        "Which sites have come and gone since the list before: entered, left, rising, falling,"
        " first seen, gone quiet. Names that fewer than `privacy.min_clients` clients know are"
        " left out."
    ),
    grain="one site that is or was in the list, was first seen, or has gone quiet",
    columns=columns("""
        day DATE: Last day of the window.
        site VARCHAR from site_scores.site: Host or domain.
        change VARCHAR: `entered`, `left`, `rising`, `falling` or `steady` of sites in one of both
            lists; `listed` where there is no list to compare with; `unlisted` of others. Rising and
            falling are among the sites of both lists.
        rank BIGINT NULL from site_scores.rank: Place in the list; NULL where it is not selected.
        earlier_rank BIGINT NULL: Place in the list before.
        bound DOUBLE NULL from site_scores.bound: What the score is at least.
        earlier_bound DOUBLE NULL: Value of `bound` in the list before.
        temporal_pages BIGINT from site_scores.temporal_pages: Temporal pages of the window.
        first_seen DATE: First day with views in the window.
        last_seen DATE: Last day with views.
        is_first_seen BOOLEAN: First seen after the day that is compared with. Of sites that were
            there when the window began nothing is known.
        is_gone_quiet BOOLEAN: Quiet now, and was not before.
        has_earlier BOOLEAN: There is a list to compare with.
        earlier_day DATE: The day that is compared with: the latest before `day` that was made under
            the same settings; the day before where there is none.
        """),
    key=("day", "site"),
    own_rules=(
        no_rows(
            "changes_follow_ranks",
            "site_changes",
            "change IN ('entered', 'listed') AND (rank IS NULL OR earlier_rank IS NOT NULL)"
            " OR change = 'left' AND (rank IS NOT NULL OR earlier_rank IS NULL)"
            " OR change IN ('rising', 'falling', 'steady')"
            " AND (rank IS NULL OR earlier_rank IS NULL)"
            " OR change NOT IN"
            " ('entered', 'left', 'rising', 'falling', 'steady', 'listed', 'unlisted')",
            protects="Every change can be explained by the two places.",
        ),
        Rule(
            name="the_list_is_complete",
            measure=(
                "abs(count(rank) - (SELECT coalesce(sum(CASE WHEN is_selected THEN 1 ELSE 0 END),"
                " 0) FROM site_scores))"
            ),
            maximum=0,
            reads=("site_scores",),
            protects="Whoever reads the changes sees every site of the list.",
            remedy="`site_scores` was made again since: materialise the day again.",
        ),
    ),
    drifts=(
        Drift(
            name="few_sites_come_and_go",
            measure=(
                "coalesce(sum(CASE WHEN change IN ('entered', 'left') THEN 1 ELSE 0 END), 0)"
                " / nullif(CAST(count(*) AS DOUBLE), 0)"
            ),
            whole="count(*)",
            largest_difference=0.3,
            protects="A list that is new from one day to the next follows no event but a fault.",
            remedy="Compare `site_scores` with the day before; see which days are missing.",
        ),
    ),
)
