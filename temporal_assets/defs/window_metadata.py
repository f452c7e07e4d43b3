"""What the windows of some assets say beyond their size: shares, agreement, small plots.

No URL is shown here, as in `metadata`: the plots are of counts, and of pages without a name.
Patterns are shown where enough clients opened them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, Final

import dagster as dg

from temporal_assets.core.labels import Agreement
from temporal_assets.core.site_patterns import CUTS
from temporal_assets.defs import calibration_metadata, early_metadata, site_metadata
from temporal_assets.defs.metadata import MAX_ROWS, grid
from temporal_assets.defs.resources import Installation
from temporal_assets.reports.distribution import (
    CONCENTRATION,
    INTEREST,
    Distribution,
    as_png,
    of_concentration,
    of_interest,
)
from temporal_assets.reports.page_chart import chart_of, several_as_png
from temporal_assets.reports.plots import as_markdown
from temporal_assets.windows.stored_patterns import graph_of, read_patterns, sites_of

_BINS: Final = 20
"""Bars of a distribution."""

_REASONS: Final = (
    "SELECT reason, is_converged, count(*) AS pages FROM interest_curves GROUP BY ALL ORDER BY ALL"
)

_EXAMPLES: Final = (
    "SELECT day, views, is_converged, amplitude, base, b, mu, sigma, method, phi_n"
    " FROM interest_curves INNER JOIN page_histories USING (day, site, url) WHERE is_converged"
    " QUALIFY 1 = row_number() OVER ("
    "PARTITION BY least(CAST(floor(phi_n * 3) AS BIGINT), 2) ORDER BY total DESC, url)"
    " ORDER BY phi_n"
)
"""The page with the most views of each third of the range of interest."""

_PAIRS: Final = (
    "SELECT is_temporal, is_news, count(*) AS pages, sum(CAST(is_sure AS BIGINT)) AS sure"
    " FROM page_labels GROUP BY ALL"
)

_CONCENTRATION: Final = (
    "SELECT CAST(floor(concentration) AS BIGINT) AS bin, count(*) AS pages"
    " FROM page_labels WHERE has_concentration GROUP BY 1"
)

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
    f"SELECT {', '.join(_RANK_COLUMNS)} FROM pattern_ranks WHERE is_public"  # noqa: S608
    f" ORDER BY visits DESC, site, pattern LIMIT {MAX_ROWS}"
)
"""Patterns with the most visits, of those that enough clients opened."""

_ENTRIES: Final = (
    "SELECT kind, decision, count(*) AS entries FROM crawl_policy GROUP BY ALL ORDER BY ALL"
)

_Said = dict[str, Any]


def details(installation: Installation, asset: str, day: dt.date, *, plots: bool) -> _Said:
    """What there is to say of a published window; nothing for assets that only count."""
    say = _DETAILS.get(asset)
    return say(installation, day, plots) if say else {}


def _of_curves(installation: Installation, day: dt.date, plots: bool) -> _Said:
    rows = _rows(installation, "interest_curves", day, _REASONS)
    pages = sum(row["pages"] for row in rows)
    converged = sum(row["pages"] for row in rows if row["is_converged"])
    said: _Said = {row["reason"]: row["pages"] for row in rows}
    if pages:
        said["converged_share"] = converged / pages
    if not plots:
        return said
    interest = of_interest(_rows(installation, "interest_curves", day, INTEREST))
    return said | {
        "interest_of_first_day": _plot(interest, day),
        **_examples(installation, day),
    }


def _examples(installation: Installation, day: dt.date) -> _Said:
    n = installation.settings.labels.n
    missing = installation.store.require("page_histories", day).extra["missing_days"]
    inputs = {
        name: installation.store.files(name, day) for name in ("interest_curves", "page_histories")
    }
    charts = [
        chart_of(row, n, missing, f"Φ({n:g}) = {row['phi_n']:.2f}")
        for row in installation.engine.rows(_EXAMPLES, inputs)
    ]
    if not charts:
        return {}
    title = f"pages with many views, their curves, and their first {n:g} days, {day}"
    return {"examples": dg.MetadataValue.md(as_markdown(several_as_png(charts), title))}


def _of_labels(installation: Installation, day: dt.date, plots: bool) -> _Said:
    rows = _rows(installation, "page_labels", day, _PAIRS)
    counts = {(row["is_temporal"], row["is_news"]): row["pages"] for row in rows}
    pages = sum(counts.values())
    if not pages:
        return {}
    cells = [counts.get((a, b), 0) for a in (True, False) for b in (True, False)]
    agreed = Agreement(*cells)
    said: _Said = {
        "temporal_share": (agreed.both + agreed.only_first) / pages,
        "news_share": (agreed.both + agreed.only_second) / pages,
        "sure_share": int(sum(row["sure"] for row in rows)) / pages,
        "agreement": agreed.share,
        "agreement_beyond_chance": agreed.kappa,
    }
    said["agreement_table"] = grid(
        [
            {"by_curve": a, "news": cells[k], "not_news": cells[k + 1]}
            for k, a in ((0, "temporal"), (2, "not temporal"))
        ],
        {"by_curve": "string", "news": "int", "not_news": "int"},
    )
    if not plots:
        return said
    found = of_concentration(_rows(installation, "page_labels", day, CONCENTRATION))
    return said | {"pages_by_concentration": _plot(found, day)}


def _plot(one: Distribution, day: dt.date) -> dg.MarkdownMetadataValue:
    return dg.MetadataValue.md(as_markdown(as_png(one, f", {day}"), one.title))


def _of_traffic(installation: Installation, day: dt.date, plots: bool) -> _Said:  # noqa: ARG001
    (row,) = _rows(installation, "page_traffic", day, _TRAFFIC)
    return {name: value for name, value in row.items() if value is not None}


def _of_patterns(installation: Installation, day: dt.date, plots: bool) -> _Said:  # noqa: ARG001
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


def _of_graph(installation: Installation, day: dt.date, plots: bool) -> _Said:
    sites = sites_of(installation.store, installation.engine, day)
    public = [site["site"] for site in sites if site["is_public"]]
    if not plots or not public:
        return {}
    found = read_patterns(installation.store, installation.engine, day, public[0])
    if found is None:
        return {}
    title = f"{found.site}, window up to {day}"
    return {"most_visited_site": dg.MetadataValue.md(as_markdown(graph_of(found, title), title))}


def _of_ranks(installation: Installation, day: dt.date, plots: bool) -> _Said:  # noqa: ARG001
    (row,) = _rows(installation, "pattern_ranks", day, _RANKED)
    best = _rows(installation, "pattern_ranks", day, _BEST)
    said = {name: value for name, value in row.items() if value is not None}
    return said | {"most_visited": grid(best, _RANK_COLUMNS)}


def _of_policy(installation: Installation, day: dt.date, plots: bool) -> _Said:
    """How much of what a crawler is told, and how large the file is."""
    del plots  # numbers say it all
    rows = _rows(installation, "crawl_policy", day, _ENTRIES)
    said: _Said = {f"{row['kind']}_{row['decision']}": row["entries"] for row in rows}
    file = installation.settings.state / "policy" / "latest" / "policy.json"
    if file.is_file():
        said["latest_policy_bytes"] = file.stat().st_size
    return said


def _rows(installation: Installation, asset: str, day: dt.date, query: str) -> list[_Said]:
    return installation.engine.rows(query, {asset: installation.store.files(asset, day)})


def _of_lists(asset: str) -> Callable[[Installation, dt.date, bool], _Said]:
    return lambda installation, day, _plots: site_metadata.details(installation, asset, day)


_DETAILS: Final[Mapping[str, Callable[[Installation, dt.date, bool], _Said]]] = {
    "interest_curves": _of_curves,
    "calibration": calibration_metadata.details,
    "page_labels": _of_labels,
    "crawl_policy": _of_policy,
    "early_labels": early_metadata.details,
    "page_traffic": _of_traffic,
    "url_patterns": _of_patterns,
    "behaviour_graph": _of_graph,
    "pattern_ranks": _of_ranks,
    "site_scores": _of_lists("site_scores"),
    "section_scores": _of_lists("section_scores"),
    "news_prefixes": _of_lists("news_prefixes"),
    "site_changes": _of_lists("site_changes"),
}
