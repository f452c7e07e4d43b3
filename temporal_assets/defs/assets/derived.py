"""The assets `page_views` and `transits`, which are made from the requests of a day.

Dagster shells: partitions, checks and metadata. Not here: the work (`days.daily`).
"""

# No `from __future__ import annotations`: Dagster evaluates the annotations of its functions.

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import dagster as dg

from temporal_assets import contracts
from temporal_assets.days import asset_names, daily, staleness
from temporal_assets.defs.days import make_days, refuse_blocked
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata import metadata
from temporal_assets.defs.metadata.pictures import picture
from temporal_assets.defs.metadata.samples import sample
from temporal_assets.defs.metadata.specs import table_spec
from temporal_assets.defs.partitions import DAYS_PER_RUN
from temporal_assets.defs.publications import Publication, Publications
from temporal_assets.engines.statements import Steps
from temporal_assets.settings import Settings


def derived_assets(
    settings: Settings, days: dg.PartitionsDefinition[str]
) -> list[dg.AssetsDefinition]:
    """Return the assets `page_views` and `transits`."""
    return [_asset(asset, settings, days) for asset in asset_names.DERIVED]


def _asset(
    asset: str, settings: Settings, days: dg.PartitionsDefinition[str]
) -> dg.AssetsDefinition:
    """Return the Dagster definition of one of the two assets."""

    @dg.multi_asset(
        name=asset,
        specs=[table_spec(contracts.table(asset), settings, deps=["requests"], sql=[asset])],
        partitions_def=days,
        backfill_policy=dg.BackfillPolicy.multi_run(DAYS_PER_RUN),
    )
    def derived(
        context: dg.AssetExecutionContext, installation: dg.ResourceParam[Installation]
    ) -> Iterator[dg.MaterializeResult[Any]]:
        plotted = metadata.plotted(context.partition_keys)

        def make(installation: Installation, day: dt.date) -> Steps[Publications]:
            part = yield from _publish_day(installation, asset, day)
            if day in plotted:
                part = replace(
                    part, metadata={**part.metadata, **_picture_and_rows(installation, asset, day)}
                )
            return {asset: part}

        rows = partial(staleness.published_rows, installation.store)
        # Small days are built together, but a plot reads its day once that is published: alone.
        yield from make_days(context, installation, [asset], make, rows=rows, alone=plotted)

    return derived


def _publish_day(installation: Installation, asset: str, day: dt.date) -> Steps[Publication]:
    """Publish a day of an asset, unless its requests break an invariant."""
    refuse_blocked(installation, "requests", [day])
    result = yield from daily.derived_steps(installation.store, asset, day)
    return Publication(result.manifest, metadata.of_derived(result))


def _picture_and_rows(installation: Installation, asset: str, day: dt.date) -> dict[str, Any]:
    """Return a picture and some rows of a day."""
    if asset == "page_views":
        drawn = metadata.views_plot(installation, day)
    else:
        drawn = picture(installation, asset, day)
    return drawn | sample(installation, asset, day)
