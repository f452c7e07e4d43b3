"""The contract of `calibration`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import Rule, no_rows
from temporal_assets.contracts.table import ColumnSpec, Table, Type

_SCOPE: Final = ("day", "score", "scope", "name")
_ANNOTATED: Final = ("page_histories.views",)
_BY_CURVE: Final = ("interest_curves.mu", "interest_curves.sigma", "page_histories.views")


def _count(name: str, description: str) -> ColumnSpec:
    return ColumnSpec(name, Type.BIGINT, description, sources=_BY_CURVE)


def _validated(name: str, what: str) -> ColumnSpec:
    return ColumnSpec(
        f"cross_validated_{name}",
        Type.BIGINT,
        f"{what} when every page is labelled by thresholds chosen without it; only where"
        " `is_best` or `is_used`.",
        nullable=True,
        sources=_BY_CURVE,
    )


CALIBRATION: Final = Table(
    name="calibration",
    version=1,
    description=(
        "Annotated pages against every pair of thresholds: (n, q) of accumulated interest (TW 4.2)"
        " and (m, p) of concentration (NP 4.1), in sample and cross-validated. Empty where no"
        " annotated file is configured (`calibration.annotated`)."
    ),
    grain="one pair of thresholds of one score, for all pages, a site or a section",
    columns=(
        ColumnSpec("day", Type.DATE, "Last day of the window."),
        ColumnSpec("score", Type.VARCHAR, "`interest`: Φ(n) > q. `concentration`: C over m > p."),
        ColumnSpec("scope", Type.VARCHAR, "`all`, `site` or `section` (`calibration.by`)."),
        ColumnSpec(
            "name",
            Type.VARCHAR,
            "The site; the beginning of the section's URLs; empty for `all`.",
            sources=("page_histories.site", "page_histories.url"),
        ),
        ColumnSpec("days", Type.DOUBLE, "n, or m."),
        ColumnSpec("threshold", Type.DOUBLE, "q, or p."),
        ColumnSpec(
            "pages",
            Type.BIGINT,
            "Annotated pages with a history in the window.",
            sources=_ANNOTATED,
        ),
        _count("hit", "Pages labelled right."),
        _count("miss", "Temporal pages labelled untemporal."),
        _count("false_alarm", "Untemporal pages labelled temporal."),
        ColumnSpec(
            "performance",
            Type.DOUBLE,
            "A · hit − B · miss − C · false alarm with the weights of the settings (TW 5.2).",
        ),
        ColumnSpec("is_best", Type.BOOLEAN, "The pair that is chosen among all of them."),
        ColumnSpec(
            "is_used",
            Type.BOOLEAN,
            "The pair that labels use under `labels.thresholds = calibrated`: for interest the best"
            " of those with `labels.n` days. None where fewer than 50 pages"
            " are annotated, or pages of one kind only.",
        ),
        _validated("hit", "Pages labelled right"),
        _validated("miss", "Temporal pages labelled untemporal"),
        _validated("false_alarm", "Untemporal pages labelled temporal"),
    ),
    key=(*_SCOPE, "days", "threshold"),
    own_rules=(
        no_rows(
            "outcomes_add_up",
            "calibration",
            "hit < 0 OR miss < 0 OR false_alarm < 0 OR hit + miss + false_alarm <> pages"
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
