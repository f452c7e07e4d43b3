"""The contract of `page_labels`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import (
    Drift,
    Rule,
    day_is_partition,
    has_rows,
    no_rows,
    not_null,
    unique,
)
from temporal_assets.contracts.table import ColumnSpec, Table, Type

_KEY: Final = ("day", "url")

_LABELS: Final = ("is_temporal", "is_sure", "is_news")
_THRESHOLDS: Final = ("n", "q", "m", "p", "thresholds")

_AT_FAULT: Final = "The transformation is at fault: report it with the rows shown here."

PAGE_LABELS: Final = Table(
    name="page_labels",
    version=2,
    description=(
        "What every reliable page is: temporal by its interest curve (TW 4.2), news by the"
        " concentration of its views (NP 4.1), with both scores and the thresholds used."
    ),
    grain="one reliable page of the window",
    columns=(
        ColumnSpec("day", Type.DATE, "Last day of the window."),
        ColumnSpec("site", Type.VARCHAR, "Host of `url`.", sources=("page_histories.site",)),
        ColumnSpec(
            "url", Type.VARCHAR, "Canonical URL of the page.", sources=("page_histories.url",)
        ),
        ColumnSpec(
            "is_temporal",
            Type.BOOLEAN,
            "`phi_n` > `q`; false where `phi_n` is unknown.",
            sources=("interest_curves.phi_n",),
        ),
        ColumnSpec(
            "is_sure",
            Type.BOOLEAN,
            "The 95 % interval of `phi_n` lies on one side of `q`; false where it is unknown.",
            sources=("interest_curves.phi_n_low", "interest_curves.phi_n_high"),
        ),
        ColumnSpec(
            "is_news",
            Type.BOOLEAN,
            "`concentration` > `p`; false where it is undefined.",
            sources=("page_histories.views", "page_histories.birth"),
        ),
        ColumnSpec(
            "phi_n",
            Type.DOUBLE,
            "Share of the interest within `n` days; NULL where no curve tells.",
            nullable=True,
            sources=("interest_curves.phi_n",),
        ),
        ColumnSpec(
            "concentration",
            Type.DOUBLE,
            "Views of the first `m` days of life, divided by what an even spread over the life"
            " gives them; 1 where it is undefined.",
            sources=("page_histories.views", "page_histories.birth"),
        ),
        ColumnSpec(
            "has_concentration",
            Type.BOOLEAN,
            "The page was observed for more than `m` days; otherwise its concentration is"
            " undefined.",
            sources=("page_histories.birth",),
        ),
        ColumnSpec("n", Type.DOUBLE, "`labels.n` as it was used."),
        ColumnSpec(
            "q",
            Type.DOUBLE,
            "`labels.q`, or what `calibration` has in its place.",
            sources=("calibration.threshold",),
        ),
        ColumnSpec(
            "m",
            Type.BIGINT,
            "`labels.m`, or what `calibration` has in its place.",
            sources=("calibration.days",),
        ),
        ColumnSpec(
            "p",
            Type.DOUBLE,
            "`labels.p`, or what `calibration` has in its place.",
            sources=("calibration.threshold",),
        ),
        ColumnSpec(
            "thresholds",
            Type.VARCHAR,
            "Where q, m and p are from: `settings`, or the `calibration` of `all` pages, of the"
            " page's `site` or its `section`.",
            sources=("calibration.scope",),
        ),
    ),
    key=_KEY,
    rules=(
        not_null(
            "page_labels",
            ("site", "url", *_LABELS, "concentration", "has_concentration", *_THRESHOLDS),
        ),
        day_is_partition("page_labels"),
        unique("page_labels", _KEY),
        no_rows(
            "labels_follow_scores",
            "page_labels",
            "is_temporal <> coalesce(phi_n > q, FALSE) OR is_news <> (concentration > p"
            " AND has_concentration)",
            protects="Every label can be explained by its score and its threshold.",
            remedy=_AT_FAULT,
        ),
        no_rows(
            "scores_in_range",
            "page_labels",
            # Of the first m days only one may be there: all views on it, of a life of the window.
            "phi_n < 0 OR phi_n > 1 OR isnan(phi_n) OR isnan(concentration) OR concentration < 0"
            " OR concentration > $window_days + 0.000001",
            protects="Scores are compared between pages and days.",
            remedy=_AT_FAULT,
        ),
        Rule(
            name="scores_are_those_of_the_curves",
            measure=(
                "(SELECT count(*) FROM interest_curves LEFT JOIN page_labels"
                " ON page_labels.url = interest_curves.url"
                " WHERE page_labels.url IS NULL"
                " OR coalesce(page_labels.phi_n, -1) <> coalesce(interest_curves.phi_n, -1))"
                " + abs((SELECT count(*) FROM interest_curves) - count(*))"
            ),
            maximum=0,
            reads=("interest_curves",),
            protects="Labels are those of the curves that are published, of every page.",
            remedy="`interest_curves` was made again since: materialise the day again.",
        ),
        has_rows("reliable pages"),
    ),
    drifts=(
        Drift(
            name="temporal_share_is_usual",
            measure="avg(CASE WHEN is_temporal THEN 1.0 ELSE 0.0 END)",
            largest_difference=0.1,  # windows of neighbouring days share all days but one
            protects="A jump comes from days that are missing, bots or URLs of another form.",
            remedy="Compare `page_labels` by site with the day before; see which days are missing.",
        ),
        Drift(
            name="news_share_is_usual",
            measure="avg(CASE WHEN is_news THEN 1.0 ELSE 0.0 END)",
            largest_difference=0.1,
            protects="The same, for labels by concentration.",
            remedy="Compare `page_labels` by site with the day before; see which days are missing.",
        ),
    ),
)
