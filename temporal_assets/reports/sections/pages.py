"""Report sections on pages: TW Figures 3 to 5, NP Figures 1 and 2, agreement of labels.

The sections take counts, and a few example pages whose names enough clients know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from temporal_assets.core.labels.labels import Agreement
from temporal_assets.core.text.readable import readable
from temporal_assets.reports.distribution import Distribution, interest_chart
from temporal_assets.reports.document import (
    Axis,
    Chart,
    Column,
    Section,
    Series,
    Table,
    Threshold,
    unavailable,
)
from temporal_assets.reports.page_chart import PageChart, as_chart
from temporal_assets.reports.sections.wording import PAGES, Row, counted, cut, percent

_NEAR_ONE: Final = 0.8
"""Share of interest that most pages of TW 4.1's site have accumulated on the first day."""

_EVEN: Final = 3.0
"""Concentration below which 91.9 % of non-news pages are in NP 4.1."""


def curves(examples: Sequence[tuple[str, PageChart]]) -> Section:
    """Return TW Figures 3 and 4: daily views, the fitted curve, and interest within n days."""
    if not examples:
        return unavailable(
            "tw-figures-3-4",
            PAGES,
            "TW Figures 3, 4",
            "Interest curves of pages",
            "no page that enough clients know has a curve",
            "read more days or more traffic (`window.min_views_per_day`, `privacy.min_clients`)",
        )
    first, last = examples[0][1], examples[-1][1]
    return Section(
        "tw-figures-3-4",
        PAGES,
        "TW Figures 3, 4",
        "Interest curves of pages",
        "no_judgement",
        (
            f"The examples accumulate from {percent(first.phi_n or 0)} to"
            f" {percent(last.phi_n or 0)}"
            f" of their interest in the first {first.n:g} days.",
        ),
        tuple(_curve_chart(name, example) for name, example in examples),
        "Bars are views a day, the line is the fitted interest curve (TW 4.1), and the shaded area"
        " what accumulates in the first n days, Φ(n). Shown are the pages with the most views among"
        " the temporal, those with at least half as much, and the others.",
    )


def _curve_chart(name: str, page_chart: PageChart) -> Chart:
    return as_chart(page_chart, cut(readable(name)))


def first_day_interest(everywhere: Distribution, site: tuple[str, Distribution] | None) -> Section:
    """Return TW Figure 5: the share of interest on the first day, of all pages and of one site.

    The site is the one with the most temporal pages.
    """
    if not everywhere.total:
        return unavailable(
            "tw-figure-5",
            PAGES,
            "TW Figure 5",
            "Interest of the first day",
            "no page of the window has an interest curve",
            "read more days or more traffic (`window.min_views_per_day`)",
        )
    says = [
        f"{percent(_above(everywhere, _NEAR_ONE))} of {counted(everywhere.total, 'page')} have"
        f" accumulated more than {_NEAR_ONE:.0%} of their interest on the first day."
    ]
    blocks = [interest_chart(everywhere, "All pages")]
    if site is not None:
        name, own = site
        says.append(
            f"Of {cut(name)}, the site with the most temporal pages, it is"
            f" {percent(_above(own, _NEAR_ONE))} of {own.total:,}; the paper says most of the"
            " 6,464"
            " pages of a news site."
        )
        blocks.append(interest_chart(own, f"Pages of {cut(name)}", 1))
    return Section(
        "tw-figure-5",
        PAGES,
        "TW Figure 5",
        "Interest of the first day",
        "no_judgement",
        tuple(says),
        tuple(blocks),
        "Pages by the share of their interest that accumulates within a day of their birth.",
    )


def _above(distribution: Distribution, share: float) -> float:
    pages = sum(
        p
        for start, p in zip(distribution.starts, distribution.pages, strict=True)
        if start >= share - 1e-9
    )
    return pages / max(distribution.total, 1)


def evolution(news: tuple[str, PageChart] | None, other: tuple[str, PageChart] | None) -> Section:
    """Return NP Figure 1: views of a typical news page and of a typical page that is no news."""
    if news is None or other is None:
        return unavailable(
            "np-figure-1",
            PAGES,
            "NP Figure 1",
            "Views of a news page and of another",
            "there is not both a news page and another that enough clients know",
            "read more days or more traffic",
        )
    shares = [max(page.views) / max(sum(page.views), 1) for _, page in (news, other)]
    return Section(
        "np-figure-1",
        PAGES,
        "NP Figure 1",
        "Views of a news page and of another",
        "no_judgement",
        (
            f"The news page has {percent(shares[0])} of its views on its best day, the other"
            f" {percent(shares[1])}.",
        ),
        tuple(_daily(kind, *page) for kind, page in (("News", news), ("No news", other))),
        "Both labels agree on each. Typical: from the site that has many pages of the kind and few"
        " of the other, the page of median concentration in the quarter with the most views.",
    )


