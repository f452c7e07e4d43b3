"""Metadata of patterns: sites with their trees, the best patterns, a graph.

Patterns and sites are shown where enough clients opened them. No URL is.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import dagster as dg

from temporal_assets.core.patterns.site_patterns import CUTS
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata.metadata import MAX_ROWS, grid
from temporal_assets.reports.plots import drawn
from temporal_assets.windows.patterns.stored_patterns import graph_of, read_patterns, sites_of

_TRAFFIC: Final = (
    "SELECT CAST(sum(visits) AS BIGINT) AS visits,"
    " sum(referred) / nullif(CAST(sum(visits) AS DOUBLE), 0) AS referred_share,"
    " avg(CASE WHEN is_new THEN 1.0 ELSE 0.0 END) AS new_share FROM page_traffic"
)

_SITE_COLUMNS: Final = {"site": "string", "pages": "int", "visits": "int"} | {
    f"{cut}_{what}": "int" for cut in CUTS for what in ("leaves", "height")
}

_RANKED: Final = (
    "SELECT count(DISTINCT site) AS sites, count(*) AS patterns,"
    " count(DISTINCT CASE WHEN missing_ranks IS NOT NULL THEN site END) AS sites_without_graph,"
    " count(DISTINCT CASE WHEN NOT is_converged THEN site END) AS sites_not_converged,"
    " sum(new_pages_per_day) AS new_pages_per_day FROM pattern_ranks"
)

_RANK_COLUMNS: Final = {
    "site": "string",
    "template": "string",
    "volume": "int",
    "visits": "int",
    "rank_fetch": "int",
    "rank_discovery": "int",
    "temporal_share": "float",
    "new_pages_per_day": "float",
}

_BEST: Final = (
    f"SELECT {', '.join(_RANK_COLUMNS)} FROM pattern_ranks WHERE is_public"  # noqa: S608 - columns of the contract
    f" ORDER BY visits DESC, site, pattern LIMIT {MAX_ROWS}"
)
"""Statement for the patterns with the most visits that enough clients opened."""

_Metadata = dict[str, Any]


def of_traffic(installation: Installation, day: dt.date, plots: bool) -> _Metadata:  # noqa: ARG001
    """Return the metadata of `page_traffic`: for how much of it referrers and labels are known."""
    (row,) = _rows(installation, "page_traffic", day, _TRAFFIC)
    return {name: value for name, value in row.items() if value is not None}


def of_patterns(installation: Installation, day: dt.date, plots: bool) -> _Metadata:  # noqa: ARG001
    """Return the metadata of `url_patterns`: sites, BB Table 3, and what could not be learned."""
    sites = sites_of(installation.store, installation.engine, day)
    lost = [site["status"] for site in sites if site["status"] != "learned"]
    # A host that hardly anybody knows is not shown.
    public = [
        {column: site[column] for column in _SITE_COLUMNS} for site in sites if site["is_public"]
    ]
    return {
        "sites": len(sites),
        "sites_without_referrers": sum(not site["has_referrers"] for site in sites),
        **{f"sites_{status}": lost.count(status) for status in sorted(set(lost))},
        "most_visited": grid(public[:MAX_ROWS], _SITE_COLUMNS),
    }


def of_ranks(installation: Installation, day: dt.date, plots: bool) -> _Metadata:
    """Return the metadata of `pattern_ranks`: most visited patterns, graph of the top site."""
    (row,) = _rows(installation, "pattern_ranks", day, _RANKED)
    best = _rows(installation, "pattern_ranks", day, _BEST)
    shown = {name: value for name, value in row.items() if value is not None}
    shown["most_visited"] = grid(best, _RANK_COLUMNS)
    # Made beside the ranks, not from them: on a day's first run it may not be there yet.
    if plots and installation.store.manifest("behaviour_graph", day) is not None:
        shown |= _graph(installation, day)
    return shown


def _graph(installation: Installation, day: dt.date) -> _Metadata:
    """Return a picture of the graph of the most visited public site."""
    sites = sites_of(installation.store, installation.engine, day)
    public = [site["site"] for site in sites if site["is_public"]]
    if not public:
        return {}
    patterns = read_patterns(installation.store, installation.engine, day, public[0])
    if patterns is None:
        return {}
    return {"most_visited_site": dg.MetadataValue.md(drawn(graph_of(patterns)))}


def _rows(installation: Installation, asset: str, day: dt.date, query: str) -> list[_Metadata]:
    return installation.engine.rows(query, {asset: installation.store.files(asset, day)})
