"""Jobs that people and schedules start by name. Assets can also be chosen freely in the UI."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import dagster as dg

from temporal_assets import contracts
from temporal_assets.days.asset_names import DAILY_ASSETS
from temporal_assets.windows.policy.released_policy import RELEASED_POLICY
from temporal_assets.windows.registry import STEP_NAMES

Job: TypeAlias = Any
"""Type of a job of assets: Dagster exports the function that makes it, but not its type."""

NIGHTLY: Final = "nightly"
"""Name of the job that reads the logs and builds the day that has ended; a sensor then starts
`windows`."""

FINISH: Final = "finish"
"""Name of the job that runs the checks, and releases the policy, that a killed run left undone."""


def ingest_job() -> Job:
    """Return the job that reads new log files."""
    return dg.define_asset_job(
        "ingest",
        selection=["log_files"],
        description="Read log files that are new or have changed.",
    )


def daily_job() -> Job:
    """Return the job that builds days; one backfill policy makes 60 days a few runs."""
    return dg.define_asset_job(
        "daily",
        selection=list(DAILY_ASSETS),
        description="Make requests, page views and transits of days whose logs have been read.",
    )


def nightly_job() -> Job:
    """Return the job that the schedule starts: the logs and the day that has just ended."""
    return dg.define_asset_job(
        NIGHTLY,
        selection=["log_files", *DAILY_ASSETS],
        description=(
            "Read new log files, then make one day. The sensor `nightly_windows` makes the latest"
            " window when it is done. For many days use `daily`."
        ),
    )


def windows_job() -> Job:
    """Return the job that builds windows, mostly the latest; days need not be contiguous."""
    return dg.define_asset_job(
        "windows",
        selection=list(STEP_NAMES),
        description=(
            "Make what looks back over the window: everything from totals of pages to the policy"
            " and the evaluation report."
        ),
    )


def finish_job() -> Job:
    """Return the job that checks unchecked days and releases an unreleased policy."""
    checks = dg.AssetSelection.checks_for_assets(*(table.name for table in contracts.TABLES))
    return dg.define_asset_job(
        FINISH,
        selection=checks | dg.AssetSelection.assets(RELEASED_POLICY),
        description=(
            "Judge days that a killed run published and did not come to judge, and let crawlers"
            " have the policy that it did not release. Started by itself when it is needed."
        ),
    )
