"""Contract of `calibration`: performance of thresholds on annotated pages."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import Rule, no_rows
from temporal_assets.contracts.table import Table, columns

_SCOPE: Final = ("day", "score", "scope", "name")
_BY_CURVE: Final = "interest_curves.mu, interest_curves.sigma, page_histories.views"


CALIBRATION: Final = Table(
    name="calibration",
    version=2,
    description=(
        "Annotated pages against every pair of thresholds: (n, q) of accumulated interest (TW 4.2)"
        " and (m, p) of concentration (NP 4.1), in sample and cross-validated. Empty where no"
        " annotated file is configured (`calibration.annotated`)."
    ),
    grain="one pair of thresholds of one score, for all pages, a site or a section",
    columns=columns(f"""
        day DATE: Last day of the window.
        score VARCHAR: `interest`: Φ(n) > q. `concentration`: C over m > p.
        scope VARCHAR: `all`, `site` or `section` (`calibration.by`).
        name VARCHAR from page_histories.site, page_histories.url: The site; the beginning of the
            section's URLs; empty for `all`.
        days DOUBLE: n, or m.
        threshold DOUBLE: q, or p.
        pages BIGINT from page_histories.views: Annotated pages with a history in the window.
        temporal BIGINT from page_histories.views: Those of them that people call temporal.
        hit BIGINT from {_BY_CURVE}: Pages labelled right.
        miss BIGINT from {_BY_CURVE}: Temporal pages labelled untemporal.
        false_alarm BIGINT from {_BY_CURVE}: Untemporal pages labelled temporal.
        performance DOUBLE: A · hit − B · miss − C · false alarm with the weights of the settings
            (TW 5.2).
        is_best BOOLEAN: True for the pair that is chosen.
        is_used BOOLEAN: The pair that labels use under `labels.thresholds = calibrated`: for
            interest the best of those with `labels.n` days. None where fewer than 50 pages are
            annotated, or pages of one kind only.
        cross_validated_hit BIGINT NULL from {_BY_CURVE}: Pages labelled right when every page is
            labelled by thresholds chosen without it; only where `is_best` or `is_used`.
        cross_validated_miss BIGINT NULL from {_BY_CURVE}: Temporal pages labelled untemporal when
            every page is labelled by thresholds chosen without it; only where `is_best` or
            `is_used`.
        cross_validated_false_alarm BIGINT NULL from {_BY_CURVE}: Untemporal pages labelled temporal
            when every page is labelled by thresholds chosen without it; only where `is_best` or
            `is_used`.
        """),
    key=(*_SCOPE, "days", "threshold"),
    own_rules=(
        no_rows(
            "outcomes_add_up",
            "calibration",
            "hit < 0 OR miss < 0 OR false_alarm < 0 OR hit + miss + false_alarm <> pages"
            " OR miss > temporal OR false_alarm > pages - temporal"
            " OR cross_validated_hit + cross_validated_miss + cross_validated_false_alarm <> pages",
            protects="Every annotated page is labelled right, missed or a false alarm.",
        ),
        Rule(
            name="one_choice_each",
            measure=(
                "(SELECT coalesce(sum(CASE WHEN best <> 1 OR used > 1 THEN 1 ELSE 0 END), 0)"
                " FROM (SELECT sum(CASE WHEN is_best THEN 1 ELSE 0 END) AS best,"
                " sum(CASE WHEN is_used THEN 1 ELSE 0 END) AS used"
                " FROM calibration GROUP BY score, scope, name) AS choices)"
            ),
            maximum=0,
            protects="Labels would be made with two thresholds at once, or with none.",
        ),
        no_rows(
            "choice_is_validated",
            "calibration",
            "(is_best OR is_used) <> (cross_validated_hit IS NOT NULL)",
            protects="What thresholds promise in sample is not what they do on other pages.",
        ),
    ),
)
