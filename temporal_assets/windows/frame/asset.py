"""The inputs of a window asset, and making it: read, transform, publish.

To add one: write its contract, its statement in `sql/` or its mathematics in `core/`, a module
here with a function from a `Job` to Parquet files, and list it in `registry`. Jobs, the command
line, `status`, the sensor and the checks follow from the list.
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
from temporal_assets.storage.sealed import digest_of
from temporal_assets.storage.store import Store, Window


class StaleTable(LookupError):
    """A table that a window asset is made from is itself missing or out of date."""


@dataclass(frozen=True, slots=True)
class WindowAsset:
    """A window asset; `name` is also that of its contract."""

    name: str
    make: Callable[[Job], Sequence[Path]]
    """Writes the result into the folder of the job as Parquet and returns the files."""
    windows: tuple[str, ...] = ()
    """Daily assets of which it reads days of the window."""
    days: tuple[str, ...] = ()
    """Daily assets of which it only asks which days of the window are there."""
    tables: tuple[WindowAsset, ...] = ()
    """Window assets of which it reads the same day."""
    numbered_by: WindowAsset | None = None
    """The one of `tables` whose row numbers stand for URLs; its files lie beside the rows."""
    earlier: tuple[WindowAsset, ...] = ()
    """Window assets of which it reads the latest day before its own, if the window has one."""
    learned: tuple[WindowAsset, ...] = ()
    """Window assets of which it reads the days before of `learned_days`, those that are there."""
    waits: bool = False
    """True if it needs `window.min_days` days; others are made from the first day on."""
    sql: tuple[str, ...] = ()
    """Files of `sql/` it runs."""
    settings: Callable[[Settings], Sequence[Any]] = lambda _: ()
    """The settings its content depends on."""
    is_whole: Callable[[Store, Settings, Manifest], bool] = lambda *_: True
    """True if the files that it keeps beside its table are as they were written."""

    @property
    def table(self) -> Table:
        """Its contract."""
        return contracts.table(self.name)

    @property
    def daily(self) -> tuple[str, ...]:
        """Daily assets that it is made from, read or not."""
        return (*self.windows, *self.days)

    def settings_digest(self, settings: Settings) -> str:
        """Return identity of the settings that its content depends on."""
        return digest_of(list(self.settings(settings)))


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of one day of a window asset."""

    windows: Mapping[str, Window]
    days: Mapping[str, Window]
    tables: Mapping[str, Manifest]
    earlier: Mapping[str, Manifest]
    learned: tuple[Manifest, ...]

    @property
    def daily(self) -> Mapping[str, Window]:
        """Windows that are read, and those that are only asked for their days."""
        return {**self.windows, **self.days}

    @property
    def read(self) -> Iterator[Manifest]:
        """Yield the manifests of all that is read."""
        for window in self.windows.values():
            yield from window.manifests
        yield from self.tables.values()
        yield from self.earlier.values()
        yield from self.learned

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Identities of all of it, in a fixed order."""
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
    """The making of one day: where to read, with what, and where to write."""

    asset: WindowAsset
    store: Store
    engine: Engine
    settings: Settings
    day: dt.date
    sources: Sources
    out: Path
    """A folder for files that are not published yet."""
    cuts: list[str] = field(default_factory=list)
    """Sentences about bounds that left something out; see `cut`."""

    def cut(self, sentence: str) -> None:
        """Note that a bound left something out: the partition's metadata in Dagster say so."""
        if sentence not in self.cuts:
            self.cuts.append(sentence)

    @property
    def first(self) -> dt.date:
        """First day of the window, whether it is there or not."""
        return first_of(self.settings, self.day)

    def window(self, name: str) -> Window:
        """Return the days of a daily asset, to be read."""
        return self.sources.windows[name]

    def transits(self, days: Sequence[Manifest] | None = None) -> dict[str, list[str]]:
        """Tables `transits` and `urls` of some days of the window, or of all."""
        chosen = self.window("transits").manifests if days is None else days
        return transit_inputs(self.store, chosen)

    def followed(self, days: Sequence[Manifest] | None = None) -> dict[str, list[str]]:
        """Tables `transits`, `urls` and `counts`: all that tells which links were followed."""
        chosen = self.window("transits").manifests if days is None else days
        return self.transits(chosen) | count_inputs(self.store, chosen, self.out)

    def present(self, name: str) -> tuple[dt.date, ...]:
        """Return which days of a daily asset the window has."""
        return self.sources.daily[name].present

    def files(self, name: str) -> list[str]:
        """Return files of the same day of another window asset."""
        return self.store.paths(self.sources.tables[name])

    def urls(self, name: str) -> list[str]:
        """Return the files with the URLs for the numbers in another window asset of the day."""
        return self.store.paths_beside(self.sources.tables[name])

    def urls_beside(self) -> list[Path]:
        """Return the files with the URLs for the numbers in the rows made, to publish with them."""
        if self.asset.numbered_by is None:
            return []
        return self.store.linked(self.sources.tables[self.asset.numbered_by.name], self.out)

    def write_rows(self, rows: Iterable[Mapping[str, Any]]) -> list[Path]:
        """Write the rows of a table that has few."""
        path = self.out / f"{self.asset.name}.parquet"
        table = pa.Table.from_pylist(list(rows), self.asset.table.arrow_schema)
        pq.write_table(table, path, compression="zstd", store_schema=False)
        return [path]

    def earlier(self, name: str) -> Manifest | None:
        """Return the latest day before the job's of another window asset, if the window has one."""
        return self.sources.earlier.get(name)

    def learned_on(self, name: str, day: dt.date) -> list[str] | None:
        """Files of another window asset on a day of `learned_days`; None where it is not there."""
        manifest = self.learned(name, day)
        return None if manifest is None else self.store.paths(manifest)

    def learned(self, name: str, day: dt.date) -> Manifest | None:
        """Return what those files are of."""
        every = self.sources.learned
        return next(
            (manifest for manifest in every if (manifest.asset, manifest.day) == (name, day)), None
        )


