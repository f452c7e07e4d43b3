"""Comparison of a day's measured numbers with their ranges; pure functions.

In: the rules and drifts of a contract, the numbers of the day and those of earlier days. Out: what
is expected of each number, and findings. A rule has a fixed range (a contract's invariant); a drift
has the range that is usual after the days before. Not here: measuring (`measure`), what is usual
(`core.traffic.usual_days`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from math import inf, isnan
from statistics import median
from typing import Any, Final

from temporal_assets.contracts import Drift, Rule, Severity
from temporal_assets.core.traffic.usual_days import (
    LEAST_DAYS,
    Usual,
    count_noise,
    is_empty_usual,
    share_noise,
    usual_count,
    usual_share,
    usual_weeks,
)

Measured = Mapping[str, float | None]
"""Number by name of a rule or drift; None if there was nothing to measure."""

HISTORY_DAYS: Final = 28
"""Number of earlier days that a drift compares with: four of each weekday."""

HISTORY_WEEKS: Final = 8
"""Number of earlier weeks that a weekly drift compares with."""

LEAST_WEEKS: Final = 3
"""Least number of earlier weeks for that, and at least twice the number of weeks it sums."""

MOST_WEEKS: Final = 4
"""Largest number of weeks that a drift sums."""

QUIET_DAYS: Final = 60
"""Number of days for which a reported drift is not reported again: as long as it is in windows."""

_WEEK: Final = 7

_TOLD: Final = f"there was a warning of it in the last {QUIET_DAYS} days"


NO_REFERRERS: Final = (
    "the log formats of this day have no referrers, so where its visitors came from is unknown:"
    " its transits, and all that is made of them, say nothing about links"
)
"""Note on checks that need referrers, for days without any."""

NO_CLIENTS: Final = (
    "the sources of this day count views and name no client, so there are no requests to judge:"
    " `page_views` has the views"
)
"""Note on checks of requests, for days that only have counts."""


class Status(Enum):
    """Outcome of one check on one day."""

    HELD = "held"
    BROKEN = "broken"
    NOT_JUDGED = "not judged"
    """There was nothing to compare; `note` has the reason."""
    FAILED = "failed"
    """The check itself could not run, which says nothing about the data."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A measured number and its range, with inclusive limits."""

    name: str
    severity: Severity
    value: float | None
    minimum: float | None = None
    maximum: float | None = None
    note: str = ""
    """Why there is no value or no range."""
    measured: tuple[tuple[str, float | None], ...] = ()
    """Numbers of a drift, by name, for comparison on later days."""

    @property
    def is_outside(self) -> bool:
        """True if the number is outside of its range."""
        if self.value is None:
            return False
        low = -inf if self.minimum is None else self.minimum
        return not low <= self.value <= (inf if self.maximum is None else self.maximum)

    @property
    def can_be_judged(self) -> bool:
        """True if there are a number and a range."""
        return self.value is not None and (self.minimum, self.maximum) != (None, None)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of comparing one number with its range."""

    success: bool
    error: str = ""
    """Message if the comparison itself failed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check on one day."""

    expected: Expected
    status: Status
    note: str = ""
    samples: tuple[Mapping[str, Any], ...] = field(default=())
    """Rows that break the rule, if it is about rows."""

    @property
    def passed(self) -> bool:
        """True if the check held, or there was nothing to compare."""
        return self.status in (Status.HELD, Status.NOT_JUDGED)


def evaluate_rules(
    rules: Sequence[Rule], measured: Measured, parameters: Mapping[str, Any]
) -> tuple[Expected, ...]:
    """Return the numbers of a day with the ranges that rules state."""
    return tuple(
        Expected(
            rule.name,
            rule.severity,
            measured[rule.name],
            rule.minimum,
            float(parameters[rule.maximum_parameter]) if rule.maximum_parameter else rule.maximum,
            "" if measured[rule.name] is not None else "there are no rows to judge",
        )
        for rule in rules
    )


@dataclass(frozen=True, slots=True)
class Past:
    """Numbers of earlier days, by their age in days."""

    measured: Mapping[int, Measured]
    warned_of: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    """Numbers that drifts warned of."""

    def usual_numbers(self, name: str) -> dict[int, float]:
        """Return earlier numbers by age in days, without those that drifts warned of."""
        numbers = {age: self.measured.get(age, {}).get(name) for age in range(1, HISTORY_DAYS + 1)}
        return {
            age: number
            for age, number in numbers.items()
            if number is not None and name not in self.warned_of.get(age, ())
        }

    def warned_numbers(self, name: str) -> list[float]:
        """Return numbers that a drift warned of within `QUIET_DAYS`."""
        earlier = (self.warned_of.get(age, {}).get(name) for age in range(1, QUIET_DAYS))
        return [number for number in earlier if number is not None]


def whole_of(name: str) -> str:
    """Return the name of the total that a drift's measure is a share of."""
    return f"{name}_whole"


def evaluate_drifts(
    drifts: Sequence[Drift], measured: Measured, past: Past
) -> tuple[Expected, ...]:
    """Return the numbers of a day with the ranges that are usual after the days before it."""
    return tuple(
        replace(_expected(drift, measured, past), measured=_numbers(drift, measured))
        for drift in drifts
    )


