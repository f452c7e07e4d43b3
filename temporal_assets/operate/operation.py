"""Runs of Dagster in this process, one after another, and what has happened in them so far.

In: an open Dagster instance, names of assets and days. Out: the events of the runs, as an
`Outcome`. What stops one day is kept from stopping the others. Not here: which days and assets go
into a run (`materializing`), the jobs (`defs`).
"""

from __future__ import annotations

import datetime as dt
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

import dagster as dg

from temporal_assets.build import build_defs
from temporal_assets.days.asset_names import DERIVED
from temporal_assets.defs.events import Event
from temporal_assets.defs.installation import INSTALLATION, Installation
from temporal_assets.defs.jobs import FINISH
from temporal_assets.defs.partitions import end_of_days, first_day, ranges, today
from temporal_assets.defs.runs import lifelines, lost_runs, tags
from temporal_assets.machine.error_sentences import (
    sentence_of,
    sentence_of_text,
    without_unwritten,
)
from temporal_assets.operate.outcome import Failed, Outcome, Published, Skipped, failures_of
from temporal_assets.ops import catalogue
from temporal_assets.quality import verdicts
from temporal_assets.settings import Settings
from temporal_assets.storage.retained_days import RetainedDays
from temporal_assets.storage.store import Store
from temporal_assets.windows import registry
from temporal_assets.windows.policy.released_policy import RELEASED_POLICY

_QUIET: Final[Mapping[str, Any]] = {
    # Dagster's console log is for servers; what a person needs comes as events.
    "loggers": {"console": {"config": {"log_level": "CRITICAL"}}}
}


