"""Metadata of some window assets beyond their size: shares, agreement, small plots.

The plots are of counts, and of pages without a name. Rows with names are for `samples`.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

import dagster as dg

from temporal_assets.core.labels.labels import by_both
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata import (
    calibration_metadata,
    early_metadata,
    evaluation_metadata,
    pattern_metadata,
    report_metadata,
    simulation_metadata,
    site_metadata,
)
from temporal_assets.defs.metadata.metadata import grid
from temporal_assets.defs.metadata.numbers import numbers
from temporal_assets.defs.metadata.pictures import picture
from temporal_assets.defs.metadata.samples import sample
from temporal_assets.policy.document import FILE
from temporal_assets.reports.distribution import (
    CONCENTRATION,
    INTEREST,
    concentration_chart,
    interest_chart,
    of_concentration,
    of_interest,
)
from temporal_assets.reports.page_chart import as_chart, chart_of
from temporal_assets.reports.plots import drawn
from temporal_assets.windows.policy import crawl_policy

_REASONS: Final = (
    "SELECT reason, is_converged, count(*) AS pages FROM interest_curves GROUP BY ALL ORDER BY ALL"
)

_EXAMPLES: Final = (
    "SELECT day, views, is_converged, amplitude, b, mu, sigma, method, phi_n"
    " FROM interest_curves INNER JOIN page_histories USING (day, site, url) WHERE is_converged"
    " QUALIFY 1 = row_number() OVER ("
    "PARTITION BY least(CAST(floor(phi_n * 3) AS BIGINT), 2) ORDER BY total DESC, url)"
    " ORDER BY phi_n"
)
"""Statement for the page with the most views in each third of the range of interest."""

_PAIRS: Final = (
    "SELECT is_temporal_by_curve, is_news, label_basis, count(*) AS pages,"
    " sum(CAST(is_temporal AS BIGINT)) AS temporal, sum(CAST(is_sure AS BIGINT)) AS sure"
    " FROM page_labels GROUP BY ALL"
)


_ENTRIES: Final = (
    "SELECT kind, decision, count(*) AS entries FROM crawl_policy GROUP BY ALL ORDER BY ALL"
)

_Metadata = dict[str, Any]


def details(installation: Installation, asset: str, day: dt.date, *, plots: bool) -> _Metadata:
    """Return the metadata of a published window: numbers, and pictures if it `plots`."""
    say = _DETAILS.get(asset)
    shown = numbers(installation, asset, day) | (say(installation, day, plots) if say else {})
    if not plots:
        return shown
    return shown | picture(installation, asset, day) | sample(installation, asset, day)


def _curves_metadata(installation: Installation, day: dt.date, plots: bool) -> _Metadata:
    """Return numbers of pages by the outcome of their fit, and plots of curves."""
    rows = _rows(installation, "interest_curves", day, _REASONS)
    pages = sum(row["pages"] for row in rows)
    converged = sum(row["pages"] for row in rows if row["is_converged"])
    shown: _Metadata = {row["reason"]: row["pages"] for row in rows}
    if pages:
        shown["converged_share"] = converged / pages
    if not plots:
        return shown
    interest = of_interest(_rows(installation, "interest_curves", day, INTEREST))
    return shown | {
        "interest_of_first_day": dg.MetadataValue.md(
            drawn(interest_chart(interest, f"All pages, window up to {day}"))
        ),
        **_examples(installation, day),
    }


def _examples(installation: Installation, day: dt.date) -> _Metadata:
    """Return pictures of pages with a clear curve, without their names."""
    n = installation.settings.labels.n
    missing = installation.store.require("page_histories", day).extra["missing_days"]
    inputs = {
        name: installation.store.files(name, day) for name in ("interest_curves", "page_histories")
    }
    charts = [
        as_chart(chart_of(row, n, missing, f"a page with Φ({n:g}) = {row['phi_n']:.2f}"))
        for row in installation.engine.rows(_EXAMPLES, inputs)
    ]
    return {
        f"example_{place}": dg.MetadataValue.md(drawn(chart))
        for place, chart in enumerate(charts, 1)
    }


def _labels_metadata(installation: Installation, day: dt.date, plots: bool) -> _Metadata:
    """Return shares of labels, their agreement, and a plot of concentration."""
    rows = _rows(installation, "page_labels", day, _PAIRS)
    pages = sum(row["pages"] for row in rows)
    if not pages:
        return {}
    agreed = by_both(rows)
    cells = [agreed.both, agreed.only_first, agreed.only_second, agreed.neither]
    decided: Counter[str] = Counter()
    for row in rows:
        decided[row["label_basis"]] += row["pages"]
    shown: _Metadata = {
        "temporal_share": int(sum(row["temporal"] for row in rows)) / pages,
        **{f"by_{basis}_pages": count for basis, count in sorted(decided.items())},
        "temporal_by_curve_share": (agreed.both + agreed.only_first) / pages,
        "news_share": (agreed.both + agreed.only_second) / pages,
        "sure_share": int(sum(row["sure"] for row in rows)) / pages,
        "agreement_share": agreed.share,
        "agreement_beyond_chance": agreed.kappa,
    }
    shown["agreement_table"] = grid(
        [
            {"by_curve": a, "news": cells[k], "not_news": cells[k + 1]}
            for k, a in ((0, "temporal"), (2, "not temporal"))
        ],
        {"by_curve": "string", "news": "int", "not_news": "int"},
    )
    if not plots:
        return shown
    distribution = of_concentration(_rows(installation, "page_labels", day, CONCENTRATION))
    chart = concentration_chart(
        distribution, f"All pages, window up to {day}", installation.settings.labels.p
    )
    return shown | {"pages_by_concentration": dg.MetadataValue.md(drawn(chart))}


def _policy_metadata(installation: Installation, day: dt.date, plots: bool) -> _Metadata:
    """Return the numbers of entries in the policy by kind, and its size."""
    del plots  # numbers say it all
    rows = _rows(installation, "crawl_policy", day, _ENTRIES)
    shown: _Metadata = {f"{row['kind']}_{row['decision']}": row["entries"] for row in rows}
    manifest = installation.store.require("crawl_policy", day)
    folder = crawl_policy.files_of(installation.store, installation.settings, manifest)
    if folder is not None:
        shown["policy"] = dg.MetadataValue.path(folder / FILE)
        shown["policy_bytes"] = (folder / FILE).stat().st_size
    return shown | report_metadata.link(installation.settings, day)


def _rows(installation: Installation, asset: str, day: dt.date, query: str) -> list[_Metadata]:
    return installation.engine.rows(query, {asset: installation.store.files(asset, day)})


def _lists_metadata(asset: str) -> Callable[[Installation, dt.date, bool], _Metadata]:
    return lambda installation, day, _plots: site_metadata.details(installation, asset, day)


_DETAILS: Final[Mapping[str, Callable[[Installation, dt.date, bool], _Metadata]]] = {
    "interest_curves": _curves_metadata,
    "calibration": calibration_metadata.details,
    "page_labels": _labels_metadata,
    "crawl_policy": _policy_metadata,
    "early_labels": early_metadata.details,
    "page_traffic": pattern_metadata.of_traffic,
    "url_patterns": pattern_metadata.of_patterns,
    "pattern_ranks": pattern_metadata.of_ranks,
    "site_scores": _lists_metadata("site_scores"),
    "section_scores": _lists_metadata("section_scores"),
    "news_prefixes": _lists_metadata("news_prefixes"),
    "site_changes": _lists_metadata("site_changes"),
    "crawl_simulation": simulation_metadata.of_orders,
    "timely_simulation": simulation_metadata.of_strategies,
    "seed_evaluation": evaluation_metadata.of_lists,
    "hub_evaluation": evaluation_metadata.of_hubs,
    "evaluation_report": report_metadata.details,
}
