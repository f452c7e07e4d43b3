"""Contract of `page_labels`: whether each reliable page is temporal or news."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.pages.page_histories import PAGE_HISTORIES
from temporal_assets.contracts.rules import Drift, Rule, has_rows_as_before, no_rows
from temporal_assets.contracts.table import Table, columns

PAGE_LABELS: Final = Table(
    name="page_labels",
    version=3,
    description=(
        "Whether every reliable page is temporal: by the rule of `labels.rule`, and by each paper's"
        " own (the interest curve, TW 4.2; the concentration of views, NP 4.1), with the evidence"
        " that decided, all scores and the thresholds used."
    ),
    grain="one reliable page of the window",
    columns=(
        *columns("day DATE: Last day of the window."),
        *PAGE_HISTORIES.taken("site", "url"),
        *columns("""
            is_temporal BOOLEAN from page_histories.views, interest_curves.phi_n: The page is
                temporal by `labels.rule`. All lists and the policy use this column.
            label_basis VARCHAR from page_histories.birth, interest_curves.reason: What decided
                `is_temporal`: `share` (`first_share` > `q`: the page has been there for five days,
                and a day after its first `n` was observed); `cut_share` (`first_share` > `q` + (1 -
                `q`) / 6: the same of a page that may be older than the window); `curve` (`phi_n` >
                `q`: no day after its first `n` was observed, or that is the rule); `limit` (all
                views on one day: the same, of ever narrower curves); `concentration` (where that is
                the rule); `none` (nothing yet: the label is false, see `early_labels`).
            is_sure BOOLEAN from interest_curves.phi_n_low, interest_curves.phi_n_high: The 95 %
                interval of what decided lies on one side of its threshold.
            is_temporal_by_curve BOOLEAN from interest_curves.phi_n: TW 4.2 for every page: `phi_n`
                > `q`; false where `phi_n` is unknown.
            is_news BOOLEAN from page_histories.views, page_histories.birth: NP 4.1 for every page:
                `concentration` > `p`; false where it is undefined.
            first_share DOUBLE NULL from page_histories.views, page_histories.birth: Share of the
                views so far that fell in the first `n` days of life (whole days, `n` rounded up);
                NULL in windows that an earlier release made.
            phi_n DOUBLE NULL from interest_curves.phi_n: Share of the interest within `n` days;
                NULL where no curve tells.
            concentration DOUBLE from page_histories.views, page_histories.birth: Views of the first
                `m` days of life, divided by what an even spread over the life gives them; 1 where
                it is undefined.
            has_concentration BOOLEAN from page_histories.birth: The page was observed for more than
                `m` days; otherwise its concentration is undefined.
            n DOUBLE: `labels.n` as it was used.
            q DOUBLE from calibration.threshold: `labels.q`, or what `calibration` has in its place.
            m BIGINT from calibration.days: `labels.m`, or what `calibration` has in its place.
            p DOUBLE from calibration.threshold: `labels.p`, or what `calibration` has in its place.
            thresholds VARCHAR from calibration.scope: Where q, m and p are from: `settings`, or the
                `calibration` of `all` pages, of the page's `site` or its `section`.
            """),
    ),
    key=("day", "url"),
    own_rules=(
        no_rows(
            "labels_follow_scores",
            "page_labels",
            "is_temporal_by_curve <> coalesce(phi_n > q, FALSE)"
            " OR is_news <> (concentration > p AND has_concentration)"
            " OR is_temporal <> CASE label_basis WHEN 'share' THEN first_share > q"
            " WHEN 'cut_share' THEN first_share > q + (1 - q) / 6"
            " WHEN 'concentration' THEN is_news WHEN 'none' THEN FALSE"
            " ELSE is_temporal_by_curve END",
            protects="Every label can be explained by its score and its threshold.",
        ),
        no_rows(
            "basis_is_known",
            "page_labels",
            "label_basis NOT IN ('share', 'cut_share', 'curve', 'limit', 'concentration', 'none')"
            " OR (label_basis IN ('curve', 'limit') AND phi_n IS NULL)"
            " OR (label_basis IN ('share', 'cut_share') AND first_share IS NULL)"
            " OR (label_basis = 'none' AND is_sure)",
            protects="What decided a label was there to decide it.",
        ),
        no_rows(
            "scores_in_range",
            "page_labels",
            # Of the first m days only one may be there: all views on it, of a life of the window.
            "phi_n < 0 OR phi_n > 1 OR isnan(phi_n) OR isnan(concentration) OR concentration < 0"
            " OR first_share < 0 OR first_share > 1 OR isnan(first_share)"
            " OR concentration > $window_days + 0.000001",
            protects="Scores are compared between pages and days.",
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
    ),
    drifts=(
        has_rows_as_before("reliable pages"),
        Drift(
            name="temporal_share_is_usual",
            measure="avg(CASE WHEN is_temporal THEN 1.0 ELSE 0.0 END)",
            whole="count(*)",
            largest_difference=0.1,  # windows of neighbouring days share all days but one
            protects="A jump comes from days that are missing, bots or URLs of another form.",
            remedy="Compare `page_labels` by site with the day before; see which days are missing.",
        ),
        Drift(
            name="news_share_is_usual",
            measure="avg(CASE WHEN is_news THEN 1.0 ELSE 0.0 END)",
            whole="count(*)",
            largest_difference=0.1,
            protects="The same, for labels by concentration.",
            remedy="Compare `page_labels` by site with the day before; see which days are missing.",
        ),
    ),
)
