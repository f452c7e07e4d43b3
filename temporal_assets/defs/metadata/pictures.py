"""Pictures of tables for people who open an asset: counts and scores, never a name.

Here: which numbers are drawn. Not here: drawing (`reports.charts`), samples of rows (`samples`),
what single modules draw of theirs (`window_metadata` and its like).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import dagster as dg

from temporal_assets.defs.installation import Installation
from temporal_assets.reports.document import Axis, Chart, Kind, Mark, Series
from temporal_assets.reports.plots import bars, drawn

_MOST: Final = 500
"""Most points of a picture; the queries end before."""


@dataclass(frozen=True, slots=True)
class _Picture:
    """A query for `x` and `y`, in order, and how they are drawn."""

    title: str
    query: str
    x: str
    y: str
    mark: Mark | Literal["names"] = "line"
    """Names are below bars of their own."""
    kind: Kind = "count"
    y_kind: Kind = "count"


def _magnitudes(column: str, table: str, what: str, x: str) -> _Picture:
    """Return a picture of the number of rows by powers of two of a column."""
    return _Picture(
        f"{what} (each bar begins at the number below it)",
        "SELECT CAST(CAST(pow(2, n) AS BIGINT) AS VARCHAR) AS x, count(*) AS y FROM (SELECT"  # noqa: S608 - columns of ours
        f" floor(log2({column})) AS n FROM {table} WHERE {column} > 0) AS sized"
        " GROUP BY n ORDER BY n",
        x,
        "rows",
        "names",
    )


def _by_rank(table: str, value: str, y: str, where: str = "rank IS NOT NULL") -> _Picture:
    return _Picture(
        f"{y} by rank",
        f"SELECT rank AS x, {value} AS y FROM {table} WHERE {where} ORDER BY rank LIMIT {_MOST}",  # noqa: S608 - columns of ours
        "rank",
        y,
        y_kind="share",
    )


_PICTURES: Final[Mapping[str, _Picture]] = {
    "rejects": _Picture(
        "lines by reason",
        "SELECT reason AS x, CAST(sum(lines) AS BIGINT) AS y FROM rejects GROUP BY reason"
        " ORDER BY y DESC, x LIMIT 8",
        "reason",
        "lines",
        "names",
    ),
    "transits": _magnitudes(
        "clients",
        "(SELECT count(*) AS clients FROM transits WHERE referrer IS NOT NULL"
        " GROUP BY referrer, target) AS edges",
        "links by clients",
        "clients",
    ),
    "page_totals": _Picture(
        "pages by day of birth",
        "SELECT birth AS x, count(*) AS y FROM page_totals GROUP BY birth ORDER BY birth",
        "",
        "pages",
        "bars",
        "date",
    ),
    "page_histories": _magnitudes("total", "page_histories", "pages by views", "views"),
    "early_labels": _Picture(
        "young pages by the probability that they are temporal",
        "SELECT (least(CAST(floor(probability * 20) AS BIGINT), 19) + 0.5) / 20 AS x,"
        " count(*) AS y FROM early_labels WHERE probability IS NOT NULL GROUP BY 1 ORDER BY 1",
        "probability",
        "pages",
        "bars",
        "share",
    ),
    "page_flow": _Picture(
        "pages born by day",
        "SELECT birth AS x, count(*) AS y FROM page_flow GROUP BY birth ORDER BY birth",
        "",
        "pages",
        "bars",
        "date",
    ),
    "page_traffic": _magnitudes("visits", "page_traffic", "pages by visits", "visits"),
    "hub_seeds": _by_rank("hub_seeds", "coverage", "temporal pages covered"),
    "site_scores": _by_rank("site_scores", "score", "score of sites"),
    "section_scores": _by_rank("section_scores", "score", "score of sections"),
    "prefix_trees": _Picture(
        "folders and programs by depth",
        "SELECT CAST(depth AS VARCHAR) AS x, count(*) AS y FROM prefix_trees GROUP BY depth"
        " ORDER BY prefix_trees.depth LIMIT 24",
        "depth",
        "folders and programs",
        "names",
    ),
    "news_prefixes": _Picture(
        "news pages under the first prefixes",
        "SELECT row_number() OVER (ORDER BY news_pages DESC, prefix) AS x,"
        " CAST(sum(news_pages) OVER (ORDER BY news_pages DESC, prefix"
        " ROWS UNBOUNDED PRECEDING) AS BIGINT) AS y FROM news_prefixes"
        " ORDER BY 1 LIMIT 500",
        "prefixes",
        "news pages",
    ),
    "site_changes": _Picture(
        "sites by change",
        "SELECT change AS x, count(*) AS y FROM site_changes GROUP BY change ORDER BY change",
        "change",
        "sites",
        "names",
    ),
    "url_patterns": _Picture(
        "patterns by depth in their tree",
        "SELECT CAST(depth AS VARCHAR) AS x, count(*) AS y FROM url_patterns WHERE is_pattern"
        " GROUP BY depth ORDER BY url_patterns.depth LIMIT 24",
        "depth",
        "patterns",
        "names",
    ),
    "provisional_lists": _Picture(
        "entries by kind",
        "SELECT kind AS x, count(*) AS y FROM provisional_lists GROUP BY kind ORDER BY kind",
        "kind",
        "entries",
        "names",
    ),
    "fetches": _Picture(
        "fetches by status",
        "SELECT coalesce(CAST(status AS VARCHAR), 'none') AS x, count(*) AS y FROM fetches"
        " GROUP BY status ORDER BY y DESC, x LIMIT 8",
        "status",
        "fetches",
        "names",
    ),
    "sources": _Picture(
        "sources by kind",
        "SELECT kind AS x, count(*) AS y FROM sources GROUP BY kind ORDER BY kind",
        "kind",
        "sources",
        "names",
    ),
    "behaviour_graph": _magnitudes("transits", "behaviour_graph", "edges by transits", "transits"),
    "crawl_policy": _Picture(
        "entries by kind and decision",
        "SELECT kind || ' ' || decision AS x, count(*) AS y FROM crawl_policy"
        " GROUP BY kind, decision ORDER BY kind, decision",
        "",
        "entries",
        "names",
    ),
}


def picture(installation: Installation, asset: str, day: dt.date) -> dict[str, Any]:
    """Return the picture of a table as metadata; nothing if another module draws it, or none."""
    draw = _PICTURES.get(asset)
    if draw is None:
        return {}
    files = {asset: installation.store.files(asset, day)}
    answer = installation.engine.rows(draw.query, files, limit=_MOST)
    rows = [row for row in answer if row["x"] is not None and row["y"] is not None]
    if not rows:
        return {}
    title = f"{draw.title}, {day}"
    if draw.mark == "names":
        names, heights = [str(row["x"]) for row in rows], [float(row["y"]) for row in rows]
        return {"picture": dg.MetadataValue.md(drawn(bars(title, names, heights, draw.x, draw.y)))}
    series = Series(
        draw.y,
        draw.mark,
        0,
        tuple(_number(row["x"]) for row in rows),
        tuple(float(row["y"]) for row in rows),
    )
    high = 1.0 if draw.y_kind == "share" else None
    chart = Chart(
        title, title, Axis(draw.x, draw.kind), Axis(draw.y, draw.y_kind, 0.0, high), (series,)
    )
    return {"picture": dg.MetadataValue.md(drawn(chart))}


def _number(value: Any) -> float:
    return float(value.toordinal()) if isinstance(value, dt.date) else float(value)
