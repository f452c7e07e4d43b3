"""Contract of `site_scores`: how temporal each site is, and the ranked list."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.lists.prefix_trees import PREFIX_TREES
from temporal_assets.contracts.rules import (
    MIN_CLIENTS_CHANGED,
    Drift,
    Rule,
    has_rows,
    no_rows,
    rows_drift,
)
from temporal_assets.contracts.table import Table, columns

SITE_SCORES: Final = Table(
    name="site_scores",
    version=3,
    description=(
        "How temporal every site of the window is, by its pages and by their views, and the ranked"
        " list (TW 4.3). A site is a host or a registrable domain (`sites.by`)."
    ),
    grain="one site with views in the window",
    columns=(
        *columns("""
            day DATE: Last day of the window.
            site VARCHAR: Host, or registrable domain of several.
            hosts BIGINT: Hosts of the site that were visited.
            pages BIGINT from prefix_trees.pages: Reliable pages.
            temporal_pages BIGINT from prefix_trees.temporal_pages: Reliable pages that are
                temporal.
            views BIGINT from prefix_trees.views: Views of the reliable pages.
            """),
        *PREFIX_TREES.taken("temporal_views"),
        *columns("""
            young_pages BIGINT from early_labels.age: Reliable pages too young for a curve; they
                have no label, and count as untemporal above. 0 where `sites.rule` is the paper's.
            young_temporal_pages DOUBLE from early_labels.probability: How many of them to expect
                temporal: the sum of their probabilities.
            young_temporal_views DOUBLE from early_labels.probability, early_labels.total: Views of
                the young pages, weighted by their probabilities.
            score_1 DOUBLE NULL: Temporal pages / pages, young ones as expected; NULL without
                reliable pages.
            score_2 DOUBLE NULL: Views of temporal pages / views, young ones as expected; NULL
                without reliable pages.
            score DOUBLE NULL: Both, weighted by `sites.alpha` and the rest to 5; NULL without
                reliable pages.
            bound DOUBLE NULL: What `score` is at least, with a confidence of 95 %.
            """),
        *PREFIX_TREES.taken("flow_pages", "flow_temporal_pages"),
        *columns("""
            flow_score DOUBLE NULL from prefix_trees.flow_score: Expected share of temporal pages
                among its new ones.
            flow_bound DOUBLE NULL from prefix_trees.flow_bound: What `flow_score` is at least, with
                95 %.
            flow_basis VARCHAR NULL from prefix_trees.flow_basis: What weighs most in `flow_score`:
                `flow`, `stock`, `above`, `everywhere`, `nothing`.
            merit DOUBLE NULL: What ranks: by the rule `flow` the new temporal pages of the window
                less those that as many pages must bring to be worth a place in a list; else
                `bound`.
            clients BIGINT: Number of different clients, at least.
            first_seen DATE from page_views.day: First day with views in the window.
            last_seen DATE from page_views.day: Last day with views.
            is_quiet BOOLEAN from page_views.views: In the last 3 days it had less than a twentieth
                of its usual views.
            rank BIGINT NULL: Place in the list, by `merit`; NULL of sites with too few pages or
                clients, without pages that are temporal or expected to be (by the rule `flow`: new
                ones), or gone quiet.
            is_selected BOOLEAN: Among the first `sites.top_k`; by the rule `flow` with a `merit`
                above 0.
            """),
    ),
    key=("day", "site"),
    own_rules=(
        no_rows(
            "scores_in_range",
            "site_scores",
            "score_1 < 0 OR score_1 > 1 OR score_2 < 0 OR score_2 > 1 OR score < 0"
            " OR score > 1.000000001 OR bound < 0 OR bound > score + 0.000000001"
            " OR isnan(score) OR isnan(bound) OR flow_score < 0 OR flow_score > 1"
            " OR isnan(flow_score) OR flow_bound > flow_score OR isnan(merit)",
            protects="Scores are compared between sites and days.",
        ),
        no_rows(
            "scores_follow_counts",
            "site_scores",
            "(pages = 0) <> (score IS NULL) OR "
            " abs(score_1 * pages - temporal_pages - young_temporal_pages) > 0.000001"
            " OR abs(score_2 * views - temporal_views - young_temporal_views) > 0.000001 * views"
            " OR temporal_pages + young_pages > pages OR young_temporal_pages > young_pages",
            protects="Every score can be explained by its counts.",
        ),
        no_rows(
            "listed_sites_are_worth_it",
            "site_scores",
            "rank IS NOT NULL AND"
            " (temporal_pages + young_temporal_pages + flow_temporal_pages = 0 OR is_quiet"
            " OR clients < $min_clients)"
            " OR is_selected AND rank IS NULL",
            protects="The list is published: names that few know stay out, dead sites as well.",
            remedy=MIN_CLIENTS_CHANGED,
        ),
        Rule(
            name="ranks_are_places",
            measure=(
                "count(rank) - count(DISTINCT rank) + abs(coalesce(max(rank), 0) - count(rank))"
            ),
            maximum=0,
            protects="The first K of the list are K sites.",
        ),
        Rule(
            name="pages_are_those_of_the_trees",
            measure=(
                "abs(coalesce(sum(pages), 0) - (SELECT coalesce(sum(pages), 0) FROM prefix_trees"
                " WHERE depth = 0))"
            ),
            maximum=0,
            reads=("prefix_trees",),
            protects="Every reliable page counts for one site.",
            remedy="`prefix_trees` was made again since: materialise the day again.",
        ),
        has_rows("visited sites"),
    ),
    drifts=(
        rows_drift("sites"),
        Drift(
            name="list_is_as_long_as_usual",
            measure="sum(CASE WHEN is_selected THEN 1 ELSE 0 END)",
            largest_factor=2.0,  # of 60 days one is new
            protects="Half of the list gone: labels or days are missing.",
            remedy="See `site_changes` of the day, and which days are missing from the window.",
        ),
    ),
)
