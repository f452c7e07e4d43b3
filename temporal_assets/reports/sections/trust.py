"""Report sections about reliability: calibration on annotated pages, early labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from temporal_assets.core.labels.early import Score
from temporal_assets.core.labels.early_comparison import EARLY
from temporal_assets.core.numerics.metrics import Difference, Outcome, beside_constant
from temporal_assets.reports.document import (
    Axis,
    Chart,
    Column,
    Section,
    Series,
    Table,
    unavailable,
)
from temporal_assets.reports.heat_map import HeatMap as Grid
from temporal_assets.reports.heat_map import as_block
from temporal_assets.reports.sections.wording import PAGES, Row, counted, percent

_PLOTTED_AGES: Final = (1, 3, 7)
_CHOSEN: Final = {
    "interest": "temporal by curve (n, q)",
    "concentration": "news by concentration (m, p)",
}


def calibration(
    choices: Sequence[Row], grids: Mapping[str, Grid], *, is_configured: bool
) -> Section:
    """Return the section on thresholds from annotated pages, in sample and cross-validated.

    The thresholds are those of TW 4.2 and 5.2 and NP 6.1.
    """
    title = "Thresholds from annotated pages"
    if not choices:
        why = (
            "no annotated page has a history in the window"
            if is_configured
            else "no annotated pages are configured"
        )
        todo = (
            "name a CSV of URL and label in `calibration.annotated`, or try one with"
            " `temporal-assets try thresholds FILE`"
        )
        return unavailable("calibration", PAGES, "TW 4.2, NP 6.1", title, why, todo)
    return Section(
        "calibration",
        PAGES,
        "TW 4.2, NP 6.1",
        title,
        "both",
        tuple(_choice_sentence(row) for row in choices if row["scope"] == "all" and row["is_best"]),
        (
            _choices(choices),
            *(
                as_block(grid, f"Performance by thresholds: {_CHOSEN[name]}")
                for name, grid in grids.items()
            ),
        ),
        "Hit: pages labelled right. Miss: temporal pages labelled untemporal. False alarm: the"
        " reverse. Cross-validated: every page is labelled by thresholds chosen without it.",
    )


def _choice_sentence(row: Row) -> str:
    """Say which thresholds are best for a score, and how many pages they get right."""
    pages = max(row["pages"], 1)
    crossed = percent(row["cross_validated_hit"] / pages)
    paper = "93.1% with n = 3, q = 0.7" if row["score"] == "interest" else "88.2% with p = 1.91"
    return (
        f"For {_CHOSEN[row['score']]} the best thresholds are {row['days']:g} and"
        f" {row['threshold']:g}: {percent(row['hit'] / pages)} of"
        f" {counted(row['pages'], 'annotated page')} right in sample, {crossed} cross-validated,"
        f" {_beside_constant(row)} (the paper: {paper}, in sample)."
    )


def _beside_constant(row: Row) -> str:
    """Return in words how far thresholds chosen without a page are from one label for all."""
    temporal, pages = row["temporal"], row["pages"]
    miss, false_alarm = row["cross_validated_miss"], row["cross_validated_false_alarm"]
    lead = beside_constant(
        Outcome(temporal - miss, miss, false_alarm, pages - temporal - false_alarm)
    )
    right = percent(max(temporal, pages - temporal) / max(pages, 1))
    return f"{_verdict(lead)} {_constant(row)} ({right}): {_in_points(lead)}"


def _constant(row: Row) -> str:
    """Return the name of one label for all annotated pages, the commoner one."""
    kind = "temporal" if 2 * row["temporal"] > row["pages"] else "untemporal"
    return f"always {kind}"


def _choices(rows: Sequence[Row]) -> Table:
    """Return the table of chosen thresholds, the paper's first."""
    columns = (
        Column("thresholds"),
        Column("days", "number"),
        Column("above", "number"),
        *(Column(name, "count") for name in ("pages", "hit", "miss", "false alarm")),
        Column("hit, cross-validated", "count"),
    )
    papers: tuple[tuple[Any, ...], ...] = (
        ("paper: temporal by curve", 3, 0.7, 3_040, 2_829, 141, 70, None),
        ("paper: news by concentration", None, 1.91, 3_040, 2_682, 188, 177, None),
    )
    names = ("days", "threshold", "pages", "hit", "miss", "false_alarm", "cross_validated_hit")
    own = tuple(
        (
            f"{_CHOSEN[row['score']]}"
            + (f" of {row['name']}" if row["name"] else "")
            + (", used" if row["is_used"] else ""),
            *(row[name] for name in names),
        )
        for row in rows
    )
    simple = tuple(_constant_row(row) for row in rows[:1])
    return Table("Chosen thresholds", columns, (*papers, *simple, *own), len(papers))


def _constant_row(row: Row) -> tuple[Any, ...]:
    """Return the row of a table for one label for all annotated pages."""
    temporal, rest = row["temporal"], row["pages"] - row["temporal"]
    outcome = (temporal, 0, rest) if temporal > rest else (rest, temporal, 0)
    return (_constant(row), None, None, row["pages"], *outcome, None)


