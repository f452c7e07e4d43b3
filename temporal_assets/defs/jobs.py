"""What people and schedules start by name. Assets can also be chosen freely in the UI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import dagster as dg

from temporal_assets import contracts

if TYPE_CHECKING:
    # Dagster exports the function that makes a job of assets, but not the type of the result.
    from dagster._core.definitions.unresolved_asset_job_definition import (
        UnresolvedAssetJobDefinition,
    )

    Job = UnresolvedAssetJobDefinition
else:
    Job = Any

DAILY_ASSETS: Final = tuple(table.name for table in contracts.TABLES)
"""Everything that has a partition per day, in the order the data flows."""


def ingest_job() -> Job:
    """Read new log files."""
    return dg.define_asset_job(
        "ingest",
        selection=["log_files"],
        description="Read log files that are new or have changed.",
    )


def daily_job() -> Job:
    """Make the days: all its assets share one backfill policy, so 60 days are a few runs."""
    return dg.define_asset_job(
        "daily",
        selection=list(DAILY_ASSETS),
        description="Make requests, page views and transits of days whose logs have been read.",
    )


def nightly_job() -> Job:
    """Both in one run, in this order: what the schedule starts."""
    return dg.define_asset_job(
        "nightly",
        selection=["log_files", *DAILY_ASSETS],
        description="Read new log files, then make one day. For many days use `daily`.",
    )
