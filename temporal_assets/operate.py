"""Running the pipeline from a program or the command line, in this process, through Dagster.

Runs, metadata and checks are in the UI afterwards as if they had been started there. Not here: the
definitions of assets, checks and jobs (`defs`).
"""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, redirect_stderr
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import dagster as dg
from filelock import FileLock
from sqlalchemy import make_url

from temporal_assets import contracts
from temporal_assets.build import build_defs
from temporal_assets.days.daily import DAILY_ASSETS, DERIVED, landed_rows
from temporal_assets.defs.assets import released_policy
from temporal_assets.defs.checks import log_file_judgement, logs_of
from temporal_assets.defs.events import Event
from temporal_assets.defs.installation import INSTALLATION, Installation
from temporal_assets.defs.jobs import FINISH
from temporal_assets.defs.partitions import DAYS_PER_RUN, end_of_days, first_day, ranges, today
from temporal_assets.defs.runs import event_log, lifelines, lost_runs, tags
from temporal_assets.defs.runs.old_runs import old_runs
from temporal_assets.defs.sensors import NIGHTLY_WINDOWS
from temporal_assets.landing.inventory import Inventory
from temporal_assets.logs.read.paths import STATE_MARK
from temporal_assets.machine.durable import replace_text
from temporal_assets.machine.troubles import sentence_of, sentence_of_text, without_unwritten
from temporal_assets.ops import catalogue
from temporal_assets.quality import verdicts
from temporal_assets.quality.log_files import evaluate_logs
from temporal_assets.quality.verdicts import Judgement
from temporal_assets.settings import Settings, SettingsError
from temporal_assets.storage.kept import Kept
from temporal_assets.storage.store import Store
from temporal_assets.windows import registry
from temporal_assets.windows.policy.released_policy import RELEASED_POLICY
from temporal_assets.windows.registry import STEP_NAMES

__all__ = [
    "Event",
    "Failed",
    "History",
    "Judgement",
    "Outcome",
    "Published",
    "Skipped",
    "Unfinished",
    "dagster_home",
    "finish",
    "history",
    "last_checks",
    "materialize",
    "prepare_home",
    "switched_on",
    "unfinished",
]

_CONFIG: Final = "dagster.yaml"

_QUIET: Final[Mapping[str, Any]] = {
    # Dagster's console log is for servers; what a person needs comes as events.
    "loggers": {"console": {"config": {"log_level": "CRITICAL"}}}
}

_SMALL_RUNS: Final = 24
"""Number of runs whose days are made in one run if they are small."""

_FEW_ROWS: Final = 20_000
"""Largest number of rows of a small day, which takes less time to make than a run to start."""

_MADE_TOGETHER: Final = frozenset({"requests", "rejects"})


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


def prepare_home(settings: Settings) -> Path:
    """Return the folder to use as DAGSTER_HOME, making it with its `dagster.yaml` if missing.

    An existing `dagster.yaml` is left alone: it is the operator's to change. But where it names the
    folder of a state that has been moved or copied since, it would write there.
    """
    settings.make_state()
    home = settings.state / "dagster"
    home.mkdir(exist_ok=True)
    config = home / _CONFIG
    with FileLock(home / "prepare.lock"):
        if not config.exists():
            # Dagster keeps everything in its home. The file at the top of the project, which has
            # none, names the default state folder as it lies there.
            replace_text(config, _PLACES.sub("", _template().read_text("utf-8")))
        elif _is_elsewhere(text := config.read_text("utf-8"), home):
            replace_text(config, _PLACES.sub("", text))
        if not (home / "history").exists() and event_log.is_in_sqlite(home):
            # Two processes that make Dagster's databases at the same time spoil them.
            make_history(home)
    return home


def make_history(home: Path) -> None:
    """Create Dagster's databases.

    Dagster does so when it opens a home without any.
    """
    dg.DagsterInstance.from_config(str(home)).dispose()


def materialize(
    settings: Settings,
    days: Sequence[dt.date],
    assets: Sequence[str] = (),
    on_event: Callable[[Event], None] | None = None,
    latest_windows: Collection[str] = (),
    late: Mapping[str, Collection[dt.date]] | None = None,
) -> Outcome:
    """Build assets for some days, and check them.

    Args:
        settings: Settings of the state folder.
        days: Days to build; a window asset is built for the windows that end with them.
        assets: Names of assets. If empty, all daily assets and the latest windows are built. With
            `log_files` among them, new log files are read first.
        on_event: Function to call with events of progress, from several threads while log files
            are read.
        latest_windows: Names of window assets to bring up to date afterwards, for the latest day
            that has views.
        late: Days that are late, by daily asset. An asset in it is built for its late days only.

    Runs have `DAYS_PER_RUN` days, or more if the days are small. A day that fails, or that breaks
    an invariant, stops what depends on it and no other day.
    """
    wanted = _wanted(assets)
    operation = _Operation(settings, on_event)
    with _instance(settings) as instance:
        lost_runs.settle(instance, Installation.of(settings))
        if "log_files" in wanted:
            operation.run(instance, "ingest", ["log_files"], ())
        chosen = [asset for asset in DAILY_ASSETS if asset in wanted]
        windows = [asset for asset in STEP_NAMES if asset in wanted]
        wanted_days = operation.partitions(days)
        for run in _runs(settings, wanted_days) if chosen else ():
            for names, some in operation.kept(chosen, run):
                for own, part in _alike(names, some, late):
                    operation.make(instance, own, part)
        for run in ranges(wanted_days, DAYS_PER_RUN) if windows else ():
            operation.make_windows(instance, windows, run)
        operation.make_latest(instance, latest_windows if assets else STEP_NAMES)
        operation.finish(instance)
    return operation.outcome()