def early(scores: Sequence[Score], young: int) -> Section:
    """Return the section on early labels, learned on earlier pages and tested on later ones."""
    title = "Labels of pages in their first days"
    if not scores:
        return unavailable(
            "early-labels",
            PAGES,
            "",
            title,
            "the pages born in the window and seen since are too few, or all of one kind",
            "read more days (pages count that were seen for a week)",
        )
    pages = scores[0].pages
    by_age: dict[int, dict[str, Score]] = {}
    for age_score in scores:
        by_age.setdefault(age_score.age, {})[age_score.answer] = age_score
    own = [of_age[EARLY] for of_age in by_age.values()]
    errors = [s.reliability.error for s in own if s.reliability]
    return Section(
        "early-labels",
        PAGES,
        "",
        title,
        "out_of_time",
        (
            f"After {counted(own[0].age, 'day')} early labels are right on"
            f" {percent(own[0].accuracy)} of {counted(pages, 'later page')},"
            f" {_lead(own[0], by_age[own[0].age])}. {_leads(own)}",
            "Promised probabilities are off by"
            f" {percent(sum(errors) / max(len(errors), 1))} on average."
            f" {counted(young, 'page')} of this window are young.",
        ),
        (_accuracy(by_age), _scores(scores), reliability(scores, pages)),
        "Complete pages of the window, the later born judged by what the earlier born taught, as if"
        " they had been seen for so many days only. On the diagonal, probabilities are honest; dots"
        " grow with the pages behind them.",
    )


def _lead(own: Score, of_age: Mapping[str, Score]) -> str:
    """Return in words how far a score is from the best simpler answer of its age."""
    rival = f"the best simpler answer ({own.rival}, {percent(of_age[own.rival].accuracy)})"
    if own.lead is None:
        return f"beside {rival}"
    return f"{_verdict(own.lead)} {rival}: {_in_points(own.lead)}"


def _verdict(lead: Difference) -> str:
    """Say whether a difference is surely above 0, surely below, or neither."""
    return "ahead of" if lead.low > 0 else "BEATEN BY" if lead.high < 0 else "level with"


def _in_points(lead: Difference) -> str:
    """Return a difference and its interval in percentage points."""
    value, low, high = (f"{100 * share:+.1f}" for share in (lead.value, lead.low, lead.high))
    return f"{value} points (95 %: {low} to {high})"


def _leads(own: Sequence[Score]) -> str:
    """Return a sentence on the number of ages at which early labels are ahead, level and behind."""
    leads = [score.lead for score in own if score.lead is not None]
    ahead = sum(lead.low > 0 for lead in leads)
    behind = sum(lead.high < 0 for lead in leads)
    return (
        f"At {counted(len(leads), 'age')} they are ahead of it at {ahead}, level at"
        f" {len(leads) - ahead - behind} (the 95 % interval holds 0), and BEHIND at {behind}."
    )


def _accuracy(by_age: Mapping[int, Mapping[str, Score]]) -> Chart:
    """Return the chart of pages labelled right at each age, by each answer."""
    answers = list(next(iter(by_age.values())))
    colours = (2, 5, 1, 3, 4, 7)
    ages = sorted(by_age)
    return Chart(
        "Pages labelled right, by days seen",
        "One line for early labels and one for each simpler answer.",
        Axis("days seen", "count", float(ages[0]), float(ages[-1])),
        Axis("labelled right", "share", high=1.0),
        tuple(
            Series(
                answer,
                "line" if answer == EARLY else "dashes",
                colours[k % len(colours)],
                tuple(map(float, ages)),
                tuple(by_age[age][answer].accuracy for age in ages),
            )
            for k, answer in enumerate(answers)
        ),
    )


def _scores(scores: Sequence[Score]) -> Table:
    """Return the table of every answer's scores at every age."""
    return Table(
        "Every answer at every age",
        (
            Column("answer"),
            Column("days seen", "count"),
            Column("right", "share"),
            Column("F", "score"),
            Column("Brier score", "score"),
            Column("log loss", "score"),
            Column("right, less the best simpler answer"),
        ),
        tuple(
            (
                age_score.answer,
                age_score.age,
                age_score.accuracy,
                age_score.f_measure,
                age_score.brier,
                age_score.log_loss,
                _in_points(age_score.lead) if age_score.lead else None,
            )
            for age_score in scores
        ),
    )


def reliability(scores: Sequence[Score], pages: int) -> Chart:
    """Return a chart of predicted and observed probabilities; dots grow with numbers of pages."""
    lines = [
        (age_score.age, age_score.reliability)
        for age_score in scores
        if age_score.answer == EARLY
        and age_score.age in _PLOTTED_AGES
        and age_score.reliability is not None
    ]
    return Chart(
        f"Promised probability against what happened, {counted(pages, 'later page')}",
        "On the diagonal, probabilities are honest; the larger a dot, the more pages it is of.",
        Axis("promised probability", "share", 0.0, 1.0),
        Axis("were temporal", "share", 0.0, 1.0),
        tuple(
            Series(
                f"{counted(age, 'day')} seen",
                "line",
                k,
                tuple(map(float, age_score.promised)),
                tuple(map(float, age_score.observed)),
                tuple(map(float, age_score.pages)),
            )
            for k, (age, age_score) in enumerate(lines)
        ),
        has_diagonal=True,
    )
