"""Contract of `page_histories`: views by day of each reliable page."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.pages.page_totals import PAGE_TOTALS
from temporal_assets.contracts.rules import Drift, Rule, has_rows_as_before, no_rows
from temporal_assets.contracts.table import Table, columns

_BIRTH: Final = "date_diff('day', $window_first, birth) + 1"
"""SQL: index of the day of birth in the window, from 1."""

_AGAIN: Final = "Materialise `page_totals` and `page_histories` of the day again, in this order."

PAGE_HISTORIES: Final = Table(
    name="page_histories",
    version=1,
    description=(
        "Views by day of the pages that can be relied on: those with at least"
        " `window.min_views_per_day` views a day on average over the days of the window that are"
        " there (TW 4.1: 60 in 60 days)."
    ),
    grain="one reliable page of the window",
    columns=(
        *columns("day DATE: Last day of the window."),
        *PAGE_TOTALS.taken("site", "url", "birth", "total"),
        *columns("""
            views INTEGER[] from page_views.views: Views of each day of the window, first day first;
                0 also on days that are missing.
            is_born_before BOOLEAN from page_totals.birth: The page was viewed on the first day of
                the window that is there, so that its true birth may lie before it.
            """),
    ),
    key=("day", "url"),
    own_rules=(
        no_rows(
            "window_is_whole",
            "page_histories",
            "array_length(views) <> $window_days",
            protects="A position among the views stands for a day.",
            remedy="`window.days` has changed since: materialise the day again.",
        ),
        no_rows(
            "views_sum_to_total",
            "page_histories",
            "list_sum(views) <> total",
            protects="Curves are fitted to the views and scores are weighted by the total.",
            remedy=_AGAIN,
        ),
        no_rows(
            "birth_is_first_view",
            "page_histories",
            # Engines differ in what a place before the first is.
            f"birth < $window_first OR list_extract(views, {_BIRTH}) = 0"
            f" OR coalesce(list_sum(list_slice(views, 1, {_BIRTH} - 1)), 0) > 0",
            protects="Concentration and curves count the life of a page from its birth.",
            remedy=_AGAIN,
        ),
        Rule(
            name="totals_agree",
            measure=(
                "(SELECT count(*) FROM page_histories LEFT JOIN page_totals"
                " ON page_totals.url = page_histories.url"
                " WHERE page_totals.url IS NULL OR page_totals.total <> page_histories.total"
                " OR page_totals.birth <> page_histories.birth)"
            ),
            maximum=0,
            reads=("page_totals",),
            protects="The histories were made from other totals than those that are published.",
            remedy=_AGAIN,
        ),
        Rule(
            name="reliable_pages_complete",
            measure=(
                "(SELECT count(*) FROM page_totals"
                " WHERE total >= (SELECT min(total) FROM page_histories)) - count(*)"
            ),
            minimum=0,
            maximum=0,
            reads=("page_totals",),
            protects="Every page with enough views has a history.",
            remedy=_AGAIN,
        ),
        Rule(
            name="day_is_counted",
            measure=(
                "(SELECT count(*) FROM page_histories LEFT JOIN page_views"
                " ON page_views.url = page_histories.url"
                " WHERE list_extract(page_histories.views, $window_days)"
                " <> coalesce(page_views.views, 0))"
            ),
            maximum=0,
            reads=("page_views",),
            protects="The last of the views are those of the window's own day.",
            remedy="`page_views` was made again since. " + _AGAIN,
        ),
        Rule(
            name="every_day_is_counted",
            measure=(
                "(WITH present AS (SELECT DISTINCT day FROM page_views_window),"
                " daily AS (SELECT day, sum(views) AS views FROM page_views_window"
                " WHERE url IN (SELECT url FROM page_histories) GROUP BY day),"
                " held AS (SELECT present.day AS day, sum(list_extract(views,"
                " CAST(date_diff('day', $window_first, present.day) + 1 AS INTEGER))) AS views"
                " FROM present CROSS JOIN page_histories GROUP BY present.day)"
                " SELECT count(*) FROM present"
                " LEFT JOIN daily ON daily.day = present.day"
                " LEFT JOIN held ON held.day = present.day"
                " WHERE coalesce(held.views, 0) <> coalesce(daily.views, 0))"
            ),
            maximum=0,
            reads_window=("page_views",),
            protects="Every day's views are those that `page_views` holds of the same pages.",
            remedy="`page_views` of a day was made again since. " + _AGAIN,
        ),
    ),
    drifts=(
        has_rows_as_before("reliable pages"),
        Drift(
            name="reliable_share_is_usual",
            measure=("count(*) / nullif(CAST((SELECT count(*) FROM page_totals) AS DOUBLE), 0)"),
            whole="(SELECT count(*) FROM page_totals)",
            largest_factor=1.5,  # of 60 days one is new: a larger move is not the readers'
            reads=("page_totals",),
            protects=(
                "Far more reliable pages than usual: bots. Far fewer: days are missing, or URLs"
                " have changed their form."
            ),
            remedy="Compare `page_views` of the last days, and see which days are missing.",
        ),
    ),
)
