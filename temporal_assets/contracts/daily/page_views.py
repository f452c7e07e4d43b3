"""The contract of `page_views`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import (
    day_is_partition,
    has_rows_as_usual,
    no_rows,
    not_null,
    rows_drift,
    unique,
)
from temporal_assets.contracts.table import ColumnSpec, Table, Type

_KEY: Final = ("day", "url")

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
        ColumnSpec("site", Type.VARCHAR, "Host of `url`.", sources=("requests.site",)),
        ColumnSpec("url", Type.VARCHAR, "Canonical URL of the page.", sources=("requests.url",)),
        ColumnSpec(
            "views",
            Type.BIGINT,
            "Distinct clients that opened the page on the day.",
            sources=("requests.client",),
        ),
    ),
    key=_KEY,
    rules=(
        not_null("page_views", ("site", "url", "views")),
        day_is_partition("page_views"),
        unique("page_views", _KEY),
        no_rows(
            "views_positive",
            "page_views",
            "views < 1",
            protects="A page is listed because somebody opened it.",
            remedy="The transformation is at fault: report it with the rows shown here.",
        ),
    ),
    drifts=(has_rows_as_usual("views"), rows_drift("pages")),
    is_read_often=True,
)
