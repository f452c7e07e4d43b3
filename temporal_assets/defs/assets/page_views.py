"""`page_views`: distinct clients per page and day."""

# No `from __future__ import annotations`: Dagster looks at the annotations of the shells.

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import dagster as dg

from temporal_assets import contracts
from temporal_assets.days.daily import published_rows
from temporal_assets.defs.assets.derived import make_derived
from temporal_assets.defs.days import make_days
from temporal_assets.defs.installation import Installation
from temporal_assets.defs.made import Parts
from temporal_assets.defs.metadata import metadata
from temporal_assets.defs.metadata.samples import sample
from temporal_assets.defs.metadata.specs import table_spec
from temporal_assets.defs.partitions import DAYS_PER_RUN
from temporal_assets.engines.statements import Steps
from temporal_assets.settings import Settings


def page_views_asset(settings: Settings, days: dg.PartitionsDefinition[str]) -> dg.AssetsDefinition:
    """The asset."""

    @dg.multi_asset(
        name="page_views",
        specs=[
            table_spec(contracts.PAGE_VIEWS, settings, deps=["requests"], sql=["page_views"]),
        ],
        partitions_def=days,
        backfill_policy=dg.BackfillPolicy.multi_run(DAYS_PER_RUN),
    )
    def page_views(
        context: dg.AssetExecutionContext, installation: dg.ResourceParam[Installation]
    ) -> Iterator[dg.MaterializeResult[Any]]:
        plotted = metadata.plotted(context.partition_keys)

        def make(installation: Installation, day: dt.date) -> Steps[Parts]:
            part = yield from make_derived(installation, "page_views", day)
            if day in plotted:
                shown = metadata.views_plot(installation, day)
                shown |= sample(installation, "page_views", day)
                part = replace(part, metadata={**part.metadata, **shown})
            return {"page_views": part}

        rows = partial(published_rows, installation.store)
        yield from make_days(context, installation, ["page_views"], make, rows=rows, alone=plotted)

    return page_views
