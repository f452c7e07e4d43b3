"""Contract of `fetches`: fetches that crawls made on a day."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import no_rows
from temporal_assets.contracts.table import Table, columns

_READ: Final = "The reader is at fault: report it with the rows shown here."

FETCHES: Final = Table(
    name="fetches",
    version=1,
    description=(
        "What crawls did on the day, one row a fetch: from the index of the instant crawler, from"
        " WARC and CDX files, and from tables of other crawlers (docs/crawl-results.md). Empty"
        " where `crawls.results` names nothing."
    ),
    grain="one fetch",
    columns=columns("""
        day DATE: Day of `time`.
        time TIMESTAMP: When it was fetched, in UTC.
        url VARCHAR: What was asked for.
        page VARCHAR NULL: Canonical form of `url`; NULL if it is no page.
        site VARCHAR: Host of `url`.
        status BIGINT NULL: Status of the response; NULL without one.
        kind VARCHAR: `page`, `explore` (a page that the policy did not know), or a visit to a
            source: `hub`, `feed`, `sitemap`.
        is_changed BOOLEAN NULL: Whether a visit found another content than the one before; NULL if
            nothing says so.
        source VARCHAR NULL: For a page the source that showed it first, for a visit the source;
            NULL if unknown.
        new_links BIGINT NULL: Links on it that no source had shown before; NULL if nobody counted.
        seconds DOUBLE NULL: Until the response began.
        error VARCHAR NULL: Why there was no response.
        """),
    own_rules=(
        no_rows(
            "kinds_are_known",
            "fetches",
            "kind NOT IN ('page', 'explore', 'hub', 'feed', 'sitemap')",
            protects="Visits and pages are counted apart.",
            remedy=_READ,
        ),
        no_rows(
            "values_in_range",
            "fetches",
            "status < 0 OR status > 999 OR new_links < 0 OR seconds < 0",
            protects="Yields and delays are sums of these.",
            remedy="A table of results has them wrong: see docs/crawl-results.md.",
        ),
    ),
)
