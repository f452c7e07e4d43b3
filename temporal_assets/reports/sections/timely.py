"""Report section on crawls while pages are born, from rows of `timely_simulation`.

There is one row per trial, strategy and budget, without a URL. Not here: crawls of sites as they
stand (`crawls`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from temporal_assets.reports.document import (
    Axis,
    Chart,
    Column,
    Missing,
    Section,
    Series,
    Table,
    unavailable,
)
from temporal_assets.reports.sections.crawls import MAKE
from temporal_assets.reports.sections.wording import CRAWLS, Row, counted, grouped, percent, signed

_NOTHING_BORN: Final = Missing("no page was born during a crawl that could be simulated", MAKE)


def timely_crawls(rows: Sequence[Row], missing: Missing | None = None) -> Section:
    """Return the section on the interest that is still to come when pages are fetched.

    The measure is that of Lefortier et al. (2013).

    Args:
        rows: Rows of `timely_simulation`.
        missing: Reason why there are no rows, if known.
    """
    title = "Arriving in time: crawls while pages are born"
    if not rows:
        why_missing = missing or _NOTHING_BORN
        return unavailable("timely", CRAWLS, "", title, why_missing.why, why_missing.todo)
    trials = grouped(rows, ("trial", "horizon_days"))
    return Section(
        "timely",
        CRAWLS,
        "",
        title,
        "both" if len(trials) > 1 else "out_of_time" if rows[0]["horizon_days"] else "in_sample",
        tuple(_least_budget_sentence(trial_rows) for trial_rows in trials.values()),
        tuple(
            block
            for trial_rows in trials.values()
            for block in (budgets(trial_rows), _strategies(trial_rows))
        ),
        "Pages are born over time and interest in each decays along its own curve; the crawler"
        " has a budget of fetches an hour. The score is the share of interest still to come"
        " at the first fetch; pages never fetched count as none.",
    )


STRATEGIES: Final = {
    "baseline": ("list in use", 5),
    "breadth_first": ("breadth first", 4),
    "page_rank": ("PageRank", 0),
    "nutch": ("adaptive, as Nutch", 3),
    "ours": ("ours", 1),
    "split": ("ours, one price", 6),
}
"""Title and colour of each strategy."""


def _span(trial_rows: Sequence[Row]) -> str:
    """Return the name of the rows' trial with the days of the crawl."""
    head = trial_rows[0]
    kind = "in sample" if head["trial"] == "in_sample" else "out of time"
    return f"{kind}, {head['crawled_from']} to {head['crawled_until']}"


def _least_budget_sentence(trial_rows: Sequence[Row]) -> str:
    """Return a sentence that compares ours with the best other strategy at the least budget."""
    least = min(row["fetches_per_hour"] for row in trial_rows)
    few = {row["strategy"]: row for row in trial_rows if row["fetches_per_hour"] == least}
    others = {
        name: row["temporal_remaining"]
        for name, row in few.items()
        if name not in ("ours", "split")
    }
    head = trial_rows[0]
    beginning = f"{_span(trial_rows).capitalize()}: with {least:.3g} fetches an hour"
    if "ours" not in few or not others:
        return f"{beginning}, {counted(head['born'], 'page')} are born."
    best = max(others, key=lambda name: others[name])
    return (
        f"{beginning} ours still finds {percent(few['ours']['temporal_remaining'])}"
        f" of the interest in"
        f" the {counted(head['temporal'], 'temporal page')} to come, {STRATEGIES[best][0]}"
        f" {percent(others[best])}.{_lead_sentence(few)}"
    )


def _lead_sentence(few: Mapping[str, Row]) -> str:
    """Return a sentence on the interest in all pages that ours has more than the best other."""
    others = [row for name, row in few.items() if name not in ("ours", "split")]
    best = max(others, key=lambda row: row["remaining"])
    ends = best["remaining_less_ours_low"], best["remaining_less_ours_high"]
    if None in ends:
        return ""
    low, high = -ends[1], -ends[0]
    verdict = "ahead of" if low > 0 else "it LOSES to" if high < 0 else "level with"
    lead = -100 * best["remaining_less_ours"]
    return (
        f" By all pages {verdict} {STRATEGIES[best['strategy']][0]}: {signed(lead)} points (95 %:"
        f" {signed(100 * low)} to {signed(100 * high)})."
    )


def budgets(trial_rows: Sequence[Row]) -> Chart:
    """Return a chart of the interest in temporal pages still to come at the fetch, by budget."""
    series = []
    for name, (title, colour) in STRATEGIES.items():
        points = sorted(
            (row for row in trial_rows if row["strategy"] == name),
            key=lambda row: row["fetches_per_hour"],
        )
        if points:
            series.append(
                Series(
                    title,
                    "line",
                    colour,
                    tuple(row["fetches_per_hour"] for row in points),
                    tuple(row["temporal_remaining"] for row in points),
                )
            )
    return Chart(
        f"Interest in temporal pages still to come, {_span(trial_rows)}",
        "By the budget of fetches an hour; higher is better.",
        Axis("fetches an hour", "number", is_log=False, low=0.0),
        Axis("interest to come", "share", 0.0, 1.0),
        tuple(series),
    )


def _strategies(trial_rows: Sequence[Row]) -> Table:
    """Return a table of all strategies under all budgets, one row each."""
    return Table(
        f"Strategies and budgets, {_span(trial_rows)}",
        (
            Column("strategy"),
            Column("fetches an hour", "number"),
            Column("interest to come", "share"),
            Column("less ours, points"),
            Column("of temporal pages", "share"),
            Column("temporal pages fetched", "share"),
            Column("median delay (minutes)", "number"),
            Column("95 % of it"),
            Column("90 % within (minutes)", "number"),
            Column("fetches", "count"),
            Column("wasted", "count"),
        ),
        tuple(
            (
                STRATEGIES[row["strategy"]][0],
                *(row[n] for n in ("fetches_per_hour", "remaining")),
                _less_ours(row),
                *(row[n] for n in ("temporal_remaining", "temporal_fetched")),
                _minutes(row["median_delay_hours"]),
                delay_span(row),
                _minutes(row["delay_90_hours"]),
                *(row[n] for n in ("fetches", "wasted")),
            )
            for row in trial_rows
        ),
    )


def _less_ours(row: Row) -> str | None:
    """Return the difference to ours with its interval, in points; None for ours."""
    names = ("remaining_less_ours", "remaining_less_ours_low", "remaining_less_ours_high")
    value, low, high = (row[name] for name in names)
    if row["strategy"] == "ours" or low is None or high is None:
        return None
    return f"{signed(100 * value)} ({signed(100 * low)} to {signed(100 * high)})"


def _minutes(hours: float | None) -> float | None:
    """Return hours in minutes."""
    return None if hours is None else 60.0 * hours


def delay_span(row: Row) -> str | None:
    """Return the interval of the median delay as text, in a fitting unit; None without a fetch."""
    low, high = row["median_delay_low_hours"], row["median_delay_high_hours"]
    if low is None or high is None:
        return None
    first, last = hours(low), hours(high)
    number, _, unit = first.partition(" ")
    return f"{number if last.endswith(f' {unit}') else first} to {last}"


def hours(value: float) -> str:
    """Return hours as text for people: `13 min`, `4.5 h`."""
    return f"{60 * value:.0f} min" if value < 2 else f"{value:.1f} h"
