"""Contract of `page_views`: distinct clients of each page on a day."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.daily.requests import REQUESTS
from temporal_assets.contracts.rules import has_rows_as_usual, no_rows, rows_drift
from temporal_assets.contracts.table import Table, columns

PAGE_VIEWS: Final = Table(
    name="page_views",
    version=1,
    description=(
        "Views of every page: the distinct clients that opened it on the day, however often"
        " (TW 4.1, NP 3)."
    ),
    grain="one page and day",
    columns=(
        *columns("day DATE from requests.day: Day of the views in the configured time zone."),
        *REQUESTS.taken("site"),
        *columns("""
            url VARCHAR from requests.url: Canonical URL of the page.
            views BIGINT from requests.client: Distinct clients that opened the page on the day.
            """),
    ),
    key=("day", "url"),
    own_rules=(
        no_rows(
            "views_positive",
            "page_views",
            "views < 1",
            protects="A page is listed because somebody opened it.",
        ),
    ),
    drifts=(has_rows_as_usual("views"), rows_drift("pages")),
    is_read_often=True,
)
