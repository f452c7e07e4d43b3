"""`section_scores`: scores of folders and programs, and the ranked list of the best (TW 6).

Each row of `prefix_trees` (a folder, a program or a host) gets the scores of `site_scores` and a
*merit*, the number by which it is ranked. A section is *split* where one of its parts should not be
in the list with it; the list has the sections that are not split, below sections that are.

Here: the inputs and parameters of the statement. Not here: scores and merit (`scored`), the
rules of the split (`sql/lists/section_scores.sql`), and the days after which a host is quiet and
leaves the list (`site_scores.quietness`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from temporal_assets import contracts
from temporal_assets.windows.frame.asset import Job, WindowAsset
from temporal_assets.windows.frame.days import window_parameters
from temporal_assets.windows.lists import sections
from temporal_assets.windows.lists.prefix_trees import PREFIX_TREES
from temporal_assets.windows.lists.scored import (
    CONFIDENCE,
    FEWEST_PAGES,
    SPLIT_CONFIDENCE,
    SPLITTING_PAGES,
    merit_of,
    scoring_of,
    with_scores,
    write_scores,
)
from temporal_assets.windows.lists.sections import write_section_paths
from temporal_assets.windows.lists.site_scores import quietness

_SCORED: Final = with_scores("scored_sections", contracts.PREFIX_TREES.columns)
"""Intermediate table: the rows of `prefix_trees` with their scores and merits."""


def _make(job: Job) -> Sequence[Path]:
    """Score each section, and rank the sections that are not split.

    Parameter `doubt` is the largest chance of being wrong with which a section is still split.
    """
    sites = job.settings.sites
    trees = job.files("prefix_trees")
    merit = merit_of(job)
    parameters = {
        "day": job.day,
        "by_flow": merit is not None,
        "doubt": 1 - SPLIT_CONFIDENCE,
        "min_pages": scoring_of(job.settings).min_pages,
        "min_clients": job.settings.privacy.min_clients,
        "top_k": sites.top_k,
        **quietness(job),
        **window_parameters(job),
    }
    inputs = {
        "scored_sections": write_scores(job, trees, _SCORED, merit),
        "section_paths": write_section_paths(job.engine, {"prefix_trees": trees}, job.out),
    }
    return job.engine.query("section_scores", inputs, parameters, job.asset.table, job.out)


SECTION_SCORES: Final = WindowAsset(
    "section_scores",
    _make,
    days=("page_views",),
    tables=(PREFIX_TREES,),
    sql=("section_scores",),
    settings=lambda settings: [
        settings.window.days,
        settings.privacy.min_clients,
        settings.sites.alpha,
        settings.sites.rule,
        FEWEST_PAGES,
        CONFIDENCE,
        settings.sites.top_k,
        sections.QUIET_DAYS,
        sections.QUIET_SHARE,
        SPLITTING_PAGES,
        SPLIT_CONFIDENCE,
    ],
)
