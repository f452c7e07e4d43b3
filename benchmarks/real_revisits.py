"""Half-lives and revisit intervals against true arrivals and departures of links on a hub.

The BBC's front page is known by the hour: when a story was put on it, when it was taken away, and
(from the most read stories) when people wanted it. What `hub_seeds` says of it on a day is compared
with the stories of the days after: the age at which half of their clicks were over, the stories
that arrived a day, and the share of the interest that a crawler catches that visits the page every
so many hours, against what its half-life promises.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.real_judged import Int64s, Judged
from benchmarks.real_judging import Draws, Table, Value
from benchmarks.real_lives import MANY
from benchmarks.real_visits import FRONT_PAGE

Floats = NDArray[np.float64]

INTERVALS: Final = (1.0, 3.0, 6.0, 12.0, 24.0)
"""Hours between two visits."""

_PHASES: Final = 12
_HOUR: Final = np.timedelta64(3_600_000_000, "us")
_DAY_HOURS: Final = 24.0
_RECENT: Final = 7
_FAR: Final = 1 << 40


@dataclass(frozen=True, slots=True)
class _Story:
    """Story that was on the front page."""

    page: int
    born: float
    """Hours since the first day of the set at which it was first seen, there or in the ten."""
    shown: Floats
    """Hours in which it was on the page."""
    clicks: Floats
    """Times at which it was clicked, ascending."""

    @property
    def half_age(self) -> float:
        """Hours after which half of the clicks were over."""
        return float(np.median(self.clicks)) - self.born


def revisits(judged: Judged) -> list[Table]:
    """Judge the front page's half-life, rate and promises; sets without promos say nothing."""
    stories = _stories(judged)
    if not stories:
        return []
    rows = [row for day in judged.decisions() if (row := _of_day(judged, day, stories))]
    return [_half_lives(judged, rows), _rates(judged, rows), _promises(judged, rows)]


@dataclass(frozen=True, slots=True)
class _Day:
    """Headlines of a day, and the stories before and after it."""

    day: int
    half_life: float
    missed: float
    """Share of the interest that comes after the link has left."""
    rate: float
    past: Sequence[_Story]
    new: Sequence[_Story]


def _of_day(judged: Judged, day: dt.date, stories: Sequence[_Story]) -> _Day | None:
    rows = judged.table("hub_seeds", day).to_pylist()
    front = next((row for row in rows if row["url"] == FRONT_PAGE), None)
    if front is None:
        return None
    end = (judged.day(day) + 1) * _DAY_HOURS
    first, ahead = judged.first(day) * _DAY_HOURS, judged.real.horizon * _DAY_HOURS
    past = [story for story in stories if first < story.born and story.clicks[-1] < end]
    new = [story for story in stories if end <= story.born < end + ahead]
    half_life, missed = front["half_life_hours"], front["interest_missed"]
    return _Day(judged.day(day), half_life, missed, front["new_per_day"], past, new)


def _stories(judged: Judged) -> list[_Story]:
    """Stories with many clicks that were on the front page."""
    if judged.real.promos is None:
        return []
    rows, start = judged.real.promos(judged.data), np.datetime64(judged.lives.first_day, "us")
    shown: dict[str, list[float]] = {}
    for url, time in zip(rows["url"].to_pylist(), _hours(rows["seen"], start), strict=True):
        shown.setdefault(url, []).append(time)
    clicked: dict[str, list[float]] = {}
    hours_of = _hours(judged.visits["time"], start)
    for url, hour in zip(judged.visits["url"].to_pylist(), hours_of, strict=True):
        if url in shown:
            clicked.setdefault(url, []).append(hour)
    stories = []
    for url, hours in clicked.items():
        if url != FRONT_PAGE and len(hours) >= MANY:
            page = int(judged.lives.find([url])[0])
            born = min(shown[url][0], hours[0])
            times = np.array(shown[url]), np.sort(hours)
            stories.append(_Story(page, born, *times))
    return [story for story in stories if story.born > 0]


def _hours(column: Any, start: np.datetime64) -> list[float]:
    passed = (column.to_numpy().astype("datetime64[us]") - start) / _HOUR
    return [float(hours) for hours in passed]


def _units(rows: Sequence[_Day]) -> Int64s:
    return np.array([story.page for row in rows for story in row.new], np.int64)


def _each(rows: Sequence[_Day], predictions: Sequence[float]) -> Floats:
    return np.repeat(np.array(predictions, np.float64), [len(row.new) for row in rows])


