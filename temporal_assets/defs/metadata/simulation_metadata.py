"""Metadata that Dagster shows for the two simulations: a table of orders, and one of strategies.

The tables contain no URL and no site.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import dagster as dg

from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata.metadata import grid
from temporal_assets.reports.plots import drawn
from temporal_assets.reports.sections.crawls import curves_of
from temporal_assets.reports.sections.timely import budgets
from temporal_assets.reports.sections.wording import grouped

_NONE: Final = "no site has enough pages and traffic to be crawled"

_ORDERS: Final = (
    "SELECT scenario, crawl_order, area, pages_50, pages_80, pages_90,"
    " pages_80_less_breadth_first, pages_80_less_page_rank, sites, left_out, pages,"
    " visited_pages, mirror FROM crawl_simulation"
    " WHERE trial = 'out_of_time' AND throughput = 0 ORDER BY scenario, area DESC"
)
_CURVES: Final = (
    "SELECT trial, scenario, crawl_order, throughput, traffic_share FROM crawl_simulation"
    " WHERE trial = 'out_of_time' ORDER BY scenario DESC, crawl_order, throughput"
)
_STRATEGIES: Final = (
    "SELECT trial, horizon_days, fetches_per_hour, strategy, remaining, temporal_remaining,"
    " median_delay_hours, wasted / nullif(CAST(fetches AS DOUBLE), 0) AS wasted_share, born"
    " FROM timely_simulation ORDER BY trial DESC, horizon_days DESC, fetches_per_hour, strategy"
)
# Columns of the two tables, with their type in the UI.
_OF_CURVE: Final = {
    "scenario": "string",
    "crawl_order": "string",
    "area": "float",
    "pages_50": "float",
    "pages_80": "float",
    "pages_90": "float",
    "pages_80_less_breadth_first": "float",
    "pages_80_less_page_rank": "float",
}
_OF_STRATEGY: Final = {
    "trial": "string",
    "horizon_days": "int",
    "fetches_per_hour": "float",
    "strategy": "string",
    "remaining": "float",
    "temporal_remaining": "float",
    "median_delay_hours": "float",
    "wasted_share": "float",
}
_POINTS: Final = 5_000
"""Largest number of rows of a query: one trial has 17 curves of 101 points."""
_Values = dict[str, Any]
"""Values by name of a column or of a metadata entry."""


def of_orders(installation: Installation, day: dt.date, plots: bool) -> _Values:
    """Return the metadata of `crawl_simulation`: every order out of time, and the curves."""
    rows = _rows(installation, "crawl_simulation", day, _ORDERS)
    if not rows:
        return {"crawled": _NONE}
    facts = ("sites", "left_out", "pages", "visited_pages", "mirror")
    shown: _Values = {name: rows[0][name] for name in facts}
    shown["orders"] = _grid(rows, _OF_CURVE)
    if plots:
        points = _rows(installation, "crawl_simulation", day, _CURVES)
        for (scenario,), own in grouped(points, ("scenario",)).items():
            title = f"Mean of {rows[0]['sites']} sites, {scenario}, window up to {day}"
            shown[f"{scenario}_curves"] = dg.MetadataValue.md(drawn(curves_of(own, title)))
    return shown


def of_strategies(installation: Installation, day: dt.date, plots: bool) -> _Values:
    """Return the metadata of `timely_simulation`: every strategy at every budget."""
    rows = _rows(installation, "timely_simulation", day, _STRATEGIES)
    if not rows:
        return {"crawled": "no reliable page of the mirror was born in the days to crawl"}
    shown: _Values = {"born_pages": rows[0]["born"], "strategies": _grid(rows, _OF_STRATEGY)}
    if plots:
        table = installation.store.read("timely_simulation", day).to_pylist()
        own = next(iter(reversed(grouped(table, ("trial", "horizon_days")).values())))
        shown["budgets"] = dg.MetadataValue.md(drawn(budgets(own)))
    return shown


def _grid(rows: list[_Values], columns: dict[str, str]) -> dg.TableMetadataValue:
    return grid([{name: row[name] for name in columns} for row in rows], columns)


def _rows(installation: Installation, asset: str, day: dt.date, query: str) -> list[_Values]:
    files = {asset: installation.store.files(asset, day)}
    return installation.engine.rows(query, files, _POINTS)