def finish(settings: Settings, on_event: Callable[[Event], None] | None = None) -> Outcome | None:
    """End runs whose process is gone and finish what they began; return None if there is nothing.

    `materialize` does this as well.
    """
    if not unfinished(settings):
        return None
    operation = _Operation(settings, on_event)
    with _instance(settings) as instance:
        lost_runs.settle(instance, Installation.of(settings))
        operation.finish(instance)
    return operation.outcome()


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Work that killed runs have left unfinished; the next run finishes it."""

    days: Mapping[str, tuple[dt.date, ...]]
    """Days by asset that are published and not judged, or judged and not released."""
    runs: int
    """Runs of Dagster whose process is gone and that were not ended."""
    catalogue: bool
    """True if `catalogue.duckdb` does not show what is published."""

    def __bool__(self) -> bool:
        return bool(self.days or self.runs or self.catalogue)


def unfinished(settings: Settings, store: Store | None = None) -> Unfinished:
    """Return what killed runs have left unfinished; changes nothing."""
    store = store or Store.open(settings)
    days = registry.unfinished(store, settings)
    is_shown = catalogue.is_moved(store) or catalogue.is_current(store)
    is_behind = bool(store.assets()) and not is_shown
    return Unfinished(days, len(lifelines.orphans(settings.state)), is_behind)


def forgettable_runs(settings: Settings) -> list[str]:
    """Return ids of runs older than `retention.runs_days` that made nothing still published."""
    days = settings.retention.runs_days
    if days is None:
        return []
    with _instance(settings) as instance:
        return old_runs(instance, [table.name for table in contracts.TABLES], days)


def forget_runs(settings: Settings, runs: Sequence[str]) -> None:
    """Remove runs from Dagster's history, with their events."""
    if not runs:
        return
    with _instance(settings) as instance:
        for run in runs:
            instance.delete_run(run)


def switched_on(settings: Settings) -> tuple[str, ...]:
    """Return the names of sensors and schedules that are switched on; makes no Dagster home."""
    home = Path(os.environ.get("DAGSTER_HOME") or settings.state / "dagster")
    if not (home / _CONFIG).is_file() and not (home / "schedules").is_dir():
        return ()
    if not (home / "schedules").is_dir() and event_log.is_in_sqlite(home):
        return ()
    with _instance(settings) as instance:
        states = instance.all_instigator_state()
        running = {state.instigator_name for state in states if state.is_running}
        # Those are always on, and bring no data.
        always_on = {lost_runs.SENSOR, released_policy.SENSOR, NIGHTLY_WINDOWS}
        return tuple(sorted(running - always_on))


@dataclass(frozen=True, slots=True)
class History:
    """Location of Dagster's runs, events and schedules."""

    home: Path
    """$DAGSTER_HOME, or the folder in the state folder."""
    database: str
    """The database in words, without a password."""
    is_current: bool
    """False if its tables have to be changed by `dagster instance migrate`."""


def history(settings: Settings) -> History:
    """Open Dagster's history and return its location; makes the home if there is none."""
    home = dagster_home(settings)
    with _instance(settings) as instance:
        storage = instance.event_log_storage
        version = storage.alembic_version()
        is_current = version is None or version[0] == version[1]
        return History(home, _database(getattr(storage, "postgres_url", None)), is_current)


def _database(address: str | None) -> str:
    if address is None:
        return "SQLite"
    url = make_url(address)
    place = url.host or url.query.get("host", "the local socket")
    return f"PostgreSQL, database {url.database} at {place}"


def last_checks(
    settings: Settings, inventory: Inventory | None = None, store: Store | None = None
) -> tuple[Judgement, ...]:
    """Return the last judgements of all published partitions and of the log files.

    Pass an inventory that was read before: reading thousands of files takes a second.
    """
    store = store or Store.open(settings)
    judgements = [
        log_file_judgement(facts) for facts in evaluate_logs(logs_of(settings, None, inventory))
    ]
    for table in contracts.TABLES:
        for day in store.days(table.name):
            manifest = store.intact(table.name, day)
            if manifest:
                judgements += verdicts.read(settings.state, manifest)
    return tuple(judgements)


