"""Contract of `timely_simulation`: interest that simulated crawls miss by fetching late."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import Rule, Severity, no_rows
from temporal_assets.contracts.table import Table, columns

_INTEREST: Final = "interest_curves.mu, interest_curves.sigma, interest_curves.amplitude"

_LEAST_LEAD: Final = 0.005
"""Share of the interest up to which two strategies count as equally good."""

_LEAST_BORN: Final = 20
"""New pages from which on strategies can be told apart."""

TIMELY_SIMULATION: Final = Table(
    name="timely_simulation",
    version=4,
    description=(
        "Crawls while pages are born: how much of the interest in them is still to come when they"
        " are fetched for the first time (after Lefortier et al., CIKM 2013), under a budget of"
        " fetches an hour. No URL is in it."
    ),
    grain="one crawl: trial, horizon_days, fetches_per_hour, strategy",
    columns=columns(f"""
        day DATE: Last day of the window.
        trial VARCHAR: `in_sample`: hubs are those of this window; `out_of_time`: of an earlier one,
            made before the pages were born.
        horizon_days BIGINT: Days crawled after `learned_until`; 0 in sample.
        learned_until DATE: Last day of the window that hubs are from.
        crawled_from DATE: First day of the crawl.
        crawled_until DATE: Last day of the crawl.
        hours DOUBLE: Length of the crawl.
        fetches_per_hour DOUBLE: Budget; also for pages fetched again.
        strategy VARCHAR: `baseline` (front pages of the list in use, where there is one),
            `breadth_first`, `page_rank`, `nutch` (its adaptive schedule), `ours`, or `split` (ours,
            with the budget shared between visits of hubs and new pages by one price).
        remaining DOUBLE from {_INTEREST}: Share of the interest in pages born during the crawl that
            was still to come when they were fetched; pages never fetched count as none.
        remaining_low DOUBLE from {_INTEREST}: Lower bound of `remaining` over which pages there
            happened to be (95 %).
        remaining_high DOUBLE from {_INTEREST}: Upper bound of `remaining`.
        remaining_less_ours DOUBLE from {_INTEREST}: `remaining` less that of `ours` under the same
            budget.
        remaining_less_ours_low DOUBLE from {_INTEREST}: Lower bound of the difference over which
            pages there happened to be (95 %, paired).
        remaining_less_ours_high DOUBLE from {_INTEREST}: Upper bound of `remaining_less_ours`.
        temporal_remaining DOUBLE from {_INTEREST}, page_labels.is_temporal: Share of the interest
            in temporal pages alone that was still to come.
        temporal_fetched DOUBLE from page_labels.is_temporal: Share of the temporal pages born
            during the crawl that were fetched at all.
        median_delay_hours DOUBLE NULL from interest_curves.b: From birth to the first fetch of
            temporal pages; NULL where none was fetched.
        median_delay_low_hours DOUBLE NULL from interest_curves.b: Lower bound of
            `median_delay_hours` (95 %, by order statistics).
        median_delay_high_hours DOUBLE NULL from interest_curves.b: Upper bound of
            `median_delay_hours`.
        delay_90_hours DOUBLE NULL from interest_curves.b: 90th percentile of the hours from birth
            to the first fetch of temporal pages.
        fetches BIGINT: Fetches made.
        wasted BIGINT: Fetches of known pages that showed nothing new.
        watched BIGINT: Pages known at the start that are fetched again.
        pages BIGINT: Pages known at the start.
        born BIGINT: Pages born during the crawl.
        temporal BIGINT from page_labels.is_temporal: Temporal pages among them.
        """),
    key=("day", "trial", "horizon_days", "fetches_per_hour", "strategy"),
    own_rules=(
        no_rows(
            "shares_in_range",
            "timely_simulation",
            " OR ".join(
                f"isnan({name}) OR {name} < 0 OR {name} > 1.000000001"
                for name in ("remaining", "temporal_remaining", "temporal_fetched")
            )
            + " OR wasted < 0 OR wasted > fetches OR temporal > born"
            " OR median_delay_hours > delay_90_hours OR median_delay_low_hours < 0"
            " OR median_delay_hours NOT BETWEEN median_delay_low_hours AND median_delay_high_hours",
            protects="Strategies are compared between budgets and days.",
        ),
        no_rows(
            "budget_is_kept",
            "timely_simulation",
            "fetches > fetches_per_hour * hours + 1",
            protects="A strategy that spends more than the others cannot be compared with them.",
        ),
        Rule(
            name="ours_is_not_behind",
            measure=(
                f"count(CASE WHEN strategy <> 'split' AND born >= {_LEAST_BORN}"
                f" AND remaining_less_ours_low > {_LEAST_LEAD} THEN 1 END)"
            ),
            maximum=0,
            severity=Severity.WARN,
            protects="Hubs are worth revisiting only where they bring pages in time. Fewer than"
            f" {_LEAST_BORN} new pages do not tell.",
            remedy="Compare `watched` and `wasted`: hubs may have moved, or too few are known.",
        ),
    ),
)
