"""Schedules: what runs at a fixed time."""

from __future__ import annotations

import datetime as dt

import dagster as dg

from temporal_assets.defs.jobs import Job
from temporal_assets.defs.partitions import end_of_days, today
from temporal_assets.defs.runs.tags import EXPECTED_DAY
from temporal_assets.settings import Settings


def nightly_schedule(settings: Settings, job: Job) -> dg.ScheduleDefinition:
    """Return the schedule that reads new log files and builds yesterday at the configured hour.

    The schedule is off until somebody switches it on.
    """
    orchestration = settings.orchestration

    @dg.schedule(
        name="nightly",
        job=job,
        cron_schedule=f"0 {orchestration.hour} * * *",
        execution_timezone=orchestration.timezone,
        description=(
            "Reads new log files and makes the day that has just ended; its window follows. Where"
            " the logs end before it and no file waits to be read, it only checks the log files."
        ),
    )
    def nightly(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        now = context.scheduled_execution_time
        yesterday = today(settings, now) - dt.timedelta(days=1)
        if end_of_days(settings, now).day < yesterday:
            # No log file waits to be read, and yesterday is no partition. The checks of the log
            # files say how old they are.
            return dg.RunRequest(
                run_key=yesterday.isoformat(),
                asset_selection=[dg.AssetKey("log_files")],
                tags={EXPECTED_DAY: yesterday.isoformat()},
            )
        return dg.RunRequest(run_key=yesterday.isoformat(), partition_key=yesterday.isoformat())

    return nightly
