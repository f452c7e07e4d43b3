"""The contract of `provisional_lists`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import (
    no_rows,
)
from temporal_assets.contracts.table import ColumnSpec, Table, Type

_KINDS: Final = "'site', 'section', 'pattern'"

PROVISIONAL_LISTS: Final = Table(
    name="provisional_lists",
    version=1,
    description=(
        "What can be said of sites whose pages have no labels yet, because the window is short or"
        " few read them: the share of pages in which interest fades within days, by site, section"
        " and pattern. The policy says what rests on it (docs/policy.md)."
    ),
    grain="one site, section or pattern of a site with few labelled pages",
    columns=(
        ColumnSpec("day", Type.DATE, "Last day of the window."),
        ColumnSpec("site", Type.VARCHAR, "The host.", sources=("page_totals.site",)),
        ColumnSpec("kind", Type.VARCHAR, "`site`, `section` or `pattern`."),
        ColumnSpec(
            "name",
            Type.VARCHAR,
            "The site, the section or the pattern's template.",
            sources=("page_totals.site", "page_views.url", "url_patterns.template"),
        ),
        ColumnSpec(
            "pattern",
            Type.BIGINT,
            "Number of the pattern in the site's tree; -1 for sites and sections.",
            sources=("url_patterns.pattern",),
        ),
        ColumnSpec("days", Type.BIGINT, "Days that it was seen on.", sources=("page_views.day",)),
        ColumnSpec(
            "pages",
            Type.BIGINT,
            "Pages with views enough to say anything.",
            sources=("page_views.views",),
        ),
        ColumnSpec(
            "share",
            Type.DOUBLE,
            "Share of them in which interest fades within days, drawn towards that of the section"
            " above and of the site; a half where nothing is known.",
            sources=("page_views.views",),
        ),
        ColumnSpec(
            "new_per_day",
            Type.DOUBLE,
            "Such pages that were first opened after the first day, a day; NULL with a single day.",
            nullable=True,
            sources=("page_views.day",),
        ),
        ColumnSpec("views", Type.BIGINT, "Their views.", sources=("page_views.views",)),
        ColumnSpec(
            "clients",
            Type.BIGINT,
            "So many clients at least: those of its most opened page.",
            sources=("page_traffic.clients",),
        ),
        ColumnSpec(
            "is_listed",
            Type.BOOLEAN,
            "New pages of it are worth to be fetched now. Of sections, one that lies beneath"
            " another that is listed is not.",
        ),
    ),
    key=("day", "site", "kind", "name", "pattern"),
    own_rules=(
        no_rows(
            "kinds_are_known",
            "provisional_lists",
            f"kind NOT IN ({_KINDS})",
            protects="The policy takes each kind for one of its lists.",
        ),
        no_rows(
            "shares_are_shares",
            "provisional_lists",
            "NOT share BETWEEN 0 AND 1",
            protects="Decisions compare them with a threshold.",
        ),
    ),
)