def _half_lives(judged: Judged, rows: Sequence[_Day]) -> Table:
    """Distance of a half-life from the median half age, over all days."""
    table = Table("half-lives: error of what is said, in hours", _HEAD, higher_is_better=False)
    draws = Draws(_units(rows))
    truth = draws.median([story.half_age for row in rows for story in row.new])

    def error(predictions: Sequence[float]) -> Value:
        mean = draws.share(_each(rows, predictions))
        return Value(abs(mean.value - truth.value), np.abs(mean.draws - truth.draws))

    past = [float(np.median([hub.half_age for hub in row.past])) for row in rows]
    half_lives = [row.half_life for row in rows]
    errors = {"median of the past, by hours": error(past), "one day": error([24.0] * len(rows))}
    cells = [judged.real.name, "half-life", f"{np.mean(half_lives):.1f}", f"{truth.value:.1f}"]
    table.add(cells, error(half_lives), errors)
    return table


_HEAD: Final = ("set", "what", "said", "true")


def _rates(judged: Judged, rows: Sequence[_Day]) -> Table:
    """Mean distance of the rate from the new linked pages a day, over days of decision.

    Pages count on the day on which somebody first came to them from the page, however few did.
    """
    table = Table("rates: error of new pages a day", _HEAD, higher_is_better=False)
    linked, ahead = _first_linked(judged), judged.real.horizon
    truth = np.array([_a_day(linked, row.day, ahead) for row in rows])
    draws = Draws(np.arange(len(rows)))

    def error(predictions: Sequence[float]) -> Value:
        return draws.share(np.abs(np.array(predictions) - truth))

    past = min(judged.window_days, rows[0].day)
    errors = {
        "mean of the window": error([_a_day(linked, row.day - past, past) for row in rows]),
        "last week": error([_a_day(linked, row.day - _RECENT, _RECENT) for row in rows]),
        "last day": error([_a_day(linked, row.day - 1, 1) for row in rows]),
    }
    rates = [row.rate for row in rows]
    cells = [judged.real.name, "new pages a day", f"{np.mean(rates):.1f}", f"{truth.mean():.1f}"]
    table.add(cells, error(rates), errors)
    return table


def _first_linked(judged: Judged) -> Int64s:
    """Day on which the front page first led to each of its pages."""
    links, front = judged.links, judged.lives.find([FRONT_PAGE])[0]
    own = links.referrer == front
    first = np.full(len(judged.lives.urls), _FAR)
    np.minimum.at(first, links.target[own], links.day[own])
    return first[first < _FAR]


def _a_day(linked: Int64s, day: int, days: int) -> float:
    """Pages first linked in so many days after a day, by their number."""
    return float(((linked > day) & (linked <= day + days)).sum()) / days


def _promises(judged: Judged, rows: Sequence[_Day]) -> Table:
    """Distance of the promised share of the interest from what visits really caught."""
    title = "revisit intervals: error of the share of interest caught"
    table = Table(title, _HEAD, higher_is_better=False)
    draws = Draws(_units(rows))
    # Interest that fades and links that leave are one decay (`core.hubs.revisits`).
    halves = [row.half_life * (1 - row.missed) for row in rows]
    past = [float(np.median([hub.half_age for hub in row.past])) for row in rows]
    for every in INTERVALS:
        caught = [_caught(story, every) for row in rows for story in row.new]
        truth = draws.share(caught)

        def error(half_lives: Sequence[float], truth: Value = truth, every: float = every) -> Value:
            said = draws.share(
                _each(rows, [promised(half_life, every) for half_life in half_lives])
            )
            return Value(abs(said.value - truth.value), np.abs(said.draws - truth.draws))

        errors = {
            "median of the past, by hours": error(past),
            "one day": error([24.0] * len(rows)),
        }
        said = float(np.mean([promised(half, every) for half in halves]))
        cells = [
            judged.real.name,
            f"a visit every {every:g} h",
            f"{said:.3f}",
            f"{truth.value:.3f}",
        ]
        table.add(cells, error(halves), errors)
    return table


def promised(half_life: float, every: float) -> float:
    """Return the share that `core.hubs.revisits` expects of a visit every so many hours."""
    x = np.log(2) * every / half_life
    return float((1 - np.exp(-x)) / x)


def _caught(story: _Story, every: float) -> float:
    """Share of the clicks after the first visit that found the story, over all phases."""
    shares = []
    for phase in (np.arange(_PHASES) + 0.5) * every / _PHASES:
        visit = phase + np.ceil((story.shown - phase) / every) * every
        # A promo that was seen in an hour is there until the next look at the page.
        met = visit[visit < story.shown + 1.1]
        left = np.mean(story.clicks > met[0]) if len(met) else 0.0
        shares.append(float(left))
    return float(np.mean(shares))
