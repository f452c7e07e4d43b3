"""Contract of `prefix_trees`: counts of pages for every folder and program."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import Rule, has_rows_as_before, no_rows, rows_drift
from temporal_assets.contracts.table import Table, columns

_AGAIN: Final = "`page_labels` was made again since: materialise the day again."

PREFIX_TREES: Final = Table(
    name="prefix_trees",
    version=5,
    description=(
        "Every folder and program with the counts of all reliable pages in it and beneath it: the"
        " URL prefix trees of NP 5.2, one a host. A URL with a query is a page of its program."
        " Counts of reliable pages are the papers' stock; those of pages born in the window are the"
        " flow (`page_flow`), reliable or not, from which lists are made."
    ),
    grain="one folder or program with reliable pages or pages of the flow",
    columns=columns("""
        day DATE: Last day of the window.
        site VARCHAR from page_labels.site: Host of the pages.
        prefix VARCHAR from page_labels.url: What URLs beneath it begin with after the scheme:
            `site/`, `site/news/`, `site/news.jsp?`.
        parent VARCHAR NULL: The section above; NULL of a root.
        depth BIGINT: Sections above; 0 of a root.
        is_program BOOLEAN: A program; the others are folders.
        first_seen DATE from page_histories.birth: First day of the window with views of one of its
            pages.
        own_pages BIGINT: Reliable pages directly in it, not in a section beneath.
        own_flow_pages BIGINT from page_flow.url: Pages of the flow directly in it, not in a section
            beneath.
        own_old_pages BIGINT from page_flow.url, page_labels.phi_n: Older pages directly in it, not
            in a section beneath.
        pages BIGINT: Reliable pages in it and beneath.
        temporal_pages BIGINT from page_labels.is_temporal: Reliable pages that are temporal by
            their curve.
        news_pages BIGINT from page_labels.is_news: Reliable pages that are news by their
            concentration.
        curve_pages BIGINT from page_labels.phi_n: Pages old enough to be temporal: the others have
            no curve.
        aged_pages BIGINT from page_histories.birth, page_labels.m, page_labels.p: Pages old enough
            to be news: the concentration of a life of L days is L / m at most, where both count
            days that are there.
        flow_pages BIGINT from page_flow.url: Flow: pages in it and beneath that were born in the
            observed part of the window, reliable or, while they are young, not.
        flow_temporal_pages DOUBLE from page_flow.temporal: How many of them are temporal; young
            ones count with their probability.
        old_pages BIGINT from page_flow.url, page_labels.phi_n: Older stock: pages with a label that
            are not of the flow.
        old_temporal_pages BIGINT from page_flow.url, page_labels.is_temporal: Those of them that
            are temporal.
        flow_score DOUBLE from page_flow.temporal, page_labels.is_temporal: Expected share of
            temporal pages among its new ones: that of the flow, drawn towards the older stock, the
            section above and all sites where there is little flow.
        flow_bound DOUBLE: What `flow_score` is at least, with 95 %.
        flow_basis VARCHAR: What weighs most in `flow_score`: its own `flow`, its older `stock`, the
            section `above`, all flow `everywhere`; `nothing` where no page is known.
        views BIGINT from page_histories.total: Views of its pages.
        temporal_views BIGINT from page_histories.total, page_labels.is_temporal: Views of the
            temporal ones.
        recent_views BIGINT from page_histories.views: Views of the last 3 days of the window.
        view_squares DOUBLE from page_histories.total: Sum of the squared views of its pages: how
            many pages the views are worth.
        clients BIGINT from page_histories.views, page_traffic.clients, page_traffic.few_clients:
            Number of different clients at least that opened pages here: the most of one page on one
            day. Where that is below `privacy.min_clients`, those of the window: of all pages if few
            came to each, else of one.
        """),
    key=("day", "prefix"),
    own_rules=(
        no_rows(
            "parts_within_wholes",
            "prefix_trees",
            "own_pages < 0 OR own_pages > pages OR pages + flow_pages < 1 OR temporal_pages > pages"
            " OR news_pages > pages OR temporal_views > views"
            " OR temporal_pages > curve_pages OR curve_pages > pages"
            " OR news_pages > aged_pages OR aged_pages > pages"
            " OR own_flow_pages > flow_pages OR flow_temporal_pages < 0"
            " OR flow_temporal_pages > flow_pages + 0.000001 OR old_pages > pages"
            " OR old_temporal_pages > old_pages OR own_old_pages > own_pages"
            " OR recent_views > views OR clients < 1"
            " OR view_squares < views",
            protects="Shares are made of these counts and must lie between 0 and 1.",
        ),
        no_rows(
            "flow_scores_in_range",
            "prefix_trees",
            "flow_score < 0 OR flow_score > 1 OR isnan(flow_score) OR flow_bound < 0"
            " OR flow_bound > flow_score OR isnan(flow_bound)"
            " OR flow_basis NOT IN ('flow', 'stock', 'above', 'everywhere', 'nothing')",
            protects="Lists are made of sections whose score is above a threshold.",
        ),
        no_rows(
            "parent_is_above",
            "prefix_trees",
            "(depth = 0) <> (parent IS NULL) OR NOT starts_with(prefix, coalesce(parent, ''))"
            " OR length(prefix) <= length(coalesce(parent, ''))",
            protects="The walk goes from a section to those beneath it.",
        ),
        Rule(
            name="roots_count_the_site",
            measure=(
                "(SELECT count(*) FROM (SELECT site, count(*) AS pages,"
                " sum(CASE WHEN is_temporal THEN 1 ELSE 0 END) AS temporal_pages,"
                " sum(CASE WHEN is_news THEN 1 ELSE 0 END) AS news_pages"
                " FROM page_labels GROUP BY site) AS labels"
                " FULL OUTER JOIN (SELECT site, sum(pages) AS pages,"
                " sum(temporal_pages) AS temporal_pages, sum(news_pages) AS news_pages"
                " FROM prefix_trees WHERE depth = 0 GROUP BY site) AS roots"
                " ON roots.site = labels.site WHERE roots.site IS NULL"
                # A site all of whose pages are young has a tree and no label.
                " OR roots.pages <> coalesce(labels.pages, 0)"
                " OR roots.temporal_pages <> coalesce(labels.temporal_pages, 0)"
                " OR roots.news_pages <> coalesce(labels.news_pages, 0))"
            ),
            maximum=0,
            reads=("page_labels",),
            protects="Every page of a site is beneath its root, once.",
            remedy=_AGAIN,
        ),
        Rule(
            name="children_sum_to_parents",
            measure=(
                "(SELECT count(*) FROM prefix_trees AS above LEFT JOIN (SELECT parent,"
                " sum(pages) AS pages, sum(flow_pages) AS flow_pages, sum(views) AS views"
                " FROM prefix_trees"
                " WHERE parent IS NOT NULL GROUP BY parent) AS beneath"
                " ON beneath.parent = above.prefix"
                " WHERE above.pages <> above.own_pages + coalesce(beneath.pages, 0)"
                " OR above.flow_pages <> above.own_flow_pages + coalesce(beneath.flow_pages, 0)"
                " OR above.views < coalesce(beneath.views, 0))"
            ),
            maximum=0,
            protects="A page lies in one section beneath each, and its own.",
        ),
    ),
    drifts=(
        has_rows_as_before("reliable pages"),
        rows_drift("folders and programs"),
    ),
)
