"""Contract of `section_scores`: how temporal each folder is, and the ranked list."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.lists.prefix_trees import PREFIX_TREES
from temporal_assets.contracts.rules import (
    MIN_CLIENTS_CHANGED,
    Rule,
    has_rows_as_before,
    no_rows,
    rows_drift,
)
from temporal_assets.contracts.table import Table, columns

SECTION_SCORES: Final = Table(
    name="section_scores",
    version=2,
    description=(
        "The scores of sites for every folder and program (TW 6), and a ranked list in which a"
        " mixed site appears with its temporal sections and not as a whole."
    ),
    grain="one folder or program with reliable pages",
    columns=(
        *columns("day DATE: Last day of the window."),
        *PREFIX_TREES.taken("site", "prefix"),
        *columns("""
            is_program BOOLEAN: A program; the others are folders.
            depth BIGINT: Sections above; 0 of a root.
            pages BIGINT from prefix_trees.pages: Reliable pages in it and beneath.
            temporal_pages BIGINT from prefix_trees.temporal_pages: Those that are temporal.
            views BIGINT from prefix_trees.views: Views of the reliable pages.
            temporal_views BIGINT from prefix_trees.temporal_views: Views of the temporal ones.
            score_1 DOUBLE: Temporal pages / pages.
            score_2 DOUBLE: Views of temporal pages / views.
            score DOUBLE: Both, weighted by `sites.alpha` and the rest to 5.
            bound DOUBLE: What `score` is at least.
            """),
        *PREFIX_TREES.taken(
            "flow_pages", "flow_temporal_pages", "flow_score", "flow_bound", "flow_basis"
        ),
        *columns("""
            merit DOUBLE: What ranks: by the rule `flow` the new temporal pages of the window less
                those that as many pages must bring to be worth a place in a list; else `bound`.
            """),
        *PREFIX_TREES.taken("clients"),
        *columns("""
            is_whole BOOLEAN: Of one kind, while each section above is split. By the rule `flow` one
                is split where a part of it is certainly not worth a place in a list, or nothing but
                a part is; by the stock where a part is certainly better. Such sections never
                overlap.
            is_quiet BOOLEAN from prefix_trees.recent_views, prefix_trees.views,
                prefix_trees.first_seen: In the last 3 days its pages had less than a twentieth of
                their usual views.
            rank BIGINT NULL: Place in the list of whole sections; NULL of others, of those with too
                few pages or clients, of those without temporal pages (by the rule `flow`: new ones)
                and of those gone quiet.
            is_selected BOOLEAN: Among the first `sites.top_k`; by the rule `flow` with a `merit`
                above 0.
            """),
    ),
    key=("day", "prefix"),
    own_rules=(
        no_rows(
            "scores_in_range",
            "section_scores",
            "score_1 < 0 OR score_1 > 1 OR score_2 < 0 OR score_2 > 1 OR score < 0"
            " OR score > 1.000000001 OR bound < 0 OR bound > score + 0.000000001",
            protects="Scores are compared between sections and days.",
        ),
        no_rows(
            "listed_sections_are_worth_it",
            "section_scores",
            "rank IS NOT NULL AND (temporal_pages + flow_temporal_pages = 0 OR NOT is_whole"
            " OR is_quiet"
            " OR clients < $min_clients)"
            " OR is_selected AND rank IS NULL",
            protects="The list is published: names that few know stay out.",
            remedy=MIN_CLIENTS_CHANGED,
        ),
        Rule(
            name="whole_sections_do_not_overlap",
            measure=(
                "(SELECT count(*) FROM (SELECT prefix, lag(prefix) OVER (ORDER BY prefix) AS before"
                " FROM section_scores WHERE is_whole) AS listed"
                " WHERE starts_with(prefix, before))"
            ),
            maximum=0,
            protects="A page counts once in the list.",
        ),
        Rule(
            name="every_section_is_scored",
            measure=(
                "abs((SELECT count(*) FROM prefix_trees) - count(*))"
                " + abs((SELECT coalesce(sum(pages), 0) FROM prefix_trees)"
                " - coalesce(sum(pages), 0))"
            ),
            maximum=0,
            reads=("prefix_trees",),
            protects="Sections are those of the published trees.",
            remedy="`prefix_trees` was made again since: materialise the day again.",
        ),
    ),
    drifts=(
        has_rows_as_before("reliable pages"),
        rows_drift("folders and programs"),
    ),
)
