"""Contract of `provisional_lists`: estimates for sites without labels."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import no_rows
from temporal_assets.contracts.table import Table, columns

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
    columns=columns("""
        day DATE: Last day of the window.
        site VARCHAR from page_totals.site: The host.
        kind VARCHAR: `site`, `section` or `pattern`.
        name VARCHAR from page_totals.site, page_views.url, url_patterns.template: The site, the
            section or the pattern's template.
        pattern BIGINT from url_patterns.pattern: Number of the pattern in the site's tree; -1 for
            sites and sections.
        days BIGINT from page_views.day: Days that it was seen on.
        pages BIGINT from page_views.views: Pages with views enough to say anything.
        share DOUBLE from page_views.views: Share of them in which interest fades within days, drawn
            towards that of the section above and of the site; a half where nothing is known.
        new_per_day DOUBLE NULL from page_views.day: Such pages that were first opened after the
            first day, a day; NULL with a single day.
        views BIGINT from page_views.views: Views of the pages.
        clients BIGINT from page_traffic.clients: Number of clients at least: those of its most
            opened page.
        is_listed BOOLEAN: New pages of it are worth to be fetched now. Of sections, one that lies
            beneath another that is listed is not.
        """),
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
