"""What is expected of a day's numbers, and what the comparison means. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import isnan
from statistics import median
from typing import Any, Final

from temporal_assets.contracts import Drift, Rule, Severity

Measured = Mapping[str, float | None]
"""Name of a rule or drift -> its number; None where there was nothing to measure."""

MIN_HISTORY: Final = 3
"""Days before that a drift needs: the median of fewer is one of them, however odd."""


NO_REFERRERS: Final = (
    "the log formats of this day have no referrers, so where its visitors came from is unknown:"
    " its transits, and all that is made of them, say nothing about links"
)
"""Note of checks that need referrers, for days without any."""


class Status(Enum):
    """Outcome of one check of one day."""

    HELD = "held"
    BROKEN = "broken"
    NOT_JUDGED = "not judged"
    """There was nothing to compare; `note` says why."""
    FAILED = "failed"
    """The check itself could not be done: says nothing about the data."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A measured number and the range it must lie in; both ends belong to it."""

    name: str
    severity: Severity
    value: float | None
    minimum: float | None = None
    maximum: float | None = None
    note: str = ""
    """Why there is no value or no range."""

    @property
    def can_be_judged(self) -> bool:
        """Whether there are a number and a range."""
        return self.value is not None and (self.minimum, self.maximum) != (None, None)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the comparison of one number with its range gave."""

    success: bool
    error: str = ""
    """The comparison itself raised this."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The judgement of one check of one day."""

    expected: Expected
    status: Status
    note: str = ""
    samples: tuple[Mapping[str, Any], ...] = field(default=())
    """Rows that break the rule, where there are such rows."""

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the day."""
        return self.status in (Status.HELD, Status.NOT_JUDGED)


def evaluate_rules(
    rules: Sequence[Rule], measured: Measured, parameters: Mapping[str, Any]
) -> tuple[Expected, ...]:
    """The numbers of a day with the ranges that the rules state."""
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


def evaluate_drifts(
    drifts: Sequence[Drift], measured: Measured, history: Sequence[Measured]
) -> tuple[Expected, ...]:
    """The numbers of a day with ranges around the median of the days before it."""
    return tuple(
        _expected(drift, measured[drift.name], [past.get(drift.name) for past in history])
        for drift in drifts
    )


def evaluate_outcomes(
    expected: Sequence[Expected], outcomes: Mapping[str, Outcome]
) -> tuple[Finding, ...]:
    """Findings from the comparisons, of which there is one for every number that can be judged."""
    return tuple(_finding(one, outcomes.get(one.name)) for one in expected)


def not_done(check: Rule | Drift, error: Exception) -> Finding:
    """The finding where the number could not even be computed."""
    severity = check.severity if isinstance(check, Rule) else Severity.WARN
    return Finding(
        Expected(check.name, severity, None), Status.FAILED, f"{type(error).__name__}: {error}"
    )


def not_judged(expected: Expected, note: str) -> Expected:
    """The number without a range, and the reason."""
    return Expected(expected.name, expected.severity, expected.value, note=note)


def _expected(drift: Drift, value: float | None, past: Sequence[float | None]) -> Expected:
    known = [number for number in past if number is not None]
    nothing = Expected(drift.name, Severity.WARN, value)
    if value is None:
        return not_judged(nothing, "there are no rows to judge")
    if len(known) < MIN_HISTORY:
        return not_judged(nothing, f"only {len(known)} of the days before can be compared")
    middle = median(known)
    if drift.largest_difference is not None:
        low, high = middle - drift.largest_difference, middle + drift.largest_difference
    elif drift.largest_factor is not None and middle > 0:
        low, high = middle / drift.largest_factor, middle * drift.largest_factor
    else:
        return not_judged(nothing, "the days before are empty")
    return Expected(drift.name, Severity.WARN, value, low, high)


def _finding(expected: Expected, outcome: Outcome | None) -> Finding:
    if not expected.can_be_judged:
        return Finding(expected, Status.NOT_JUDGED, expected.note)
    if outcome is None or isnan(expected.value or 0):
        # Great Expectations takes a NaN for a missing value, which would pass.
        return Finding(expected, Status.FAILED, "there is no number to compare")
    if outcome.error:
        return Finding(expected, Status.FAILED, outcome.error)
    return Finding(expected, Status.HELD if outcome.success else Status.BROKEN)
