"""The contract of `page_views`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.daily.requests import REQUESTS
from temporal_assets.contracts.rules import (
    has_rows_as_usual,
    no_rows,
    rows_drift,
)
from temporal_assets.contracts.table import ColumnSpec, Table, Type

PAGE_VIEWS: Final = Table(
    name="page_views",
    version=1,
    description=(
        "Views of every page: the distinct clients that opened it on the day, however often"
        " (TW 4.1, NP 3)."
    ),
    grain="one page and day",
    columns=(
        ColumnSpec(
            "day",
            Type.DATE,
            "Day of the views in the configured time zone.",
            sources=("requests.day",),
        ),
        *REQUESTS.taken("site"),
        ColumnSpec("url", Type.VARCHAR, "Canonical URL of the page.", sources=("requests.url",)),
        ColumnSpec(
            "views",
            Type.BIGINT,
            "Distinct clients that opened the page on the day.",
            sources=("requests.client",),
        ),
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
