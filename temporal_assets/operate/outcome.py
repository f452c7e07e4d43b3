"""The result of building assets: what was published, what failed, what was skipped, and checks.

Not here: how it comes about (`operation`), how people see it (`cli.shared.building`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from temporal_assets.defs.events import Event
from temporal_assets.quality import verdicts
from temporal_assets.quality.verdicts import Judgement


@dataclass(frozen=True, slots=True)
class Published:
    """A partition that was published."""

    asset: str
    day: dt.date
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Failed:
    """An asset that could not be built; `days` are empty if it has none."""

    asset: str
    days: tuple[dt.date, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A requested day of which at least one asset was left out."""

    day: dt.date
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of `materialize`."""

    materialized: tuple[Published, ...] = ()
    failures: tuple[Failed, ...] = ()
    checks: tuple[Judgement, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    run_ids: tuple[str, ...] = ()
    """Ids of Dagster's runs, to be looked up in the UI."""

    @property
    def ok(self) -> bool:
        """True if everything was built and no invariant is broken. Warnings do not count."""
        return not self.failures and not verdicts.blockers(self.checks)

    def then(self, later: Outcome) -> Outcome:
        """Return the outcomes of two calls as one."""
        return Outcome(
            self.materialized + later.materialized,
            self.failures + later.failures,
            self.checks + later.checks,
            self.skipped + later.skipped,
            self.run_ids + later.run_ids,
        )


def failures_of(events: Sequence[Event]) -> Iterator[Failed]:
    """Yield the failures, with all days of one asset and reason in one."""
    days: dict[tuple[str, str], list[dt.date]] = {}
    for event in events:
        if event.kind == "failed" and event.day is not None:
            days.setdefault((event.asset, event.message), []).append(event.day)
    for (asset, message), failed_days in days.items():
        yield Failed(asset, tuple(failed_days), message)
