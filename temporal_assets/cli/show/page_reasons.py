"""The reasons of a page's labels, in sentences.

In: the rows of a page in `page_histories`, `interest_curves`, `page_labels` and `early_labels`.
Out: sentences for `show page`. Not here: finding these rows (`page`).
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.cli.shared import console

if TYPE_CHECKING:
    from temporal_assets.settings import Settings

Row = dict[str, Any]
"""A row of a table, by the names of its columns."""

_DECIDED: Final = {
    "curve": "the curve decides",
    "limit": "all views are on one day",
    "concentration": "concentration decides (`labels.rule`)",
}
"""Reason for a label in words, by the column `label_basis`."""

_WITHOUT_CURVE: Final = {
    "out_of_rounds": "no best curve was found",
    "one_day": "all views are on one day, which every narrow curve fits",
    "too_young": "the page was born less than five days before the window's end",
    "no_views": "the page has no views",
}
"""Why a page has no curve, by the column `reason`."""


def too_few_views(early: Row) -> str:
    """Return why a page has only an early label."""
    born = f"born {early['birth']}, {console.counted(early['total'], 'view')} so far"
    return f"{born}: too few views for a curve and labels yet"


def seldom_opened(views: int, day: dt.date, settings: Settings) -> str:
    """Return why a page that is no longer young has no label."""
    window = settings.window
    return (
        f"{console.counted(views, 'view')} in the {window.days} days up to {day}, fewer than the"
        f" {window.min_views_per_day:g} a day (`window.min_views_per_day`) that a label needs"
    )


def reasons_of_youth(early: Row) -> list[str]:
    """Return how likely a young page is to turn out temporal, and the basis of that."""
    if not early:
        return []
    seen = f"seen for {console.counted(early['age'], 'day')}"
    if early["basis"] == "nothing":
        return [f"{seen}; no page of the window was seen long enough to learn early labels from"]
    history = f"{early['prior']:.2f} by the history of its site and section"
    pages = f"learned from {console.counted(early['learned_from'], 'page')}"
    if early["basis"] == "history":
        return [f"{seen}: will be temporal with a probability of {history} alone; {pages}"]
    return [
        f"{seen}: will be temporal with a probability of {early['probability']:.2f}"
        f" ({history} alone; {pages})"
    ]


def reasons_of_labels(row: dict[str, Any]) -> list[str]:
    """Return sentences on the labels and what they follow from."""
    before = " or before" if row["is_born_before"] else ""
    return [
        f"born {row['birth']}{before}, {console.counted(row['total'], 'view')}",
        _curve_sentence(row),
        _label_sentence(row),
        f"{_is(row['is_temporal_by_curve'])} temporal by curve: {_interest_sentence(row)}",
        f"{_is(row['is_news'])} news: {_concentration_sentence(row)}",
        *_threshold_sentences(row),
    ]


def _curve_sentence(row: dict[str, Any]) -> str:
    if not row["is_converged"]:
        return f"no curve: {_WITHOUT_CURVE[row['reason']]}"
    edge = ", at the edge of what is possible" if row["reason"] == "at_bound" else ""
    return f"a curve explains {row['goodness']:.0%} of its views by day{edge}"


def _label_sentence(row: dict[str, Any]) -> str:
    if row["label_basis"] == "none":
        return "counts as not temporal for now: nothing decides yet"
    return f"{_is(row['is_temporal'])} temporal: {_basis_sentence(row)}"


def _basis_sentence(row: dict[str, Any]) -> str:
    """Return what decided over the label, with its value and threshold."""
    sure = "sure" if row["is_sure"] else "not sure"
    if row["label_basis"] == "cut_share":
        from temporal_assets.core.labels.labels import cut_of_older

        sign = ">" if row["is_temporal"] else "≤"
        return (
            f"{row['first_share']:.1%} of its views fell in the first {row['n']:g} days that are"
            f" known of it ({sign} {cut_of_older(row['q']):.0%}, because it may be older than the"
            f" window; {sure})"
        )
    if row["label_basis"] == "share":
        sign = ">" if row["is_temporal"] else "≤"
        return (
            f"{row['first_share']:.1%} of its views fell in its first {row['n']:g} days"
            f" ({sign} {row['q']:.0%}; {sure})"
        )
    return f"{_DECIDED[row['label_basis']]} ({sure})"


def _interest_sentence(row: dict[str, Any]) -> str:
    if row["phi_n"] is None:
        return "nothing is known of its interest"
    sign = ">" if row["is_temporal_by_curve"] else "≤"
    return (
        f"{row['phi_n']:.1%} of its readers come within {row['n']:g} days ({sign}"
        f" {row['q']:.0%}; 95 % interval {row['phi_n_low']:.0%} to {row['phi_n_high']:.0%})"
    )


def _concentration_sentence(row: dict[str, Any]) -> str:
    if not row["has_concentration"]:
        return f"observed for no more than {row['m']} days"
    sign = ">" if row["is_news"] else "≤"
    return f"concentration over {row['m']} days {row['concentration']:.2f} {sign} {row['p']:g}"


def _threshold_sentences(row: dict[str, Any]) -> list[str]:
    if row["thresholds"] == "settings":
        return []
    whose = {"all": "all annotated pages", "site": "its site", "section": "its section"}
    return [f"thresholds by calibration on {whose[row['thresholds']]}"]


def _is(label: bool) -> str:
    return "is" if label else "is not"
