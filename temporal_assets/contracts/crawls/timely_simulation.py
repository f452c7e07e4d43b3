"""The contract of `timely_simulation`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import (
    Rule,
    Severity,
    no_rows,
)
from temporal_assets.contracts.table import ColumnSpec, Table, Type

_INTEREST: Final = ("interest_curves.mu", "interest_curves.sigma", "interest_curves.amplitude")

_LEAST_LEAD: Final = 0.005
"""Share of the interest below which one strategy is as good as another."""

TIMELY_SIMULATION: Final = Table(
    name="timely_simulation",
    version=4,
    description=(
        "Crawls while pages are born: how much of the interest in them is still to come when they"
        " are fetched for the first time (after Lefortier et al., CIKM 2013), under a budget of"
        " fetches an hour. No URL is in it."
    ),
    grain="one crawl: trial, horizon_days, fetches_per_hour, strategy",
    columns=(
        ColumnSpec("day", Type.DATE, "Last day of the window."),
        ColumnSpec(
            "trial",
            Type.VARCHAR,
            "`in_sample`: hubs are those of this window; `out_of_time`: of an earlier one, made"
            " before the pages were born.",
        ),
        ColumnSpec("horizon_days", Type.BIGINT, "Days crawled after `learned_until`; 0 in sample."),
        ColumnSpec("learned_until", Type.DATE, "Last day of the window that hubs are from."),
        ColumnSpec("crawled_from", Type.DATE, "First day of the crawl."),
        ColumnSpec("crawled_until", Type.DATE, "Last day of the crawl."),
        ColumnSpec("hours", Type.DOUBLE, "Length of the crawl."),
        ColumnSpec("fetches_per_hour", Type.DOUBLE, "Budget; also for pages fetched again."),
        ColumnSpec(
            "strategy",
            Type.VARCHAR,
            "`baseline` (front pages of the list in use, where there is one), `breadth_first`,"
            " `page_rank`, `nutch` (its adaptive schedule), `ours`, or `split`"
            " (ours, with the budget shared between visits of hubs and new pages by one price).",
        ),
        ColumnSpec(
            "remaining",
            Type.DOUBLE,
            "Share of the interest in pages born during the crawl that was still to come when they"
            " were fetched; pages never fetched count as none.",
            sources=_INTEREST,
        ),
        ColumnSpec(
            "remaining_low",
            Type.DOUBLE,
            "Lower bound of `remaining` over which pages there happened to be (95 %).",
            sources=_INTEREST,
        ),
        ColumnSpec("remaining_high", Type.DOUBLE, "Upper bound of it.", sources=_INTEREST),
        ColumnSpec(
            "remaining_less_ours",
            Type.DOUBLE,
            "`remaining` less that of `ours` under the same budget.",
            sources=_INTEREST,
        ),
        ColumnSpec(
            "remaining_less_ours_low",
            Type.DOUBLE,
            "Lower bound of the difference over which pages there happened to be (95 %, paired).",
            sources=_INTEREST,
        ),
        ColumnSpec(
            "remaining_less_ours_high", Type.DOUBLE, "Upper bound of it.", sources=_INTEREST
        ),
        ColumnSpec(
            "temporal_remaining",
            Type.DOUBLE,
            "The same of temporal pages.",
            sources=(*_INTEREST, "page_labels.is_temporal"),
        ),
        ColumnSpec(
            "temporal_fetched",
            Type.DOUBLE,
            "Share of the temporal pages born during the crawl that were fetched at all.",
            sources=("page_labels.is_temporal",),
        ),
        ColumnSpec(
            "median_delay_hours",
            Type.DOUBLE,
            "From birth to the first fetch of temporal pages; NULL where none was fetched.",
            nullable=True,
            sources=("interest_curves.b",),
        ),
        ColumnSpec(
            "median_delay_low_hours",
            Type.DOUBLE,
            "Lower bound of `median_delay_hours` (95 %, by order statistics).",
            nullable=True,
            sources=("interest_curves.b",),
        ),
        ColumnSpec(
            "median_delay_high_hours",
            Type.DOUBLE,
            "Upper bound of it.",
            nullable=True,
            sources=("interest_curves.b",),
        ),
        ColumnSpec(
            "delay_90_hours",
            Type.DOUBLE,
            "The 90th percentile of the same.",
            nullable=True,
            sources=("interest_curves.b",),
        ),
        ColumnSpec("fetches", Type.BIGINT, "Fetches made."),
        ColumnSpec("wasted", Type.BIGINT, "Fetches of known pages that showed nothing new."),
        ColumnSpec("watched", Type.BIGINT, "Pages known at the start that are fetched again."),
        ColumnSpec("pages", Type.BIGINT, "Pages known at the start."),
        ColumnSpec("born", Type.BIGINT, "Pages born during the crawl."),
        ColumnSpec(
            "temporal",
            Type.BIGINT,
            "Temporal pages among them.",
            sources=("page_labels.is_temporal",),
        ),
    ),
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
                "count(CASE WHEN strategy <> 'split'"
                f" AND remaining_less_ours_low > {_LEAST_LEAD} THEN 1 END)"
            ),
            maximum=0,
            severity=Severity.WARN,
            protects="Hubs are worth revisiting only where they bring pages in time.",
            remedy="Compare `watched` and `wasted`: hubs may have moved, or too few are known.",
        ),
    ),
)
