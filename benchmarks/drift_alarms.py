"""Frequency of warnings by drifts of a healthy site, and of problems that they find.

    python benchmarks/drift_alarms.py [--data FOLDER] [--tune]

Sites are invented (sessions of one page or more, weekdays, a level that wanders) and real (daily
views of groups of Wikipedia pages, thinned to small sites, if the folder of real data is given).
With `--tune` other seeds and the first half of the real days are used: those that the constants of
`core/traffic/usual_days.py` were chosen on. The rule before (a third to three times the median of
a week) stands beside. A fault begins on a day of its own and stays.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray
from real_visits import wiki_series

from temporal_assets.contracts import REQUESTS
from temporal_assets.quality.evaluate import (
    HISTORY_WEEKS,
    MOST_WEEKS,
    QUIET_DAYS,
    Measured,
    Past,
    evaluate_drifts,
    whole_of,
)

Counts = NDArray[np.int64]

_DAYS: Final = 304
_FAULT: Final = 120
_WITHIN: Final = (1, 7, 14, 28)
_WEEK: Final = 7
_LOOKS_BACK: Final = max(QUIET_DAYS, (HISTORY_WEEKS + MOST_WEEKS) * _WEEK)
_LEVELS: Final = (3, 10, 40, 200, 2000)
_DRIFTS: Final = [drift for drift in REQUESTS.drifts if drift.name not in {"clients_are_usual"}]


@dataclass(frozen=True, slots=True)
class Site:
    """Daily requests, and how many of them have a referrer."""

    requests: Counts
    referred: Counts


def invented(level: float, random: np.random.Generator) -> Site:
    """Sessions by day around a level that wanders, with quieter weekends; a page or more each."""
    wander, step = np.zeros(_DAYS), random.normal(0, 0.1, _DAYS)
    for day in range(1, _DAYS):
        wander[day] = 0.8 * wander[day - 1] + step[day]
    weekend = random.choice([0.4, 0.7, 1.0, 1.2])
    weekday = np.where(np.arange(_DAYS) % _WEEK >= 5, weekend, 1.0)
    growth = np.exp(random.normal(0, 0.4) * np.arange(_DAYS) / 365)
    pages = 2.5
    sessions = random.poisson(level / pages * weekday * growth * np.exp(wander))
    requests = sessions + random.negative_binomial(np.maximum(sessions, 1e-9), 1 / pages)
    sessions[0], requests[0] = max(sessions[0], 1), max(requests[0], 1)  # its logs begin there
    entered = random.binomial(sessions, 0.5)
    return Site(requests, requests - entered)


def real(data: Path, level: float, days: slice, random: np.random.Generator) -> Iterator[Site]:
    """Groups of 30 pages of one trial, thinned to a level."""
    for trial in range(7):
        _, _, series = wiki_series(data / "wiki_pageviews_links" / f"trial_{trial}")
        groups = min(5, len(series) // 30)
        for group in random.permutation(len(series))[: 30 * groups].reshape(groups, 30):
            total = series[group].sum(axis=0)[days]
            if (total > 0).all():
                requests = random.poisson(total * level / total.mean())
                yield Site(requests, random.binomial(requests, 0.6))


def halved(site: Site, random: np.random.Generator) -> Site:
    """Half of the requests are gone."""
    return _from(site, lambda some: random.binomial(some, 0.5))


def with_bot(site: Site, random: np.random.Generator) -> Site:
    """A bot asks for four times as much as everybody else, and has no referrers."""
    more = random.poisson(4 * site.requests.mean(), len(site.requests))
    more[:_FAULT] = 0
    return Site(site.requests + more, site.referred)


def stripped(site: Site, random: np.random.Generator) -> Site:
    """A proxy takes nine of ten referrers away."""
    referred = np.where(
        np.arange(_DAYS) < _FAULT, site.referred, random.binomial(site.referred, 0.1)
    )
    return Site(site.requests, referred)


def _from(site: Site, change: Callable[[Counts], Counts]) -> Site:
    is_later = np.arange(len(site.requests)) >= _FAULT
    referred = np.where(is_later, change(site.referred), site.referred)
    direct = site.requests - site.referred
    return Site(referred + np.where(is_later, change(direct), direct), referred)


FAULTS: Final = {"half gone": halved, "new bot": with_bot, "no referrers": stripped}


def warnings(site: Site) -> list[tuple[int, str]]:
    """Days and names of warnings as the product gives them."""
    measured = [_measured(site, day) for day in range(len(site.requests))]
    warned: dict[int, dict[str, float]] = {}
    alarms = []
    for day, numbers in enumerate(measured):
        ages = range(1, min(day, _LOOKS_BACK) + 1)
        past = Past(
            {age: measured[day - age] for age in ages},
            {age: warned[day - age] for age in ages if day - age in warned},
        )
        for judgement in evaluate_drifts(_DRIFTS, numbers, past):
            if judgement.is_outside and judgement.value is not None:
                warned.setdefault(day, {})[judgement.name] = judgement.value
                alarms.append((day, judgement.name))
    return alarms


def _measured(site: Site, day: int) -> Measured:
    requests, referred = int(site.requests[day]), int(site.referred[day])
    return {
        "rows_are_usual": requests,
        "week_is_usual": requests,
        "four_weeks_are_usual": requests,
        "has_rows": requests,
        "referrers_are_usual": referred / requests if requests else None,
        whole_of("referrers_are_usual"): requests,
    }


def warnings_before(site: Site) -> list[tuple[int, str]]:
    """The same by the rule before."""
    alarms = []
    shares = site.referred / np.maximum(site.requests, 1)
    for day in range(3, len(site.requests)):
        past = slice(max(0, day - _WEEK), day)
        middle, share = median(site.requests[past]), median(shares[past])
        if middle and not middle / 3 <= site.requests[day] <= middle * 3:
            alarms.append((day, "rows_are_usual"))
        if site.requests[day] and abs(shares[day] - share) > 0.2:
            alarms.append((day, "referrers_are_usual"))
        if not site.requests[day]:
            alarms.append((day, "has_rows"))
    return alarms


def row(name: str, sites: Sequence[Site], random: np.random.Generator) -> str:
    """A line of the table, for both rules."""
    cells = [name, str(len(sites))]
    for rule in (warnings_before, warnings):
        alarms = [rule(site) for site in sites]
        per_year = 365 * sum(map(len, alarms)) / sum(len(site.requests) for site in sites)
        calm = sum(not alarm for alarm in alarms) / len(sites)
        cells += [f"{per_year:.2f}", f"{calm:.0%}"]
    for fault in FAULTS.values():
        broken = [fault(site, random) for site in sites]
        for rule in (warnings_before, warnings):
            days = [[day - _FAULT for day, _ in rule(site) if day >= _FAULT] for site in broken]
            within = [
                sum(bool(day) and min(day) < limit for day in days) / len(sites)
                for limit in _WITHIN
            ]
            cells.append("/".join(f"{share:.0%}" for share in within))
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sites", type=int, default=30)
    parser.add_argument("--levels", type=int, nargs="+", default=_LEVELS)
    parser.add_argument("--tune", action="store_true")
    given = parser.parse_args()
    random = np.random.default_rng(1 if given.tune else 2)
    for level in given.levels:
        sites = [invented(level, random) for _ in range(given.sites)]
        print(row(f"invented, {level:,} a day", sites, random), flush=True)
    days = slice(0, _DAYS) if given.tune else slice(-_DAYS, None)
    for level in given.levels if given.data else ():
        sites = [*real(given.data, level, days, random)]
        print(row(f"Wikipedia, {level:,} a day", sites, random), flush=True)


if __name__ == "__main__":
    main()
