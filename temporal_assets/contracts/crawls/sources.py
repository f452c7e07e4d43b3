"""Contract of `sources`: feeds, sitemaps and hubs, and what visits to them brought."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import no_rows
from temporal_assets.contracts.table import Table, columns

_FETCHED: Final = "fetches.url, fetches.source"

SOURCES: Final = Table(
    name="sources",
    version=1,
    description=(
        "Hubs, feeds and sitemaps that crawls visited or `crawls.sources` lists, with what their"
        " visits brought in the window: new temporal pages, delay, failures. Feeds and sitemaps"
        " enter the policy with the interval that follows; what is gone leaves it."
    ),
    grain="one source",
    columns=columns(f"""
        day DATE: Last day of the window.
        url VARCHAR from {_FETCHED}: The source.
        site VARCHAR from {_FETCHED}: Host of the source.
        kind VARCHAR from fetches.kind: `hub`, `feed` or `sitemap`.
        is_news BOOLEAN: A news sitemap, by its name.
        is_listed BOOLEAN: `crawls.sources` names it.
        visits BIGINT from fetches.url: Fetches of the source.
        unchanged BIGINT from fetches.is_changed: Visits that found no change.
        failures BIGINT from fetches.status: Visits without a response or with a status from 400 on.
        last_status BIGINT NULL from fetches.status: Status of the last visit; NULL without a
            response.
        is_gone BOOLEAN from fetches.status: The last visit was answered with 410, or the last three
            with 404: it leaves the policy.
        pages BIGINT from fetches.source: Pages fetched that it showed first.
        temporal_pages BIGINT from page_labels.is_temporal, early_labels.probability: Of these,
            those with the label, or likely to get it.
        delay_hours DOUBLE NULL from fetches.time, page_totals.birth: Mean hours from the birth of
            these pages (the end of its day at the latest) to their fetch; NULL without any.
        new_per_day DOUBLE NULL from {_FETCHED}: New temporal pages to expect a day that it shows
            first; NULL without visits.
        new_per_day_low DOUBLE NULL from {_FETCHED}: Lower bound of `new_per_day`; both hold with 95
            % probability.
        new_per_day_high DOUBLE NULL from {_FETCHED}: Upper bound of `new_per_day`.
        revisit_minutes BIGINT from {_FETCHED}: Suggested minutes between two visits, from 5 to a
            day: three for two new pages.
        """),
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
