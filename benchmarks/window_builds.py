"""Publishing tables that a benchmark has made itself, and window assets of them.

As `windows.asset.build`, without asking whether the tables are up to date: nobody made them from
anything.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import numpy as np
import pyarrow as pa

from temporal_assets import contracts
from temporal_assets.engines.base import Engine
from temporal_assets.settings import Settings
from temporal_assets.storage.manifest import Input, Manifest
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import Job, Sources, WindowAsset


def build(
    store: Store, engine: Engine, settings: Settings, asset: WindowAsset, day: dt.date
) -> None:
    """Publish the asset of a day from the tables of that day and the days that are there."""
    with job_of(store, engine, settings, asset, day) as job:
        store.publish(
            asset.name,
            day,
            asset.make(job),
            inputs=job.sources.inputs,
            settings_digest="",
            extra={"missing_days": []},
            beside=job.urls_beside(),
        )


@contextmanager
def job_of(
    store: Store, engine: Engine, settings: Settings, asset: WindowAsset, day: dt.date
) -> Iterator[Job]:
    """Return a job with the inputs of an asset and a day."""
    tables = {table.name: store.require(table.name, day) for table in asset.tables}
    windows, days = (
        {name: store.window(name, day, settings.window.days, 1) for name in names}
        for names in (asset.windows, asset.days)
    )
    with store.scratch() as scratch:
        sources = Sources(windows, days, tables, {}, ())
        yield Job(asset, store, engine, settings, day, sources, scratch)


_NUMBERS: Final = {"page_totals": "number", "page_traffic": "url"}
"""Columns that hold numbers of pages."""


def publish_rows(
    store: Store,
    engine: Engine,
    name: str,
    day: dt.date,
    rows: pa.Table,
    *by: str,
    inputs: Sequence[Input] = (),
) -> Manifest:
    """Publish rows in the order of these columns, packed as the asset packs them.

    `page_totals` gets its numbers of pages, and then `page_traffic` those instead of URLs.
    """
    ordered = rows.sort_by([(column, "ascending") for column in by])
    if name in _NUMBERS:
        at = ordered.column_names.index(_NUMBERS[name])
        numbers = pa.array(np.arange(len(ordered)))
        ordered = ordered.set_column(at, _NUMBERS[name], numbers)
    with store.scratch() as scratch:
        files = engine.write(ordered, contracts.table(name).stored, scratch)
        is_numbered = name == "page_traffic"
        return store.publish(
            name,
            day,
            files,
            inputs=inputs,
            settings_digest="",
            extra={"missing_days": []},
            beside=store.linked(store.require("page_totals", day), scratch) if is_numbered else (),
        )
