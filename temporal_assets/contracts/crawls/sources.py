"""The contract of `sources`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import no_rows
from temporal_assets.contracts.table import ColumnSpec, Table, Type

_FETCHED: Final = ("fetches.url", "fetches.source")

SOURCES: Final = Table(
    name="sources",
    version=1,
    description=(
        "Hubs, feeds and sitemaps that crawls visited or `crawls.sources` lists, with what their"
        " visits brought in the window: new temporal pages, delay, failures. Feeds and sitemaps"
        " enter the policy with the interval that follows; what is gone leaves it."
    ),
    grain="one source",
    columns=(
        ColumnSpec("day", Type.DATE, "Last day of the window."),
        ColumnSpec("url", Type.VARCHAR, "The source.", sources=_FETCHED),
        ColumnSpec("site", Type.VARCHAR, "Its host.", sources=_FETCHED),
        ColumnSpec("kind", Type.VARCHAR, "`hub`, `feed` or `sitemap`.", sources=("fetches.kind",)),
        ColumnSpec("is_news", Type.BOOLEAN, "A news sitemap, by its name."),
        ColumnSpec("is_listed", Type.BOOLEAN, "`crawls.sources` names it."),
        ColumnSpec("visits", Type.BIGINT, "Fetches of it.", sources=("fetches.url",)),
        ColumnSpec(
            "unchanged", Type.BIGINT, "Of these, without a change.", sources=("fetches.is_changed",)
        ),
        ColumnSpec(
            "failures",
            Type.BIGINT,
            "Of these, without a response or with a status from 400 on.",
            sources=("fetches.status",),
        ),
        ColumnSpec(
            "last_status",
            Type.BIGINT,
            "Of the last visit; NULL without a response.",
            nullable=True,
            sources=("fetches.status",),
        ),
        ColumnSpec(
            "is_gone",
            Type.BOOLEAN,
            "The last visit was answered with 410, or the last three with 404: it leaves the"
            " policy.",
            sources=("fetches.status",),
        ),
        ColumnSpec(
            "pages",
            Type.BIGINT,
            "Pages fetched that it showed first.",
            sources=("fetches.source",),
        ),
        ColumnSpec(
            "temporal_pages",
            Type.BIGINT,
            "Of these, those with the label, or likely to get it.",
            sources=("page_labels.is_temporal", "early_labels.probability"),
        ),
        ColumnSpec(
            "delay_hours",
            Type.DOUBLE,
            "Mean hours from the birth of these pages (the end of its day at the latest) to their"
            " fetch; NULL without any.",
            nullable=True,
            sources=("fetches.time", "page_totals.birth"),
        ),
        ColumnSpec(
            "new_per_day",
            Type.DOUBLE,
            "New temporal pages to expect a day that it shows first; NULL without visits.",
            nullable=True,
            sources=_FETCHED,
        ),
        ColumnSpec(
            "new_per_day_low",
            Type.DOUBLE,
            "Lower bound of `new_per_day`; both hold with 95 % probability.",
            nullable=True,
            sources=_FETCHED,
        ),
        ColumnSpec(
            "new_per_day_high",
            Type.DOUBLE,
            "Upper bound of `new_per_day`.",
            nullable=True,
            sources=_FETCHED,
        ),
        ColumnSpec(
            "revisit_minutes",
            Type.BIGINT,
            "Suggested minutes between two visits, from 5 to a day: three for two new pages.",
            sources=_FETCHED,
        ),
    ),
    key=("day", "url"),
    own_rules=(
        no_rows(
            "counts_in_range",
            "sources",
            "kind NOT IN ('hub', 'feed', 'sitemap') OR visits < 0 OR unchanged < 0"
            " OR unchanged > visits OR failures < 0 OR failures > visits OR temporal_pages < 0"
            " OR temporal_pages > pages OR delay_hours < 0 OR new_per_day_low < 0"
            " OR new_per_day_low > new_per_day OR new_per_day > new_per_day_high"
            " OR revisit_minutes < 5 OR revisit_minutes > 1440",
            protects="Intervals of crawlers follow from these.",
        ),
    ),
)
