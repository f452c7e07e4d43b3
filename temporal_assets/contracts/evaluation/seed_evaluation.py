"""Contract of `seed_evaluation`: temporal pages and news that lists cover."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.evaluation.trials import SITE_SHARE, sites_are_a_share
from temporal_assets.contracts.rules import no_rows
from temporal_assets.contracts.table import Table, columns

_LABELS: Final = "page_labels.is_temporal, page_labels.is_news"
_INTERVALS: Final = (
    *("precision_low", "precision_high", "recall_low", "recall_high", "f_low", "f_high"),
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
        *columns("""
            day DATE: Last day of the window that judges.
            trial VARCHAR: `in_sample` or `out_of_time`.
            horizon_days BIGINT: Days of births that are judged by; 0 in sample.
            learned_until DATE: Last day of the window that lists are made from.
            """),
        SITE_SHARE,
        *columns(f"""
            label VARCHAR: `temporal` (TW) or `news` (NP): what was learned and what is looked for.
                Out of time it is what the views of the page really did.
            method VARCHAR: `baseline`, `sites`, `sections`, `prefixes`, or `policy` (what it says
                to fetch now).
            rule VARCHAR: Of a baseline `list` (in use), `everything`, or `majority` (top folders of
                which most known pages are wanted); `published`, as it was on the earlier day;
                `paper` or `confident` (bound and support), made anew from the labels of that day.
            setting DOUBLE NULL: Length of the list of sites or sections; threshold of prefixes.
            is_used BOOLEAN: As the settings say; others are points of curves.
            found BIGINT from {_LABELS}: Wanted pages that the list covers.
            pages BIGINT from page_histories.views: Pages that the list covers.
            wanted BIGINT from {_LABELS}: Wanted pages, covered or not.
            precision DOUBLE: `found` / `pages`.
            recall DOUBLE: `found` / `wanted`.
            f DOUBLE: Harmonic mean of both (TW 4.3).
            precision_low DOUBLE NULL from page_histories.views: The 2.5 % quantile of `precision`
                when sites are drawn again; NULL where not `is_used`.
            precision_high DOUBLE NULL from page_histories.views: The 97.5 % quantile of `precision`
                when sites are drawn again; NULL where not `is_used`.
            recall_low DOUBLE NULL from page_histories.views: The 2.5 % quantile of `recall` when
                sites are drawn again; NULL where not `is_used`.
            recall_high DOUBLE NULL from page_histories.views: The 97.5 % quantile of `recall` when
                sites are drawn again; NULL where not `is_used`.
            f_low DOUBLE NULL from page_histories.views: The 2.5 % quantile of `f` when sites are
                drawn again; NULL where not `is_used`.
            f_high DOUBLE NULL from page_histories.views: The 97.5 % quantile of `f` when sites are
                drawn again; NULL where not `is_used`.
            f_gain DOUBLE NULL: `f` less that of the list in use; NULL where there is none.
            f_gain_low DOUBLE NULL: The 2.5 % quantile of `f_gain`, on the same draws.
            f_gain_high DOUBLE NULL: The 97.5 % quantile of `f_gain`, on the same draws.
            best_baseline VARCHAR NULL: Rule of the baseline with the largest `f` of the trial; NULL
                of baselines and where not `is_used`.
            f_lead DOUBLE NULL: `f` less that of `best_baseline`.
            f_lead_low DOUBLE NULL: The 2.5 % quantile of `f_lead`, on the same draws.
            f_lead_high DOUBLE NULL: The 97.5 % quantile of `f_lead`, on the same draws.
            """),
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
        ),
    ),
)
