"""Generation of a corpus, group of sites by group and day by day, with bounded memory.

What belongs here: the order of work and the folder. What does not: the content of any file. In
memory are the pages of one group of sites and, for every worker, the requests of one day.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import os
import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets.demo import mirror, truth
from temporal_assets.demo.files import LOGS, LogGroup, make_groups, source_of, write_log
from temporal_assets.demo.formats import Writer, escape_of, external_referrers
from temporal_assets.demo.lists import annotate, baseline, write_annotated
from temporal_assets.demo.noise import noise_requests
from temporal_assets.demo.options import DemoOptions, DemoSummary
from temporal_assets.demo.scale import views_of_corpus
from temporal_assets.demo.world.pages import make_pages
from temporal_assets.demo.world.people import addresses
from temporal_assets.demo.world.ragged import Ragged, pack
from temporal_assets.demo.world.requests import Category, join_requests
from temporal_assets.demo.world.sites import make_sites
from temporal_assets.demo.world.urls import make_urls
from temporal_assets.demo.world.visits import SiteWorld, page_requests, respelled

Progress = Callable[[str, int, int], None]
"""Callback with what is being made, how much of it is done, and how much there will be."""

MARKER: Final = "demo.json"
"""Name of the file with the options of a corpus; a folder that has it may be replaced."""
_ROW_GROUP: Final = 100_000
"""Rows written to a Parquet file at once; thousands of small groups would be slow to read."""

_TRUTH: Final = "truth"
_MIRROR: Final = "mirror"
_ANNOTATED: Final = "annotated.csv"
_BASELINE: Final = "baseline.txt"


@dataclass(frozen=True, slots=True)
class _Plan:
    """Options, folder and days of a corpus, which all groups of sites share."""

    options: DemoOptions
    folder: Path
    views: float
    """Expected views of all pages (hubs not counted) in the window."""
    externals: list[bytes]
    addresses: Ragged
    workers: int


@dataclass(frozen=True, slots=True)
class _Group:
    """Sites that share a log, with everything that their requests depend on."""

    log: LogGroup
    worlds: list[SiteWorld]
    writer: Writer
    referrers: list[pa.StringArray]
    """URL of each referrer code, for each site."""


@dataclass(frozen=True, slots=True)
class _Day:
    """Files and counts that writing one day of one group has produced."""

    counts: Counter[str]
    truth: truth.DayTruth | None


def generate(options: DemoOptions, folder: Path, progress: Progress | None = None) -> DemoSummary:
    """Write a corpus into `folder`; an earlier corpus there is replaced.

    Raises FileExistsError if the folder holds something else.
    """
    report = progress or _silent
    _prepare(options, folder)
    sites = make_sites(options)
    logs = make_groups(sites, options.packed)
    report("pages", 0, len(sites))
    plan = _Plan(
        options,
        folder,
        views_of_corpus(options, sites),
        external_referrers(sites),
        addresses(options.clients),
        options.workers or os.cpu_count() or 1,
    )
    counts: Counter[str] = Counter()
    annotated: list[tuple[str, str]] = []
    described = 0
    with _Tables(folder, options) as tables, ThreadPoolExecutor(plan.workers) as pool:
        for log in logs:
            group = _make_group(plan, log)
            for world in group.worlds:
                annotated += _describe(options, world, tables)
            described += len(log.sites)
            report("pages", described, len(sites))
            for day in _days(plan, group, pool):
                counts += day.counts
                if day.truth is not None:
                    tables.append("views", day.truth.views)
                    tables.append("transits", day.truth.transits)
                report("requests", min(counts.total(), options.requests), options.requests)
            # Or the next group would be made beside this one.
            del group, world
        tables.append("sites", truth.site_rows(options, sites))
        if options.daily_truth:
            tables.append("clients", truth.client_rows(options))
    report("requests", options.requests, options.requests)
    write_annotated(folder / _ANNOTATED, annotated)
    (folder / _BASELINE).write_text("\n".join([*baseline(options, sites), ""]), encoding="utf-8")
    return DemoSummary(
        folder=folder,
        sources=tuple(source_of(log, folder) for log in logs if log.folder(folder).exists()),
        days=tuple(options.first_day + dt.timedelta(day) for day in range(options.days)),
        lines=counts.total(),
        counts={category.name.lower(): counts[category.name.lower()] for category in Category},
        pages=tables.rows["pages"],
        truth=tables.paths | {"annotated": folder / _ANNOTATED, "baseline": folder / _BASELINE},
    )


def corpus_of(source: Path) -> Path | None:
    """Return the folder of the corpus that a log belongs to; None for other logs."""
    folders = (source, *source.parents)
    return next((folder for folder in folders if (folder / MARKER).is_file()), None)


def _silent(_stage: str, _done: int, _total: int) -> None:
    return


def _prepare(options: DemoOptions, folder: Path) -> None:
    """Remove an earlier corpus from the folder. Raises an error if anything else is in it."""
    ours = (LOGS, _TRUTH, _MIRROR, _ANNOTATED, _BASELINE)
    existing = [folder / name for name in ours if (folder / name).exists()]
    if existing and not (folder / MARKER).exists():
        raise FileExistsError(f"{existing[0]} exists and is no part of a demo corpus")
    for path in existing:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    # Workers do not change a byte of the corpus, this file included.
    chosen = dataclasses.asdict(dataclasses.replace(options, workers=None))
    text = json.dumps(chosen, default=str, indent=2)
    (folder / MARKER).write_text(f"{text}\n", encoding="utf-8")


def _make_group(plan: _Plan, log: LogGroup) -> _Group:
    """Return the sites of a group of logs with their pages, and the writer of its lines."""
    options = plan.options
    escape = escape_of(log.style.format)
    worlds = []
    for site in log.sites:
        views = plan.views * site.traffic
        pages = make_pages(options, site, views)
        urls = make_urls(options, pages, escape)
        worlds.append(SiteWorld(options, pages, urls, views, len(plan.externals)))
    writer = Writer(
        log.style.format,
        log.style.zone,
        options,
        plan.addresses,
        plan.externals,
        log.sites,
        [world.urls for world in worlds],
    )
    externals = pack(plan.externals)
    shown_worlds = worlds if options.daily_truth else []
    return _Group(
        log, worlds, writer, [truth.referrer_urls(world, externals) for world in shown_worlds]
    )


def _describe(options: DemoOptions, world: SiteWorld, tables: _Tables) -> list[tuple[str, str]]:
    """Write the truth about a site's pages, and those that were annotated."""
    rows = truth.page_rows(world.pages, world.urls.table)
    tables.append("pages", rows)
    tables.append("sections", truth.section_rows(world.pages))
    tables.append("hubs", truth.hub_rows(world.pages))
    if options.mirror:
        copy = mirror.mirror_site(options, world.pages, world.urls.table)
        tables.append("mirror_pages", copy.pages)
        tables.append("mirror_links", copy.links)
    return annotate(options, world.pages.site, rows)


