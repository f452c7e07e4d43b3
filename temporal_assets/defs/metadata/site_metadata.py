"""Metadata of sites and prefixes: how long the lists are, and what came and went.

Counts only: names of sites are for `temporal-assets show changes`, which shows none that few know.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final

from temporal_assets.defs.installation import Installation

_QUERIES: Final[Mapping[str, str]] = {
    "site_scores": (
        "SELECT count(*) AS sites, count(rank) AS ranked_sites,"
        " sum(CAST(is_selected AS INTEGER)) AS listed_sites,"
        " sum(CAST(is_quiet AS INTEGER)) AS quiet_sites,"
        " sum(CASE WHEN is_selected THEN temporal_pages ELSE 0 END)"
        " / nullif(CAST(sum(CASE WHEN is_selected THEN pages ELSE 0 END) AS DOUBLE), 0)"
        " AS precision_in_sample_share,"
        " sum(CASE WHEN is_selected THEN temporal_pages ELSE 0 END)"
        " / nullif(CAST(sum(temporal_pages) AS DOUBLE), 0) AS recall_in_sample_share"
        " FROM site_scores"
    ),
    "section_scores": (
        "SELECT count(*) AS sections, sum(CAST(is_whole AS INTEGER)) AS whole_sections,"
        " count(rank) AS ranked_sections, sum(CAST(is_selected AS INTEGER)) AS listed_sections"
        " FROM section_scores"
    ),
    "news_prefixes": (
        "SELECT count(*) AS prefixes, sum(CAST(is_program AS INTEGER)) AS programs,"
        " sum(pages) AS covered_pages,"
        " sum(news_pages) / nullif(CAST(sum(pages) AS DOUBLE), 0) AS precision_in_sample_share"
        " FROM news_prefixes"
    ),
    "site_changes": (
        "SELECT sum(CAST(is_first_seen AS INTEGER)) AS first_seen,"
        " sum(CAST(is_gone_quiet AS INTEGER)) AS gone_quiet,"
        " sum(CASE WHEN change = 'entered' THEN 1 ELSE 0 END) AS entered,"
        " sum(CASE WHEN change = 'left' THEN 1 ELSE 0 END) AS \"left\","
        " sum(CASE WHEN change = 'rising' THEN 1 ELSE 0 END) AS rising,"
        " sum(CASE WHEN change = 'falling' THEN 1 ELSE 0 END) AS falling"
        " FROM site_changes"
    ),
}


def details(installation: Installation, asset: str, day: dt.date) -> dict[str, Any]:
    """Return counts and shares of a published window, without those that are undefined."""
    files = {asset: installation.store.files(asset, day)}
    (row,) = installation.engine.rows(_QUERIES[asset], files)
    return {
        name: value if isinstance(value, float) else int(value)
        for name, value in row.items()
        if value is not None
    }
