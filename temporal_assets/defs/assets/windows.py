"""The Dagster definitions of all window assets, made by one function.

Not here: what an asset computes (its module in `windows`), the list of them (`windows.registry`).
"""

# No `from __future__ import annotations`: Dagster evaluates the annotations of its functions.

import datetime as dt
from collections.abc import Iterator
from typing import Any

import dagster as dg

from temporal_assets.defs.days import as_steps, make_days, refuse_blocked
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata import metadata
from temporal_assets.defs.metadata.specs import window_spec
from temporal_assets.defs.metadata.window_metadata import details
from temporal_assets.defs.partitions import DAYS_PER_RUN
from temporal_assets.defs.publications import Publication, Publications
from temporal_assets.defs.runs import tags
from temporal_assets.settings import Settings
from temporal_assets.windows.frame.asset import WindowAsset, build, days_read
from temporal_assets.windows.registry import WINDOW_ASSETS


def window_asset(
    asset: WindowAsset, settings: Settings, days: dg.PartitionsDefinition[str]
) -> dg.AssetsDefinition:
    """Return the Dagster definition of a window asset, partitioned by `days`."""

    @dg.multi_asset(
        name=asset.name,
        specs=[window_spec(asset, settings)],
        partitions_def=days,
        backfill_policy=dg.BackfillPolicy.multi_run(DAYS_PER_RUN),
        op_tags={tags.PRIORITY: str(-WINDOW_ASSETS.index(asset))},
    )
    def window(
        context: dg.AssetExecutionContext, installation: dg.ResourceParam[Installation]
    ) -> Iterator[dg.MaterializeResult[Any]]:
        plotted = metadata.plotted(context.partition_keys)

        def make(installation: Installation, day: dt.date) -> Publications:
            return {asset.name: _make(installation, asset, day, day in plotted)}

        yield from make_days(context, installation, [asset.name], as_steps(make))

    return window


def _make(installation: Installation, asset: WindowAsset, day: dt.date, plots: bool) -> Publication:
    store, settings = installation.store, installation.settings
    for name, days in days_read(store, settings, asset, day).items():
        refuse_blocked(installation, name, days)
    result = build(store, installation.engine, settings, asset, day)
    shown = metadata.of_window(result) | details(installation, asset.name, day, plots=plots)
    return Publication(result.manifest, shown)