def _numbers(drift: Drift, measured: Measured) -> tuple[tuple[str, float | None], ...]:
    names = (drift.name,) if drift.whole is None else (drift.name, whole_of(drift.name))
    return tuple((name, measured[name]) for name in names)


def evaluate_outcomes(
    expected: Sequence[Expected], outcomes: Mapping[str, Outcome]
) -> tuple[Finding, ...]:
    """Return findings from the comparisons, one outcome for every number that can be judged."""
    return tuple(_finding(check, outcomes.get(check.name)) for check in expected)


def not_done(check: Rule | Drift, error: Exception) -> Finding:
    """Return the finding for a number that could not be computed."""
    severity = check.severity if isinstance(check, Rule) else Severity.WARN
    return Finding(
        Expected(check.name, severity, None), Status.FAILED, f"{type(error).__name__}: {error}"
    )


def not_judged(expected: Expected, note: str) -> Expected:
    """Return a number without a range, with the reason."""
    return replace(expected, minimum=None, maximum=None, note=note)


def _expected(drift: Drift, measured: Measured, past: Past) -> Expected:
    """Return the range that a drift expects on this day."""
    value = _weeks(drift, measured, past) if drift.weeks else measured[drift.name]
    nothing = Expected(drift.name, Severity.WARN, value)
    if value is None:
        return not_judged(nothing, "there are no rows to judge")
    usual = _usual(drift, measured, past)
    if isinstance(usual, str):
        return not_judged(nothing, usual)
    for reported in past.warned_numbers(drift.name):
        usual = usual.around(_noise(drift, reported, measured))
    # Dagster stores no number of numpy's.
    low = float(usual.low) if usual.low > 0 else None
    high = float(usual.high) if usual.high < inf else None
    note = _TOLD if low is None and high is None else ""
    return replace(nothing, minimum=low, maximum=high, note=note)


def _usual(drift: Drift, measured: Measured, past: Past) -> Usual | str:
    """Return the usual range of a drift's number, or the reason why there is none."""
    if drift.weeks:
        before = range(drift.weeks, drift.weeks + HISTORY_WEEKS)
        sums = (_week(drift, measured, past, number) for number in before)
        weeks = [total for total in sums if total is not None]
        if len(weeks) < max(LEAST_WEEKS, 2 * drift.weeks):
            return f"only {len(weeks)} of the weeks before can be compared"
        return usual_weeks(weeks, drift.weeks, _factor_of(drift.largest_factor))
    earlier = past.usual_numbers(drift.name)
    numbers = [*earlier.values()]
    if drift.needs_past and not numbers:
        return "there is no day before it"
    if drift.least is not None:
        is_usual = bool(numbers) and is_empty_usual(numbers)
        return "a day with nothing is not unusual here" if is_usual else Usual(drift.least, inf)
    if len(earlier) < LEAST_DAYS:
        return f"only {len(earlier)} of the days before can be compared"
    if drift.whole is not None:
        return _usual_share(drift, earlier, measured, past)
    if not any(numbers):
        return "the days before are empty"
    return usual_count(numbers, [*earlier], _factor_of(drift.largest_factor))


def _usual_share(
    drift: Drift, earlier: Mapping[int, float], measured: Measured, past: Past
) -> Usual:
    """Return the usual range of a share, given earlier ones and the sizes of their wholes."""
    whole = whole_of(drift.name)
    wholes = [past.measured[age].get(whole) or 1.0 for age in earlier]
    middle = median(earlier.values())
    if drift.largest_difference is not None:
        band = Usual(middle - drift.largest_difference, middle + drift.largest_difference)
    else:
        factor = _factor_of(drift.largest_factor)
        band = Usual(middle / factor, middle * factor)
    return usual_share([*earlier.values()], wholes, measured[whole] or 1.0, band)


def _noise(drift: Drift, reported: float, measured: Measured) -> Usual:
    """Return the range in which a number already reported varies by chance: it is no news."""
    if drift.whole is not None:
        return share_noise(reported, measured[whole_of(drift.name)] or 1.0)
    return count_noise(reported)


def _weeks(drift: Drift, measured: Measured, past: Past) -> float | None:
    """Return a number summed over the weeks that end with this day; None if a day is unknown."""
    sums = [_week(drift, measured, past, number) for number in range(drift.weeks)]
    return None if None in sums else sum(week for week in sums if week is not None)


def _week(drift: Drift, measured: Measured, past: Past, number: int) -> float | None:
    """Return a number summed over one week, counted back; None if a day is unknown."""
    days = [
        (past.measured.get(age, {}) if age else measured).get(drift.name)
        for age in range(number * _WEEK, (number + 1) * _WEEK)
    ]
    return None if None in days else sum(day for day in days if day is not None)


def _factor_of(limit: float | None) -> float:
    """Return the factor of a drift, 1 for drifts that state none."""
    return 1.0 if limit is None else limit


def _finding(expected: Expected, outcome: Outcome | None) -> Finding:
    """Return the finding of one number from the comparison of Great Expectations."""
    if not expected.can_be_judged:
        return Finding(expected, Status.NOT_JUDGED, expected.note)
    if outcome is None or isnan(expected.value or 0):
        # Great Expectations takes a NaN for a missing value, which would pass.
        return Finding(expected, Status.FAILED, "there is no number to compare")
    if outcome.error:
        return Finding(expected, Status.FAILED, outcome.error)
    return Finding(expected, Status.HELD if outcome.success else Status.BROKEN)
