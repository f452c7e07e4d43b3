"""When things happen by themselves at a fixed time."""

from __future__ import annotations

import datetime as dt

import dagster as dg

from temporal_assets.defs.jobs import Job
from temporal_assets.defs.partitions import today
from temporal_assets.settings import Settings


def nightly_schedule(settings: Settings, job: Job) -> dg.ScheduleDefinition:
    """Every day at the configured hour: read new log files and make yesterday.

    Switched off until somebody switches it on.
    """
    orchestration = settings.orchestration

    @dg.schedule(
        name="nightly",
        job=job,
        cron_schedule=f"0 {orchestration.hour} * * *",
        execution_timezone=orchestration.timezone,
        description="Reads new log files and makes the day that has just ended.",
    )
    def nightly(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        yesterday = today(settings, context.scheduled_execution_time) - dt.timedelta(days=1)
        return dg.RunRequest(run_key=yesterday.isoformat(), partition_key=yesterday.isoformat())

    return nightly
