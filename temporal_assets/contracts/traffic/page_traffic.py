"""Contract of `page_traffic`: clients that came to each page, and went from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from temporal_assets.contracts.pages.page_totals import PAGE_TOTALS
from temporal_assets.contracts.rules import Rule, has_rows, no_rows, rows_drift
from temporal_assets.contracts.table import Table, Type, columns

PAGE_TRAFFIC: Final = Table(
    name="page_traffic",
    version=4,
    description=(
        "How people came to every page of the window and where they went from it: F_in, F_out and"
        " F_trans of BB 2, each (referrer, target, client) once in the window. What URL patterns"
        " are learned from. Rows are stored with numbers of pages; `page_totals`, which has their"
        " URLs, lies beside them. Views and `read` show the URLs."
    ),
    grain="one page of the window",
    columns=(
        *columns("day DATE: Last day of the window."),
        *PAGE_TOTALS.taken("site"),
        *(replace(column, number=Type.BIGINT) for column in PAGE_TOTALS.taken("url")),
        *columns("""
            visits BIGINT from transits.target, transits.client: F_in: distinct pairs of a referrer,
                or none, and a client who came to the page.
            referred BIGINT from transits.referrer: Visits that came from a page, of this site or
                another.
            referrals BIGINT from transits.referrer, transits.client: F_out: distinct pairs of a
                target, on any site, and a client who came there from the page.
            clients BIGINT from transits.client: Distinct clients who came to the page.
            few_clients BIGINT[] from transits.client: Pseudonyms of the clients where they are
                fewer than `privacy.min_clients`, else empty: what it takes to count the clients of
                a pattern up to that bound.
            links STRUCT(page INTEGER, transits BIGINT)[] from transits.referrer, transits.client:
                F_trans: pages of the same site that people came from, and how many did. A page is
                its place among the URLs of its site, from 0.
            views BIGINT from page_totals.total: Views on all days of the window.
            birth DATE NULL from page_totals.birth: First day of the window with views; NULL for a
                page without any.
            is_new BOOLEAN from page_totals.birth, page_totals.total: Born on one of the days of the
                window's later half, of those that are there, and opened so often since that silence
                before would be no chance (docs/url-patterns.md).
            is_temporal BOOLEAN NULL from page_labels.is_temporal, page_labels.phi_n: The page's
                label; NULL for pages without one, and where nothing is known of the interest.
            """),
    ),
    key=("day", "url"),
    own_rules=(
        no_rows(
            "counts_agree",
            "page_traffic",
            "clients < 0 OR clients > visits OR referred > visits OR referrals < 0"
            " OR array_length(few_clients) > clients"
            " OR coalesce(list_sum(list_transform(links, lambda x: x.transits)), 0) > referred",
            protects="Shares of visits and referrals lie between 0 and 1.",
        ),
        Rule(
            name="pages_complete",
            measure=(
                # Sums of hashes instead of a join of all pages with themselves: a quarter of the
                # time of all rules. One more is all that is said of how many differ.
                "abs((SELECT count(*) FROM page_totals) - count(*))"
                " + CASE WHEN coalesce(sum(CAST(hash(url, views) >> 32 AS BIGINT)), 0)"
                " = (SELECT coalesce(sum(CAST(hash(number, total) >> 32 AS BIGINT)), 0)"
                " FROM page_totals)"
                " THEN 0 ELSE 1 END"
            ),
            maximum=0,
            reads=("page_totals",),
            protects="Every page of the window is in a pattern.",
            remedy="`page_totals` was made again since: materialise the day again.",
        ),
        has_rows("pages"),
    ),
    drifts=(rows_drift("pages"),),
)
