"""Contract of `interest_curves`: the fitted curve of each reliable page."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.pages.page_histories import PAGE_HISTORIES
from temporal_assets.contracts.rules import Drift, Rule, has_rows_as_before, no_rows
from temporal_assets.contracts.table import Table, columns

_CURVE: Final = ("amplitude", "b", "mu", "sigma", "objective", "goodness")
_INTEREST: Final = ("phi_1", "phi_n", "phi_n_low", "phi_n_high")

_REASONS: Final = "'converged', 'at_bound', 'out_of_rounds', 'one_day', 'too_young', 'no_views'"


_FITTER: Final = "The fitter is at fault: report it with the rows shown here."


def _any(columns: tuple[str, ...], condition: str) -> str:
    return "(" + " OR ".join(f"{column} {condition}" for column in columns) + ")"


INTEREST_CURVES: Final = Table(
    name="interest_curves",
    version=2,
    description=(
        "The interest curve of every reliable page (TW 4.1): f(x) = A * density(x - b; mu, sigma),"
        " the density being log-normal, with x in days and day i of the window ending at i. The"
        " curve is NULL where none was found; `reason` says why."
    ),
    grain="one reliable page of the window",
    columns=(
        *columns("day DATE: Last day of the window."),
        *PAGE_HISTORIES.taken("site", "url"),
        *columns("""
            amplitude DOUBLE NULL from page_histories.views: A: views over the whole life.
            b DOUBLE NULL from page_histories.views: Time at which the curve begins, in days; the
                first day of the window is from 0 to 1.
            mu DOUBLE NULL from page_histories.views: Logarithm of the days in which half of the
                interest accumulates.
            sigma DOUBLE NULL from page_histories.views: Width of the curve on the logarithm of
                time.
            objective DOUBLE NULL from page_histories.views: Sum of squares, or deviance, of the
                curve; to views without their weekday's effect if `curves.weekdays` removes it.
            goodness DOUBLE NULL from page_histories.views: Share of the sum of squares, or of the
                deviance, that the curve explains; 0 if no more than a constant.
            is_converged BOOLEAN from page_histories.views: Whether a best curve was found.
            reason VARCHAR from page_histories.views: How the fit ended: `converged`; `at_bound`
                (converged, a parameter at the edge of what is possible); `out_of_rounds`; `one_day`
                (all views on one day); `too_young` (fewer than five days of life); `no_views`.
            phi_1 DOUBLE NULL from page_histories.views: Share of the interest within the first day.
            phi_n DOUBLE NULL from page_histories.views: Share of the interest within `labels.n`
                days; 1 for `one_day`.
            phi_n_low DOUBLE NULL from page_histories.views: Lower end of the 95 % interval of
                `phi_n`; 0 where the page may have been born before the window.
            phi_n_high DOUBLE NULL from page_histories.views: Upper bound of `phi_n`.
            method VARCHAR: `likelihood` or `least_squares`.
            """),
    ),
    key=("day", "url"),
    own_rules=(
        no_rows(
            "numbers_are_finite",
            "interest_curves",
            " OR ".join(f"isnan({name}) OR abs({name}) > 1e300" for name in _CURVE + _INTEREST),
            protects="One NaN spoils every sum, average and rank it gets into.",
            remedy=_FITTER,
        ),
        no_rows(
            "reason_is_known",
            "interest_curves",
            f"reason NOT IN ({_REASONS})"
            " OR is_converged <> (reason = 'converged' OR reason = 'at_bound')",
            protects="A page without a curve says why.",
            remedy=_FITTER,
        ),
        no_rows(
            "curve_where_converged",
            "interest_curves",
            f"(is_converged AND {_any(_CURVE, 'IS NULL')})"
            f" OR (NOT is_converged AND {_any(_CURVE, 'IS NOT NULL')})",
            protects="Only a fit that converged gives a curve.",
            remedy=_FITTER,
        ),
        no_rows(
            "interest_where_known",
            "interest_curves",
            f"((is_converged OR reason = 'one_day') AND {_any(_INTEREST, 'IS NULL')})"
            f" OR (NOT is_converged AND reason <> 'one_day' AND {_any(_INTEREST, 'IS NOT NULL')})",
            protects="Only known interest decides labels.",
            remedy=_FITTER,
        ),
        no_rows(
            "parameters_in_bounds",
            "interest_curves",
            "amplitude < 0 OR objective < 0 OR goodness < 0 OR goodness > 1"
            " OR b < -7.000001 OR b > $window_days"
            " OR mu < -ln(24) - 0.000001 OR mu > ln(10 * $window_days) + 0.000001"
            " OR sigma < 0.099999 OR sigma > 3.000001",
            protects="Daily views say nothing of curves beyond these bounds.",
            remedy="`window.days` may have changed: materialise the day again. " + _FITTER,
        ),
        no_rows(
            "interest_grows",
            "interest_curves",
            "phi_1 < 0 OR phi_1 > phi_n OR phi_n_low < 0 OR phi_n_low > phi_n"
            " OR phi_n > phi_n_high OR phi_n_high > 1",
            protects="Accumulated interest is a share, grows with time and lies in its interval.",
            remedy=_FITTER,
        ),
        Rule(
            name="every_history_has_a_row",
            measure=(
                "(SELECT count(*) FROM page_histories LEFT JOIN interest_curves"
                " ON interest_curves.url = page_histories.url WHERE interest_curves.url IS NULL)"
                " + abs((SELECT count(*) FROM page_histories) - count(*))"
            ),
            maximum=0,
            reads=("page_histories",),
            protects="Pages without a row would have no label.",
            remedy="`page_histories` was made again since: materialise the day again.",
        ),
    ),
    drifts=(
        has_rows_as_before("reliable pages"),
        Drift(
            name="converged_share_is_usual",
            measure="avg(CASE WHEN is_converged THEN 1.0 ELSE 0.0 END)",
            whole="count(*)",
            largest_difference=0.1,  # most that do not converge are young, a few days' births
            protects="Far fewer curves than usual: days are missing, or views are not people's.",
            remedy="Count `reason` in `interest_curves`, and compare it with that of other days.",
        ),
    ),
)
