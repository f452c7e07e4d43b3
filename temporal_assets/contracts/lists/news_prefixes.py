"""Contract of `news_prefixes`: folders whose new pages are mostly temporal."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.lists.prefix_trees import PREFIX_TREES
from temporal_assets.contracts.rules import Drift, Rule, no_rows
from temporal_assets.contracts.table import Table, columns

NEWS_PREFIXES: Final = Table(
    name="news_prefixes",
    version=2,
    description=(
        "Folders and programs under which enough new pages are temporal (NP 5.2; `prefixes.rule`,"
        " `prefixes.threshold`): a new URL that begins with one of them is worth fetching now."
        " Sorted, and none lies under another; hosts that have gone quiet have none."
    ),
    grain="one news prefix",
    columns=(
        *columns("day DATE: Last day of the window."),
        *PREFIX_TREES.taken("site", "prefix"),
        *columns("""
            is_program BOOLEAN: A program; the others are folders.
            pages BIGINT from prefix_trees.aged_pages, prefix_trees.curve_pages, prefix_trees.pages:
                Stock: reliable pages in it and beneath, those left out that are too young for
                `prefixes.label`; all of them where `rule` is the paper's.
            news_pages BIGINT from prefix_trees.news_pages, prefix_trees.temporal_pages: Pages that
                are temporal, or news where `prefixes.label` says so.
            """),
        *PREFIX_TREES.taken("flow_pages", "flow_temporal_pages", "views"),
        *columns("""
            rule VARCHAR: What decided: `flow`, or by the stock `confident` or `paper`. Of a window
                without flow the stock decides.
            score DOUBLE from prefix_trees.flow_score: What is compared: the `flow_score` of the
                section, or `news_pages` / `pages`.
            bound DOUBLE: What `score` is at least.
            """),
        *PREFIX_TREES.taken("flow_basis", "clients"),
        *columns("""
            threshold DOUBLE: What must be above it: `score` by the flow, `bound` by the stock.
            min_pages BIGINT: Pages of the stock that a prefix had to have.
            confidence DOUBLE: Confidence of `bound`, as it was used; 0.5: none.
            """),
    ),
    key=("day", "prefix"),
    own_rules=(
        no_rows(
            "above_its_threshold",
            "news_prefixes",
            "NOT (CASE WHEN rule = 'flow' THEN score ELSE bound END) > threshold"
            " OR bound > score + 0.000000001 OR score > 1 OR rule <> 'flow'"
            " AND (abs(score * pages - news_pages) > 0.000001 OR pages < min_pages)",
            protects="A prefix that is not worth its bandwidth is no prefix.",
        ),
        no_rows(
            "known_to_enough_clients",
            "news_prefixes",
            "clients < $min_clients",
            protects="Prefixes are published in policies and reports.",
            remedy="`privacy.min_clients` has changed: materialise the day again.",
        ),
        Rule(
            name="none_lies_under_another",
            measure=(
                "(SELECT count(*) FROM (SELECT prefix, lag(prefix) OVER (ORDER BY prefix) AS before"
                " FROM news_prefixes) AS listed WHERE starts_with(prefix, before))"
            ),
            maximum=0,
            protects="A crawler that compares URLs with prefixes meets each once.",
        ),
        Rule(
            name="prefixes_are_of_the_trees",
            measure=(
                "(SELECT count(*) FROM news_prefixes LEFT JOIN prefix_trees"
                " ON prefix_trees.prefix = news_prefixes.prefix"
                " AND news_prefixes.pages IN (prefix_trees.pages, prefix_trees.aged_pages,"
                " prefix_trees.curve_pages)"
                " WHERE prefix_trees.prefix IS NULL)"
            ),
            maximum=0,
            reads=("prefix_trees",),
            protects="The counts can be looked up in the trees.",
            remedy="`prefix_trees` was made again since: materialise the day again.",
        ),
    ),
    drifts=(
        Drift(
            name="covered_share_is_usual",
            measure=(
                "coalesce(sum(pages), 0) / nullif(CAST((SELECT sum(pages) FROM prefix_trees"
                " WHERE depth = 0) AS DOUBLE), 0)"
            ),
            whole="(SELECT sum(pages) FROM prefix_trees WHERE depth = 0)",
            largest_difference=0.1,
            reads=("prefix_trees",),
            protects="A jump comes from a site that changed its URLs, or from missing days.",
            remedy="Compare `news_prefixes` by site with the day before.",
        ),
    ),
)
