"""Definition of a window asset, its inputs, and building one day of it: read, transform, publish.

To add one: write its contract, its statement in `sql/` or its mathematics in `core/`, a module here
with a function from a `Job` to Parquet files, and list it in `registry`. Jobs, the command line,
`status`, the sensor and the checks follow from the list.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.contracts import Table
from temporal_assets.days.daily import DayResult
from temporal_assets.days.transits import count_inputs, transit_inputs
from temporal_assets.engines.base import Engine
from temporal_assets.settings import Settings
from temporal_assets.storage.manifest import Input, Manifest
from temporal_assets.storage.reader import Window
from temporal_assets.storage.sealed import digest_of
from temporal_assets.storage.store import Store


class StaleTable(LookupError):
    """Error: an input of a window asset is itself missing or out of date."""


@dataclass(frozen=True, slots=True)
class WindowAsset:
    """A window asset; `name` is also that of its contract."""

    name: str
    make: Callable[[Job], Sequence[Path]]
    """Function that writes the result as Parquet into the folder of the job and returns the
    files."""
    windows: tuple[str, ...] = ()
    """Daily assets whose rows it reads, on the published days of the window."""
    days: tuple[str, ...] = ()
    """Daily assets whose rows it does not read: it only asks which days of the window are
    published."""
    tables: tuple[WindowAsset, ...] = ()
    """Window assets that it reads on the same day."""
    numbered_by: WindowAsset | None = None
    """The asset of `tables` whose row numbers stand for URLs in its own rows.

    The URL files of that asset are published together with its rows."""
    earlier: tuple[WindowAsset, ...] = ()
    """Window assets that it reads on the latest day before its own, within the window."""
    learned: tuple[WindowAsset, ...] = ()
    """Window assets that it reads on the days of `learned_days`, to judge what was published
    then."""
    waits: bool = False
    """True if it is only built once the window has `window.min_days` days."""
    sql: tuple[str, ...] = ()
    """Files of `sql/` it runs."""
    settings: Callable[[Settings], Sequence[Any]] = lambda _: ()
    """The settings its content depends on."""
    is_whole: Callable[[Store, Settings, Manifest], bool] = lambda *_: True
    """Function that returns True if an asset's files besides its table are unchanged."""

    @property
    def table(self) -> Table:
        """Contract of the asset's table."""
        return contracts.table(self.name)

    @property
    def daily(self) -> tuple[str, ...]:
        """Daily assets that it depends on, whether it reads their rows or not."""
        return (*self.windows, *self.days)

    def settings_digest(self, settings: Settings) -> str:
        """Return a digest of the settings that its content depends on."""
        return digest_of(list(self.settings(settings)))


