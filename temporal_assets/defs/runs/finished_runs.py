"""Facts about finished runs in Dagster's records, for alerts. Not here: text, sending."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any, Final

import dagster as dg
from dagster import DagsterEventType

from temporal_assets.alerts.messages import FailedCheck, Fault, RunReport
from temporal_assets.defs.runs.tags import days_of_run
from temporal_assets.quality.wording import compared

SUMMARY: Final = "summary"
"""Key of the metadata that summarises a check result in one line."""

_OVER: Final = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE]
"""Statuses that are reported; cancelled runs are no news."""

_TELLING: Final = {
    DagsterEventType.STEP_FAILURE,
    DagsterEventType.RUN_FAILURE,
    DagsterEventType.ASSET_CHECK_EVALUATION,
}

_NAMED_ASSETS: Final = 3


def finished_after(instance: dg.DagsterInstance, moment: float) -> list[tuple[float, str]]:
    """Return (end, id) of runs that ended after a POSIX time, earliest first."""
    filters = dg.RunsFilter(statuses=_OVER, updated_after=dt.datetime.fromtimestamp(moment, dt.UTC))
    # A tag that is added later updates a run, too: only its end counts.
    ended = (
        (record.end_time or 0.0, record.dagster_run.run_id)
        for record in instance.get_run_records(filters)
    )
    return sorted(pair for pair in ended if pair[0] > moment)


def report_of(instance: dg.DagsterInstance, run_id: str) -> RunReport | None:
    """Return the facts about a run, or None if it has been deleted meanwhile."""
    run = instance.get_run_by_id(run_id)
    if run is None:
        return None
    faults: list[Fault] = []
    checks: list[FailedCheck] = []
    ended = ""
    for record in instance.get_records_for_run(run_id, of_type=_TELLING).records:
        event = record.event_log_entry.dagster_event
        if event is None:
            continue
        if event.event_type is DagsterEventType.STEP_FAILURE:
            faults.append(Fault(event.step_key or "", _error(event)))
        elif event.event_type is DagsterEventType.RUN_FAILURE:
            ended = event.message or ""
        else:
            checks += _failed_check(event.asset_check_evaluation_data)
    failed = run.status is dg.DagsterRunStatus.FAILURE
    if failed and not faults and ended:
        faults.append(Fault("(none)", ended))
    return RunReport(run_id, _job(run), days_of_run(run.tags), failed, faults, checks)


def _error(event: dg.DagsterEvent) -> str:
    """Return the message of our code, or else of the error, without Dagster's wrapping."""
    data = event.step_failure_data
    if data.user_failure_data and data.user_failure_data.description:
        return data.user_failure_data.description
    error = data.error
    while error is not None and error.cause is not None and _is_wrapper(error.cls_name):
        error = error.cause
    return error.message if error else event.message or ""


def _is_wrapper(name: str | None) -> bool:
    return (name or "").startswith("Dagster")


def _failed_check(evaluation: Any) -> Iterator[FailedCheck]:
    if evaluation.passed:
        return
    is_error = evaluation.severity is dg.AssetCheckSeverity.ERROR
    asset = evaluation.asset_key.to_user_string()
    yield FailedCheck(asset, evaluation.check_name, is_error, _finding_of(evaluation))


def _finding_of(evaluation: Any) -> str:
    """Return the result of a failed check in a sentence."""
    metadata: Mapping[str, Any] = {
        name: getattr(value, "value", None) for name, value in evaluation.metadata.items()
    }
    description = evaluation.description or ""
    if SUMMARY in metadata:
        return f"{metadata[SUMMARY]}. {description}".strip()
    value, low, high = (_number(metadata.get(name)) for name in ("value", "minimum", "maximum"))
    if value is not None:
        return f"{compared(value, low, high)}. {description}".strip()
    if "days_not_passed" in metadata:
        return f"{metadata['days_not_passed']} of {metadata['days']} days. {description}".strip()
    return description


def _number(value: Any) -> float | None:
    """Return a value if it is a number, or None: other checks may store anything."""
    return value if isinstance(value, int | float) else None


def _job(run: dg.DagsterRun) -> str:
    if not run.job_name.startswith("__"):
        return run.job_name
    # Assets that somebody chose in the UI are no job with a name.
    assets = sorted(key.to_user_string() for key in run.asset_selection or ())
    more = f" and {len(assets) - _NAMED_ASSETS} more" if len(assets) > _NAMED_ASSETS else ""
    return f"{', '.join(assets[:_NAMED_ASSETS])}{more}" if assets else "assets"
