"""The contract of `seed_evaluation`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.evaluation.trials import AT_FAULT, SITE_SHARE, sites_are_a_share
from temporal_assets.contracts.rules import (
    no_rows,
)
from temporal_assets.contracts.table import ColumnSpec, Table, Type

_LABELS: Final = ("page_labels.is_temporal", "page_labels.is_news")
_VIEWS: Final = ("page_histories.views",)
_INTERVALS: Final = (
    *("precision_low", "precision_high", "recall_low", "recall_high", "f_low", "f_high"),
)


def _end(measure: str, end: str, share: str) -> ColumnSpec:
    return ColumnSpec(
        f"{measure}_{end}",
        Type.DOUBLE,
        f"{share} of `{measure}` when sites are drawn again; NULL where not `is_used`.",
        nullable=True,
        sources=_VIEWS,
    )


SEED_EVALUATION: Final = Table(
    name="seed_evaluation",
    version=3,
    description=(
        "What the list in use and the lists learned from logs cover (TW Table 1, NP Table 2): in"
        " sample as in the papers, and out of time on pages born after the lists were made. No URL"
        " is in it."
    ),
    grain="one list on one trial: trial, label, method, rule, setting",
    columns=(
        ColumnSpec("day", Type.DATE, "Last day of the window that judges."),
        ColumnSpec("trial", Type.VARCHAR, "`in_sample` or `out_of_time`."),
        ColumnSpec("horizon_days", Type.BIGINT, "Days of births that are judged by; 0 in sample."),
        ColumnSpec("learned_until", Type.DATE, "Last day of the window that lists are made from."),
        SITE_SHARE,
        ColumnSpec(
            "label",
            Type.VARCHAR,
            "`temporal` (TW) or `news` (NP): what was learned and what is looked for. Out of time"
            " it is what the views of the page really did.",
        ),
        ColumnSpec(
            "method",
            Type.VARCHAR,
            "`baseline`, `sites`, `sections`, `prefixes`, or `policy` (what it says to fetch now).",
        ),
        ColumnSpec(
            "rule",
            Type.VARCHAR,
            "Of a baseline `list` (in use), `everything`, or `majority` (top folders of which most"
            " known pages are wanted); `published`, as it was on the earlier day; `paper` or"
            " `confident` (bound and support), made anew from the labels of that day.",
        ),
        ColumnSpec(
            "setting",
            Type.DOUBLE,
            "Length of the list of sites or sections; threshold of prefixes.",
            nullable=True,
        ),
        ColumnSpec("is_used", Type.BOOLEAN, "As the settings say; others are points of curves."),
        ColumnSpec("found", Type.BIGINT, "Wanted pages that the list covers.", sources=_LABELS),
        ColumnSpec("pages", Type.BIGINT, "Pages that the list covers.", sources=_VIEWS),
        ColumnSpec("wanted", Type.BIGINT, "Wanted pages, covered or not.", sources=_LABELS),
        ColumnSpec("precision", Type.DOUBLE, "`found` / `pages`."),
        ColumnSpec("recall", Type.DOUBLE, "`found` / `wanted`."),
        ColumnSpec("f", Type.DOUBLE, "Harmonic mean of both (TW 4.3)."),
        *(
            _end(measure, end, share)
            for measure in ("precision", "recall", "f")
            for end, share in (("low", "The 2.5 % quantile"), ("high", "The 97.5 % quantile"))
        ),
        ColumnSpec(
            "f_gain",
            Type.DOUBLE,
            "`f` less that of the list in use; NULL where there is none.",
            nullable=True,
        ),
        ColumnSpec(
            "f_gain_low", Type.DOUBLE, "Its 2.5 % quantile, on the same draws.", nullable=True
        ),
        ColumnSpec("f_gain_high", Type.DOUBLE, "Its 97.5 % quantile.", nullable=True),
        ColumnSpec(
            "best_baseline",
            Type.VARCHAR,
            "Rule of the baseline with the largest `f` of the trial; NULL of baselines and where"
            " not `is_used`.",
            nullable=True,
        ),
        ColumnSpec("f_lead", Type.DOUBLE, "`f` less that of `best_baseline`.", nullable=True),
        ColumnSpec(
            "f_lead_low", Type.DOUBLE, "Its 2.5 % quantile, on the same draws.", nullable=True
        ),
        ColumnSpec("f_lead_high", Type.DOUBLE, "Its 97.5 % quantile.", nullable=True),
    ),
    key=("day", "trial", "horizon_days", "label", "method", "rule", "setting"),
    own_rules=(
        sites_are_a_share("seed_evaluation"),
        no_rows(
            "measures_follow_counts",
            "seed_evaluation",
            "found < 0 OR found > pages OR found > wanted"
            " OR abs(precision * pages - found) > 0.000001 * (found + 1)"
            " OR abs(recall * wanted - found) > 0.000001 * (found + 1)"
            " OR abs(f * (pages + wanted) - 2 * found) > 0.000001 * (found + 1)",
            protects="The measures can be worked out from the counts, as in the papers.",
            remedy=AT_FAULT,
        ),
        no_rows(
            "intervals_are_ordered",
            "seed_evaluation",
            " OR ".join(
                [
                    *(f"(({name} IS NULL) = is_used)" for name in _INTERVALS),
                    *(f"{name}_low > {name}_high" for name in ("precision", "recall", "f")),
                    "f_gain_low > f_gain_high",
                    "f_lead_low > f_lead_high",
                    "(f_lead IS NULL) <> (best_baseline IS NULL)",
                ]
            ),
            protects="Nobody takes noise for a gain.",
            remedy=AT_FAULT,
        ),
    ),
)
