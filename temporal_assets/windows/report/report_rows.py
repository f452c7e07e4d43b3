"""The rows that the evaluation report reads from the tables of its day.

Here: the queries. Not here: the text made of their rows (`reports.sections`), putting the report
together (`evaluation_report`). Rows with a name are read only if enough clients know the name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.crawl.mirror.mirror import Mirror, mirror_folder, stored_folder
from temporal_assets.crawl.mirror.page_html import html_of
from temporal_assets.engines.sql import literal
from temporal_assets.reports import distribution, prefix_tree
from temporal_assets.reports.distribution import Distribution
from temporal_assets.reports.document import Missing
from temporal_assets.reports.heat_map import HeatMap, of_cells
from temporal_assets.reports.page_chart import PageChart, chart_of
from temporal_assets.reports.sections.patterns import Method, Quality
from temporal_assets.windows.crawls.crawl_simulation import fitting, no_site_fits
from temporal_assets.windows.frame.asset import Job
from temporal_assets.windows.patterns.pattern_quality import MethodQuality, assess
from temporal_assets.windows.patterns.stored_patterns import sites_of

Row = dict[str, Any]

MANY: Final = 100_000
"""Most rows that are read of any list; far fewer are shown."""

_HTML_PAGES: Final = 2_000
"""Most pages whose layout is compared, a hundred of each site; half a gigabyte at worst."""

_READ_MORE: Final = "read more days"

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

_SPREAD: Final = (
    "SELECT is_temporal_by_curve, CAST(floor(concentration) AS BIGINT) AS bin, count(*) AS pages,"
    " sum(concentration) AS summed,"
    " sum(CASE WHEN concentration < 3 THEN 1 ELSE 0 END) AS below"
    " FROM page_labels WHERE has_concentration GROUP BY ALL ORDER BY ALL"
)

_PAIRS: Final = (
    "SELECT is_temporal_by_curve, is_news, label_basis, count(*) AS pages,"
    " sum(CAST(is_temporal AS BIGINT)) AS temporal, sum(CAST(is_sure AS BIGINT)) AS sure"
    " FROM page_labels GROUP BY ALL"
)

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
_DRAWN_SITES: Final = 5
_LEAST_PAGES: Final = 10

_CALIBRATED: Final = (
    "SELECT * FROM calibration WHERE scope = 'all' ORDER BY score DESC, days, threshold"
)
"""Statement for the grids over all annotated pages; those of sites and sections are left out with
their names."""

_PERIODS: Final = 4
"""Equal parts of the window: patterns are learned on the first and judged on the others."""


class Reader:
    """Reader of all rows of one report."""

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

    def quality(self, mirror: Mirror | None, sites: list[Row], most: int) -> Quality | Missing:
        """Return the quality of URL patterns, or what is missing.

        The patterns are learned on the first quarter of the window, and judged on the rest and on a
        mirror.
        """
        job = self._job
        days = sorted(set(job.present("page_views")) & set(job.present("transits")))
        learned = [(row["site"], row["pages"]) for row in sites if row["status"] == "learned"]
        chosen = fitting(learned[:most])
        if len(days) < _PERIODS:
            return Missing(f"{_PERIODS} days are needed, and {len(days)} are there", _READ_MORE)
        if not learned:
            return Missing("no site was learned", f"{_READ_MORE} or more traffic")
        if not chosen:
            return no_site_fits()
        folder = mirror_folder(job.settings)
        copied = None if mirror is None else _mirrored(mirror, folder, chosen)
        assessed = assess(job.store, job.engine, job.settings, days, _PERIODS, copied, chosen)
        if not assessed.sites:
            why = "patterns cannot be learned on one part of the days and judged on others"
            return Missing(why, _READ_MORE)
        methods = {name: _method(quality) for name, quality in assessed.methods.items()}
        return Quality(assessed.learned, assessed.periods, assessed.sites, methods)


def mirrored_pages(mirror: Mirror | None) -> dict[str, int]:
    """Return the number of mirrored pages of each site."""
    if mirror is None:
        return {}
    return dict(zip(mirror.sites, np.diff(mirror.first).tolist(), strict=True))


def _mirrored(mirror: Mirror, folder: Path, sites: list[str]) -> pa.Table:
    """Return the mirrored pages of some sites, with the HTML of some where the mirror keeps any."""
    parts = [
        mirror.urls[int(mirror.first[k]) : int(mirror.first[k + 1])].cast(pa.string())
        for k, site in enumerate(mirror.sites)
        if site in sites
    ]
    urls = pa.chunked_array(parts, pa.string())
    kept = html_of(stored_folder(folder), urls, _HTML_PAGES)
    if not len(kept):
        return pa.table({"url": urls})
    place = pc.index_in(urls, value_set=kept.column("url"))
    return pa.table({"url": urls, "html": kept.column("html").take(place)})


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


def _mean_of_some(mean: float) -> float | None:
    """Return a mean, or None for NaN, the mean of no pairs."""
    return None if np.isnan(mean) else mean


def _method(method_quality: MethodQuality) -> Method:
    """Return a method's measures as the report shows them."""
    layout = method_quality.layout
    return Method(
        method_quality.divergence,
        method_quality.mirror.by_urls,
        None if layout is None else _mean_of_some(layout.within),
        None if layout is None else _mean_of_some(layout.random),
        tuple(share.by_urls for share in method_quality.later),
        tuple(share.by_visits for share in method_quality.later),
    )
