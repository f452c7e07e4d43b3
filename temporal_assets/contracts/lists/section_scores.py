"""The contract of `section_scores`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.lists.prefix_trees import PREFIX_TREES
from temporal_assets.contracts.rules import (
    Rule,
    has_rows_as_before,
    no_rows,
    rows_drift,
)
from temporal_assets.contracts.table import ColumnSpec, Table, Type

_COUNTED: Final = ("pages", "temporal_pages", "views", "temporal_views")
_AT_FAULT: Final = "The transformation is at fault: report it with the rows shown here."

SECTION_SCORES: Final = Table(
    name="section_scores",
    version=2,
    description=(
        "The scores of sites for every folder and program (TW 6), and a ranked list in which a"
        " mixed site appears with its temporal sections and not as a whole."
    ),
    grain="one folder or program with reliable pages",
    columns=(
        ColumnSpec("day", Type.DATE, "Last day of the window."),
        *PREFIX_TREES.taken("site", "prefix"),
        ColumnSpec("is_program", Type.BOOLEAN, "A program; the others are folders."),
        ColumnSpec("depth", Type.BIGINT, "Sections above; 0 of a root."),
        *(
            ColumnSpec(name, Type.BIGINT, meaning, sources=(f"prefix_trees.{name}",))
            for name, meaning in zip(
                _COUNTED,
                (
                    "Reliable pages in it and beneath.",
                    "Those that are temporal.",
                    "Views of the reliable pages.",
                    "Views of the temporal ones.",
                ),
                strict=True,
            )
        ),
        ColumnSpec("score_1", Type.DOUBLE, "Temporal pages / pages."),
        ColumnSpec("score_2", Type.DOUBLE, "Views of temporal pages / views."),
        ColumnSpec("score", Type.DOUBLE, "Both weighted by `sites.alpha` and `sites.beta`."),
        ColumnSpec("bound", Type.DOUBLE, "What `score` is at least."),
        *PREFIX_TREES.taken(
            "flow_pages", "flow_temporal_pages", "flow_score", "flow_bound", "flow_basis"
        ),
        ColumnSpec(
            "merit",
            Type.DOUBLE,
            "What ranks: by the rule `flow` the new temporal pages of the window less those that as"
            " many pages must bring to be worth a place in a list; else `bound`.",
        ),
        *PREFIX_TREES.taken("clients"),
        ColumnSpec(
            "is_whole",
            Type.BOOLEAN,
            "Of one kind, while each section above is split. By the rule `flow` one is split where"
            " a part of it is certainly not worth a place in a list, or nothing but a part is; by"
            " the stock where a part is certainly better. Such sections never overlap.",
        ),
        ColumnSpec(
            "is_quiet",
            Type.BOOLEAN,
            "In the last 3 days its pages had less than a twentieth of their usual views.",
            sources=(
                *("prefix_trees.recent_views", "prefix_trees.views"),
                "prefix_trees.first_seen",
            ),
        ),
        ColumnSpec(
            "rank",
            Type.BIGINT,
            "Place in the list of whole sections; NULL of others, of those with too few pages or"
            " clients, of those without temporal pages (by the rule `flow`: new ones) and of those"
            " gone quiet.",
            nullable=True,
        ),
        ColumnSpec(
            "is_selected",
            Type.BOOLEAN,
            "Among the first `sites.top_k`; by the rule `flow` with a `merit` above 0.",
        ),
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
            remedy="`privacy.min_clients` has changed, or: " + _AT_FAULT[0].lower() + _AT_FAULT[1:],
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
