"""The assets `requests` and `rejects`: the lines of a day that are kept and not kept.

One step builds both. Not here: the work (`days.daily`).
"""

# No `from __future__ import annotations`: Dagster evaluates the annotations of its functions.

import datetime as dt
from collections.abc import Iterator
from functools import partial
from typing import Any

import dagster as dg

from temporal_assets import contracts
from temporal_assets.days import daily, staleness
from temporal_assets.days.rejects import TooManyRejects
from temporal_assets.defs.days import UnfinishedDay, make_days
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.metadata import metadata
from temporal_assets.defs.metadata.pictures import picture
from temporal_assets.defs.metadata.samples import sample
from temporal_assets.defs.metadata.specs import table_spec
from temporal_assets.defs.partitions import DAYS_PER_RUN
from temporal_assets.defs.publications import Publication, Publications
from temporal_assets.engines.statements import Steps
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.reading_options import READER_VERSION
from temporal_assets.settings import Settings

_UPSTREAM_ASSETS = ("log_files", "landed_days")
_SQL = ("repeated_segments", "distinct_segments", "behavioural_bots", "requests")


def requests_assets(settings: Settings, days: dg.PartitionsDefinition[str]) -> dg.AssetsDefinition:
    """Return one asset definition with both tables."""

    @dg.multi_asset(
        name="requests_and_rejects",
        specs=[
            table_spec(table, settings, deps=_UPSTREAM_ASSETS, sql=_SQL, reader=READER_VERSION)
            for table in (contracts.REQUESTS, contracts.REJECTS)
        ],
        partitions_def=days,
        backfill_policy=dg.BackfillPolicy.multi_run(DAYS_PER_RUN),
    )
    def requests_and_rejects(
        context: dg.AssetExecutionContext, installation: dg.ResourceParam[Installation]
    ) -> Iterator[dg.MaterializeResult[Any]]:
        inventory = Inventory.load(installation.settings)
        plotted = metadata.plotted(context.partition_keys)

        def make(installation: Installation, day: dt.date) -> Steps[Publications]:
            return (yield from _publish_day(installation, inventory, day, day in plotted))

        rows, assets = partial(staleness.landed_rows, inventory), ("requests", "rejects")
        # Small days are built together, but a plot reads its day once that is published: alone.
        yield from make_days(context, installation, assets, make, rows=rows, alone=plotted)

    return requests_and_rejects


def _publish_day(
    installation: Installation, inventory: Inventory, day: dt.date, plot: bool
) -> Steps[Publications]:
    """Publish a day, and return both partitions with their metadata."""
    store = installation.store
    try:
        result = yield from daily.requests_steps(
            store, installation.engine, installation.settings, day, inventory
        )
    except TooManyRejects as error:
        # The evidence is published although the requests are not.
        rejects = store.manifest("rejects", day)
        parts = {"rejects": Publication(rejects, {"bytes": rejects.size})} if rejects else {}
        raise UnfinishedDay(str(error), parts) from error
    shown, rejected = metadata.of_requests(result), metadata.of_rejects(result)
    if plot:
        shown |= metadata.hours_plot(installation, day) | sample(installation, "requests", day)
        rejected |= picture(installation, "rejects", day)
    return {
        "requests": Publication(result.requests.manifest, shown),
        "rejects": Publication(result.rejects.manifest, rejected),
    }