@dataclass
class _Operation:
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

    def kept(
        self, assets: Sequence[str], days: Sequence[dt.date]
    ) -> Iterator[tuple[Sequence[str], Sequence[dt.date]]]:
        """Yield assets with their days, leaving out what `doctor clean` has removed."""
        kept = Kept.load(self.settings.state)
        gone = [day for day in days if not kept.has_daily(day)]
        alone = [asset for asset in assets if asset not in DERIVED]
        if len(alone) < len(assets):
            reason = (
                "`doctor clean` removed its views and transits, which are kept from"
                f" {kept.daily} on"
            )
            self.skipped += [Skipped(day, reason) for day in gone]
        if alone and gone:
            yield alone, gone
        if assets and (rest := days[len(gone) :]):
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
            failures=(*_failures(self.events), *self.failures),
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


def _runs(settings: Settings, days: Sequence[dt.date]) -> Iterator[list[dt.date]]:
    """Yield the days of each run, contiguous; a run takes up to two years of small days.

    Starting a run costs as much as making some dozens of small days.
    """
    inventory = Inventory.load(settings)
    for longest in ranges(days, DAYS_PER_RUN * _SMALL_RUNS):
        rows = sum(landed_rows(inventory, day) for day in longest)
        is_small = rows <= DAYS_PER_RUN * _FEW_ROWS
        yield from [longest] if is_small else ranges(longest, DAYS_PER_RUN)


def _alike(
    assets: Sequence[str],
    days: Sequence[dt.date],
    late: Mapping[str, Collection[dt.date]] | None,
) -> Iterator[tuple[Sequence[str], Sequence[dt.date]]]:
    """Yield groups of assets, each with the contiguous days that need exactly these."""
    if late is None:
        yield assets, days
        return

    def wanted(day: dt.date) -> tuple[str, ...]:
        return tuple(
            asset
            for asset in assets
            if day in late["requests" if asset in _MADE_TOGETHER else asset]
        )

    for own, part in groupby(days, wanted):
        if own:
            yield own, list(part)


def _wanted(assets: Sequence[str]) -> Collection[str]:
    known_names = {"log_files", *DAILY_ASSETS, *STEP_NAMES}
    unknown = sorted(set(assets) - known_names)
    if unknown:
        raise ValueError(
            f"there is no asset named {', '.join(unknown)};"
            f" there are: {', '.join(sorted(known_names))}"
        )
    wanted = set(assets) or set(DAILY_ASSETS)
    return wanted | _MADE_TOGETHER if wanted & _MADE_TOGETHER else wanted


def _failures(events: Sequence[Event]) -> Iterator[Failed]:
    """Yield the failures, with all days of one asset and reason in one."""
    days: dict[tuple[str, str], list[dt.date]] = {}
    for event in events:
        if event.kind == "failed" and event.day is not None:
            days.setdefault((event.asset, event.message), []).append(event.day)
    for (asset, message), failed_days in days.items():
        yield Failed(asset, tuple(failed_days), message)


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


def _instance(settings: Settings) -> AbstractContextManager[dg.DagsterInstance]:
    """Open the Dagster instance of $DAGSTER_HOME if that is set, else of the state folder."""
    return event_log.instance_of(dagster_home(settings))


def dagster_home(settings: Settings) -> Path:
    """Return $DAGSTER_HOME if it names a folder, else that of the state folder, which is made."""
    named = os.environ.get("DAGSTER_HOME")
    # The image and systemd's units name the state folder's own, which nobody else makes.
    if not named or Path(named).expanduser().resolve() == (settings.state / "dagster").resolve():
        return prepare_home(settings)
    home = Path(named).expanduser()
    if not home.is_absolute() or not home.is_dir():
        raise SettingsError(f"$DAGSTER_HOME is not the absolute path of a folder: {named}")
    return home


def _template() -> Path:
    installed = Path(str(files("temporal_assets") / f"_{_CONFIG}"))
    return installed if installed.is_file() else Path(__file__).parents[1] / _CONFIG


_PLACES: Final = re.compile(
    r"""(?:# Runs, events, .*
)?storage:
  sqlite:
    base_dir: (?P<home>".*")
local_artifact_storage:
  module: .*
  class: .*
  config:
    base_dir: (?P=home)
compute_logs:
  module: .*
  class: .*
  config:
    base_dir: ".*"
""",
)
"""Expression for a `dagster.yaml` as we write it, with the folders it names."""


def _is_elsewhere(config: str, home: Path) -> bool:
    """Return True if a `dagster.yaml` names the home of another state folder, moved or copied."""
    home_setting = _PLACES.search(config)
    if home_setting is None:
        return False
    try:
        named = Path(json.loads(home_setting["home"]))  # YAML's quotes have JSON's escapes
    except ValueError:
        return False  # written by hand
    is_ours = named.name == home.name and named != home
    return is_ours and (not named.exists() or (named.parent / STATE_MARK).is_file())
