"""Days of one table: measure, compare, and fetch rows that break a rule."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from temporal_assets.contracts import Drift, Rule, Table
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.quality.evaluate import (
    NO_REFERRERS,
    Expected,
    Finding,
    Measured,
    Status,
    evaluate_drifts,
    evaluate_outcomes,
    evaluate_rules,
    not_done,
    not_judged,
)
from temporal_assets.quality.expectations import judge
from temporal_assets.quality.measure import measure, offenders, parameters
from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store

HISTORY_DAYS: Final = 7
"""Days before that a drift compares with: one of each weekday."""

MAX_SAMPLES: Final = 20
"""Rows shown per broken rule: enough to see what they share, small enough for an event log."""


class Inspector:
    """Judges published partitions. Remembers numbers of a day, which the days after it need."""

    def __init__(self, store: Store, engine: Engine, settings: Settings) -> None:
        self.store = store
        self.engine = engine
        self.settings = settings
        self._known: dict[tuple[str, str, tuple[str, ...]], Measured] = {}

    def inspect(
        self, table: Table, days: Sequence[dt.date], names: Collection[str] | None = None
    ) -> dict[dt.date, tuple[Finding, ...]]:
        """Findings of the checks called `names` (all by default) for published days.

        A day that cannot be measured has findings that say so; the others are judged.
        """
        checks = [check for check in table.checks if names is None or check.name in names]
        expected: dict[dt.date, tuple[Expected, ...]] = {}
        found: dict[dt.date, tuple[Finding, ...]] = {}
        for day in days:
            try:
                expected[day] = self._expected(table, checks, day)
            except Exception as error:
                found[day] = tuple(not_done(check, error) for check in checks)
        outcomes = judge(table.name, expected)
        for day, numbers in expected.items():
            findings = evaluate_outcomes(numbers, outcomes[day])
            found[day] = tuple(
                self._with_samples(table, check, finding, day)
                for check, finding in zip(checks, findings, strict=True)
            )
        return found

    def _expected(
        self, table: Table, checks: Sequence[Rule | Drift], day: dt.date
    ) -> tuple[Expected, ...]:
        """Numbers and ranges of a day, in the order of `checks`."""
        rules = [check for check in checks if isinstance(check, Rule)]
        drifts = [check for check in checks if isinstance(check, Drift)]
        values = parameters(day, self.settings)
        inputs = self._inputs(table, rules, day)
        expected = (
            *evaluate_rules(rules, measure(self.engine, table, rules, inputs, values), values),
            *evaluate_drifts(
                drifts, self._drifts(table, drifts, day), self._history(table, drifts, day)
            ),
        )
        return self._without_referrers(table, checks, expected, day)

    def _without_referrers(
        self,
        table: Table,
        checks: Sequence[Rule | Drift],
        expected: tuple[Expected, ...],
        day: dt.date,
    ) -> tuple[Expected, ...]:
        """Nothing is expected of referrers on a day whose log formats do not have them."""
        if self._has_referrers(table, day):
            return expected
        return tuple(
            not_judged(one, NO_REFERRERS) if check.needs_referrers else one
            for check, one in zip(checks, expected, strict=True)
        )

    def _has_referrers(self, table: Table, day: dt.date) -> bool:
        manifest = self.store.manifest(table.name, day)
        return manifest is None or bool(manifest.extra.get("has_referrers", True))

    def _inputs(self, table: Table, checks: Sequence[Rule | Drift], day: dt.date) -> Inputs:
        inputs = {name: self.store.files(name, day) for name in sorted(_names(table, checks))}
        whole = {name for check in checks if isinstance(check, Rule) for name in check.reads_window}
        for name in sorted(whole):
            window = self.store.window(name, day, self.settings.window.days, 1)
            for manifest in window.manifests:
                self.store.verify(manifest)
            inputs[f"{name}_window"] = list(window.files)
        return inputs

    def _history(self, table: Table, drifts: Sequence[Drift], day: dt.date) -> list[Measured]:
        if not drifts:
            return []
        before = [day - dt.timedelta(days=back) for back in range(1, HISTORY_DAYS + 1)]
        return [
            self._comparable(table, drifts, other)
            for other in before
            if all(self.store.manifest(name, other) for name in _names(table, drifts))
        ]

    def _comparable(self, table: Table, drifts: Sequence[Drift], day: dt.date) -> Measured:
        measured = self._drifts(table, drifts, day)
        if self._has_referrers(table, day):
            return measured
        # A day that could not have referrers is no standard for one that can.
        known = {drift.name for drift in drifts if not drift.needs_referrers}
        return {name: number for name, number in measured.items() if name in known}

    def _drifts(self, table: Table, drifts: Sequence[Drift], day: dt.date) -> Measured:
        if not drifts:
            return {}
        manifest = self.store.manifest(table.name, day)
        digest = manifest.digest if manifest else ""
        key = (table.name, digest, tuple(drift.name for drift in drifts))
        if key not in self._known:
            inputs = self._inputs(table, drifts, day)
            values = parameters(day, self.settings)
            self._known[key] = measure(self.engine, table, drifts, inputs, values)
        return self._known[key]

    def _with_samples(
        self, table: Table, check: Rule | Drift, finding: Finding, day: dt.date
    ) -> Finding:
        if not isinstance(check, Rule) or finding.status is not Status.BROKEN:
            return finding
        inputs = self._inputs(table, [check], day)
        values = parameters(day, self.settings)
        return replace(finding, samples=offenders(self.engine, check, inputs, values, MAX_SAMPLES))


def _names(table: Table, checks: Sequence[Rule | Drift]) -> set[str]:
    """The tables that the checks read."""
    return {table.name, *(name for check in checks for name in check.reads)}