@dataclass(frozen=True, slots=True)
class Sources:
    """Manifests of all inputs of one day of a window asset; fields as in `WindowAsset`."""

    windows: Mapping[str, Window]
    days: Mapping[str, Window]
    tables: Mapping[str, Manifest]
    earlier: Mapping[str, Manifest]
    learned: tuple[Manifest, ...]

    @property
    def daily(self) -> Mapping[str, Window]:
        """Windows of all daily assets it depends on, by asset."""
        return {**self.windows, **self.days}

    @property
    def read(self) -> Iterator[Manifest]:
        """Yield the manifests of everything whose rows are read."""
        for window in self.windows.values():
            yield from window.manifests
        yield from self.tables.values()
        yield from self.earlier.values()
        yield from self.learned

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Names and digests of all sources in a fixed order, for the manifest of the result."""
        return (
            *(
                Input(f"{name}/day={manifest.day}", manifest.digest)
                for name, window in sorted(self.daily.items())
                for manifest in window.manifests
            ),
            *(Input(name, manifest.digest) for name, manifest in sorted(self.tables.items())),
            *(
                Input(f"{name}/day={manifest.day}", manifest.digest)
                for name, manifest in sorted(self.earlier.items())
            ),
            *(
                Input(f"{learned_from.asset}/day={learned_from.day}", learned_from.digest)
                for learned_from in self.learned
            ),
        )


@dataclass(frozen=True, slots=True)
class Job:
    """A build of one day of a window asset: what to read, with which engine, where to write."""

    asset: WindowAsset
    store: Store
    engine: Engine
    settings: Settings
    day: dt.date
    sources: Sources
    out: Path
    """Folder for the files of this build, which are not published yet."""
    cuts: list[str] = field(default_factory=list)
    """Sentences about limits that left rows out; see `cut`."""

    def cut(self, sentence: str) -> None:
        """Note that a limit left rows out; metadata of the partition show the sentence."""
        if sentence not in self.cuts:
            self.cuts.append(sentence)

    @property
    def first(self) -> dt.date:
        """First day of the window, whether it is published or not."""
        return first_of(self.settings, self.day)

    def window(self, name: str) -> Window:
        """Return the published days of a daily asset in the window."""
        return self.sources.windows[name]

    def transits(self, days: Sequence[Manifest] | None = None) -> dict[str, list[str]]:
        """Return the input files of `transits` and `urls`, for some days or the whole window."""
        chosen = self.window("transits").manifests if days is None else days
        return transit_inputs(self.store, chosen)

    def followed(self, days: Sequence[Manifest] | None = None) -> dict[str, list[str]]:
        """Return the input files of all followed links: tables `transits`, `urls` and `counts`."""
        chosen = self.window("transits").manifests if days is None else days
        return self.transits(chosen) | count_inputs(self.store, chosen, self.out)

    def present(self, name: str) -> tuple[dt.date, ...]:
        """Return the days of the window on which a daily asset is published."""
        return self.sources.daily[name].present

    def files(self, name: str) -> list[str]:
        """Return the files of another window asset of the same day."""
        return self.store.paths(self.sources.tables[name])

    def urls(self, name: str) -> list[str]:
        """Return the files that map row numbers of another window asset of the day to URLs."""
        return self.store.paths_beside(self.sources.tables[name])

    def urls_beside(self) -> list[Path]:
        """Return the files that map the result's numbers to URLs, to publish with the result."""
        if self.asset.numbered_by is None:
            return []
        return self.store.linked(self.sources.tables[self.asset.numbered_by.name], self.out)

    def write_rows(self, rows: Iterable[Mapping[str, Any]]) -> list[Path]:
        """Write the rows of a small table to one Parquet file."""
        path = self.out / f"{self.asset.name}.parquet"
        table = pa.Table.from_pylist(list(rows), self.asset.table.arrow_schema)
        pq.write_table(table, path, compression="zstd", store_schema=False)
        return [path]

    def earlier(self, name: str) -> Manifest | None:
        """Return the latest earlier partition of another window asset, if the window has one."""
        return self.sources.earlier.get(name)

    def learned_on(self, name: str, day: dt.date) -> list[str] | None:
        """Return the files of another window asset on a day of `learned_days`, or None."""
        manifest = self.learned(name, day)
        return None if manifest is None else self.store.paths(manifest)

    def learned(self, name: str, day: dt.date) -> Manifest | None:
        """Return the partition of another window asset on a day of `learned_days`, or None."""
        every = self.sources.learned
        return next(
            (manifest for manifest in every if (manifest.asset, manifest.day) == (name, day)), None
        )


def first_of(settings: Settings, day: dt.date) -> dt.date:
    """Return the first day of the window that ends with `day`."""
    return day - dt.timedelta(days=settings.window.days - 1)


def learned_days(settings: Settings, day: dt.date) -> dict[int, dt.date]:
    """Return, for each horizon, the earlier day whose lists are judged on `day`.

    The lists of that day are judged by the pages born within the horizon after it. These pages have
    been observed for at least `settle_days` by `day`.
    """
    evaluation = settings.evaluation
    return {
        horizon: day - dt.timedelta(days=horizon + evaluation.settle_days)
        for horizon in sorted(set(evaluation.horizons))
    }


def build(
    store: Store, engine: Engine, settings: Settings, asset: WindowAsset, day: dt.date
) -> DayResult:
    """Build and publish one day of a window asset.

    Raises `MissingPartition` where the day itself or too much of its window is missing, and
    `StaleTable` where a table of the same day has to be built first.
    """
    started = time.monotonic()
    with store.scratch() as scratch:
        job = job_of(store, engine, settings, asset, day, scratch)
        files = asset.make(job)
        cuts = {"cuts": job.cuts} if job.cuts else {}
        manifest = store.publish(
            asset.name,
            day,
            files,
            inputs=job.sources.inputs,
            settings_digest=asset.settings_digest(settings),
            extra=_completeness(settings, job.sources) | cuts,
            beside=job.urls_beside(),
        )
    return DayResult(manifest, time.monotonic() - started)


def job_of(
    store: Store, engine: Engine, settings: Settings, asset: WindowAsset, day: dt.date, out: Path
) -> Job:
    """Return the job that would build a day, for callers that want its parts without publishing.

    Raises `MissingPartition` and `StaleTable` like `build`.
    """
    return Job(
        asset, store, engine, settings, day, _require_sources(store, settings, asset, day), out
    )