@dataclass
class Operation:
    """The state of one call of `materialize`: what has happened so far."""

    settings: Settings
    on_event: Callable[[Event], None] | None
    events: list[Event] = field(default_factory=list)
    failures: list[Failed] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    run_ids: list[str] = field(default_factory=list)

    def partitions(self, days: Sequence[dt.date]) -> list[dt.date]:
        """Return the days that are partitions, and note the others as skipped."""
        if not days:
            return []
        now = dt.datetime.now(dt.UTC)
        first, last = first_day(self.settings), end_of_days(self.settings, now).day
        for day in days:
            if day < first:
                self.skipped.append(Skipped(day, f"the first partition is {first}"))
            elif day > today(self.settings, now):
                self.skipped.append(Skipped(day, "the day has not begun"))
            elif day > last:
                self.skipped.append(Skipped(day, f"the logs end with {last}"))
        return [day for day in days if first <= day <= last]

    def without_removed(
        self, assets: Sequence[str], days: Sequence[dt.date]
    ) -> Iterator[tuple[Sequence[str], Sequence[dt.date]]]:
        """Yield assets with their days, leaving out what `doctor clean` has removed."""
        retained = RetainedDays.load(self.settings.state)
        removed = [day for day in days if not retained.has_daily(day)]
        not_derived = [asset for asset in assets if asset not in DERIVED]
        if len(not_derived) < len(assets):
            reason = (
                "`doctor clean` removed its views and transits, which are kept from"
                f" {retained.daily} on"
            )
            self.skipped += [Skipped(day, reason) for day in removed]
        if not_derived and removed:
            yield not_derived, removed
        if assets and (rest := days[len(removed) :]):
            yield assets, rest

    def make(
        self, instance: dg.DagsterInstance, assets: Sequence[str], days: Sequence[dt.date]
    ) -> None:
        """Make contiguous days in one run; if a day stops it, make the others afterwards."""
        before = len(self.events)
        if self.run(instance, "daily", assets, days):
            return
        after = self.events[before:]
        published = {(event.asset, event.day) for event in after if event.kind == "published"}
        failed = {(event.asset, event.day) for event in after if event.kind == "failed"}
        if "requests" not in assets:
            return
        rest = [asset for asset in assets if asset in DERIVED]
        started = any((asset, day) in published | failed for asset in rest for day in days)
        if started or not rest:
            return
        store = Store.open(self.settings)
        usable = [
            day for day in days if ("requests", day) in published and not self._blocked(store, day)
        ]
        for run in ranges(usable, len(days)):
            self.run(instance, "daily", rest, run)

    def make_windows(
        self, instance: dg.DagsterInstance, assets: Sequence[str], days: Sequence[dt.date]
    ) -> None:
        """Make the windows that end with contiguous days, and their missing inputs.

        Where one stops the run, each of the others is built alone.
        """
        before = len(self.events)
        wanted = registry.needed(Store.open(self.settings), self.settings, assets, days)
        if self.run(instance, "windows", wanted, days):
            return
        after = self.events[before:]
        failed = {event.day for event in after if event.kind == "failed"}
        published = {(event.asset, event.day) for event in after if event.kind == "published"}
        for day in days:
            rest = [asset for asset in wanted if (asset, day) not in published]
            if rest and len(days) > 1 and day not in failed and not self._is_broken(after, day):
                self.run(instance, "windows", rest, [day])

    def make_latest(self, instance: dg.DagsterInstance, names: Collection[str]) -> None:
        """Bring window assets of the latest day up to date."""
        due = registry.due(Store.open(self.settings), self.settings)
        if due is None:
            return
        wanted = [asset for asset in due.assets if asset in names]
        if wanted:
            self.make_windows(instance, wanted, [due.day])

    def finish(self, instance: dg.DagsterInstance) -> None:
        """Judge what was published and not judged, and release what was not released."""
        store = Store.open(self.settings)
        is_alone = not lifelines.are_others_running(self.settings.state)
        left = registry.unfinished(store, self.settings) if is_alone else {}
        if left:
            self.run(instance, FINISH, tuple(left), left.get(RELEASED_POLICY, ()))
        # What kept a run from it is told already.
        if not self.failures and store.assets() and not catalogue.is_current(store):
            catalogue.refresh(store)

    def run(
        self,
        instance: dg.DagsterInstance,
        job: str,
        assets: Sequence[str],
        days: Sequence[dt.date],
    ) -> bool:
        """Make assets in one run of a job; return whether it succeeded."""
        before = len(self.events)
        installation = Installation.of(self.settings, self._report, refreshes_catalogue=False)
        # Built anew for every run: reading logs may have brought earlier days.
        defs = build_defs(_with_windows(self.settings, days), {INSTALLATION: installation})
        run_id = str(uuid4())
        self.run_ids.append(run_id)
        chosen = defs.resolve_job_def(job)
        selection: list[dg.AssetKey] | None = [dg.AssetKey(asset) for asset in assets]
        if job == FINISH:
            released, checks = lost_runs.finishing(assets)
            chosen = chosen.get_subset(
                asset_selection=set(released), asset_check_selection=set(checks)
            )
            selection = None
        with (
            # Before Dagster knows of the run: killed at any moment, it is seen to be over.
            lifelines.held(self.settings.state, run_id),
            _ended_as_before(),
            redirect_stderr(without_unwritten(sys.stderr)),
        ):
            result = chosen.execute_in_process(
                instance=instance,
                asset_selection=selection,
                tags=tags.OF_LOCATION | (tags.of_range(days) if days else {}),
                run_config=_QUIET,
                raise_on_error=False,
                run_id=run_id,
            )
        if not result.success and not self._is_explained(self.events[before:]):
            self.failures.append(Failed(", ".join(assets), tuple(days), _error(result)))
        if any(event.kind == "published" for event in self.events[before:]):
            self._refresh_catalogue()
        return result.success

    def _refresh_catalogue(self) -> None:
        """Rebuild the catalogue after a run, or report why that is not possible."""
        try:
            catalogue.refresh(Store.open(self.settings))
        except Exception as error:
            why = sentence_of(error) or f"{type(error).__name__}: {error}"
            self.failures.append(Failed(catalogue.CATALOGUE, (), why))

    def outcome(self) -> Outcome:
        """Return all that has happened; later checks of a day replace earlier ones."""
        checks = {
            (judgement.asset, judgement.check, judgement.day): judgement
            for event in self.events
            if (judgement := event.judgement) is not None
        }
        return Outcome(
            materialized=tuple(
                Published(event.asset, event.day, event.rows, event.bytes)
                for event in self.events
                if event.kind == "published" and event.day is not None
            ),
            failures=(*failures_of(self.events), *self.failures),
            checks=tuple(checks.values()),
            skipped=tuple(self.skipped),
            run_ids=tuple(self.run_ids),
        )

    def _report(self, event: Event) -> None:
        if event.kind != "reading":
            self.events.append(event)
        if self.on_event:
            self.on_event(event)

    def _blocked(self, store: Store, day: dt.date) -> bool:
        manifest = store.manifest("requests", day)
        if manifest is None:
            return True
        return bool(verdicts.blockers(verdicts.read(self.settings.state, manifest)))

    @staticmethod
    def _is_broken(events: Sequence[Event], day: dt.date) -> bool:
        judgements = [event.judgement for event in events if event.judgement and event.day == day]
        return bool(verdicts.blockers(judgements))

    @staticmethod
    def _is_explained(events: Sequence[Event]) -> bool:
        judgements = [event.judgement for event in events if event.judgement]
        return any(event.kind == "failed" for event in events) or bool(
            verdicts.blockers(judgements)
        )


def _with_windows(settings: Settings, days: Sequence[dt.date]) -> Settings:
    """Return settings under which windows of all `days` are partitions: commands make any."""
    if not days:
        return settings
    orchestration = settings.orchestration.model_copy(update={"first_window": min(days)})
    return settings.model_copy(update={"orchestration": orchestration})


def _error(result: dg.ExecuteInProcessResult) -> str:
    """Return the innermost error of the first failed step of a run in which no day failed."""
    for event in result.all_events:
        if event.is_failure and event.is_step_event:
            error = event.step_failure_data.error
            while error is not None and error.cause is not None:
                error = error.cause
            if error is not None:
                return sentence_of_text(error.message) or error.message.strip()
    return "the run failed; see its log in the UI"


@contextmanager
def _ended_as_before() -> Iterator[None]:
    """Restore the handler of SIGTERM after a run.

    Dagster leaves it to the handler of Ctrl-C, which is to be ignored in the background.
    """
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)
