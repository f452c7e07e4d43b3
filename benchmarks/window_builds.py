"""Publishing a window asset of tables that a benchmark has written itself.

As `windows.asset.build`, without asking whether the tables are up to date: nobody made them from
anything.
"""

from __future__ import annotations

import datetime as dt

from temporal_assets.engines.base import Engine
from temporal_assets.settings import Settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.asset import Job, Sources, WindowAsset


def build(
    store: Store, engine: Engine, settings: Settings, asset: WindowAsset, day: dt.date
) -> None:
    """Publish the asset of a day from the tables of that day and the days that are there."""
    tables = {one.name: store.require(one.name, day) for one in asset.tables}
    windows, days = (
        {name: store.window(name, day, settings.window.days, 1) for name in names}
        for names in (asset.windows, asset.days)
    )
    sources = Sources(windows, days, tables, {}, ())
    with store.scratch() as scratch:
        job = Job(asset, store, engine, settings, day, sources, scratch)
        store.publish(
            asset.name,
            day,
            asset.make(job),
            inputs=sources.inputs,
            settings_digest="",
            extra={"missing_days": []},
        )
