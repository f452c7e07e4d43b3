"""Building Dagster's definitions from the settings, anew at every call.

The daemon, the web server, every run, the command line and the tests each build their own. Building
reads the settings and which days the logs span; it creates nothing. Not here: any asset, check, job
or sensor (`defs`).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import dagster as dg

from temporal_assets import contracts
from temporal_assets.defs.alerts import alerts_sensor
from temporal_assets.defs.assets.derived import derived_assets
from temporal_assets.defs.assets.log_files import log_file_assets
from temporal_assets.defs.assets.released_policy import release_sensor, released_policy_asset
from temporal_assets.defs.assets.requests import requests_assets
from temporal_assets.defs.assets.windows import window_asset
from temporal_assets.defs.checks import contract_checks, log_file_checks
from temporal_assets.defs.jobs import daily_job, finish_job, ingest_job, nightly_job, windows_job
from temporal_assets.defs.partitions import daily_partitions, window_partitions
from temporal_assets.defs.resources import SettingsResource, resources_of
from temporal_assets.defs.runs.lost_runs import lost_runs_sensor
from temporal_assets.defs.schedules import nightly_schedule
from temporal_assets.defs.sensors import log_files_sensor, nightly_windows_sensor
from temporal_assets.defs.what_if_job import what_if_job
from temporal_assets.settings import Settings
from temporal_assets.windows.registry import WINDOW_ASSETS


def build_defs(
    settings: Settings | SettingsResource | None = None,
    resources: Mapping[str, Any] | None = None,
) -> dg.Definitions:
    """Return all definitions except the executor, for settings (default: the state folder's).

    `resources` replace those of the same name: `store` and `engine` wherever they are used. Merge
    them with an executor: `Definitions.merge(build_defs(), Definitions(executor=...))`.
    """
    own_resources = dict(resources or {})
    chosen: Any = own_resources.setdefault("settings", settings or SettingsResource())
    loaded = chosen.load() if isinstance(chosen, SettingsResource) else chosen
    with warnings.catch_warnings():
        # Backfill policies are marked beta; without them 60 days are 60 runs.
        warnings.simplefilter("ignore", dg.BetaWarning)
        return _definitions(loaded, own_resources)


def _definitions(settings: Settings, resources: Mapping[str, Any]) -> dg.Definitions:
    """Return assets, checks, jobs, schedules and sensors together."""
    days, windows_of_days = daily_partitions(settings), window_partitions(settings)
    daily = daily_job()
    ingest = ingest_job()
    nightly = nightly_job()
    windows = windows_job()
    finish = finish_job()
    return dg.Definitions(
        assets=[
            *log_file_assets(settings, days),
            requests_assets(settings, days),
            *derived_assets(settings, days),
            *(window_asset(asset, settings, windows_of_days) for asset in WINDOW_ASSETS),
            released_policy_asset(settings, windows_of_days),
        ],
        asset_checks=[log_file_checks(), *(contract_checks(table) for table in contracts.TABLES)],
        jobs=[ingest, daily, windows, nightly, finish, what_if_job()],
        schedules=[nightly_schedule(settings, nightly)],
        sensors=[
            log_files_sensor(ingest, daily, windows),
            nightly_windows_sensor(nightly, windows),
            alerts_sensor(),
            lost_runs_sensor(finish),
            release_sensor(),
        ],
        resources=resources_of(settings, resources),
    )
