"""Incremental update of a window table from an earlier window, instead of reading all days.

Two windows that end a few days apart share most of their days. An earlier partition is a valid
starting point only if its manifest proves that it was made from exactly the shared days, with their
present content. A late file, a day that was added or removed, other settings or another schema
version break the proof, and the table is recomputed from all days. The result is the same, byte for
byte.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from temporal_assets import contracts
from temporal_assets.contracts.pages.page_totals import SEEN_BITS
from temporal_assets.core.numerics.arrays import Int64s
from temporal_assets.engines.batches import write_empty
from temporal_assets.engines.parquet_rows import ParquetRows
from temporal_assets.storage.manifest import Input, Manifest
from temporal_assets.storage.partition_errors import DamagedPartition
from temporal_assets.windows.frame.asset import Job

_LARGEST_STEP: Final = 4
"""A window may have moved by at most its days divided by this: a larger step saves nothing."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier partition that an update can start from."""

    files: list[str]
    moved: int
    """Days between the ends of the two windows."""
    entering: list[str]
    """Files of the days that only the later window has."""
    leaving: list[str]
    """Files of the days that only the earlier window has."""
    inputs: tuple[Input, ...] = ()
    """Inputs that the earlier partition was made from."""
    entered: Sequence[Manifest] = ()
    left: Sequence[Manifest] = ()
    """Manifests of the days that only the earlier window has, as `entered` of those of the later
    one."""


def find_earlier(job: Job, daily: str) -> Earlier | None:
    """Return the latest partition of the job's asset that an update can start from, or None.

    `daily` is the asset whose days the window is made of.
    """
    for moved in range(1, job.settings.window.days // _LARGEST_STEP + 1):
        manifest = job.store.intact(job.asset.name, job.day - dt.timedelta(days=moved))
        try:
            earlier = manifest and _prove(job, daily, manifest)
        except DamagedPartition:
            continue  # the window can do without it, and it is set aside
        if earlier:
            return earlier
    return None


def _prove(job: Job, daily: str, manifest: Manifest) -> Earlier | None:
    """Return the changes since an earlier window, or None unless it is sure to be usable."""
    if (
        manifest.schema_version != job.asset.table.version
        or manifest.settings_digest != job.asset.settings_digest(job.settings)
    ):
        return None
    then = days_of(manifest, daily)
    now = {
        daily_manifest.day: daily_manifest.digest for daily_manifest in job.window(daily).manifests
    }
    shared_then = {day: digest for day, digest in then.items() if day >= job.first}
    shared_now = {day: digest for day, digest in now.items() if day <= manifest.day}
    if shared_then != shared_now:
        return None
    left = [day for day in then if day < job.first]
    leaving = [
        daily_manifest
        for day in left
        if (daily_manifest := job.store.intact(daily, day)) is not None
    ]
    if [daily_manifest.digest for daily_manifest in leaving] != [then[day] for day in left]:
        return None  # what was counted then is no longer there to be subtracted
    job.store.verified(manifest)
    leaving = [job.store.verified(daily_manifest) for daily_manifest in leaving]
    entering = [
        daily_manifest
        for daily_manifest in job.window(daily).manifests
        if daily_manifest.day > manifest.day
    ]
    return Earlier(
        job.store.paths(manifest),
        (job.day - manifest.day).days,
        _files(job, daily, "entering", entering),
        _files(job, daily, "leaving", leaving),
        manifest.inputs,
        entering,
        leaving,
    )


def days_of(manifest: Manifest, daily: str) -> dict[dt.date, str]:
    """Return the days of the asset `daily` that a partition was made from, with their digests."""
    prefix = f"{daily}/day="
    return {
        dt.date.fromisoformat(item.name.removeprefix(prefix)): item.digest
        for item in manifest.inputs
        if item.name.startswith(prefix)
    }


def totals_before(job: Job, earlier: Earlier) -> Manifest | None:
    """Return the `page_totals` that the earlier rows were made from, or None.

    None where these are removed, where they do not record the days of all pages, or where they were
    made from other page views of the shared days: transits may be the same where views were not.
    """
    name = contracts.PAGE_TOTALS.name
    manifest = job.store.intact(name, job.day - dt.timedelta(days=earlier.moved))
    if (
        manifest is None
        or job.settings.window.days > SEEN_BITS
        or manifest.schema_version != contracts.PAGE_TOTALS.version
        or Input(name, manifest.digest) not in earlier.inputs
        or _shared_days(job, manifest) != _shared_days(job, job.sources.tables[name], manifest.day)
    ):
        return None
    try:
        return job.store.verified(manifest)
    except DamagedPartition:
        return None  # the window can do without it, and it is set aside


def _shared_days(job: Job, totals: Manifest, last: dt.date = dt.date.max) -> dict[dt.date, str]:
    """Return the digests of the `page_views` on days that both windows share."""
    days = days_of(totals, "page_views")
    return {day: digest for day, digest in days.items() if job.first <= day <= last}


def days_seen(pages: ParquetRows) -> Int64s:
    """Return the days on which each page of `page_totals` was seen, one bit per day."""
    return pages.numbers("seen", np.int64)


def _files(job: Job, daily: str, name: str, manifests: list[Manifest]) -> list[str]:
    """Return the files of the manifests, or one empty file: engines need at least one."""
    files = [path for manifest in manifests for path in job.store.paths(manifest)]
    schema = contracts.table(daily).arrow_schema
    return files or [str(write_empty(schema, job.out / f"{name}.parquet"))]
