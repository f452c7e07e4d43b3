"""The rows that the evaluation report reads from the tables of its day.

Here: the queries. Not here: the text made of their rows (`reports.sections`), the quality of
patterns (`report_quality`), putting the report together (`evaluation_report`). Rows with a name
are read only if enough clients know the name.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from temporal_assets.engines.sql import literal
from temporal_assets.reports import distribution, prefix_tree
from temporal_assets.reports.distribution import Distribution
from temporal_assets.reports.heat_map import HeatMap, of_cells
from temporal_assets.reports.page_chart import PageChart, chart_of
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.patterns.stored_patterns import sites_of

Row = dict[str, Any]

MANY: Final = 100_000
"""Most rows that are read of any list; far fewer are shown."""

_EXAMPLES: Final = (
    "SELECT lives.day, lives.url, lives.views, is_converged, amplitude, b, mu, sigma, method,"
    " curves.phi_n FROM interest_curves AS curves"
    " INNER JOIN page_histories AS lives ON lives.url = curves.url"
    " INNER JOIN page_labels AS labels ON labels.url = curves.url"
    " INNER JOIN page_totals AS pages ON pages.url = curves.url"
    " INNER JOIN page_traffic AS traffic ON traffic.url = pages.number"
    " WHERE is_converged AND traffic.clients >= {least}"
    " QUALIFY 1 = row_number() OVER ("
    "PARTITION BY labels.is_temporal_by_curve, curves.phi_n > q / 2"
    " ORDER BY lives.total DESC, lives.url)"
    " ORDER BY curves.phi_n DESC"
)
"""Statement for the most viewed page of three kinds: temporal, half-way, and lasting."""

_TRAFFIC_OF_PAGES: Final = ("page_totals", "page_traffic")
"""Tables of the statements that look up the traffic of a page by its URL."""

_TYPICAL: Final = (
    "SELECT day, url, views, is_news FROM ("
    "SELECT *, row_number() OVER (PARTITION BY is_news ORDER BY concentration, url) AS place,"
    " count(*) OVER (PARTITION BY is_news) AS pages FROM ("
    "SELECT *, first_value(site) OVER (PARTITION BY is_news"
    " ORDER BY of_kind * of_kind / of_site DESC, site) AS typical_site FROM ("
    "SELECT lives.day, lives.url, lives.site, lives.views, labels.is_news, labels.concentration,"
    " CAST(count(*) OVER (PARTITION BY lives.site, labels.is_news) AS DOUBLE) AS of_kind,"
    " count(*) OVER (PARTITION BY lives.site) AS of_site,"
    " cume_dist() OVER (PARTITION BY lives.site, labels.is_news ORDER BY lives.total) AS standing"
    " FROM page_labels AS labels"
    " INNER JOIN page_histories AS lives ON lives.url = labels.url"
    " INNER JOIN page_totals AS pages ON pages.url = labels.url"
    " INNER JOIN page_traffic AS traffic ON traffic.url = pages.number"
    " WHERE labels.has_concentration AND traffic.clients >= {least}"
    " AND labels.is_news = labels.is_temporal_by_curve AND labels.is_news = labels.is_temporal"
    ") AS known) AS sited WHERE site = typical_site AND standing >= 0.75) AS large"
    " WHERE place = CAST(ceil(pages / 2.0) AS BIGINT)"
)
"""Statement for a page of each kind from the site that most stands for it: many pages of the kind,
and few of the other. Of its quarter with the most views, the page of median concentration."""

_TEMPORAL_SITE: Final = (
    "SELECT site FROM prefix_trees WHERE depth = 0 AND clients >= {least} AND temporal_pages > 0"
    " ORDER BY temporal_pages DESC, site LIMIT 1"
)
"""Statement for the site with the most temporal pages."""

_SPREAD: Final = (
    "SELECT is_temporal_by_curve, CAST(floor(concentration) AS BIGINT) AS bin, count(*) AS pages,"
    " sum(concentration) AS summed,"
    " sum(CASE WHEN concentration < 3 THEN 1 ELSE 0 END) AS below"
    " FROM page_labels WHERE has_concentration GROUP BY ALL ORDER BY ALL"
)
"""Statement for the histogram of concentration, by the label of the curve, in bins of width 1."""

_PAIRS: Final = (
    "SELECT is_temporal_by_curve, is_news, label_basis, count(*) AS pages,"
    " sum(CAST(is_temporal AS BIGINT)) AS temporal, sum(CAST(is_sure AS BIGINT)) AS sure"
    " FROM page_labels GROUP BY ALL"
)
"""Statement for the numbers of pages by both labels, and by what the label rests on."""

_THRESHOLDS: Final = (
    "SELECT thresholds, n, q, m, p, count(*) AS pages FROM page_labels"
    " WHERE thresholds IN ('settings', 'all') GROUP BY ALL"
    " ORDER BY pages DESC, thresholds, n, q, m, p"
)
"""Statement for thresholds; those of single sites and sections are left out with their names."""

_CUTS: Final = (
    "SELECT min(q) AS least_q, max(q) AS most_q, min(m) AS least_m, max(m) AS most_m,"
    " min(p) AS least_p, max(p) AS most_p FROM page_labels"
)
"""Statement for the ranges of the thresholds q, m and p by which pages were labelled."""

_FOLDERS: Final = (
    "SELECT roots.site, roots.pages, roots.{wanted} AS news_pages,"
    " coalesce(inside.prefixes, 0) AS prefixes, coalesce(inside.pages, 0) AS prefix_pages,"
    " coalesce(inside.news_pages, 0) AS prefix_news_pages"
    " FROM (SELECT * FROM prefix_trees WHERE depth = 0 AND clients >= {least}) AS roots"
    " LEFT JOIN (SELECT trees.site, count(*) AS prefixes,"
    " CAST(sum(trees.pages) AS BIGINT) AS pages, CAST(sum(trees.{wanted}) AS BIGINT) AS news_pages"
    " FROM news_prefixes INNER JOIN prefix_trees AS trees ON trees.prefix = news_prefixes.prefix"
    " GROUP BY trees.site) AS inside"
    " ON inside.site = roots.site ORDER BY roots.site"
)
"""Statement for pages inside and outside of news prefixes, from the trees: `news_prefixes` has only
pages that are old enough."""

_TREES: Final = (
    "SELECT trees.*, prefixes.prefix IS NOT NULL AS is_prefix FROM prefix_trees AS trees"
    " LEFT JOIN news_prefixes AS prefixes ON prefixes.prefix = trees.prefix"
    " WHERE trees.site IN (SELECT site FROM prefix_trees WHERE depth = 0 AND clients >= {least}"
    " ORDER BY news_pages DESC, site LIMIT 100) ORDER BY trees.prefix"
)
"""Statement for the trees of the hundred sites with the most news."""

_TREE_SITES: Final = (
    "SELECT count(*) AS sites FROM prefix_trees WHERE depth = 0 AND clients >= {least}"
)
"""Statement for the number of sites with a tree that may be named."""

_TRAFFIC: Final = (
    "SELECT site, pages, place, CAST(visits AS DOUBLE) AS visits, CAST(summed AS DOUBLE) AS summed"
    " FROM (SELECT site, visits, count(*) OVER own AS pages, row_number() OVER ranked AS place,"
    " sum(visits) OVER (PARTITION BY site ORDER BY visits DESC, url ROWS UNBOUNDED PRECEDING)"
    " AS summed FROM page_traffic WHERE site IN ({sites}) WINDOW own AS (PARTITION BY site),"
    " ranked AS (PARTITION BY site ORDER BY visits DESC, url)) AS placed"
    " WHERE floor(place * {bins} / pages) > floor((place - 1) * {bins} / pages)"
    " ORDER BY site, place"
)
"""Statement for the cumulative share of visits over pages, the most visited first, at even
steps."""

_BINS: Final = 50
"""Steps of a curve of cumulative traffic."""
_DRAWN_SITES: Final = 5
"""Most sites whose curve of traffic is drawn, the most visited."""
_LEAST_PAGES: Final = 10
"""Least pages of a site whose curve of traffic is drawn."""

_CALIBRATED: Final = (
    "SELECT * FROM calibration WHERE scope = 'all' ORDER BY score DESC, days, threshold"
)
"""Statement for the grids over all annotated pages; those of sites and sections are left out with
their names."""


class ReportRows:
    """All rows of one report, read when they are asked for."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._least = job.settings.privacy.min_clients

    def rows(self, query: str, *tables: str, limit: int = MANY) -> list[Row]:
        """Return the rows of a query over the day's tables; `{least}` is the clients needed."""
        inputs = {name: self._job.files(name) for name in tables}
        return self._job.engine.rows(query.replace("{least}", str(self._least)), inputs, limit)

    def daily(self, query: str, name: str) -> list[Row]:
        """Return the rows of a query over a daily asset's days in the window."""
        inputs = {name: list(self._job.window(name).files)}
        return self._job.engine.rows(query, inputs, MANY)

    def table(self, name: str) -> list[Row]:
        """Return all rows of a small table."""
        rows: list[Row] = self._job.store.read(name, self._job.day).to_pylist()
        return rows

    # Pages --------------------------------------------------------------------------------------

    def examples(self) -> list[tuple[str, PageChart]]:
        """Return example pages with their curves, the most temporal first."""
        tables = ("interest_curves", "page_histories", "page_labels", *_TRAFFIC_OF_PAGES)
        rows = self.rows(_EXAMPLES, *tables)
        return [(row["url"], self._chart(row)) for row in rows]

    def typical(self) -> dict[bool, tuple[str, PageChart]]:
        """Return a typical news page under the key True, and another page under False."""
        rows = self.rows(_TYPICAL, "page_labels", "page_histories", *_TRAFFIC_OF_PAGES)
        plain = {"is_converged": False, "b": None, "phi_n": None}
        return {row["is_news"]: (row["url"], self._chart(row | plain)) for row in rows}

    def _chart(self, row: Row) -> PageChart:
        missing = self._job.sources.tables["page_histories"].extra["missing_days"]
        return chart_of(row, self._job.settings.labels.n, missing, "")

    def interest(self) -> tuple[Distribution, tuple[str, Distribution] | None]:
        """Return the distribution of Φ(1) over all pages, and over the most temporal site."""
        everywhere = distribution.of_interest(self.rows(distribution.INTEREST, "interest_curves"))
        best = self.rows(_TEMPORAL_SITE, "prefix_trees")
        if not best:
            return everywhere, None
        site = best[0]["site"]
        own = distribution.INTEREST.replace(" GROUP BY", f" AND site = {literal(site)} GROUP BY")
        return everywhere, (site, distribution.of_interest(self.rows(own, "interest_curves")))

    def concentrations(self) -> tuple[dict[bool, list[tuple[float, int]]], Row]:
        """Return the histogram of concentration, for temporal pages and for others, and totals."""
        rows = self.rows(_SPREAD, "page_labels")
        points: dict[bool, list[tuple[float, int]]] = {}
        facts: Row = {}
        last = max((row["bin"] for row in rows), default=0)
        for kind, name in ((True, "temporal"), (False, "other")):
            own = {row["bin"]: row for row in rows if row["is_temporal_by_curve"] is kind}
            pages = sum(row["pages"] for row in own.values())
            facts[f"{name}_pages"] = pages
            facts[f"{name}_mean"] = sum(row["summed"] for row in own.values()) / max(pages, 1)
            facts[f"{name}_below"] = sum(int(r["below"]) for r in own.values()) / max(pages, 1)
            points[kind] = [(float(k), own[k]["pages"] if k in own else 0) for k in range(last + 1)]
        return points, facts

    def labels(self) -> tuple[list[Row], list[Row]]:
        """Return the numbers of pages by both labels, and the thresholds of these."""
        return self.rows(_PAIRS, "page_labels"), self.rows(_THRESHOLDS, "page_labels")

    def cuts(self) -> dict[str, str]:
        """Return the thresholds q, m and p of the labels as text; a range where they differ."""
        (ranges,) = self.rows(_CUTS, "page_labels")
        own = self._job.settings.labels.model_dump()
        return {
            name: _range(ranges[f"least_{name}"], ranges[f"most_{name}"], own[name])
            for name in ("q", "m", "p")
        }

    # Calibration --------------------------------------------------------------------------------

    def calibration(self) -> tuple[list[Row], dict[str, HeatMap]]:
        """Return the chosen thresholds, and the heat map of each score's grid."""
        cells = self.rows(_CALIBRATED, "calibration")
        chosen = [row for row in cells if row["is_best"] or row["is_used"]]
        labels = self._job.settings.labels
        return chosen, {
            score: of_cells(labels, [row for row in cells if row["score"] == score])
            for score in dict.fromkeys(row["score"] for row in cells)
        }

    # Prefixes -----------------------------------------------------------------------------------

    def folders(self) -> list[Row]:
        """Return, by site, the pages and news inside and outside of its news prefixes."""
        label = self._job.settings.prefixes.label
        wanted = "news_pages" if label == "news" else "temporal_pages"
        return self.rows(_FOLDERS.replace("{wanted}", wanted), "prefix_trees", "news_prefixes")

    def trees(self) -> tuple[list[prefix_tree.Section], int]:
        """Return the prefix trees of the sites with the most news, and the number of all sites."""
        rows = self.rows(_TREES, "prefix_trees", "news_prefixes")
        (all_,) = self.rows(_TREE_SITES, "prefix_trees")
        return prefix_tree.trees_of(rows, self._least), all_["sites"]

    # Patterns -----------------------------------------------------------------------------------

    def sites(self) -> list[Row]:
        """Return sites of `url_patterns` that enough clients know, the most visited first."""
        site_rows = sites_of(self._job.store, self._job.engine, self._job.day, MANY)
        return [row for row in site_rows if row["is_public"]]

    def traffic(self, sites: list[Row]) -> tuple[dict[str, list[float]], dict[str, int]]:
        """Return, by site, the cumulative share of visits over its pages in even steps.

        The second result is the number of pages by site.
        """
        drawn = [row for row in sites if row["pages"] >= _LEAST_PAGES][:_DRAWN_SITES]
        if not drawn:
            return {}, {}
        names = ", ".join(literal(row["site"]) for row in drawn)
        query = _TRAFFIC.replace("{bins}", str(_BINS)).replace("{sites}", names)
        rows = self.rows(query, "page_traffic")
        curves = {
            site: _curve(own)
            for site in (row["site"] for row in drawn)
            if (own := [rank_row for rank_row in rows if rank_row["site"] == site])
            and own[-1]["summed"] > 0
        }
        return curves, {row["site"]: row["pages"] for row in drawn}

    def graph(self, sites: list[Row], most: int) -> tuple[str, list[Row], list[Row], int]:
        """Return the site with the most patterns, its most visited patterns, and their transits.

        The last item counts the patterns that are not shown.
        """
        if not sites:
            return "", [], [], 0
        site = max(sites, key=lambda row: row["transit_leaves"])["site"]
        where = f" WHERE site = {literal(site)}"
        nodes = self.rows(
            f"SELECT * FROM pattern_ranks{where} ORDER BY visits DESC, pattern",  # noqa: S608 - the site is a literal
            "pattern_ranks",
        )
        edges = self.rows(f"SELECT * FROM behaviour_graph{where}", "behaviour_graph")  # noqa: S608 - the site is a literal
        return site, nodes[:most], edges, max(len(nodes) - most, 0)


def _curve(rows: list[Row]) -> list[float]:
    """Return the cumulative share of visits at each step; a page across a step counts in part."""
    before = {row["place"] - 1: row["summed"] - row["visits"] for row in rows}
    summed = {0: 0.0} | before | {row["place"]: row["summed"] for row in rows}
    places = sorted(summed)
    steps = np.arange(_BINS + 1) * rows[0]["pages"] / _BINS
    shares_at = np.interp(steps, places, [summed[place] / rows[-1]["summed"] for place in places])
    shares: list[float] = shares_at.tolist()
    return shares


def _range(least: float | None, most: float | None, of_none: float) -> str:
    if least is None or most is None:
        return f"{of_none:g}"
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"