def job_as_it_is(
    store: Store, engine: Engine, settings: Settings, asset: WindowAsset, day: dt.date, out: Path
) -> Job:
    """Return the same job without the checks of `build`: stale and missing sources are allowed."""
    return Job(asset, store, engine, settings, day, _sources(store, settings, asset, day), out)


def is_fresh(
    store: Store,
    settings: Settings,
    asset: WindowAsset,
    day: dt.date,
    answers: dict[str, bool] | None = None,
) -> bool:
    """Return True if a day is published, intact, and made from the present inputs and settings.

    `answers` caches the answers of this day by asset. Callers that ask about several assets share
    it, because assets are made from each other.
    """
    answer_of = {} if answers is None else answers
    if asset.name not in answer_of:
        manifest = store.intact(asset.name, day)
        answer_of[asset.name] = (
            manifest is not None
            and manifest.schema_version == asset.table.version
            and manifest.settings_digest == asset.settings_digest(settings)
            and manifest.inputs == _sources(store, settings, asset, day).inputs
            and all(is_fresh(store, settings, table, day, answer_of) for table in asset.tables)
            and asset.is_whole(store, settings, manifest)
        )
    return answer_of[asset.name]


def days_read(
    store: Store, settings: Settings, asset: WindowAsset, day: dt.date
) -> dict[str, tuple[dt.date, ...]]:
    """Return, by asset, the published days that are inputs of a window."""
    sources = _sources(store, settings, asset, day)
    windows = {name: window.present for name, window in sources.daily.items()}
    days = windows | dict.fromkeys(sources.tables, (day,))
    for name, manifest in sources.earlier.items():
        days[name] = (manifest.day, *days.get(name, ()))
    return days


def _require_sources(store: Store, settings: Settings, asset: WindowAsset, day: dt.date) -> Sources:
    """Return the days to read; raise if an input is missing, stale or damaged."""
    for name in asset.daily:
        # A window whose last day is missing would show every page as dying.
        store.require(name, day)
    answers: dict[str, bool] = {}
    for table in asset.tables:
        if not is_fresh(store, settings, table, day, answers):
            raise StaleTable(
                f"{table.name} of {day} is missing or older than what it is made from: make it "
                f"first (temporal-assets materialize {table.name} --day {day})"
            )
    least = settings.window.min_days if asset.waits else 1
    sources = _sources(store, settings, asset, day, least)
    with ThreadPoolExecutor(settings.engine.used_threads) as pool:
        list(pool.map(store.verified, sources.read))
    return sources


def _sources(
    store: Store, settings: Settings, asset: WindowAsset, day: dt.date, min_days: int = 0
) -> Sources:
    """Return the sources that exist; missing tables are left out."""
    days = settings.window.days
    least = min(min_days, days)
    tables = {table.name: store.intact(table.name, day) for table in asset.tables}
    return Sources(
        {name: store.window(name, day, days, least) for name in asset.windows},
        {name: store.window(name, day, days, least) for name in asset.days},
        {name: manifest for name, manifest in tables.items() if manifest is not None},
        {
            earlier_asset.name: manifest
            for earlier_asset in asset.earlier
            if (manifest := _latest_before(store, settings, earlier_asset, day)) is not None
        },
        tuple(
            manifest
            for earlier_asset in asset.learned
            for past in learned_days(settings, day).values()
            if (manifest := store.intact(earlier_asset.name, past)) is not None
            and manifest.schema_version == earlier_asset.table.version
        ),
    )


def _latest_before(
    store: Store, settings: Settings, asset: WindowAsset, day: dt.date
) -> Manifest | None:
    """Return the latest partition before `day` in the window with the same schema and settings."""
    digest = asset.settings_digest(settings)
    for back in range(1, settings.window.days):
        manifest = store.intact(asset.name, day - dt.timedelta(days=back))
        if (
            manifest is not None
            and manifest.schema_version == asset.table.version
            and manifest.settings_digest == digest
        ):
            return manifest
    return None


def _completeness(settings: Settings, sources: Sources) -> dict[str, Any]:
    """Return the window's length and its missing days, as the manifest of the result records them.

    An asset that reads no days inherits the missing days of its tables.
    """
    missing = {day.isoformat() for window in sources.daily.values() for day in window.missing}
    missing |= {day for table in sources.tables.values() for day in table.extra["missing_days"]}
    completeness = {"window_days": settings.window.days, "missing_days": sorted(missing)}
    if "transits" not in sources.daily:
        return completeness
    days = sources.daily["transits"].manifests
    return completeness | {
        "has_referrers": any(day.extra.get("has_referrers", True) for day in days)
    }
