"""Numbers of a window that Dagster plots over time.

Here: one row of numbers per table, without names of pages. Not here: numbers that come with a
picture or a table (`window_metadata` and the like).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final

from temporal_assets.defs.installation import Installation

_LONGEST: Final = "horizon_days = (SELECT max(horizon_days) FROM {table})"
"""Condition (`{longest}` in the queries) for the trial out of time with the longest horizon, or the
one in sample if there is no other."""

_NUMBERS: Final[Mapping[str, str]] = {
    "page_totals": (
        "SELECT CAST(sum(total) AS BIGINT) AS views,"
        " count(CASE WHEN birth = day THEN 1 END) AS pages_born_on_the_day FROM page_totals"
    ),
    "page_histories": (
        "SELECT CAST(sum(total) AS BIGINT) AS views_of_reliable_pages FROM page_histories"
    ),
    "page_flow": (
        "SELECT count(CASE WHEN birth = day THEN 1 END) AS pages_born_on_the_day FROM page_flow"
    ),
    "hub_seeds": (
        "SELECT count(rank) AS hubs, max(coverage) AS covered_share,"
        " max(new_per_day) AS new_per_day_of_the_best FROM hub_seeds"
    ),
    "prefix_trees": (
        "SELECT count(CASE WHEN temporal_pages > 0 THEN 1 END) AS prefixes_with_temporal_pages"
        " FROM prefix_trees"
    ),
    "behaviour_graph": "SELECT CAST(sum(transits) AS BIGINT) AS transits FROM behaviour_graph",
    "seed_evaluation": (
        "SELECT max(CASE WHEN method = 'policy' THEN f END) AS f_of_the_policy,"
        " max(CASE WHEN rule = 'list' THEN f END) AS f_of_the_list_in_use,"
        " max(CASE WHEN rule = 'majority' THEN f END) AS f_of_the_majority"
        " FROM seed_evaluation WHERE is_used AND label = 'temporal' AND {longest}"
    ),
    "hub_evaluation": (
        "SELECT max(CASE WHEN k = 10 THEN ours_one_hop END)"
        " / nullif(CAST(max(wanted) AS DOUBLE), 0) AS reached_by_10_hubs_share"
        " FROM hub_evaluation WHERE {longest}"
    ),
    "crawl_simulation": (
        "SELECT max(CASE WHEN crawl_order = 'combined' THEN area END) AS area_of_our_order,"
        " max(CASE WHEN crawl_order = 'breadth_first' THEN area END) AS area_of_breadth_first"
        " FROM crawl_simulation WHERE trial = 'out_of_time' AND scenario = 'fetch'"
    ),
    "timely_simulation": (
        "SELECT avg(CASE WHEN strategy = 'ours' THEN remaining END) AS interest_left_ours_share,"
        " avg(CASE WHEN strategy = 'baseline' THEN remaining END) AS interest_left_list_share"
        " FROM timely_simulation WHERE {longest}"
    ),
    "fetches": (
        "SELECT count(CASE WHEN status = 200 THEN 1 END) AS fetched,"
        " count(CASE WHEN error IS NOT NULL THEN 1 END) AS without_response FROM fetches"
    ),
    "sources": "SELECT count(CASE WHEN is_listed THEN 1 END) AS listed_sources FROM sources",
    "provisional_lists": (
        "SELECT count(CASE WHEN is_listed THEN 1 END) AS listed_entries FROM provisional_lists"
    ),
}


def numbers(installation: Installation, asset: str, day: dt.date) -> dict[str, Any]:
    """Return the numbers of a table as metadata, without those that are unknown."""
    query = _NUMBERS.get(asset)
    if query is None:
        return {}
    files = {asset: installation.store.files(asset, day)}
    (row,) = installation.engine.rows(query.format(longest=_LONGEST.format(table=asset)), files)
    return {name: value for name, value in row.items() if value is not None}
