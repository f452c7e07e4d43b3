"""The contract of `fetches`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import no_rows
from temporal_assets.contracts.table import ColumnSpec, Table, Type

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
    columns=(
        ColumnSpec("day", Type.DATE, "Day of `time`."),
        ColumnSpec("time", Type.TIMESTAMP, "When it was fetched, in UTC."),
        ColumnSpec("url", Type.VARCHAR, "What was asked for."),
        ColumnSpec(
            "page", Type.VARCHAR, "Its canonical form; NULL if it is no page.", nullable=True
        ),
        ColumnSpec("site", Type.VARCHAR, "Host of `url`."),
        ColumnSpec("status", Type.BIGINT, "Of the response; NULL without one.", nullable=True),
        ColumnSpec(
            "kind",
            Type.VARCHAR,
            "`page`, `explore` (a page that the policy did not know), or a visit to a source:"
            " `hub`, `feed`, `sitemap`.",
        ),
        ColumnSpec(
            "is_changed",
            Type.BOOLEAN,
            "Whether a visit found another content than the one before; NULL if nothing says so.",
            nullable=True,
        ),
        ColumnSpec(
            "source",
            Type.VARCHAR,
            "Of a page the source that showed it first, of a visit the source; NULL if unknown.",
            nullable=True,
        ),
        ColumnSpec(
            "new_links",
            Type.BIGINT,
            "Links on it that no source had shown before; NULL if nobody counted.",
            nullable=True,
        ),
        ColumnSpec("seconds", Type.DOUBLE, "Until the response began.", nullable=True),
        ColumnSpec("error", Type.VARCHAR, "Why there was no response.", nullable=True),
    ),
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
