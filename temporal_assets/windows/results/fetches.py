"""`fetches`: the requests that crawls made on a day.

Here: which rows of which result files belong to the day. Not here: reading the files
(`crawl.results`), what follows for sources (`windows.results.sources`).
"""

from __future__ import annotations

import datetime as dt
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.crawl.results import Fetch, identity, read_fetches, result_files
from temporal_assets.logs.urls.canonical import canonical_url, site_of
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.settings import Settings
from temporal_assets.windows.frame.asset import Job, WindowAsset

log = logging.getLogger(__name__)

_AT_ONCE: Final = 100_000
"""Rows in memory at a time."""


def results_of(settings: Settings) -> list[Path]:
    """Return the configured result files and folders; paths are relative to the state folder."""
    return [settings.state / path.expanduser() for path in settings.crawls.results]


def fetches_between(settings: Settings, first: dt.date, last: dt.date) -> Iterator[Fetch]:
    """Yield the fetches from `first` to `last`; files that cannot be read are named in the log."""
    zone = ZoneInfo(settings.orchestration.timezone)
    begin = dt.datetime.combine(first, dt.time(), zone)
    end = dt.datetime.combine(last + dt.timedelta(days=1), dt.time(), zone)
    for file in result_files(results_of(settings)):
        counts: Counter[str] = Counter()
        try:
            for fetch in read_fetches(file, counts):
                if begin <= fetch.time < end:
                    yield fetch
        except (OSError, ValueError) as error:
            log.warning("%s is left out: %s", file, error)
        if counts["broken"]:
            log.warning("%s: %d rows cannot be read", file, counts["broken"])


def _make(job: Job) -> Sequence[Path]:
    """Write the fetches of a day, some at a time."""
    file = job.out / "fetches.parquet"
    schema = contracts.FETCHES.arrow_schema
    rules = UrlRules.from_settings(job.settings.cleaning)
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        rows: list[dict[str, Any]] = []
        for fetch in fetches_between(job.settings, job.day, job.day):
            rows.append(_row(job.day, fetch, rules))
            if len(rows) >= _AT_ONCE:
                writer.write_table(pa.Table.from_pylist(rows, schema))
                rows = []
        writer.write_table(pa.Table.from_pylist(rows, schema))
    return [file]


def _row(day: dt.date, fetch: Fetch, rules: UrlRules) -> dict[str, Any]:
    return {
        "day": day,
        "time": fetch.time.replace(tzinfo=None),
        "url": fetch.url,
        "page": canonical_url(fetch.url, rules),
        "site": site_of(fetch.url),
        "status": fetch.status,
        "kind": fetch.kind,
        "is_changed": fetch.changed,
        "source": fetch.source,
        "new_links": fetch.new_links,
        "seconds": fetch.seconds,
        "error": fetch.error,
    }


def settings_of_results(settings: Settings) -> list[Any]:
    """Return what the results depend on: the present files, and the rules for canonical URLs."""
    return [
        identity(results_of(settings)),
        settings.orchestration.timezone,
        settings.cleaning.scheme,
        settings.cleaning.drop_query_keys,
        settings.cleaning.keep_query_keys,
    ]


FETCHES: Final = WindowAsset("fetches", _make, days=("page_views",), settings=settings_of_results)
