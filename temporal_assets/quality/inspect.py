"""The checks of a table for some days: measure, compare, and fetch rows that break a rule.

In: a contract, and manifests of published days. Out: a `Finding` per check and day. Not here: the
statements that measure (`measure`), the comparison (`evaluate`), keeping results (`verdicts`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from temporal_assets.contracts import Drift, Rule, Table
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.engines.batches import small_batches
from temporal_assets.quality import verdicts
from temporal_assets.quality.evaluate import (
    HISTORY_WEEKS,
    MOST_WEEKS,
    NO_CLIENTS,
    NO_REFERRERS,
    QUIET_DAYS,
    Expected,
    Finding,
    Measured,
    Past,
    Status,
    evaluate_drifts,
    evaluate_outcomes,
    evaluate_rules,
    not_done,
    not_judged,
)
from temporal_assets.quality.expectations import judge
from temporal_assets.quality.measure import measure, measure_days, offenders, parameters
from temporal_assets.settings import Settings
from temporal_assets.storage.manifest import Manifest
from temporal_assets.storage.store import Store

_LOOKS_BACK: Final = max(QUIET_DAYS, (HISTORY_WEEKS + MOST_WEEKS) * 7)
"""Number of earlier days whose numbers drifts may need."""

MAX_SAMPLES: Final = 20
"""Number of rows shown per broken rule: enough to see what they share, small enough for an event
log."""

_MOST_COMPARED: Final = 10_000_000
"""Approximate number of a window's rows that a rule reads. Reading all of the papers' size would
take as long as making the table (docs/performance.md)."""

_OF_CLIENTS: Final = ("requests", "rejects", "transits")
"""Tables to which sources without clients add nothing, or whose shares are of requests."""


@dataclass(frozen=True, slots=True)
class _Day:
    """Numbers of a day, for comparison on later days."""

    measured: Measured
    warned_of: Mapping[str, float]
    """Numbers that drifts warned of."""


class Inspector:
    """Runs the checks of published partitions, keeping numbers of a day for the days after it."""

    def __init__(self, store: Store, engine: Engine, settings: Settings) -> None:
        self.store = store
        self.engine = engine
        self.settings = settings
        self._known: dict[tuple[str, dt.date], _Day | None] = {}
        self._together: dict[dt.date, Measured] = {}
        """Numbers of small days under inspection, which are measured many at a time."""

    def inspect(
        self, table: Table, days: Sequence[dt.date], names: Collection[str] | None = None
    ) -> dict[dt.date, tuple[Finding, ...]]:
        """Return findings of the checks `names` (by default all) for published days.

        A day that cannot be measured has findings that say so; the others are judged.
        """
        checks = [check for check in table.checks if names is None or check.name in names]
        expected: dict[dt.date, tuple[Expected, ...]] = {}
        findings_of_day: dict[dt.date, tuple[Finding, ...]] = {}
        self._together = self._measured_together(table, checks, sorted(days))
        for day in sorted(days):  # what is told of a day, the days after it know
            try:
                expected[day] = self._expected(table, checks, day)
            except Exception as error:
                findings_of_day[day] = tuple(not_done(check, error) for check in checks)
        outcomes = judge(table.name, expected)
        for day, numbers in expected.items():
            findings = evaluate_outcomes(numbers, outcomes[day])
            findings_of_day[day] = tuple(
                self._with_samples(table, check, finding, day)
                for check, finding in zip(checks, findings, strict=True)
            )
        return findings_of_day

    def _measured_together(
        self, table: Table, checks: Sequence[Rule | Drift], days: Sequence[dt.date]
    ) -> dict[dt.date, Measured]:
        """Measure small days in one statement. If it fails, each is measured alone later."""
        asked = _checks_to_measure(table, checks)
        is_together = self.engine.name == "duckdb" and self.store.is_local
        reads_window = any(isinstance(check, Rule) and check.reads_window for check in asked)
        if not asked or not is_together or reads_window:
            return {}
        measured: dict[dt.date, Measured] = {}
        for batch in small_batches(days, partial(self._rows, _names(table, asked))):
            with suppress(Exception):
                if len(batch) > 1:
                    inputs = [self._inputs(table, asked, day) for day in batch]
                    values = [parameters(day, self.settings) for day in batch]
                    numbers = measure_days(self.engine, table, asked, inputs, values)
                    measured |= dict(zip(batch, numbers, strict=True))
        return measured

    def _rows(self, names: Iterable[str], day: dt.date) -> int:
        return sum(self.store.require(name, day).rows for name in names)

    def expected(self, table: Table, day: dt.date) -> tuple[Expected, ...]:
        """Return numbers and ranges of all checks of a published day."""
        return self._expected(table, table.checks, day)

    def _expected(
        self, table: Table, checks: Sequence[Rule | Drift], day: dt.date
    ) -> tuple[Expected, ...]:
        """Return numbers and ranges of a day, in the order of `checks`."""
        rules = [check for check in checks if isinstance(check, Rule)]
        drifts = [check for check in checks if isinstance(check, Drift)]
        values = parameters(day, self.settings)
        numbers = self._together.pop(day, None)
        if numbers is None:
            asked = _checks_to_measure(table, checks)
            numbers = measure(self.engine, table, asked, self._inputs(table, asked, day), values)
        expected = (
            *evaluate_rules(rules, numbers, values),
            *self._drifts(table, drifts, day, numbers),
        )
        judged = self._without_referrers(table, checks, expected, day)
        return self._without_clients(table, judged, day)

    def _drifts(
        self, table: Table, drifts: Sequence[Drift], day: dt.date, measured: Measured
    ) -> tuple[Expected, ...]:
        """Return numbers and ranges of drifts; remember those outside for the days after."""
        if not drifts:
            return ()
        findings = evaluate_drifts(drifts, measured, self._past(table, day))
        reported = {
            finding.name: finding.value
            for finding in findings
            if finding.is_outside and finding.value is not None
        }
        self._known[table.name, day] = _Day(self._comparable(table, day, measured), reported)
        return findings

    def _past(self, table: Table, day: dt.date) -> Past:
        """Return the numbers of earlier days."""
        days = {age: self._day(table, day - dt.timedelta(age)) for age in range(1, _LOOKS_BACK + 1)}
        before = {age: earlier for age, earlier in days.items() if earlier is not None}
        return Past(
            {age: earlier.measured for age, earlier in before.items()},
            {age: earlier.warned_of for age, earlier in before.items() if earlier.warned_of},
        )

    def _day(self, table: Table, day: dt.date) -> _Day | None:
        """Return numbers of an earlier day, and those drifts warned of; None if it is missing."""
        key = (table.name, day)
        if key not in self._known:
            names = _names(table, table.drifts)
            is_there = all(self.store.manifest(name, day) for name in names)
            self._known[key] = self._remembered(table, day) if is_there else None
        return self._known[key]

    def _remembered(self, table: Table, day: dt.date) -> _Day:
        """Return a day's numbers from its last verdict, measured again if some are missing."""
        manifest = self.store.require(table.name, day)
        judged = [
            judgement
            for judgement in verdicts.read(self.settings.state, manifest)
            if judgement.measured
        ]
        reported = {
            judgement.check: judgement.value
            for judgement in judged
            if not judgement.passed and judgement.value is not None
        }
        measured: Measured = dict(pair for judgement in judged for pair in judgement.measured)
        is_known = {drift.name for drift in table.drifts} <= measured.keys()
        if not is_known:
            measured = self._measured(table, day)
        return _Day(self._comparable(table, day, measured), reported)

    def _measured(self, table: Table, day: dt.date) -> Measured:
        inputs = self._inputs(table, table.drifts, day)
        return measure(self.engine, table, table.drifts, inputs, parameters(day, self.settings))

    def _without_referrers(
        self,
        table: Table,
        checks: Sequence[Rule | Drift],
        expected: tuple[Expected, ...],
        day: dt.date,
    ) -> tuple[Expected, ...]:
        """Return checks, with those of referrers marked as not judged if the day has none."""
        if self._has_referrers(table, day):
            return expected
        return tuple(
            not_judged(finding, NO_REFERRERS) if check.needs_referrers else finding
            for check, finding in zip(checks, expected, strict=True)
        )

    def _without_clients(
        self, table: Table, expected: tuple[Expected, ...], day: dt.date
    ) -> tuple[Expected, ...]:
        """Return checks, with those of requests marked as not judged if the day only has counts."""
        requests = self.store.manifest("requests", day) if table.name in _OF_CLIENTS else None
        if requests is None or requests.rows or not requests.counts:
            return expected
        return tuple(not_judged(finding, NO_CLIENTS) for finding in expected)

    def _has_referrers(self, table: Table, day: dt.date) -> bool:
        manifest = self.store.manifest(table.name, day)
        return manifest is None or bool(manifest.extra.get("has_referrers", True))

    def _inputs(self, table: Table, checks: Sequence[Rule | Drift], day: dt.date) -> Inputs:
        """Return the files that the measures of a table read, by name of table."""
        inputs = {name: self.store.files(name, day) for name in sorted(_names(table, checks))}
        whole = {name for check in checks if isinstance(check, Rule) for name in check.reads_window}
        for name in sorted(whole):
            window = self.store.window(name, day, self.settings.window.days, 1)
            compared = _compared(window.manifests, day)
            for manifest in compared:
                self.store.verify(manifest)
            paths = (self.store.paths(manifest) for manifest in compared)
            inputs[f"{name}_window"] = [path for of_day in paths for path in of_day]
        return inputs

    def _comparable(self, table: Table, day: dt.date, measured: Measured) -> Measured:
        if self._has_referrers(table, day):
            return measured
        # A day that could not have referrers is no standard for one that can.
        comparable = {drift.name for drift in table.drifts if not drift.needs_referrers}
        return {name: number for name, number in measured.items() if name in comparable}

    def _with_samples(
        self, table: Table, check: Rule | Drift, finding: Finding, day: dt.date
    ) -> Finding:
        if not isinstance(check, Rule) or finding.status is not Status.BROKEN:
            return finding
        inputs = self._inputs(table, [check], day)
        values = parameters(day, self.settings)
        samples = offenders(self.engine, check, inputs, values, MAX_SAMPLES)
        return replace(finding, samples=self._with_urls(table, samples, day))

    def _with_urls(
        self, table: Table, samples: tuple[Mapping[str, Any], ...], day: dt.date
    ) -> tuple[Mapping[str, Any], ...]:
        """Return sample rows with URLs instead of the numbers that are stored for them."""
        beside = self.store.paths_beside(self.store.require(table.name, day))
        named = [{name: row[name] for name in table.numbered if name in row} for row in samples]
        numbers = {number for row in named for number in row.values() if number is not None}
        if not beside or not numbers:
            return samples
        listed = ", ".join(map(str, sorted(numbers)))
        query = f"SELECT number, url FROM urls WHERE number IN ({listed})"  # noqa: S608 - numbers
        urls = {row["number"]: row["url"] for row in self.engine.rows(query, {"urls": beside})}
        return tuple(
            {**row, **{name: urls.get(number) for name, number in numbered.items()}}
            for row, numbered in zip(samples, named, strict=True)
        )


def _checks_to_measure(table: Table, checks: Sequence[Rule | Drift]) -> list[Rule | Drift]:
    """Return the rules, and all drifts if any is among them: later days need all their numbers."""
    rules = [check for check in checks if isinstance(check, Rule)]
    return [*rules, *(table.drifts if len(rules) < len(checks) else ())]


def _compared(window: Sequence[Manifest], day: dt.date) -> list[Manifest]:
    """Return the days of a window that a rule reads, evenly spread, up to a number of rows.

    The days are counted back from the last, so that each has its turn as it ages.
    """
    step = max(-(-sum(manifest.rows for manifest in window) // _MOST_COMPARED), 1)
    return [manifest for manifest in window if (day - manifest.day).days % step == 0]


def _names(table: Table, checks: Sequence[Rule | Drift]) -> set[str]:
    """Return the names of the tables that checks read."""
    return {table.name, *(name for check in checks for name in check.reads)}