def first_of(settings: Settings, day: dt.date) -> dt.date:
    """Return first day of the window that ends with `day`."""
    return day - dt.timedelta(days=settings.window.days - 1)


def learned_days(settings: Settings, day: dt.date) -> dict[int, dt.date]:
    """Return, by horizon, the day of the lists that are judged on `day`.

    Pages born in the days of the horizon after it have been observed for `settle_days` since.
    """
    evaluation = settings.evaluation
    return {
        horizon: day - dt.timedelta(days=horizon + evaluation.settle_days)
        for horizon in sorted(set(evaluation.horizons))
    }


def build(
    store: Store, engine: Engine, settings: Settings, asset: WindowAsset, day: dt.date
) -> DayResult:
    """Publish a day of a window asset.

    Raises `MissingPartition` where the day itself or too much of its window is missing, and
    `StaleTable` where a table of the same day has to be made first.
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
    """Return the job of making a day, for those who want its parts without publishing anything.

    Raises as `build` does.
    """
    return Job(
        asset, store, engine, settings, day, _require_sources(store, settings, asset, day), out
    )


def job_as_it_is(
    store: Store, engine: Engine, settings: Settings, asset: WindowAsset, day: dt.date, out: Path
) -> Job:
    """Return the same with what is there, whether it was made under these settings or not."""
    return Job(asset, store, engine, settings, day, _sources(store, settings, asset, day), out)


def is_fresh(
    store: Store,
    settings: Settings,
    asset: WindowAsset,
    day: dt.date,
    answers: dict[str, bool] | None = None,
) -> bool:
    """Return True if a day is there whole, and made from present inputs and settings.

    `answers` holds the answers of the day by asset, for callers that ask for several: assets are
    made from each other, and without it the first ones are looked at again for each of the last.
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
    """Return, by asset, the days that a window is made from, of those that are there."""
    sources = _sources(store, settings, asset, day)
    windows = {name: window.present for name, window in sources.daily.items()}
    days = windows | dict.fromkeys(sources.tables, (day,))
    for name, manifest in sources.earlier.items():
        days[name] = (manifest.day, *days.get(name, ()))
    return days


def _require_sources(store: Store, settings: Settings, asset: WindowAsset, day: dt.date) -> Sources:
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
    """Return what there is; tables that are missing are left out."""
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
    """The latest partition within the window, but for the day, that can be compared with it."""
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
    """Days of the window, and those that are missing; of the tables where it reads no days."""
    missing = {day.isoformat() for window in sources.daily.values() for day in window.missing}
    missing |= {day for table in sources.tables.values() for day in table.extra["missing_days"]}
    completeness = {"window_days": settings.window.days, "missing_days": sorted(missing)}
    if "transits" not in sources.daily:
        return completeness
    days = sources.daily["transits"].manifests
    return completeness | {
        "has_referrers": any(day.extra.get("has_referrers", True) for day in days)
    }
