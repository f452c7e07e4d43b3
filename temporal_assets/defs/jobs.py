"""Jobs that people and schedules start by name. Assets can also be chosen freely in the UI."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import dagster as dg

from temporal_assets import contracts
from temporal_assets.days.daily import DAILY_ASSETS
from temporal_assets.windows.policy.released_policy import RELEASED_POLICY
from temporal_assets.windows.registry import STEP_NAMES

Job: TypeAlias = Any
"""Dagster exports the function that makes a job of assets, but not the type of its result."""

NIGHTLY: Final = "nightly"
"""Reads the logs and makes the day that has ended; a sensor then starts `windows`."""

FINISH: Final = "finish"
"""Its runs judge what a killed run published and did not come to judge, and release its policy."""


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
    """Return the logs and the day that has just ended: what the schedule starts."""
    return dg.define_asset_job(
        NIGHTLY,
        selection=["log_files", *DAILY_ASSETS],
        description=(
            "Read new log files, then make one day. The sensor `nightly_windows` makes the latest"
            " window when it is done. For many days use `daily`."
        ),
    )


def windows_job() -> Job:
    """Make windows. Their days need not be contiguous: mostly it is the latest one."""
    return dg.define_asset_job(
        "windows",
        selection=list(STEP_NAMES),
        description=(
            "Make what looks back over the window: everything from totals of pages to the policy"
            " and the evaluation report."
        ),
    )


def finish_job() -> Job:
    """Judge what is there and was not judged, and release the policy that was not."""
    checks = dg.AssetSelection.checks_for_assets(*(table.name for table in contracts.TABLES))
    return dg.define_asset_job(
        FINISH,
        selection=checks | dg.AssetSelection.assets(RELEASED_POLICY),
        description=(
            "Judge days that a killed run published and did not come to judge, and let crawlers"
            " have the policy that it did not release. Started by itself when it is needed."
        ),
    )
