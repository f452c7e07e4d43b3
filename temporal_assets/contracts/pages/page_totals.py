"""Contract of `page_totals`: views and birth of every page of the window."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.daily.page_views import PAGE_VIEWS
from temporal_assets.contracts.rules import Rule, has_rows, no_rows, rows_drift
from temporal_assets.contracts.table import Table, columns

SEEN_BITS: Final = 63
"""Largest number of days that the bit mask `seen` holds: a signed integer without its sign."""

_BORN: Final = (
    # A birth outside the window has a check of its own and must not end this one.
    "(CAST(1 AS BIGINT) << CAST(greatest(0, least("
    f"{SEEN_BITS - 1}, date_diff('day', $window_first, birth))) AS INTEGER))"
)
"""SQL: the bit of the day of birth."""

PAGE_TOTALS: Final = Table(
    name="page_totals",
    version=3,
    description=(
        "Every page of the window that ends with the day: its views and its birth. Days that are"
        " missing from the window are named in the manifest and in the metadata."
    ),
    grain="one page of the window",
    columns=(
        *columns("day DATE: Last day of the window."),
        *PAGE_VIEWS.taken("site", "url"),
        *columns(f"""
            total BIGINT from page_views.views: Views on all days of the window.
            birth DATE from page_views.day: First day of the window with views.
            seen BIGINT from page_views.day: Days of the window with views, as bits: the lowest is
                its first day. Of windows of more than {SEEN_BITS} days, the first {SEEN_BITS}.
            number BIGINT: Place of the page in the order of sites and URLs, from 0. `page_traffic`
                is stored with it instead of the URL.
            """),
    ),
    key=("day", "url"),
    own_rules=(
        no_rows(
            "total_positive",
            "page_totals",
            "total < 1",
            protects="A page belongs to a window because somebody opened it there.",
        ),
        no_rows(
            "birth_in_window",
            "page_totals",
            "birth < $window_first OR birth > day",
            protects="A life counts from the birth; outside the window nothing is known of it.",
            remedy=(
                "Materialise the day again, for `window.days` may have changed. If it stays, the"
                " transformation is at fault: report it with the rows shown here."
            ),
        ),
        no_rows(
            "seen_from_birth",
            "page_totals",
            f"date_diff('day', $window_first, birth) < {SEEN_BITS}"
            f" AND ((seen & {_BORN}) = 0 OR (seen & ({_BORN} - 1)) <> 0)",
            protects="The next day's births are read off the days that pages were seen on.",
            remedy=(
                "Materialise the day again, for `window.days` may have changed. If it stays, the"
                " transformation is at fault: report it with the rows shown here."
            ),
        ),
        Rule(
            name="day_is_counted",
            measure=(
                "(SELECT count(*) FROM page_views LEFT JOIN page_totals"
                " ON page_totals.url = page_views.url"
                " WHERE page_totals.url IS NULL OR page_totals.total < page_views.views)"
            ),
            maximum=0,
            reads=("page_views",),
            protects="The views of the window's own day are part of its totals.",
            remedy="`page_views` was made again since: materialise the day of `page_totals` again.",
        ),
        has_rows("views"),
    ),
    drifts=(rows_drift("pages"),),
    is_read_often=True,
)
