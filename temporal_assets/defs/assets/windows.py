"""The window assets: one shell for all of them."""

# No `from __future__ import annotations`: Dagster looks at the annotations of the shells.

import datetime as dt
from collections.abc import Iterator
from typing import Any

import dagster as dg

from temporal_assets.defs import metadata
from temporal_assets.defs.days import Made, Parts, make_days, refuse_blocked
from temporal_assets.defs.jobs import NIGHTLY
from temporal_assets.defs.partitions import days_of
from temporal_assets.defs.resources import Installation
from temporal_assets.defs.specs import window_spec
from temporal_assets.defs.window_metadata import details
from temporal_assets.settings import Settings
from temporal_assets.windows.asset import WindowAsset, build, days_read
from temporal_assets.windows.registry import is_short


def window_asset(
    asset: WindowAsset, settings: Settings, days: dg.PartitionsDefinition[str]
) -> dg.AssetsDefinition:
    """The asset as Dagster knows it."""

    @dg.multi_asset(
        name=asset.name,
        specs=[window_spec(asset, settings)],
        partitions_def=days,
        backfill_policy=dg.BackfillPolicy.multi_run(settings.orchestration.days_per_run),
    )
    def window(
        context: dg.AssetExecutionContext, installation: dg.ResourceParam[Installation]
    ) -> Iterator[dg.MaterializeResult[Any]]:
        if context.run.job_name == NIGHTLY and _is_too_early(context, installation):
            return

        plots = len(context.partition_keys) <= metadata.MAX_PLOTTED_DAYS

        def make(day: dt.date) -> Parts:
            return {asset.name: _make(installation, asset, day, plots)}

        yield from make_days(context, installation, [asset.name], make)

    return window


def _make(installation: Installation, asset: WindowAsset, day: dt.date, plots: bool) -> Made:
    store, settings = installation.store, installation.settings
    for name, days in days_read(store, settings, asset, day).items():
        refuse_blocked(installation, name, days)
    result = build(store, installation.engine, settings, asset, day)
    said = metadata.of_window(result) | details(installation, asset.name, day, plots=plots)
    return Made(result.manifest, {name: metadata.rounded(one) for name, one in said.items()})


def _is_too_early(context: dg.AssetExecutionContext, installation: Installation) -> bool:
    """In the first nights there are too few days for a window: no failure, and nothing made."""
    (day,) = days_of(context.partition_keys)
    if not is_short(installation.store, installation.settings, day):
        return False
    context.log.info(f"{day}: fewer days than `window.min_days` asks for; nothing is made yet")
    return True