def _days(plan: _Plan, group: _Group, pool: ThreadPoolExecutor) -> Iterator[_Day]:
    """Yield the days of a group in order; at most two days per worker are written at once."""
    pending: deque[Future[_Day]] = deque()
    for day in range(plan.options.days):
        pending.append(pool.submit(_day, plan, group, day))
        if len(pending) == 2 * plan.workers:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def _day(plan: _Plan, group: _Group, day: int) -> _Day:
    """Write the log of a group for a day; return its counts."""
    date = plan.options.first_day + dt.timedelta(day)
    worlds = group.worlds
    readers = [page_requests(world, day) for world in worlds]
    per_site = [
        join_requests(
            [respelled(world, readers_requests, day), *noise_requests(world, readers_requests, day)]
        )
        for world, readers_requests in zip(worlds, readers, strict=True)
    ]
    requests = join_requests(per_site)
    site = np.repeat(np.arange(len(worlds), dtype=np.int16), [len(part) for part in per_site])
    if len(requests):
        lines = group.writer.lines(day, requests, site).data
        write_log(group.log.file(plan.folder, date), group.writer.header(date), lines)
    readers_requests = np.bincount(requests.category, minlength=len(Category)).tolist()
    names = (category.name.lower() for category in Category)
    daily_truth = (
        truth.day_truth(date, worlds, readers, group.referrers)
        if plan.options.daily_truth
        else None
    )
    return _Day(Counter(dict(zip(names, readers_requests, strict=True))), daily_truth)


class _Tables:
    """The Parquet files of truth and mirror, each written in pieces as they come."""

    def __init__(self, folder: Path, options: DemoOptions) -> None:
        described = folder / _TRUTH
        schemas: dict[str, tuple[Path, pa.Schema]] = {
            "pages": (described / "pages.parquet", truth.PAGES),
            "sites": (described / "sites.parquet", truth.SITES),
            "sections": (described / "sections.parquet", truth.SECTIONS),
            "hubs": (described / "hubs.parquet", truth.HUBS),
        }
        if options.daily_truth:
            schemas["views"] = (described / "views.parquet", truth.VIEWS)
            schemas["transits"] = (described / "transits.parquet", truth.TRANSITS)
            schemas["clients"] = (described / "clients.parquet", truth.CLIENTS)
        if options.mirror:
            schemas["mirror_pages"] = (folder / _MIRROR / "pages.parquet", mirror.PAGES)
            schemas["mirror_links"] = (folder / _MIRROR / "links.parquet", mirror.LINKS)
        self.paths = {name: path for name, (path, _) in schemas.items()}
        self.rows = dict.fromkeys(schemas, 0)
        self._schemas = schemas
        self._stack = ExitStack()
        self._writers: dict[str, Any] = {}
        self._waiting: dict[str, list[pa.Table]] = {name: [] for name in schemas}

    def __enter__(self) -> _Tables:
        for name, (path, schema) in self._schemas.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            writer = pq.ParquetWriter(path, schema, compression="zstd", store_schema=False)
            self._writers[name] = self._stack.enter_context(writer)
        return self

    def __exit__(self, *error: object) -> None:
        with self._stack:
            for name in self._waiting:
                self._flush(name)

    def append(self, name: str, rows: pa.Table) -> None:
        """Add rows to a table."""
        self.rows[name] += len(rows)
        self._waiting[name].append(rows)
        if sum(map(len, self._waiting[name])) >= _ROW_GROUP:
            self._flush(name)

    def _flush(self, name: str) -> None:
        if any(map(len, self._waiting[name])):
            self._writers[name].write_table(pa.concat_tables(self._waiting[name]))
        self._waiting[name] = []