def _daily(kind: str, name: str, page_chart: PageChart) -> Chart:
    chart = as_chart(page_chart, f"{kind}: {cut(readable(name))}")
    bars = replace(chart.series[0], colour=1 if kind == "News" else 0)
    says = f"{sum(page_chart.views):,} views, the most on one day {max(page_chart.views):,}."
    return replace(chart, shows=says, series=(bars,))


def concentration(
    temporal: Sequence[tuple[float, int]],
    other: Sequence[tuple[float, int]],
    facts: Mapping[str, Any],
    truth: str,
    p: float | None = None,
) -> Section:
    """Return NP Figure 2: concentration of the pages of both kinds, as (start of a bar, pages).

    Pages with `p` or more are news; None where the threshold is not one number.
    """
    if not facts["temporal_pages"] or not facts["other_pages"]:
        return unavailable(
            "np-figure-2",
            PAGES,
            "NP Figure 2",
            "Concentration of news pages and of others",
            "the window does not have pages of both kinds",
            "read more days or more traffic",
        )
    lines = (("temporal pages", 1, temporal), ("other pages", 0, other))
    return Section(
        "np-figure-2",
        PAGES,
        "NP Figure 2",
        "Concentration of news pages and of others",
        "in_sample",
        (
            f"Concentration is {facts['temporal_mean']:.2f} on average of pages that are temporal"
            f" {truth}, and {facts['other_mean']:.2f} of others; the paper reports 9.11 and 1.86.",
            f"{percent(facts['other_below'])} of the others have less than {_EVEN:g}; in the paper"
            " 91.9%.",
        ),
        (
            Chart(
                "Pages by concentration",
                "Shares of the pages of each kind by whole steps of concentration.",
                Axis("concentration", "number", 0.0),
                Axis("share of pages", "share", 0.0),
                tuple(
                    Series(
                        name,
                        "line",
                        colour,
                        tuple(start + 0.5 for start, _ in points),
                        tuple(n / max(sum(m for _, m in points), 1) for _, n in points),
                    )
                    for name, colour, points in lines
                ),
                thresholds=() if p is None else (Threshold(p, f"p = {p:g}"),),
            ),
        ),
        "Concentration is the share of views in the first m days, divided by what an even spread"
        " over the observed life would give (NP eq. 1).",
    )


def agreement(counts: Agreement, sure: int, thresholds: Sequence[Row]) -> Section:
    """Return the section on how far both labels agree, and how reliable they are."""
    pages = counts.both + counts.only_first + counts.only_second + counts.neither
    if not pages:
        return unavailable(
            "labels",
            PAGES,
            "",
            "The labels of both papers side by side",
            "no page has enough views for a label",
            "read more days or more traffic (`window.min_views_per_day`)",
        )
    temporal = counts.both + counts.only_first
    return Section(
        "labels",
        PAGES,
        "",
        "The labels of both papers side by side",
        "no_judgement",
        (
            f"Temporal by the curve are {percent(temporal / pages)} of {counted(pages, 'page')}"
            " (the"
            " paper: 13.9% of 975,151); the curve and concentration agree on"
            f" {percent(counts.share)} (Cohen's κ {counts.kappa:.2f}).",
            f"{percent(sure / pages)} of the pages are labelled surely: the 95 % interval of what"
            " decided their label lies on one side of its threshold.",
        ),
        (
            Table(
                "Pages by both labels",
                (Column("by curve"), Column("news", "count"), Column("not news", "count")),
                (
                    ("temporal", counts.both, counts.only_first),
                    ("not temporal", counts.only_second, counts.neither),
                ),
            ),
            _thresholds(thresholds),
        ),
        "In the paper 135,939 pages are temporal by the curve and 147,927 news by concentration.",
    )


def _thresholds(rows: Sequence[Row]) -> Table:
    names = ("thresholds", "n", "q", "m", "p", "pages")
    kinds = ("text", "number", "number", "count", "number", "count")
    return Table(
        "Thresholds of the labels",
        tuple(Column(n, k) for n, k in zip(names, kinds, strict=True)),  # type: ignore[arg-type]
        tuple(tuple(row[name] for name in names) for row in rows),
    )
